/* SPDX-License-Identifier: MIT */
/*
 * page_tables.h -- the tables of a page (docs/page-data.md): what the threads
 * of a profile share, in the numbering of the page. Each is an intern
 * (util/intern.h) whose keys are its rows, in the order of their numbers.
 *
 *   function   name, file, module, kind
 *   frame      function, line, whether it is inlined in its caller
 *   node       caller (a node, or the root), frame
 *
 * Everything is numbered when a sample first needs it, and samples are taken
 * thread by thread in the order of their times. So most numbers are the next
 * new one or one of the last, which deflates well.
 */
#ifndef WRITE_PAGE_TABLES_H
#define WRITE_PAGE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"
#include "view/timeline.h"

enum page_kind {
    PAGE_NATIVE,
    PAGE_KERNEL,
    PAGE_GENERATED, /* code in no module */
    PAGE_SCRIPT,
    PAGE_MARKER, /* a note about the stack: "[truncated]" */
};

enum page_state { PAGE_RUNNING, PAGE_RUNNABLE, PAGE_WAITING };

struct page_module {
    uint32_t name, path, build_id; /* strings */
};

struct page_function {
    uint32_t name, file; /* strings */
    uint32_t module;     /* 0: none */
    uint32_t kind;       /* enum page_kind */
};

struct page_frame {
    uint32_t function, line, is_inlined;
};

/* Node N of the page is key N - 1; node 0 is the root. */
struct page_node {
    uint32_t parent, frame;
};

struct page_state_row {
    uint32_t name; /* string */
    uint32_t kind; /* enum page_state */
};

/* What is waited for. The holder is looked for in the waiting thread's
 * process. */
struct page_wait {
    uint32_t text, process;
};

struct page_tables {
    struct profile *profile;
    const struct timeline *timeline; /* NULL: times are not known */
    struct intern *strings, *modules, *functions, *frames, *nodes, *states,
        *waits, *labels;
    uint32_t *module_of; /* of each module of the profile */
    uint32_t *node_of;   /* of each node of the profile; 0: not yet */
    uint32_t *row_of;    /* of each sample */
    uint32_t *sample_of; /* of each row */
    uint32_t row_count;
    uint32_t *chain; /* room for the nodes of one stack */
    uint32_t chain_room;
    bool is_compared; /* it is one side of a comparison */
    bool failed;      /* memory was short */
};

/* Make all tables. Returns 0, or -1 with errno set; the caller calls
 * page_tables_release in both cases. */
int page_tables_build(struct page_tables *tables, struct profile *profile,
                      const struct timeline *timeline);

/* The number of TEXT, cleaned, in STRINGS; 0 is "". */
uint32_t page_tables_string(struct page_tables *tables, const char *text);

/* The numbers of SAMPLE's state, wait and labels on the page. Waits and labels
 * are 1 more than their keys; 0: none. */
uint32_t page_tables_state(struct page_tables *tables,
                           const struct profile_sample *sample);
uint32_t page_tables_wait(struct page_tables *tables,
                          const struct profile_sample *sample);
uint32_t page_tables_labels(struct page_tables *tables,
                            const struct profile_sample *sample);

void page_tables_release(struct page_tables *tables);

#endif
