/* SPDX-License-Identifier: MIT */
/*
 * loaded.h -- the loader's list of modules before and after each unload. A
 * module that only the first list has was unloaded. The module map is read from
 * outside the loader, and does not see what comes and goes between two
 * readings.
 */
#ifndef AGENT_LOADED_H
#define AGENT_LOADED_H

/* Note the modules that the program has begun with. Context: start. */
void loaded_begin(void);

/* In the child of a fork another thread may have had the loader's lock, which
 * this one would wait for. From now on each unload puts all modules in doubt.
 */
void loaded_in_child(void);

/* The calling thread is about to close a module by dlclose(3), and has closed
 * it. Both take the loader's lock, as that call does. Context: hook. */
void loaded_before_close(void);
void loaded_after_close(void);

#endif
