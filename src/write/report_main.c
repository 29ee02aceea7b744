/* SPDX-License-Identifier: MIT */
/*
 * report_main.c -- what makes libsprof-report.so a program: an interpreter, an
 * entry point, and the arguments of report.h. The loader has run all
 * constructors when the entry point is reached, the C library's included; only
 * what crt1.o would do is done here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arch.h"

#include "report.h"

/* Program header PT_INTERP. */
__attribute__((section(".interp"), used,
               retain)) static const char interpreter[] = ARCH_DYNAMIC_LINKER;

/* The kernel leaves argc, argv and the environment on the stack, and the ABI
 * asks for 16 bytes of alignment and an end of the frame chain. */
__asm__(".globl report_main_start\n"
        ".type report_main_start, @function\n"
        "report_main_start:\n"
        ".cfi_startproc\n"
        ".cfi_undefined rip\n"
        "    xor %ebp, %ebp\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call report_main\n"
        "    hlt\n"
        ".cfi_endproc\n");

void report_main(const long *stack) __attribute__((noreturn, used));

/* The arguments behind ABI and SPROF_REPORT_STACKS. */
static int
run_stacks(struct sprof_report *report, const char *const *argv)
{
    report->inlines = argv[0][0] != '0';
    report->spool = argv[1];
    return sprof_report_stacks(report, STDERR_FILENO,
                               (uint32_t)strtoul(argv[2], NULL, 10));
}

static int
run_outputs(struct sprof_report *report, int argc, const char *const *argv)
{
    report->inlines = argv[2][0] != '0';
    report->spool = argv[3];
    report->outputs = argv + 4;
    report->output_count = (size_t)argc - 4;
    return sprof_report_write(report);
}

static int
run(int argc, const char *const *argv)
{
    struct sprof_report report = {0};
    int result;

    if (argc < 5 || strcmp(argv[1], SPROF_REPORT_ABI) != 0) {
        puts("libsprof-report.so: expected to be run by the libsprof.so of its "
             "own version");
        return 2;
    }
    if (argc == 6 && strcmp(argv[2], SPROF_REPORT_STACKS) == 0)
        result = run_stacks(&report, argv + 3);
    else
        result = run_outputs(&report, argc, argv);
    puts(result == 0 ? SPROF_REPORT_OK : report.error);
    return result == 0 ? 0 : 1;
}

void
report_main(const long *stack)
{
    int status = run((int)stack[0], (const char *const *)(stack + 1));
    fflush(stdout);
    _exit(status);
}
