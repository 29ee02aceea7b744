/* SPDX-License-Identifier: MIT */
/* groups.h -- the rows of a table that are threads, states or processes: what
 * samples have, whatever their stacks. Part of table.c. */
#ifndef PROFILE_GROUPS_H
#define PROFILE_GROUPS_H

#include "table.h"

/* Fill the empty TABLE, in any order. Returns 0, or -1 with errno set if memory
 * is short. */
int groups_build(struct table *table, struct profile *profile,
                 enum table_by by);

#endif
