/* SPDX-License-Identifier: MIT */
/*
 * The place in the program's source that has most of some time of the host, and its words. Lines
 * of one function in the same state are one place, named by the line that has most of it; for a
 * state with a finding of its own all lines are, and both states without a processor.
 */
#ifndef MODEL_HOST_PLACE_H
#define MODEL_HOST_PLACE_H

#include "model/query/time.h"

struct finding;

/* The findings that a place may belong to, by what the host does there. */
enum wait_finding {
	WAIT_PLACE, WAIT_GIL, WAIT_GC, WAIT_IMPORT, WAIT_PROCESSOR, WAIT_STOPPED, WAIT_COMPILE,
	WAIT_FINDINGS
};

#define ANY_FINDING WAIT_FINDINGS

struct place_row {
	struct host_time_row row;	/* of its line with most time; ns: of all lines; its names
					 * are borrowed from the model */
	const char *verb;
	int64_t throttled_ns;		/* of row.ns: a limit stopped the program */
};

/* Whether both rows are one place of that finding. A function that computes is one, whether in
 * Python or in native code; where no other finding tells the lack of a processor, that belongs to
 * it as well. */
bool host_same_place(const struct host_time_row *a, const struct host_time_row *b,
		     enum wait_finding which);
/* The place with most time of that class and finding; row.ns 0: none. rows: by time, most first; a
 * place that is unknown in state and line explains nothing. */
struct place_row host_most_of(const struct host_time_row *rows, size_t n, int class,
			      enum wait_finding which);
/* Whether the row is native code without a line: what is told is its function. */
bool host_is_function(const struct host_time_row *row);
/* "loader.py:25", "tokenize in server" */
void host_place_text(const struct host_time_row *row, char *text, size_t size);
/* "54 % of it, loader.py:25 in load sleeps" into a line of a finding. */
void host_place_say(char *line, const char *of, int64_t whole_ns, const struct place_row *most);
/* The first line of the finding that is not used; NULL: all are. */
char *finding_line_left(struct finding *finding);

#endif
