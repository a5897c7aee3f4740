/* SPDX-License-Identifier: MIT */
/*
 * The folder that -o DIR writes: tftop.json has what is needed to open the recording again,
 * trace/ is LTTng's CTF, and output is what PROGRAM printed to its terminal.
 *
 * Always true: DIR was absent or empty before; what is in it belongs to the
 * user and is never removed. tftop.json is replaced as a whole.
 *
 * `output` is a sequence of pieces, each "TIME SIZE\n" and then SIZE bytes and
 * a newline; TIME is CLOCK_MONOTONIC nanoseconds.
 *
 * Errors: false with a sentence in error. Threads: the main thread.
 */
#ifndef TUI_RECORDING_H
#define TUI_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/report/report.h"

#define RECORDING_ERROR_MAX 512
#define RECORDING_WORDS_MAX 1024	/* of the command that are read back */

/* What tftop.json holds. After recording_read() strings are owned by it. */
struct recording {
	struct report_run run;
	int64_t mono_ns, real_ns, raw_ns;	/* the clocks, read back to back at the start */
	bool finished;			/* written at the end, too */
	bool partial;			/* ... which was not PROGRAM's */
};

/* Makes DIR; refuses one that has something in it. */
bool recording_create(const char *dir, char error[RECORDING_ERROR_MAX]);
/* Reads the clocks into it. */
void recording_clocks(struct recording *recording);
bool recording_write(const char *dir, const struct recording *recording,
		     char error[RECORDING_ERROR_MAX]);

/* An own recording has tftop.json; false and error "" when there is none. */
bool recording_read(const char *dir, struct recording *recording,
		    char error[RECORDING_ERROR_MAX]);
void recording_release(struct recording *recording);

/* PROGRAM's output; NULL when it cannot be kept (error says why). */
FILE *recording_output(const char *dir, char error[RECORDING_ERROR_MAX]);
void recording_output_add(FILE *output, int64_t time_ns, const void *data, size_t size);
/* Gives the last of it (at least what pane 7 can keep) to take; none is no
 * error. False: it cannot be read, or is cut off; what is there was given. */
bool recording_output_read(const char *dir, void (*take)(void *arg, const void *data, size_t size),
			   void *arg, char error[RECORDING_ERROR_MAX]);

#endif
