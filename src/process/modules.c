/* SPDX-License-Identifier: MIT */
/*
 * modules.c -- the module map; see modules.h. Two tables, both reserved once
 * and bounded: modules, and the executable ranges of the last refresh.
 *
 * The hard thing: one ELF file is several mappings, and one file may be mapped
 * twice. An image begins at a mapping with offset 0 that holds an ELF header;
 * its program headers say where its segments lie. A mapping of the file belongs
 * to the image if it lies where a segment should. The program headers may be in
 * the last of them: tools that rewrite files (BOLT, patchelf) put them into a
 * segment of their own. Memory between segments is not looked at: holes, .bss,
 * or something else.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/hot.h"
#include "base/sys.h"
#include "elf_image.h"
#include "jitdumps.h"
#include "loader_list.h"
#include "maps.h"
#include "unloads.h"
#include "modules.h"
#include "base/poison.h"

/* Longer paths do not exist (PATH_MAX). */
#define PATH_SIZE 4096

/* Reserved, not touched: a program with 40 libraries uses some pages of it.
 * Modules that do not fit are code without a module, which is walked by frame
 * pointers and shown as an address. */
#define MODULES_MAX 4096
#define PATHS_SIZE (4u << 20)

/* The same: such a program uses two pages of it. Ranges that do not fit count
 * as no code, and no stack is walked through them. */
#define RANGES_MAX 16384

#define NO_MODULE UINT32_MAX

/* Shifts of a range without a file, and of a range of another file than those
 * around it. */
#define SHIFT_ANONYMOUS UINT64_MAX
#define SHIFT_FOREIGN (UINT64_MAX - 1)

/* The executable addresses of the process, each with the module that it belongs
 * to. The list of mappings is sorted by address, and so are the ranges. */
static struct range {
    uint64_t start, end;
    uint64_t shift;  /* address - shift = offset in the file */
    uint32_t module; /* index, or NO_MODULE */
} * ranges;
static uint32_t range_count;

/* The known modules, in order of their appearance. A module that has gone
 * leaves a hole (id 0, not seen). */
static struct module *modules;
static uint32_t module_count;
struct modules_state modules_state;
static char *paths; /* never given back: a record may refer to a path */
static size_t paths_used;
static modules_listener *listen;

/* The image that was begun last while the map is read. MODULE is NO_MODULE
 * until its program headers are found. */
static struct image {
    struct elf_head head;
    uint32_t module, first_range;
    uint64_t start, end, device, inode;
    bool is_open, deleted;
    bool is_placed; /* a second mapping lies where a segment should */
    char path[PATH_SIZE];
} image;

/* The last unload before the map was read. */
static HOT_STATE _Atomic uint32_t refreshed;

static HOT inline bool
is_refreshed(void)
{
    return unloads_last() ==
           atomic_load_explicit(&refreshed, memory_order_relaxed);
}

HOT bool
modules_are_current(void)
{
    return is_refreshed() && !unloads_are_open();
}

HOT bool
modules_are_current_here(void)
{
    return is_refreshed() && !unloads_are_open_elsewhere();
}

/* The index of the module that was reported and begins at START, of the file
 * that DEVICE and INODE name; NO_MODULE if none does. */
static uint32_t
find_module(uint64_t start, uint64_t device, uint64_t inode)
{
    for (uint32_t i = 0; i < module_count; i++)
        if (modules[i].id != 0 && !modules[i].was_unloaded &&
            modules[i].start == start && modules[i].device == device &&
            modules[i].inode == inode)
            return i;
    return NO_MODULE;
}

/* A copy of PATH that stays. Programs that load and unload for ever eventually
 * fill the space; their later modules have build-ids but no names. */
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

/* Enter MODULE, of the file PATH; it is not reported yet. Returns its index, or
 * NO_MODULE if the table is full. */
static uint32_t
enter_module(const struct module *module, const char *path)
{
    uint32_t i = free_entry();
    if (i == NO_MODULE)
        return NO_MODULE;
    modules[i] = *module;
    modules[i].path = keep_path(path);
    modules[i].seen = true;
    module_count += i == module_count;
    return i;
}

/* A refresh begins, as of the unload UNTIL: it has seen no module yet. A module
 * that was unloaded since the last refresh is another one if it appears
 * again. */
static void
unsee_modules(uint32_t until)
{
    for (uint32_t i = 0; i < module_count; i++) {
        struct module *module = &modules[i];
        module->seen = false;
        module->was_unloaded =
            unloads_took(module->start, module->end, refreshed, until);
    }
}

/* A refresh is over: report the modules that have gone, free their entries,
 * then report the new ones. Returns how many have gone without a known unload,
 * for example by munmap(2). An unload is noted for them. */
static uint32_t
report_modules(void)
{
    uint32_t unknown = 0;
    for (uint32_t i = 0; i < module_count; i++)
        if (modules[i].id != 0 && !modules[i].seen) {
            if (!modules[i].was_unloaded) {
                unloads_note(modules[i].start, modules[i].end);
                unknown++;
            }
            listen(&modules[i], true);
            modules[i].id = 0;
        }
    for (uint32_t i = 0; i < module_count; i++)
        if (modules[i].id == 0 && modules[i].seen) {
            modules[i].id = ++modules_state.newest;
            listen(&modules[i], false);
        }
    return unknown;
}

int
modules_begin(modules_listener *listener)
{
    if (modules == NULL) {
        modules = sys_reserve(MODULES_MAX * sizeof(*modules));
        paths = sys_reserve(PATHS_SIZE);
        ranges = sys_reserve(RANGES_MAX * sizeof(*ranges));
    }
    if (modules == NULL || paths == NULL || ranges == NULL)
        return -1;
    memset(modules, 0, module_count * sizeof(*modules));
    module_count = modules_state.newest = range_count = 0;
    listen = listener;
    jitdumps_begin();
    unloads_note(0, 0); /* an empty map cannot be right */
    return 0;
}

/* Fill MODULE, whose place is known, from the headers of the open image. */
static int
read_headers(struct module *module)
{
    if (module->phdrs != 0)
        return elf_image_read(module, &image.head);
    return elf_image_read_file(module, &image.head, image.path);
}

/* Whether the memory at the start of MODULE still has its build-id: a rebuilt
 * file with a reused inode may have the same address. */
static bool
is_unchanged(const struct module *module)
{
    struct module now = {.start = module->start, .phdrs = module->phdrs};
    return read_headers(&now) == 0 && now.base == module->base &&
           now.build_id_length == module->build_id_length &&
           memcmp(now.build_id, module->build_id, now.build_id_length) == 0;
}

/* Enter the open image, whose program headers lie at the address PHDRS, or (0)
 * only in its file. It is not reported yet. */
static void
add_module(uint64_t phdrs)
{
    struct module module = {.start = image.start,
                            .end = image.end,
                            .phdrs = phdrs,
                            .device = image.device,
                            .inode = image.inode,
                            .since = modules_state.read_at,
                            .deleted = image.deleted,
                            .is_vdso = strcmp(image.path, "[vdso]") == 0};
    if (read_headers(&module) == 0)
        image.module = enter_module(&module, image.path);
}

/* The segment of MODULE that lies where MAPPING does, NULL if none. */
static const struct module_load *
find_load(const struct module *module, const struct mapping *mapping)
{
    for (unsigned i = 0; i < module->load_count; i++) {
        const struct module_load *load = &module->loads[i];
        if (mapping->start - mapping->offset == load->shift &&
            mapping->start < load->end && mapping->end > load->start)
            return load;
    }
    return NULL;
}

/* Whether MAPPING is of the file of the open image. */
static bool
is_of_image(const struct mapping *mapping)
{
    return image.is_open && mapping->inode != 0 &&
           mapping->inode == image.inode && mapping->device == image.device;
}

/* Generated code may be in very many mappings, which lie side by side. */
static bool
continues(const struct range *last, const struct range *range)
{
    return last->end == range->start && last->module == NO_MODULE &&
           range->module == NO_MODULE && last->shift == SHIFT_ANONYMOUS &&
           range->shift == SHIFT_ANONYMOUS;
}

/* Add RANGE, which lies after all others. It is left out if the table is
 * full. */
static void
add_range(const struct range *range)
{
    if (range_count != 0 && continues(&ranges[range_count - 1], range))
        ranges[range_count - 1].end = range->end;
    else if (range_count < RANGES_MAX)
        ranges[range_count++] = *range;
}

/* Merge neighbouring ranges of one module, from number FIRST on: learning a
 * rule always searches them. */
static void
join_ranges(uint32_t first)
{
    uint32_t kept = first;
    for (uint32_t i = first; i < range_count; i++) {
        struct range *last = kept != 0 ? &ranges[kept - 1] : NULL;
        if (last != NULL && last->end == ranges[i].start &&
            last->module == ranges[i].module)
            last->end = ranges[i].end;
        else
            ranges[kept++] = ranges[i];
    }
    range_count = kept;
}

/* The range that holds ADDRESS, NULL if none does. */
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
    return low == range_count || address < ranges[low].start ? NULL
                                                             : &ranges[low];
}

/* Whether RANGE belongs to MODULE, which is the open image. Code without a file
 * in the place of a segment is a copy of it, for example on large pages. */
static bool
is_range_of(const struct range *range, const struct module *module)
{
    for (unsigned i = 0; i < module->load_count; i++) {
        const struct module_load *load = &module->loads[i];
        bool is_copy = range->shift == SHIFT_ANONYMOUS && load->executable &&
                       image.is_placed && range->end <= load->end;
        if (range->start >= load->start && range->start < load->end &&
            (range->shift == load->shift || is_copy))
            return true;
    }
    return false;
}

/* All mappings of the open image have come. */
static void
end_image(void)
{
    /* Only what runs is worth opening a file. */
    for (uint32_t i = image.first_range;
         i < range_count && image.is_open && image.module == NO_MODULE; i++)
        if (ranges[i].shift < SHIFT_FOREIGN) {
            add_module(0);
            break;
        }
    for (uint32_t i = image.first_range;
         i < range_count && image.module != NO_MODULE; i++)
        if (ranges[i].module == NO_MODULE &&
            is_range_of(&ranges[i], &modules[image.module]))
            ranges[i].module = image.module;
    join_ranges(image.first_range);
    image.is_open = false;
    image.module = NO_MODULE;
    image.first_range = range_count;
}

/* The program headers of the open image may be in MAPPING of its file, which
 * may be part of it. */
static void
see_part(const struct mapping *mapping)
{
    uint64_t length = mapping->end - mapping->start;
    uint64_t at = image.head.phdrs - mapping->offset;
    if (mapping->end > image.end && image.module == NO_MODULE)
        image.end = mapping->end;
    if (image.module == NO_MODULE && mapping->readable && at < length &&
        length - at >= elf_image_size(&image.head))
        add_module(mapping->start + at);
    if (image.module == NO_MODULE)
        return;
    struct module *module = &modules[image.module];
    if (find_load(module, mapping) == NULL)
        return;
    image.is_placed |= mapping->offset != 0;
    if (mapping->end > module->end)
        module->end = mapping->end;
}

/* Take the path of MAPPING for the open image, without the kernel's mark if the
 * file was deleted. A file whose own name ends like that is at that path, as
 * its inode shows. The device does not: some file systems have another one in
 * stat(2) than in the map (btrfs, overlayfs). */
static void
take_path(const struct mapping *mapping)
{
    struct stat status;
    strncpy(image.path, mapping->path, PATH_SIZE - 1);
    image.deleted = mapping->deleted && (sys_stat(image.path, &status) != 0 ||
                                         status.st_ino != mapping->inode);
    if (image.deleted)
        image.path[strlen(image.path) - strlen(MAPS_DELETED)] = '\0';
}

/* Begin an image if MAPPING does. Fonts, locale archives and the like are
 * mapped files, too: without an ELF header they are no modules. A second
 * mapping of offset 0 may be the same header, or the next copy. */
static bool
begin_image(const struct mapping *mapping)
{
    struct elf_head head;
    /* The vdso is the only ELF image that has no inode. */
    bool named = mapping->inode != 0 || strcmp(mapping->path, "[vdso]") == 0;
    if (!named || !mapping->readable || mapping->offset != 0 ||
        (is_of_image(mapping) && image.module != NO_MODULE &&
         find_load(&modules[image.module], mapping) != NULL) ||
        elf_image_head(mapping->start, &head) != 0)
        return false;
    end_image();
    image.is_open = true;
    image.head = head;
    image.start = mapping->start;
    image.end = mapping->end;
    image.device = mapping->device;
    image.inode = mapping->inode;
    image.is_placed = false;
    uint32_t known = find_module(image.start, image.device, image.inode);
    if (known != NO_MODULE && is_unchanged(&modules[known])) {
        modules[known].seen = true;
        image.module = known;
    } else {
        take_path(mapping);
    }
    see_part(mapping);
    return true;
}

/* The module of a mapping that does not follow its image: something else has
 * been mapped into a hole between its segments. */
static uint32_t
find_owner(const struct mapping *mapping)
{
    for (uint32_t i = 0; i < module_count; i++) {
        const struct module *module = &modules[i];
        if (module->seen && module->inode == mapping->inode &&
            module->device == mapping->device &&
            find_load(module, mapping) != NULL)
            return i;
    }
    return NO_MODULE;
}

static void
see_code(const struct mapping *mapping, bool is_own)
{
    struct range range = {.start = mapping->start,
                          .end = mapping->end,
                          .shift = SHIFT_ANONYMOUS,
                          .module = NO_MODULE};
    if (is_own) {
        range.shift = mapping->start - mapping->offset;
    } else if (mapping->inode != 0) {
        range.shift = SHIFT_FOREIGN;
        range.module = find_owner(mapping);
        jitdumps_see(mapping->path);
    }
    add_range(&range);
}

static void
read_maps(struct maps *maps)
{
    struct mapping mapping;
    range_count = 0;
    image.is_open = false;
    image.module = NO_MODULE;
    image.first_range = 0;
    while (maps_next(maps, &mapping)) {
        bool is_first = begin_image(&mapping);
        bool is_own = is_first || is_of_image(&mapping);
        if (is_own && !is_first)
            see_part(&mapping);
        if (mapping.executable && strcmp(mapping.path, "[vsyscall]") != 0)
            see_code(&mapping, is_own);
    }
    end_image();
}

static int
read_anew(void)
{
    struct maps maps;
    /* Taken before the map is read: an unload meanwhile changes the last
     * number, and the map is read again. */
    uint32_t as_of = unloads_last();
    bool is_torn = unloads_are_open();
    if (maps_begin(&maps) != 0)
        return -1;
    unsee_modules(as_of);
    read_maps(&maps);
    maps_end(&maps);
    if (range_count == 0 && maps_begin_emulated(&maps) == 0) {
        atomic_store(&modules_state.is_emulated, true);
        read_maps(&maps);
        maps_end(&maps);
    }
    uint32_t own = report_modules();
    is_torn = is_torn || unloads_are_open() || unloads_last() != as_of + own;
    modules_state.is_torn = is_torn;
    modules_state.unloads = unloads_last();
    /* If another thread noted an unload meanwhile, the map is read again. */
    atomic_store(&refreshed, is_torn ? as_of : as_of + own);
    return 0;
}

int
modules_refresh(void)
{
    loader_list_note();
    modules_state.read_at = clock_now();
    int result = read_anew();
    modules_state.took = clock_now() - modules_state.read_at;
    return result;
}

const struct module *
modules_find(uint64_t address)
{
    const struct range *range = find_range(address);
    if (range == NULL || range->module == NO_MODULE)
        return NULL;
    return &modules[range->module];
}

void
modules_each(void (*visit)(void *to, const struct module *module), void *to)
{
    for (uint32_t i = 0; i < module_count; i++)
        if (modules[i].id != 0)
            visit(to, &modules[i]);
}

bool
modules_are_sure(uint64_t address, uint64_t time, uint32_t after,
                 uint32_t until)
{
    if (unloads_took(address, address + 1, after, until))
        return false;
    if (!modules_state.is_torn)
        return true;
    const struct module *module = modules_find(address);
    return module == NULL || module->since <= time;
}

bool
modules_holds(uint64_t address)
{
    for (uint32_t i = 0; i < module_count; i++) {
        const struct module *module = &modules[i];
        if (module->id != 0 && address >= module->start &&
            address < module->end)
            return true;
    }
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

/* Reads the whole file for one answer: 30 us, once for each thread. */
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

bool
modules_have_left(void)
{
    struct maps maps;
    struct mapping mapping;
    bool found = false;
    if (maps_begin(&maps) != 0)
        return false;
    while (!found && maps_next(&maps, &mapping)) {
        uint32_t i = find_module(mapping.start, mapping.device, mapping.inode);
        found = i != NO_MODULE && mapping.inode != 0 &&
                strcmp(mapping.path, modules[i].path) != 0;
    }
    maps_end(&maps);
    return found;
}
