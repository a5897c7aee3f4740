/* SPDX-License-Identifier: MIT */
/*
 * `save DIR`: writes a recording of what the model holds, on a thread of its own while the screen
 * continues. The reader waits meanwhile (model/recording/export.h); what it has not read stays with
 * LTTng.
 *
 * Always true: DIR is a complete recording or does not exist: a temporary folder is written and
 * then renamed. Both the sentence and the recording say which details the model had discarded.
 *
 * Threads: one caller; the model must outlive the saving. Errors: a sentence.
 */
#ifndef TUI_SAVE_H
#define TUI_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/run/recording.h"

#define SAVE_SENTENCE_MAX 1024

struct model;
struct save;

struct save_options {
	struct model *model;		/* borrowed until the end */
	const char *path;		/* DIR, absent or empty */
	const char *marks;		/* the contents of its file of marks */
	int64_t from_ns; /* only events that touch the time from here on; INT64_MIN: all */
	int64_t first_ns;		/* the time from which times in sentences are counted */
	struct recording recording;	/* for tftop.json; strings borrowed until the end */
	const char *output;		/* what PROGRAM printed; NULL: nothing */
	int64_t output_ns;
	const char *output_file;	/* or a file to copy it from; NULL: none */
};

/* NULL: `error` says why it cannot start. */
struct save *save_start(const struct save_options *options, char *error, size_t size);
const char *save_path(const struct save *save);
/* Whether save_end() will not have to wait. */
bool save_is_over(const struct save *save);
/* Waits for the end and frees. Returns whether the recording was saved; the sentence says what was
 * saved, or why not. */
bool save_end(struct save *save, char sentence[SAVE_SENTENCE_MAX]);

#endif
