/* SPDX-License-Identifier: MIT */
/*
 * firefox.h -- the parts of firefox.c, which share the profile that is being
 * written.
 *
 *    firefox_tables.c   makes and writes what the threads share: strings,
 *                       functions, frames, stacks
 *    firefox_markers.c  what is shown above and beside the samples: waits,
 *                       labels, the marks that the program set, and notes about
 *                       the process
 *
 * A stack is its innermost frame and the stack that called it:
 *
 *   stack   frame             prefix
 *   0       main              none
 *   1       parse             0
 *   2       next_token        1       inlined in parse: inlineDepth 1
 *   3       read, "Waiting"   0       a leaf has the category of its state
 *
 * Functions of Python have a category of their own, also as callers.
 *
 * Equal rows are one row. Rows are numbered in order of appearance.
 */
#ifndef WRITE_FIREFOX_H
#define WRITE_FIREFOX_H

#include <stdbool.h>
#include <stdint.h>

#include "util/json.h"
#include "view/timeline.h"

/* meta.categories; the first is the default. */
enum firefox_category {
    FIREFOX_OTHER,
    FIREFOX_RUNNING,
    FIREFOX_WAITING,
    FIREFOX_RUNNABLE,
    FIREFOX_PYTHON, /* functions of Python, unless they wait */
    FIREFOX_PHP,    /* functions of PHP, unless they wait */
};

/* Numbers are those of rows in other tables, or FIREFOX_NONE. */
#define FIREFOX_NONE UINT32_MAX

struct firefox_resource {
    uint32_t library, name;
};

struct firefox_function {
    uint32_t name, resource, source;
};

struct firefox_frame {
    uint64_t address; /* in the library */
    uint32_t function, library, depth, category, subcategory;
    uint32_t line; /* FIREFOX_NONE: unknown */
};

struct firefox_stack {
    uint32_t prefix, frame;
};

struct firefox_tables {
    struct profile *profile;
    struct intern *strings, *sources, *resources, *functions, *frames, *stacks;
    struct intern *calls; /* strings: the system calls that threads waited in,
                             and waits for a GPU; subcategories */
    uint32_t *libraries;  /* of each module: its number in libs */
    uint32_t *library_names; /* of each library: its string */
    uint32_t *stack_of;      /* of each node, as a caller */
    uint32_t *sample_stack;
    uint32_t library_count;
    unsigned last_category; /* that is needed */
};

/* Make all tables. Returns 0, or -1 with errno set if memory is short; the
 * caller calls firefox_tables_release in both cases. */
int firefox_tables_build(struct firefox_tables *tables,
                         struct profile *profile);

/* The number of TEXT in the string table; a new text is added. 0 if memory is
 * short. Call it before the tables are written. */
uint32_t firefox_tables_string(struct firefox_tables *tables, const char *text);

void firefox_tables_release(struct firefox_tables *tables);

/* The name of MACHINE (e_machine of ELF). */
const char *firefox_tables_machine(uint32_t machine);

/* Write meta.categories, libs, and shared. */
void firefox_tables_write_categories(const struct firefox_tables *tables,
                                     struct json *json);
void firefox_tables_write_libraries(const struct firefox_tables *tables,
                                    struct json *json);
void firefox_tables_write(const struct firefox_tables *tables,
                          struct json *json);

/* A profile that is being written. */
struct firefox {
    struct profile *profile;
    struct json json;
    struct firefox_tables tables;
    struct timeline timeline;
    uint32_t *names;   /* of each sample: the string for its state */
    uint32_t *objects; /* of each sample: the string for what it waits on */
    bool *is_main;     /* of each thread: it stands for its process */
    uint32_t start_text, end_text, lost_text; /* strings */
    uint32_t *label_keys,
        *label_values;    /* strings of each of profile->labels */
    uint32_t *mark_names; /* string of each mark */
    uint32_t *mark_order; /* marks by their thread */
    size_t *mark_first; /* of each thread in MARK_ORDER; one more at the end */
};

/* meta.markerSchema: the kinds of markers, and what is shown of them. */
extern const char firefox_markers_schema[];

/* Find all strings, and the marks of each thread. FIREFOX->is_main must be
 * filled. Returns 0, or -1 if memory is short; the caller calls
 * firefox_markers_release in both cases. */
int firefox_markers_prepare(struct firefox *firefox);

/* Write the table "markers" of THREAD. Returns 0, or -1 if memory is short. */
int firefox_markers_write(struct firefox *firefox, uint32_t thread);

void firefox_markers_release(struct firefox *firefox);

#endif
