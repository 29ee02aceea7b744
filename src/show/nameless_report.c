/* SPDX-License-Identifier: MIT */
/*
 * nameless_report.c -- prints, for code of a runtime and stripped libraries,
 *
 *   frames without names
 *    cpu %  wall %  places  in
 *     61.0    20.3     112  generated code [1]
 *      1.4     9.8       3  /usr/lib/libfast.so [2]
 *          libfast.so+0x1240 is 64 bytes after fast_begin
 *      0.3     0.1      31  14 files, each with less than 0.5 % [2, 3]
 *   what would help
 *     [1] its runtime writes names ...
 *     [2] the package with its debug information ...
 *     [3] no package has their debug information ...
 *
 * The percentages are of the stacks that have such a frame anywhere. So they
 * may add up to more than 100. Each hint is given once. Of a file, the
 * functions with the most time of their own follow, each with the nearest
 * symbol before it. It is no name of the function, but shows its place in the
 * file.
 */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "model/naming.h"
#include "symbol/elf_view.h"
#include "util/number.h"
#include "view/nameless.h"
#include "columns.h"
#include "text_report.h"

/* Limit of the functions of a file that are listed. */
enum { FUNCTIONS_MOST = 5 };

enum hint {
    GENERATED,
    GONE,
    ELSEWHERE,
    PACKAGED,
    FOREIGN,
    NO_BUILD_ID,
    HINT_COUNT
};

/* The numbers of hints, in the order in which rows first need them; 0: no row
 * needs the hint. */
struct hints {
    unsigned number[HINT_COUNT], count;
};

/* For generated code: why an existing map was refused, or how to get one. */
static void
print_generated_hint(FILE *stream, const struct profile *profile)
{
    for (uint32_t i = 0; i < NAMING_FILES * profile->process_count; i++) {
        const char *problem =
            naming_problem(profile, i / NAMING_FILES, i % NAMING_FILES);
        if (problem != NULL) {
            fprintf(stream, "%s\n", problem);
            return;
        }
    }
    fputs("its runtime writes names to /tmp/perf-PID.map when told to:\n"
          "      node --perf-basic-prof --interpreted-frames-native-stack\n"
          "      --no-short-builtin-calls, python3 -X perf,\n"
          "      java -XX:+PreserveFramePointer "
          "-XX:+UnlockDiagnosticVMOptions\n"
          "      -XX:+DumpPerfMapAtExit, DOTNET_PerfMapEnabled=1\n",
          stream);
}

static void
print_hint(FILE *stream, const struct profile *profile, enum hint hint)
{
    static const char *const texts[HINT_COUNT] = {
        [GONE] =
            "the file is not at its path, or not the one that was profiled. "
            "While the\n"
            "      process lives, its executable can still be read, and by "
            "root its\n"
            "      libraries, too\n",
        [ELSEWHERE] =
            "the profile is of another host: --sysroot DIR with a copy of its "
            "files, or\n"
            "      `sprofile convert` there, which writes a spool with names\n",
        [PACKAGED] =
            "the debug information of its package: -dbgsym, -dbg or -debuginfo "
            "of\n"
            "      what `dpkg -S` or `rpm -qf` names for the file; or "
            "DEBUGINFOD_URLS\n",
        [FOREIGN] =
            "no package of the system has the file's debug information: it "
            "was\n"
            "      stripped when it was built. A build that is not stripped "
            "would help\n"
            "      (of a Python wheel: pip install --no-binary NAME NAME, with "
            "CFLAGS=-g)\n",
        [NO_BUILD_ID] =
            "the file has no build-id, so nothing but a file with its symbols "
            "would\n"
            "      help\n",
    };
    if (hint == GENERATED)
        print_generated_hint(stream, profile);
    else
        fputs(texts[hint], stream);
}

static bool
begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Whether a package of the system may have installed the file at PATH. Files
 * that were installed by hand, by pip or into an environment of Python are not.
 */
static bool
may_be_packaged(const char *path)
{
    static const char *const places[] = {"/usr/", "/lib", "/bin/", "/sbin/"};
    bool is_system = false;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        is_system |= begins_with(path, places[i]);
    return is_system && !begins_with(path, "/usr/local/") &&
           strstr(path, "/site-packages/") == NULL &&
           strstr(path, "/node_modules/") == NULL;
}

/* Whether the file of module NUMBER could not be read. Where the profile brings
 * the names, this is so if the file had no symbol and is not there now. */
static bool
is_gone(const struct profile *profile, uint32_t number)
{
    const struct profile_module *module = &profile->modules[number];
    if (symbolizer_problem(profile->symbols, module->symbols) != NULL)
        return true;
    if ((profile_module_names(profile, number) & MODULE_HAS_FUNCTIONS) != 0)
        return false;
    char text[PATH_MAX];
    return (module->flags & MODULE_DELETED) != 0 ||
           (module->has_names &&
            access(elf_view_place(module->path, text), F_OK) != 0);
}

static enum hint
hint_for(const struct profile *profile, uint32_t number)
{
    const struct profile_module *module = &profile->modules[number];
    if (number == 0)
        return GENERATED;
    if (is_gone(profile, number))
        return profile->processes[module->process].is_foreign ? ELSEWHERE
                                                              : GONE;
    if (!may_be_packaged(module->path))
        return FOREIGN;
    return strlen(module->build_id) > 2 ? PACKAGED : NO_BUILD_ID;
}

/* Print the numbers of the hints for COUNT rows: " [1, 2]". */
static void
print_numbers(struct columns *columns, const struct profile *profile,
              struct hints *hints, const struct nameless_row *rows,
              uint32_t count)
{
    bool is_needed[HINT_COUNT] = {false};
    const char *before = " [";
    for (uint32_t i = 0; i < count; i++) {
        enum hint hint = hint_for(profile, rows[i].module);
        is_needed[hint] = true;
        if (hints->number[hint] == 0)
            hints->number[hint] = ++hints->count;
    }
    for (unsigned number = 1; number <= hints->count; number++)
        for (unsigned i = 0; i < HINT_COUNT; i++)
            if (is_needed[i] && hints->number[i] == number) {
                fprintf(columns->stream, "%s%u", before, number);
                before = ", ";
            }
    fputc(']', columns->stream);
    columns_end_row(columns);
}

static void
print_values(struct columns *columns, const struct profile *profile,
             const struct nameless_row *row)
{
    const uint64_t *totals = profile->totals;
    columns_percent(columns,
                    number_percent(row->values[VALUE_CPU], totals[VALUE_CPU]));
    columns_percent(columns, number_percent(row->values[VALUE_WALL],
                                            totals[VALUE_WALL]));
    columns_number(columns, row->places);
    columns_last(columns);
}

/* Print the symbols before the functions of ROW that have the most time. */
static void
print_functions(FILE *stream, const struct profile *profile,
                const struct nameless *nameless, const struct nameless_row *row)
{
    unsigned left = FUNCTIONS_MOST;
    for (uint32_t i = 0; i < nameless->function_count && left > 0; i++) {
        const struct nameless_function *function = &nameless->functions[i];
        if (function->row != row->number)
            continue;
        uint64_t distance;
        const char *before =
            symbolizer_before(profile->symbols,
                              profile->modules[row->module].symbols,
                              profile_offset(profile, function->node),
                              &distance);
        left--;
        if (before != NULL)
            fprintf(stream, "        %s is %llu bytes after %s\n",
                    function->name, (unsigned long long)distance, before);
    }
}

/* Print a file and, if its symbols were found but not used, the reason. */
static void
print_row(struct columns *columns, const struct profile *profile,
          struct hints *hints, const struct nameless *nameless,
          const struct nameless_row *row)
{
    const struct profile_module *module = &profile->modules[row->module];
    const char *problem =
        row->module != 0 ? symbolizer_problem(profile->symbols, module->symbols)
                         : NULL;
    print_values(columns, profile, row);
    fputs(row->module == 0 ? "generated code" : module->path, columns->stream);
    print_numbers(columns, profile, hints, row, 1);
    if (problem != NULL)
        fprintf(columns->stream, "        %s\n", problem);
    print_functions(columns->stream, profile, nameless, row);
}

static void
print_rest(struct columns *columns, const struct profile *profile,
           struct hints *hints, const struct nameless *nameless)
{
    if (nameless->small == 0)
        return;
    print_values(columns, profile, &nameless->rest);
    fprintf(columns->stream, "%u files, each with less than %.1f %%",
            nameless->small, 100.0 / NAMELESS_SMALL);
    print_numbers(columns, profile, hints, nameless->rows + nameless->count,
                  nameless->small);
}

static void
print_hints(FILE *stream, const struct profile *profile,
            const struct hints *hints)
{
    fputs("what would help\n", stream);
    for (unsigned number = 1; number <= hints->count; number++)
        for (unsigned i = 0; i < HINT_COUNT; i++)
            if (hints->number[i] == number) {
                fprintf(stream, "  [%u] ", number);
                print_hint(stream, profile, (enum hint)i);
            }
}

int
nameless_report_write(FILE *stream, struct profile *profile)
{
    static const struct column all[] = {
        {"cpu %", 7, 0}, {"wall %", 7, 1}, {"places", 7, 1},
        {"in", 0, 2},    {NULL, 0, 0},
    };
    struct columns columns = {.stream = stream, .all = all};
    struct hints hints = {.count = 0};
    struct nameless nameless;
    if (nameless_build(&nameless, profile) != 0)
        return -1;
    if (nameless.count + nameless.small > 0) {
        fputc('\n', stream);
        columns_titles(&columns, "frames without names");
        for (uint32_t i = 0; i < nameless.count; i++)
            print_row(&columns, profile, &hints, &nameless, &nameless.rows[i]);
        print_rest(&columns, profile, &hints, &nameless);
        print_hints(stream, profile, &hints);
    }
    text_report_unread(stream, profile);
    nameless_release(&nameless);
    return 0;
}
