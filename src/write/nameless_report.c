/* SPDX-License-Identifier: MIT */
/*
 * nameless_report.c -- prints, for code of a runtime and a stripped library,
 *
 *   frames without names
 *    cpu %  wall %  places  in
 *     61.0    20.3     112  generated code
 *           its runtime writes them: run ...
 *      1.4     9.8       3  /opt/lib/libfast.so
 *           its debug information: /usr/lib/debug/.build-id/ab/cdef.debug ...
 *
 * The percentages are of the stacks that have such a frame anywhere, so they
 * may add up to more than 100.
 */
#include "nameless_report.h"

#include <string.h>

#include "profile/generated.h"
#include "profile/nameless.h"

#include "phrase.h"

/* Generated code: a map that is there but was refused, or how to have one. */
static void
print_generated_hint(FILE *stream, const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++)
        if (generated_problem(profile, i) != NULL) {
            fprintf(stream, "        %s\n", generated_problem(profile, i));
            return;
        }
    fputs(
        "        its runtime writes names to /tmp/perf-PID.map when told to:\n"
        "        node --perf-basic-prof --interpreted-frames-native-stack,\n"
        "        java -XX:+PreserveFramePointer "
        "-XX:+UnlockDiagnosticVMOptions\n"
        "        -XX:+DumpPerfMapAtExit, python3 -X perf, "
        "DOTNET_PerfMapEnabled=1\n",
        stream);
}

/* A file: why it was not used, or where more about it would be found. */
static void
print_file_hint(FILE *stream, const struct profile *profile, uint32_t number)
{
    const struct profile_module *module = &profile->modules[number];
    const char *problem = symbolizer_problem(profile->symbols, module->symbols);
    const char *id = module->build_id;

    if (problem != NULL)
        fprintf(stream, "        %s\n", problem);
    if (strlen(id) <= 2)
        fputs("        it has no build-id, so nothing but a file with its "
              "symbols would help\n",
              stream);
    else
        fprintf(stream,
                "        needs /usr/lib/debug/.build-id/%.2s/%s.debug: the "
                "-dbgsym, -dbg or\n"
                "        -debuginfo package of what `dpkg -S` or `rpm -qf` "
                "names for this file,\n"
                "        or DEBUGINFOD_URLS\n",
                id, id + 2);
}

static void
print_row(FILE *stream, const struct profile *profile,
          const struct nameless_row *row)
{
    fprintf(stream, "%7.1f %7.1f %7u  %s\n",
            phrase_percent(row->values[VALUE_CPU], profile->totals[VALUE_CPU]),
            phrase_percent(row->values[VALUE_WALL],
                           profile->totals[VALUE_WALL]),
            row->places,
            row->module == 0 ? "generated code"
                             : profile->modules[row->module].path);
    if (row->module == 0)
        print_generated_hint(stream, profile);
    else
        print_file_hint(stream, profile, row->module);
}

int
nameless_report_write(FILE *stream, struct profile *profile)
{
    struct nameless nameless;

    if (nameless_build(&nameless, profile) < 0)
        return -1;
    if (nameless.count > 0)
        fputs("\nframes without names\n  cpu %  wall %  places  in\n", stream);
    for (uint32_t i = 0; i < nameless.count; i++)
        print_row(stream, profile, &nameless.rows[i]);
    nameless_release(&nameless);
    return 0;
}
