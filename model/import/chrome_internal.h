/* SPDX-License-Identifier: MIT */
/*
 * What the files of the reader for Chrome's trace format share.
 *
 * Idea: a row is a process and a thread, as the file has them, and its events need not be of one
 * kind. What an event is follows from its category (chrome_category.c): device work goes to a
 * stream, everything else to the thread. Only where no category says it, the names of the row and
 * of its process do, which may come later in the file (chrome_rows.c). Ends are joined to their
 * beginnings, and allocations to what was allocated before, once all have been read and sorted
 * (chrome_join.c).
 */
#ifndef MODEL_IMPORT_CHROME_INTERNAL_H
#define MODEL_IMPORT_CHROME_INTERNAL_H

#include "model/base/util.h"
#include "model/import/details.h"
#include "model/import/readers.h"

#define CHROME_COUNTERS 16u		/* maximum number in one event */
#define CHROME_PHASE "it draws nothing"
#define CHROME_NOT_SHOWN UINT8_MAX	/* kind of a beginning whose span is not shown */

/* The texts of an event that are understood; their keys are in chrome.c. */
enum chrome_text {
	CHROME_PH, CHROME_NAME, CHROME_CAT, CHROME_TS, CHROME_DUR, CHROME_PID, CHROME_TID,
	CHROME_ID, CHROME_SCOPE, CHROME_BP,
	/* members of "id2" */
	CHROME_ID_LOCAL, CHROME_ID_GLOBAL,
	/* members of "args" */
	CHROME_ARG_NAME, CHROME_ARG_LABELS, CHROME_CORRELATION, CHROME_CORRELATION_ID,
	CHROME_DEVICE, CHROME_STREAM, CHROME_BYTES, CHROME_STEP_NUM, CHROME_TF_OP,
	CHROME_KERNEL_DETAILS, CHROME_MEMCPY_DETAILS, CHROME_OP, CHROME_ADDRESS, CHROME_SIZE,
	CHROME_DEVICE_ID, CHROME_DEVICE_TYPE, CHROME_ALLOCATED, CHROME_TYPE, CHROME_FRAMEWORK,
	CHROME_NUMBER, CHROME_DOMAIN,
	CHROME_TEXTS
};

/* What an event is. */
enum chrome_role {
	ROLE_UNKNOWN,			/* no category says it */
	ROLE_KERNEL, ROLE_COPY, ROLE_FILL, ROLE_WORK,	/* on a device; WORK: its name says it */
	ROLE_OP, ROLE_RANGE, ROLE_CALL, ROLE_PYTHON, ROLE_STEP,	/* on a thread */
	ROLE_WAIT,			/* of a thread, for a device */
	ROLE_HIDDEN,			/* not shown */
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
	bool is_device, is_host;	/* host: a category says so */
};

struct chrome_row {
	uint32_t process;		/* index of chrome_process */
	uint32_t thread;	/* track of what did not run on a device; 0: nothing yet */
	char *tid, *name;		/* owned; name NULL: not given */
	bool stream, host;	/* by their categories, events of it ran on a device, on a thread */
	bool placed;			/* its name says that it is a stream */
	const char *aside;	/* what it is called if nothing else of a thread stands in it */
};

/* A stream of a row; named: the file names device and stream. */
struct chrome_stream { uint32_t row, track; bool named; };

/* Events that are not shown. row: those of a category that nobody knows, where device work is;
 * else NONE. */
struct chrome_hidden { char *category; const char *why; uint64_t count; uint32_t row; };

/* A beginning without its end. */
struct chrome_open { struct import_item item; uint32_t below; };

/* An allocator on a device, in a process. */
struct chrome_account {
	struct import_item first;	/* the first event, changed to an allocation */
	int64_t allocated;		/* before the first event; -1: the file does not tell */
	uint64_t before;		/* bytes of blocks that were freed only */
	uint64_t blocks;
	struct map live;		/* address -> 1 */
};

struct chrome_import {
	struct import_build *build;
	const char *file;
	struct chrome_event event;
	struct chrome_process *processes;	/* owned */
	size_t n_processes, cap_processes;
	struct chrome_row *rows;	/* owned */
	size_t n_rows, cap_rows;
	struct chrome_stream *streams;	/* owned */
	size_t n_streams, cap_streams;
	struct chrome_open *opens;	/* owned */
	size_t n_opens, cap_opens;
	uint32_t free_open;
	struct chrome_account *accounts;	/* owned */
	size_t n_accounts, cap_accounts;
	struct chrome_hidden *hidden;	/* owned */
	size_t n_hidden, cap_hidden;
	struct spool *later;		/* owned; items that are joined when all have been read */
	struct strbuf key;		/* for chrome_key() */
	/* number of a key -> index of a process, row, stream, account, … */
	struct map process_by_key, row_by_key, stream_by_key, open_by_key, account_by_key,
		   hidden_by_key;
	uint64_t line;			/* current line, for messages */
	uint64_t events;
	int64_t scale;			/* ns per unit of time */
	bool own;			/* tftop wrote the file */
	int64_t step;			/* number of the step that the event is; -1: none */
};

/* ---- chrome_event.c ---- */
void chrome_event_take(struct chrome_import *c);

/* ---- chrome_category.c ---- */
enum chrome_role chrome_role_of(const struct chrome_import *c, const char *category,
				const char **why);
/* Counts an event that is not shown. row: see struct chrome_hidden. why: NULL or a constant;
 * CHROME_PHASE: category is a phase. */
void chrome_hide(struct chrome_import *c, const char *category, const char *why, uint32_t row);
void chrome_tell_hidden(struct chrome_import *c);

/* ---- chrome_rows.c ---- */
/* Begins a key of a kind; then come its parts; then its number, 0: there is no room. */
void chrome_key_begin(struct chrome_import *c, char kind);
void chrome_key_text(struct chrome_import *c, enum chrome_text which);
void chrome_key_number(struct chrome_import *c, uint32_t number);
uint32_t chrome_key(struct chrome_import *c);
/* The index of what the event stands in. */
uint32_t chrome_process_of(struct chrome_import *c);
uint32_t chrome_row_of(struct chrome_import *c);
/* The track of a row's thread; 0: there is no room. */
uint32_t chrome_thread(struct chrome_import *c, uint32_t row);
/* The track of the stream of the event. */
uint32_t chrome_stream(struct chrome_import *c, uint32_t row);
void chrome_take_metadata(struct chrome_import *c);
/* At the end: what the names mean. */
void chrome_place_rows(struct chrome_import *c);
void chrome_release_rows(struct chrome_import *c);

/* ---- chrome_join.c ---- */
/* Keeps an item until all have been read: one end of a pair (place: the key of the pair; bytes of
 * what a thread did: 1 + the number of the step that it is, 0: none), or an allocation or a free
 * (place: the address, dur_ns: all bytes that are allocated then, -1: the file does not tell). */
void chrome_keep(struct chrome_import *c, const struct import_item *item);
void chrome_join(struct chrome_import *c);
/* Adds a span, and the step that it is; number -1: it is none. */
void chrome_add_span(struct chrome_import *c, const struct import_item *item, int64_t number);

static inline const char *chrome_text(const struct chrome_import *c, enum chrome_text which)
{
	return c->event.text[which].data;
}

#endif
