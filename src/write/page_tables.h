/* SPDX-License-Identifier: MIT */
/*
 * page_tables.h -- the tables of a page (docs/page-data.md). They have what the
 * threads of a profile share, in the numbering of the page. Each is an intern
 * (util/intern.h). Its keys are the rows, in the order of their numbers.
 *
 *   function   name, file, module, kind
 *   frame      function, line, whether it is inlined in its caller
 *   node       caller (a node, or the root), frame
 *
 * A row gets its number when a sample first needs it. Samples come thread by
 * thread, in the order of their times. So most numbers are the next new one, or
 * were used just before, and deflate well. Stacks with all native frames of
 * interpreters come after all others.
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
    PAGE_SCRIPT,    /* a function of Python or PHP */
    PAGE_MARKER,    /* a note about the stack: "[truncated]" */
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

/* What a thread waits for, and its process: page_head.c looks for the holder
 * there. */
struct page_wait {
    uint32_t text, process;
};

struct page_tables {
    struct profile *profile;
    const struct timeline *timeline; /* NULL: times are not known */
    struct intern *strings, *modules, *functions, *frames, *nodes, *states,
        *waits, *labels;
    uint32_t *module_of; /* by module of the profile */
    uint32_t *node_of;   /* by node of the profile; 0: it has none yet */
    uint32_t *native_of; /* the same, with all native frames above it */
    uint32_t *row_of;    /* by sample */
    uint32_t *sample_of; /* by row */
    uint32_t row_count;
    uint32_t *chain; /* room for the nodes of one stack */
    uint32_t chain_room;
    uint32_t idle;    /* node for idle threads (model/idle.h); 0: none */
    bool has_native;  /* stacks have native frames that are not shown */
    bool is_compared; /* it is one side of a comparison */
    bool failed;      /* memory was short */
};

/* Make all tables. Returns 0, or -1 with errno set. The caller calls
 * page_tables_release in both cases. */
int page_tables_build(struct page_tables *tables, struct profile *profile,
                      const struct timeline *timeline);

/* The number of TEXT in STRINGS, cleaned (util/clean.h). 0 is "". */
uint32_t page_tables_string(struct page_tables *tables, const char *text);

/* The numbers of SAMPLE's state, wait and labels on the page. For wait and
 * labels it is the key plus 1; 0: none. */
uint32_t page_tables_state(struct page_tables *tables,
                           const struct profile_sample *sample);
uint32_t page_tables_wait(struct page_tables *tables,
                          const struct profile_sample *sample);
uint32_t page_tables_labels(struct page_tables *tables,
                            const struct profile_sample *sample);

void page_tables_release(struct page_tables *tables);

#endif
