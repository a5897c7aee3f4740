/* SPDX-License-Identifier: MIT */
/*
 * The timeline for other programs: Chrome's trace JSON, Perfetto's packets, CSV of any table,
 * dot of the graph. The rules of query/query.h apply. (recording/export.h gives the timeline
 * back as events; this part makes other formats of them.)
 *
 * Idea: the formats that contain times are written from the events of recording/export.h, one
 * at a time and in the order of their start; walk.h makes tracks, slices, arrows and counters
 * of them. The other formats are written from the tables of query/query.h.
 *
 * Always true: memory does not grow with the timeline; what a limit left out is counted in the
 * result. Strings may contain any bytes: what is not UTF-8 becomes U+FFFD. Times are those of
 * query/query.h, in the units of the format and without rounding.
 *
 * Threads: any, one at a time, without the model's lock; whoever feeds the model waits
 * meanwhile, as with recording/export.h. Errors: false, with a sentence.
 */
#ifndef MODEL_FOREIGN_H
#define MODEL_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct model;

enum foreign_format { FOREIGN_CHROME, FOREIGN_PERFETTO, FOREIGN_CSV, FOREIGN_DOT };

/* What is to be written: "chrome", "chrome,memory,no-dataflow", "csv:ops". */
struct foreign_kind {
	enum foreign_format format;
	char table[16];			/* of FOREIGN_CSV */
	bool dataflow;			/* arrows; the usual */
	bool memory;			/* objects too: created, snapshot, deleted */
};

struct foreign_options {
	struct foreign_kind kind;
	struct model *model;		/* borrowed */
	int64_t from_ns;		/* what touches the time from here on; INT64_MIN: all */
	FILE *out;			/* borrowed */
	/* Now and then, 0 ... 100; false: stop. NULL: nobody asks. */
	bool (*progress)(void *arg, int percent);
	void *arg;
};

struct foreign_result {
	uint64_t written;		/* slices, or rows */
	uint64_t left_out;		/* arrows and objects beyond a bound */
	int64_t gap_ns;			/* detail before this was folded away; INT64_MIN: none */
};

/* The formats as sentences name them; keymap/commands.def has the same words. */
#define FOREIGN_FORMATS "chrome, perfetto, csv:TABLE or dot"
#define FOREIGN_WORD_MAX 32u
/* What foreign_parse() takes, word by word: "chrome", "chrome,memory", ... "csv:ops", ...; for
 * completion. Returns word; NULL: that was the last. */
const char *foreign_word(size_t i, char word[FOREIGN_WORD_MAX]);

/* false: a sentence that says what would be right. */
bool foreign_parse(const char *text, struct foreign_kind *kind, char *error, size_t size);
/* What the rows or slices are called: "slices", "rows". */
const char *foreign_unit(enum foreign_format format);
bool foreign_write(const struct foreign_options *options, struct foreign_result *result,
		   char *error, size_t size);

/* A stream that gzips into another, which stays open; closing it can fail too.
 * NULL: errno says why. */
FILE *foreign_deflating(FILE *to);
/* A whole file, inflated if it is gzipped, the caller's; NULL: it cannot be read,
 * or is larger than `most`. */
void *foreign_read(const char *path, size_t most, size_t *size);

/*
 * TensorFlow's StepStats or RunMetadata as its own timeline.py shows them: the
 * same events, lanes, arrows, counters, objects and allocation maxima.
 */
bool foreign_is_step_stats(const void *data, size_t size);
bool foreign_step_stats(const void *data, size_t size, const struct foreign_kind *kind, FILE *out,
			struct foreign_result *result, char *error, size_t error_size);

#endif
