/* SPDX-License-Identifier: MIT */
/* system_call.h -- names of system calls, by number. Pure. */
#ifndef MODEL_SYSTEM_CALL_H
#define MODEL_SYSTEM_CALL_H

#include <stdint.h>

/* The name of system call NUMBER on MACHINE (e_machine of ELF), NULL if
 * unknown. */
const char *system_call_name(uint32_t machine, unsigned number);

/* The number of the system call that system_call_name calls NAME, UINT16_MAX if
 * there is none. */
uint16_t system_call_number(uint32_t machine, const char *name);

#endif
