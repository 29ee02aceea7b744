/* SPDX-License-Identifier: MIT */
/*
 * formats.h -- the endings of output files that this version writes. One table
 * serves the writers and the library, which must refuse a wrong ending at the
 * start, without loading the report side. An ending that is the end of another
 * one comes behind it.
 */
#ifndef BASE_FORMATS_H
#define BASE_FORMATS_H

#define FORMAT_TABLE(FORMAT)                                                   \
    FORMAT(PPROF, ".pb.gz", "pprof")                                           \
    FORMAT(FOLDED_WALL, ".wall.folded", "folded stacks, with waits")           \
    FORMAT(FOLDED, ".folded", "folded stacks")                                 \
    FORMAT(FOLDED, ".collapsed", "folded stacks")                              \
    FORMAT(SPEEDSCOPE_WALL, ".wall.speedscope.json", "speedscope, with waits") \
    FORMAT(SPEEDSCOPE, ".speedscope.json", "speedscope")                       \
    FORMAT(FIREFOX, ".json", "Firefox Profiler")                               \
    FORMAT(TEXT, ".txt", "text report")                                        \
    FORMAT(SPOOL, ".sprof", "the spool with its symbols")

/* A format with _WALL has wall time where the other of that name has CPU time,
 * because it has one value for each stack. */
enum format {
    FORMAT_UNKNOWN,
    FORMAT_PPROF,
    FORMAT_FOLDED,
    FORMAT_FOLDED_WALL,
    FORMAT_SPEEDSCOPE,
    FORMAT_SPEEDSCOPE_WALL,
    FORMAT_FIREFOX,
    FORMAT_TEXT,
    FORMAT_SPOOL
};

/* The format that the ending of PATH names, FORMAT_UNKNOWN if none. */
enum format format_of(const char *path);

/* The format of the ending WORD, with or without its dot. */
enum format format_of_ending(const char *word);

/* FORMAT with wall time, or FORMAT itself if there is only one. */
enum format format_with_wall(enum format format);

/* ".pb.gz, .folded, ...", for error messages. */
const char *format_endings(void);

#endif
