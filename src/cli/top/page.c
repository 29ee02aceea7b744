/* SPDX-License-Identifier: MIT */
/* page.c -- see page.h. Lines are written to a stream, so that every function
 * that prints to a stream can be used. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"

/* The byte of a look, and that of the end of any. */
const struct paint page_paint = {
    .title = "\1",
    .hot = "\2",
    .warm = "\3",
    .alert = "\4",
    .faint = "\5",
    .end = "\6",
    .cells = {"", ""},
};

int
page_begin(struct page *page, unsigned columns)
{
    *page = (struct page){.columns = columns};
    page->stream = open_memstream(&page->text, &page->size);
    return page->stream == NULL ? -1 : 0;
}

int
page_end(struct page *page)
{
    int status = ferror(page->stream) != 0 ? -1 : 0;
    if (fclose(page->stream) != 0)
        status = -1;
    page->stream = NULL;
    if (status != 0)
        errno = ENOMEM;
    return status;
}

bool
page_next_part(struct page_reader *reader, struct page_part *part)
{
    size_t length = strcspn(reader->text, "\1\2\3\4\5\6\n");
    char mark = reader->text[length];
    *part =
        (struct page_part){reader->text, length, reader->look, reader->outer};
    reader->text += length + (mark != '\0');
    if (mark == '\0' || mark == '\n')
        return false;
    if (mark == page_paint.end[0]) {
        reader->look = reader->outer;
        reader->outer = PAGE_PLAIN;
    } else {
        reader->outer = reader->look;
        reader->look = (enum page_look)mark;
    }
    return true;
}

/* How many bytes of PART fit into *ROOM columns, which become fewer. */
static size_t
fitting_length(const struct page_part *part, unsigned *room)
{
    size_t length = 0;
    for (; length < part->length; length++) {
        bool is_first = ((unsigned char)part->text[length] & 0xc0) != 0x80;
        if (is_first && *room == 0)
            break;
        *room -= is_first;
    }
    return length;
}

/* Print a line. A part that does not fit is cut and loses its own look. */
static void
print_line(FILE *stream, const struct paint *paint, struct page_reader *reader,
           unsigned columns)
{
    const char *const codes[] = {"",          paint->title, paint->hot,
                                 paint->warm, paint->alert, paint->faint};
    unsigned room = columns > 0 ? columns : (unsigned)-1;
    struct page_part part;
    for (bool goes_on = true, is_cut = false; goes_on && !is_cut;) {
        goes_on = page_next_part(reader, &part);
        size_t length = fitting_length(&part, &room);
        is_cut = length < part.length;
        if (is_cut && part.look != PAGE_TITLE)
            part.look = part.outer;
        const char *code = codes[part.look];
        fprintf(stream, "%s%.*s%s", code, (int)length, part.text,
                code[0] != '\0' ? paint->end : "");
        while (is_cut && goes_on)
            goes_on = page_next_part(reader, &part);
    }
    fputc('\n', stream);
}

void
page_print(FILE *stream, const struct page *page, const struct paint *paint)
{
    struct page_reader reader = {.text = page->text};
    while (reader.text[0] != '\0')
        print_line(stream, paint, &reader, page->columns);
}

void
page_release(struct page *page)
{
    if (page->stream != NULL)
        fclose(page->stream);
    free(page->text);
    *page = (struct page){0};
}
