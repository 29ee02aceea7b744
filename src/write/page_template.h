/* SPDX-License-Identifier: MIT */
/* page_template.h -- src/page/dist/page.html, which is part of the program. It
 * is mapped with the program's constants, and costs nothing until a page is
 * written. */
#ifndef WRITE_PAGE_TEMPLATE_H
#define WRITE_PAGE_TEMPLATE_H

#include <stddef.h>

/* The template, and its *LENGTH in bytes. */
const char *page_template(size_t *length);

#endif
