/* SPDX-License-Identifier: MIT */
/*
 * How far the steps have come: how fast they are now, when all will be done,
 * and whether they are steady yet. What the user has said (how many steps there
 * will be, how many samples are in one) is in the settings.
 *
 * Steady: five steps after five, from the last one back, have a median that is within a tenth
 * (or four times the spread, where that is more) of that of the last fifty. So one slow
 * step does not end it, and a slow start, or a program that slows down, does.
 *
 * Pure: O(steps), no model. Threads: any.
 */
#ifndef TUI_PROGRESS_H
#define TUI_PROGRESS_H

#include "keymap/setting.h"
#include "model/query/query.h"

enum progress_state {
	PROGRESS_NONE = 0,		/* no steps */
	PROGRESS_FEW,			/* too few to say */
	PROGRESS_COMPILING,		/* of the last ten some were */
	PROGRESS_MOVING,		/* the last ones are not like those before */
	PROGRESS_STEADY,
};

struct progress {
	enum progress_state state;
	int64_t since;			/* STEADY: number of the first step that is */
	int change_milli;		/* MOVING: the last ones' median to that of those before */
	unsigned compiled;		/* COMPILING: of the last ten */
	int64_t period_ns;		/* from start to start, over the last 32; -1 one step */
	int64_t done, total;		/* steps; total 0: nobody said */
	int64_t left_ns;		/* -1 not known */
	int64_t samples;		/* of a step, 0: nobody said */
};

/* settings NULL: nobody said anything. */
void progress_of(const struct step_list *steps, const struct settings *settings,
		 struct progress *out);

/* "steady since step 12 · 17.8 steps/s · 1 139 samples/s · 43 of 1000 · to go 0:00:53.8";
 * ended: no more steps will come. Returns text. */
char *progress_sentence(const struct progress *progress, bool ended, char *text, size_t size);
/* "1 139 samples/s", "" where that is not known; returns text. */
char *progress_samples(const struct progress *progress, char *text, size_t size);

#endif
