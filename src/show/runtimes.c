/* SPDX-License-Identifier: MIT */
/* runtimes.c -- see runtimes.h. docs/names.md describes all runtimes. */
#include <stdbool.h>
#include <string.h>

#include "base/path.h"
#include "runtimes.h"

struct runtime {
    const char *name;    /* of its executable, without a version */
    const char *command; /* what to run */
    const char *option;  /* of COMMAND; tells that it was run so */
};

static const struct runtime runtimes[] = {
    {"node",
     "node --perf-basic-prof --interpreted-frames-native-stack "
     "--no-short-builtin-calls",
     "--no-short-builtin-calls"},
    {"java",
     "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
     "-XX:+DumpPerfMapAtExit",
     "-XX:+DumpPerfMapAtExit"},
    {"dotnet", "DOTNET_PerfMapEnabled=1 dotnet", NULL},
};

static bool
is_run_by(const struct profile_process *process, const struct runtime *runtime)
{
    const char *name = path_name(process->exe);
    size_t length = strlen(runtime->name);
    return strncmp(name, runtime->name, length) == 0 &&
           strspn(name + length, ".-0123456789js") == strlen(name + length);
}

const char *
runtimes_command(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++)
        for (size_t k = 0; k < sizeof(runtimes) / sizeof(runtimes[0]); k++) {
            const struct profile_process *process = &profile->processes[i];
            const char *option = runtimes[k].option;
            if (is_run_by(process, &runtimes[k]))
                return option != NULL &&
                               strstr(process->command, option) != NULL
                           ? NULL
                           : runtimes[k].command;
        }
    return NULL;
}
