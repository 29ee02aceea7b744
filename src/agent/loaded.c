/* SPDX-License-Identifier: MIT */
/*
 * loaded.c -- see loaded.h. The list is read and changed within a callback of
 * dl_iterate_phdr(3): the loader holds a lock meanwhile, which nests (glibc,
 * elf/dl-iteratephdr.c). It counts loads and unloads, so an unchanged list is
 * not read.
 *
 * The hard thing is a module that comes and goes unseen between two readings:
 * dlopen(3) has no hook, and libc loads modules itself (iconv, NSS). The count
 * of loads shows that. Then each module may have changed, except those that the
 * program began with.
 */
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "libc/real.h"
#include "process/unloads.h"
#include "loaded.h"

/* Limit of the modules in the list. With more, each unload puts all of them in
 * doubt. */
#define MODULES_MAX 4096u

/* The modules in the loader's order: a new one becomes the last. Reserved once,
 * and not at all in a process that is not profiled. */
static struct loaded {
    uint64_t base;
    const void *headers;
    uint64_t start, end;
} * modules;
static uint32_t count, first_count; /* now, and of those at the beginning */
static unsigned long long loads, unloads; /* as the loader counts them */

/* The loader's list is being compared with ours. */
struct pass {
    uint32_t had;   /* number of modules in the old list */
    uint32_t next;  /* the first of these that was not found yet */
    uint32_t kept;  /* modules in the new list, the old ones first */
    uint32_t fresh; /* modules that are new */
    uint32_t gone;
};

/* The old modules up to number UNTIL are no longer in the loader's list. */
static void
drop_until(struct pass *pass, uint32_t until)
{
    for (; pass->next < until; pass->next++) {
        unloads_note(modules[pass->next].start, modules[pass->next].end);
        first_count -= pass->next < first_count + pass->gone;
        pass->gone++;
    }
}

/* Note where the segments of the module of INFO lie. */
static struct loaded
describe(const struct dl_phdr_info *info)
{
    struct loaded module = {.base = info->dlpi_addr,
                            .headers = info->dlpi_phdr,
                            .start = UINT64_MAX};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        if (start < module.start)
            module.start = start;
        if (start + segment->p_memsz > module.end)
            module.end = start + segment->p_memsz;
    }
    return module;
}

/* Take the next module of the loader's list. */
static int
take(struct dl_phdr_info *info, size_t size, void *to)
{
    struct pass *pass = to;
    uint32_t at = pass->next;
    (void)size;
    while (at < pass->had && (modules[at].base != info->dlpi_addr ||
                              modules[at].headers != info->dlpi_phdr))
        at++;
    drop_until(pass, at);
    if (at < pass->had) {
        modules[pass->kept++] = modules[pass->next++];
        return 0;
    }
    pass->fresh++;
    if (pass->kept < MODULES_MAX)
        modules[pass->kept++] = describe(info);
    return 0;
}

/* Make our list the loader's, which has counts in INFO. */
static int
settle(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct pass pass = {.had = count};
    unsigned long long came = info->dlpi_adds - loads;
    bool is_same = came == 0 && info->dlpi_subs == unloads;
    (void)size;
    (void)unused;
    if (is_same)
        return 1;
    REAL(dl_iterate_phdr)(take, &pass);
    drop_until(&pass, pass.had);
    uint32_t old = pass.had - pass.gone;
    for (uint32_t i = first_count; i < old && came != pass.fresh; i++)
        unloads_note(modules[i].start, modules[i].end);
    /* A module of another list (dlmopen(3)), or one that is not kept. */
    if ((came == 0 && pass.gone == 0) || pass.kept == MODULES_MAX)
        unloads_note(0, UINT64_MAX);
    count = pass.kept;
    loads = info->dlpi_adds;
    unloads = info->dlpi_subs;
    return 1;
}

void
loaded_begin(void)
{
    modules = sys_reserve(MODULES_MAX * sizeof(*modules));
    if (modules == NULL || REAL(dl_iterate_phdr) == NULL)
        return;
    REAL(dl_iterate_phdr)(settle, NULL);
    first_count = count;
}

void
loaded_in_child(void)
{
    modules = NULL;
}

static bool
is_begun(void)
{
    return modules != NULL && REAL(dl_iterate_phdr) != NULL;
}

void
loaded_before_close(void)
{
    if (is_begun())
        REAL(dl_iterate_phdr)(settle, NULL);
    unloads_closing(1);
}

void
loaded_after_close(void)
{
    if (is_begun())
        REAL(dl_iterate_phdr)(settle, NULL);
    else
        unloads_note(0, UINT64_MAX);
    unloads_closing(-1);
}
