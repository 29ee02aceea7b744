/* SPDX-License-Identifier: MIT */
/*
 * firefox_shared.h -- writes what the threads of a Firefox profile share. Only
 * for firefox.c.
 */
#ifndef WRITE_FIREFOX_SHARED_H
#define WRITE_FIREFOX_SHARED_H

struct firefox_tables;
struct json;

/* Write meta.categories, libs, and shared. */
void firefox_shared_write_categories(const struct firefox_tables *tables,
                                     struct json *json);
void firefox_shared_write_libraries(const struct firefox_tables *tables,
                                    struct json *json);
void firefox_shared_write(const struct firefox_tables *tables,
                          struct json *json);

#endif
