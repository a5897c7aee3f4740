/* SPDX-License-Identifier: MIT */
/*
 * The table of command-line options, one row each. The parser (options.c), --help and the
 * completion of shells (options_shell.c) derive from it.
 *
 * X(code, letter, word, value, WORDS, PLACE, about)
 *   letter, word  '\0', "": none
 *   value   as it is shown; "": takes none; "=FILE": may be left out. Shells know by FILE, DIR
 *           and PID what may stand there
 *   WORDS   the possible values, between blanks; one that ends in ':' is continued by the user.
 *           "themes", "probes" and "formats" stand for what their own tables list
 *   PLACE   in --help: ROW begins a line, MORE continues it, NOT is for completion only
 *   about   for completion; also for --help if the ROW has its line to itself
 *
 * Threads: constants only.
 */
#ifndef TUI_OPTIONS_TABLE_H
#define TUI_OPTIONS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/export/foreign.h"

enum {
	OPT_JSON = 256, OPT_PROBE, OPT_LEVEL, OPT_MEMORY, OPT_LOSSLESS, OPT_BUDGET, OPT_FROM_STEP,
	OPT_STEPS, OPT_FOR, OPT_EXPORT, OPT_SCRIPT, OPT_HEADLESS, OPT_SIZE, OPT_CONFIG,
	OPT_NO_CONFIG,
	OPT_ASCII, OPT_COLOR, OPT_THEME, OPT_DEBUG, OPT_VERSION,
	OPT_SYNTH, OPT_PRINT,		/* for tests and the manual, in no table */
	OPT_UNTIL, OPT_CHECK, OPT_CHILDREN, OPT_CONTROL, OPT_JOIN, OPT_TRIGGER,
	OPT_LATER,			/* this and those above are refused by name */
	OPT_LIVE = OPT_LATER,
};

enum option_place { OPTION_ROW, OPTION_MORE, OPTION_NOT };

#define OPTION_LIST(X) \
	X('p', 'p', "", "PID", "", ROW, "watch a running program, by PID or name") \
	X(OPT_CHILDREN, '\0', "children", "", "", MORE, \
	  "with -p: watch the processes below it too, also those that start later") \
	X('b', 'b', "batch", "", "", ROW, \
	  "no screen: print a report to stderr when PROGRAM ends") \
	X(OPT_JSON, '\0', "json", "=FILE", "", ROW, \
	  "no screen: write the report as JSON; '-' is stdout") \
	X('o', 'o', "", "DIR", "", ROW, "keep the recording in DIR, which is absent or empty") \
	X(OPT_EXPORT, '\0', "export", "FORMAT:FILE", "formats", ROW, \
	  "chrome perfetto csv:TABLE dot stacks speedscope") \
	X(OPT_PROBE, '\0', "probe", "LIST", "probes", ROW, \
	  "auto, or opencl,pytorch,... with + and -") \
	X(OPT_LEVEL, '\0', "level", "LEVEL", "off min default full", ROW, \
	  "how much to collect: off, min, default or full") \
	X(OPT_TRIGGER, '\0', "trigger", "WHEN", "cuda-profiler range:", MORE, \
	  "collect only where the program says so: cuda-profiler or range:NAME") \
	X(OPT_MEMORY, '\0', "memory-limit", "N", "", ROW, \
	  "memory of the timeline, such as 512M (default) or 2G") \
	X(OPT_LOSSLESS, '\0', "lossless", "", "", ROW, \
	  "slow PROGRAM down rather than lose events") \
	X(OPT_BUDGET, '\0', "budget", "PERCENT", "", MORE, \
	  "look at the ops of PyTorch in some steps only, so that this costs at most PERCENT") \
	X(OPT_FROM_STEP, '\0', "from-step", "N", "", ROW, "start collecting at step N") \
	X(OPT_STEPS, '\0', "steps", "N", "", MORE, "stop after N steps") \
	X(OPT_FOR, '\0', "for", "TIME", "", MORE, "stop after TIME") \
	X(OPT_UNTIL, '\0', "until", "EXPR", "", MORE, \
	  "stop at the first event that a filter matches") \
	X('q', 'q', "quit", "", "", ROW, "leave the screen when PROGRAM ends") \
	X(OPT_JOIN, '\0', "join", "", "", MORE, \
	  "stay until what PROGRAM left running has ended; or return to such a process") \
	X(OPT_SCRIPT, '\0', "script", "FILE", "", ROW, "run the prompt commands in FILE") \
	X(OPT_HEADLESS, '\0', "headless", "", "", MORE, "run the screen without a terminal") \
	X(OPT_SIZE, '\0', "size", "WxH", "", MORE, "columns and lines of that screen") \
	X(OPT_CONFIG, '\0', "config", "FILE", "", ROW, \
	  "read FILE instead of the user's configuration") \
	X(OPT_NO_CONFIG, '\0', "no-config", "", "", MORE, "read no configuration") \
	X(OPT_ASCII, '\0', "ascii", "", "", ROW, "use no UTF-8 on the screen") \
	X(OPT_COLOR, '\0', "color", "auto|never|16|256", "auto never 16 256", MORE, \
	  "how many colours the screen uses") \
	X(OPT_THEME, '\0', "theme", "NAME", "themes", MORE, "the set of colours") \
	X('v', 'v', "verbose", "", "", ROW, "write more to tftop's own log") \
	X(OPT_DEBUG, '\0', "debug", "FILE", "", MORE, "write tftop's own log to FILE") \
	X('h', 'h', "help", "", "", ROW, "print this help") \
	X(OPT_VERSION, '\0', "version", "", "", MORE, "print the version") \
	X(OPT_CHECK, '\0', "check", "", "", NOT, \
	  "say what can be observed on this machine, or in a process") \
	X(OPT_CONTROL, '\0', "control", "PID", "", NOT, \
	  "level=LEVEL or budget=PERCENT: change that of the tftop that watches PID")

struct option_row {
	int code;
	char letter;			/* '\0': none */
	const char *word, *value, *words;
	enum option_place place;
	const char *about;
};
extern const struct option_row option_rows[];
extern const size_t option_n_rows;

/* The probes of this version, separated by blanks, in the order in which they are listed. */
extern const char option_probes[];

/* The possible values, separated by blanks, "": any; words[] receives the text. */
const char *option_words(const struct option_row *row, char words[512]);

/* Prints a table of the screen, one row a line, or a completion, for the manual and shells; false:
 * there is none of that name. */
bool option_print_table(const char *what);

#endif
