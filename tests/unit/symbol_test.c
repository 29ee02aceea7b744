/* SPDX-License-Identifier: MIT */
/*
 * symbol_test.c -- what addresses of this very program, of libc and of the
 * vdso are called. The source is the expectation: each test function notes its
 * own pc and line.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/symbolizer.h"

#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { PROGRAM = 1, LIBC, VDSO, OTHER };

/* Where a function was, in memory and in the source. */
struct place {
    uintptr_t pc; /* inside the call, as for a return address - 1 */
    unsigned line;
};

static uintptr_t program_base;

static NOINLINE uintptr_t
caller_pc(void)
{
    /* Else two calls in one function could become one. */
    __asm__ volatile("" ::: "memory");
    return (uintptr_t)__builtin_return_address(0) - 1;
}

#define HERE ((struct place){caller_pc(), __LINE__})

static struct place inner_place, middle_place, outer_place;

static ALWAYS_INLINE void
inner_function(void)
{
    inner_place = HERE;
}

static ALWAYS_INLINE void
middle_function(void)
{
    middle_place.line = __LINE__ + 1;
    inner_function();
}

static NOINLINE void
outer_function(void)
{
    outer_place.line = __LINE__ + 1;
    middle_function();
}

static NOINLINE struct place
static_function(void)
{
    struct place place = HERE;
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return place;
}

static int
note_base(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    *(uintptr_t *)argument = info->dlpi_addr;
    return 1; /* the program comes first */
}

static struct symbolizer *
make(bool inlines)
{
    struct symbolizer_options options = {.inlines = inlines};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    assert_non_null(symbolizer);
    dl_iterate_phdr(note_base, &program_base);
    symbolizer_add(symbolizer, PROGRAM, "/proc/self/exe", NULL, 0);
    return symbolizer;
}

static void
assert_frame(const struct symbol_frame *frame, const char *function,
             unsigned line)
{
    const char *name = strrchr(frame->file, '/');
    assert_string_equal(frame->function, function);
    assert_string_equal(name ? name + 1 : frame->file, "symbol_test.c");
    assert_int_equal(frame->line, line);
}

static void
a_static_function_has_its_name(void **state)
{
    struct symbolizer *symbolizer = make(true);
    struct place place = static_function();
    const struct symbol *symbol =
        symbolizer_find(symbolizer, PROGRAM, place.pc - program_base);
    (void)state;
    assert_true(symbol->named);
    assert_int_equal(symbol->count, 1);
    assert_frame(&symbol->frames[0], "static_function", place.line);
    assert_string_equal(symbol->frames[0].linkage, "static_function");
    assert_int_equal(symbol->frames[0].start_line, place.line - 2);
    assert_null(symbolizer_problem(symbolizer, PROGRAM));
    assert_true((symbolizer_flags(symbolizer, PROGRAM) & SYMBOLIZER_SYMBOLS) !=
                0);
    assert_true((symbolizer_flags(symbolizer, PROGRAM) & SYMBOLIZER_LINES) !=
                0);
    symbolizer_free(symbolizer);
}

static void
an_inlined_chain_is_told_from_within(void **state)
{
    struct symbolizer *symbolizer = make(true);
    (void)state;
    outer_function();
    const struct symbol *symbol =
        symbolizer_find(symbolizer, PROGRAM, inner_place.pc - program_base);
    assert_true(symbol->named);
    assert_int_equal(symbol->count, 3);
    assert_frame(&symbol->frames[0], "inner_function", inner_place.line);
    assert_frame(&symbol->frames[1], "middle_function", middle_place.line);
    assert_frame(&symbol->frames[2], "outer_function", outer_place.line);
    assert_int_equal(symbol->frames[0].start_line, inner_place.line - 2);
    symbolizer_free(symbolizer);
}

/* Without inlined frames the owner stays, with the line in its own code. */
static void
without_inlined_frames_the_owner_stays(void **state)
{
    struct symbolizer *symbolizer = make(false);
    (void)state;
    outer_function();
    const struct symbol *symbol =
        symbolizer_find(symbolizer, PROGRAM, inner_place.pc - program_base);
    assert_int_equal(symbol->count, 1);
    assert_frame(&symbol->frames[0], "outer_function", outer_place.line);
    symbolizer_free(symbolizer);
}

static void
the_same_question_has_the_same_answer(void **state)
{
    struct symbolizer *symbolizer = make(true);
    uint64_t offset = static_function().pc - program_base;
    const struct symbol *first = symbolizer_find(symbolizer, PROGRAM, offset);
    const struct symbol *byte =
        symbolizer_find(symbolizer, PROGRAM, offset - 1);
    (void)state;
    /* Enough others to make the tables grow. */
    for (uint64_t i = 0; i < 5000; i++)
        assert_non_null(symbolizer_find(symbolizer, PROGRAM, i * 3));
    assert_ptr_equal(first, symbolizer_find(symbolizer, PROGRAM, offset));
    assert_ptr_equal(first->frames[0].function, byte->frames[0].function);
    assert_ptr_equal(first->frames[0].file, byte->frames[0].file);
    symbolizer_free(symbolizer);
}

static void
an_unknown_module_has_no_names(void **state)
{
    struct symbolizer *symbolizer = make(true);
    const struct symbol *symbol = symbolizer_find(symbolizer, 0, 0xabc);
    (void)state;
    assert_false(symbol->named);
    assert_int_equal(symbol->count, 1);
    assert_string_equal(symbol->frames[0].function, "0xabc");
    assert_string_equal(symbol->frames[0].linkage, "0xabc");
    assert_string_equal(symbol->frames[0].file, "");
    symbol = symbolizer_find(symbolizer, 4000000000u, UINT64_MAX);
    assert_string_equal(symbol->frames[0].function, "0xffffffffffffffff");
    assert_false((symbolizer_flags(symbolizer, PROGRAM) & SYMBOLIZER_SYMBOLS) !=
                 0); /* not yet */
    symbolizer_free(symbolizer);
}

static void
between_symbols_there_is_no_name(void **state)
{
    struct symbolizer *symbolizer = make(true);
    (void)state;
    /* The ELF header is no code, and far behind the end is nothing. */
    const struct symbol *symbol = symbolizer_find(symbolizer, PROGRAM, 8);
    assert_false(symbol->named);
    assert_string_equal(symbol->frames[0].function, "exe+0x8");
    symbol = symbolizer_find(symbolizer, PROGRAM, UINT64_MAX);
    assert_false(symbol->named);
    symbolizer_free(symbolizer);
}

/* Adds libc; the offset of its qsort. */
static uint64_t
add_libc(struct symbolizer *symbolizer, const char **path)
{
    /* Not RTLD_DEFAULT: sanitizers have a qsort of their own. */
    struct link_map *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *function = libc != NULL ? dlsym(libc, "qsort") : NULL;
    assert_non_null(function);
    symbolizer_add(symbolizer, LIBC, libc->l_name, NULL, 0);
    *path = libc->l_name;
    return (uint64_t)((uintptr_t)function - libc->l_addr);
}

static void
libc_has_names(void **state)
{
    struct symbolizer *symbolizer = make(true);
    const char *path;
    uint64_t offset = add_libc(symbolizer, &path);
    const struct symbol *symbol = symbolizer_find(symbolizer, LIBC, offset);
    (void)state;
    assert_true(symbol->named);
    assert_string_equal(symbol->frames[symbol->count - 1].function, "qsort");
    assert_string_equal(symbol->frames[symbol->count - 1].linkage, "qsort");
    symbolizer_free(symbolizer);
}

/* The .plt of the file at PATH. False if it has none. */
static bool
find_plt(const char *path, GElf_Shdr *header)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf_Scn *section = NULL;
    bool found = false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    assert_non_null(elf);
    size_t strings;
    assert_int_equal(elf_getshdrstrndx(elf, &strings), 0);
    while (!found && (section = elf_nextscn(elf, section)) != NULL) {
        assert_non_null(gelf_getshdr(section, header));
        found = strcmp(elf_strptr(elf, strings, header->sh_name), ".plt") == 0;
    }
    elf_end(elf);
    close(fd);
    return found;
}

/* libc calls its own string functions through stubs, of which all but the
 * common head can be named. */
static void
stubs_have_names(void **state)
{
    struct symbolizer *symbolizer = make(true);
    unsigned named = 0, stubs = 0;
    (void)state;
    const char *path;
    add_libc(symbolizer, &path);
    GElf_Shdr plt;
    if (!find_plt(path, &plt)) {
        symbolizer_free(symbolizer);
        skip();
    }
    for (uint64_t offset = 16; offset < plt.sh_size; offset += 16) {
        const struct symbol *symbol =
            symbolizer_find(symbolizer, LIBC, plt.sh_addr + offset + 2);
        stubs++;
        named += symbol->named;
        if (symbol->named)
            assert_non_null(strstr(symbol->frames[0].function, "@plt"));
    }
    assert_true(stubs > 0 && named * 2 > stubs);
    symbolizer_free(symbolizer);
}

static void
the_vdso_has_names(void **state)
{
    struct symbolizer *symbolizer = make(true);
    void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *function = vdso != NULL ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
    (void)state;
    if (function == NULL) {
        symbolizer_free(symbolizer);
        skip();
    }
    symbolizer_add(symbolizer, VDSO, "[vdso]", NULL, 0);
    const struct symbol *symbol =
        symbolizer_find(symbolizer, VDSO,
                        (uintptr_t)function - getauxval(AT_SYSINFO_EHDR));
    assert_true(symbol->named);
    assert_non_null(strstr(symbol->frames[0].function, "clock_gettime"));
    symbolizer_add(symbolizer, OTHER, "[vdso]", (const uint8_t *)"\1\2", 2);
    assert_false(symbolizer_find(symbolizer, OTHER, 0x900)->named);
    assert_non_null(strstr(symbolizer_problem(symbolizer, OTHER), "0102"));
    symbolizer_free(symbolizer);
}

static void
assert_same(const struct symbol *one, const struct symbol *other)
{
    assert_int_equal(one->count, other->count);
    assert_int_equal(one->named, other->named);
    for (unsigned i = 0; i < one->count; i++) {
        assert_string_equal(one->frames[i].function, other->frames[i].function);
        assert_string_equal(one->frames[i].linkage, other->frames[i].linkage);
        assert_string_equal(one->frames[i].file, other->frames[i].file);
        assert_int_equal(one->frames[i].line, other->frames[i].line);
        assert_int_equal(one->frames[i].start_line,
                         other->frames[i].start_line);
    }
}

/* Four modules, of which one is the program again and one is no file. */
static struct symbolizer *
make_several(uintptr_t *libc_text)
{
    struct symbolizer *symbolizer = make(true);
    const char *unused;
    *libc_text = add_libc(symbolizer, &unused);
    symbolizer_add(symbolizer, VDSO, "/proc/self/exe", NULL, 0);
    symbolizer_add(symbolizer, OTHER, "/no/such/file", NULL, 0);
    return symbolizer;
}

/* The expected answers were found without it before. Questions may name unknown
 * modules, and may come twice. */
static void
what_is_expected_is_the_same_as_without(void **state)
{
    enum { EACH = 500, UNKNOWN = OTHER + 1 };
    uintptr_t program_text = (uintptr_t)&static_function;
    uintptr_t libc_text;
    struct symbolizer *plain = make_several(&libc_text);
    struct symbolizer *ahead = make_several(&libc_text);
    struct symbol_question questions[UNKNOWN * EACH];
    size_t count = sizeof(questions) / sizeof(*questions);
    (void)state;
    for (size_t i = 0; i < count; i++)
        questions[i] =
            (struct symbol_question){.id = (uint32_t)(PROGRAM + i % UNKNOWN),
                                     .offset =
                                         (i % UNKNOWN + PROGRAM == LIBC
                                              ? libc_text
                                              : program_text - program_base) +
                                         i * 7919 % 3000};
    symbolizer_expect(ahead, questions, count);
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1) {
        assert_true((symbolizer_flags(ahead, PROGRAM) & SYMBOLIZER_LINES) != 0);
        assert_true((symbolizer_flags(ahead, LIBC) & SYMBOLIZER_SYMBOLS) != 0);
        assert_non_null(symbolizer_problem(ahead, OTHER));
    }
    for (size_t i = 0; i < count; i++)
        assert_same(symbolizer_find(ahead, questions[i].id,
                                    questions[i].offset),
                    symbolizer_find(plain, questions[i].id,
                                    questions[i].offset));
    symbolizer_expect(ahead, questions, count);
    symbolizer_free(ahead);
    symbolizer_free(plain);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_static_function_has_its_name),
        cmocka_unit_test(an_inlined_chain_is_told_from_within),
        cmocka_unit_test(without_inlined_frames_the_owner_stays),
        cmocka_unit_test(the_same_question_has_the_same_answer),
        cmocka_unit_test(an_unknown_module_has_no_names),
        cmocka_unit_test(between_symbols_there_is_no_name),
        cmocka_unit_test(libc_has_names),
        cmocka_unit_test(stubs_have_names),
        cmocka_unit_test(the_vdso_has_names),
        cmocka_unit_test(what_is_expected_is_the_same_as_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
