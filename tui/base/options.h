/* SPDX-License-Identifier: MIT */
/*
 * What the command line asked for. tui/options.c reads it; every part of the program may look
 * at it, and nobody changes it after that.
 *
 * Always true: every member is valid and inside its bounds.
 *
 * Ownership: the strings are borrowed from argv and the environment, which live as long as the
 * program. Any thread may read.
 */
#ifndef TUI_BASE_OPTIONS_H
#define TUI_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/export/foreign.h"
#include "probes/schema/control.h"

#define OPTIONS_EXPORTS_MAX 32
#define OPTIONS_PIDS_MAX 64

enum options_color {
	OPTIONS_COLOR_AUTO = 0, OPTIONS_COLOR_NEVER, OPTIONS_COLOR_16, OPTIONS_COLOR_256
};

/* One --export option. */
struct export_target {
	struct foreign_kind kind;
	const char *path;		/* borrowed */
	int64_t from_ns;		/* INT64_MIN: everything */
};

struct options {
	char *const *program;		/* PROGRAM and its arguments; NULL: none */
	const char *open_path;		/* a recording to open; NULL: none */
	const char *attach[OPTIONS_PIDS_MAX];	/* -p: PIDs and names, as they were given */
	size_t n_attach;
	bool children;			/* --children */
	/* The processes that these mean, from processes_find(): the first n_given are those named
	 * by -p itself. */
	pid_t pids[OPTIONS_PIDS_MAX];
	size_t n_pids, n_given;
	bool join;	/* --join: the process in pids[0], else the only one there is */
	bool stay;	/* --join with a program: until what it leaves running has ended */
	bool check;			/* --check: only report what can be observed */
	pid_t control;	/* --control: the process whose level or budget changes; 0: none */
	bool control_budget;		/* it is the budget */

	bool batch;			/* -b: the text report */
	const char *json;		/* --json=FILE, "-": stdout; NULL: none */
	const char *record_dir;		/* -o */
	struct export_target exports[OPTIONS_EXPORTS_MAX];	/* --export */
	size_t n_exports;
	const char *probes;		/* --probe, NULL: auto */
	enum tft_level level;
	enum tft_trigger trigger;	/* --trigger */
	struct tft_trigger_range range;	/* for TFT_TRIGGER_RANGE */
	uint64_t memory_limit_bytes;
	bool lossless;
	int budget;			/* --budget in percent; 0: none */
	int64_t from_step;		/* 0: from the start */
	int64_t steps;			/* 0: no limit */
	int64_t for_ns;			/* 0: no limit */
	const char *until;		/* --until, a filter; NULL: none */

	bool quit;			/* leave the screen when PROGRAM ends */
	const char *script;		/* file with commands of the prompt; NULL: none */
	bool headless;
	int columns, rows;		/* --size; 0: the size of the terminal (headless: 120x34) */
	const char *config;		/* --config or TFTOP_CONFIG; NULL: the default places */
	bool no_config;
	bool ascii;
	enum options_color color;	/* NO_COLOR has been taken into account */
	const char *theme;		/* NULL: the default theme */
	/* --synth SEED[,counters|,processor], which --help does not list: a synthetic program, for
	 * tests. */
	const char *synth;
	const char *debug;		/* tftop's own log, NULL: none */
	bool verbose;
};

/* "off", "min", "default", "full". */
const char *options_level_name(enum tft_level level);

/* Whether there is no screen: -b, --json, or a file that is opened only to be exported. */
static inline bool options_batch(const struct options *options)
{
	return options->batch || options->json ||
		(options->n_exports && options->open_path && !options->headless &&
		 !options->script);
}

#endif
