/* SPDX-License-Identifier: MIT */
/* room.h -- the program's limits on its memory. */
#ifndef AGENT_ROOM_H
#define AGENT_ROOM_H

#include <stdbool.h>

/* Whether the program's limit on its address space leaves room for our tables,
 * which it would miss. Says so if not. In the constructor. */
bool room_is_enough(void);

#endif
