/* SPDX-License-Identifier: MIT */
/*
 * symbolizer.c -- modules by id, files opened on demand, answers kept. Report
 * side.
 *
 * Each answer is built once. Names are spelled as in the source, every string
 * is stored once, and the same question gets the same pointer. The function
 * that owns the code gets its name from its symbol, because only the symbol
 * distinguishes a clone (".cold", ".part.0") from its original. Inlined
 * functions have no symbol and get their names from the DWARF.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "util/array.h"
#include "util/intern.h"
#include "address_table.h"
#include "answer_cache.h"
#include "debug_server.h"
#include "demangle.h"
#include "parallel.h"
#include "image.h"
#include "open_many.h"
#include "symbolizer.h"

/* Limit of the frames of one answer. In deeper inlining, the calls next to the
 * owning function are left out. */
#define MOST_FRAMES 128

struct module {
    const char *path;
    const char *copy; /* the path to read instead of PATH; NULL: PATH itself */
    const uint8_t *build_id;
    size_t length;
    uint32_t number; /* of BUILD_ID in the store: equal ones have the same */
    bool has_looked; /* CACHE was looked for */
    const char *refusal; /* why the file must not be used; NULL: it may be */
    struct image *image; /* NULL until the first question */
    struct answer_cache
        *cache; /* answers of earlier reports; NULL: answers are not kept */
};

/* A name of a symbol table, and the programmer's name for it. */
struct spelling {
    const char *linkage, *function;
};

/* A full path for a file and the directory that it was built with. */
struct path {
    const char *directory, *full;
};

struct symbolizer {
    bool inlines, is_limited;
    uint64_t budget;     /* ns for debug information, if IS_LIMITED */
    uint32_t users;      /* that have not called symbolizer_free */
    uint32_t owners;     /* numbers that symbolizer_owner gave */
    struct intern files; /* (path, build-id, owner): id - 1 */
    struct intern store;
    struct address_table modules;    /* (id, 0): struct module */
    struct address_table answers;    /* (id, offset): struct symbol */
    enum demangle_form form;         /* of names of functions */
    struct address_table by_linkage; /* (0, linkage): struct spelling */
    /* The same spellings by the address of a name in its file, and full paths
     * by the address of their last part. So a name that comes again is not
     * hashed again. The strings stay in place, as those of an open image do. */
    struct address_table names;  /* (0, name): struct spelling */
    struct address_table paths;  /* (0, file): struct path */
    struct address_table images; /* (build-id, path): struct image */
    struct address_table caches; /* (build-id, 0): struct answer_cache */
};

static const struct symbol_frame lost_frame = {"[out of memory]",
                                               "[out of memory]", "", 0, 0};
static const struct symbol lost_symbol = {1, false, &lost_frame, false};

static const char *
path_to_read(const struct module *module)
{
    return module->copy != NULL ? module->copy : module->path;
}

/* The place of the image of MODULE's file, with NULL in it if the file is not
 * open. NULL if memory is short. */
static void **
image_place(struct symbolizer *symbolizer, const struct module *module)
{
    /* The same file may be the right one for another profile. */
    return address_table_place(&symbolizer->images, module->number,
                               module->refusal != NULL
                                   ? (uintptr_t)module
                                   : (uintptr_t)path_to_read(module));
}

/* The image of MODULE, which is opened at the first call. NULL if memory is
 * short. */
static struct image *
get_image(struct symbolizer *symbolizer, struct module *module)
{
    void **place =
        module->image == NULL ? image_place(symbolizer, module) : NULL;
    if (place != NULL && *place == NULL)
        *place = module->refusal != NULL
                     ? image_refuse(path_to_read(module), module->refusal)
                     : image_open(path_to_read(module), module->build_id,
                                  module->length);
    if (place != NULL)
        module->image = *place;
    return module->image;
}

/* The cache of MODULE, which is opened at the first call. NULL if answers are
 * not kept: without inlined calls they would differ. */
static struct answer_cache *
get_cache(struct symbolizer *symbolizer, struct module *module)
{
    if (module->has_looked || !symbolizer->inlines || module->length == 0)
        return module->cache;
    module->has_looked = true;
    void **place = address_table_place(&symbolizer->caches, module->number, 0);
    if (place != NULL && *place == NULL)
        *place = answer_cache_open(module->build_id, module->length);
    if (place != NULL)
        module->cache = *place;
    return module->cache;
}

/* Keep ANSWER of MODULE's image for later reports, if the file was read whole.
 */
static void
cache_answer(struct symbolizer *symbolizer, struct module *module,
             uint64_t offset, const struct image_answer *answer)
{
    struct answer_cache *cache = get_cache(symbolizer, module);
    if (cache != NULL && image_problem(module->image) == NULL &&
        image_unread(module->image) == NULL)
        answer_cache_add(cache, image_flags(module->image), offset, answer);
}

/* Demangle LINKAGE (a string of the store) into a new spelling. */
static struct spelling *
new_spelling(struct symbolizer *symbolizer, const char *linkage)
{
    struct intern *store = &symbolizer->store;
    struct spelling *spelling = intern_space(store, sizeof(*spelling));
    if (spelling == NULL)
        return NULL;
    char *function = demangle(linkage, symbolizer->form);
    spelling->linkage = linkage;
    spelling->function =
        function != NULL ? intern_text(store, function) : linkage;
    free(function);
    return spelling->function != NULL ? spelling : NULL;
}

/* NAME without "@VERSION", kept. NULL if memory is short. */
static const char *
without_version(struct intern *store, const char *name)
{
    const char *version = *name != '\0' ? strchr(name + 1, '@') : NULL;
    if (version == NULL)
        return intern_text(store, name);
    return intern_format(store, "%.*s", (int)(version - name), name);
}

/* The spelling of NAME. NULL if memory is short. */
static struct spelling *
find_by_linkage(struct symbolizer *symbolizer, const char *name)
{
    const char *linkage = without_version(&symbolizer->store, name);
    void **place = linkage != NULL
                       ? address_table_place(&symbolizer->by_linkage, 0,
                                             (uintptr_t)linkage)
                       : NULL;
    if (place != NULL && *place == NULL)
        *place = new_spelling(symbolizer, linkage);
    return place != NULL ? *place : NULL;
}

/* The spelling of NAME, which may have a version ("@GLIBC_2.34"). NULL if
 * memory is short. */
static const struct spelling *
spell(struct symbolizer *symbolizer, const char *name)
{
    void **place = address_table_place(&symbolizer->names, 0, (uintptr_t)name);
    if (place != NULL && *place == NULL)
        *place = find_by_linkage(symbolizer, name);
    return place != NULL ? *place : NULL;
}

/* The path of FILE in DIRECTORY (may be NULL), built once while the directory
 * is the same. NULL if memory is short. */
static const char *
full_path(struct symbolizer *symbolizer, const char *directory,
          const char *file)
{
    void **place = address_table_place(&symbolizer->paths, 0, (uintptr_t)file);
    if (place != NULL && *place == NULL)
        *place = intern_space(&symbolizer->store, sizeof(struct path));
    struct path *path = place != NULL ? *place : NULL;
    if (path == NULL)
        return NULL;
    if (path->full != NULL && path->directory == directory)
        return path->full;
    path->directory = directory;
    path->full = directory != NULL ? intern_format(&symbolizer->store, "%s/%s",
                                                   directory, file)
                                   : intern_text(&symbolizer->store, file);
    return path->full;
}

/* Give FRAME the name NAME (not NULL). Returns 0, or -1 if memory is short. */
static int
set_name(struct symbolizer *symbolizer, struct symbol_frame *frame,
         const char *name, bool is_stub)
{
    const struct spelling *spelling = spell(symbolizer, name);
    if (spelling == NULL)
        return -1;
    frame->function = spelling->function;
    frame->linkage = spelling->linkage;
    if (!is_stub)
        return 0;
    frame->function =
        intern_format(&symbolizer->store, "%s@plt", spelling->function);
    frame->linkage =
        intern_format(&symbolizer->store, "%s@plt", spelling->linkage);
    return frame->function != NULL && frame->linkage != NULL ? 0 : -1;
}

/* Set the file and the lines of FRAME. A frame without DWARF has the file ""
 * and not NULL, so that writers need not check. Returns 0, or -1 if memory is
 * short. */
static int
set_place(struct symbolizer *symbolizer, struct symbol_frame *frame,
          const struct unit_frame *source)
{
    frame->file = source->file != NULL
                      ? full_path(symbolizer, source->directory, source->file)
                      : "";
    frame->line = source->line;
    frame->start_line = source->start_line;
    return frame->file != NULL ? 0 : -1;
}

/* Name FRAME by its place, because it has no other name: "module+0xoffset", or
 * "0xoffset" without a module. Returns 0, or -1 if memory is short. */
static int
set_place_name(struct intern *store, struct symbol_frame *frame,
               const struct module *module, uint64_t offset)
{
    frame->function = frame->linkage =
        intern_format(store, "%s%s0x%" PRIx64,
                      module != NULL ? path_name(module->path) : "",
                      module != NULL ? "+" : "", offset);
    return frame->function != NULL ? 0 : -1;
}

/* Build the symbol that the caller gets for ANSWER about MODULE. NULL if memory
 * is short. */
static struct symbol *
make_symbol(struct symbolizer *symbolizer, const struct image_answer *answer,
            const struct module *module)
{
    static const struct unit_frame nowhere;
    unsigned count = answer->count != 0 ? answer->count : 1;
    struct symbol *symbol = intern_space(&symbolizer->store, sizeof(*symbol));
    struct symbol_frame *frames =
        intern_space(&symbolizer->store, count * sizeof(*frames));
    if (symbol == NULL || frames == NULL)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        const struct unit_frame *source =
            answer->count != 0 ? &answer->frames[i] : &nowhere;
        const char *name = source->name;
        if (i + 1 == count && answer->symbol != NULL)
            name = answer->symbol;
        if (i + 1 == count && name != NULL)
            symbol->named = true;
        int failed =
            name != NULL
                ? set_name(symbolizer, &frames[i], name, answer->is_stub)
                : set_place_name(&symbolizer->store, &frames[i], module,
                                 answer->start);
        if (failed != 0 || set_place(symbolizer, &frames[i], source) != 0)
            return NULL;
    }
    symbol->count = count;
    symbol->frames = frames;
    return symbol;
}

/* Fill ANSWER, which has room for MOST_FRAMES, from earlier reports. */
static bool
find_cached(struct symbolizer *symbolizer, struct module *module,
            uint64_t offset, struct image_answer *answer)
{
    const struct answer_cache *cache = get_cache(symbolizer, module);
    return cache != NULL &&
           answer_cache_find(cache, offset, answer, MOST_FRAMES);
}

/* Look OFFSET up in MODULE. Without a module, the answer has the address alone.
 * NULL if memory is short. */
static struct symbol *
look_up(struct symbolizer *symbolizer, struct module *module, uint64_t offset)
{
    struct unit_frame frames[MOST_FRAMES];
    struct image_answer answer = {.frames = frames, .start = offset};
    if (module == NULL || find_cached(symbolizer, module, offset, &answer))
        return make_symbol(symbolizer, &answer, module);
    struct image *image = get_image(symbolizer, module);
    if (image == NULL)
        return NULL;
    image_find(image, offset, &answer, symbolizer->inlines ? MOST_FRAMES : 1);
    cache_answer(symbolizer, module, offset, &answer);
    return make_symbol(symbolizer, &answer, module);
}

struct symbolizer *
symbolizer_new(const struct symbolizer_options *options)
{
    if (options->shared != NULL) {
        options->shared->users++;
        return options->shared;
    }
    struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
    debug_server_limit(options->server_seconds);
    if (symbolizer == NULL || elf_file_set_root(options->sysroot) != 0) {
        free(symbolizer);
        return NULL;
    }
    symbolizer->users = 1;
    symbolizer->inlines = options->inlines;
    symbolizer->form = options->full_names ? DEMANGLE_FULL : DEMANGLE_SHORT;
    return symbolizer;
}

uint32_t
symbolizer_file(struct symbolizer *symbolizer, const char *path,
                const char *build_id, uint32_t owner)
{
    struct intern *store = &symbolizer->store;
    uint32_t key[3] = {intern_string(store, path),
                       intern_string(store, build_id),
                       build_id[0] == '\0' ? owner : 0};
    if (key[0] == INTERN_NONE || key[1] == INTERN_NONE)
        return 0;
    return intern_put(&symbolizer->files, key, sizeof(key)) + 1;
}

uint32_t
symbolizer_owner(struct symbolizer *symbolizer)
{
    return ++symbolizer->owners;
}

uint32_t
symbolizer_files(const struct symbolizer *symbolizer)
{
    return intern_count(&symbolizer->files);
}

void
symbolizer_add(struct symbolizer *symbolizer, uint32_t id, const char *path,
               const uint8_t *build_id, size_t length)
{
    struct intern *store = &symbolizer->store;
    if (id == 0 || address_table_find(&symbolizer->modules, id, 0) != NULL)
        return;
    /* If memory is short, the module stays unknown and its addresses get no
     * names. */
    struct module *module = intern_space(store, sizeof(*module));
    uint32_t number =
        intern_put(store, length > 0 ? build_id : (const uint8_t *)"", length);
    if (module == NULL || number == INTERN_NONE)
        return;
    module->build_id = intern_bytes(store, number);
    module->length = length;
    module->number = number;
    module->path = intern_text(store, path);
    void **place = module->path != NULL
                       ? address_table_place(&symbolizer->modules, id, 0)
                       : NULL;
    if (place != NULL)
        *place = module;
}

void
symbolizer_add_copy(struct symbolizer *symbolizer, uint32_t id,
                    const char *copy)
{
    struct module *module = address_table_find(&symbolizer->modules, id, 0);
    if (module != NULL)
        module->copy = intern_text(&symbolizer->store, copy);
}

const char *
symbolizer_path(const struct symbolizer *symbolizer, uint32_t id)
{
    const struct module *module =
        address_table_find(&symbolizer->modules, id, 0);
    return module != NULL ? path_to_read(module) : "";
}

void
symbolizer_refuse(struct symbolizer *symbolizer, uint32_t id, const char *why)
{
    struct module *module = address_table_find(&symbolizer->modules, id, 0);
    if (module != NULL)
        module->refusal = why;
}

const struct symbol *
symbolizer_find(struct symbolizer *symbolizer, uint32_t id, uint64_t offset)
{
    void **place = address_table_place(&symbolizer->answers, id, offset);
    if (place != NULL && *place == NULL)
        *place =
            look_up(symbolizer, address_table_find(&symbolizer->modules, id, 0),
                    offset);
    return place != NULL && *place != NULL ? *place : &lost_symbol;
}

const char *
symbolizer_before(struct symbolizer *symbolizer, uint32_t id, uint64_t offset,
                  uint64_t *distance)
{
    struct unit_frame frame;
    struct image_answer answer = {.frames = &frame, .start = offset};
    struct module *module = address_table_find(&symbolizer->modules, id, 0);
    struct image *image = module != NULL ? get_image(symbolizer, module) : NULL;
    uint64_t start;
    if (image == NULL)
        return NULL;
    image_find(image, offset, &answer, 1);
    const char *name = image_before(image, answer.start, &start);
    const struct spelling *spelling =
        name != NULL ? spell(symbolizer, name) : NULL;
    if (spelling == NULL)
        return NULL;
    *distance = answer.start - start;
    return spelling->function;
}

static int
compare_questions(const void *left, const void *right)
{
    const struct symbol_question *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Whether MODULE's file is open, or may be the file of one of the COUNT
 * OPENINGS. Paths are texts of the store. */
static bool
is_known(const struct symbolizer *symbolizer, const struct module *module,
         const struct opening *openings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (openings[i].length == module->length &&
            openings[i].path == path_to_read(module))
            return true;
    }
    return module->image != NULL || module->refusal != NULL ||
           address_table_find(&symbolizer->images, module->number,
                              (uintptr_t)path_to_read(module)) != NULL;
}

/* Turn the sorted QUESTIONS into *OPENINGS, at most one for each module.
 * Returns the number of openings. */
static size_t
plan_openings(const struct symbolizer *symbolizer,
              const struct symbol_question *questions, size_t count,
              struct opening **openings)
{
    size_t planned = 0;
    size_t next;
    for (size_t i = 0; i < count; i = next) {
        const struct module *module =
            address_table_find(&symbolizer->modules, questions[i].id, 0);
        for (next = i + 1;
             next < count && questions[next].id == questions[i].id; next++)
            ;
        if (module == NULL || is_known(symbolizer, module, *openings, planned))
            continue;
        if (!ARRAY_GROW(*openings, planned))
            break;
        (*openings)[planned++] = (struct opening){
            .path = path_to_read(module),
            .build_id = module->build_id,
            .length = module->length,
            .questions = &questions[i],
            .count = next - i,
            .depth = symbolizer->inlines ? MOST_FRAMES : 1,
        };
    }
    return planned;
}

/* Make ANSWER the one to QUESTION, which is about MODULE, unless it has one. */
static void
keep_answer(struct symbolizer *symbolizer, const struct module *module,
            const struct symbol_question *question,
            const struct image_answer *answer)
{
    void **place = address_table_place(&symbolizer->answers, question->id,
                                       question->offset);
    if (place != NULL && *place == NULL)
        *place = make_symbol(symbolizer, answer, module);
    if (place != NULL && question->answer != NULL)
        *question->answer = *place;
}

/* Take over the image and the answers of OPENING. IS_WHOLE: the file was not
 * only read for its symbols. */
static void
take_over(struct symbolizer *symbolizer, struct opening *opening, bool is_whole)
{
    const struct symbol_question *questions = opening->questions;
    struct module *module =
        address_table_find(&symbolizer->modules, questions[0].id, 0);
    void **place = image_place(symbolizer, module);
    if (place == NULL || opening->image == NULL) {
        image_close(opening->image);
        return;
    }
    *place = module->image = opening->image;
    for (size_t i = 0; i < opening->answered; i++) {
        keep_answer(symbolizer, module, &questions[i], &opening->answers[i]);
        if (is_whole)
            cache_answer(symbolizer, module, questions[i].offset,
                         &opening->answers[i]);
    }
}

/* Open the files of the PLANNED OPENINGS and take over their answers. Within a
 * limit, open_many_within decides which files are read for their symbols alone.
 * The caller has made sure that there are no debuginfod servers: those are
 * asked one question at a time, because their time is limited. */
static void
open_planned(struct symbolizer *symbolizer, struct opening *openings,
             size_t planned)
{
    size_t brief = symbolizer->is_limited
                       ? open_many_within(openings, planned, symbolizer->budget)
                       : 0;
    if (planned - brief > 1 && parallel_size(planned - brief) > 1)
        open_many_run(openings + brief, planned - brief);
    else
        planned = brief;
    for (size_t i = 0; i < planned; i++)
        take_over(symbolizer, &openings[i], i >= brief);
    open_many_free(openings, planned);
}

/* Answer sorted QUESTIONS from earlier reports. Returns the number of the
 * others, which are then the first ones. */
static size_t
answer_from_caches(struct symbolizer *symbolizer,
                   struct symbol_question *questions, size_t count)
{
    struct unit_frame frames[MOST_FRAMES];
    struct image_answer answer = {.frames = frames};
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        const struct symbol_question *question = &questions[i];
        struct module *module =
            address_table_find(&symbolizer->modules, question->id, 0);
        if (module == NULL ||
            !find_cached(symbolizer, module, question->offset, &answer)) {
            questions[left++] = *question;
            continue;
        }
        keep_answer(symbolizer, module, question, &answer);
    }
    return left;
}

void
symbolizer_expect(struct symbolizer *symbolizer,
                  struct symbol_question *questions, size_t count)
{
    if (debug_server_is_there())
        return;
    qsort(questions, count, sizeof(*questions), compare_questions);
    count = answer_from_caches(symbolizer, questions, count);
    struct opening *openings = NULL;
    size_t planned = plan_openings(symbolizer, questions, count, &openings);
    open_planned(symbolizer, openings, planned);
    free(openings);
}

void
symbolizer_limit(struct symbolizer *symbolizer, uint64_t ns)
{
    symbolizer->is_limited = true;
    symbolizer->budget = ns;
}

const char *
symbolizer_problem(const struct symbolizer *symbolizer, uint32_t id)
{
    const struct module *module =
        address_table_find(&symbolizer->modules, id, 0);
    return module != NULL && module->image != NULL
               ? image_problem(module->image)
               : NULL;
}

const char *
symbolizer_unread(const struct symbolizer *symbolizer, uint32_t id)
{
    const struct module *module =
        address_table_find(&symbolizer->modules, id, 0);
    return module != NULL && module->image != NULL ? image_unread(module->image)
                                                   : NULL;
}

unsigned
symbolizer_flags(const struct symbolizer *symbolizer, uint32_t id)
{
    const struct module *module =
        address_table_find(&symbolizer->modules, id, 0);
    if (module == NULL)
        return 0;
    if (module->image != NULL)
        return image_flags(module->image);
    return module->cache != NULL ? answer_cache_flags(module->cache) : 0;
}

bool
symbolizer_collector(const struct symbolizer *symbolizer, uint32_t id,
                     struct collector *collector)
{
    const struct module *module =
        address_table_find(&symbolizer->modules, id, 0);
    return module != NULL && module->refusal == NULL &&
           collector_find(collector, path_to_read(module), module->build_id,
                          module->length);
}

/* NAMES and PATHS know strings of images and caches by their addresses. */
void
symbolizer_rest(struct symbolizer *symbolizer)
{
    for (uint32_t i = 0; i < intern_count(&symbolizer->images.keys); i++)
        image_close(symbolizer->images.values[i]);
    for (uint32_t i = 0; i < intern_count(&symbolizer->caches.keys); i++)
        answer_cache_close(symbolizer->caches.values[i]);
    for (uint32_t i = 0; i < intern_count(&symbolizer->modules.keys); i++) {
        struct module *module = symbolizer->modules.values[i];
        if (module == NULL)
            continue;
        module->image = NULL;
        module->cache = NULL;
        module->has_looked = false;
    }
    address_table_free(&symbolizer->paths);
    address_table_free(&symbolizer->names);
    address_table_free(&symbolizer->images);
    address_table_free(&symbolizer->caches);
}

void
symbolizer_free(struct symbolizer *symbolizer)
{
    if (symbolizer == NULL || --symbolizer->users > 0)
        return;
    symbolizer_rest(symbolizer);
    address_table_free(&symbolizer->by_linkage);
    address_table_free(&symbolizer->answers);
    address_table_free(&symbolizer->modules);
    intern_clear(&symbolizer->files);
    intern_clear(&symbolizer->store);
    free(symbolizer);
}
