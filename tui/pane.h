/* SPDX-License-Identifier: MIT */
/*
 * A pane: a part of the screen with its own state, drawing and commands. The
 * timeline is one, each lower pane (ops, kernels, ...) another.
 *
 * Always true: a pane draws only inside the area it is given, asks the model
 * only with its lock held and copies what it keeps, never waits, and never
 * touches curses. Handlers return what must happen; the loop does it once.
 */
#ifndef TUI_PANE_H
#define TUI_PANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query.h"
#include "tui/grid.h"

struct live;

/* What a handler asks of the loop; or-ed. */
enum outcome {
	OUT_NONE = 0,
	OUT_UNKNOWN = 1,	/* not a command of this pane: try the next table */
	OUT_REDRAW = 2,
	OUT_LAYOUT = 4,
	OUT_FREEZE = 8,		/* stop following */
	OUT_FOLLOW = 16,
	OUT_QUIT = 32,
};

/* What the panes share. Owned by the loop. */
struct view {
	struct model *model;	/* borrowed */
	struct live *live;	/* borrowed; NULL: nothing runs (a recording, a test) */
	/* the time window of the timeline */
	int64_t t0_ns, t1_ns;
	bool following;
	int64_t now_ns;		/* model's live edge at this frame */
	/* cursor: a time and a row, not a cell */
	int64_t cursor_ns;
	uint32_t cursor_row, cursor_lane;
	struct span_ref selected;
	/* how to draw */
	bool ascii;		/* no UTF-8, or --ascii */
	bool colour;
	char status[256];	/* one-line answer to the last command, "" none */
	bool status_error;
};

struct pane;

/* One command as it comes from a key or the prompt: argv[0] is its name. */
struct command_call {
	int argc;
	const char *const *argv;	/* borrowed during the call */
};

struct pane_ops {
	const char *name;		/* "timeline", "ops", "kernels", ... */
	const char *key_table;		/* table of keymap/ that is looked at first */
	struct pane *(*open)(struct view *view);
	void (*close)(struct pane *pane);
	/* Snapshot under the model's lock; called before draw when the model or
	 * the window changed. The loop holds the lock. */
	void (*update)(struct pane *pane, struct view *view, int width, int height);
	/* Draws what update() took; no lock is held. */
	void (*draw)(struct pane *pane, struct view *view, struct area area, bool focused);
	unsigned (*command)(struct pane *pane, struct view *view, const struct command_call *call);
	/* Short text for its tab, e.g. "7 output: loss 0.41"; NULL: its name. */
	void (*tab)(struct pane *pane, struct view *view, char *text, size_t size);
};

struct pane {
	const struct pane_ops *ops;
};

/* panes.c: all of them, in the order of their numbers; [0] is the timeline. */
extern const struct pane_ops *const pane_table[];
extern const size_t pane_count;

/* The lines above the timeline: state, devices, finding. Returns the lines
 * used; update under the lock, draw without. header.c */
struct header;
struct header *header_new(void);
void header_free(struct header *header);
int header_update(struct header *header, struct view *view, int width, int max_lines);
void header_draw(struct header *header, struct view *view, struct area area);

#endif
