/* SPDX-License-Identifier: MIT */
/*
 * A pane: a part of the screen with its own state, drawing and commands. The timeline is one,
 * each lower pane (ops, kernels, …) another; tui/panes/pane_table.h lists them all.
 *
 * Always true: a pane draws only inside the area it is given, which may be as small as 1x1. It
 * asks the model only with the model's lock held, yields the lock where it asks for much, and
 * copies what it keeps. It never waits and never touches curses.
 *
 * From top to bottom the screen has: the header (tui/loop/header.h); the timeline, with the
 * minimap (when view->minimap), the ruler, the rows, and the sentence about the selected event
 * as its last line; the tabs; the lower pane with its headings; the prompt, status or hint line.
 */
#ifndef TUI_PANE_H
#define TUI_PANE_H

#include "keymap/command.h"
#include "tui/draw/grid.h"
#include "tui/draw/mouse.h"
#include "tui/draw/view.h"

struct strbuf;		/* model/base/util.h */
struct table;		/* tui/table/table.h */
struct table_kind;	/* likewise */

/* A command as it comes from a key or the prompt. */
struct command_call {
	enum command_id id;
	int argc;
	const char *const *argv; /* borrowed during the call; [0] is the command's full name */
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

#endif
