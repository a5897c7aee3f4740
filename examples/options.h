/* SPDX-License-Identifier: MIT */
/* The command line of train_opencl. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "examples/marks.h"

struct options {
	int steps, batch, side, upload_side; /* upload_side: a multiple of side */
	int input_threads, prefetch, delay_ms, cached, pieces;
	bool pinned, out_of_order, fuse, fail, quiet;
	int queues; /* 1 or 2 */
	int leak_kib;
	uint64_t seed;
	enum marks_kind ranges;
	const char *truth; /* borrowed from argv; NULL: none */
	int exit_status;
};

/*
 * Ends the program for --help (0) and for an option that is wrong (2, with a
 * line that says what is wrong).
 */
void options_parse(struct options *o, int argc, char **argv);

#endif
