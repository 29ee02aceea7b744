/* SPDX-License-Identifier: MIT */
/* guessed.c -- see guessed.h. One pass is enough, as parents come before
 * children. */
#include <stdlib.h>

#include "guessed.h"

int
guessed_sum(const struct profile *profile, uint64_t values[VALUE_COUNT])
{
    bool *has = calloc(profile->node_count + 1ul, sizeof(*has));
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        values[i] = 0;
    if (has == NULL)
        return -1;
    for (uint32_t i = 1; i < profile->node_count; i++)
        has[i] = (profile->nodes[i].flags & NODE_GUESSED) != 0 ||
                 has[profile->nodes[i].parent];
    for (uint32_t i = 0; i < profile->sample_count; i++)
        for (unsigned j = 0; has[profile->samples[i].node] && j < VALUE_COUNT;
             j++)
            sum_add(&values[j], profile->samples[i].values[j]);
    free(has);
    return 0;
}
