/* SPDX-License-Identifier: MIT */
/*
 * Reads the frames of a thread and proves who called whom (frames.h), with few calls of the kernel.
 * These are most of what a look costs. Mostly it takes three: one for the thread's state and its
 * frames where they were at the last look (host_state_lives), one for the proof, and one at the end
 * (host_frame_is). Where a guess fails, it is read step by step.
 */
#ifndef PROBES_HOST_FRAMES_READ_H
#define PROBES_HOST_FRAMES_READ_H

#include "probes/host/frames.h"

/* Copies one word of Python; 0: it is not mapped. */
uintptr_t host_pointer(struct host_python *py, uintptr_t at);

/* Reads the frames of a thread into `before`. false: torn. */
bool host_frames_begin(struct host_python *py, uintptr_t state);
/*
 * Reads them again and takes what was read last for the innermost one. Returns the number of the
 * first frame from which on each one called the one before it, as far as it is known; n: of none it
 * is. Whether a caller's line is known: moved.
 */
uint32_t host_frames_again(struct host_python *py, uintptr_t state);
/* Whether what these two have read are frames of that thread. */
bool host_frames_are_its(const struct host_python *py);
/* A copy of the code object of a frame of `before`, made after the proof, until the next call.
 * NULL: it is not mapped. */
const char *host_frames_code(struct host_python *py, uint32_t i);

#endif
