/* SPDX-License-Identifier: MIT */
/* page_template.c -- the assembler reads the file SPROF_PAGE_TEMPLATE. So the
 * build needs no tool besides the compiler. */
#include "page_template.h"

__asm__(".pushsection .rodata.page_template, \"a\"\n"
        "page_template_first: .incbin \"" SPROF_PAGE_TEMPLATE "\"\n"
        "page_template_last: .byte 0\n"
        ".popsection\n");

/* Hidden, so that they are not reached by the table of addresses, in which the
 * linker for aarch64 gives both one entry. */
extern const char page_template_first[] __attribute__((visibility("hidden")));
extern const char page_template_last[] __attribute__((visibility("hidden")));

const char *
page_template(size_t *length)
{
    *length = (size_t)(page_template_last - page_template_first);
    return page_template_first;
}
