/* SPDX-License-Identifier: MIT */
/* system_call.h -- what a system call's number is called. Pure. */
#ifndef PROFILE_SYSTEM_CALL_H
#define PROFILE_SYSTEM_CALL_H

#include <stdint.h>

/* The name of call NUMBER on MACHINE (e_machine of ELF), NULL if unknown. */
const char *system_call_name(uint32_t machine, unsigned number);

/* The number of the call that system_call_name calls NAME, UINT16_MAX if there
 * is none. */
uint16_t system_call_number(uint32_t machine, const char *name);

#endif
