/* SPDX-License-Identifier: MIT */
/*
 * The options of the command line, one row each: how they are read (options.c), --help and
 * what shells complete (options_shell.c) derive from them.
 *
 * X(code, letter, word, value, WORDS, PLACE, about)
 *   letter, word  '\0', "" none
 *   value   as it is shown; "" takes none, "=FILE" may be left out; by it shells know what
 *           may stand there: FILE, DIR, PID
 *   words   what it may be, between blanks; what ends in ':' goes on. Themes, probes and
 *           formats stand for what their tables have
 *   PLACE   in --help: ROW begins a line, MORE goes on with it, NOT: only completed
 *   about   for completion, and of a ROW in --help, unless it is followed by others
 *
 * Threads: constants only.
 */
#ifndef TUI_OPTIONS_TABLE_H
#define TUI_OPTIONS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
	OPT_JSON = 256, OPT_PROBE, OPT_LEVEL, OPT_MEMORY, OPT_LOSSLESS, OPT_FROM_STEP,
	OPT_STEPS, OPT_FOR, OPT_EXPORT, OPT_SCRIPT, OPT_HEADLESS, OPT_SIZE, OPT_CONFIG, OPT_NO_CONFIG,
	OPT_ASCII, OPT_COLOR, OPT_THEME, OPT_DEBUG, OPT_VERSION,
	OPT_SYNTH, OPT_PRINT,		/* for tests and the manual, in no table */
	OPT_UNTIL, OPT_CHECK, OPT_CHILDREN, OPT_CONTROL, OPT_JOIN, OPT_TRIGGER,
	OPT_LATER,			/* and above: refused by name */
	OPT_LIVE = OPT_LATER,
};

enum option_place { OPTION_ROW, OPTION_MORE, OPTION_NOT };

#define OPTION_LIST(X) \
	X('p', 'p', "", "PID", "", ROW, "a program that runs already, by PID or name") \
	X(OPT_CHILDREN, '\0', "children", "", "", MORE, "with -p: what runs below it as well, also what starts later") \
	X('b', 'b', "batch", "", "", ROW, "no screen: a text report on stderr when PROGRAM ends") \
	X(OPT_JSON, '\0', "json", "=FILE", "", ROW, "no screen: the report as JSON into FILE, '-' is stdout") \
	X('o', 'o', "", "DIR", "", ROW, "keep the recording in DIR (absent or empty)") \
	X(OPT_EXPORT, '\0', "export", "FORMAT:FILE", "formats", ROW, "chrome, perfetto, csv:TABLE or dot, at the end") \
	X(OPT_PROBE, '\0', "probe", "LIST", "probes", ROW, "auto, or opencl,pytorch,... with + and -") \
	X(OPT_LEVEL, '\0', "level", "LEVEL", "off min default full", ROW, "off, min, default or full: how much is collected") \
	X(OPT_TRIGGER, '\0', "trigger", "WHEN", "cuda-profiler range:", MORE, "only where the program says so: cuda-profiler or range:NAME") \
	X(OPT_MEMORY, '\0', "memory-limit", "N", "", ROW, "budget of the timeline, such as 512M (default) or 2G") \
	X(OPT_LOSSLESS, '\0', "lossless", "", "", ROW, "rather slow PROGRAM down than lose events") \
	X(OPT_FROM_STEP, '\0', "from-step", "N", "", ROW, "begin at that step") \
	X(OPT_STEPS, '\0', "steps", "N", "", MORE, "so many steps") \
	X(OPT_FOR, '\0', "for", "TIME", "", MORE, "so long") \
	X(OPT_UNTIL, '\0', "until", "EXPR", "", MORE, "up to the first event that a filter wants") \
	X('q', 'q', "quit", "", "", ROW, "leave the screen when PROGRAM ends") \
	X(OPT_SCRIPT, '\0', "script", "FILE", "", ROW, "prompt commands to run, one a line") \
	X(OPT_HEADLESS, '\0', "headless", "", "", MORE, "a screen without a terminal") \
	X(OPT_SIZE, '\0', "size", "WxH", "", MORE, "columns and lines of that screen") \
	X(OPT_CONFIG, '\0', "config", "FILE", "", ROW, "configuration in the place of the user's") \
	X(OPT_NO_CONFIG, '\0', "no-config", "", "", MORE, "no configuration") \
	X(OPT_ASCII, '\0', "ascii", "", "", ROW, "no UTF-8 on the screen") \
	X(OPT_COLOR, '\0', "color", "auto|never|16|256", "auto never 16 256", MORE, "how many colours the screen uses") \
	X(OPT_THEME, '\0', "theme", "NAME", "themes", MORE, "all colours at once") \
	X('v', 'v', "verbose", "", "", ROW, "more in tftop's own log") \
	X(OPT_DEBUG, '\0', "debug", "FILE", "", MORE, "where that log goes") \
	X('h', 'h', "help", "", "", ROW, "the options") \
	X(OPT_VERSION, '\0', "version", "", "", MORE, "which tftop this is") \
	X(OPT_CHECK, '\0', "check", "", "", NOT, "what can be observed here, or in a process") \
	X(OPT_JOIN, '\0', "join", "", "", NOT, "come back to a program that was left running, PID where there are several") \
	X(OPT_CONTROL, '\0', "control", "PID", "", NOT, "level=LEVEL for the tftop that watches it")

struct option_row {
	int code;
	char letter;			/* '\0' none */
	const char *word, *value, *words;
	enum option_place place;
	const char *about;
};
extern const struct option_row option_rows[];
extern const size_t option_n_rows;

/* Probes of this version, between blanks, as they are listed. */
extern const char option_probes[];

/* What it may be, between blanks, "" anything; words[] gets it. */
const char *option_words(const struct option_row *row, char words[512]);

/* The completion of a shell, bash, zsh or fish; false: there is none for it. */
bool option_write_shell(const char *shell, FILE *out);

#endif
