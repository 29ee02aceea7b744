/* SPDX-License-Identifier: MIT */
/*
 * symbol_files_test.c -- where debug information hides, files that are not the
 * right ones, and damaged files, which may say anything but must not crash or
 * hang. All are made from a copy of this program.
 */
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "shell.h"
#include "symbol/elf_view.h"
#include "symbol/mapped_files.h"
#include "symbol/symbolizer.h"

#define NOINLINE __attribute__((noinline))
#define DAMAGED_COPIES 300
#define ADDRESSES 16

static char directory[] = "/tmp/symbol_files.XXXXXX";
static uint64_t known_offset; /* in static_function */
static uint64_t known_start;  /* of it */
static unsigned known_line;

static NOINLINE uintptr_t
caller_pc(void)
{
    __asm__ volatile("" ::: "memory");
    return (uintptr_t)__builtin_return_address(0) - 1;
}

static NOINLINE uintptr_t
static_function(void)
{
    uintptr_t pc = caller_pc();
    known_line = __LINE__ - 1;
    return pc;
}

static int
note_base(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    *(uintptr_t *)argument = info->dlpi_addr;
    return 1;
}

static struct symbolizer *
make(const char *path, const uint8_t *build_id, size_t length)
{
    struct symbolizer_options options = {.inlines = true};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    assert_non_null(symbolizer);
    symbolizer_add(symbolizer, 1, path, build_id, length);
    return symbolizer;
}

/* The path of NAME in the test's directory; valid until the next call. */
static const char *
in_directory(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static bool
shell(const char *command)
{
    return shell_in(directory, command);
}

static void
write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static unsigned char *
read_program(size_t *size)
{
    int fd = open(in_directory("whole"), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    *size = (size_t)status.st_size;
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, *size), (ssize_t)*size);
    close(fd);
    return bytes;
}

static int
set_up(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL)
        return -1;
    uintptr_t base;
    dl_iterate_phdr(note_base, &base);
    known_offset = static_function() - base;
    known_start = (uintptr_t)static_function - base;
    char command[64];
    snprintf(command, sizeof(command), "cp /proc/%d/exe whole", getpid());
    return shell(command) ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    return shell_remove(directory);
}

/* The copy NAME tells everything about the known address. */
static void
assert_complete(const char *name)
{
    struct symbolizer *symbolizer = make(in_directory(name), NULL, 0);
    const struct symbol *symbol = symbolizer_find(symbolizer, 1, known_offset);
    assert_null(symbolizer_problem(symbolizer, 1));
    assert_true(symbol->named);
    assert_int_equal(symbol->count, 1);
    assert_string_equal(symbol->frames[0].function, "static_function");
    assert_non_null(strstr(symbol->frames[0].file, "symbol_files_test.c"));
    assert_int_equal(symbol->frames[0].line, known_line);
    assert_true((symbolizer_flags(symbolizer, 1) & SYMBOLIZER_SYMBOLS) != 0);
    assert_true((symbolizer_flags(symbolizer, 1) & SYMBOLIZER_LINES) != 0);
    symbolizer_free(symbolizer);
}

static void
a_debug_link_is_followed(void **state)
{
    (void)state;
    if (!shell("objcopy --only-keep-debug whole linked.debug && "
               "objcopy --strip-all --remove-section=.note.gnu.build-id "
               "--add-gnu-debuglink=linked.debug whole linked"))
        skip();
    assert_complete("linked");
}

static void
compressed_sections_are_read(void **state)
{
    (void)state;
    if (!shell("objcopy --compress-debug-sections=zlib whole compressed"))
        skip();
    assert_complete("compressed");
}

/* What Debian ships: a debug file that is compressed. */
static void
a_compressed_debug_file_is_read(void **state)
{
    (void)state;
    if (!shell("objcopy --only-keep-debug --compress-debug-sections=zlib whole "
               "small.debug && "
               "objcopy --strip-all --remove-section=.note.gnu.build-id "
               "--add-gnu-debuglink=small.debug whole small"))
        skip();
    assert_complete("small");
}

/* The same with one compressed section that is not what it says: the others
 * still help, or nothing does; but it is no reason to end. */
static void
a_damaged_debug_file_is_survived(void **state)
{
    (void)state;
    if (!shell("objcopy --only-keep-debug --compress-debug-sections=zlib whole "
               "cut.debug && offset=$(readelf -SW cut.debug | "
               "sed -n 's/.* .debug_info  *PROGBITS  *[0-9a-f]* "
               "\\([0-9a-f]*\\) .*/\\1/p') && "
               "dd if=/dev/zero of=cut.debug bs=1 seek=$((0x$offset + 40)) "
               "count=200 conv=notrunc && "
               "objcopy --strip-all --remove-section=.note.gnu.build-id "
               "--add-gnu-debuglink=cut.debug whole cut"))
        skip();
    struct symbolizer *symbolizer = make(in_directory("cut"), NULL, 0);
    assert_string_equal(
        symbolizer_find(symbolizer, 1, known_offset)->frames[0].function,
        "static_function");
    symbolizer_free(symbolizer);
}

/* What Fedora ships: the symbols alone, compressed, in .gnu_debugdata. */
static void
mini_debug_info_is_read(void **state)
{
    (void)state;
    if (!shell("objcopy --strip-debug --remove-section=.comment whole data && "
               "xz -f data && objcopy --strip-all "
               "--remove-section=.note.gnu.build-id "
               "--add-section .gnu_debugdata=data.xz whole mini"))
        skip();
    struct symbolizer *symbolizer = make(in_directory("mini"), NULL, 0);
    const struct symbol *symbol = symbolizer_find(symbolizer, 1, known_offset);
    assert_string_equal(symbol->frames[0].function, "static_function");
    assert_int_equal(symbol->frames[0].line, 0);
    assert_false((symbolizer_flags(symbolizer, 1) & SYMBOLIZER_LINES) != 0);
    symbolizer_free(symbolizer);
}

/* What OFFSET in the copy NAME, which has no names, is called. */
static void
assert_nameless(const char *name, uint64_t offset, uint64_t expected)
{
    struct symbolizer *symbolizer = make(in_directory(name), NULL, 0);
    const struct symbol *symbol = symbolizer_find(symbolizer, 1, offset);
    char text[64];
    snprintf(text, sizeof(text), "%s+0x%llx", name,
             (unsigned long long)expected);
    assert_false(symbol->named);
    assert_string_equal(symbol->frames[0].function, text);
    assert_null(symbolizer_problem(symbolizer, 1));
    symbolizer_free(symbolizer);
}

/* The unwind table still knows the functions: all of one have the same name. */
static void
a_stripped_file_has_bounds_alone(void **state)
{
    (void)state;
    if (!shell("objcopy --strip-all --remove-section=.note.gnu.build-id "
               "whole stripped && "
               "objcopy --remove-section=.eh_frame_hdr stripped bare"))
        skip();
    assert_nameless("stripped", known_offset, known_start);
    assert_nameless("stripped", known_start, known_start);
    /* The table is no code, and after all that is. */
    assert_nameless("stripped", 1, 1);
    assert_nameless("stripped", UINT64_MAX - 1, UINT64_MAX - 1);
    assert_nameless("bare", known_offset, known_offset);
}

/* DWARF without a symbol table names functions, too. */
static void
dwarf_alone_names_functions(void **state)
{
    (void)state;
    if (!shell("objcopy --strip-all --keep-section='.debug_*' "
               "--remove-section=.note.gnu.build-id whole dwarf"))
        skip();
    struct symbolizer *symbolizer = make(in_directory("dwarf"), NULL, 0);
    const struct symbol *symbol = symbolizer_find(symbolizer, 1, known_offset);
    assert_true(symbol->named);
    assert_string_equal(symbol->frames[0].function, "static_function");
    assert_int_equal(symbol->frames[0].line, known_line);
    symbolizer_free(symbolizer);
}

static void
a_missing_file_is_told(void **state)
{
    struct symbolizer *symbolizer = make("/nonexistent/lib.so.1", NULL, 0);
    (void)state;
    assert_null(symbolizer_problem(symbolizer, 1)); /* not yet asked */
    const struct symbol *symbol = symbolizer_find(symbolizer, 1, 0x10);
    assert_string_equal(symbol->frames[0].function, "lib.so.1+0x10");
    assert_non_null(
        strstr(symbolizer_problem(symbolizer, 1), "/nonexistent/lib.so.1"));
    symbolizer_free(symbolizer);
}

/* A pipe without a writer would block a thread that opens it for reading. */
static void
what_is_not_a_file_is_told(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(in_directory("fifo"), 0600), 0);
    struct symbolizer *symbolizer = make(in_directory("fifo"), NULL, 0);
    symbolizer_find(symbolizer, 1, 0x10);
    assert_non_null(symbolizer_problem(symbolizer, 1));
    symbolizer_free(symbolizer);
    symbolizer = make(directory, NULL, 0);
    symbolizer_find(symbolizer, 1, 0x10);
    assert_non_null(symbolizer_problem(symbolizer, 1));
    symbolizer_free(symbolizer);
}

static void
another_build_id_is_refused(void **state)
{
    static const uint8_t other[] = {0xde, 0xad, 0xbe, 0xef};
    struct symbolizer *symbolizer =
        make(in_directory("whole"), other, sizeof(other));
    const struct symbol *symbol = symbolizer_find(symbolizer, 1, known_offset);
    (void)state;
    assert_false(symbol->named);
    assert_int_equal(strncmp(symbol->frames[0].function, "whole+0x", 8), 0);
    assert_non_null(strstr(symbolizer_problem(symbolizer, 1), "deadbeef"));
    assert_non_null(strstr(symbolizer_problem(symbolizer, 1), "/whole"));
    assert_false((symbolizer_flags(symbolizer, 1) & SYMBOLIZER_SYMBOLS) != 0);
    symbolizer_free(symbolizer);
}

/* Ask the damaged file for some addresses; every answer must be whole. */
static void
ask(const void *bytes, size_t size)
{
    const char *path = in_directory("damaged");
    write_file(path, bytes, size);
    struct symbolizer *symbolizer = make(path, NULL, 0);
    for (unsigned i = 0; i < ADDRESSES; i++) {
        uint64_t offset = known_offset + i * 256;
        const struct symbol *symbol = symbolizer_find(symbolizer, 1, offset);
        assert_true(symbol->count > 0);
        for (unsigned j = 0; j < symbol->count; j++) {
            assert_true(strlen(symbol->frames[j].function) > 0);
            assert_true(strlen(symbol->frames[j].linkage) > 0);
            assert_non_null(symbol->frames[j].file);
        }
    }
    symbolizer_free(symbolizer);
}

/* Another file is mapped where a library was before. The library's own file is
 * at its path, and what is mapped now must not stand in for it. */
static void
another_file_at_a_mapped_address_is_not_used(void **state)
{
    (void)state;
    assert_true(shell("cp whole mapped"));
    struct elf_view view;
    assert_int_equal(elf_view_open(&view, in_directory("mapped")), 0);
    struct bytes right = elf_view_build_id(&view);
    assert_non_null(right.at);
    static const uint8_t other[20] = {1};
    struct bytes wrong = {other, other + (right.end - right.at)};
    struct mapped_files *files =
        mapped_files_open((uint32_t)getpid(), clock_now());
    assert_non_null(files);
    /* Whether a descriptor leads to it: map_files need a capability. */
    int fd = open(in_directory("mapped"), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    bool is_elsewhere;
    uint64_t start = (uintptr_t)view.bytes;
    char *copy =
        mapped_files_find(files, start, "/lib/x.so", right, &is_elsewhere);
    assert_non_null(copy);
    assert_true(is_elsewhere);
    free(copy);
    copy = mapped_files_find(files, start, "/lib/x.so", wrong, &is_elsewhere);
    assert_null(copy);
    close(fd);
    mapped_files_close(files);
    elf_view_close(&view);
}

static void
truncated_files_are_survived(void **state)
{
    size_t size;
    unsigned char *bytes = read_program(&size);
    (void)state;
    for (size_t i = 0; i < DAMAGED_COPIES; i++)
        ask(bytes, i < 100 ? i * 8 : size * i / DAMAGED_COPIES);
    free(bytes);
}

/* Fixed seed: a failure can be repeated. */
static void
flipped_bytes_are_survived(void **state)
{
    size_t size;
    unsigned char *bytes = read_program(&size);
    unsigned char *copy = malloc(size);
    uint64_t seed = 20240229;
    (void)state;
    assert_non_null(copy);
    for (unsigned i = 0; i < DAMAGED_COPIES; i++) {
        memcpy(copy, bytes, size);
        for (unsigned j = 0; j < 64; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            /* Every other copy has its headers hit as well. */
            size_t span = j == 0 && i % 2 != 0 ? 1024 : size;
            copy[(seed >> 16) % span] = (unsigned char)(seed >> 56);
        }
        ask(copy, size);
    }
    free(copy);
    free(bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_debug_link_is_followed),
        cmocka_unit_test(compressed_sections_are_read),
        cmocka_unit_test(a_compressed_debug_file_is_read),
        cmocka_unit_test(a_damaged_debug_file_is_survived),
        cmocka_unit_test(mini_debug_info_is_read),
        cmocka_unit_test(a_stripped_file_has_bounds_alone),
        cmocka_unit_test(dwarf_alone_names_functions),
        cmocka_unit_test(a_missing_file_is_told),
        cmocka_unit_test(what_is_not_a_file_is_told),
        cmocka_unit_test(another_build_id_is_refused),
        cmocka_unit_test(another_file_at_a_mapped_address_is_not_used),
        cmocka_unit_test(truncated_files_are_survived),
        cmocka_unit_test(flipped_bytes_are_survived),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
