/* SPDX-License-Identifier: MIT */
/*
 * sources_state.c -- all positions as text, and back. Of each spool:
 *
 *    spool 4711.4026531836.1764100000000000000.812345678.0     its name
 *    path /srv/app.4711.sprof
 *    service shop                     what its process said of itself
 *    at
 *    position ...                     live/interval_position.c
 *
 * A line "done NAME PATH" is of a spool that was taken whole.
 */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "cli/command.h"
#include "live/interval.h"
#include "sources_parts.h"
#include "sources.h"

static void
save_text(FILE *stream, const char *word, const char *text)
{
    if (text != NULL && strchr(text, '\n') == NULL)
        fprintf(stream, "%s %s\n", word, text);
}

void
sources_state_save(FILE *stream, void *context)
{
    const struct sources *sources = context;
    for (size_t i = 0; i < sources->done_count; i++)
        fprintf(stream, "done %s %s\n", sources->done[i].name,
                sources->done[i].path != NULL &&
                        strchr(sources->done[i].path, '\n') == NULL
                    ? sources->done[i].path
                    : "");
    for (size_t i = 0; i < sources->count; i++) {
        const struct source *source = &sources->all[i];
        fprintf(stream, "spool %s\n", interval_name(source->interval));
        save_text(stream, "path", source->path);
        save_text(stream, "service", source->resource.service);
        save_text(stream, "attributes", source->resource.attributes);
        save_text(stream, "container", source->resource.container);
        fprintf(stream, "at\n");
        interval_position_save(source->interval, stream);
    }
}

/* A source as it was saved. */
struct saved {
    char *name, *path, *service, *attributes, *container;
};

/* The text after WORD in LINE, for the caller to free; NULL if it is another
 * line. */
static char *
text_after(char *line, const char *word)
{
    size_t length = strlen(word);
    line[strcspn(line, "\n")] = '\0';
    return strncmp(line, word, length) == 0 && line[length] == ' '
               ? strdup(line + length + 1)
               : NULL;
}

/* Pass over the lines of a position. Returns whether anything was taken up to
 * it: a spool without samples is removed when its process ends. */
static bool
skip_position(FILE *state)
{
    char *line = NULL;
    size_t size = 0;
    bool has_values = false;
    while (getline(&line, &size, state) > 0 && strcmp(line, "end\n") != 0) {
        char *values = text_after(line, "taken");
        has_values |= values != NULL && strpbrk(values, "123456789") != NULL;
        free(values);
    }
    free(line);
    return has_values;
}

/* Take the latest source out of the list. */
static void
drop_latest(struct sources *sources)
{
    sources_release(&sources->all[--sources->count]);
}

/* Follow the spool at PATH if it is called NAME; else return NULL. */
static struct source *
follow_same(struct sources *sources, const char *path, const char *name)
{
    bool unused;
    struct source *source = sources_follow(sources, path, NULL, 0, &unused);
    if (source == NULL || strcmp(interval_name(source->interval), name) == 0)
        return source;
    drop_latest(sources);
    return NULL;
}

/* Follow the spool that SAVED is of. A flight recorder may have put it aside
 * meanwhile: then nothing will be added, and the source has the path that leads
 * to another spool by now. NULL if it is gone. */
static struct source *
follow_saved(struct sources *sources, const struct saved *saved)
{
    static const char ending[] = ".sprof";
    char *past = NULL;
    if (saved->path == NULL)
        return NULL;
    struct source *source = follow_same(sources, saved->path, saved->name);
    int length = (int)strlen(saved->path) - (int)strlen(ending);
    if (source != NULL || !path_ends_with(saved->path, ending) ||
        asprintf(&past, "%.*s.past%s", length, saved->path, ending) < 0)
        return source;
    source = follow_same(sources, past, saved->name);
    free(past);
    char *path = source != NULL ? strdup(saved->path) : NULL;
    if (path != NULL) {
        free(source->path);
        source->path = path;
    }
    return source;
}

/* Go on with SAVED, whose position is next in STATE. */
static void
resume_one(struct sources *sources, const struct saved *saved, FILE *state)
{
    struct source *source = follow_saved(sources, saved);
    if (source == NULL) {
        if (skip_position(state))
            command_fail(
                "%s is gone: what its process did since the last push is "
                "lost",
                saved->path != NULL ? saved->path : saved->name);
    } else if (interval_position_resume(source->interval, state) != 0) {
        command_fail("%s: its saved position is damaged", saved->path);
    } else {
        source->resource.service =
            saved->service != NULL ? strdup(saved->service) : NULL;
        source->resource.attributes =
            saved->attributes != NULL ? strdup(saved->attributes) : NULL;
        source->resource.container =
            saved->container != NULL ? strdup(saved->container) : NULL;
        sources_watch_beside(sources, saved->path);
        return;
    }
    if (source != NULL)
        drop_latest(sources);
}

/* Take LINE into SAVED. */
static void
take_line(struct saved *saved, char *line)
{
    static const char *const words[] = {"spool", "path", "service",
                                        "attributes", "container"};
    char **const fields[] = {&saved->name, &saved->path, &saved->service,
                             &saved->attributes, &saved->container};
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char *text = text_after(line, words[i]);
        if (text == NULL)
            continue;
        free(*fields[i]);
        *fields[i] = text;
    }
}

static void
release_saved(struct saved *saved)
{
    free(saved->name);
    free(saved->path);
    free(saved->service);
    free(saved->attributes);
    free(saved->container);
    *saved = (struct saved){0};
}

void
sources_state_resume(struct sources *sources, FILE *state)
{
    struct saved saved = {0};
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, state) > 0) {
        char *done = text_after(line, "done");
        if (strcmp(line, "at") == 0 && saved.name != NULL) {
            resume_one(sources, &saved, state);
            release_saved(&saved);
        } else if (done != NULL) {
            char *path = done;
            const char *name = strsep(&path, " ");
            sources_add_done(sources, name,
                             path != NULL && path[0] != '\0' ? path : NULL);
            free(done);
        } else {
            take_line(&saved, line);
        }
    }
    release_saved(&saved);
    free(line);
}
