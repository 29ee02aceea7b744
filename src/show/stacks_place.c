/* SPDX-License-Identifier: MIT */
/* stacks_place.c -- the place of a frame, as stacks_text.h prints it. Only the
 * last part of a path is shown: with the function's name it is enough to find
 * the line. */
#include <string.h>

#include "base/path.h"
#include "model/naming.h"
#include "truncate.h"
#include "stacks_text.h"

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
