/* SPDX-License-Identifier: MIT */
/*
 * libtftop-attach.so, the library that tftop injects: it loads the probes into a running program.
 * It needs libc alone.
 *
 * Its entry only starts a thread, so that the injected thread is stopped for a moment only. That
 * new thread, with all signals blocked, sets the environment, loads the probes one after another,
 * lets each install its hooks, writes into a report how it went, and ends.
 *
 * The entry's argument is text, one line each:
 *
 *   report PATH      the report, first; made by tftop, sizeof(struct stage_report) bytes
 *   set NAME=VALUE   put into the program's environment for good
 *   lend NAME=VALUE  put there until the probes are loaded, then restored
 *   load PATH        a library, in this order; its tftop_probe_attach() is called if it
 *                    exports one
 *
 * tftop_probe_attach() returns an enum tft_attached (schema/attach.h). When that is not
 * TFT_ATTACHED, the library can give the reason. Where an earlier tftop has loaded probes, their
 * runtime is told of this tftop first.
 *
 * The environment is replaced, not changed: a new array is swapped into `environ`, and nothing of
 * the old one is freed, because other threads may be reading it. What a thread that was inside
 * setenv() at that moment wrote into the old array is copied to the new one.
 *
 * A library may ask to have code of the program replaced (schema/attach.h): the stage puts the
 * request into the report, and tftop answers there (code.h).
 *
 * The program can write into the report, so it is not trusted: tftop reads it with pread() into
 * its own memory and ends each text itself (report.h).
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
#define STAGE_MAGIC 0x32677473u		/* "stg2": changes with the layout */
#define STAGE_LOADS_MAX 24

enum stage_state {
	STAGE_NOTHING,		/* as tftop created it */
	STAGE_RUNS,		/* its thread is working */
	STAGE_OVER,		/* finished; text: why probes cannot reach tftop, or "" */
	STAGE_BAD_ARGUMENT,	/* nothing was done; text: the wrong line */
};

enum stage_load_state {
	STAGE_WAITS,
	STAGE_LOADING,		/* in dlopen */
	STAGE_ATTACHING,	/* in tftop_probe_attach */
	STAGE_NOT_LOADED,	/* text: dlerror() */
	STAGE_LOADED,		/* loaded; it has no tftop_probe_attach */
	STAGE_ATTACHED,		/* result: what it returned; text: the reason, or "" */
};

struct stage_load {
	uint32_t state;		/* enum stage_load_state */
	int32_t result;
	char text[240];
};

/* Code that a probe wants to be replaced (schema/attach.h). The stage asks, and may withdraw the
 * request; tftop answers. */
enum stage_codes_state {
	STAGE_CODES_NONE,
	STAGE_CODES_ASKED,
	STAGE_CODES_REPLACED,
	STAGE_CODES_REFUSED,	/* nothing was changed; `why` is the reason */
	STAGE_CODES_WITHDRAWN,
};

struct stage_codes {
	uint32_t state;		/* enum stage_codes_state */
	uint32_t count;
	struct tft_code_if only;
	struct tft_code code[TFT_CODES_MAX];
	char why[240];
};

/* In shared memory. A state is written last, with release order. */
struct stage_report {
	uint32_t magic;		/* written by tftop */
	uint32_t state;		/* enum stage_state */
	uint32_t loads;		/* number of libraries to load */
	int32_t pid;		/* the program's, in its own PID namespace */
	char text[240];
	struct stage_codes codes;
	struct stage_load load[STAGE_LOADS_MAX];	/* in the order of the argument */
};

#endif
