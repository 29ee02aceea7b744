/* SPDX-License-Identifier: MIT */
/* groups.h -- the rows of a table that are threads, states, processes or values
 * of a label: what samples have, whatever their stacks. Part of table.c. */
#ifndef PROFILE_GROUPS_H
#define PROFILE_GROUPS_H

#include "table.h"

/* Fill the empty TABLE, in any order. KEY is that of TABLE_LABEL. Returns 0, or
 * -1 with errno set if memory is short. */
int groups_build(struct table *table, struct profile *profile, enum table_by by,
                 const char *key);

#endif
