/* SPDX-License-Identifier: MIT */
/* What the files of the reader for Chrome's trace format share. */
#ifndef MODEL_IMPORT_CHROME_INTERNAL_H
#define MODEL_IMPORT_CHROME_INTERNAL_H

#include "model/base/util.h"
#include "model/import/details.h"
#include "model/import/readers.h"

#define CHROME_COUNTERS 16u		/* maximum number in one event */

/* The texts of an event that are understood; their keys are in chrome.c. */
enum chrome_text {
	CHROME_PH, CHROME_NAME, CHROME_CAT, CHROME_TS, CHROME_DUR, CHROME_PID, CHROME_TID,
	CHROME_ID, CHROME_BP,
	/* members of "args" */
	CHROME_ARG_NAME, CHROME_ARG_LABELS, CHROME_CORRELATION, CHROME_CORRELATION_ID,
	CHROME_DEVICE, CHROME_STREAM, CHROME_BYTES, CHROME_STEP_NUM, CHROME_TF_OP,
	CHROME_KERNEL_DETAILS, CHROME_MEMCPY_DETAILS, CHROME_OP, CHROME_ADDRESS, CHROME_SIZE,
	CHROME_DEVICE_ID, CHROME_DEVICE_TYPE,
	CHROME_TEXTS
};

struct chrome_event {
	struct strbuf text[CHROME_TEXTS];
	bool there[CHROME_TEXTS];
	uint64_t grid[3], block[3];
	unsigned int n_grid, n_block;
	/* of an event with phase "C" */
	struct { char *name; int64_t value; } counters[CHROME_COUNTERS];
	unsigned int n_counters;
};

struct chrome_process {
	char *key;			/* owned; the pid as the file has it */
	char *name;			/* owned; NULL: not given */
	uint32_t process;		/* its number in build.h */
	bool is_device;
};

/* An event of phase B or b that waits for its end. */
struct chrome_open { int64_t start_ns; uint32_t name, below; };

struct chrome_track {
	/* track: number in build.h; process: index of chrome_process */
	uint32_t track, process;
	uint32_t open;	/* innermost open event of phase B, an index of opens; NONE */
	bool stream;
};

struct chrome_import {
	struct import_build *build;
	const char *file;
	struct chrome_event event;
	struct chrome_process *processes;	/* owned */
	size_t n_processes, cap_processes;
	struct chrome_track *tracks;	/* owned */
	size_t n_tracks, cap_tracks;
	struct chrome_open *opens;	/* owned */
	size_t n_opens, cap_opens;
	uint32_t free_open;
	struct map process_by_key, track_by_key, async_by_key;
	uint64_t line;			/* current line, for messages */
	uint64_t events;
	int64_t scale;			/* ns per unit of time */
};

/* ---- chrome_event.c ---- */
void chrome_event_take(struct chrome_import *c);
void chrome_finish(struct chrome_import *c);
void chrome_release(struct chrome_import *c);

static inline const char *chrome_text(const struct chrome_import *c, enum chrome_text which)
{
	return c->event.text[which].data;
}

#endif
