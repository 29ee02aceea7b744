/* SPDX-License-Identifier: MIT */
/* agree.h -- compares the sums of CPU time that a spool has. For spool.c alone.
 */
#ifndef READ_AGREE_H
#define READ_AGREE_H

struct spool_load;

/* If the sums of the process that was just read do not agree, note that in the
 * costs of LOAD. Its samples were weighed. */
void agree_check(struct spool_load *load);

#endif
