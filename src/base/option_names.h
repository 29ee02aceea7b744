/* SPDX-License-Identifier: MIT */
/*
 * option_names.h -- finds variables of the environment that look like settings
 * and are none. Pure, any context.
 */
#ifndef BASE_OPTION_NAMES_H
#define BASE_OPTION_NAMES_H

/* The next "SPROF_NAME=value" of **AT that is no setting. *AT is moved behind
 * it. NULL if there is none before the NULL that ends the list. */
const char *option_names_unknown(char *const **at);

/* The setting that is meant by VARIABLE ("SPROF_NAME=value"), as far as its
 * spelling tells. Static. */
const char *option_names_nearest(const char *variable);

#endif
