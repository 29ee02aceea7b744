/* SPDX-License-Identifier: MIT */
/*
 * recording.h -- what `sprofile record` and the library in its processes agree
 * upon.
 */
#ifndef BASE_RECORDING_H
#define BASE_RECORDING_H

/* The name of the directory in which the processes leave their spools begins
 * so. It goes away when the recording is over; processes that outlive that have
 * nowhere to write, and nothing is wrong. */
#define RECORDING_DIRECTORY "sprof.record."

#endif
