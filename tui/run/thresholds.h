/* SPDX-License-Identifier: MIT */
/*
 * The analyses' thresholds (model/analyses/thresholds.h) as settings of
 * keymap/: `set NAME = VALUE` with the threshold's unit and bounds, listed by
 * help, --print and the man page. Thread: the loop's; takes the model's lock
 * where it sets one.
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
	struct model *model;		/* borrowed, NULL: to be listed only */
};

/* Whoever sets &thresholds->more in its settings keeps it where it is. */
void thresholds_init(struct thresholds *thresholds, struct model *model);

/* Without a screen: what the user's configuration says of them. Its errors
 * become messages of the model. */
void thresholds_configure(struct model *model, const struct options *options);

#endif
