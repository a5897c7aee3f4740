/* SPDX-License-Identifier: MIT */
/*
 * oneDNN as it is linked into a framework's library: its primitives as kernels
 * of the processor (probes/runtime/cpu.h).
 *
 * oneDNN describes each primitive in a line of text when ONEDNN_VERBOSE asks for
 * it, and writes it to stdout. Where the function that writes (the sink) can be
 * interposed, the lines are ours: that library alone is told that they are
 * wanted, by its own import of getenv(), and what it writes at its start past
 * the sink is taken back at its import of printf(). Nothing is put into the
 * program's environment: its children, and other copies of oneDNN in it, would
 * write their lines to its output.
 *
 * Always true:
 *  - What the program asked for itself (ONEDNN_VERBOSE, DNNL_VERBOSE) is written
 *    as without us, and only what it asked for is seen.
 *  - Errors, which oneDNN writes unasked, are written, with the lines that
 *    would stand before them.
 *  - Once asked for, oneDNN makes its lines to the program's end, at level off
 *    too (2 us each); they are dropped then.
 *
 * Without a sink, ITT tells kinds and times (probes/itt).
 */
#ifndef PROBES_ONEDNN_ONEDNN_H
#define PROBES_ONEDNN_ONEDNN_H

#include <stdbool.h>
#include <stdint.h>

/* Once, when the sink has been taken over; `inside`: an address of the library
 * that has oneDNN. False: its lines cannot be had without a trace in the
 * program's output. */
bool onednn_ask(const void *inside);

/* A line came to the sink. True: it is the program's, write it. */
bool onednn_line(const char *text);

/* ---- line.c ---- */

struct onednn_part {
	const char *text;	/* *borrowed from the line* */
	int length;
};

/* A line that tells of a primitive, taken apart. */
struct onednn_line {
	bool created;		/* made, not run */
	struct onednn_part kind, implementation, direction, shape;
	int64_t dur_ns;
};

/* False: it tells of something else, or is none of oneDNN's. */
bool onednn_parse(const char *text, struct onednn_line *out);

/* ---- import.c ---- */

struct onednn_import {
	const char *name;
	void *ours;
	bool done;
};

/* Puts functions of ours in the place of what one library imports. */
void onednn_imports(const void *inside, struct onednn_import *imports, int count);

#endif
