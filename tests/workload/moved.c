/* SPDX-License-Identifier: MIT */
/*
 * moved.c -- a plugin of two executable segments, as tools that rewrite files
 * leave it (BOLT): a function that they left alone calls one that they moved
 * into a last segment. The linker puts the section .moved far after everything
 * else, and move_phdrs moves the program headers into the room in it, or out of
 * all segments.
 */
#include <stdint.h>

uint64_t plugin_compute(uint64_t rounds);
uint64_t moved_compute(uint64_t rounds);

__asm__(".pushsection .moved, \"ax\"\n"
        ".balign 64\n"
        ".ascii \"room for headers\"\n"
        ".space 1024\n"
        ".popsection");

__attribute__((noinline, section(".moved"))) uint64_t
moved_compute(uint64_t rounds)
{
    uint64_t mix = 1;

    for (uint64_t i = 0; i < rounds; i++)
        mix = mix * 6364136223846793005u + 1442695040888963407u;
    return mix;
}

__attribute__((noinline, visibility("default"))) uint64_t
plugin_compute(uint64_t rounds)
{
    return moved_compute(rounds) + 1;
}
