/* SPDX-License-Identifier: MIT */
/* page.c -- see page.h. A failure is remembered and reported by page_end, so
 * that a caller need not check after each line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/paint.h"
#include "page.h"

/* Lines are written to a stream, so that every function that prints to a stream
 * can be used. */
int
page_begin(struct page *page, unsigned columns)
{
    *page = (struct page){.columns = columns};
    page->stream = open_memstream(&page->text, &page->size);
    return page->stream == NULL ? -1 : 0;
}

void
page_add(struct page *page, enum page_look look)
{
    struct page_line *lines =
        reallocarray(page->lines, page->count + 1u, sizeof(*lines));
    if (page->count > 0)
        fputc('\n', page->stream);
    page->failed |= lines == NULL;
    if (lines == NULL)
        return;
    page->lines = lines;
    lines[page->count++] = (struct page_line){.look = look};
}

/* A plain part needs no mark. */
void
page_mark(struct page *page, unsigned start, unsigned length,
          enum page_look look)
{
    if (page->count == 0 || look == PAGE_PLAIN)
        return;
    struct page_line *line = &page->lines[page->count - 1];
    if (line->mark_count < PAGE_MARKS)
        line->marks[line->mark_count++] =
            (struct page_mark){start, length, look};
}

int
page_end(struct page *page)
{
    if (page->count > 0)
        fputc('\n', page->stream);
    int status = page->failed || ferror(page->stream) != 0 ? -1 : 0;
    if (fclose(page->stream) != 0)
        status = -1;
    page->stream = NULL;
    if (status != 0)
        errno = ENOMEM;
    return status;
}

/* The escape sequence that begins a part with LOOK. It is "" for a look that
 * needs no end sequence either. */
static const char *
code_of(const struct paint *paint, enum page_look look)
{
    switch (look) {
    case PAGE_TITLE:
        return paint->title;
    case PAGE_HOT:
    case PAGE_ALERT:
        return paint->hot;
    case PAGE_WARM:
        return paint->warm;
    default:
        return "";
    }
}

/* Print LENGTH bytes of TEXT with LOOK. */
static void
print_part(FILE *stream, const struct paint *paint, const char *text,
           size_t length, enum page_look look)
{
    const char *code = code_of(paint, look);
    fprintf(stream, "%s%.*s%s", code, (int)length, text,
            code[0] != '\0' ? paint->end : "");
}

/* Text between two marks has the look of its line. A mark beyond LENGTH, where
 * the line was cut, is left out. */
static void
print_line(FILE *stream, const struct paint *paint,
           const struct page_line *line, const char *text, size_t length)
{
    size_t at = 0;
    for (unsigned i = 0; i < line->mark_count; i++) {
        const struct page_mark *mark = &line->marks[i];
        if (mark->start < at || mark->start + mark->length > length)
            continue;
        print_part(stream, paint, text + at, mark->start - at, line->look);
        print_part(stream, paint, text + mark->start, mark->length, mark->look);
        at = mark->start + mark->length;
    }
    print_part(stream, paint, text + at, length - at, line->look);
    fputc('\n', stream);
}

/* How many bytes of the line at TEXT fit into COLUMNS; 0 columns: all of them.
 */
static size_t
fitting_length(const char *text, unsigned columns)
{
    size_t length = strcspn(text, "\n");
    unsigned width = 0;
    for (size_t at = 0; at < length && columns > 0; at++) {
        width += ((unsigned char)text[at] & 0xc0) != 0x80;
        if (width > columns)
            return at;
    }
    return length;
}

void
page_print(FILE *stream, const struct page *page, const struct paint *paint)
{
    const char *text = page->text;
    for (unsigned i = 0; i < page->count; i++) {
        print_line(stream, paint, &page->lines[i], text,
                   fitting_length(text, page->columns));
        text += strcspn(text, "\n") + 1;
    }
}

void
page_release(struct page *page)
{
    if (page->stream != NULL)
        fclose(page->stream);
    free(page->text);
    free(page->lines);
    *page = (struct page){0};
}
