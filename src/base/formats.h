/* SPDX-License-Identifier: MIT */
/*
 * formats.h -- the formats of output files that this version writes. One table
 * serves the writers and the library. The library must refuse a wrong ending at
 * the start, without the report side. An ending that is the end of another one
 * comes after it.
 */
#ifndef BASE_FORMATS_H
#define BASE_FORMATS_H

#include <stdbool.h>

/*
 * A row: the format's name, its ending, its text on the help page, and whether
 * it has the times of samples. Then the format with wall time instead of CPU
 * time (itself if there is none), and the function that writes it
 * (write/output_file.h).
 */
#define FORMAT_TABLE(FORMAT)                                                   \
    FORMAT(PPROF, ".pb.gz", "pprof", false, PPROF, pprof_write)                \
    FORMAT(FOLDED_WALL, ".wall.folded", "folded stacks, with waits", false,    \
           FOLDED_WALL, folded_write_wall)                                     \
    FORMAT(FOLDED, ".folded", "folded stacks", false, FOLDED_WALL,             \
           folded_write)                                                       \
    FORMAT(COLLAPSED, ".collapsed", "folded stacks", false, FOLDED_WALL,       \
           folded_write)                                                       \
    FORMAT(SPEEDSCOPE_WALL, ".wall.speedscope.json", "speedscope, with waits", \
           true, SPEEDSCOPE_WALL, speedscope_write_wall)                       \
    FORMAT(SPEEDSCOPE, ".speedscope.json", "speedscope", true,                 \
           SPEEDSCOPE_WALL, speedscope_write)                                  \
    FORMAT(OTLP_JSON, ".otlp.json", "OpenTelemetry profiles as JSON", false,   \
           OTLP_JSON, otlp_write_json)                                         \
    FORMAT(OTLP, ".otlp", "OpenTelemetry profiles", false, OTLP, otlp_write)   \
    FORMAT(FIREFOX, ".json", "Firefox Profiler", true, FIREFOX, firefox_write) \
    FORMAT(PAGE, ".html", "a page with pictures, for any browser", true, PAGE, \
           page_write)                                                         \
    FORMAT(TEXT, ".txt", "text report", false, TEXT, text_report_write)        \
    FORMAT(SPOOL, ".sprof", "the spool with its symbols", false, SPOOL,        \
           spool_copy_write)

enum format {
    FORMAT_UNKNOWN,
#define FORMAT(id, ...) FORMAT_##id,
    FORMAT_TABLE(FORMAT)
#undef FORMAT
};

/* The format that the ending of PATH names, FORMAT_UNKNOWN if none. */
enum format format_of(const char *path);

/* The format of the ending WORD, with or without its dot. */
enum format format_of_ending(const char *word);

/* Whether FORMAT has the times of samples. The profile must then keep its
 * events (model/events.h). */
bool format_needs_events(enum format format);

/* FORMAT with wall time, or FORMAT itself if there is only one. */
enum format format_with_wall(enum format format);

/* ".pb.gz, .folded, ...", for error messages. */
const char *format_endings(void);

#endif
