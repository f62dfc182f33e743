#include "base/error.h"

/* All names and texts lie in one struct of arrays and are found by offset: a
 * table of pointers would have to be relocated, and could then not stay in
 * read-only memory. */
#define WORDS_MEMBERS(name, number, retry, executed, text) char name##_name[sizeof #name], name##_text[sizeof(text)];
#define WORDS_VALUES(name, number, retry, executed, text) #name, text,
static const struct error_words {
    char unknown_name[sizeof "E2B_?"], unknown_text[sizeof "an error that is not on the list"];
    E2B_ERRORS(WORDS_MEMBERS)
} words = {"E2B_?", "an error that is not on the list", E2B_ERRORS(WORDS_VALUES)};

typedef struct error_entry {
    int16_t number;
    uint16_t name, text;
    bool may_retry, may_have_run;
} error_entry;

#define ENTRY(name, number, retry, executed, text)                                                      \
    {number, offsetof(struct error_words, name##_name), offsetof(struct error_words, name##_text), retry, executed},
static const error_entry entries[] = {E2B_ERRORS(ENTRY)};

/* Of an error that is not on the list nothing is known, so its call may have been executed. */
static const error_entry unknown = {1, offsetof(struct error_words, unknown_name),
                                    offsetof(struct error_words, unknown_text), false, true};

static const error_entry *find(e2b_err err)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (entries[i].number == err) {
            return &entries[i];
        }
    }
    return &unknown;
}

const char *e2b_err_name(e2b_err err)
{
    return (const char *)&words + find(err)->name;
}

const char *e2b_err_text(e2b_err err)
{
    return (const char *)&words + find(err)->text;
}

bool e2b_err_may_retry(e2b_err err)
{
    return find(err)->may_retry;
}

bool e2b_err_may_have_run(e2b_err err)
{
    return find(err)->may_have_run;
}
