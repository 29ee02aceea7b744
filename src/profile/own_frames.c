/* SPDX-License-Identifier: MIT */
/* own_frames.c -- see own_frames.h. */
#include <stdbool.h>
#include <string.h>

#include "own_frames.h"

#define LIBRARY "libsprof.so"

static bool
is_own(const struct profile *profile, const struct profile_node *node)
{
    const char *path, *slash;

    if (node->module == 0 || node->module >= profile->module_count)
        return false;
    path = profile->modules[node->module].path;
    slash = strrchr(path, '/');
    return strcmp(slash != NULL ? slash + 1 : path, LIBRARY) == 0;
}

/* Whether NODE is no frame, but what stands for those that are not known. */
static bool
is_end(const struct profile_node *node)
{
    return (node->flags & (NODE_ELIDED | NODE_TRUNCATED)) != 0;
}

/* A handler returns into a frame of libc's, which no function has called: what
 * lies behind it was interrupted, so its pc is no return address. */
uint32_t
own_frames_skip(const struct profile *profile, uint32_t node)
{
    const struct profile_node *nodes = profile->nodes;
    uint32_t at = node, behind;

    while (at != 0 && is_own(profile, &nodes[at]))
        at = nodes[at].parent;
    if (at == node || at == 0 || is_end(&nodes[at]))
        return at == 0 ? node : at;
    behind = nodes[at].parent;
    if (behind != 0 && !is_end(&nodes[behind]) &&
        (nodes[behind].flags & NODE_RETURN) == 0)
        at = behind;
    return at;
}
