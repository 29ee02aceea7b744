# SPDX-License-Identifier: MIT
"""Makes a program of very much code: functions of 1 KiB each, with unwind
tables, which a loop calls in random order.

Each function pushes a register and calls back into the loop's work. It has
three rows in the table, at other offsets than its neighbours have.
"""
import subprocess

import bench

ASSEMBLY = """\
    .text
    .globl many
    .type many, @function
    .balign 1024
many:
    .set i, 0
    .rept {count}
    .cfi_startproc
    pushq %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset %rbx, -16
    subq $(16 + 16 * (i & 3)), %rsp
    .cfi_adjust_cfa_offset 16 + 16 * (i & 3)
    call *%rdi
    addq $(16 + 16 * (i & 3)), %rsp
    .cfi_adjust_cfa_offset -(16 + 16 * (i & 3))
    popq %rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .balign 1024
    .set i, i + 1
    .endr
    .section .note.GNU-stack, "", @progbits
"""

CALLER = """\
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

extern char many[];
static volatile uint64_t sink;

static void
work(void)
{
    uint64_t seed = 88172645463325252u;

    for (unsigned i = 0; i < 2000; i++)
        seed = seed * 6364136223846793005u + 1442695040888963407u;
    sink = seed;
}

static double
now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
    double until = now() + (argc > 1 ? atof(argv[1]) : 3);
    uint64_t seed = 1;

    while (now() < until) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        void (*function)(void (*)(void)) = (void (*)(void (*)(void)))(
            many + (seed >> 33) % COUNT * 1024);
        function(work);
    }
    return 0;
}
"""


def make(count):
    """The program with COUNT functions."""
    target = bench.CACHE / f"big_code-{count}"
    if target.exists():
        return target
    bench.CACHE.mkdir(mode=0o700, parents=True, exist_ok=True)
    assembly, caller = target.with_suffix(".s"), target.with_suffix(".c")
    assembly.write_text(ASSEMBLY.format(count=count))
    caller.write_text(CALLER)
    beside = target.with_suffix(".new")
    subprocess.run(["gcc", "-O2", f"-DCOUNT={count}ul", caller, assembly, "-o",
                    beside], check=True)
    assembly.unlink()
    caller.unlink()
    beside.rename(target)
    return target
