/* SPDX-License-Identifier: MIT */
/*
 * The parts of some time in the order of their size, for a line of text: its classes and, in the
 * place of the class in which the host ran code, what it did there as far as that is known, each
 * with the line of the program where it is of one. Pure.
 */
#ifndef TUI_TIME_PARTS_H
#define TUI_TIME_PARTS_H

#include "model/query/time.h"

#define TIME_PARTS 16

struct time_part {
	const char *name;
	char place[48];			/* " loader.py:25"; "": unknown */
	int64_t ns;
};

struct time_parts_of {
	const int64_t *ns;		/* of each class */
	int classes;			/* at most TIME_PARTS */
	int host;			/* the class that is divided */
	const char *(*name)(int class);
	const struct host_time_row *rows;	/* as model_idle_host() and the like return them */
	size_t n_rows;
};

/* Returns how many there are. Of the divided class, only what is unknown is left. */
int time_parts(const struct time_parts_of *of, bool ascii, struct time_part parts[TIME_PARTS]);

#endif
