/* SPDX-License-Identifier: MIT */
/* page_template.h -- src/page/dist/page.html, a part of programs that write
 * pages. It is mapped with the constants, and is read only when a page is
 * written. */
#ifndef WRITE_PAGE_TEMPLATE_H
#define WRITE_PAGE_TEMPLATE_H

#include <stddef.h>

/* The template, and its *LENGTH in bytes. */
const char *page_template(size_t *length);

#endif
