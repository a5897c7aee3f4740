/* SPDX-License-Identifier: MIT */
/*
 * libtftop-attach.so, what tftop injects: it brings the probes into a program that
 * runs. Its entry only makes a thread, so that the injected thread stands still for
 * a moment; that thread, with all signals blocked, sets the environment, loads the
 * probes one after the other, lets each place its hooks, says in a report how it
 * went and ends. It needs libc alone.
 *
 * The argument of the entry is text, a line each:
 *
 *   report PATH      the report, first; made by tftop, of sizeof(struct stage_report)
 *   set NAME=VALUE   from now on in the program's environment
 *   lend NAME=VALUE  there until the probes are loaded, then as it was
 *   load PATH        a library, in this order; its tftop_probe_attach() is called when
 *                    it exports one
 *
 * What comes back from tftop_probe_attach() is an enum tft_attached (schema/attach.h); why
 * it is not TFT_ATTACHED the library says itself, where it can. Where probes are in the
 * program since another tftop, their runtime is told of this one first.
 *
 * The environment is replaced, not changed: a new array with a swap of `environ`, and
 * nothing of the old one freed, as other threads may be reading it. What a thread that
 * was inside of setenv() at that moment wrote to the old array is carried over.
 *
 * A library may have code of the program replaced meanwhile (schema/attach.h): the stage
 * puts that into the report, where tftop answers (code.h).
 *
 * The report is written by the program and so is not to be believed: tftop reads it
 * with pread() into memory of its own and ends each text itself (report.h).
 */
#ifndef PROBES_ATTACH_STAGE_H
#define PROBES_ATTACH_STAGE_H

#include <stdint.h>

#include "probes/schema/attach.h"

#define STAGE_LIBRARY "libtftop-attach.so"
#define STAGE_PROBE_ENTRY "tftop_probe_attach"
#define STAGE_REPLACER_ENTRY "tftop_probe_replacer"
#define STAGE_RUNTIME_ENTRY "tftop_runtime_attach"
#define STAGE_WHY_ENTRY "tftop_attach_why"
#define STAGE_RUNTIME "libtftop-runtime.so"
#define STAGE_START "libtftop-start.so"
#define STAGE_MAGIC 0x32677473u		/* "stg2": another layout, another number */
#define STAGE_LOADS_MAX 24

enum stage_state {
	STAGE_NOTHING,		/* as tftop made it */
	STAGE_RUNS,		/* its thread works */
	STAGE_OVER,		/* everything was tried; text: what is there cannot reach tftop */
	STAGE_BAD_ARGUMENT,	/* nothing was done: text says what was wrong with it */
};

enum stage_load_state {
	STAGE_WAITS,
	STAGE_LOADING,		/* in dlopen */
	STAGE_ATTACHING,	/* in tftop_probe_attach */
	STAGE_NOT_LOADED,	/* text: dlerror's */
	STAGE_LOADED,		/* it has no tftop_probe_attach */
	STAGE_ATTACHED,		/* result: what that gave; text: why, "" unknown */
};

struct stage_load {
	uint32_t state;		/* enum stage_load_state */
	int32_t result;
	char text[240];
};

/* Code that a probe wants to have replaced (schema/attach.h): asked for by the stage, which
 * may withdraw that, answered by tftop. */
enum stage_codes_state {
	STAGE_CODES_NONE,
	STAGE_CODES_ASKED,
	STAGE_CODES_REPLACED,
	STAGE_CODES_REFUSED,	/* nothing is changed; why */
	STAGE_CODES_WITHDRAWN,
};

struct stage_codes {
	uint32_t state;		/* enum stage_codes_state */
	uint32_t count;
	struct tft_code_if only;
	struct tft_code code[TFT_CODES_MAX];
	char why[240];
};

/* Shared memory; states are written last, each with release order. */
struct stage_report {
	uint32_t magic;		/* by tftop */
	uint32_t state;		/* enum stage_state */
	uint32_t loads;		/* how many there are */
	int32_t pid;		/* the program's, in its own namespace */
	char text[240];
	struct stage_codes codes;
	struct stage_load load[STAGE_LOADS_MAX];	/* in the order of the argument */
};

#endif
