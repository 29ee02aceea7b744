/* SPDX-License-Identifier: MIT */
/*
 * gpu_wait.c -- see gpu_wait.h. The names are exports of the CUDA runtime
 * (cuda...), of its driver (cu...), of HIP and of NCCL. A copy waits unless its
 * name has "Async" in it. The variants of a function have an ending that begins
 * with "_" (cuMemcpyDtoH_v2, cudaStreamSynchronize_ptsz). (CUDA Runtime API and
 * Driver API: "Stream synchronization behavior", "API synchronization
 * behavior"; NCCL: "Group Calls".)
 */
#include <ctype.h>
#include <string.h>

#include "naming.h"
#include "gpu_wait.h"

/* What a node knows. */
enum { NOT_KNOWN, WAITS, WAITS_NOT };

/* Whether the LENGTH characters at NAME end with END. */
static bool
ends_with(const char *name, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length >= size && memcmp(name + length - size, end, size) == 0;
}

bool
gpu_wait_is_name(const char *name)
{
    static const char *const libraries[] = {"cuda", "cu", "hip"};
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
        size_t prefix = strlen(libraries[i]), length = prefix;
        if (strncmp(name, libraries[i], prefix) != 0 ||
            !isupper((unsigned char)name[prefix]))
            continue;
        while (isalnum((unsigned char)name[length]))
            length++;
        if (name[length] != '\0' && name[length] != '_')
            return false;
        return ends_with(name, length, "Synchronize") ||
               (strncmp(name + prefix, "Memcpy", 6) == 0 &&
                strstr(name, "Async") == NULL);
    }
    return strcmp(name, "ncclGroupEnd") == 0;
}

/* Whether one of the functions at NODE waits for a GPU. */
static bool
has_name(struct profile *profile, uint32_t node)
{
    if ((profile->nodes[node].flags & NODE_SCRIPT) != 0 ||
        profile_is_marker(profile, node))
        return false;
    const struct symbol *symbol = naming_own_symbol(profile, node);
    for (unsigned i = 0; i < symbol->count; i++)
        if (gpu_wait_is_name(symbol->frames[i].function))
            return true;
    return false;
}

/* The first node upwards that is known, or has such a name, decides. Those
 * below it get the same result. */
bool
gpu_wait_is_at(struct profile *profile, uint32_t node)
{
    struct profile_node *nodes = profile->nodes;
    uint32_t decides = node;
    while (decides != 0 && nodes[decides].gpu_wait == NOT_KNOWN &&
           !has_name(profile, decides))
        decides = nodes[decides].parent;
    bool waits = decides != 0 && nodes[decides].gpu_wait != WAITS_NOT;
    for (uint32_t at = node; at != decides; at = nodes[at].parent)
        nodes[at].gpu_wait = waits ? WAITS : WAITS_NOT;
    if (decides != 0)
        nodes[decides].gpu_wait = waits ? WAITS : WAITS_NOT;
    return waits;
}
