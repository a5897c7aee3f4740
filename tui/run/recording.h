/* SPDX-License-Identifier: MIT */
/*
 * The folder that -o DIR writes: tftop.json contains what is needed to open the recording again,
 * trace/ is LTTng's CTF, and output is what PROGRAM printed to its terminal.
 *
 * Always true: DIR was absent or empty before; its contents belong to the user and are never
 * removed. tftop.json is replaced as a whole.
 *
 * `output` is a sequence of pieces, each "TIME SIZE\n", then SIZE bytes and a newline; TIME is
 * CLOCK_MONOTONIC nanoseconds.
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
#define RECORDING_WORDS_MAX 1024	/* how many words of the command are read back */
#define RECORDING_LEFT_MAX 64		/* how many processes that were left running */

/* The contents of tftop.json. After recording_read() it owns its strings. */
struct recording {
	struct report_run run;
	int64_t mono_ns, real_ns, raw_ns;	/* the clocks, read back to back at the start */
	bool finished;			/* it was also written at the end */
	bool partial;			/* ... of recording, which was not PROGRAM's end */
};

/* Makes DIR; refuses a folder that is not empty. */
bool recording_create(const char *dir, char error[RECORDING_ERROR_MAX]);
/* Reads the clocks into the recording. */
void recording_clocks(struct recording *recording);
bool recording_write(const char *dir, const struct recording *recording,
		     char error[RECORDING_ERROR_MAX]);

/* tftop's own recordings have a tftop.json; false and error "": there is none. */
bool recording_read(const char *dir, struct recording *recording,
		    char error[RECORDING_ERROR_MAX]);
void recording_release(struct recording *recording);

/* Opens the file for PROGRAM's output; NULL: that is impossible, and `error` says why. */
FILE *recording_output(const char *dir, char error[RECORDING_ERROR_MAX]);
void recording_output_add(FILE *output, int64_t time_ns, const void *data, size_t size);
/* Passes the last part of the output (at least what pane 7 can keep) to take; it is not an error if
 * there is none. false: it cannot be read, or is cut off; what could be read was passed on. */
bool recording_output_read(const char *dir, void (*take)(void *arg, const void *data, size_t size),
			   void *arg, char error[RECORDING_ERROR_MAX]);

#endif
