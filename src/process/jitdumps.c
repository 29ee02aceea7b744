/* SPDX-License-Identifier: MIT */
/* jitdumps.c -- see jitdumps.h. */
#include <string.h>

#include "base/digits.h"
#include "base/path.h"
#include "base/sys.h"
#include "jitdumps.h"
#include "base/poison.h"

/* Limits of the files that are noted, and of the bytes of a path with its NUL.
 * A process has one, and those of the parents that forked it without exec. */
#define JITDUMPS_MOST 8u
#define PATH_SIZE 1024u

static char (*paths)[PATH_SIZE]; /* reserved for the first one */
static uint32_t count;

void
jitdumps_begin(void)
{
    count = 0;
}

/* Whether NAME is jit-PID.dump. */
static int
is_name(const char *name)
{
    static const char prefix[] = "jit-";
    const char *at = name + sizeof(prefix) - 1;
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 || *at < '0' ||
        *at > '9')
        return 0;
    (void)digits_take(&at);
    return strcmp(at, ".dump") == 0;
}

void
jitdumps_see(const char *path)
{
    size_t length = strlen(path);
    if (!is_name(path_name(path)) || length >= PATH_SIZE ||
        count == JITDUMPS_MOST)
        return;
    if (paths == NULL)
        paths = sys_reserve(JITDUMPS_MOST * PATH_SIZE);
    if (paths == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(paths[i], path) == 0)
            return;
    memcpy(paths[count++], path, length + 1);
}

uint32_t
jitdumps_count(void)
{
    return count;
}

const char *
jitdumps_path(uint32_t i)
{
    return paths[i];
}
