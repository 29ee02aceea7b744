/* SPDX-License-Identifier: MIT */
/*
 * code_text.c -- prints
 *
 *   outer (app), machine code
 *    cpu flat      %   cpu cum      %   line
 *                                          14   11a8  nop
 *       0.100    5.0     0.100    5.0       7   11a9  call   1040 <step> [work]
 *                                               (12 instructions)
 *
 * The line is that of the innermost function there; one that is inlined has its
 * name in brackets.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symbol/demangle.h"
#include "symbol/symbolizer.h"
#include "listing.h"
#include "truncate.h"
#include "code_text.h"

/* AROUND: instructions before and after one with samples that are shown.
 * TEXT_SIZE: bytes of a line. */
enum { AROUND = 4, TEXT_SIZE = 512 };

/* A function that is being printed. */
struct print {
    struct listing listing;
    struct profile *profile;
    const struct code *code;
    const struct code_instruction *instructions;
    size_t count;
    bool *is_shown;
};

static void
print_title(FILE *stream, const struct profile *profile,
            const struct code *code, const struct paint *paint,
            unsigned columns)
{
    static const char what[] = ", machine code";
    unsigned room = columns > sizeof(what) ? columns - sizeof(what) + 1 : 0;
    fputs(paint->title, stream);
    truncate_function(stream, code->function,
                      profile_module_name(profile, code->module), room);
    fprintf(stream, "%s%s\n", what, paint->end);
}

/* The first offset after instruction I. */
static uint64_t
end_of(const struct print *print, size_t i)
{
    return i + 1 < print->count ? print->instructions[i + 1].offset
                                : UINT64_MAX;
}

/* Decide which instructions are shown. */
static void
choose(struct print *print)
{
    uint32_t place = 0;
    for (size_t i = 0; i < print->count; i++) {
        bool has_samples = false;
        for (; place < print->code->count &&
               print->code->places[place].offset < end_of(print, i);
             place++)
            has_samples |= print->code->places[place].offset >=
                           print->instructions[i].offset;
        if (!has_samples)
            continue;
        size_t from = i > AROUND ? i - AROUND : 0;
        for (size_t j = from; j <= i + AROUND && j < print->count; j++)
            print->is_shown[j] = true;
    }
}

/* Sum up the places of instruction I, from place *PLACE on. Returns whether
 * there are any. */
static bool
sum_places(const struct print *print, size_t i, uint32_t *place, uint64_t *flat,
           uint64_t *cumulative)
{
    const struct code *code = print->code;
    bool found = false;
    for (;
         *place < code->count && code->places[*place].offset < end_of(print, i);
         ++*place) {
        const struct code_place *at = &code->places[*place];
        if (at->offset < print->instructions[i].offset)
            continue;
        found = true;
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            sum_add(&flat[j], at->flat[j]);
            sum_add(&cumulative[j], at->cumulative[j]);
        }
    }
    return found;
}

/* Add the text between '<' and one of "+@>" at AT, if that is a mangled name.
 * Returns the place after it, or AT if it is none. */
static const char *
add_name(struct text *line, const char *at)
{
    size_t length = strcspn(at, "+@>");
    char mangled[TEXT_SIZE];
    snprintf(mangled, sizeof(mangled), "%.*s", (int)length, at);
    char *name =
        length < sizeof(mangled) ? demangle(mangled, DEMANGLE_SHORT) : NULL;
    if (name == NULL)
        return at;
    text_hide_controls(name);
    text_add(line, name);
    free(name);
    return at + length;
}

/* Add TEXT of an instruction, with names as their programmers know them. */
static void
add_instruction(struct text *line, const char *text)
{
    for (const char *open; (open = strchr(text, '<')) != NULL;) {
        text_add_bytes(line, text, (size_t)(open + 1 - text));
        text = add_name(line, open + 1);
    }
    text_add(line, text);
}

static void
print_instruction(struct print *print, size_t i, const uint64_t *flat,
                  const uint64_t *cumulative)
{
    const struct code *code = print->code;
    const struct code_instruction *instruction = &print->instructions[i];
    const struct symbol *symbol =
        symbolizer_find(print->profile->symbols,
                        print->profile->modules[code->module].symbols,
                        instruction->offset);
    const struct symbol_frame *frame = &symbol->frames[0];
    bool is_inlined = symbol->count > 1;
    const char *name = profile_string(print->profile, frame->function);
    char address[32], buffer[TEXT_SIZE];
    struct text line;
    snprintf(address, sizeof(address), "%6llx  ",
             (unsigned long long)instruction->offset);
    text_begin(&line, buffer, sizeof(buffer));
    text_add(&line, address);
    add_instruction(&line, instruction->text);
    if (is_inlined && name != NULL) {
        text_add(&line, "  [");
        text_add(&line, name);
        text_add(&line, "]");
    }
    listing_line(&print->listing, flat, NULL, cumulative, frame->line, buffer);
}

/* Print how many instructions from I on are not shown. Returns the first shown
 * one. */
static size_t
skip(struct print *print, size_t i)
{
    size_t first = i;
    char text[64];
    while (i < print->count && !print->is_shown[i])
        i++;
    snprintf(text, sizeof(text), "(%zu instructions)", i - first);
    listing_line(&print->listing, NULL, NULL, NULL, 0, text);
    return i;
}

static void
print_code(struct print *print)
{
    uint32_t place = 0;
    for (size_t i = 0; i < print->count;) {
        if (!print->is_shown[i]) {
            i = skip(print, i);
            continue;
        }
        uint64_t flat[VALUE_COUNT] = {0}, cumulative[VALUE_COUNT] = {0};
        bool found = sum_places(print, i, &place, flat, cumulative);
        print_instruction(print, i, found ? flat : NULL, cumulative);
        i++;
    }
}

void
code_text_write(FILE *stream, struct profile *profile, const struct code *code,
                const struct code_instruction *instructions, size_t count,
                const struct text_report_options *options)
{
    struct print print = {
        .profile = profile,
        .code = code,
        .instructions = instructions,
        .count = count,
        .is_shown = calloc(count + 1, sizeof(bool)),
    };
    if (print.is_shown == NULL)
        return;
    choose(&print);
    listing_begin(&print.listing, stream, profile, options);
    print.listing.columns.hidden |= LISTING_ERROR;
    print_title(stream, profile, code, print.listing.columns.paint,
                options->columns);
    columns_titles(&print.listing.columns, NULL);
    print_code(&print);
    free(print.is_shown);
}

void
code_text_write_none(FILE *stream, const struct profile *profile,
                     const struct code *code, const char *reason,
                     const struct text_report_options *options)
{
    print_title(stream, profile, code,
                options->paint != NULL ? options->paint : &paint_none,
                options->columns);
    fprintf(stream, "note: %s\n", reason);
}
