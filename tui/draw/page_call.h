/* SPDX-License-Identifier: MIT */
/*
 * The commands that make a page: what such a command may ask, and the function behind each.
 *
 * Always true: a page command takes the model's lock itself. It returns false with a sentence
 * in call->error when there is no such page.
 *
 * Threads: the loop's, or a stack of turns.h that takes its turns with it.
 */
#ifndef TUI_PAGE_CALL_H
#define TUI_PAGE_CALL_H

#include "tui/draw/page.h"

struct model;
struct live;
struct filter_names;	/* model/filter/filter.h */
struct reports;		/* tui/run/reports.h */
struct turns;
struct view;

/* A command as typed; what it may ask. */
struct page_call {
	struct model *model;		/* borrowed */
	const struct view *view;	/* borrowed; NULL: there is no screen */
	struct live *live;		/* borrowed; NULL: nothing runs */
	const struct filter_names *filters;	/* borrowed; NULL: none have names */
	const struct reports *reports;	/* borrowed; those of other recordings, NULL: none */
	/* borrowed, for pages about the configuration */
	const struct settings *settings;
	const struct keymap *keymap;
	const struct theme *theme;
	int argc;
	const char *const *argv;
	char *error;			/* a sentence, when false is returned */
	size_t error_size;
	struct turns *turns;		/* borrowed; NULL: it is made at once (tui/base/turns.h) */
};

/* Where making it takes long, each millisecond or so, without the lock: others may have
 * their turn, and what is not the page's own may change. permille: how much is done. false:
 * it is not wanted any more and thrown away, whatever it says. */
bool page_rest(const struct page_call *call, unsigned permille);

/* All take the model's lock themselves. */
bool page_node(const struct page_call *call, struct page *page);	/* ni */
bool page_inputs(const struct page_call *call, struct page *page);	/* li */
bool page_outputs(const struct page_call *call, struct page *page);	/* lo */
bool page_sources(const struct page_call *call, struct page *page);	/* ls */
bool page_source(const struct page_call *call, struct page *page);	/* ps */
bool page_stages(const struct page_call *call, struct page *page);	/* stages */
bool page_allocator(const struct page_call *call, struct page *page);	/* allocator */
bool page_counters(const struct page_call *call, struct page *page);	/* counters */
bool page_pools(const struct page_call *call, struct page *page);	/* pools */
bool page_kernel(const struct page_call *call, struct page *page);	/* pk */
bool page_queues(const struct page_call *call, struct page *page);	/* queues */
bool page_waits(const struct page_call *call, struct page *page);	/* waits */
bool page_replays(const struct page_call *call, struct page *page);	/* graphs */
bool page_flows(const struct page_call *call, struct page *page);	/* flows */
bool page_tasks(const struct page_call *call, struct page *page);	/* help tasks */
bool page_filters(const struct page_call *call, struct page *page);	/* filters */
bool page_columns(const struct page_call *call, struct page *page);	/* columns */
bool page_run(const struct page_call *call, struct page *page);	/* ri */
bool page_set(const struct page_call *call, struct page *page);		/* options */
bool page_bindings(const struct page_call *call, struct page *page);	/* bindings */
bool page_colors(const struct page_call *call, struct page *page);	/* colors */
bool page_probe(const struct page_call *call, struct page *page);	/* probe */
bool page_range(const struct page_call *call, struct page *page);	/* range */
bool page_diff(const struct page_call *call, struct page *page);	/* diff */
bool page_gaps(const struct page_call *call, struct page *page);	/* gaps */
bool page_marks(const struct page_call *call, struct page *page);	/* marks */
/* Lists: tui/lists/list.h. */
bool page_list_profile(const struct page_call *call, struct page *page);	/* lp */
bool page_list_kernels(const struct page_call *call, struct page *page);	/* lk */
bool page_list_executions(const struct page_call *call, struct page *page);	/* le */
bool page_list_copies(const struct page_call *call, struct page *page);	/* lc */
bool page_list_tensors(const struct page_call *call, struct page *page);	/* lt */
bool page_copies(const struct page_call *call, struct page *page);	/* pc */
bool page_tensor(const struct page_call *call, struct page *page);	/* pt */
bool page_event(const struct page_call *call, struct page *page);	/* event */
bool page_name(const struct page_call *call, struct page *page);	/* name */
bool page_queue(const struct page_call *call, struct page *page);	/* queue */
bool page_device(const struct page_call *call, struct page *page);	/* device */
bool page_thread(const struct page_call *call, struct page *page);	/* thread */
bool page_process(const struct page_call *call, struct page *page);	/* process */
bool page_step(const struct page_call *call, struct page *page);	/* step */
bool page_finding(const struct page_call *call, struct page *page);	/* finding */

/* "-x" or "-x VALUE" among the arguments, once each. Flags without a value in
 * `flags`, with one in `values`; what is left over goes to *rest, at most one.
 * false: a sentence in call->error. */
struct page_options {
	bool on[128];
	const char *value[128];
	const char *rest;
};
bool page_options(const struct page_call *call, const char *flags, const char *values,
		  struct page_options *out);

#endif
