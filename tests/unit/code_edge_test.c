/* SPDX-License-Identifier: MIT */
/* code_edge_test.c -- where functions begin, by the bytes in front of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/code_edge.h"

#define BASE 0x1000u
#define SIZE 256u

static struct {
    Elf64_Ehdr header;
    uint8_t code[SIZE];
} file __attribute__((aligned(8)));
static Elf64_Shdr sections[2];
static const struct elf_view view = {.bytes = (const uint8_t *)&file,
                                     .size = sizeof(file),
                                     .sections = sections,
                                     .count = 2};

static void
begin(unsigned machine, uint8_t filling)
{
    memset(&file, 0, sizeof(file));
    memset(file.code, filling, SIZE);
    file.header.e_machine = (Elf64_Half)machine;
    sections[1] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                               .sh_flags = SHF_EXECINSTR,
                               .sh_addr = BASE,
                               .sh_offset = offsetof(__typeof__(file), code),
                               .sh_size = SIZE};
}

#define PUT(at, ...)                                         \
    memcpy(file.code + (at), (const uint8_t[]){__VA_ARGS__}, \
           sizeof((const uint8_t[]){__VA_ARGS__}))

static void
expect_edge(uint64_t low, uint64_t address, uint64_t edge)
{
    assert_int_equal(code_edge_last(&view, BASE + low, BASE + address),
                     BASE + edge);
}

static void
functions_begin_behind_returns(void **state)
{
    (void)state;
    begin(EM_X86_64, 0x55);
    expect_edge(0, 200, 0);
    /* ret, and a nop of six bytes and of nine, at the end of a line of 16. */
    PUT(32, 0xc3, 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x66, 0x0f, 0x1f, 0x84,
        0x00, 0x00, 0x00, 0x00, 0x00);
    expect_edge(0, 47, 0);
    expect_edge(0, 48, 48);
    expect_edge(0, 200, 48);
    expect_edge(48, 200, 48);
    PUT(91, 0x48, 0x83, 0xc4, 0x08, 0xc3); /* add $8, %rsp; ret */
    expect_edge(0, 200, 96);
    PUT(125, 0xc3, 0xcc, 0x90);
    expect_edge(0, 200, 128);
    expect_edge(0, 127, 96);
    /* As far as a function that is aligned to 64 may be from a return. */
    PUT(128, 0xc3);
    memset(file.code + 129, 0x90, 63);
    expect_edge(0, 200, 192);
}

static void
other_code_is_no_end(void **state)
{
    (void)state;
    begin(EM_X86_64, 0x55);
    PUT(40, 0xc3, 0x55);                   /* code after it */
    PUT(60, 0xc3, 0x0f, 0x1f, 0x40, 0x55); /* not to the end of the line */
    PUT(77, 0xeb, 0x01, 0x90);             /* a jump */
    PUT(94, 0x89, 0xc3);                   /* mov %eax, %ebx */
    PUT(107, 0xb8, 0xc3, 0, 0, 0);         /* mov $0xc3, %eax */
    expect_edge(0, 200, 0);
    /* Beyond the code, and on another machine. */
    PUT(94, 0x55);
    expect_edge(0, SIZE, 0);
    file.header.e_machine = EM_RISCV;
    expect_edge(0, 200, 0);
    begin(EM_X86_64, 0x90);
    expect_edge(0, 200, 0);
}

/* A jump ends a function if it leads over a return, or out of the symbol's
 * code. Without one between, it may lead to a loop that is aligned. */
static void
functions_begin_behind_jumps_that_leave(void **state)
{
    (void)state;
    begin(EM_X86_64, 0x55);
    PUT(40, 0xeb, 0x46, 0x66, 0x90, 0x66, 0x90, 0x66, 0x90); /* to 112 */
    expect_edge(0, 100, 0);
    PUT(95, 0xc3);
    expect_edge(0, 94, 48);
    expect_edge(0, 100, 96);
    PUT(40, 0xeb, 0x1e); /* to 72 */
    expect_edge(0, 94, 0);
    PUT(40, 0xeb, 0xb6); /* to -32 */
    expect_edge(0, 94, 48);
    PUT(139, 0xe9, 0x40, 0xff, 0xff, 0xff); /* to -48 */
    expect_edge(0, 150, 144);
    PUT(139, 0xe9, 0xe0, 0xff, 0xff, 0xff); /* to 112, in the same function */
    expect_edge(0, 150, 96);
    PUT(139, 0xe9, 0xb8, 0xff, 0xff, 0xff); /* to 72, in the one before */
    expect_edge(0, 150, 144);
    PUT(139, 0xe9, 0x00, 0x01, 0x00, 0x00); /* beyond the section */
    expect_edge(0, 150, 144);

    begin(EM_AARCH64, 0x91);
    PUT(40, 0x10, 0x00, 0x00, 0x14, 0x1f, 0x20, 0x03, 0xd5); /* to 104 */
    expect_edge(0, 90, 0);
    PUT(92, 0xc0, 0x03, 0x5f, 0xd6);
    expect_edge(0, 90, 48);
    PUT(40, 0xf0, 0xff, 0xff, 0x17); /* to -24 */
    PUT(92, 0x91, 0x91, 0x91, 0x91);
    expect_edge(0, 90, 48);
    PUT(40, 0xf8, 0xff, 0xff, 0x17); /* to 8 */
    expect_edge(0, 90, 0);
}

static void
functions_of_the_other_machine_do_so(void **state)
{
    (void)state;
    begin(EM_AARCH64, 0x91);
    PUT(36, 0xc0, 0x03, 0x5f, 0xd6, 0x1f, 0x20, 0x03, 0xd5, 0, 0, 0, 0);
    PUT(76, 0xc0, 0x03, 0x5f, 0xd6);
    expect_edge(0, 47, 0);
    expect_edge(0, 60, 48);
    expect_edge(0, 200, 80);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_begin_behind_returns),
        cmocka_unit_test(other_code_is_no_end),
        cmocka_unit_test(functions_begin_behind_jumps_that_leave),
        cmocka_unit_test(functions_of_the_other_machine_do_so)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
