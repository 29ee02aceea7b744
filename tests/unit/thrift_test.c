/* SPDX-License-Identifier: MIT */
/*
 * thrift_test.c -- names within a budget: functions are called the same with
 * debug information and without, whatever the file is like; what is left out
 * are lines and inlined calls. Damaged files may say anything but must not
 * crash.
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
#include <unistd.h>

#include <cmocka.h>

#include "shell.h"
#include "symbol/symbolizer.h"

enum { MODULE = 1, STEP = 13, ADDRESSES_MOST = 100000, DAMAGED_COPIES = 200 };

static char directory[] = "/tmp/thrift.XXXXXX";

/* The code of a file that this process has mapped. */
struct code {
    const char *part; /* of its path; "": the program */
    char path[4096];
    uint64_t low, high; /* the file's own numbering */
};

static int
note_code(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct code *code = argument;
    (void)size;
    if (code->part[0] != '\0' && strstr(info->dlpi_name, code->part) == NULL)
        return 0;
    snprintf(code->path, sizeof(code->path), "%s",
             code->part[0] == '\0'                           ? "/proc/self/exe"
             : strstr(info->dlpi_name, "linux-vdso") != NULL ? "[vdso]"
                                                             : info->dlpi_name);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            code->low = segment->p_vaddr;
            code->high = segment->p_vaddr + segment->p_memsz;
        }
    }
    return 1;
}

static struct code
find_code(const char *part)
{
    struct code code = {.part = part};
    dl_iterate_phdr(note_code, &code);
    assert_true(code.high > code.low);
    return code;
}

static struct symbolizer *
make(const char *path)
{
    const struct symbolizer_options options = {.inlines = true};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    assert_non_null(symbolizer);
    symbolizer_add(symbolizer, MODULE, path, NULL, 0);
    return symbolizer;
}

/* A symbolizer that may take NS for the COUNT QUESTIONS, and was asked. */
static struct symbolizer *
make_limited(const char *path, uint64_t ns, struct symbol_question *questions,
             size_t count)
{
    struct symbolizer *symbolizer = make(path);
    symbolizer_limit(symbolizer, ns);
    symbolizer_expect(symbolizer, questions, count);
    return symbolizer;
}

/* Addresses all over CODE. */
static size_t
ask(const struct code *code, struct symbol_question *questions)
{
    uint64_t step = (code->high - code->low) / ADDRESSES_MOST;
    size_t count = 0;
    if (step < STEP)
        step = STEP;
    for (uint64_t at = code->low; at < code->high && count < ADDRESSES_MOST;
         at += step)
        questions[count++] =
            (struct symbol_question){.id = MODULE, .offset = at};
    return count;
}

static const char *
owner(const struct symbol *symbol)
{
    return symbol->frames[symbol->count - 1].function;
}

/* All of the file at PATH is called the same, with a budget and without. */
static void
assert_same_names(const struct code *code, const char *path)
{
    static struct symbol_question questions[ADDRESSES_MOST];
    size_t count = ask(code, questions), named = 0;
    struct symbolizer *brief = make_limited(path, 0, questions, count);
    struct symbolizer *whole = make(path);
    assert_false((symbolizer_flags(brief, MODULE) & SYMBOLIZER_LINES) != 0);
    assert_null(symbolizer_problem(brief, MODULE));
    for (size_t i = 0; i < count; i++) {
        uint64_t offset = questions[i].offset;
        const struct symbol *got = symbolizer_find(brief, MODULE, offset);
        const struct symbol *expected = symbolizer_find(whole, MODULE, offset);
        /* Without a symbol, the name is DWARF's alone, or a stub's. */
        if (!got->named && expected->named &&
            strstr(owner(expected), "@plt") == NULL)
            continue;
        named += got->named;
        assert_string_equal(owner(got), owner(expected));
        assert_int_equal(got->named, expected->named);
        assert_int_equal(got->count, 1);
        assert_string_equal(got->frames[0].file, "");
        assert_int_equal(got->frames[0].line, 0);
    }
    print_message("%zu of %zu have names\n", named, count);
    symbolizer_free(brief);
    symbolizer_free(whole);
}

static void
libraries_have_the_same_names(void **state)
{
    static const char *const parts[] = {"",          "libc.so",  "libdw",
                                        "libcmocka", "ld-linux", "linux-vdso"};
    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        struct code code = find_code(parts[i]);
        assert_same_names(&code, code.path);
    }
}

/* Copies of this program that lack more and more. */
static void
stripped_files_have_the_same_names(void **state)
{
    static const char *const commands[] = {
        "objcopy --strip-debug whole copy",
        "objcopy --strip-all whole copy",
        "objcopy --compress-debug-sections=zlib whole copy",
        ("objcopy --only-keep-debug whole copy.debug && "
         "objcopy --strip-all --add-gnu-debuglink=copy.debug whole copy"),
    };
    struct code code = find_code("");
    (void)state;
    char path[4096];
    snprintf(path, sizeof(path), "%s/copy", directory);
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        if (!shell_in(directory, commands[i]))
            skip();
        if (strstr(commands[i], "debuglink") == NULL)
            assert_same_names(&code, path);
    }
}

/* With a large budget nothing is left out. */
static void
a_large_budget_leaves_nothing_out(void **state)
{
    static struct symbol_question questions[ADDRESSES_MOST];
    struct code code = find_code("");
    size_t count = ask(&code, questions), lines = 0;
    struct symbolizer *rich =
        make_limited(code.path, 10000000000u, questions, count);
    struct symbolizer *whole = make(code.path);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        uint64_t offset = questions[i].offset;
        const struct symbol *got = symbolizer_find(rich, MODULE, offset);
        const struct symbol *expected = symbolizer_find(whole, MODULE, offset);
        assert_int_equal(got->count, expected->count);
        assert_string_equal(got->frames[0].file, expected->frames[0].file);
        assert_int_equal(got->frames[0].line, expected->frames[0].line);
        lines += got->frames[0].line > 0;
    }
    assert_true((symbolizer_flags(rich, MODULE) & SYMBOLIZER_LINES) != 0);
    assert_true(lines > count / 4);
    symbolizer_free(rich);
    symbolizer_free(whole);
}

static unsigned char *
read_file(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
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

static void
write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* The header and the section headers are hit more often than chance would. */
static void
damaged_files_are_survived(void **state)
{
    struct code code = find_code("");
    (void)state;
    char whole[4096];
    snprintf(whole, sizeof(whole), "%s/small", directory);
    char path[4096];
    snprintf(path, sizeof(path), "%s/damaged", directory);
    if (!shell_in(directory, "objcopy --strip-debug whole small"))
        skip();
    size_t size;
    unsigned char *bytes = read_file(whole, &size);
    srand(4711);
    for (int i = 0; i < DAMAGED_COPIES; i++) {
        size_t tail = size - 4096, left = size;
        size_t at[3];
        unsigned char saved[3];
        for (int j = 0; j < 3; j++) {
            at[j] = j == 0   ? (size_t)rand() % 64
                    : j == 1 ? tail + (size_t)rand() % 4096
                             : (size_t)rand() % size;
            saved[j] = bytes[at[j]];
            if (j > 0 || i % 4 == 0)
                bytes[at[j]] = (unsigned char)rand();
        }
        if (i % 3 == 0)
            left = (size_t)rand() % size;
        write_file(path, bytes, left);
        struct symbol_question questions[64];
        for (size_t j = 0; j < 64; j++)
            questions[j] = (struct symbol_question){
                .id = MODULE,
                .offset = code.low + (code.high - code.low) / 64 * j};
        struct symbolizer *symbolizer = make_limited(path, 0, questions, 64);
        for (size_t j = 0; j < 64; j++)
            assert_non_null(
                symbolizer_find(symbolizer, MODULE, questions[j].offset));
        symbolizer_free(symbolizer);
        for (int j = 2; j >= 0; j--)
            bytes[at[j]] = saved[j];
    }
    free(bytes);
}

/* A file that is not the one that was mapped is not used, and it is said. */
static void
another_build_id_is_not_used(void **state)
{
    const struct symbolizer_options options = {.inlines = true};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    struct code code = find_code("");
    struct symbol_question question = {.id = MODULE, .offset = code.low + 64};
    (void)state;
    symbolizer_add(symbolizer, MODULE, code.path, (const uint8_t *)"other", 5);
    symbolizer_limit(symbolizer, 0);
    symbolizer_expect(symbolizer, &question, 1);
    assert_false(symbolizer_find(symbolizer, MODULE, code.low + 64)->named);
    assert_non_null(symbolizer_problem(symbolizer, MODULE));
    symbolizer_free(symbolizer);
}

static int
set_up(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL)
        return -1;
    char command[64];
    snprintf(command, sizeof(command), "cp /proc/%d/exe whole", getpid());
    return shell_in(directory, command) ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    return shell_remove(directory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_have_the_same_names),
        cmocka_unit_test(stripped_files_have_the_same_names),
        cmocka_unit_test(a_large_budget_leaves_nothing_out),
        cmocka_unit_test(damaged_files_are_survived),
        cmocka_unit_test(another_build_id_is_not_used),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
