/* SPDX-License-Identifier: MIT */
/* quote.c -- see quote.h. */
#include <string.h>

#include "quote.h"

/* RFC 4180: a field with a comma, a quote or the end of a line stands in
 * quotes. Quotes in it are doubled: 5" is "5""". */
void
quote_csv(FILE *stream, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

/* RFC 8259, section 7: every byte below a space must be escaped. Bytes beyond
 * ASCII may stand unescaped. */
void
quote_json(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            fprintf(stream, "\\%c", byte);
        else if (byte < 0x20)
            fprintf(stream, "\\u%04x", byte);
        else
            fputc(byte, stream);
    }
    fputc('"', stream);
}

/* Within single quotes, every byte except a single quote stands for itself. */
void
quote_shell(FILE *stream, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-:@%";
    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        fputs(text, stream);
        return;
    }
    fputc('\'', stream);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", stream);
        else
            fputc(*text, stream);
    fputc('\'', stream);
}
