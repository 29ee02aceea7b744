/* SPDX-License-Identifier: MIT */
/*
 * symbolizer.c -- modules by id, files opened on demand, answers kept. Report
 * side.
 *
 * An answer is put together once: names are spelled as in the source, every
 * string is kept once, and the same question gets the same pointer. The
 * function that owns the code is called by its symbol, because only the symbol
 * tells a clone (".cold", ".part.0") from its original; inlined ones have no
 * symbol and take their name from the DWARF.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address_table.h"
#include "answer_store.h"
#include "debug_server.h"
#include "crew.h"
#include "image.h"
#include "openings.h"
#include "spellings.h"
#include "symbolizer.h"
#include "thrift.h"

/* Deeper inlining than this is cut next to the owning function. */
#define MOST_FRAMES 128

struct module {
    const char *path;
    const char *copy; /* where the file is to be read instead; NULL: there */
    const uint8_t *build_id;
    size_t length;
    struct image *image; /* NULL until the first question */
};

struct image_list {
    struct image *image;
    struct image_list *next;
};

struct symbolizer {
    bool inlines, is_limited;
    uint64_t budget; /* ns, if it is limited */
    struct answer_store store;
    struct address_table modules; /* (id, 0): struct module */
    struct address_table answers; /* (id, offset): struct symbol */
    struct spellings spellings;
    struct image_list *images;
};

static const struct symbol_frame lost_frame = {"[out of memory]",
                                               "[out of memory]", "", 0, 0};
static const struct symbol lost_symbol = {1, false, &lost_frame};

static const char *
path_to_read(const struct module *module)
{
    return (module->copy ? module->copy : module->path);
}

/* The image of MODULE, if it is open. */
static struct image *
open_image(const struct symbolizer *symbolizer, const struct module *module)
{
    for (struct image_list *item = symbolizer->images; item;
         item = item->next) {
        if (image_is(item->image, path_to_read(module), module->build_id,
                     module->length))
            return (item->image);
    }
    return (NULL);
}

/* Keep IMAGE (may be NULL) until the end. Returns it, or NULL. */
static struct image *
keep_image(struct symbolizer *symbolizer, struct image *image)
{
    struct image_list *item =
        image ? answer_store_space(&symbolizer->store, sizeof(*item)) : NULL;

    if (!item) {
        if (image)
            image_close(image);
        return (NULL);
    }
    *item = (struct image_list){image, symbolizer->images};
    symbolizer->images = item;
    return (image);
}

/* The image of MODULE, opened if need be. NULL if memory is short. */
static struct image *
get_image(struct symbolizer *symbolizer, struct module *module)
{
    if (!module->image)
        module->image = open_image(symbolizer, module);
    if (!module->image)
        module->image = keep_image(symbolizer, image_open(path_to_read(module),
                                                          module->build_id,
                                                          module->length));
    return (module->image);
}

/* "NAME@plt". NULL if memory is short. */
static const char *
stub_name(struct answer_store *store, const char *name)
{
    const char *kept;
    char *text;

    if (asprintf(&text, "%s@plt", name) < 0)
        return (NULL);
    kept = answer_store_string(store, text);
    free(text);
    return (kept);
}

/* "module+0xoffset", or "0xoffset" without a module. NULL if memory is short.
 */
static const char *
place_name(struct answer_store *store, const struct module *module,
           uint64_t offset)
{
    const char *path = module ? module->path : "";
    const char *slash = strrchr(path, '/');
    const char *kept;
    char *text;

    if (asprintf(&text, "%s%s0x%" PRIx64, slash ? slash + 1 : path,
                 module ? "+" : "", offset) < 0)
        return (NULL);
    kept = answer_store_string(store, text);
    free(text);
    return (kept);
}

/* Name FRAME by NAME, which is not NULL. */
static int
set_name(struct symbolizer *symbolizer, struct symbol_frame *frame,
         const char *name, bool is_stub)
{
    const struct spelling *spelling =
        spellings_name(&symbolizer->spellings, name);

    if (!spelling)
        return (-1);
    frame->function = spelling->function;
    frame->linkage = spelling->linkage;
    if (!is_stub)
        return (0);
    frame->function = stub_name(&symbolizer->store, spelling->function);
    frame->linkage = stub_name(&symbolizer->store, spelling->linkage);
    return (frame->function && frame->linkage ? 0 : -1);
}

/* A frame without DWARF has no file: "", never NULL, so that writers need not
 * ask. */
static int
set_place(struct symbolizer *symbolizer, struct symbol_frame *frame,
          const struct unit_frame *source)
{
    frame->file = source->file ? spellings_path(&symbolizer->spellings,
                                                source->directory, source->file)
                               : "";
    frame->line = source->line;
    frame->start_line = source->start_line;
    return (frame->file ? 0 : -1);
}

/* Name FRAME, which nothing else names, by its place. */
static int
set_place_name(struct answer_store *store, struct symbol_frame *frame,
               const struct module *module, uint64_t offset)
{
    frame->function = frame->linkage = place_name(store, module, offset);
    return (frame->function ? 0 : -1);
}

/* ANSWER about MODULE in its final form. */
static struct symbol *
make_symbol(struct symbolizer *symbolizer, const struct image_answer *answer,
            const struct module *module)
{
    static const struct unit_frame nowhere;
    unsigned count = answer->count ? answer->count : 1;
    struct symbol *symbol =
        answer_store_space(&symbolizer->store, sizeof(*symbol));
    struct symbol_frame *frames =
        answer_store_space(&symbolizer->store, count * sizeof(*frames));

    if (!symbol || !frames)
        return (NULL);
    for (unsigned i = 0; i < count; i++) {
        const struct unit_frame *source =
            answer->count ? &answer->frames[i] : &nowhere;
        const char *name = source->name;
        if (i + 1 == count && answer->symbol)
            name = answer->symbol;
        if (i + 1 == count && name)
            symbol->named = true;
        if (name ? set_name(symbolizer, &frames[i], name, answer->is_stub)
                 : set_place_name(&symbolizer->store, &frames[i], module,
                                  answer->start))
            return (NULL);
        if (set_place(symbolizer, &frames[i], source))
            return (NULL);
    }
    symbol->count = count;
    symbol->frames = frames;
    return (symbol);
}

/* Without a module there is only the address to tell. */
static struct symbol *
look_up(struct symbolizer *symbolizer, struct module *module, uint64_t offset)
{
    struct unit_frame frames[MOST_FRAMES];
    struct image_answer answer = {.frames = frames, .start = offset};
    struct image *image = module ? get_image(symbolizer, module) : NULL;

    if (module && !image)
        return (NULL);
    if (image)
        image_find(image, offset, &answer,
                   symbolizer->inlines ? MOST_FRAMES : 1);
    return (make_symbol(symbolizer, &answer, module));
}

struct symbolizer *
symbolizer_new(const struct symbolizer_options *options)
{
    struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

    debug_server_limit(options->server_seconds);
    if (!symbolizer)
        return (NULL);
    symbolizer->inlines = options->inlines;
    symbolizer->spellings.store = &symbolizer->store;
    symbolizer->spellings.form =
        options->full_names ? DEMANGLE_FULL : DEMANGLE_SHORT;
    return (symbolizer);
}

void
symbolizer_add(struct symbolizer *symbolizer, uint32_t id, const char *path,
               const uint8_t *build_id, size_t length)
{
    struct answer_store *store = &symbolizer->store;
    struct module *module;
    uint8_t *copy;

    if (id == 0 || address_table_find(&symbolizer->modules, id, 0))
        return;
    /* Without memory the module stays unknown, and its addresses bare. */
    module = answer_store_space(store, sizeof(*module));
    copy = answer_store_space(store, length + 1);
    if (!module || !copy)
        return;
    if (length > 0)
        memcpy(copy, build_id, length);
    module->build_id = copy;
    module->length = length;
    module->path = answer_store_string(store, path);
    if (module->path)
        address_table_put(&symbolizer->modules, id, 0, module);
}

void
symbolizer_add_copy(struct symbolizer *symbolizer, uint32_t id,
                    const char *copy)
{
    struct module *module = address_table_find(&symbolizer->modules, id, 0);

    if (module)
        module->copy = answer_store_string(&symbolizer->store, copy);
}

const struct symbol *
symbolizer_find(struct symbolizer *symbolizer, uint32_t id, uint64_t offset)
{
    struct symbol *symbol =
        address_table_find(&symbolizer->answers, id, offset);

    if (symbol)
        return (symbol);
    symbol = look_up(symbolizer,
                     address_table_find(&symbolizer->modules, id, 0), offset);
    if (!symbol || address_table_put(&symbolizer->answers, id, offset, symbol))
        return (&lost_symbol);
    return (symbol);
}

static int
compare_questions(const void *left, const void *right)
{
    const struct symbol_question *a = left, *b = right;

    if (a->id != b->id)
        return (a->id < b->id ? -1 : 1);
    return ((a->offset > b->offset) - (a->offset < b->offset));
}

/* Whether one of the COUNT OPENINGS, or an image that is open, is MODULE's
 * file, or may be. */
static bool
is_known(const struct symbolizer *symbolizer, const struct module *module,
         const struct opening *openings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (openings[i].length == module->length &&
            strcmp(openings[i].path, path_to_read(module)) == 0)
            return (true);
    }
    return (module->image || open_image(symbolizer, module));
}

/* How many modules the sorted QUESTIONS are about. */
static size_t
count_modules(const struct symbol_question *questions, size_t count)
{
    size_t modules = 0;

    for (size_t i = 0; i < count; i++)
        modules += i == 0 || questions[i].id != questions[i - 1].id;
    return (modules);
}

/* The sorted QUESTIONS as OPENINGS, at most one for each module. Returns how
 * many there are. */
static size_t
plan_openings(const struct symbolizer *symbolizer,
              const struct symbol_question *questions, size_t count,
              struct opening *openings)
{
    size_t planned = 0, next;

    for (size_t i = 0; i < count; i = next) {
        const struct module *module =
            address_table_find(&symbolizer->modules, questions[i].id, 0);
        for (next = i + 1;
             next < count && questions[next].id == questions[i].id; next++)
            ;
        if (!module || is_known(symbolizer, module, openings, planned))
            continue;
        openings[planned++] = (struct opening){
            .path = path_to_read(module),
            .build_id = module->build_id,
            .length = module->length,
            .questions = &questions[i],
            .count = next - i,
            .depth = symbolizer->inlines ? MOST_FRAMES : 1,
        };
    }
    return (planned);
}

/* Take over what OPENING has found out. */
static void
take_over(struct symbolizer *symbolizer, struct opening *opening)
{
    const struct symbol_question *questions = opening->questions;
    struct module *module =
        address_table_find(&symbolizer->modules, questions[0].id, 0);

    module->image = keep_image(symbolizer, opening->image);
    for (size_t i = 0; module->image && i < opening->answered; i++) {
        struct symbol *symbol;
        if (address_table_find(&symbolizer->answers, questions[i].id,
                               questions[i].offset))
            continue;
        symbol = make_symbol(symbolizer, &opening->answers[i], module);
        if (!symbol || address_table_put(&symbolizer->answers, questions[i].id,
                                         questions[i].offset, symbol))
            return;
    }
}

/* Open what the sorted QUESTIONS are about. Servers are asked one question at a
 * time: what they may take is counted. */
static void
open_planned(struct symbolizer *symbolizer, struct opening *openings,
             size_t planned)
{
    size_t brief = symbolizer->is_limited
                       ? thrift_run(openings, planned, symbolizer->budget)
                       : 0;

    if (planned - brief > 1 && crew_size(planned - brief) > 1)
        openings_run(openings + brief, planned - brief);
    else
        planned = brief;
    for (size_t i = 0; i < planned; i++)
        take_over(symbolizer, &openings[i]);
    openings_free(openings, planned);
}

void
symbolizer_expect(struct symbolizer *symbolizer,
                  struct symbol_question *questions, size_t count)
{
    struct opening *openings;

    if (debug_server_is_there())
        return;
    qsort(questions, count, sizeof(*questions), compare_questions);
    openings = calloc(count_modules(questions, count) + 1, sizeof(*openings));
    if (!openings)
        return;
    open_planned(symbolizer, openings,
                 plan_openings(symbolizer, questions, count, openings));
    free(openings);
}

void
symbolizer_limit(struct symbolizer *symbolizer, uint64_t ns)
{
    symbolizer->is_limited = true;
    symbolizer->budget = ns;
}

static const struct image *
opened_image(const struct symbolizer *symbolizer, uint32_t id)
{
    const struct module *module =
        address_table_find(&symbolizer->modules, id, 0);

    return (module ? module->image : NULL);
}

const char *
symbolizer_problem(const struct symbolizer *symbolizer, uint32_t id)
{
    const struct image *image = opened_image(symbolizer, id);

    return (image ? image_problem(image) : NULL);
}

bool
symbolizer_has_symbols(const struct symbolizer *symbolizer, uint32_t id)
{
    const struct image *image = opened_image(symbolizer, id);

    return (image && image_has_symbols(image));
}

bool
symbolizer_has_lines(const struct symbolizer *symbolizer, uint32_t id)
{
    const struct image *image = opened_image(symbolizer, id);

    return (image && image_has_lines(image));
}

void
symbolizer_free(struct symbolizer *symbolizer)
{
    if (!symbolizer)
        return;
    for (struct image_list *item = symbolizer->images; item; item = item->next)
        image_close(item->image);
    spellings_free(&symbolizer->spellings);
    address_table_free(&symbolizer->answers);
    address_table_free(&symbolizer->modules);
    answer_store_free(&symbolizer->store);
    free(symbolizer);
}
