/* SPDX-License-Identifier: MIT */
/* Decides which part of the screen gets a mouse event: the topmost part first, then the panes. */
#include "tui/loop/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define DOUBLE_NS INT64_C(400000000)	/* longest time between two presses of a double click */

/* A second press at the same place soon after the first one is a double click. */
static void find_double(struct tui *tui, struct mouse *mouse)
{
	struct tui_mouse *state = &tui->mouse;
	int64_t now = tui_clock(tui);

	if (mouse->what != MOUSE_PRESS)
		return;
	if (state->pressed.button == mouse->button && state->pressed.x == mouse->x &&
	    state->pressed.y == mouse->y && now - state->pressed_ns <= DOUBLE_NS) {
		mouse->what = MOUSE_DOUBLE;
		state->pressed.button = 0;	/* a third press starts a new click */
	} else {
		state->pressed = *mouse;
		state->pressed_ns = now;
	}
}

static bool run(struct tui *tui, const char *command)
{
	char line[HIT_COMMAND], error[256];

	/* the line is copied, because a frame may be drawn before it runs */
	snprintf(line, sizeof(line), "%s", command);
	if (!tui_command(tui, line, error, sizeof(error)))
		tui_say(tui, true, "%s", error);
	return true;
}

static bool in_part(const struct layout_part *part, int y)
{
	return y >= part->y && y < part->y + part->height;
}

static unsigned mouse_scroll_pane(struct tui *tui, struct pane *pane, const struct mouse *mouse)
{
	enum command_id id =
		mouse->what == MOUSE_WHEEL_UP ? COMMAND_ID_ROW_UP : COMMAND_ID_ROW_DOWN;
	const char *const argv[] = {command_table[id].name, MOUSE_WHEEL_TEXT};
	struct command_call call = {id, 2, argv, NULL};

	if (mouse->what != MOUSE_WHEEL_UP && mouse->what != MOUSE_WHEEL_DOWN)
		return OUT_NONE;
	return pane->ops->command(pane, &tui->view, &call) & ~(unsigned)OUT_UNKNOWN;
}

/* The pane handles the event, else the default handler of all panes. */
static void give_pane(struct tui *tui, int i, struct mouse mouse)
{
	const struct layout_part *part = i ? &tui->layout.lower : &tui->layout.timeline;
	struct pane *pane = tui->panes[i];
	unsigned outcome = OUT_UNKNOWN;

	mouse.y -= part->y;
	if (pane->ops->mouse)
		outcome = pane->ops->mouse(pane, &tui->view, &mouse, tui->width, part->height);
	if (outcome & OUT_UNKNOWN)
		outcome = mouse_scroll_pane(tui, pane, &mouse);
	tui_apply(tui, outcome);
}

/* A pane in which a button was pressed gets all events until its release. */
static void give_panes(struct tui *tui, struct mouse mouse)
{
	bool press = mouse.what == MOUSE_PRESS || mouse.what == MOUSE_DOUBLE;
	struct tui_mouse *state = &tui->mouse;
	int i;

	if (mouse.what == MOUSE_DRAG || mouse.what == MOUSE_RELEASE) {
		i = state->holder;
		if (mouse.what == MOUSE_RELEASE)
			state->holder = -1;
		if (i == 0 || (i > 0 && i == tui->lower))
			give_pane(tui, i, mouse);
		return;
	}
	if (in_part(&tui->layout.timeline, mouse.y))
		i = 0;
	else if (in_part(&tui->layout.lower, mouse.y))
		i = tui->lower;
	else
		return;
	if (press) {
		state->holder = i;
		tui->focus_lower = i > 0;
	}
	give_pane(tui, i, mouse);
}

void tui_mouse(struct tui *tui, struct mouse mouse)
{
	const char *command = NULL;

	tui->key_ns = tui_clock(tui);
	tui->dirty = true;
	find_double(tui, &mouse);
	if (mouse.what == MOUSE_PRESS || mouse.what == MOUSE_DOUBLE) {
		tui->pending_count = 0;
		tui->mouse.holder = -1;
		if (tui->status_until_ns != INT64_MAX) {
			tui->view.status[0] = '\0';
			tui->status_until_ns = 0;
		}
		if (mouse.button == 1)
			command = hits_find(&tui->hits, mouse.x, mouse.y);
	}
	if (command && run(tui, command))
		return;
	if (tui->dialog)
		return;
	if (tui->help.open) {
		if (mouse.what == MOUSE_WHEEL_UP || mouse.what == MOUSE_WHEEL_DOWN)
			help_scroll(&tui->help, mouse.what == MOUSE_WHEEL_UP ? -MOUSE_WHEEL_ROWS :
				    MOUSE_WHEEL_ROWS);
		return;
	}
	if (!tui->layout.too_small && !(tui->prompt.open && !mouse_is_wheel(&mouse)))
		give_panes(tui, mouse);
}

/* ---- in scripts: WHAT X Y [X2 Y2] [shift] [alt] [ctrl] [middle|right] ---- */

struct mouse_act {
	const char *name;
	int places;
	struct { enum mouse_what what; int place; } steps[4];
	int count;
};

static const struct mouse_act acts[] = {
	{"click", 1, {{MOUSE_PRESS, 0}, {MOUSE_RELEASE, 0}}, 2},
	{"double", 1, {{MOUSE_PRESS, 0}, {MOUSE_RELEASE, 0}, {MOUSE_DOUBLE, 0},
		       {MOUSE_RELEASE, 0}}, 4},
	{"drag", 2, {{MOUSE_PRESS, 0}, {MOUSE_DRAG, 1}, {MOUSE_RELEASE, 1}}, 3},
	{"press", 1, {{MOUSE_PRESS, 0}}, 1},
	{"move", 1, {{MOUSE_DRAG, 0}}, 1},
	{"release", 1, {{MOUSE_RELEASE, 0}}, 1},
	{"wheel-up", 1, {{MOUSE_WHEEL_UP, 0}}, 1},
	{"wheel-down", 1, {{MOUSE_WHEEL_DOWN, 0}}, 1},
	{"wheel-left", 1, {{MOUSE_WHEEL_LEFT, 0}}, 1},
	{"wheel-right", 1, {{MOUSE_WHEEL_RIGHT, 0}}, 1},
};

static const struct mouse_act *find_act(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		if (!strcmp(acts[i].name, name))
			return &acts[i];
	return NULL;
}

static bool take_place(const char *text, int *place)
{
	char *end;
	long value = strtol(text, &end, 10);

	*place = (int)value;
	return *text && !*end && value >= 0 && value < 10000;
}

static bool mouse_take_word(const char *word, struct mouse *mouse)
{
	if (!strcmp(word, "shift"))
		mouse->mods |= MOD_SHIFT;
	else if (!strcmp(word, "alt"))
		mouse->mods |= MOD_ALT;
	else if (!strcmp(word, "ctrl"))
		mouse->mods |= MOD_CTRL;
	else if (!strcmp(word, "middle"))
		mouse->button = 2;
	else if (!strcmp(word, "right"))
		mouse->button = 3;
	else
		return false;
	return true;
}

bool tui_mouse_command(struct tui *tui, const struct command_call *call, char *error,
		       size_t error_size)
{
	const struct mouse_act *act = find_act(call->argv[1]);
	struct mouse mouse = {.button = 1};
	int place[4], i, at = 2;

	if (!act) {
		snprintf(error, error_size, "'%s' is not a mouse action: click, double, drag, "
			 "press, move, release, wheel-up, -down, -left, -right", call->argv[1]);
		return false;
	}
	for (i = 0; i < 2 * act->places; i++, at++)
		if (at >= call->argc || !take_place(call->argv[at], &place[i])) {
			snprintf(error, error_size, "'%s' needs %s, counted from 0", act->name,
				 act->places == 2 ? "X Y X2 Y2" : "X Y");
			return false;
		}
	for (; at < call->argc; at++)
		if (!mouse_take_word(call->argv[at], &mouse)) {
			snprintf(error, error_size,
				 "expected shift, alt, ctrl, middle or right, not '%s'",
				 call->argv[at]);
			return false;
		}
	for (i = 0; i < act->count && !tui->quit; i++) {
		struct mouse step = mouse;

		step.what = act->steps[i].what;
		step.x = place[2 * act->steps[i].place];
		step.y = place[2 * act->steps[i].place + 1];
		if (mouse_is_wheel(&step))
			step.button = 0;
		/* the event is handled on the picture that the user sees */
		frame_update(tui, true);
		frame_draw(tui);
		tui_mouse(tui, step);
	}
	return true;
}
