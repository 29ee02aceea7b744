/* SPDX-License-Identifier: MIT */
/*
 * symbol_debug_test.c -- the forms in which compilers and tools leave debug
 * information: each is made here with the tool that makes it, and must say the
 * same. What there is no tool for is skipped. (Its places beside the file are
 * in symbol_files_test.c.)
 */
#include <elfutils/version.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "shell.h"
#include "symbol/elf_file.h"
#include "symbol/elf_view.h"
#include "symbol/inflate.h"
#include "symbol/symbolizer.h"

/* Where the source says so: INNER_LINE is in an inlined function, at CALL_LINE
 * of the one that owns the code. The types at the end
 * are what files and units have in common. */
#define INNER_LINE 4
#define CALL_LINE 8
static const char source[] =
    "struct place { struct place *next; const char *name; long line; };\n"
    "volatile long sink;\n"
    "static inline __attribute__((always_inline)) long inner(long x) {\n"
    "    return sink + x * x;\n"
    "}\n"
    "long known(struct place *place, long x);\n"
    "long known(struct place *place, long x) {\n"
    "    long y = inner(x);\n"
    "    sink = y + place->line;\n"
    "    return place->next ? y : x;\n"
    "}\n"
    "#include <pthread.h>\n"
    "#include <stdio.h>\n"
    "static FILE *file;\n"
    "static pthread_mutex_t mutex;\n"
    "void use(void);\n"
    "void use(void) { sink += (long)file + (long)&mutex; }\n";

static char directory[] = "/tmp/symbol_debug.XXXXXX";

static bool
shell(const char *command)
{
    return shell_in(directory, command);
}

static int
set_up(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL)
        return -1;
    char path[64];
    snprintf(path, sizeof(path), "%s/known.c", directory);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(source, file) < 0 || fclose(file) != 0)
        return -1;
    return shell("cp known.c other.c") ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    return shell_remove(directory);
}

/* Where the function known() lies in the file NAME. */
static void
find_known(const char *name, uint64_t *start, uint64_t *size)
{
    char line[256];
    snprintf(line, sizeof(line), "nm -S %s/%s | grep ' known$'", directory,
             name);
    FILE *tool = popen(line, "r");
    assert_non_null(tool);
    assert_int_equal(fscanf(tool, "%" SCNx64 " %" SCNx64, start, size), 2);
    pclose(tool);
}

static bool
is_frame(const struct symbol_frame *frame, const char *function, unsigned line)
{
    return strcmp(frame->function, function) == 0 && frame->line == line &&
           strstr(frame->file, ".c") != NULL;
}

/* In the file NAME some code is of the inlined function, some of its caller,
 * and most of it has a line (some is clang's own). */
static void
assert_complete(const char *name)
{
    struct symbolizer_options options = {.inlines = true};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    unsigned inlined = 0, own = 0, lines = 0;
    assert_non_null(symbolizer);
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    uint64_t start, size;
    find_known(name, &start, &size);
    symbolizer_add(symbolizer, 1, path, NULL, 0);
    for (uint64_t i = 0; i < size; i++) {
        const struct symbol *symbol = symbolizer_find(symbolizer, 1, start + i);
        const struct symbol_frame *frames = symbol->frames;
        assert_true(symbol->named);
        lines += frames[0].line > 0;
        inlined += symbol->count == 2 &&
                   is_frame(&frames[0], "inner", INNER_LINE) &&
                   is_frame(&frames[1], "known", CALL_LINE);
        own += symbol->count == 1 && strcmp(frames[0].function, "known") == 0;
    }
    assert_null(symbolizer_problem(symbolizer, 1));
    assert_true(inlined > 0);
    assert_true(own > 0);
    assert_true(lines * 2 > size);
    symbolizer_free(symbolizer);
}

/* Made by COMMAND, which is skipped where it cannot be run. */
static void
check(const char *command)
{
    if (!shell(command))
        skip();
    assert_complete("library");
}

#define LIBRARY "-O2 -fPIC -shared -o library known.c"

static void
every_version_of_dwarf_is_read(void **state)
{
    (void)state;
    check("gcc -gdwarf-5 " LIBRARY);
    check("gcc -gdwarf-4 " LIBRARY);
    check("gcc -gdwarf-3 -gstrict-dwarf " LIBRARY);
    check("gcc -gdwarf-2 " LIBRARY);
}

static void
offsets_of_64_bits_are_read(void **state)
{
    (void)state;
    check("gcc -gdwarf64 -gdwarf-5 " LIBRARY);
}

static void
types_may_lie_apart(void **state)
{
    (void)state;
    check("gcc -gdwarf-4 -fdebug-types-section " LIBRARY);
    check("gcc -gdwarf-5 -fdebug-types-section " LIBRARY);
}

static void
the_old_compression_is_read(void **state)
{
    (void)state;
    check("gcc -g -O2 -fPIC -shared -o plain known.c && objcopy "
          "--compress-debug-sections=zlib-gnu plain library");
}

#define BY_ZSTD "--compress-debug-sections=zstd "
#define IS_BY_ZSTD " && readelf -tW library | grep -q ZSTD"

/* The library has names, and says in one sentence that lines are missing. */
static void
assert_unread(const char *reason)
{
    struct symbolizer_options options = {.inlines = true};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    char path[64];
    uint64_t start, size;
    snprintf(path, sizeof(path), "%s/library", directory);
    find_known("library", &start, &size);
    symbolizer_add(symbolizer, 1, path, NULL, 0);
    const struct symbol *symbol = symbolizer_find(symbolizer, 1, start);
    assert_string_equal(symbol->frames[symbol->count - 1].function, "known");
    const char *sentence = symbolizer_unread(symbolizer, 1);
    assert_non_null(sentence);
    assert_non_null(strstr(sentence, directory));
    assert_non_null(strstr(sentence, reason));
    assert_null(strchr(sentence, '\n'));
    symbolizer_free(symbolizer);
}

/* Made by COMMAND with the library's debug sections compressed by zstd. */
static void
check_zstd(const char *command)
{
    if (!shell(command))
        skip();
    if (unpack_zstd_is_there())
        assert_complete("library");
    else
        assert_unread("a build with libzstd");
}

static void
what_zstd_compressed_is_read(void **state)
{
    (void)state;
    check_zstd("gcc -g -O2 -fPIC -shared -o plain known.c && objcopy " BY_ZSTD
               "plain library" IS_BY_ZSTD);
    check_zstd("gcc -gdwarf-5 -gsplit-dwarf -O2 -fPIC -c known.c && "
               "gcc -shared -o plain known.o && objcopy " BY_ZSTD
               "plain library" IS_BY_ZSTD);
    check_zstd("gcc -g -O2 -fPIC -shared -o plain known.c && objcopy "
               "--only-keep-debug plain far && objcopy " BY_ZSTD "far && "
               "objcopy --strip-debug --add-gnu-debuglink=far plain library");
}

static void
what_files_share_may_be_compressed(void **state)
{
    (void)state;
    check_zstd("gcc -g -O2 -fPIC -shared -o library known.c && "
               "gcc -g -O2 -fPIC -shared -o other other.c && "
               "dwz -m common -M common library other && for file in library "
               "common; do objcopy " BY_ZSTD
               "$file || exit 1; done" IS_BY_ZSTD);
}

/* Write VALUE at PLACE after the beginning of .debug_line. */
#define CHANGE_LINES(place, value)                                         \
    "offset=$(readelf -SW library | sed -n 's/.* .debug_line  *PROGBITS  " \
    "*[0-9a-f]* \\([0-9a-f]*\\) .*/\\1/p') && printf '" value              \
    "' | dd of=library bs=1 seek=$((0x$offset + " place ")) conv=notrunc"

static void
what_cannot_be_inflated_is_told(void **state)
{
    (void)state;
    if (!shell("gcc -g -O2 -fPIC -shared -o plain known.c && objcopy "
               "--compress-debug-sections=zlib plain library && " CHANGE_LINES(
                   "0", "\\003")))
        skip();
    assert_unread("method 3");
    if (!shell("objcopy --compress-debug-sections=zlib plain library "
               "&& " CHANGE_LINES("30", "\\377\\377\\377\\377\\377\\377")))
        skip();
    assert_unread("damaged");
}

/* Set the flag SHF_COMPRESSED (elf(5)) in the header of the section SECTION of
 * the library. */
static void
say_compressed(const char *section)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/library", directory);
    struct elf_view view;
    assert_int_equal(elf_view_open(&view, path), 0);
    const Elf64_Shdr *header = elf_view_section(&view, section);
    assert_non_null(header);
    long place = (const uint8_t *)header - view.bytes;
    Elf64_Shdr changed = *header;
    changed.sh_flags |= SHF_COMPRESSED;
    elf_view_close(&view);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, place, SEEK_SET), 0);
    assert_int_equal(fwrite(&changed, sizeof(changed), 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

/* A section of the program's own is compressed in a way that nobody knows. */
static void
sections_of_other_kinds_do_not_matter(void **state)
{
    (void)state;
    if (!shell("gcc -g -O2 -fPIC -shared -o plain known.c && "
               "printf '\\003%023d' 0 >notes && "
               "objcopy --add-section notes=notes plain library"))
        skip();
    say_compressed("notes");
    assert_complete("library");
    struct elf_file file;
    uint64_t bias;
    char path[64];
    snprintf(path, sizeof(path), "%s/library", directory);
    assert_int_equal(elf_file_open(&file, path, NULL, 0), 0);
    assert_non_null(elf_file_dwarf(&file, &bias));
    assert_null(file.unread);
    elf_file_close(&file);
}

/* A stripped file that has a compressed debug section all the same. */
static void
a_file_without_units_does_not_hide_its_debug_file(void **state)
{
    (void)state;
    check("gcc -g -O2 -fPIC -shared -o plain known.c && "
          "objcopy --only-keep-debug plain far && "
          "head -c 9999 /dev/zero >zeros && "
          "objcopy --strip-debug --add-gnu-debuglink=far "
          "--add-section .debug_frame=zeros plain stripped && "
          "objcopy --compress-debug-sections=zlib stripped library && "
          "readelf -tW library | grep -q ZLIB");
}

/* After a skeleton: one file for each object. */
static void
split_debug_information_is_read(void **state)
{
    (void)state;
    check("gcc -gdwarf-5 -gsplit-dwarf -O2 -fPIC -c known.c && "
          "gcc -shared -o library known.o");
    check("gcc -gdwarf-4 -gsplit-dwarf -O2 -fPIC -c known.c && "
          "gcc -shared -o library known.o");
}

/* All of them in one package beside the file: of two objects, each with its own
 * texts. PACK makes library.dwp. */
static void
check_package(const char *compile, const char *pack)
{
    char command[640];
    snprintf(command, sizeof(command),
             "rm -f *.dwo library.dwp && "
             "sed 's/known/alike/; s/sink/sunk/; s/use/abuse/; s/inner/within/'"
             " known.c >alike.c && "
             "%s -gsplit-dwarf -O2 -fPIC -c alike.c known.c && "
             "%s -shared -o library alike.o known.o && %s && rm *.dwo",
             compile, compile, pack);
    check(command);
}

#define GNU_PACK "dwp -e library -o library.dwp"
#define LLVM_PACK \
    "$(ls /usr/bin/llvm-dwp* | head -n 1) -e library -o library.dwp"

static void
a_gnu_package_is_read(void **state)
{
    (void)state;
    check_package("gcc -gdwarf-4", GNU_PACK);
    check_package("gcc -gdwarf-4", GNU_PACK " && objcopy "
                                            "--compress-debug-sections=zlib "
                                            "library.dwp");
}

/* The halves, and the package of them, are compressed by zstd. */
static void
split_halves_may_be_compressed(void **state)
{
    (void)state;
#define HALVES(version)                                              \
    "rm -f *.dwp && gcc -gdwarf-" version " -gsplit-dwarf -O2 -fPIC" \
    " -c known.c && gcc -shared -o library known.o && objcopy " BY_ZSTD
#define ARE_BY_ZSTD(file) " && readelf -tW " file " | grep -q ZSTD"
    check_zstd(HALVES("5") "known.dwo" ARE_BY_ZSTD("known.dwo"));
    check_zstd(HALVES("4") "known.dwo" ARE_BY_ZSTD("known.dwo"));
    check_zstd("mkdir place && cp known.c place && cd place && gcc -gdwarf-5 "
               "-gsplit-dwarf -O2 -fPIC -c known.c && "
               "gcc -shared -o ../library known.o && objcopy " BY_ZSTD
               "known.dwo ../known.dwo && rm known.dwo");
    check_zstd(HALVES("4") "--version && dwp -e library -o library.dwp && "
                           "rm known.dwo && objcopy " BY_ZSTD
                           "library.dwp" ARE_BY_ZSTD("library.dwp"));
}

static void
a_package_is_read(void **state)
{
    (void)state;
    check_package("gcc -gdwarf-5", LLVM_PACK);
    check_package("clang -gdwarf-5", LLVM_PACK);
}

/* What two files have in common is in a third one. */
static void
what_files_share_is_read(void **state)
{
    (void)state;
    if (!shell("gcc -g -O2 -fPIC -shared -o library known.c && "
               "gcc -g -O2 -fPIC -shared -o other other.c && "
               "dwz -m common -M \"$PWD/common\" library other && "
               "readelf -SW library | grep -q gnu_debugaltlink"))
        skip();
    assert_complete("library");
    assert_complete("other");
}

/* What the units of one file have in common is in a partial unit. */
static void
what_units_share_is_read(void **state)
{
    (void)state;
    check("sed 's/known/alike/; s/sink/sunk/; s/use/abuse/' known.c >alike.c "
          "&& gcc -g -O2 "
          "-fPIC -shared "
          "-o library known.c alike.c && dwz library");
}

static void
what_clang_writes_is_read(void **state)
{
    (void)state;
    check("clang -g -gdwarf-5 " LIBRARY);
    check("clang -g -gdwarf-4 -gsplit-dwarf " LIBRARY);
}

static void
what_is_made_at_link_time_is_read(void **state)
{
    (void)state;
    check("gcc -g -flto -ffat-lto-objects " LIBRARY);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_of_dwarf_is_read),
        cmocka_unit_test(offsets_of_64_bits_are_read),
        cmocka_unit_test(types_may_lie_apart),
        cmocka_unit_test(the_old_compression_is_read),
        cmocka_unit_test(what_zstd_compressed_is_read),
        cmocka_unit_test(what_files_share_may_be_compressed),
        cmocka_unit_test(what_cannot_be_inflated_is_told),
        cmocka_unit_test(sections_of_other_kinds_do_not_matter),
        cmocka_unit_test(a_file_without_units_does_not_hide_its_debug_file),
        cmocka_unit_test(split_debug_information_is_read),
        cmocka_unit_test(a_gnu_package_is_read),
        cmocka_unit_test(split_halves_may_be_compressed),
        cmocka_unit_test(a_package_is_read),
        cmocka_unit_test(what_files_share_is_read),
        cmocka_unit_test(what_units_share_is_read),
        cmocka_unit_test(what_clang_writes_is_read),
        cmocka_unit_test(what_is_made_at_link_time_is_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
