/* SPDX-License-Identifier: MIT */
/* wrap.c -- see wrap.h. A word that is wider than a line is not broken. */
#include <string.h>

#include "truncate.h"
#include "wrap.h"

/* Bytes of a word, with its end; the rest of a longer word becomes a word of
 * its own. */
enum { WORD_SIZE = 512 };

void
wrap_word(struct wrap *wrap, const char *word)
{
    unsigned width = truncate_width(word);
    if (wrap->at > 0 && wrap->at + 1 + width > wrap->columns) {
        wrap->at = wrap->indent + wrap->hang;
        fprintf(wrap->stream, "\n%*s", (int)wrap->at, "");
    } else if (wrap->at > 0) {
        fputc(' ', wrap->stream);
        wrap->at++;
    } else {
        wrap->at = wrap->indent;
        fprintf(wrap->stream, "%*s", (int)wrap->at, "");
    }
    wrap->at += width;
    fputs(word, wrap->stream);
}

/* Each word is copied so that it ends with a null byte. */
void
wrap_text(struct wrap *wrap, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        char word[WORD_SIZE];
        if (length >= sizeof(word))
            length = sizeof(word) - 1;
        memcpy(word, text, length);
        word[length] = '\0';
        wrap_word(wrap, word);
        text += length;
        text += strspn(text, " ");
    }
}
