/* SPDX-License-Identifier: MIT */
/*
 * Opens what other profilers recorded: TensorFlow's RunMetadata and StepStats,
 * its XSpace (.xplane.pb), and Chrome's trace JSON (TensorFlow's timeline,
 * TensorBoard, Kineto, Perfetto's JSON), packed with gzip or not.
 *
 * Idea: what a file is, is told by its content. A reader for each format turns
 * it into items (import/build.h), which are sorted by time and come out as model
 * events, in order and with signs of life, as a live program's would.
 *
 * Always true: the sink is called on the thread of import_run() only, events
 * and strings are borrowed until it returns. A file is never unpacked whole:
 * memory is bounded by IMPORT_ITEMS items, beyond which they are sorted in an
 * unnamed file in $TMPDIR (/var/tmp). Damaged, cut off and hostile files end in
 * a sentence with the place; what was read before it is handed on.
 *
 * Times: as in the file; when that counts from zero, so that all are positive.
 * Threads: import_run() on one, import_stop(), import_progress() on any.
 */
#ifndef MODEL_IMPORT_H
#define MODEL_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

#define IMPORT_ERROR_MAX 512
#define IMPORT_ITEMS (1u << 20)

enum import_result {
	IMPORT_WHOLE,
	IMPORT_PART,			/* something could not be read: said */
	IMPORT_NOTHING,			/* said as well */
	IMPORT_STOPPED,
};

struct import_options {
	const char *path;
	const void *data;		/* instead of a file: borrowed until import_free() */
	size_t size;
	void (*sink)(void *arg, const struct event *events, size_t count);
	/* A sentence for the user; level as in event_message. */
	void (*say)(void *arg, int level, const char *text);
	void *arg;			/* of both */
};

struct import;

/* Looks at the first bytes. NULL: error says why it cannot be opened. */
struct import *import_new(const struct import_options *options, char error[IMPORT_ERROR_MAX]);

enum import_result import_run(struct import *import);
void import_stop(struct import *import);
/* In thousandths. */
int import_progress(const struct import *import);
void import_free(struct import *import);

#endif
