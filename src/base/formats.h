/* SPDX-License-Identifier: MIT */
/*
 * formats.h -- the endings of output files that this version writes: one table
 * for the library (which must refuse a wrong ending at the start, without
 * loading the report side) and for the writers. An ending that is the end of
 * another one comes behind it.
 */
#ifndef BASE_FORMATS_H
#define BASE_FORMATS_H

#define FORMAT_TABLE(FORMAT)                             \
    FORMAT(PPROF, ".pb.gz", "pprof")                     \
    FORMAT(FOLDED, ".folded", "folded stacks")           \
    FORMAT(FOLDED, ".collapsed", "folded stacks")        \
    FORMAT(SPEEDSCOPE, ".speedscope.json", "speedscope") \
    FORMAT(FIREFOX, ".json", "Firefox Profiler")         \
    FORMAT(TEXT, ".txt", "text report")                  \
    FORMAT(SPOOL, ".sprof", "the spool with its symbols")

enum format {
    FORMAT_UNKNOWN,
    FORMAT_PPROF,
    FORMAT_FOLDED,
    FORMAT_SPEEDSCOPE,
    FORMAT_FIREFOX,
    FORMAT_TEXT,
    FORMAT_SPOOL
};

/* The format that the ending of PATH names, FORMAT_UNKNOWN if none. */
enum format format_of(const char *path);

/* The format that the ending WORD names alone, its dot left out or not. */
enum format format_of_ending(const char *word);

/* ".pb.gz, .folded, ...", for error messages. */
const char *format_endings(void);

#endif
