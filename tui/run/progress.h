/* SPDX-License-Identifier: MIT */
/*
 * The progress of the steps: how fast they are now, when all will be done, and whether they are
 * steady yet. What the user has set (how many steps there will be, how many samples a step has) is
 * in the settings. When the run has ended, the rate is that of the whole run, as in the report.
 *
 * Steady: counted back from the last step, windows of five steps, moved by five, have a median that
 * is within a tenth (or three times the noise, if that is more) of the median of the last twenty.
 * The noise is the median difference between two of these steps in a row. So a single slow step
 * does not end the steady state, while a slow start, or a program that becomes slower, does.
 *
 * Pure: O(steps), no model. Threads: any.
 */
#ifndef TUI_PROGRESS_H
#define TUI_PROGRESS_H

#include "keymap/setting.h"
#include "model/query/query.h"

enum progress_state {
	PROGRESS_NONE = 0,		/* there are no steps */
	PROGRESS_FEW,			/* there are too few steps to tell */
	PROGRESS_COMPILING,		/* some of the last ten steps compiled */
	PROGRESS_MOVING,		/* the last steps differ from those before */
	PROGRESS_STEADY,
};

struct progress {
	enum progress_state state;
	int64_t since;			/* for STEADY: number of the first steady step */
	/* for MOVING: median of the last steps relative to that of the steps before */
	int change_milli;
	unsigned compiled;		/* for COMPILING: how many of the last ten */
	/* from start to start, over the last 32 steps (`recent`) or all; -1: only one step */
	int64_t period_ns;
	bool recent;
	int64_t done, total;		/* steps; total 0: not set by the user */
	int64_t left_ns;		/* -1: unknown */
	int64_t samples;		/* per step; 0: not set by the user */
	bool passes;			/* the steps are forward passes, and are called that */
};

/* settings NULL: the user has set nothing; ended: no more steps will come. */
void progress_of(const struct step_list *steps, const struct settings *settings, bool ended,
		 struct progress *out);

/* "steady since step 12 · 17.8 steps/s · 1 139 samples/s · 43 of 1000 · to go 0:00:53.8". Returns
 * text. */
char *progress_sentence(const struct progress *progress, char *text, size_t size);
/* "1 139 samples/s"; "" if unknown. Returns text. */
char *progress_samples(const struct progress *progress, char *text, size_t size);

#endif
