/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the first event that a filter wants: `run -f EXPR` and --until EXPR.
 *
 * How it works: the model notes what may be it (model/query/watch.h) as it becomes known;
 * until_look(), which the loop calls often, looks at these only.
 * Owns the filter. Takes the model's lock itself. Thread: the loop's.
 */
#ifndef TUI_UNTIL_H
#define TUI_UNTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/filter/filter.h"
#include "model/query/query.h"

struct options;

#define UNTIL_NEVER 124			/* exit status when --until never matched */

struct until {
	struct model *model;		/* borrowed */
	struct filter *filter;		/* owned; NULL: nothing is waited for */
	int64_t after_ns;		/* what began before is not it */
	int64_t base_ns;		/* times are counted from then */
	struct span *found;		/* of who asks */
	uint64_t missed;		/* events that could not be looked at */
};

/* Takes the filter over. Borrows `until`, which must not move before until_stop(). */
void until_start(struct until *until, struct model *model, struct filter *filter, int64_t after_ns);
void until_stop(struct until *until);
/* The event that was waited for is there; until_stop() is the caller's. At most some
 * thousands are looked at. */
bool until_look(struct until *until, struct span *found);
/* "conv2d, 13.4 ms at 27.823 s". */
void until_sentence(const struct until *until, const struct span *span, char *text, size_t size);

/* The filter of --until; NULL: a sentence in error. The caller frees. */
struct filter *until_option(const struct options *options, char *error, size_t error_size);

#endif
