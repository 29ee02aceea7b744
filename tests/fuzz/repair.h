/* SPDX-License-Identifier: MIT */
/*
 * repair.h -- puts a spool's header and the checks of its heads right: without
 * that, hardly any change would get past the reader's first rules.
 */
#ifndef TESTS_FUZZ_REPAIR_H
#define TESTS_FUZZ_REPAIR_H

#include <stddef.h>
#include <stdint.h>

/* Make DATA a spool in which every head has the right check, as far as the
 * sizes lead. */
void repair(uint8_t *data, size_t size);

#endif
