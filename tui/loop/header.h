/* SPDX-License-Identifier: MIT */
/*
 * The header: the lines above the timeline, with the state of the run, the devices and the
 * costliest finding. Thread: the loop's.
 */
#ifndef TUI_HEADER_H
#define TUI_HEADER_H

#include "tui/draw/grid.h"

struct header;
struct view;

struct header *header_new(void);
void header_free(struct header *header);
/* Takes what is shown from the model, whose lock the caller holds. Returns the lines used. */
int header_update(struct header *header, struct view *view, int width, int max_lines);
/* Draws what header_update() took; no lock is needed. */
void header_draw(struct header *header, struct view *view, struct area area);
/* The line of the header that showed the finding when it was last drawn; -1: none. */
int header_finding_line(const struct header *header);

#endif
