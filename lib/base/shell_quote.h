/* shell_quote: words that a POSIX shell reads back byte for byte. */
#ifndef E2B_BASE_SHELL_QUOTE_H
#define E2B_BASE_SHELL_QUOTE_H

#include "base/text.h"

/* One word. Letters, digits and _ @ % + = : , . / - stand bare; anything else
 * puts the word into single quotes. A NUL can't be quoted: the caller checks. */
void e2b_shell_quote(e2b_text *text, e2b_str word);
/* Several, joined by single spaces. */
void e2b_shell_join(e2b_text *text, const e2b_str *words, size_t count);

#endif
