/* SPDX-License-Identifier: MIT */
/*
 * What the files of the header share: header.c draws the state of the run,
 * header_devices.c the shares of the devices. Functions that are given a model
 * need its lock. Thread: the loop's.
 */
#ifndef TUI_HEADER_LINES_H
#define TUI_HEADER_LINES_H

#include <stdarg.h>

#include "tui/run/live.h"
#include "tui/draw/pane.h"
#include "tui/loop/header.h"
#include "tui/table/steps.h"
#include "tui/draw/strip.h"
#include "tui/draw/timeline_cells.h"

#define HEADER_SPARK 12			/* recent steps drawn */
#define HEADER_SPARK_ID 1
#define HEADER_LINES 4			/* devices with a line of their own */

struct header {
	struct model_status status;
	struct step_list steps;
	struct strip state, lines[HEADER_LINES], finding, banner;
	uint64_t revision;		/* of the findings, when `top` was taken */
	struct finding top;
	bool found;			/* there has been one: its line stays */
	int finding_y;			/* of the last draw, -1: not drawn */
	int n_lines;
	bool waiting;			/* no device yet: lines[0] says for what */
	/* The latest kernel that ended: how many had, when, and what was on its way then. */
	uint64_t kernels, launched;
	int64_t kernels_ns;
	bool opened;			/* has been updated once ... */
	int64_t opened_ns;		/* ... at this time of the loop's clock */
	char command[256];		/* PROGRAM, until it says so itself */
	uint8_t spark[HEADER_SPARK];	/* heights 1 … 8, 0: none */
	bool slow[HEADER_SPARK];
	bool ascii, shades;		/* of the last draw */
};

/* Heights of the last steps against the longest of them. */
void header_spark(struct header *header);

/* Makes up to `most` lines; returns how many, 0: no device worked yet. */
int header_devices(struct header *header, struct view *view, int width, int most,
		   int64_t recent_ns);

#endif
