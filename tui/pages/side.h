/* SPDX-License-Identifier: MIT */
/*
 * What happened in a range of time, in a step or, of another run, in a mean step: named sums,
 * to be shown (page_range.c) or held against another side (page_diff.c).
 *
 * Always true: items of a table differ in their names. Items of a report are means of a step
 * where it has steps, as `per` says. Texts are the model's or those of the side's report.
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

/* More spans than these are not looked at one by one: a second of work. */
#define SIDE_SPANS_MAX 5000000u

enum side_table {
	SIDE_CLASS,			/* what the step's time went to: add up to its length */
	SIDE_DEVICE,			/* a device's time: kernels, copies, idle by cause */
	SIDE_OP_DEVICE,			/* device time of what an op launched */
	SIDE_OP_HOST,			/* an op's own time on its thread, by shape */
	SIDE_KERNEL,			/* by shape */
	SIDE_COPY,			/* by direction */
	SIDE_COMPILE,
	SIDE_TABLES
};

struct side_item {
	enum side_table table;
	const char *name;		/* as shown; "" none */
	const char *raw;		/* what its page is asked by, NULL none */
	const char *shape;		/* NULL none */
	uint64_t count_milli;		/* thousandths: what is rare in a mean step is there too */
	uint64_t bytes;
	int64_t ns;
};

struct json_node;

struct side {
	char title[WHEN_TITLE_MAX];
	struct when when;		/* not of a report */
	bool is_report;
	int64_t length_ns;		/* of the range; of a report its mean step; 0 not known */
	uint64_t per;			/* of a report: steps that sums were divided by; 0: none */
	struct side_item *items;	/* owned */
	size_t n, cap;
	char **kept;			/* owned; names that were made here */
	size_t n_kept, cap_kept;
	struct range_state state;
	struct json_node *report;	/* owned; NULL none */
};

/* turns NULL: at once; else the work of them, which rests now and then. */
void side_of_range(struct side *side, struct model *model, const struct when *when,
		   struct turns *turns);
/* Of a report in JSON (docs/report.md); takes the node. false: a sentence in error. */
bool side_of_report(struct side *side, struct json_node *report, const char *title, char *error,
		    size_t size);
void side_release(struct side *side);

bool side_has(const struct side *side, enum side_table table);
int64_t side_sum(const struct side *side, enum side_table table);

#endif
