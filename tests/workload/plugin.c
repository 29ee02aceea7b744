/* SPDX-License-Identifier: MIT */
/*
 * plugin.c -- a small shared library that dlopen_loop and chaos load and
 * unload. Its constructor takes a while, with the loader's lock held.
 */
#include <stdint.h>

uint64_t plugin_compute(uint64_t rounds);
uint64_t plugin_result(void);

static uint64_t result;

__attribute__((noinline, visibility("default"))) uint64_t
plugin_compute(uint64_t rounds)
{
    uint64_t mix = 1;

    for (uint64_t i = 0; i < rounds; i++)
        mix = mix * 6364136223846793005u + 1442695040888963407u;
    return mix;
}

__attribute__((visibility("default"))) uint64_t
plugin_result(void)
{
    return result;
}

__attribute__((constructor)) static void
plugin_start(void)
{
    result = plugin_compute(20000);
}
