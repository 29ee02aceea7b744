/* SPDX-License-Identifier: MIT */
/*
 * recording.h -- what `sprofile record` and the library in its processes agree
 * on.
 */
#ifndef BASE_RECORDING_H
#define BASE_RECORDING_H

/* How the name of the directory begins in which the processes leave their
 * spools. It is removed when the recording is over. A process that outlives the
 * recording has nowhere to write, which is no error. */
#define RECORDING_DIRECTORY "sprof.record."

#endif
