/* SPDX-License-Identifier: MIT */
/*
 * The loop and what it owns: shared by the files that make it up (loop.c,
 * frame.c, mouse_loop.c, commands.c, help.c, dialog.c, script.c) and by nothing else.
 *
 * Always true: only the loop's thread touches any of this, and what works in turns with it
 * (turns.h); the model's lock is held for questions only, a few milliseconds at a time;
 * whatever a command wants done to the screen it says by its outcome.
 */
#ifndef TUI_LOOP_H
#define TUI_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "keymap/command.h"
#include "keymap/config.h"
#include "keymap/setting.h"
#include "keymap/table.h"
#include "tui/base/capture.h"
#include "tui/loop/header.h"
#include "tui/loop/help.h"
#include "tui/prompt/history.h"
#include "tui/draw/hits.h"
#include "tui/draw/layout.h"
#include "tui/run/live.h"
#include "tui/timeline/marks.h"
#include "tui/base/options.h"
#include "tui/terminal/output.h"
#include "tui/draw/pane.h"
#include "tui/prompt/prompt.h"
#include "tui/run/reports.h"
#include "tui/terminal/screen.h"
#include "tui/loop/script.h"
#include "tui/run/synth.h"
#include "tui/draw/text_find.h"
#include "tui/draw/theme.h"
#include "tui/run/thresholds.h"
#include "tui/base/turns.h"
#include "tui/filters/until.h"
#include "tui/draw/window.h"

#define TUI_PANES_MAX 16
#define TUI_PUMP_MS 100			/* live_pump() at least this often */

/* What is known of the mouse between two events. */
struct tui_mouse {
	struct mouse pressed;		/* the last press; button 0: none that may become double */
	int64_t pressed_ns;
	int holder;			/* pane in which a button is down, -1: none */
};

/* What takes longer than a frame: one at a time. */
struct slow {
	const char *what;		/* "searching"; NULL: nobody waits for it */
	void (*work)(struct turns *turns, void *arg);
	/* It is done, or was stopped and is of no use; frees arg. */
	void (*over)(struct tui *tui, void *arg, bool stopped);
	/* Of a pane's: view->work is the next one's by then. */
	unsigned (*pane_over)(void *arg, struct view *view, bool stopped);
	void *arg;
	struct turns *turns;		/* owned; NULL: nothing is under way */
	int64_t began_ns, said_ns;
};

/* How far leaving has come. */
enum stop_stage { STOP_NOT, STOP_INTERRUPTED, STOP_TERMINATED, STOP_KILLED };

/*
 * What the loop asks of the commands, which lie above it: they know the loop, and the loop
 * knows nothing of them but this. tui/commands/commands.h has the one there is.
 */
struct tui_commands {
	/* Runs a command line as it was typed, bound or scripted. false: a sentence in error. */
	bool (*line)(struct tui *tui, const char *line, char *error, size_t error_size);
	/* The key that `ask-key` waits for; false: it does not wait for one. */
	bool (*answer_key)(struct tui *tui, struct key key);
	/* Makes the page of pane 9 again while it is seen, at most once a second. Takes the
	 * model's lock itself. */
	void (*follow_page)(struct tui *tui);
};

struct tui {
	const struct tui_commands *commands;	/* borrowed */
	const struct options *options;	/* borrowed */
	struct model *model;		/* borrowed */
	struct live *live;		/* borrowed; NULL: a recording, a test */
	struct synth *synth;		/* owned; NULL: none */
	bool virtual_clock;		/* synth without a terminal: waits cost no time */
	int64_t virtual_ns;

	struct screen *screen;		/* owned; NULL: headless */
	struct capture *capture;	/* owned; stderr while curses is up */
	struct grid grid;
	int width, height;
	struct theme theme;
	enum theme_depth depth;		/* of the terminal, as far as it may be used */
	struct keymap keymap;
	struct settings settings;
	struct thresholds thresholds;
	struct config config;
	struct filter_names *filters;	/* owned */

	struct view view;
	struct window window;
	bool window_set;		/* it has been placed once */
	int64_t jumped_ns;		/* clock of the last jump of the sweep */
	struct screen_layout layout;
	struct header *header;		/* owned */
	struct pane *panes[TUI_PANES_MAX];	/* owned; [0] the timeline */
	int lower;			/* index of the lower pane, from 1 */
	bool focus_lower;
	bool full;			/* the lower pane has the whole screen with the focus */
	int64_t page_ns, page_cost_ns;	/* when the page of pane 9 was made, what that took */
	uint64_t page_generation;	/* of the model then */
	struct program_output *output;		/* owned */
	struct model_status status;	/* of the last frame */

	struct hits hits;		/* of the last frame */
	struct tui_mouse mouse;
	struct marks marks;
	char *asks_key; /* owned; the command whose last word the next key is, NULL none */
	struct prompt prompt;
	struct history history;
	size_t wrong_at;		/* of the last line that was typed: where, 0 it was right */
	struct text_find text_find;	/* of the lower panes and the help */
	struct help help;
	bool dialog;
	struct key pending[KEY_SEQUENCE_MAX];
	int pending_count;
	int64_t status_until_ns;	/* view.status is shown so long */
	struct script *script;		/* owned; NULL: none */
	struct save *save;		/* owned; NULL: none under way */
	char *save_error;		/* owned; of one that ended when tftop was left */
	struct export_job *export;	/* owned; NULL: none under way */
	int export_percent;		/* as it was said last */
	struct reports reports;
	struct slow slow;

	bool dirty;			/* draw when a frame is due */
	bool quit;
	bool reopen;			/* ... and come back: the cache was damaged */
	int exit_status;		/* -1: PROGRAM's */
	enum stop_stage stop;
	int64_t stop_ns;
	bool limits_reached;		/* --for, --steps */
	struct until until;		/* run -f, --until */
	bool until_matched;		/* --until */
	uint64_t run_steps, run_count;	/* run -t: freeze at that step; 0: not. It was so many */
	int64_t start_ns;
	uint64_t seen_generation, seen_output;
	int64_t frame_ns, key_ns, draw_cost_ns;	/* last frame, last key, mean of drawing */
	int64_t drawing_ns; /* begin of a frame that the terminal has not all of; 0: none */
	int64_t numbers_ns;		/* last frame with new numbers */
	bool numbers_old;		/* the last frame had none */
	int header_lines;
	int live_phase;
};

/* ---- loop.c ---- */
int64_t tui_clock(const struct tui *tui);
/* PROGRAM runs (or may still start). */
bool tui_program_runs(const struct tui *tui);
/* What PROGRAM is called, for sentences. */
const char *tui_program_name(const struct tui *tui);
/* A sentence at the bottom, until the next key or for a while. */
void tui_say(struct tui *tui, bool error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* tui->commands->line(). */
bool tui_command(struct tui *tui, const char *line, char *error, size_t error_size);
void tui_key(struct tui *tui, struct key key);
void tui_apply(struct tui *tui, unsigned outcome);
void tui_resize(struct tui *tui, int width, int height);
/* PROGRAM keeps running without tftop, or is asked to end; then the loop ends. */
void tui_leave(struct tui *tui);
void tui_stop_program(struct tui *tui);
/* Collecting ends, PROGRAM runs on. */
void tui_end_collecting(struct tui *tui);

/* Runs until somebody leaves. */
void tui_loop(struct tui *tui);

/* ---- frame.c ---- */
/* Takes over how many colours the theme uses on this terminal; after a change of either. */
void frame_set_colours(struct tui *tui);
/* Takes from the model what the next picture needs; not all: the timeline
 * alone, numbers stay. */
void frame_update(struct tui *tui, bool all);
/* Draws it into tui->grid. */
void frame_draw(struct tui *tui);
/* The middle of what is seen and has been: where zooming and the way to the
 * next event begin when no event is selected. */
int64_t frame_middle(const struct view *view);
/* Which table keys are looked up in now. */
enum key_table frame_key_table(const struct tui *tui);

/* ---- mouse_loop.c ---- */
/* To what was clicked, else to the pane there, which gets the focus by a press. */
void tui_mouse(struct tui *tui, struct mouse mouse);
/* The script's `mouse WHAT X Y …`; false: it was wrong; the sentence is in error. */
bool tui_mouse_command(struct tui *tui, const struct command_call *call, char *error,
		       size_t error_size);

/* ---- save_loop.c ---- */
/* Saving begins, in a script until it is done; false: a sentence in error. */
bool save_begin(struct tui *tui, const struct command_call *call, char *error, size_t error_size);
/* [last TIME] from the word `at` on; false: a sentence in error. */
bool save_find_from(const struct tui *tui, const struct command_call *call, int at,
		    int64_t *from_ns, char *error, size_t size);
/* Says how saving ended, once it has ended. */
void save_look(struct tui *tui);
/* When tftop ends: waits for a save under way; its failure goes to save_error. */
void save_leave(struct tui *tui);

/* ---- export_loop.c: the same for `export` ---- */
bool export_begin(struct tui *tui, const struct command_call *call, char *error, size_t error_size);
void export_look(struct tui *tui);
/* When tftop is left: what is under way ends, then what the command line wants. */
bool export_leave(struct tui *tui);

/* ---- slow_loop.c: what takes longer than a frame ---- */
/* Begins it, in the place of what is under way; at once and whole in a script. true: it is
 * done, over() is not called any more. */
bool slow_begin(struct tui *tui, const struct slow *slow);
/* A turn of it, if it is its turn; over() at its end. */
void slow_look(struct tui *tui);
/* Keys wait for what will be there in a moment: they may be meant for it. */
bool slow_holds_keys(const struct tui *tui);
/* A key stops what somebody waits for; true: it was pressed for that alone. */
bool slow_stopped_by(struct tui *tui, struct key key);
/* What is under way ends; what somebody waits for: before another command. */
void slow_stop(struct tui *tui);
void slow_stop_waited(struct tui *tui);
/* OUT_WORK of a pane. */
void slow_pane(struct tui *tui);

/* ---- diff_loop.c: `diff DIR`, which waits for a report ---- */
enum diff_state {
	DIFF_READY,			/* the reports of all recordings are there */
	DIFF_WAITS,			/* one is being made; the command is run again when it is */
	DIFF_FAILED,			/* a sentence in error */
};
enum diff_state diff_begin(struct tui *tui, const struct command_call *call, char *error,
			   size_t error_size);
void diff_look(struct tui *tui);
/* Esc; false: it waits for none. */
bool diff_stop(struct tui *tui);

/* ---- run_loop.c: `run`, --until ---- */
void run_look(struct tui *tui);
/* `run` waits for nothing any more. */
void run_forget(struct tui *tui);

/* ---- dialog.c ---- */
void dialog_draw(struct tui *tui, struct area area);
unsigned dialog_answer(struct tui *tui, const char *answer);

#endif
