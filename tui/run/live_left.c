/* SPDX-License-Identifier: MIT */
/* The processes that PROGRAM left running when it ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/base/text.h"
#include "tui/draw/labels.h"
#include "tui/run/live_internal.h"

#define NAMED 3				/* how many the message names; the report has all */
#define COMMAND_CELLS 48

static void keep_left(struct live *live, const struct session_left *rows, size_t count, size_t more)
{
	live->left = xcalloc(count, sizeof(*live->left));
	for (size_t i = 0; i < count; i++)
		live->left[i] = (struct report_left){
			.pid = rows[i].pid, .joins = rows[i].joins,
			.command = xstrdup(rows[i].command),
		};
	live->run.left = live->left;
	live->run.n_left = count;
	live->run.more_left = more;
}

static void say_left(struct live *live)
{
	const struct report_run *run = &live->run;
	char text[LIVE_ERROR_MAX], clean[1024], fitted[LABEL_MAX];
	size_t used, all = run->n_left + run->more_left;

	used = (size_t)snprintf(text, sizeof(text), "PROGRAM left %s running:",
				all == 1 ? "a process" : "processes");
	for (size_t i = 0; i < run->n_left && i < NAMED; i++) {
		text_clean(clean, sizeof(clean), run->left[i].command);
		label_command(fitted, sizeof(fitted), clean, COMMAND_CELLS, false);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %d (%s)",
					 i ? "," : "", (int)run->left[i].pid, fitted);
	}
	if (all > NAMED)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ", and %zu more",
					 all - NAMED);
	live_say(live, 1, "%s; 'tftop %s %d' watches %s, and 'tftop --join -- PROGRAM' stays until "
		 "%s ended", text, report_left_option(&run->left[0]), (int)run->left[0].pid,
		 all == 1 ? "it" : "the first", all == 1 ? "it has" : "all have");
}

void live_tell_left(struct live *live)
{
	const struct session_left *rows;
	size_t count, more;

	if (!live->session || !live->exited || live->left)
		return;
	count = session_left(live->session, &rows, &more);
	if (!count)
		return;
	keep_left(live, rows, count, more);
	say_left(live);
}

void live_leave(struct live *live)
{
	bool stays = session_stays(live->session);

	session_let_go(live->session);
	if (stays)
		live_pump(live);	/* the end of PROGRAM, which was held back */
}

void live_free_left(struct live *live)
{
	for (size_t i = 0; live->left && i < live->run.n_left; i++)
		free(live->left[i].command);
	free(live->left);
}
