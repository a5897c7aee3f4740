/* SPDX-License-Identifier: MIT */
/*
 * Waits for the first event that matches a filter: `run -f EXPR` and --until EXPR.
 *
 * How it works: the model notes events that may match (model/query/watch.h) as they become known;
 * until_look(), which the loop calls often, looks only at these. Owns the filter. Takes the model's
 * lock itself. Thread: the loop's.
 */
#ifndef TUI_UNTIL_H
#define TUI_UNTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/filter/filter.h"
#include "model/query/query.h"

struct options;

#define UNTIL_NEVER 124			/* exit status if --until never matched */

struct until {
	struct model *model;		/* borrowed */
	struct filter *filter;		/* owned; NULL: not waiting */
	int64_t after_ns;		/* events that started before do not match */
	int64_t base_ns;		/* the time from which times are counted */
	struct span *found;		/* where the caller wants the event */
	uint64_t missed;		/* events that could not be examined */
};

/* Takes over the filter. Borrows `until`, which must not move before until_stop(). */
void until_start(struct until *until, struct model *model, struct filter *filter, int64_t after_ns);
void until_stop(struct until *until);
/* Whether the event has arrived; the caller then calls until_stop(). Looks at some thousand events
 * at most. */
bool until_look(struct until *until, struct span *found);
/* Writes "conv2d, 13.4 ms at 27.823 s". */
void until_sentence(const struct until *until, const struct span *span, char *text, size_t size);

/* The filter of --until; NULL: `error` is a sentence. The caller frees. */
struct filter *until_option(const struct options *options, char *error, size_t error_size);

#endif
