/* SPDX-License-Identifier: MIT */
/*
 * Opens files of other profilers: TensorFlow's RunMetadata and StepStats, its XSpace
 * (.xplane.pb), and Chrome's trace JSON (TensorFlow's timeline, TensorBoard, Kineto, Perfetto's
 * JSON), packed with gzip or not.
 *
 * Idea: the content of a file decides what it is. A reader for each format turns the file into
 * items (build.h), which are sorted by time and come out as events of the model, in order and
 * with EVENT_ALIVE in between, as those of a live program would.
 *
 * Always true: the sink is called on the thread of import_run() only; events and strings are
 * borrowed until it returns. A file is never unpacked as a whole: memory is bounded by
 * IMPORT_ITEMS items, beyond which they are sorted in an unnamed file in $TMPDIR (/var/tmp).
 * For a damaged, truncated or hostile file, reading ends with a sentence that names the place;
 * what was read before it is handed on.
 *
 * Times: as in the file; if the file counts from zero, moved so that all are positive. Threads:
 * import_run() on one, import_stop() and import_progress() on any.
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
	IMPORT_PART,	/* the end is missing or was not read, and a message has said so */
	IMPORT_NOTHING,			/* nothing could be read, and a message has said so */
	IMPORT_STOPPED,
};

struct import_options {
	const char *path;
	const void *data;		/* read instead of a file; borrowed until import_free() */
	size_t size;
	void (*sink)(void *arg, const struct event *events, size_t count);
	/* Receives a sentence for the user; level as in event_message. */
	void (*say)(void *arg, int level, const char *text);
	void *arg;			/* argument of both functions */
};

struct import;

/* Opens the file and looks at its first bytes. NULL: `error` says why it cannot be opened. */
struct import *import_new(const struct import_options *options, char error[IMPORT_ERROR_MAX]);

enum import_result import_run(struct import *import);
void import_stop(struct import *import);
/* How much has been read, in thousandths. */
int import_progress(const struct import *import);
void import_free(struct import *import);

#endif
