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
 *  - A line costs a microsecond and more (what it is made of is taken before it
 *    is made, at that library's import of snprintf(), where there is a sink). Of a
 *    program that runs so many primitives that it would notice, oneDNN is told to
 *    make no more of them, but at level full, and none at level off; that it can be
 *    told so depends on the build (flag.c), else it makes its lines to the program's
 *    end, and they are dropped at off.
 *
 * Where the sink is out of reach, as all of oneDNN's names in PyTorch's library, the
 * lines are taken at that library's import of printf() itself (onednn_ask_printf), and
 * the flush of stdout that follows each of them at its import of fflush(). What else
 * that library prints goes on as it came.
 *
 * Without lines, ITT tells kinds and times (probes/itt).
 */
#ifndef PROBES_ONEDNN_ONEDNN_H
#define PROBES_ONEDNN_ONEDNN_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/schema/control.h"

/* Once, when the sink has been taken over; `inside`: an address of the library
 * that has oneDNN. False: its lines cannot be had without a trace in the
 * program's output. */
bool onednn_ask(const void *inside);

/* The same of a library without a sink. */
bool onednn_ask_printf(const void *inside);

/* Before and after a call of the program's that says what is to be written: level 0
 * nothing, else lines. Of a library without a sink; takes some milliseconds the first
 * time. */
void onednn_program_asks(int level);
void onednn_program_asked(int level);

/* A line came to the sink. True: it is the program's, write it. */
bool onednn_line(const char *text);

/* Every 10 ms, and at each change of the level. True: from now on there are no
 * lines of primitives that ran. */
bool onednn_tick(int64_t now_ns, enum tft_level level);

/* True, once: it has been asked for lines and none came, not even those that it begins
 * with: it does not know the words (before oneDNN 3). last: no more will come. */
bool onednn_is_deaf(int64_t now_ns, bool last);

/* ---- flag.c ---- */

/* Where the library keeps what it writes; NULL: not known, or it is not what we
 * asked for. Takes some milliseconds. */
_Atomic uint32_t *onednn_flag(const void *inside, uint32_t expected);

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
/* Of what such a line is made of, the primitive's part alone: it has no time. */
bool onednn_parse_primitive(const char *text, struct onednn_line *out);

#endif
