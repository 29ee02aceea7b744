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
#include "demangle.h"
#include "image.h"
#include "symbolizer.h"

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

/* A name of a symbol table and what its programmer calls it. */
struct spelling {
    const char *linkage, *function;
};

/* A file's name as it was put together from these two. */
struct path {
    const char *directory, *full;
};

struct symbolizer {
    bool inlines;
    struct answer_store store;
    struct address_table modules;   /* (id, 0): struct module */
    struct address_table answers;   /* (id, offset): struct symbol */
    struct address_table spellings; /* (0, linkage): struct spelling */
    /* The same by where a name lies in its file, and full paths by where their
     * last part does: what is asked again and again is not hashed again. */
    struct address_table known_names; /* (0, name): struct spelling */
    struct address_table known_paths; /* (0, file): struct path */
    struct image_list *images;
};

static const struct symbol_frame lost_frame = {"[out of memory]",
                                               "[out of memory]", "", 0, 0};
static const struct symbol lost_symbol = {1, false, &lost_frame};

/* The image of MODULE, opened if need be. NULL if memory is short. */
static struct image *
get_image(struct symbolizer *symbolizer, struct module *module)
{
    const char *path = module->copy ? module->copy : module->path;
    struct image_list *item;

    if (module->image)
        return (module->image);
    for (item = symbolizer->images; item; item = item->next) {
        if (image_is(item->image, path, module->build_id, module->length))
            break;
    }
    if (!item) {
        item = answer_store_space(&symbolizer->store, sizeof(*item));
        if (!item)
            return (NULL);
        item->image = image_open(path, module->build_id, module->length);
        if (!item->image)
            return (NULL);
        item->next = symbolizer->images;
        symbolizer->images = item;
    }
    module->image = item->image;
    return (module->image);
}

/* Demangle LINKAGE (a string of the store) into a new spelling. */
static struct spelling *
new_spelling(struct answer_store *store, const char *linkage)
{
    struct spelling *spelling = answer_store_space(store, sizeof(*spelling));
    char *function;

    if (!spelling)
        return (NULL);
    function = demangle(linkage);
    spelling->linkage = linkage;
    spelling->function =
        function ? answer_store_string(store, function) : linkage;
    free(function);
    return (spelling->function ? spelling : NULL);
}

/* NAME without "@VERSION", kept. NULL if memory is short. */
static const char *
without_version(struct answer_store *store, const char *name)
{
    const char *version = *name ? strchr(name + 1, '@') : NULL;
    const char *linkage;
    char *bare;

    if (!version)
        return (answer_store_string(store, name));
    bare = strndup(name, (size_t)(version - name));
    linkage = bare ? answer_store_string(store, bare) : NULL;
    free(bare);
    return (linkage);
}

/* The spelling of NAME. NULL if memory is short. */
static struct spelling *
find_spelling(struct symbolizer *symbolizer, const char *name)
{
    const char *linkage = without_version(&symbolizer->store, name);
    struct spelling *spelling;

    if (!linkage)
        return (NULL);
    spelling =
        address_table_find(&symbolizer->spellings, 0, (uintptr_t)linkage);
    if (spelling)
        return (spelling);
    spelling = new_spelling(&symbolizer->store, linkage);
    if (!spelling || address_table_put(&symbolizer->spellings, 0,
                                       (uintptr_t)linkage, spelling))
        return (NULL);
    return (spelling);
}

/* The same for NAME in a file, which stays where it is while the file is open.
 */
static const struct spelling *
spell(struct symbolizer *symbolizer, const char *name)
{
    struct spelling *spelling =
        address_table_find(&symbolizer->known_names, 0, (uintptr_t)name);

    if (spelling)
        return (spelling);
    spelling = find_spelling(symbolizer, name);
    if (!spelling || address_table_put(&symbolizer->known_names, 0,
                                       (uintptr_t)name, spelling))
        return (NULL);
    return (spelling);
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
    const struct spelling *spelling = spell(symbolizer, name);

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

/* FILE in DIRECTORY, kept. NULL if memory is short. */
static const char *
join(struct answer_store *store, const char *directory, const char *file)
{
    const char *kept;
    char *joined;

    if (!directory)
        return (answer_store_string(store, file));
    if (asprintf(&joined, "%s/%s", directory, file) < 0)
        return (NULL);
    kept = answer_store_string(store, joined);
    free(joined);
    return (kept);
}

/* The same, put together once while the directory is the same. */
static const char *
full_path(struct symbolizer *symbolizer, const char *directory,
          const char *file)
{
    struct path *path =
        address_table_find(&symbolizer->known_paths, 0, (uintptr_t)file);

    if (path && path->directory == directory)
        return (path->full);
    if (!path) {
        path = answer_store_space(&symbolizer->store, sizeof(*path));
        if (!path || address_table_put(&symbolizer->known_paths, 0,
                                       (uintptr_t)file, path))
            return (NULL);
    }
    path->directory = directory;
    path->full = join(&symbolizer->store, directory, file);
    return (path->full);
}

/* A frame without DWARF has no file: "", never NULL, so that writers need not
 * ask. */
static int
set_place(struct symbolizer *symbolizer, struct symbol_frame *frame,
          const struct unit_frame *source)
{
    frame->file = source->file
                      ? full_path(symbolizer, source->directory, source->file)
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

/* ANSWER for OFFSET in MODULE in its final form. */
static struct symbol *
make_symbol(struct symbolizer *symbolizer, const struct image_answer *answer,
            const struct module *module, uint64_t offset)
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
                                  offset))
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
    struct image_answer answer = {.frames = frames};
    struct image *image = module ? get_image(symbolizer, module) : NULL;

    if (module && !image)
        return (NULL);
    if (image)
        image_find(image, offset, &answer,
                   symbolizer->inlines ? MOST_FRAMES : 1);
    return (make_symbol(symbolizer, &answer, module, offset));
}

struct symbolizer *
symbolizer_new(const struct symbolizer_options *options)
{
    struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

    debug_server_limit(options->server_seconds);
    if (symbolizer)
        symbolizer->inlines = options->inlines;
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
    address_table_free(&symbolizer->known_paths);
    address_table_free(&symbolizer->known_names);
    address_table_free(&symbolizer->spellings);
    address_table_free(&symbolizer->answers);
    address_table_free(&symbolizer->modules);
    answer_store_free(&symbolizer->store);
    free(symbolizer);
}
