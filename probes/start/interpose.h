/* SPDX-License-Identifier: MIT */
/*
 * The functions of frameworks that the preloaded library interposes, and what a probe is given of
 * them.
 *
 * libtftop-start.so defines each function of the tables (symbols.h of each probe) as a jump through
 * a slot: a definition that is not used costs nothing. At first a slot leads to a resolver, which
 * finds the framework's own definition and puts it into the slot. The first call of a function
 * marked TFT_TRIGGER also loads that framework's probe, if its variable names one; the probe
 * replaces the slots for which it has functions. At level off the slots lead to the originals
 * again.
 *
 * Always true:
 *  - Functions without TFT_TRIGGER may be called while the framework's own static initializers run:
 *    nothing is loaded then.
 *  - A function whose original does not exist returns 0.
 *  - The library that contains an original is kept loaded from then on.
 */
#ifndef PROBES_START_INTERPOSE_H
#define PROBES_START_INTERPOSE_H

#include <stdbool.h>

#include "probes/schema/attach.h"

/* Flags of a row: a call loads the probe; and only if the original is in a library that has the
 * framework's word in its path, because others may use the name, too. */
#define TFT_TRIGGER 1u
#define TFT_TRIGGER_OWN 2u

/* What a probe is given; *borrowed for the life of the process*. Functions are numbered as in the
 * probe's own table, from 0. */
struct tft_interposed {
	void **slot;			/* one for each function */
	/* The original behind a slot, looked up now; NULL: there is none. */
	void *(*original)(int function);
	/* Any symbol of the framework's libraries; NULL: there is none. */
	void *(*find)(const char *symbol);
	bool late;	/* the framework was already in use when tftop attached: late.h */
	/* if `late`: replaces code, when the probe starts and later; NULL: that is impossible */
	tft_replace_code *replace;
};

/*
 * A probe exports one of these under the name in the table of frameworks (interpose.c). Returns the
 * function to be called, on any thread, when an original was found later; NULL: the probe does
 * nothing.
 */
typedef void tft_found(int function);
typedef tft_found *tft_framework_start(const struct tft_interposed *lib);

/*
 * A probe that had code replaced exports this as well: another tftop has attached, and the one
 * before may have restored the code. Called on the stage's thread, with lib->replace.
 */
typedef void tft_framework_again(void);

#endif
