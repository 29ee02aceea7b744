/* SPDX-License-Identifier: MIT */
/*
 * plt_table_test.c -- the names of stubs in programs that are built here, for
 * this machine and for aarch64 if there is a compiler for it. Stubs have other
 * sizes with landing pads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/plt_table.h"

#include "shell.h"

static char directory[] = "/tmp/plt_table.XXXXXX";

static const char source[] = "int puts(const char *);\n"
                             "int atoi(const char *);\n"
                             "int rand(void);\n"
                             "int main(int count, char **words)\n"
                             "{\n"
                             "    puts(words[0]);\n"
                             "    return atoi(words[0]) + rand();\n"
                             "}\n";

/* The names of the stubs in section NAME of FILE, in order, each once if its
 * instructions have it. They are added to TEXT. */
static void
add_names(const struct elf_view *file, const char *name, char *text)
{
    struct plt_table table = {0};
    const char *last = "";
    const Elf64_Shdr *section = elf_view_section(file, name);
    for (uint64_t at = 0; section != NULL && at < section->sh_size; at += 4) {
        struct plt_target target = {0};
        if (plt_table_find(&table, file, section->sh_addr + at, &target) != 0 ||
            target.name == NULL || strcmp(target.name, last) == 0)
            continue;
        last = target.name;
        strcat(strcat(text, " "), last);
    }
    plt_table_free(&table);
}

/* Every stub of the program that COMMAND builds has its name, and only one. */
static void
expect_names(const char *command)
{
    static const char *const names[] = {" puts", " atoi", " rand"};
    char line[512], path[512], text[1024] = "";
    struct elf_view file;
    snprintf(line, sizeof(line), "%s -O1 -o program program.c", command);
    if (!shell_in(directory, line))
        skip();
    snprintf(path, sizeof(path), "%s/program", directory);
    assert_int_equal(elf_view_open(&file, path), 0);
    add_names(&file, ".plt", text);
    add_names(&file, ".plt.sec", text);
    elf_view_close(&file);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *found = strstr(text, names[i]);
        if (found == NULL || strstr(found + 1, names[i]) != NULL)
            fail_msg("%s: not once%s in%s", command, names[i], text);
    }
}

#define EXPECT_NAMES(test, command) \
    static void test(void **state)  \
    {                               \
        (void)state;                \
        expect_names(command);      \
    }

EXPECT_NAMES(of_this_machine, "cc")
EXPECT_NAMES(at_a_fixed_address, "cc -no-pie")
EXPECT_NAMES(of_aarch64, "aarch64-linux-gnu-gcc")
EXPECT_NAMES(of_aarch64_at_a_fixed_address, "aarch64-linux-gnu-gcc -no-pie")
EXPECT_NAMES(with_landing_pads,
             "aarch64-linux-gnu-gcc -no-pie -Wl,-z,force-bti "
             "-mbranch-protection=standard")
EXPECT_NAMES(with_signed_pointers, "aarch64-linux-gnu-gcc -Wl,-z,pac-plt "
                                   "-mbranch-protection=standard")

static int
begin(void **state)
{
    (void)state;
    return mkdtemp(directory) != NULL &&
                   shell_write(directory, "program.c", source)
               ? 0
               : -1;
}

static int
end(void **state)
{
    (void)state;
    return shell_remove(directory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_this_machine),
        cmocka_unit_test(at_a_fixed_address),
        cmocka_unit_test(of_aarch64),
        cmocka_unit_test(of_aarch64_at_a_fixed_address),
        cmocka_unit_test(with_landing_pads),
        cmocka_unit_test(with_signed_pointers),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
