/* SPDX-License-Identifier: MIT */
/*
 * text_report.h -- a profile as text for people: a head, then its functions in
 * a table; and the other views, each in the file of its name.
 */
#ifndef SHOW_TEXT_REPORT_H
#define SHOW_TEXT_REPORT_H

#include <stdio.h>

#include "model/profile.h"
#include "view/diff.h"
#include "view/table.h"
#include "columns.h"
#include "paint.h"

struct branches;
struct tree;

/* The options of all text reports. */
struct text_report_options {
    enum value value;  /* VALUE_CPU or VALUE_WALL: what to sort by */
    uint32_t rows;     /* most rows to print; 0: all */
    unsigned columns;  /* width to which names are cut; 0: never */
    enum table_by by;  /* what a row is */
    const char *label; /* the key, if BY is TABLE_LABEL */
    double least;      /* percent below which a branch is folded; for trees */
    enum columns_format format; /* of reports that can be data, too */
    const struct paint *paint;  /* NULL: plain */
    bool *has_error; /* becomes true if a column ± is shown; NULL: not asked */
};

/* Print PROFILE to STREAM for a file: the head, then every function, by CPU
 * time, in lines of any length. Returns 0, or -1 with errno set. */
int text_report_write(FILE *stream, struct profile *profile);

/* The head: all facts about PROFILE as a whole, in COLUMNS (0: any number).
 * IS_SHORT: with only the first of many processes. */
void text_report_head(FILE *stream, const struct profile *profile,
                      bool is_short, unsigned columns);
int text_report_table(FILE *stream, struct profile *profile,
                      const struct text_report_options *options);

/* Print a line for each file with debug information that cannot be read, if its
 * symbols were asked for. */
void text_report_unread(FILE *stream, const struct profile *profile);

/* The same, and a line for each module with a problem in the symbols that were
 * asked for, and for each perf map that was not used. HAS_ERROR: ± is shown,
 * which a line explains for a pprof file. */
void text_report_notes(FILE *stream, const struct profile *profile,
                       bool has_error);

/* Print the subject and the quality of a report in four lines of at most
 * COLUMNS (0: any number), and the program's own Python lines. text_report_head
 * has all of the former. */
void text_report_brief(FILE *stream, struct profile *profile, unsigned columns,
                       const struct paint *paint);

/* Print one line of at most COLUMNS, as those of a head; WORD is its subject.
 */
__attribute__((format(printf, 4, 5))) void
text_report_line(FILE *stream, unsigned columns, const char *word,
                 const char *format, ...);

/* Print the rows of TABLE, which was built by OPTIONS->by, with a title.
 * Percentages are of PROFILE's totals. */
void table_text_write(FILE *stream, const struct profile *profile,
                      const struct table *table,
                      const struct text_report_options *options);

/* Print BRANCHES of TREE as a call tree, with percentages of PROFILE's totals.
 * CALLERS: it is a tree of callers (view/match.h). Returns 0, or -1 with
 * errno set if memory is short. */
int tree_text_write(FILE *stream, const struct profile *profile,
                    const struct tree *tree, const struct branches *branches,
                    bool callers, const struct text_report_options *options);

/* Columns of a flame graph without a terminal. */
enum { FLAME_TEXT_COLUMNS = 100 };

/* Print BRANCHES of TREE as a flame graph, the root at the top; OPTIONS give
 * columns, paint and value. Returns 0, or -1 with errno set if memory is short.
 */
int flame_text_write(FILE *stream, const struct profile *profile,
                     const struct tree *tree, const struct branches *branches,
                     const struct text_report_options *options);

/* Print the functions of LINES with the time of each of their lines, and their
 * source if the file can be read. */
void source_text_write(FILE *stream, const struct profile *profile,
                       const struct table *lines,
                       const struct text_report_options *options);

/* Print a comparison: what is compared. Then come at most OPTIONS->rows rows
 * (0: all) that became slower, the same for faster ones and, if ALL, for the
 * rest. */
void diff_text_write(FILE *stream, const struct diff *diff,
                     const struct profile *old, const struct profile *new,
                     const struct diff_options *test, bool all,
                     const struct text_report_options *options);

/* Print the name of ROW in at most COLUMNS (0: any number): "work (app)", or
 * for a stack, the leaf first, "work < run < main". */
void diff_text_name(FILE *stream, const struct diff *diff,
                    const struct diff_row *row, enum measure_by by,
                    unsigned columns);

/* Print the frames of PROFILE that have no names, and what would help. Look up
 * all symbols; print nothing if each frame has a name. Returns 0, or -1
 * with errno set. */
int nameless_report_write(FILE *stream, struct profile *profile);

/* Print PROFILE, which was written to PATH by a recording, to STREAM in a few
 * lines: its size, the functions with the most time, losses and cost. The time
 * is CPU time, or wall time without CPU time. HAS_JIT: `--jit` was given.
 * Returns 0, or -1 with errno set. */
int text_report_summary(FILE *stream, struct profile *profile, const char *path,
                        bool has_jit, const struct paint *paint);

/* Print a line "names ..." about the file without names that costs most, or
 * about generated code, and what helps; nothing if its share is small. `--jit`
 * is advised unless HAS_JIT. Returns 0, or -1 with errno set. */
int text_report_nameless(FILE *stream, struct profile *profile, bool has_jit);

#endif
