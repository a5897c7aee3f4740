/* SPDX-License-Identifier: MIT */
/*
 * The options of the screen, as data: `set NAME = VALUE`. Options of the run are on the command
 * line (tui/options_table.h).
 *
 * X(ID, name, type, default, least, most, choices, help)
 *   type     BOOL (yes|no), INT, CHOICE (value: index into choices)
 *   default  as text, read by the same parser
 *   choices  "a|b|c" for CHOICE, else ""
 *
 * Settings whose table and values lie elsewhere (the thresholds of the analyses) are set,
 * printed and listed in the same way, through struct setting_more. Their ids follow:
 * SETTING_COUNT + index.
 *
 * Threads: the loop's only.
 */
#ifndef KEYMAP_SETTING_H
#define KEYMAP_SETTING_H

#include <stdbool.h>
#include <stddef.h>

enum setting_type { SETTING_BOOL, SETTING_INT, SETTING_CHOICE };

#define SETTING_LIST(X) \
	X(FOLLOW_FPS, "follow-fps", INT, "10", 1, 20, "", \
	  "frames per second while following") \
	X(KEY_FPS, "key-fps", INT, "20", 5, 60, "", \
	  "frames per second while keys are pressed") \
	X(JUMP_AT, "jump-at", INT, "90", 50, 99, "", \
	  "percent of the window; when the live edge gets there, the window moves on") \
	X(JUMP_TO, "jump-to", INT, "30", 5, 80, "", \
	  "percent of the window where the live edge is after that") \
	X(WINDOW_MS, "window-ms", INT, "2000", 1, 3600000, "", \
	  "milliseconds that the window shows at the start") \
	X(SPLIT, "split", INT, "40", 20, 80, "", \
	  "percent of the lines below the header that the lower pane has at least") \
	X(THEME, "theme", CHOICE, "dark", 0, 4, "dark|light|16|contrast|mono", \
	  "the set of colours; color changes single ones afterwards") \
	X(HINTS, "hints", BOOL, "yes", 0, 1, "", \
	  "show the line of keys at the bottom") \
	X(MOUSE, "mouse", BOOL, "yes", 0, 1, "", \
	  "use the mouse; no: the terminal selects text with it (often also with Shift)") \
	X(MINIMAP, "minimap", BOOL, "yes", 0, 1, "", \
	  "show the line in which the whole run is drawn") \
	X(LABEL_WIDTH, "label-width", INT, "0", 0, 60, "", \
	  "columns for the names of rows; 0: depends on the width of the screen") \
	X(STEPS_TOTAL, "steps-total", INT, "0", 0, 2000000000, "", \
	  "steps that the program will make, for the remaining time; 0: unknown") \
	X(SAMPLES_PER_STEP, "samples-per-step", INT, "0", 0, 2000000000, "", \
	  "samples in a step (the batch size), for samples per second; 0: unknown") \
	X(COLOUR_BY, "colour-by", CHOICE, "kind", 0, 4, "kind|op|name|queue|step", \
	  "what colours on the timeline stand for: the kind of work, the op that launched it, " \
	  "its name, its row, or its step") \
	X(DENSITY, "density", CHOICE, "height", 0, 1, "height|heat", \
	  "how a column with many events shows how busy it was: by height, or by shade if there " \
	  "are 256 colours") \
	X(THREAD_STATES, "thread-states", BOOL, "yes", 0, 1, "", \
	  "show what threads do where their rows have no op: run, wait or sleep, and where") \
	X(COUNTER_LINES, "counter-lines", INT, "1", 1, 4, "", \
	  "lines of a row that plots a counter") \
	X(BUDGET, "budget", INT, "0", 0, 100, "", \
	  "percent of the program's time that looking at the ops of PyTorch may cost: above it " \
	  "they are looked at in some steps only; 0: no limit") \
	X(QUIT_RUNNING, "quit-while-running", CHOICE, "ask", 0, 2, "ask|leave|stop", \
	  "what quit does while the program is running") \
	X(ESCAPE_MS, "escape-ms", INT, "25", 0, 1000, "", \
	  "milliseconds after Esc in which more keys belong to it")

enum setting_id {
#define SETTING_ID(id, ...) SETTING_##id,
	SETTING_LIST(SETTING_ID)
#undef SETTING_ID
	SETTING_COUNT
};

struct setting_info {
	const char *name;
	enum setting_type type;
	const char *initial;
	int least, most;
	const char *choices, *help;
};

extern const struct setting_info setting_table[SETTING_COUNT];

/* A setting as it is listed. values: the values that it can have; "": a number within the bounds
 * that help names. */
struct setting_row {
	const char *name, *initial, *values, *help;
};

struct setting_more {
	const struct setting_row *rows;	/* borrowed, count of them */
	size_t count;
	/* The same as setting_set() and setting_print() below, for rows[i]. */
	bool (*set)(void *arg, size_t i, const char *value, char *error, size_t error_size);
	void (*print)(void *arg, size_t i, char *text, size_t size);
	void *arg;
};

struct settings {
	int value[SETTING_COUNT];
	const struct setting_more *more;	/* borrowed; NULL: there are none */
};

void settings_init(struct settings *settings);	/* sets the defaults, nothing else */
/* How many settings there are; ids are below this number. */
int setting_count(const struct settings *settings);
struct setting_row setting_row(const struct settings *settings, int id);
int setting_find(const struct settings *settings, const char *name,
		 char *error, size_t error_size);	/* -1: there is none */
bool setting_set(struct settings *settings, int id, const char *value,
		 char *error, size_t error_size);
/* Sets the next of its choices; the first one follows the last. false: it has no choices, and
 * `error` is a sentence. */
bool setting_next(struct settings *settings, int id, char *error, size_t error_size);
/* Writes its value in the form that setting_set() reads; returns text. */
char *setting_print(const struct settings *settings, int id, char *text, size_t size);

#endif
