/* SPDX-License-Identifier: MIT */
/*
 * The mouse in the timeline: a click places the cursor on a row and an event, or folds; a double
 * click opens; the wheel scrolls rows, zooms with Ctrl and pans with Shift; dragging moves the
 * time, in the minimap the window.
 */
#include "tui/timeline/pane_timeline.h"

#include <inttypes.h>
#include <stdio.h>

#include "tui/draw/mouse.h"

#define MARKER_COLUMNS 3		/* columns at the left of a label; a click there folds */

static unsigned run(struct timeline_pane *t, struct view *view, const char *command)
{
	if (command != t->command)
		snprintf(t->command, sizeof(t->command), "%s", command);
	view->run_command = t->command;
	return OUT_RUN_COMMAND;
}

static int64_t time_at(const struct view *view, int x)
{
	int64_t w = view->columns > 0 ? (view->t1_ns - view->t0_ns) / view->columns : 0;
	int64_t column = x - view->gutter;

	column = column < 0 ? 0 : column >= view->columns ? view->columns - 1 : column;
	return view->t0_ns + column * w + w / 2;
}

static const struct timeline_seen *seen_at(const struct timeline_pane *t, int y)
{
	for (size_t i = 0; i < t->n_seen; i++)
		if (y >= t->seen[i].y && y < t->seen[i].y + t->seen[i].height)
			return &t->seen[i];
	return NULL;
}

static unsigned timeline_wheel(struct timeline_pane *t, struct view *view,
			       const struct mouse *mouse)
{
	bool up = mouse->what == MOUSE_WHEEL_UP;

	if (mouse->what == MOUSE_WHEEL_LEFT || mouse->what == MOUSE_WHEEL_RIGHT)
		return run(t, view, mouse->what == MOUSE_WHEEL_LEFT ? "pan-left 5" : "pan-right 5");
	if (mouse->mods & MOD_SHIFT)
		return run(t, view, up ? "pan-left 5" : "pan-right 5");
	if (!(mouse->mods & MOD_CTRL))
		return OUT_UNKNOWN;
	/* The time under the mouse stays there. */
	if (mouse->x >= view->gutter)
		view->cursor_ns = time_at(view, mouse->x);
	return run(t, view, up ? "zoom-in" : "zoom-out");
}

/* Centres the window at the time that was clicked on the map. */
static unsigned go_on_map(struct timeline_pane *t, struct view *view, int x)
{
	int64_t column = x < 1 ? 0 : (size_t)x > t->minimap.width ? (int64_t)t->minimap.width - 1 :
			 x - 1;

	if (t->minimap.w_ns <= 0 || column < 0)
		return OUT_NONE;
	snprintf(t->command, sizeof(t->command), "goto %" PRId64 "ns", column * t->minimap.w_ns);
	return run(t, view, t->command);
}

/* Runs a command without arguments as if it had been typed. */
static unsigned timeline_run(struct timeline_pane *t, struct view *view, enum command_id id)
{
	const char *const argv[] = {command_table[id].name};

	return timeline_command(&t->pane, view, &(struct command_call){id, 1, argv, NULL});
}

static unsigned press_row(struct timeline_pane *t, struct view *view, const struct mouse *mouse,
			  const struct timeline_seen *seen)
{
	t->moved = true;
	view->cursor_row = seen->line.row;
	view->cursor_lane = seen->line.lane;
	if (mouse->x < view->gutter) {
		view->selected = (struct span_ref){0};
		if (mouse->what == MOUSE_DOUBLE || mouse->x < MARKER_COLUMNS)
			return timeline_run(t, view, COMMAND_ID_TOGGLE_FOLD);
		return OUT_REDRAW;
	}
	if (mouse->what == MOUSE_DOUBLE)
		return view->selected.id ? timeline_run(t, view, COMMAND_ID_ABOUT) : OUT_REDRAW;
	view->cursor_ns = time_at(view, mouse->x);
	t->drag = DRAG_TIME;
	t->drag_x = mouse->x;
	timeline_select(view);
	return OUT_REDRAW | OUT_FREEZE;
}

static unsigned timeline_press(struct timeline_pane *t, struct view *view,
			       const struct mouse *mouse, int height)
{
	struct timeline_layout layout = timeline_layout(height, view->minimap);
	const struct timeline_seen *seen;

	t->drag = DRAG_NONE;
	if (mouse->button != 1)
		return OUT_NONE;
	if (mouse->y == layout.minimap) {
		t->drag = DRAG_MAP;
		return go_on_map(t, view, mouse->x);
	}
	if (mouse->y == layout.ruler && mouse->x >= view->gutter) {
		view->cursor_ns = time_at(view, mouse->x);
		view->selected = (struct span_ref){0};
		t->drag = DRAG_TIME;
		t->drag_x = mouse->x;
		return OUT_REDRAW | OUT_FREEZE;
	}
	seen = seen_at(t, mouse->y - layout.rows);
	return seen ? press_row(t, view, mouse, seen) : OUT_NONE;
}

static unsigned drag(struct timeline_pane *t, struct view *view, const struct mouse *mouse)
{
	int by = mouse->x - t->drag_x;

	if (t->drag == DRAG_MAP)
		return go_on_map(t, view, mouse->x);
	if (t->drag != DRAG_TIME || !by)
		return OUT_NONE;
	t->drag_x = mouse->x;
	snprintf(t->command, sizeof(t->command), "pan-%s %dc", by > 0 ? "left" : "right",
		 by > 0 ? by : -by);
	return run(t, view, t->command);
}

unsigned timeline_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			int width, int height)
{
	struct timeline_pane *t = (struct timeline_pane *)pane;

	(void)width;
	if (mouse_is_wheel(mouse))
		return timeline_wheel(t, view, mouse);
	switch (mouse->what) {
	case MOUSE_PRESS:
	case MOUSE_DOUBLE:
		return timeline_press(t, view, mouse, height);
	case MOUSE_DRAG:
		return drag(t, view, mouse);
	default:
		t->drag = DRAG_NONE;
		return OUT_NONE;
	}
}
