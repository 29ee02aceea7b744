/* SPDX-License-Identifier: MIT */
/* stacks_place.c -- see stacks_place.h. Only the last part of a path is shown:
 * with the function's name it is enough to find the line. */
#include <string.h>

#include "base/path.h"
#include "model/naming.h"
#include "truncate.h"
#include "stacks_place.h"

/* Names come from files that may contain anything (util/clean.h). */
static const char *
clean_name(struct profile *profile, const char *name)
{
    const char *string = profile_string(profile, name);
    return string != NULL ? string : "?";
}

/* Write to TEXT what stands behind the function's name. */
static void
describe_place(struct profile *profile, uint32_t node, unsigned i, char *text,
               size_t size)
{
    const struct symbol *symbol = naming_symbol(profile, node);
    const struct symbol_frame *frame = &symbol->frames[i];
    const char *module =
        profile_module_name(profile, profile->nodes[node].module);
    const char *inlined = i + 1 < symbol->count ? " (inlined)" : "";
    const char *file = clean_name(profile, path_name(frame->file));
    if (file[0] != '\0' && frame->line > 0)
        snprintf(text, size, " %.200s:%u%s", file, frame->line, inlined);
    else if (file[0] != '\0')
        snprintf(text, size, " %.200s%s", file, inlined);
    else if (symbol->named && module[0] != '\0')
        snprintf(text, size, " (%.200s)%s", module, inlined);
    else
        text[0] = '\0'; /* a name like "libx.so+0x1234" says it */
}

/* The function's name is shortened: a place that is cut names another line. */
void
stacks_place_print(FILE *stream, struct profile *profile, uint32_t node,
                   unsigned i, unsigned columns)
{
    const char *function = naming_symbol(profile, node)->frames[i].function;
    char place[256];
    describe_place(profile, node, i, place, sizeof(place));
    unsigned width = truncate_width(place);
    if (columns > 0 && columns < width + 10)
        columns = width + 10;
    truncate_name(stream, clean_name(profile, function),
                  columns > 0 ? columns - width : 0);
    fputs(place, stream);
}

/* Whether FRAME is of a library that asks for locks on behalf of its caller. */
static bool
is_library(const struct profile *profile, uint32_t node,
           const struct symbol_frame *frame)
{
    static const char *const modules[] = {"libc.so",  "libc-",     "libpthread",
                                          "ld-linux", "libstdc++", "libc++",
                                          "[vdso]"};
    static const char *const functions[] = {"std::", "__gthread", "pthread_",
                                            "__pthread_", "__lll_"};
    const char *module =
        profile_module_name(profile, profile->nodes[node].module);
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        if (strncmp(module, modules[i], strlen(modules[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strncmp(frame->function, functions[i], strlen(functions[i])) == 0)
            return true;
    return false;
}

/* Frames are missing behind a marker, and the frame that asked may be one of
 * them. */
bool
stacks_place_of_lock(struct profile *profile, uint32_t leaf, uint32_t *node,
                     unsigned *i)
{
    for (*node = leaf; *node != 0; *node = profile->nodes[*node].parent) {
        if (profile_is_marker(profile, *node))
            return false;
        const struct symbol *symbol = naming_symbol(profile, *node);
        for (*i = 0; *i < symbol->count; (*i)++)
            if (!is_library(profile, *node, &symbol->frames[*i]))
                return true;
    }
    return false;
}
