/* SPDX-License-Identifier: MIT */
/*
 * `--export FORMAT:FILE` and `export FORMAT FILE`: what model/export/foreign.h writes,
 * into a file that appears as a whole (atomic_file.h), gzipped when its name ends
 * with ".gz". On a thread of its own while the screen goes on; the reader waits
 * meanwhile, as for `save`.
 *
 * Threads: the caller's, one; the model must outlive it. Errors: a sentence.
 */
#ifndef TUI_EXPORTS_H
#define TUI_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/base/options.h"

#define EXPORT_SENTENCE_MAX 1024

struct export_job;

/* "chrome:FILE", "csv:ops:FILE"; path points into text. */
bool export_parse(const char *text, struct export_target *target, char *error, size_t size);

/* NULL: error says why it cannot begin. */
struct export_job *export_start(struct model *model, const struct export_target *target,
				char *error, size_t size);
bool export_is_over(const struct export_job *job);
int export_percent(const struct export_job *job);
/* Waits for the end; frees. Whether it was written; the sentence says what or why
 * not. */
bool export_end(struct export_job *job, char sentence[EXPORT_SENTENCE_MAX]);

/* All that options name, one after the other; says on stderr what was written, on
 * a terminal also how far it is. stopped: asked now and then. false: one failed,
 * which was said. */
bool export_all(const struct options *options, struct model *model, bool (*stopped)(void));

/*
 * A file of StepStats needs no model for Chrome's format: it is written as
 * TensorFlow's own timeline.py does. false: that is not what is asked; else
 * *status is what to leave with.
 */
bool export_direct(const struct options *options, int *status);

#endif
