/* SPDX-License-Identifier: MIT */
/* page.c -- see page.h. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "model/idle.h"
#include "view/timeline.h"
#include "page_head.h"
#include "page_source.h"
#include "page_template.h"
#include "page_time.h"
#include "page.h"

/* The line of the template that the data replaces. */
#define PLACE "<!--SPROF-DATA-->"

/* Write the head block as the element ID. */
static int
write_head(FILE *stream, const char *id, struct page_tables *tables)
{
    struct page_stream *head = page_stream_begin(stream, id);
    if (head == NULL)
        return -1;
    int status = page_head_write(head, tables);
    return page_stream_end(head) == 0 ? status : -1;
}

static int
write_time(FILE *stream, const struct page_tables *tables)
{
    struct page_stream *time = page_stream_begin(stream, "sprof-time");
    if (time == NULL)
        return -1;
    page_time_write(time, tables);
    return page_stream_end(time);
}

/* Write PROFILE, with the times of its samples if they are known. A user who
 * asks for some threads or stacks wants to see these: a caller that knows of
 * other filters finds idle threads itself. */
static int
write_profile(FILE *stream, struct profile *profile)
{
    bool is_timed = profile->keeps_events && !profile->has_no_times;
    struct timeline timeline = {0};
    struct page_tables tables;
    if (!profile->knows_idle && profile->filter == NULL &&
        idle_find(profile) != 0)
        return -1;
    if (is_timed && timeline_build(&timeline, profile) != 0)
        return -1;
    int status =
        page_tables_build(&tables, profile, is_timed ? &timeline : NULL);
    if (status == 0)
        status = write_head(stream, "sprof-head", &tables);
    if (status == 0 && is_timed)
        status = write_time(stream, &tables);
    int error = errno;
    page_tables_release(&tables);
    timeline_release(&timeline);
    errno = error;
    return status;
}

int
page_side(FILE *stream, const char *id, struct profile *profile)
{
    struct page_tables tables;
    int status = page_tables_build(&tables, profile, NULL);
    tables.is_compared = true;
    if (status == 0)
        status = write_head(stream, id, &tables);
    int error = errno;
    page_tables_release(&tables);
    errno = error;
    return status;
}

int
page_wrap(FILE *stream, int (*data)(FILE *, const struct output_content *),
          const struct output_content *content)
{
    size_t length;
    const char *template = page_template(&length);
    const char *place = memmem(template, length, PLACE, strlen(PLACE));
    if (place == NULL) {
        errno = EINVAL;
        return -1;
    }
    const char *after = place + strlen(PLACE);
    fwrite(template, 1, (size_t)(place - template), stream);
    if (data(stream, content) != 0)
        return -1;
    fwrite(after, 1, length - (size_t)(after - template), stream);
    return ferror(stream) != 0 ? -1 : 0;
}

static int
write_data(FILE *stream, const struct output_content *content)
{
    const struct page *page = (const struct page *)content;
    int status = write_profile(stream, page->profile);
    if (status == 0 && page->has_source)
        status = page_source_write(stream, page->profile);
    return status;
}

int
page_make(FILE *stream, const struct output_content *content)
{
    return page_wrap(stream, write_data, content);
}

int
page_write(FILE *stream, struct profile *profile)
{
    const struct page page = {.profile = profile};
    return page_make(stream, &page.content);
}
