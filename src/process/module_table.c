/* SPDX-License-Identifier: MIT */
/* module_table.c -- see module_table.h. */
#include <string.h>

#include "base/sys.h"
#include "module_table.h"

/* Reserved, not touched: a program with 40 libraries uses some pages of it.
 * What does not fit is code without a module, which is walked by frame pointers
 * and shown as an address. */
#define MODULES_MAX 4096
#define PATHS_SIZE (4u << 20)

static struct module *modules;
static uint32_t count;
static uint32_t last_id;
static char *paths; /* never given back: a path may stand in a record */
static size_t paths_used;
static modules_listener *listen;

int
module_table_begin(modules_listener *listener)
{
    if (modules == NULL) {
        modules = sys_reserve(MODULES_MAX * sizeof(*modules));
        paths = sys_reserve(PATHS_SIZE);
    }
    if (modules == NULL || paths == NULL)
        return -1;
    memset(modules, 0, count * sizeof(*modules));
    count = last_id = 0;
    listen = listener;
    return 0;
}

uint32_t
module_table_count(void)
{
    return count;
}

struct module *
module_table_at(uint32_t i)
{
    return &modules[i];
}

uint32_t
module_table_find(uint64_t start, uint64_t device, uint64_t inode)
{
    for (uint32_t i = 0; i < count; i++)
        if (modules[i].id != 0 && modules[i].start == start &&
            modules[i].device == device && modules[i].inode == inode)
            return i;
    return NO_MODULE;
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

/* An entry without a module. One that was filled by this refresh has no id yet,
 * but is not free. */
static uint32_t
free_entry(void)
{
    for (uint32_t i = 0; i < count; i++)
        if (modules[i].id == 0 && !modules[i].seen)
            return i;
    return count < MODULES_MAX ? count : NO_MODULE;
}

uint32_t
module_table_add(const struct module *module, const char *path)
{
    uint32_t i = free_entry();
    if (i == NO_MODULE)
        return NO_MODULE;
    modules[i] = *module;
    modules[i].path = keep_path(path);
    modules[i].seen = true;
    count += i == count;
    return i;
}

void
module_table_unsee(void)
{
    for (uint32_t i = 0; i < count; i++)
        modules[i].seen = false;
}

void
module_table_report(void)
{
    for (uint32_t i = 0; i < count; i++)
        if (modules[i].id != 0 && !modules[i].seen) {
            listen(&modules[i], true);
            modules[i].id = 0;
        }
    for (uint32_t i = 0; i < count; i++)
        if (modules[i].id == 0 && modules[i].seen) {
            modules[i].id = ++last_id;
            listen(&modules[i], false);
        }
}
