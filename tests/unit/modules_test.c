/* SPDX-License-Identifier: MIT */
/*
 * modules_test.c -- the module map of this process, which loads libraries whose
 * last segment has code and whose program headers lie anywhere, twice, beside
 * copies that are no images, and with other things in their holes. The linker
 * says what is right.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arch.h"
#include "process/modules.h"
#include "process/unloads.h"

#define PAGE arch_page_size()
/* No segment of the libraries is here. */
#define HOLE 0x200000u

struct library {
    void *handle;
    uint64_t base, left, moved; /* and two functions */
};

static unsigned came, gone;

static void
count_modules(const struct module *module, bool is_gone)
{
    (void)module;
    came += !is_gone;
    gone += is_gone;
}

static void
path_of(const char *name, char path[PATH_MAX])
{
    const char *build = getenv("SPROF_BUILD");

    snprintf(path, PATH_MAX, "%s/tests/workload/%s",
             build != NULL ? build : "build", name);
}

static void
load(const char *name, Lmid_t where, struct library *library)
{
    char path[PATH_MAX];
    struct link_map *map;

    path_of(name, path);
    library->handle = dlmopen(where, path, RTLD_NOW);
    assert_non_null(library->handle);
    assert_int_equal(dlinfo(library->handle, RTLD_DI_LINKMAP, &map), 0);
    library->base = map->l_addr;
    library->left = (uint64_t)dlsym(library->handle, "plugin_compute");
    library->moved = (uint64_t)dlsym(library->handle, "moved_compute");
    assert_true(library->left != 0 && library->moved - library->left > HOLE);
    assert_int_equal(modules_refresh(), 0);
}

/* Both functions are of one module, which is where the linker says. */
static uint32_t
check(const struct library *library)
{
    const struct module *module = modules_find(library->left);

    assert_non_null(module);
    assert_ptr_equal(modules_find(library->moved), module);
    assert_int_equal(module->base, library->base);
    assert_true(module->end > library->moved);
    assert_true(module->table > module->start && module->table_size != 0);
    assert_int_not_equal(module->build_id_length, 0);
    return module->id;
}

static void
headers_may_lie_anywhere(void **state)
{
    static const char *const names[] = {"moved.so", "moved_inside.so",
                                        "moved_outside.so"};

    (void)state;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct library library;
        load(names[i], LM_ID_BASE, &library);
        uint32_t id = check(&library);
        assert_int_equal(modules_code_kind(library.base + HOLE), CODE_NONE);
        modules_refresh();
        assert_int_equal(check(&library), id);
        dlclose(library.handle);
        modules_refresh();
        assert_int_equal(modules_code_kind(library.moved), CODE_NONE);
    }
}

static void
a_file_may_be_loaded_twice(void **state)
{
    struct library one, two;

    (void)state;
    load("moved_inside.so", LM_ID_BASE, &one);
    load("moved_inside.so", LM_ID_NEWLM, &two);
    assert_int_not_equal(one.base, two.base);
    uint32_t id = check(&two);
    assert_int_not_equal(check(&one), id);
    dlclose(one.handle);
    modules_refresh();
    assert_int_equal(check(&two), id);
    dlclose(two.handle);
}

/* A whole file as data, right below the image of the same file: its headers say
 * that it is longer than it is. */
static void
a_file_that_is_mapped_as_data_is_no_module(void **state)
{
    char path[PATH_MAX];
    struct stat file;
    struct library library;

    (void)state;
    load("moved_inside.so", LM_ID_BASE, &library);
    path_of("moved_inside.so", path);
    int fd = open(path, O_RDONLY);
    assert_int_equal(fstat(fd, &file), 0);
    size_t size = ((size_t)file.st_size + PAGE - 1) & -(size_t)PAGE;
    void *data =
        mmap((void *)(library.base - size), size, PROT_READ | PROT_EXEC,
             MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    close(fd);
    if (data == MAP_FAILED)
        skip();
    modules_refresh();
    check(&library);
    munmap(data, size);
    dlclose(library.handle);
}

/* Another file in a hole, and code that was generated there. */
static void
what_lies_in_a_hole_is_not_the_modules(void **state)
{
    char path[PATH_MAX];
    struct library library;

    (void)state;
    load("moved_inside.so", LM_ID_BASE, &library);
    path_of("plugin.so", path);
    int fd = open(path, O_RDONLY);
    uint64_t hole = library.base + HOLE, generated = hole + 16 * PAGE;
    assert_ptr_equal(mmap((void *)hole, PAGE, PROT_READ | PROT_EXEC,
                          MAP_PRIVATE | MAP_FIXED, fd, 0),
                     hole);
    assert_ptr_equal(mmap((void *)generated, PAGE, PROT_READ | PROT_EXEC,
                          MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0),
                     generated);
    close(fd);
    modules_refresh();
    uint32_t id = check(&library);
    assert_int_equal(modules_code_kind(generated), CODE_ANONYMOUS);
    const struct module *other = modules_find(hole);
    assert_true(other == NULL || other->id != id);
    dlclose(library.handle);
}

/* What moves a program's code to large pages copies it to memory of no file. */
static void
copied_code_belongs_to_its_file(void **state)
{
    struct library library;
    uint8_t code[PAGE];

    (void)state;
    load("moved_inside.so", LM_ID_BASE, &library);
    uint64_t page = library.moved & -(uint64_t)PAGE;
    memcpy(code, (void *)page, PAGE);
    void *copy = mmap((void *)page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        skip();
    memcpy(copy, code, PAGE);
    modules_refresh();
    check(&library);
    dlclose(library.handle);
}

/* It was unloaded and loaded again between two readings of the map, and another
 * library may have lain there meanwhile. */
static void
what_was_unloaded_is_another_module(void **state)
{
    struct library library;

    (void)state;
    load("moved_inside.so", LM_ID_BASE, &library);
    uint32_t id = check(&library), before = unloads_last();
    uint64_t other = (uint64_t)printf, time = modules_state.read_at;
    uint32_t others = modules_find(other)->id;
    assert_true(modules_are_current());
    assert_true(modules_are_sure(library.left, time, before, unloads_last()));
    unloads_note(library.base, library.base + PAGE);
    assert_false(modules_are_current());
    modules_refresh();
    assert_true(modules_are_current());
    assert_int_not_equal(check(&library), id);
    assert_int_equal(modules_find(other)->id, others);
    assert_true(modules_are_sure(library.left, time, unloads_last(),
                                 modules_state.unloads));
    /* A sample from before the unload. Nothing of another module was
     * unloaded. */
    assert_false(
        modules_are_sure(library.base, time, before, modules_state.unloads));
    assert_true(modules_are_sure(other, time, before, modules_state.unloads));
    dlclose(library.handle);
    modules_refresh();
}

/* While modules are being closed, one may have gone that has no number yet. The
 * thread that closes them has not unloaded what is on its own stack. */
static void
a_map_may_be_torn(void **state)
{
    struct library library;

    (void)state;
    uint64_t before = modules_state.read_at;
    unloads_closing(1);
    load("moved_inside.so", LM_ID_BASE, &library);
    assert_false(modules_are_current());
    assert_true(modules_are_current_here());
    uint32_t last = unloads_last();
    assert_false(modules_are_sure(library.left, before, last, last));
    assert_true(
        modules_are_sure(library.left, modules_state.read_at, last, last));
    assert_true(modules_are_sure((uint64_t)printf, before, last, last));
    unloads_closing(-1);
    modules_refresh();
    assert_true(modules_are_sure(library.left, before, last, last));
    dlclose(library.handle);
    modules_refresh();
}

/* No hook has seen it, but the map has. */
static void
what_has_gone_unseen_was_unloaded(void **state)
{
    struct library library;

    (void)state;
    load("moved_inside.so", LM_ID_BASE, &library);
    uint32_t before = unloads_last();
    dlclose(library.handle);
    modules_refresh();
    assert_true(unloads_took(library.left, library.left + 1, before,
                             modules_state.unloads));
    assert_true(modules_are_current());
}

static int
begin(void **state)
{
    (void)state;
    return modules_begin(count_modules) == 0 && modules_refresh() == 0 ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    modules_refresh();
    return came > gone && gone > 0 ? 0 : -1;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_may_lie_anywhere),
        cmocka_unit_test(a_file_may_be_loaded_twice),
        cmocka_unit_test(a_file_that_is_mapped_as_data_is_no_module),
        cmocka_unit_test(what_lies_in_a_hole_is_not_the_modules),
        cmocka_unit_test(copied_code_belongs_to_its_file),
        cmocka_unit_test(what_was_unloaded_is_another_module),
        cmocka_unit_test(a_map_may_be_torn),
        cmocka_unit_test(what_has_gone_unseen_was_unloaded),
    };

    return cmocka_run_group_tests_name("modules", tests, begin, end);
}
