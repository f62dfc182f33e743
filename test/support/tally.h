/* tally: checks for programs with threads. Many checks make one case; a case
 * passes if all of them hold. */
#ifndef TALLY_H
#define TALLY_H

#include <stdbool.h>

typedef struct tally_case {
    const char *name;
    unsigned failed;
} tally_case;

/* A check that does not hold is printed with the case's name and these words. */
__attribute__((format(printf, 3, 4)))
bool tally_check(tally_case *at, bool holds, const char *format, ...);

#define CHECK(at, holds, ...) tally_check((at), (holds), __VA_ARGS__)
/* For plain conditions: the words are the condition's own. */
#define HOLDS(at, condition) tally_check((at), (condition), "%s:%d: %s", __FILE__, __LINE__, #condition)

/* Counts the case. From any thread. */
void tally_add(const tally_case *at);

/* Prints "N passed, M failed"; gives the program's exit status. */
int tally_end(void);

#endif
