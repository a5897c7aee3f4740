/* SPDX-License-Identifier: MIT */
/*
 * The view: what all panes share. It says what is watched, which time and which row the screen
 * is about, what is selected and how to draw. There is one, the loop's.
 *
 * A handler of a command changes the view and returns an outcome; the loop then does what the
 * outcome asks for, once. Borrowed members outlive the view. Thread: the loop's.
 */
#ifndef TUI_VIEW_H
#define TUI_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query/findings.h"
#include "model/query/query.h"

struct column_choices;	/* tui/table/column_choice.h */
struct filter_names;	/* model/filter/filter.h */
struct keymap;		/* keymap/table.h */
struct live;		/* tui/run/live.h */
struct marks;		/* tui/timeline/marks.h */
struct program_output;		/* tui/terminal/output.h */
struct pane;		/* tui/draw/pane.h */
struct settings;	/* keymap/setting.h */
struct turns;		/* tui/base/turns.h */

/* What a handler asks the loop to do; or-ed. */
enum outcome {
	OUT_NONE = 0,
	OUT_UNKNOWN = 1,	/* the command is not one of this pane: try the next table */
	OUT_REDRAW = 2,
	OUT_LAYOUT = 4,
	OUT_FREEZE = 8,		/* stop following */
	OUT_FOLLOW = 16,
	OUT_QUIT = 32,
	/* The pane has set cursor_ns or selected: the loop moves the window so that cursor_ns is
	 * inside it. */
	OUT_SHOW_CURSOR = 64,
	OUT_FOCUS_TIMELINE = 128,	/* for example after `open` in a table selected an event */
	/* The pane has set range_t0_ns, range_t1_ns and cursor_row: the loop moves the window to
	 * that range, and the timeline unfolds the row. */
	OUT_SHOW_RANGE = 256,
	OUT_SHOW_PANE = 512,		/* opens show_pane and reveals show_key in it */
	OUT_RUN_COMMAND = 1024,		/* runs run_command */
	OUT_WORK = 2048,		/* does view->work, in turns if it takes long */
};

/* What the panes share. Owned by the loop. */
struct view {
	struct model *model;	/* borrowed */
	struct live *live;	/* borrowed; NULL: nothing is live (a recording, a test) */
	/* The time window of the timeline, moved only by the loop (tui/draw/window.h). t1 - t0 is a
	 * multiple of columns: column i starts at t0 + i * w. The timeline has `gutter` columns for
	 * labels and `columns` for time. */
	int64_t t0_ns, t1_ns;
	int columns, gutter;
	bool following;
	bool minimap;		/* the timeline pane's first line is the minimap */
	bool keys_to_program;	/* pane 7 has the focus and PROGRAM gets its keys */
	int screen_rows;	/* rows of the whole screen; PROGRAM's terminal has as many */
	struct program_output *output;	/* borrowed; what PROGRAM printed, never NULL */
	const struct settings *settings;	/* borrowed */
	const struct keymap *keymap;	/* borrowed; NULL: keys cannot be named (a test) */
	const struct filter_names *filters;	/* borrowed; the named filters */
	struct column_choices *column_choices;	/* borrowed; NULL: none */
	struct pane *const *panes;	/* borrowed; pane_count panes, NULL: not opened yet */
	int64_t pinned_ns;		/* time of `pin`; 0: nothing is pinned */
	int64_t clock_ns;	/* the loop's clock at this frame (virtual in tests) */
	int64_t now_ns;		/* the model's live edge at this frame */
	/* The cursor is a time and a row, not a cell. */
	int64_t cursor_ns;
	uint32_t cursor_row, cursor_lane;
	struct span_ref selected;
	/* The two ends of the measured time; open: moving the cursor moves the second end. */
	struct { bool shown, open; int64_t t0_ns, t1_ns, from_ns; } measure;
	/* `compare`: the step that starts at start_ns, or the previous one, is shown below the
	 * step at the cursor. */
	struct { bool shown, previous; int64_t start_ns; } compare;
	const struct marks *marks;	/* borrowed; NULL: none */
	int64_t range_t0_ns, range_t1_ns;	/* with OUT_SHOW_RANGE */
	const char *run_command;	/* used with OUT_RUN_COMMAND; owned by the pane */
	const char *show_pane, *show_key;	/* used with OUT_SHOW_PANE; show_key NULL: none */
	/* Used with OUT_WORK: what is done ("searching"), by which function and with which
	 * argument. over: receives the result; stopped: the user pressed a key. */
	struct view_work {
		const char *what;
		void (*work)(struct turns *turns, void *arg);	/* as for turns_new() */
		unsigned (*over)(void *arg, struct view *view, bool stopped);
		void *arg;
	} work;
	struct findings_status findings;	/* as of this frame */
	size_t warnings;	/* number of warnings among the messages, as of this frame */
	/* How to draw. */
	bool ascii;		/* the terminal has no UTF-8, or --ascii was given */
	bool colour;
	/* backgrounds are shades of their colour, with 256 colours; otherwise they are reverse
	 * video, which also reverses block glyphs */
	bool shades;
	char status[256];	/* one-line answer to the last command; "": none */
	bool status_error;
};

#endif
