/* SPDX-License-Identifier: MIT */
/*
 * One side of a comparison: what happened in a range of time, in a step or, for another run, in a
 * mean step, as named sums. page_range.c shows one side, page_diff.c compares two.
 *
 * Always true: items of a table have different names. Items of a report are means per step if it
 * has steps, as `per` says. Texts belong to the model or to the side's report.
 *
 * Ownership: the side owns its items, parts and report. Thread: the loop's; the model's lock is
 * taken for a millisecond at a time.
 */
#ifndef TUI_SIDE_H
#define TUI_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query/range.h"
#include "tui/base/turns.h"
#include "tui/timeline/when.h"

/* If there are more spans than this, they are not visited one by one, because that takes more than
 * a second. */
#define SIDE_SPANS_MAX 5000000u

enum side_table {
	SIDE_CLASS,	/* where the step's time went; these add up to its duration */
	SIDE_DEVICE,			/* time of a device: kernels, copies, idle by cause */
	/* of a report: what the host did while no device worked, by state and function; of a
	 * single step too few looks are known */
	SIDE_HOST,
	SIDE_OP_DEVICE,			/* device time of the work that an op launched */
	SIDE_OP_HOST,			/* an op's own time on its thread, by shape */
	SIDE_KERNEL,			/* by shape */
	SIDE_COPY,			/* by direction */
	SIDE_COMPILE,
	SIDE_TABLES
};

struct side_item {
	enum side_table table;
	const char *name;		/* as shown; "": none */
	const char *raw;		/* the name by which its page is found; NULL: none */
	const char *shape;		/* NULL: none */
	/* in thousandths, so that what is rare in a mean step is included */
	uint64_t count_milli;
	uint64_t bytes;
	int64_t ns;
};

struct json_node;

struct side {
	char title[WHEN_TITLE_MAX];
	struct when when;		/* unused for a report */
	bool is_report;
	int64_t length_ns;	/* duration of the range, or of a report's mean step; 0: unknown */
	uint64_t per;	/* for a report: the number of steps by which sums were divided; 0: none */
	struct side_item *items;	/* owned */
	size_t n, cap;
	char **kept;			/* owned; names that were composed here */
	size_t n_kept, cap_kept;
	struct range_state state;
	struct json_node *report;	/* owned; NULL: none */
};

/* turns NULL: at once; otherwise in turns, resting now and then. */
void side_of_range(struct side *side, struct model *model, const struct when *when,
		   struct turns *turns);
/* Reads a side from a report in JSON (docs/report.md); takes over the node. false: `error` is a
 * sentence. */
bool side_of_report(struct side *side, struct json_node *report, const char *title, char *error,
		    size_t size);
void side_release(struct side *side);

bool side_has(const struct side *side, enum side_table table);
int64_t side_sum(const struct side *side, enum side_table table);

#endif
