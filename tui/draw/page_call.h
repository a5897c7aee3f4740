/* SPDX-License-Identifier: MIT */
/*
 * The commands that make a page: what such a command can use, and the function behind each.
 *
 * Always true: a page command takes the model's lock itself. If there is no such page, it returns
 * false with a sentence in call->error.
 *
 * Threads: the loop's, or a stack of turns.h that takes turns with the loop.
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

/* A command as typed, and what it can use. */
struct page_call {
	struct model *model;		/* borrowed */
	const struct view *view;	/* borrowed; NULL: there is no screen */
	struct live *live;		/* borrowed; NULL: no run is live */
	const struct filter_names *filters;	/* borrowed; NULL: there are no named filters */
	const struct reports *reports;	/* borrowed; reports of other recordings, NULL: none */
	/* borrowed, for pages about the configuration */
	const struct settings *settings;
	const struct keymap *keymap;
	const struct theme *theme;
	int argc;
	const char *const *argv;
	char *error;			/* a sentence, if false is returned */
	size_t error_size;
	struct turns *turns;	/* borrowed; NULL: the page is made at once (tui/base/turns.h) */
};

/* To be called about every millisecond while making a page takes long, without the lock: others may
 * run meanwhile, and everything that does not belong to the page may change. permille: how much is
 * done. false: the page is not wanted any more, and will be discarded whatever it contains. */
bool page_rest(const struct page_call *call, unsigned permille);

/* A function that makes the page of a command; the rows of keymap/commands.def name these
 * functions. */
typedef bool page_maker(const struct page_call *call, struct page *page);
#define COMMAND(id, name, alias, group, needs, function, page, ...) page_maker page_##page;
#include "keymap/commands.def"
#undef COMMAND

/* Parses flags "-x" or "-x VALUE" among the arguments, each at most once. `flags` lists those
 * without a value, `values` those with one; at most one other argument is allowed, *rest. false: a
 * sentence in call->error. */
struct page_options {
	bool on[128];
	const char *value[128];
	const char *rest;
};
bool page_options(const struct page_call *call, const char *flags, const char *values,
		  struct page_options *out);

#endif
