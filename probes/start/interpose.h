/* SPDX-License-Identifier: MIT */
/*
 * Frameworks' functions that the preloaded library interposes, and what a probe
 * gets of them.
 *
 * libtftop-start.so defines each function of the tables (symbols.h of each probe)
 * as a jump through a slot: a definition that nobody asks for costs nothing. A
 * slot first leads to a resolver, which finds the framework's own definition
 * and puts it into the slot. The first call of one marked TFT_TRIGGER also loads
 * that framework's probe, when its variable names one; the probe takes over the
 * slots it has functions for. At level off the originals are back.
 *
 * Always true:
 *  - Functions without TFT_TRIGGER may be called while the framework's own
 *    static initializers run: nothing is loaded then.
 *  - A function whose original is not there returns 0.
 *  - The library that has an original is kept loaded from then on.
 */
#ifndef PROBES_START_INTERPOSE_H
#define PROBES_START_INTERPOSE_H

#include <stdbool.h>

#include "probes/schema/attach.h"

/* Flags of a row: a call loads the probe; only when the original is in a
 * library that has the framework's word in its path: others may use the name too. */
#define TFT_TRIGGER 1u
#define TFT_TRIGGER_OWN 2u

/* What a probe is given; *borrowed for the process's life*. Functions are numbered as
 * in the probe's own table, from 0. */
struct tft_interposed {
	void **slot;			/* one for each function */
	/* The original behind a slot, looked for now; NULL: none. */
	void *(*original)(int function);
	/* Any symbol of the framework's libraries; NULL: none. */
	void *(*find)(const char *symbol);
	bool late;			/* it has been in use for a while: late.h */
	tft_replace_code *replace;	/* late, as the probe begins or again; NULL: nobody can */
};

/*
 * A probe exports one of these under the name in the table of frameworks
 * (interpose.c). Returns what is to be called, on any thread, when an original was
 * found later; NULL: the probe stays out.
 */
typedef void tft_found(int function);
typedef tft_found *tft_framework_start(const struct tft_interposed *lib);

/*
 * A probe that had code replaced exports this as well: another tftop has come, the one before
 * may have put the code back. On the stage's thread, with lib->replace.
 */
typedef void tft_framework_again(void);

#endif
