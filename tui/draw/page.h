/* SPDX-License-Identifier: MIT */
/*
 * A page: text with roles and links, as a command makes it. Who makes one knows
 * neither curses nor cells; the page pane draws it, `COMMAND > FILE` writes it,
 * tests read it.
 *
 * Always true: a line is parts one after the other, with no line break inside; a
 * link is a part with the command that it stands for. At most PAGE_LINES_MAX
 * lines; the last says so.
 *
 * Ownership: all text is the page's own. Thread: the loop's.
 */
#ifndef TUI_PAGE_H
#define TUI_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/draw/grid.h"

#define PAGE_LINES_MAX 100000u

struct page_part {
	size_t text;			/* place in page.texts, NUL-terminated */
	size_t command;			/* likewise, 0: no link */
	unsigned char role, attr;
	bool main;			/* of a line's links the one that Enter opens */
};

struct page_line {
	size_t first;			/* part; up to the next line's */
};

struct page {
	char *texts;			/* owned; [0] is "" */
	size_t n_texts, cap_texts;
	struct page_part *parts;	/* owned */
	size_t n_parts, cap_parts;
	struct page_line *lines;	/* owned; ended ones */
	size_t n_lines, cap_lines;
	size_t begin;			/* first part of the line that is being made */
	size_t show, above;		/* line the cursor is on at first, so many lines above it */
	size_t title;			/* place in texts: what the heading calls it; 0: its command */
	size_t again;			/* place in texts: the command that makes it again, where
					 * what was typed may come to mean another; 0: that */
};

void page_init(struct page *page);
void page_release(struct page *page);

/* What the page is about, for the way one came: "kernel conv2d_fprop". */
void page_title(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A part of the line that is being made. A width in the format counts bytes: for what
 * fmt_time() and the like make, page_cell(). */
void page_add(struct page *page, enum role role, unsigned attr, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* A text to the right of so many columns of the screen, or, of -columns, to the left. */
void page_cell(struct page *page, enum role role, int columns, const char *text);
/* A link; the command's words are quoted as needed. */
void page_link(struct page *page, const char *text, int argc, const char *const *argv);
/* The link that was added last is what its line is about. */
void page_main(struct page *page);
void page_end(struct page *page);
/* What makes the same page again, whatever the screen shows by then. */
void page_remade_by(struct page *page, int argc, const char *const *argv);
/* A whole line of one part. */
void page_say(struct page *page, enum role role, unsigned attr, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

struct sheet;
/* A table's lines; the first is its heading. Empties the sheet. */
void page_sheet(struct page *page, struct sheet *sheet, int width);

static inline size_t page_line_end(const struct page *page, size_t line)
{
	return line + 1 < page->n_lines ? page->lines[line + 1].first : page->begin;
}

static inline const char *page_text(const struct page *page, size_t at)
{
	return page->texts + at;
}

/* How many links a line has, the command of one of them; NULL: no such. */
size_t page_links(const struct page *page, size_t line);
/* Which of them its line is about, else the first. */
size_t page_main_link(const struct page *page, size_t line);
const char *page_command(const struct page *page, size_t line, size_t link);
/* Columns of a line. */
int page_width(const struct page *page, size_t line);

void page_write(const struct page *page, FILE *out);


/* ---- who makes them ---- */

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

/* Of ni: an op that is no node of a graph, by its name, by a part of it. false: none.
 * What is known of a node's op besides. The caller has the model's lock. */
bool page_op(struct page *page, struct model *model, const char *text);
void page_op_details(struct page *page, struct model *model, const char *name, const char *type);

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
