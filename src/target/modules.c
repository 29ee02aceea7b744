/* SPDX-License-Identifier: MIT */
/*
 * modules.c -- the module map; see modules.h. Two tables, both reserved once
 * and bounded: modules (in order of their appearance, with holes where one has
 * gone) and the executable ranges of the last refresh, sorted by address. The
 * hard thing: one ELF file is several mappings, and one file may be mapped
 * twice; a module begins at a mapping with offset 0 that holds an ELF header
 * and takes in the mappings of the same file that follow it.
 */
#include <string.h>

#include "base/sys.h"
#include "elf_image.h"
#include "maps.h"
#include "modules.h"

/* Reserved, not touched: a program with 40 libraries uses some pages of it.
 * What does not fit is code without a module, which is walked by frame pointers
 * and shown as an address. */
#define MODULES_MAX 4096
#define RANGES_MAX 16384
#define PATHS_SIZE (4u << 20)
#define NO_MODULE UINT32_MAX

/* Executable addresses; MODULE is an index or NO_MODULE. */
struct range {
    uint64_t start, end;
    uint32_t module, reserved;
};

static struct module *modules;
static uint32_t module_count; /* used entries, holes included */
static uint32_t last_id;
static struct range *ranges;
static uint32_t range_count;
static char *paths; /* never given back: a path may stand in a record */
static size_t paths_used;
static modules_listener *listen;

/* Loads and unloads so far, the count that the map is true for, and the
 * unloads under way. */
static _Atomic uint32_t touched, refreshed;
static _Atomic int32_t closing;

void
modules_touch(void)
{
    atomic_fetch_add(&touched, 1);
}

void
modules_closing(int change)
{
    atomic_fetch_add(&closing, change);
}

bool
modules_are_settled(void)
{
    return atomic_load_explicit(&touched, memory_order_acquire) ==
               atomic_load_explicit(&refreshed, memory_order_relaxed) &&
           atomic_load_explicit(&closing, memory_order_relaxed) <= 0;
}

int
modules_begin(modules_listener *listener)
{
    if (modules == NULL) {
        modules = sys_reserve(MODULES_MAX * sizeof(*modules));
        ranges = sys_reserve(RANGES_MAX * sizeof(*ranges));
        paths = sys_reserve(PATHS_SIZE);
    }
    if (modules == NULL || ranges == NULL || paths == NULL)
        return -1;
    memset(modules, 0, module_count * sizeof(*modules));
    module_count = range_count = last_id = 0;
    listen = listener;
    modules_touch(); /* an empty map is not a true one */
    return 0;
}

/* A copy of PATH that stays. Programs that load and unload for ever fill the
 * space in the end; their later modules have build-ids but no names. */
static const char *
keep_path(const char *path)
{
    size_t length = strlen(path) + 1;
    if (length > PATHS_SIZE - paths_used)
        return "";
    char *kept = paths + paths_used;
    memcpy(kept, path, length);
    paths_used += length;
    return kept;
}

/* The known module that MAPPING, the first of an ELF file, belongs to. */
static uint32_t
find_known(const struct mapping *mapping)
{
    for (uint32_t i = 0; i < module_count; i++)
        if (modules[i].id != 0 && modules[i].start == mapping->start &&
            modules[i].device == mapping->device &&
            modules[i].inode == mapping->inode)
            return i;
    return NO_MODULE;
}

/* An entry without a module. One that was filled by this refresh has no id yet,
 * but is not free. */
static uint32_t
free_entry(void)
{
    for (uint32_t i = 0; i < module_count; i++)
        if (modules[i].id == 0 && !modules[i].seen)
            return i;
    return module_count < MODULES_MAX ? module_count : NO_MODULE;
}

/* Whether what lies at the start of MODULE still has its build-id: the same
 * address may have been given to a rebuilt file with a recycled inode. */
static bool
is_unchanged(const struct module *module)
{
    struct module now = {.start = module->start};
    return elf_image_read(&now) == 0 && now.base == module->base &&
           now.build_id_length == module->build_id_length &&
           memcmp(now.build_id, module->build_id, now.build_id_length) == 0;
}

/* Enter the ELF file whose first mapping is MAPPING. Not yet reported. */
static uint32_t
add_module(const struct mapping *mapping)
{
    uint32_t i = free_entry();
    struct module module = {.start = mapping->start,
                            .end = mapping->end,
                            .device = mapping->device,
                            .inode = mapping->inode,
                            .deleted = mapping->deleted,
                            .seen = true};
    /* Fonts, locale archives and the like are mapped files too: no ELF header,
     * no module. */
    if (i == NO_MODULE || elf_image_read(&module) != 0)
        return NO_MODULE;
    module.is_vdso = strcmp(mapping->path, "[vdso]") == 0;
    module.path = keep_path(mapping->path);
    modules[i] = module;
    if (i == module_count)
        module_count++;
    return i;
}

/* The module that MAPPING belongs to, given that of the mapping before. */
static uint32_t
module_of(const struct mapping *mapping, uint32_t before)
{
    /* The vdso is the only ELF image that has no inode. */
    bool named = mapping->inode != 0 || strcmp(mapping->path, "[vdso]") == 0;
    if (!named || !mapping->readable)
        return NO_MODULE;
    bool continues = before != NO_MODULE &&
                     modules[before].inode == mapping->inode &&
                     modules[before].device == mapping->device;
    if (continues && mapping->offset != 0)
        return before;
    /* Offset 0 again: either a header mapped twice or the next copy. */
    uint32_t i = find_known(mapping);
    if (i != NO_MODULE && is_unchanged(&modules[i]))
        return i;
    i = mapping->offset == 0 ? add_module(mapping) : NO_MODULE;
    return i == NO_MODULE && continues ? before : i;
}

/* The map comes sorted by address, and so the ranges are. Neighbours of one
 * module are joined: the search in them is on the way of every learned rule. */
static void
add_range(const struct mapping *mapping, uint32_t module)
{
    struct range *last = range_count ? &ranges[range_count - 1] : NULL;
    if (last != NULL && last->end == mapping->start && last->module == module)
        last->end = mapping->end;
    else if (range_count < RANGES_MAX)
        ranges[range_count++] =
            (struct range){mapping->start, mapping->end, module, 0};
}

static void
read_maps(struct maps *maps)
{
    struct mapping mapping;
    uint32_t module = NO_MODULE;
    range_count = 0;
    while (maps_next(maps, &mapping)) {
        /* .bss lies between the mappings of its file and the next one. */
        bool bss = mapping.inode == 0 && mapping.path[0] == '\0';
        uint32_t here = module_of(&mapping, module);
        if (here != NO_MODULE) {
            modules[here].seen = true;
            if (mapping.end > modules[here].end)
                modules[here].end = mapping.end;
        }
        if (mapping.executable && strcmp(mapping.path, "[vsyscall]") != 0)
            add_range(&mapping, here);
        if (!bss)
            module = here;
    }
}

/* Tell of modules that have gone, free their entries, then of the new ones. */
static void
report_changes(void)
{
    for (uint32_t i = 0; i < module_count; i++)
        if (modules[i].id != 0 && !modules[i].seen) {
            listen(&modules[i], true);
            modules[i].id = 0;
        }
    for (uint32_t i = 0; i < module_count; i++)
        if (modules[i].id == 0 && modules[i].seen) {
            modules[i].id = ++last_id;
            listen(&modules[i], false);
        }
}

int
modules_refresh(void)
{
    struct maps maps;
    /* Taken before the map is read: what is loaded meanwhile makes the count
     * differ again, and the map is read once more. */
    uint32_t as_of = atomic_load(&touched);
    if (maps_begin(&maps) != 0)
        return -1;
    for (uint32_t i = 0; i < module_count; i++)
        modules[i].seen = false;
    read_maps(&maps);
    maps_end(&maps);
    report_changes();
    atomic_store(&refreshed, as_of);
    return 0;
}

/* The first range that ends behind ADDRESS, if it begins before. */
static const struct range *
find_range(uint64_t address)
{
    uint32_t low = 0, high = range_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == range_count || address < ranges[low].start)
        return NULL;
    return &ranges[low];
}

const struct module *
modules_find(uint64_t address)
{
    const struct range *range = find_range(address);
    if (range == NULL || range->module == NO_MODULE)
        return NULL;
    return &modules[range->module];
}

bool
modules_holds(uint64_t address)
{
    for (uint32_t i = 0; i < module_count; i++)
        if (modules[i].id != 0 && address >= modules[i].start &&
            address < modules[i].end)
            return true;
    return false;
}

enum code_kind
modules_code_kind(uint64_t address)
{
    const struct range *range = find_range(address);
    if (range == NULL)
        return CODE_NONE;
    return range->module == NO_MODULE ? CODE_ANONYMOUS : CODE_MODULE;
}

/* Reads the whole file for one answer: 30 us, asked once for a thread. */
int
modules_mapping(uint64_t address, uint64_t *start, uint64_t *end,
                bool *is_stack)
{
    struct maps maps;
    struct mapping mapping;
    int result = -1;
    if (maps_begin(&maps) != 0)
        return -1;
    while (result != 0 && maps_next(&maps, &mapping))
        if (address >= mapping.start && address < mapping.end) {
            *start = mapping.start;
            *end = mapping.end;
            *is_stack = strcmp(mapping.path, "[stack]") == 0;
            result = 0;
        }
    maps_end(&maps);
    return result;
}
