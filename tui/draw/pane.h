/* SPDX-License-Identifier: MIT */
/*
 * A pane: a part of the screen with its own state, drawing and commands. The
 * timeline is one, each lower pane (ops, kernels, ...) another.
 *
 * Always true: a pane draws only inside the area it is given, asks the model
 * only with its lock held (which it yields where it asks much) and copies what it
 * keeps, never waits, and never touches curses. Handlers return what must happen; the loop does it once.
 */
#ifndef TUI_PANE_H
#define TUI_PANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query/findings.h"
#include "model/query/query.h"
#include "tui/draw/grid.h"
#include "tui/draw/mouse.h"

struct filter_names;	/* model/filter/filter.h */
struct live;
struct marks;		/* tui/timeline/marks.h */
struct output;		/* tui/terminal/output.h */
struct strbuf;		/* model/base/util.h */
struct table;		/* tui/table/table.h */
struct settings;	/* keymap/setting.h */
struct keymap;		/* keymap/table.h */
struct turns;		/* tui/base/turns.h */

/* What a handler asks of the loop; or-ed. */
enum outcome {
	OUT_NONE = 0,
	OUT_UNKNOWN = 1,	/* not a command of this pane: try the next table */
	OUT_REDRAW = 2,
	OUT_LAYOUT = 4,
	OUT_FREEZE = 8,		/* stop following */
	OUT_FOLLOW = 16,
	OUT_QUIT = 32,
	/* The pane set cursor_ns or selected: the loop moves the window so that
	 * cursor_ns is inside it. */
	OUT_SHOW_CURSOR = 64,
	OUT_FOCUS_TIMELINE = 128,	/* e.g. `open` in a table went to the timeline */
	/* The pane set range_t0_ns, range_t1_ns and cursor_row: the loop moves the
	 * window to it, the timeline unfolds the row. */
	OUT_SHOW_RANGE = 256,
	OUT_SHOW_PANE = 512,		/* show_pane comes up and reveals show_key */
	OUT_RUN_COMMAND = 1024,		/* run_command is run */
	OUT_WORK = 2048,		/* view->work is done, in turns when it takes long */
};

/* What the panes share. Owned by the loop. */
struct view {
	struct model *model;	/* borrowed */
	struct live *live;	/* borrowed; NULL: nothing runs (a recording, a test) */
	/* The time window of the timeline, moved by the loop alone (tui/draw/window.h).
	 * t1 - t0 is a multiple of columns: column i begins at t0 + i * w. The
	 * timeline has `gutter` columns for labels and `columns` for time. */
	int64_t t0_ns, t1_ns;
	int columns, gutter;
	bool following;
	bool minimap;		/* the timeline pane's first line is the minimap */
	bool keys_to_program;	/* pane 7 has the focus and PROGRAM gets the keys */
	int screen_rows;	/* of the whole screen; PROGRAM's terminal has as many */
	struct output *output;	/* borrowed; what PROGRAM printed, never NULL */
	const struct settings *settings;	/* borrowed */
	const struct keymap *keymap;	/* borrowed; NULL: no keys to name (a test) */
	const struct filter_names *filters;	/* borrowed; those that have a name */
	struct column_choices *column_choices;	/* borrowed; NULL: none */
	struct pane *const *panes;	/* borrowed, pane_count of them; NULL: not opened yet */
	int64_t pinned_ns;		/* time of `pin`, 0: nothing is pinned */
	int64_t clock_ns;	/* the loop's clock at this frame (virtual in tests) */
	int64_t now_ns;		/* model's live edge at this frame */
	/* cursor: a time and a row, not a cell */
	int64_t cursor_ns;
	uint32_t cursor_row, cursor_lane;
	struct span_ref selected;
	/* Two ends in time; open: moving the cursor moves the second one. */
	struct { bool shown, open; int64_t t0_ns, t1_ns, from_ns; } measure;
	/* A step laid beneath the one at the cursor: that which begins then, or the one before. */
	struct { bool shown, previous; int64_t start_ns; } compare;
	const struct marks *marks;	/* borrowed; NULL: none */
	int64_t range_t0_ns, range_t1_ns;	/* with OUT_SHOW_RANGE */
	const char *run_command;	/* with OUT_RUN_COMMAND; the pane's own */
	const char *show_pane, *show_key;	/* with OUT_SHOW_PANE; key NULL: none */
	/* With OUT_WORK: what is done, "searching", by whom and for what. over: what comes of it;
	 * stopped: somebody pressed a key. */
	struct view_work {
		const char *what;
		void (*work)(struct turns *turns, void *arg);	/* as of turns_new() */
		unsigned (*over)(void *arg, struct view *view, bool stopped);
		void *arg;
	} work;
	struct findings_status findings;	/* of this frame */
	size_t warnings;		/* among the messages, of this frame */
	/* how to draw */
	bool ascii;		/* no UTF-8, or --ascii */
	bool colour;
	bool shades;		/* backgrounds are shades of it: 256 colours; else they
				 * are reversed video and turn block glyphs round */
	char status[256];	/* one-line answer to the last command, "" none */
	bool status_error;
};

struct pane;

/* One command as it comes from a key or the prompt: argv[0] is its name. */
struct command_call {
	int argc;
	const char *const *argv;	/* borrowed during the call */
	const char *line;		/* likewise; as typed, NULL: there are only words */
};

struct pane_ops {
	const char *name;		/* "timeline", "ops", "kernels", ... */
	const char *key_table;		/* table of keymap/ that is looked at first */
	struct pane *(*open)(struct view *view);
	void (*close)(struct pane *pane);
	/* Snapshot under the model's lock; called before draw when the model or
	 * the window changed. The loop holds the lock; others have it between two lines. */
	void (*update)(struct pane *pane, struct view *view, int width, int height);
	/* Draws what update() took; no lock is held. */
	void (*draw)(struct pane *pane, struct view *view, struct area area, bool focused);
	unsigned (*command)(struct pane *pane, struct view *view, const struct command_call *call);
	/* Commands that come here: those of COMMAND_LIST (keymap/command.h) with
	 * function `pane`; argv[0] is always the full name. The focused pane is
	 * asked first, then, when it answers OUT_UNKNOWN, the timeline. Answers go
	 * into view->status. */
	/* What the mouse does, relative to the pane's area as it was drawn last. What was
	 * pressed in a pane stays with it to the release, also outside. NULL, or OUT_UNKNOWN:
	 * the wheel moves as row-up and row-down do, all else does nothing. The focus has
	 * been given to the pane. */
	unsigned (*mouse)(struct pane *pane, struct view *view, const struct mouse *mouse,
			  int width, int height);
	/* Lines in which it would show all that the last update() found, 0: none yet. NULL:
	 * as many as it gets. */
	int (*lines)(const struct pane *pane);
	/* Makes what is called so seen, and puts the cursor on it; the timeline:
	 * view->cursor_row. NULL: cannot. Takes the lock itself; after update(). */
	bool (*reveal)(struct pane *pane, struct view *view, const char *key);
	/* Its table, and the columns that this may have; NULL: it has none. */
	struct table *(*table)(struct pane *pane);
	const struct table_kind *(*kind)(void);
	/* What `find` looks through (tui/draw/text_find.h) where there is no table: lines of text,
	 * the one under the cursor among them; `go` puts it on another. All NULL: nothing. */
	size_t (*texts)(struct pane *pane, const struct view *view, size_t *at);
	void (*text)(struct pane *pane, const struct view *view, size_t line, struct strbuf *out);
	void (*go)(struct pane *pane, const struct view *view, size_t line);
	/* Short text for its tab, e.g. "7 output: loss 0.41"; NULL: its name. */
	void (*tab)(struct pane *pane, struct view *view, char *text, size_t size);
};

struct pane {
	const struct pane_ops *ops;
};

/*
 * What is drawn by whom, from top to bottom: header (header.c); the timeline
 * pane: minimap (when view->minimap), ruler, rows, and as its last line the
 * sentence about the selected event; then, by the loop: tabs, the lower pane
 * (headings included), prompt or status or hint line. An area may be as small
 * as 1x1.
 *
 * panes.c: all of them, in the order of their numbers; [0] is the timeline. A number that
 * does not exist yet is NULL. */
extern const struct pane_ops *const pane_table[];
extern const size_t pane_count;

/* The lines above the timeline: state, devices, finding. Returns the lines
 * used; update under the lock, draw without. header.c */
struct header;
struct header *header_new(void);
void header_free(struct header *header);
int header_update(struct header *header, struct view *view, int width, int max_lines);
void header_draw(struct header *header, struct view *view, struct area area);
/* The line of the header with the finding, as drawn last; -1: none. */
int header_finding_line(const struct header *header);

#endif
