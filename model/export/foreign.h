/* SPDX-License-Identifier: MIT */
/*
 * The timeline in formats of other programs: Chrome's trace JSON, Perfetto's packets, CSV of any
 * table, dot for the graph, call stacks for flame graphs. The rules of query/query.h apply.
 * (recording/export.h gives out the timeline as events; this part turns it into other formats.)
 *
 * Idea: the formats that contain times are written from the events of recording/export.h, one at a
 * time and in the order of their start; walk.h turns them into tracks, slices, arrows and counters.
 * The other formats are written from the tables of query/query.h.
 *
 * Always true: memory does not grow with the timeline; what a limit left out is counted in the
 * result. Strings may contain any bytes: what is not UTF-8 becomes U+FFFD. Times are those of
 * query/query.h, in the units of the format and without rounding.
 *
 * Threads: one export at a time, on any thread, without the model's lock. The thread that feeds the
 * model waits meanwhile, as with recording/export.h. Errors: false, with a sentence.
 */
#ifndef MODEL_FOREIGN_H
#define MODEL_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct model;

enum foreign_format {
	FOREIGN_CHROME, FOREIGN_PERFETTO, FOREIGN_CSV, FOREIGN_DOT, FOREIGN_STACKS,
	FOREIGN_SPEEDSCOPE
};

/* What is written, as parsed from "chrome", "chrome,memory,no-dataflow" or "csv:ops". */
struct foreign_kind {
	enum foreign_format format;
	char table[16];			/* for FOREIGN_CSV */
	bool dataflow;			/* with arrows; the default */
	bool waited;	/* of stacks: only the time in which a device waited */
	bool memory;	/* with objects as well: their creation, snapshots and deletion */
};

struct foreign_options {
	struct foreign_kind kind;
	struct model *model;		/* borrowed */
	int64_t from_ns;	/* only events that touch the time from here on; INT64_MIN: all */
	FILE *out;			/* borrowed */
	/* Called now and then with 0 ... 100; returns false to stop. NULL: not called. */
	bool (*progress)(void *arg, int percent);
	void *arg;
};

struct foreign_result {
	uint64_t written;		/* number of slices, rows, … */
	uint64_t left_out;		/* arrows and objects that exceeded a limit */
	int64_t gap_ns;	/* detail before this time was discarded; INT64_MIN: none was */
};

/* The formats as sentences name them; keymap/commands.def has the same words. */
#define FOREIGN_FORMATS "chrome, perfetto, csv:TABLE, dot, stacks or speedscope"
#define FOREIGN_WORD_MAX 32u
/* The words that foreign_parse() accepts, one by one, for completion: "chrome",
 * "chrome,memory", ... "csv:ops", .... Returns word; NULL: there is no word i. */
const char *foreign_word(size_t i, char word[FOREIGN_WORD_MAX]);

/* false: `error` is a sentence that says what would be valid. */
bool foreign_parse(const char *text, struct foreign_kind *kind, char *error, size_t size);
/* The noun for what is written: "slices", "rows", …. */
const char *foreign_unit(enum foreign_format format);
bool foreign_write(const struct foreign_options *options, struct foreign_result *result,
		   char *error, size_t size);

/* A stream that writes gzip to another stream, which stays open; closing it can fail, too. NULL:
 * errno says why. */
FILE *foreign_deflating(FILE *to);
/* Reads a whole file, and inflates it if it is gzipped; the caller frees. NULL: it cannot be read,
 * or it is larger than `most`. */
void *foreign_read(const char *path, size_t most, size_t *size);

/*
 * TensorFlow's StepStats or RunMetadata as TensorFlow's timeline.py shows them, with the same
 * events, lanes, arrows, counters, objects and allocation maxima.
 */
bool foreign_is_step_stats(const void *data, size_t size);
bool foreign_step_stats(const void *data, size_t size, const struct foreign_kind *kind, FILE *out,
			struct foreign_result *result, char *error, size_t error_size);

#endif
