/* SPDX-License-Identifier: MIT */
/* `run`: follows until a number of steps have ended or an event matches, then freezes. --until does
 * the same and stops collecting. Also: `set budget`. */
#include "tui/loop/loop.h"

#include "model/base/util.h"

void run_forget(struct tui *tui)
{
	until_stop(&tui->until);
	tui->run_steps = 0;
}

static void run_show_match(struct tui *tui, const struct span *span)
{
	struct view *view = &tui->view;
	char text[240];

	until_sentence(&tui->until, span, text, sizeof(text));
	view->selected = span->ref;
	view->cursor_ns = span->start_ns;
	view->cursor_row = span->ref.row;
	view->cursor_lane = span->ref.lane;
	if (tui->panes[0]->ops->reveal)
		tui->panes[0]->ops->reveal(tui->panes[0], view, NULL);
	tui_apply(tui, OUT_REDRAW | OUT_FREEZE | OUT_SHOW_CURSOR);
	if (tui->options->until && !tui->until_matched) {
		tui->until_matched = true;
		tui_end_collecting(tui);
		tui_say(tui, false, "collecting ended at %s: %s", text,
			filter_text(tui->until.filter));
	} else {
		tui_say(tui, false, "frozen at %s: %s", text, filter_text(tui->until.filter));
	}
	run_forget(tui);
}

void run_look(struct tui *tui)
{
	char text[FMT_MAX];
	struct span span;

	if (tui->run_steps && tui->status.steps >= tui->run_steps) {
		tui_apply(tui, OUT_REDRAW | OUT_FREEZE);
		tui_say(tui, false, "frozen after %s, at step %llu; 'run' goes on",
			fmt_many(text, (uint64_t)tui->run_count, "step"),
			(unsigned long long)tui->status.steps);
		run_forget(tui);
	}
	if (tui->until.filter && until_look(&tui->until, &span))
		run_show_match(tui, &span);
	if (tui->status.finished && tui->run_steps) {
		tui_say(tui, false, "the run is over before step %llu",
			(unsigned long long)tui->run_steps);
		run_forget(tui);
	}
	if (tui->status.finished && tui->until.filter && !until_look(&tui->until, &span)) {
		if (tui->until.missed)
			tui_say(tui, true, "the run is over; %s arrived too fast to be checked, "
				"none of the others matched",
				fmt_many(text, tui->until.missed, "event"));
		else
			tui_say(tui, false, "the run is over and no event matched %s",
				filter_text(tui->until.filter));
		run_forget(tui);
	}
}

void run_look_at_budget(struct tui *tui)
{
	struct session *session = tui->live ? live_session(tui->live) : NULL;
	int *setting = &tui->settings.value[SETTING_BUDGET], now;

	if (!session)
		return;
	now = session_budget(session);
	if (now != tui->budget)
		*setting = now;
	else if (*setting != now)
		session_set_budget(session, now = *setting);
	tui->budget = now;
}
