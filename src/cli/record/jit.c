/* SPDX-License-Identifier: MIT */
/*
 * jit.c -- see jit.h. With each option the program does the same as without,
 * and no file is written to its own folders:
 *
 *   Node   --perf-prof has times, but writes jit-PID.dump to the working
 *          directory, and its place cannot be set here. --perf-basic-prof
 *          writes a log there. Only with this option all is in /tmp.
 *   Java   a version that does not know an option must still start.
 *   .NET   1 writes both a perf map and a jitdump, which has times, to /tmp.
 *   Python is not asked: its functions are read without that.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/profile.h"
#include "launch.h"
#include "jit.h"

const struct jit_variable jit_variables[] = {
    {"NODE_OPTIONS",
     "--perf-basic-prof-only-functions --interpreted-frames-native-stack",
     "Node"},
    {"JAVA_TOOL_OPTIONS",
     "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions "
     "-XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit",
     "Java"},
    {"DOTNET_PerfMapEnabled", "1", ".NET"},
};
const unsigned jit_variable_count =
    sizeof(jit_variables) / sizeof(jit_variables[0]);

/* Whether WORD (of LENGTH bytes) is one of the words of TEXT. */
static bool
has_word(const char *text, const char *word, size_t length)
{
    for (text += strspn(text, " \t"); *text != '\0';
         text += strspn(text, " \t")) {
        size_t size = strcspn(text, " \t");
        if (size == length && memcmp(text, word, length) == 0)
            return true;
        text += size;
    }
    return false;
}

/* A variable of one word is a value and no list of options: the user's stays.
 */
char *
jit_value(const struct jit_variable *variable, const char *old)
{
    const char *word = variable->words;
    bool is_list = strchr(word, ' ') != NULL;
    if (old == NULL)
        old = "";
    char *value = malloc(strlen(old) + strlen(word) + 2);
    if (value == NULL)
        return NULL;
    char *end = stpcpy(value, old);
    if (!is_list && *old != '\0')
        return value;
    for (; *word != '\0'; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        if (!has_word(old, word, length)) {
            if (end != value)
                *end++ = ' ';
            end = mempcpy(end, word, length);
            *end = '\0';
        }
        word += length;
    }
    return value;
}

int
jit_set(FILE *stream)
{
    for (unsigned i = 0; i < jit_variable_count; i++) {
        const struct jit_variable *variable = &jit_variables[i];
        const char *old = getenv(variable->name);
        char *value = jit_value(variable, old);
        bool is_new = value != NULL && (old == NULL || strcmp(old, value) != 0);
        if (is_new && stream != NULL)
            fprintf(stream, "jit   %s='%s' for %s\n", variable->name, value,
                    variable->runtime);
        if (value == NULL ||
            (is_new && launch_set(variable->name, value) != 0)) {
            free(value);
            return -1;
        }
        free(value);
    }
    return 0;
}

/* Files with names in /tmp. */
struct found {
    char first[64];
    unsigned count;
    uint64_t bytes;
};

/* Note the file that FORMAT names for PID, if this user or root owns it. A file
 * that is older than the process is of another one. */
static void
look_for(struct found *found, const char *format, uint32_t pid, uint64_t start)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof(path), format, pid);
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        (status.st_uid != geteuid() && status.st_uid != 0) ||
        (uint64_t)status.st_mtim.tv_sec < start / 1000000000u)
        return;
    if (found->count++ == 0)
        memcpy(found->first, path, sizeof(path));
    found->bytes += (uint64_t)status.st_size;
}

void
jit_say_files(FILE *stream, const struct profile *profile)
{
    struct found found = {.count = 0};
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        look_for(&found, "/tmp/perf-%u.map", process->pid, process->start);
        look_for(&found, "/tmp/perfinfo-%u.map", process->pid, process->start);
        look_for(&found, "/tmp/jit-%u.dump", process->pid, process->start);
    }
    if (found.count == 0)
        return;
    fprintf(stream, "jit   names of generated code are left in %s",
            found.first);
    if (found.count > 1)
        fprintf(stream, " and %u more files", found.count - 1);
    fprintf(stream, ", %.1f MB\n", (double)found.bytes / 1e6);
}
