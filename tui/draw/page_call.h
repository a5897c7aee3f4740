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

/* A function that makes the page of a command; the rows of keymap/commands.def name them. */
typedef bool page_maker(const struct page_call *call, struct page *page);
#define COMMAND(id, name, alias, group, needs, function, page, ...) page_maker page_##page;
#include "keymap/commands.def"
#undef COMMAND

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
