/* SPDX-License-Identifier: MIT */
/*
 * The thresholds of the analyses (model/analyses/thresholds.h) as settings of keymap/: `set NAME =
 * VALUE` with the threshold's unit and bounds, listed by help, --print and the man page. Thread:
 * the loop's; takes the model's lock to set one.
 */
#ifndef TUI_THRESHOLDS_H
#define TUI_THRESHOLDS_H

#include "keymap/setting.h"
#include "model/analyses/thresholds.h"
#include "tui/base/options.h"

struct thresholds {
	struct setting_more more;
	struct setting_row rows[THRESHOLD_COUNT];
	char initial[THRESHOLD_COUNT][32];
	char help[THRESHOLD_COUNT][160];
	struct model *model;		/* borrowed; NULL: only for listing */
};

/* The struct must not move while settings refer to its `more`. */
void thresholds_init(struct thresholds *thresholds, struct model *model);

/* Without a screen: applies what the user's configuration says about thresholds. Its errors become
 * messages of the model. */
void thresholds_configure(struct model *model, const struct options *options);

#endif
