/* SPDX-License-Identifier: MIT */
/*
 * `save DIR`: a recording of what the model holds, written on a thread of its
 * own while the screen goes on. The reader waits meanwhile (model/recording/export.h):
 * what it has not read stays with LTTng.
 *
 * Always true: DIR is a whole recording or does not exist: a temporary folder is
 * written and then renamed. Both the sentence and the recording say which details the
 * model had discarded.
 *
 * Threads: the caller's, one; the model must outlive it. Errors: a sentence.
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
	const char *marks;		/* what its file of marks holds */
	int64_t from_ns; /* only what touches the time from here on; INT64_MIN: all */
	int64_t first_ns;		/* what times in sentences count from */
	struct recording recording;	/* for tftop.json; strings borrowed until the end */
	const char *output;		/* what PROGRAM printed, NULL: nothing */
	int64_t output_ns;
	const char *output_file;	/* or a file to copy it from, NULL: none */
};

/* NULL: error says why it cannot begin. */
struct save *save_start(const struct save_options *options, char *error, size_t size);
const char *save_path(const struct save *save);
/* save_end() will not wait. */
bool save_is_over(const struct save *save);
/* Waits for the end; frees. Whether it was saved; the sentence says what or why
 * not. */
bool save_end(struct save *save, char sentence[SAVE_SENTENCE_MAX]);

#endif
