/* SPDX-License-Identifier: MIT */
/*
 * otlp_tables.h -- the dictionary of an OpenTelemetry profile: each string,
 * function, location, stack and attribute once. Others refer to it by index.
 * For otlp.c alone.
 */
#ifndef WRITE_OTLP_TABLES_H
#define WRITE_OTLP_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"
#include "util/intern.h"
#include "otlp.pb-c.h"

struct otlp_tables {
    struct profile *profile;
    Otlp__Dictionary dictionary;
    bool failed; /* memory was short; what is in the tables is not complete */

    /* Numbers of keys are indices of the table. */
    struct intern texts, attributes, functions, locations, stacks, links;
    struct intern memory; /* of all messages, and of attributes' values */
    int32_t *by_node;     /* location of each node of the profile; 0: not yet */
    int32_t *path;        /* locations of the current stack; room for all */
};

/* Begin the dictionary for PROFILE, with element 0 of each table, and with all
 * modules as mappings. A failure is kept in TABLES. */
void otlp_tables_begin(struct otlp_tables *tables, struct profile *profile);

/* SIZE bytes of zeros that live as long as TABLES. On failure *FAILED is set
 * and a shared place of up to 256 bytes is returned, so that callers go on. */
void *otlp_tables_space(struct otlp_tables *tables, size_t size);

/* The index of TEXT, made clean. */
int32_t otlp_tables_text(struct otlp_tables *tables, const char *text);

/* TEXT made clean, as a string that lives as long as TABLES. */
char *otlp_tables_string(struct otlp_tables *tables, const char *text);

/* A value with TEXT, or with NUMBER if TEXT is NULL. */
Otlp__AnyValue *otlp_tables_value(struct otlp_tables *tables, const char *text,
                                  int64_t number);

/* The index of the attribute KEY with TEXT, or with NUMBER of UNIT if TEXT is
 * NULL. */
int32_t otlp_tables_attribute(struct otlp_tables *tables, const char *key,
                              const char *text, int64_t number,
                              const char *unit);

/* The index of the stack with the leaf NODE. */
int32_t otlp_tables_stack(struct otlp_tables *tables, uint32_t node);

/* The index of the link to a span. TRACE has 32 hexadecimal digits, SPAN has
 * 16. Returns 0 if it is not so. */
int32_t otlp_tables_link(struct otlp_tables *tables, const char *trace,
                         const char *span);

/* All are in: complete the table of strings. Returns 0, or -1 if memory was
 * short. */
int otlp_tables_end(struct otlp_tables *tables);

void otlp_tables_release(struct otlp_tables *tables);

#endif
