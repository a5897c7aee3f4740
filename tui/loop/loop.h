/* SPDX-License-Identifier: MIT */
/*
 * The loop and what it owns: shared by the files that make it up (loop.c, frame.c, mouse_loop.c,
 * commands.c, help.c, dialog.c, script.c) and by nothing else.
 *
 * Always true: only the loop's thread touches any of this, and work that takes turns with it
 * (turns.h). The model's lock is held only for queries, a few milliseconds at a time. What a
 * command wants the loop to do to the screen, it returns as its outcome.
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
#define TUI_PUMP_MS 100			/* live_pump() is called at least this often */

/* What is remembered about the mouse between two events. */
struct tui_mouse {
	struct mouse pressed;	/* the last press; button 0: none that can become a double click */
	int64_t pressed_ns;
	int holder;			/* pane in which a button is down; -1: none */
};

/* Work that takes longer than a frame; there is one at a time. */
struct slow {
	const char *what;		/* such as "searching"; NULL: nobody waits for it */
	void (*work)(struct turns *turns, void *arg);
	/* Called when the work has finished, or was stopped and has no result; frees arg. */
	void (*over)(struct tui *tui, void *arg, bool stopped);
	/* For work of a pane, because view->work may belong to another work by then. */
	unsigned (*pane_over)(void *arg, struct view *view, bool stopped);
	void *arg;
	struct turns *turns;		/* owned; NULL: there is no work */
	int64_t began_ns, said_ns;
};

/* How far leaving has progressed. */
enum stop_stage { STOP_NOT, STOP_INTERRUPTED, STOP_TERMINATED, STOP_KILLED };

/*
 * The commands as the loop sees them. Commands lie above the loop: they know it, and it knows only
 * this table of functions, of which tui/commands/commands.h has the only one.
 */
struct tui_commands {
	/* Runs a command line that was typed, bound or scripted. false: `error` is a sentence. */
	bool (*line)(struct tui *tui, const char *line, char *error, size_t error_size);
	/* Passes a key to a waiting `ask-key`; false: none is waiting. */
	bool (*answer_key)(struct tui *tui, struct key key);
	/* Makes the page of pane 9 again while it is visible, at most once a second. Takes the
	 * model's lock itself. */
	void (*follow_page)(struct tui *tui);
};

struct tui {
	const struct tui_commands *commands;	/* borrowed */
	const struct options *options;	/* borrowed */
	struct model *model;		/* borrowed */
	struct live *live;		/* borrowed; NULL: nothing is live (a recording, a test) */
	struct synth *synth;		/* owned; NULL: none */
	bool virtual_clock;	/* a synthetic program without a terminal: waiting takes no time */
	int64_t virtual_ns;

	struct screen *screen;		/* owned; NULL: headless */
	struct capture *capture;	/* owned; captures stderr while curses is active */
	struct grid grid;
	int width, height;
	struct theme theme;
	enum theme_depth depth;		/* how many colours of the terminal may be used */
	struct keymap keymap;
	struct settings settings;
	struct thresholds thresholds;
	struct config config;
	struct filter_names *filters;	/* owned */

	struct view view;
	struct window window;
	bool window_set;		/* the window has been placed once */
	int64_t jumped_ns;		/* when the sweep last jumped */
	struct screen_layout layout;
	struct header *header;		/* owned */
	struct pane *panes[TUI_PANES_MAX];	/* owned; [0] is the timeline */
	int lower;			/* index of the lower pane, from 1 */
	bool focus_lower;
	bool full;			/* the pane with the focus has the whole screen */
	/* when the page of pane 9 was made, and how long that took */
	int64_t page_ns, page_cost_ns;
	uint64_t page_generation;	/* the model's generation then */
	struct program_output *output;		/* owned */
	struct model_status status;	/* as of the last frame */
	int budget;			/* of the session, when it was looked at last */

	struct hits hits;		/* as of the last frame */
	struct tui_mouse mouse;
	struct marks marks;
	char *asks_key; /* owned; the command whose last word is the next key; NULL: none */
	struct prompt prompt;
	struct history history;
	size_t wrong_at;		/* where the last typed line was wrong; 0: it was right */
	struct text_find text_find;	/* search in the lower panes and the help */
	struct help help;
	bool dialog;
	struct key pending[KEY_SEQUENCE_MAX];
	int pending_count;
	int64_t status_until_ns;	/* until when view.status is shown */
	struct script *script;		/* owned; NULL: none */
	struct save *save;		/* owned; NULL: no saving is under way */
	char *save_error;	/* owned; error of a saving that ended when tftop was left */
	struct export_job *export;	/* owned; NULL: no export is under way */
	int export_percent;		/* percentage that was last shown */
	struct reports reports;
	struct slow slow;

	bool dirty;			/* a frame must be drawn when it is due */
	bool quit;
	bool left_running;		/* the program runs on without tftop */
	bool reopen;			/* ... and return, because the cache was damaged */
	int exit_status;		/* -1: that of PROGRAM */
	enum stop_stage stop;
	int64_t stop_ns;
	bool limits_reached;		/* for --for, --steps */
	struct until until;		/* for run -f, --until */
	bool until_matched;		/* --until has matched */
	/* for run -t: freeze at that step, 0: do not; how many steps were requested */
	uint64_t run_steps, run_count;
	int64_t start_ns;
	uint64_t seen_generation, seen_output;
	/* time of the last frame and of the last key; mean cost of drawing */
	int64_t frame_ns, key_ns, draw_cost_ns;
	/* when a frame was started that the terminal has not received completely; 0: none */
	int64_t drawing_ns;
	int64_t numbers_ns;		/* last frame with new numbers */
	bool numbers_old;		/* the last frame had no new numbers */
	int header_lines;
	int live_phase;
};

/* ---- loop.c ---- */
int64_t tui_clock(const struct tui *tui);
/* Whether PROGRAM runs, or may still start. */
bool tui_program_runs(const struct tui *tui);
/* PROGRAM's name, for sentences. */
const char *tui_program_name(const struct tui *tui);
/* Shows a sentence at the bottom, until the next key or for a while. */
void tui_say(struct tui *tui, bool error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* tui->commands->line(). */
bool tui_command(struct tui *tui, const char *line, char *error, size_t error_size);
void tui_key(struct tui *tui, struct key key);
void tui_apply(struct tui *tui, unsigned outcome);
void tui_resize(struct tui *tui, int width, int height);
/* Leaves PROGRAM running without tftop, or asks it to end; then the loop ends. */
void tui_leave(struct tui *tui);
void tui_stop_program(struct tui *tui);
/* Ends collecting; PROGRAM continues. */
void tui_end_collecting(struct tui *tui);

/* Runs until the user leaves. */
void tui_loop(struct tui *tui);

/* ---- frame.c ---- */
/* Applies how many colours the theme uses on this terminal; to be called after either has
 * changed. */
void frame_set_colours(struct tui *tui);
/* Takes from the model what the next picture needs. !all: only the timeline, numbers stay. */
void frame_update(struct tui *tui, bool all);
/* Draws the picture into tui->grid. */
void frame_draw(struct tui *tui);
/* The middle of the visible time that has already passed: where zooming, and going to the next
 * event, start if no event is selected. */
int64_t frame_middle(const struct view *view);
/* The table in which keys are looked up now. */
enum key_table frame_key_table(const struct tui *tui);

/* ---- mouse_loop.c ---- */
/* Passes the event to what was clicked, otherwise to the pane there, which gets the focus by a
 * press. */
void tui_mouse(struct tui *tui, struct mouse mouse);
/* The script's `mouse WHAT X Y ...`; false: it was wrong, and `error` is a sentence. */
bool tui_mouse_command(struct tui *tui, const struct command_call *call, char *error,
		       size_t error_size);

/* ---- save_loop.c ---- */
/* Starts saving; a script waits until it is done. false: `error` is a sentence. */
bool save_begin(struct tui *tui, const struct command_call *call, char *error, size_t error_size);
/* Reads [last TIME] from the word `at` on; false: `error` is a sentence. */
bool save_find_from(const struct tui *tui, const struct command_call *call, int at,
		    int64_t *from_ns, char *error, size_t size);
/* Reports how saving ended, once it has ended. */
void save_look(struct tui *tui);
/* To be called when tftop ends: waits for a saving that is under way; its error goes to
 * save_error. */
void save_leave(struct tui *tui);

/* ---- export_loop.c: the same for `export` ---- */
bool export_begin(struct tui *tui, const struct command_call *call, char *error, size_t error_size);
void export_look(struct tui *tui);
/* When tftop is left: waits for the export that is under way, then makes those of the command
 * line. */
bool export_leave(struct tui *tui);

/* ---- slow_loop.c: what takes longer than a frame ---- */
/* Starts work that replaces the current work; in a script it is done at once. true: it is finished,
 * and over() will not be called. */
bool slow_begin(struct tui *tui, const struct slow *slow);
/* Gives the work a turn, if it is due; calls over() at its end. */
void slow_look(struct tui *tui);
/* Whether keys must wait for a result that will be there in a moment, because they may be meant for
 * it. */
bool slow_holds_keys(const struct tui *tui);
/* A key stops work that the user waits for; true: the key was pressed only for that. */
bool slow_stopped_by(struct tui *tui, struct key key);
/* Stops the current work, if the user waits for it; before another command. */
void slow_stop(struct tui *tui);
void slow_stop_waited(struct tui *tui);
/* Handles OUT_WORK of a pane. */
void slow_pane(struct tui *tui);

/* ---- diff_loop.c: `diff DIR`, which waits for a report ---- */
enum diff_state {
	DIFF_READY,			/* the reports of all recordings are there */
	DIFF_WAITS,	/* a report is being made; the command is run again when it is there */
	DIFF_FAILED,			/* `error` is a sentence */
};
enum diff_state diff_begin(struct tui *tui, const struct command_call *call, char *error,
			   size_t error_size);
void diff_look(struct tui *tui);
/* Handles Esc; false: diff is not waiting. */
bool diff_stop(struct tui *tui);

/* ---- run_loop.c: `run`, --until ---- */
void run_look(struct tui *tui);
/* `set budget` reaches the program; what --budget and --control say shows as the setting. */
void run_look_at_budget(struct tui *tui);
/* `run` does not wait any more. */
void run_forget(struct tui *tui);

/* ---- text_loop.c ---- */
void tui_unbound_key(struct tui *tui, enum key_table table, struct key key);
/* A character of pasted text never is a command: it goes where text goes, or nowhere. */
void tui_pasted_key(struct tui *tui, struct key key);

/* ---- dialog.c ---- */
void dialog_draw(struct tui *tui, struct area area);
unsigned dialog_answer(struct tui *tui, const char *answer);

#endif
