/* SPDX-License-Identifier: MIT */
/*
 * oneDNN as it is linked into a framework's library: its primitives become kernels of the processor
 * (probes/runtime/cpu.h).
 *
 * oneDNN describes each primitive in a line of text if ONEDNN_VERBOSE requests it, and writes the
 * line to stdout. Where the function that writes (the sink) can be interposed, the probe takes the
 * lines: only that library is told that lines are requested, by its own import of getenv(), and
 * what it writes at its start without using the sink is removed at its import of printf(). Nothing
 * is put into the program's environment, because its children, and other copies of oneDNN in it,
 * would write their lines to its output.
 *
 * Always true:
 *  - What the program requested itself (ONEDNN_VERBOSE, DNNL_VERBOSE) is written as without the
 *    probe, and nothing else can be seen.
 *  - Errors, which oneDNN writes without being asked, are written, with the lines that would
 *    precede them.
 *  - A line costs a microsecond or more. (Where there is a sink, the parts of the line are taken
 *    before it is composed, at that library's import of snprintf().) If a program runs so many
 *    primitives that it would notice, oneDNN is told to stop making lines, except at level full; at
 *    level off it is told to make none. Whether it can be told so depends on the build (flag.c); if
 *    not, it makes lines until the program ends, and at off they are dropped.
 *
 * Where the sink cannot be reached, as in PyTorch's library, which hides all names of oneDNN, the
 * lines are taken at that library's import of printf() itself (onednn_ask_printf), and the flush of
 * stdout that follows each of them at its import of fflush(). Anything else that the library prints
 * is passed on unchanged.
 *
 * Without lines, ITT reports kinds and times (probes/itt).
 */
#ifndef PROBES_ONEDNN_ONEDNN_H
#define PROBES_ONEDNN_ONEDNN_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/schema/control.h"

/* To be called once, after the sink has been replaced; `inside`: an address in the library that
 * contains oneDNN. false: its lines cannot be requested without leaving traces in the program's
 * output. */
bool onednn_ask(const void *inside);

/* The same for a library without a sink. */
bool onednn_ask_printf(const void *inside);

/* To be called before and after a call of the program that sets what is written: level 0: nothing,
 * else lines. For a library without a sink; takes some milliseconds the first time. */
void onednn_program_asks(int level);
void onednn_program_asked(int level);

/* A line was passed to the sink. true: it is the program's, and must be written. */
bool onednn_line(const char *text);

/* To be called every 10 ms and at each change of the level. true: from now on there are no lines
 * about primitives that ran. */
bool onednn_tick(int64_t now_ns, enum tft_level level);

/* true, once: lines were requested and none came, not even those that every run starts with,
 * because the library (before oneDNN 3) does not know the request. last: no more will come. */
bool onednn_is_deaf(int64_t now_ns, bool last);

/* ---- flag.c ---- */

/* Where the library stores what it writes; NULL: unknown, or its value is not what we requested.
 * Takes some milliseconds. */
_Atomic uint32_t *onednn_flag(const void *inside, uint32_t expected);

/* ---- line.c ---- */

struct onednn_part {
	const char *text;	/* *borrowed from the line* */
	int length;
};

/* A parsed line about a primitive. */
struct onednn_line {
	bool created;		/* it was created, not executed */
	struct onednn_part kind, implementation, direction, shape;
	int64_t dur_ns;
};

/* false: the line is about something else, or does not come from oneDNN. */
bool onednn_parse(const char *text, struct onednn_line *out);
/* The same for the parts that such a line is composed of: they describe the primitive and have no
 * time. */
bool onednn_parse_primitive(const char *text, struct onednn_line *out);

#endif
