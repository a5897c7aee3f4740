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
struct text_find;	/* tui/draw/text_find.h */

/* A command as it comes from a key or the prompt. */
struct command_call {
	enum command_id id;
	int argc;
	const char *const *argv; /* borrowed during the call; [0] is the command's full name */
	const char *line;		/* likewise; as typed, NULL: there are only words */
};

struct pane_ops {
	const char *name;		/* "timeline", "ops", "kernels", ... */
	const char *key_table;		/* table of keymap/ in which its keys are looked up first */
	struct pane *(*open)(struct view *view);
	void (*close)(struct pane *pane);
	/* Takes a snapshot from the model; called before draw when the model or the window has
	 * changed. The loop holds the model's lock, and yields it between two lines. */
	void (*update)(struct pane *pane, struct view *view, int width, int height);
	/* Draws what update() took; no lock is held. */
	void (*draw)(struct pane *pane, struct view *view, struct area area, bool focused);
	unsigned (*command)(struct pane *pane, struct view *view, const struct command_call *call);
	/* Runs a command that is meant for panes: those of COMMAND_LIST (keymap/command.h) with
	 * function `pane`; argv[0] is always the full name. The focused pane is asked first and, if
	 * it answers OUT_UNKNOWN, then the timeline. Answers for the user go into view->status. */
	/* Handles the mouse, relative to the pane's area as it was last drawn. A pane in which a
	 * button was pressed gets all events until the release, also those outside. NULL or
	 * OUT_UNKNOWN: the wheel acts like row-up and row-down, everything else has no effect. The
	 * pane already has the focus. */
	unsigned (*mouse)(struct pane *pane, struct view *view, const struct mouse *mouse,
			  int width, int height);
	/* How many lines it needs to show everything that the last update() found; 0: unknown so
	 * far. NULL: it uses all lines that it gets. */
	int (*lines)(const struct pane *pane);
	/* Makes the item with this name visible and puts the cursor on it; for the timeline:
	 * view->cursor_row. NULL: not possible. Takes the lock itself; called after update(). */
	bool (*reveal)(struct pane *pane, struct view *view, const char *key);
	/* Its table, and the columns that the table may have; NULL: it has none. */
	struct table *(*table)(struct pane *pane);
	const struct table_kind *(*kind)(void);
	/* What `find` searches (tui/draw/text_find.h) if the pane has no table: lines of text,
	 * among them the one under the cursor; `go` puts the cursor on another line, and on its
	 * match. All NULL: nothing. */
	size_t (*texts)(struct pane *pane, const struct view *view, size_t *at);
	void (*text)(struct pane *pane, const struct view *view, size_t line, struct strbuf *out);
	void (*go)(struct pane *pane, const struct view *view, size_t line,
		   const struct text_find *find);
	/* Short text for its tab, such as "7 output: loss 0.41"; NULL: its name. */
	void (*tab)(struct pane *pane, struct view *view, char *text, size_t size);
};

struct pane {
	const struct pane_ops *ops;
};

#endif
