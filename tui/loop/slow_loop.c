/* SPDX-License-Identifier: MIT */
/* Work that takes longer than a frame: the loop does a part of it in each turn. */
#include "tui/loop/loop.h"

#include <string.h>

#define MS INT64_C(1000000)
#define TURN_NS (4 * MS)	/* time for such work between two checks for keys and frames */
#define HOLD_NS (250 * MS)		/* keys are held back and no message is shown for so long */
#define SAY_NS (100 * MS)

bool slow_begin(struct tui *tui, const struct slow *slow)
{
	slow_stop(tui);
	tui->slow = *slow;
	tui->slow.turns = tui->script ? NULL : turns_new(slow->work, slow->arg);
	tui->slow.began_ns = tui->slow.said_ns = tui_clock(tui);
	if (!tui->slow.turns)
		slow->work(NULL, slow->arg);
	else if (!turns_go(tui->slow.turns, TURN_NS))
		return false;
	turns_free(tui->slow.turns);
	tui->slow.turns = NULL;
	return true;
}

static void end(struct tui *tui, bool stopped)
{
	struct slow slow = tui->slow;

	turns_free(slow.turns);
	tui->slow.turns = NULL;
	slow.over(tui, slow.arg, stopped);
	tui->dirty = true;
}

void slow_look(struct tui *tui)
{
	struct slow *slow = &tui->slow;
	int64_t now;

	if (!slow->turns)
		return;
	/* It is the answer to a key, and drawn as fast as one. */
	if (slow->what)
		tui->key_ns = tui_clock(tui);
	if (turns_go(slow->turns, TURN_NS)) {
		if (slow->what && slow->said_ns > slow->began_ns)
			tui->view.status[0] = '\0';
		end(tui, false);
		return;
	}
	now = tui_clock(tui);
	if (!slow->what || now - slow->began_ns < HOLD_NS || now - slow->said_ns < SAY_NS)
		return;
	slow->said_ns = now;
	tui_say(tui, false, "%s %s %u %%; any key stops it", slow->what,
		tui->view.ascii ? "..." : "…", turns_permille(slow->turns) / 10);
}

bool slow_holds_keys(const struct tui *tui)
{
	return tui->slow.turns && tui->slow.what &&
	       tui_clock(tui) - tui->slow.began_ns < HOLD_NS;
}

bool slow_stopped_by(struct tui *tui, struct key key)
{
	if (!tui->slow.turns || !tui->slow.what)
		return false;
	tui_say(tui, false, "stopped %s at %u %%", tui->slow.what,
		turns_permille(tui->slow.turns) / 10);
	end(tui, true);
	return key.code == KEYSYM_ESC;
}

void slow_stop(struct tui *tui)
{
	if (tui->slow.turns)
		end(tui, true);
}

void slow_stop_waited(struct tui *tui)
{
	if (tui->slow.turns && tui->slow.what)
		end(tui, true);
}

/* ---- of panes ---- */

static void pane_over(struct tui *tui, void *arg, bool stopped)
{
	tui_apply(tui, tui->slow.pane_over(arg, &tui->view, stopped));
}

void slow_pane(struct tui *tui)
{
	const struct view_work *work = &tui->view.work;
	struct slow slow = {
		.what = work->what, .work = work->work, .over = pane_over,
		.pane_over = work->over, .arg = work->arg,
	};

	if (slow_begin(tui, &slow))
		pane_over(tui, work->arg, false);
}
