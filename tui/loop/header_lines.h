/* SPDX-License-Identifier: MIT */
/*
 * What the files of the header share: header.c draws the state of the run, header_devices.c the
 * shares of the devices. Functions that are given a model need its lock. Thread: the loop's.
 */
#ifndef TUI_HEADER_LINES_H
#define TUI_HEADER_LINES_H

#include <stdarg.h>

#include "model/query/cost.h"
#include "model/query/requests.h"
#include "tui/run/live.h"
#include "tui/draw/pane.h"
#include "tui/loop/header.h"
#include "tui/table/steps.h"
#include "tui/draw/strip.h"
#include "tui/draw/timeline_cells.h"

#define HEADER_SPARK 12			/* how many recent steps are drawn */
#define HEADER_SPARK_ID 1
#define HEADER_LINES 4			/* how many devices have a line of their own */

struct header {
	struct model_status status;
	struct own_cost cost;
	struct request_rates requests;
	struct step_list steps;
	struct strip state, lines[HEADER_LINES], finding, banner;
	uint64_t revision;		/* revision of the findings when `top` was taken */
	struct finding top;
	bool found;			/* there has been a finding, so its line stays */
	int finding_y;			/* as last drawn; -1: not drawn */
	int n_lines;
	bool waiting;			/* no device yet; lines[0] says what is awaited */
	/* The latest kernel that ended: how many kernels there were then, when it was, and how many
	 * commands were in flight. */
	uint64_t kernels, launched;
	int64_t kernels_ns;
	bool opened;			/* it has been updated once ... */
	int64_t opened_ns;		/* ... at this time of the loop's clock */
	char command[256];		/* PROGRAM's command, until it reports it itself */
	uint8_t spark[HEADER_SPARK];	/* heights 1 ... 8; 0: none */
	bool slow[HEADER_SPARK];
	bool ascii, shades;		/* as last drawn */
};

/* Computes the heights of the last steps relative to the longest of them. */
void header_spark(struct header *header);

/* Makes up to `most` lines; returns how many; 0: no device has worked yet. */
int header_devices(struct header *header, struct view *view, int width, int most,
		   int64_t recent_ns);

#endif
