/* SPDX-License-Identifier: MIT */
/*
 * firefox_shared.h -- writes what the threads of a Firefox profile share. Only
 * for firefox.c.
 */
#ifndef WRITE_FIREFOX_SHARED_H
#define WRITE_FIREFOX_SHARED_H

#include <stdint.h>

struct firefox_tables;
struct json;

/* The name of MACHINE (e_machine of ELF). */
const char *firefox_shared_machine(uint32_t machine);

/* Write meta.categories, libs, and shared. */
void firefox_shared_write_categories(const struct firefox_tables *tables,
                                     struct json *json);
void firefox_shared_write_libraries(const struct firefox_tables *tables,
                                    struct json *json);
void firefox_shared_write(const struct firefox_tables *tables,
                          struct json *json);

#endif
