/* SPDX-License-Identifier: MIT */
/*
 * `--export FORMAT:FILE` and `export FORMAT FILE` (each takes the other's form, too): writes what
 * model/export/foreign.h makes to a file that appears as a whole (atomic_file.h), gzipped if its
 * name ends with ".gz". This happens on a thread of its own while the screen continues; the reader
 * waits meanwhile, as for `save`.
 *
 * Threads: one caller; the model must outlive the export. Errors: a sentence.
 */
#ifndef TUI_EXPORTS_H
#define TUI_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/base/options.h"

#define EXPORT_SENTENCE_MAX 1024

struct export_job;

/* Parses "chrome:FILE" or "csv:ops:FILE"; path points into text. */
bool export_parse(const char *text, struct export_target *target, char *error, size_t size);

/* NULL: `error` says why it cannot start. */
struct export_job *export_start(struct model *model, const struct export_target *target,
				char *error, size_t size);
bool export_is_over(const struct export_job *job);
int export_percent(const struct export_job *job);
/* Waits for the end and frees. Returns whether the file was written; the sentence says what was
 * written, or why not. */
bool export_end(struct export_job *job, char sentence[EXPORT_SENTENCE_MAX]);

/* Makes all exports that options name, one after the other; reports on stderr what was written
 * and, on a terminal, the progress. stopped: called now and then. false: one failed, which was
 * reported. */
bool export_all(const struct options *options, struct model *model, bool (*stopped)(void));

/*
 * A file of StepStats can be exported to Chrome's format without a model: it is written as
 * TensorFlow's own timeline.py does. false: that is not what was asked for; otherwise *status is
 * the exit status.
 */
bool export_direct(const struct options *options, int *status);

#endif
