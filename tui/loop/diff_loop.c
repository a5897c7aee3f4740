/* SPDX-License-Identifier: MIT */
/* `diff DIR` in the loop: the command waits for the report, and is then run again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"
#include "tui/loop/loop.h"

#define SCRIPT_WAITS_MS 600000
#define SAY_NS INT64_C(1000000000)

static char *diff_line(const struct command_call *call)
{
	return call->line ? xstrdup(call->line) : words_join(call->argc, call->argv);
}

/* Returns the first recording that has no report yet. */
static const char *diff_missing(const struct tui *tui, const struct command_call *call)
{
	for (int i = 1; i < call->argc; i++)
		if (reports_wants(call->argv[i]) && !reports_find(&tui->reports, call->argv[i]))
			return call->argv[i];
	return NULL;
}

enum diff_state diff_begin(struct tui *tui, const struct command_call *call, char *error,
			   size_t error_size)
{
	struct reports *r = &tui->reports;
	const char *path;

	/* A command that the user types refers to the recording in its present state. */
	for (int i = 1; i < call->argc && !r->again && !r->job; i++)
		reports_forget(r, call->argv[i]);
	while ((path = diff_missing(tui, call))) {
		if (r->job) {
			snprintf(error, error_size, "still reading '%s': Esc stops it",
				 reports_path(r));
			return DIFF_FAILED;
		}
		if (!reports_start(r, path, error, error_size))
			return DIFF_FAILED;
		if (!tui->script)
			break;
		/* In a script, the next line finds the report finished. */
		if (reports_wait(r, SCRIPT_WAITS_MS, error, error_size) != REPORTS_DONE)
			return DIFF_FAILED;
	}
	if (!path)
		return DIFF_READY;
	free(r->line);
	r->line = diff_line(call);
	r->began_ns = r->said_ns = tui_clock(tui);
	tui_say(tui, false, "reading '%s' ...; Esc stops it", path);
	return DIFF_WAITS;
}

static void diff_run_again(struct tui *tui)
{
	struct reports *r = &tui->reports;
	char *line = r->line, error[512];

	r->line = NULL;
	r->again = true;
	if (!tui_command(tui, line, error, sizeof(error)))
		tui_say(tui, true, "%s", error);
	r->again = false;
	free(line);
	tui->dirty = true;
}

void diff_look(struct tui *tui)
{
	struct reports *r = &tui->reports;
	int64_t now = tui_clock(tui);
	char error[512], time[FMT_MAX];

	switch (reports_look(r, error, sizeof(error))) {
	case REPORTS_NONE:
		return;
	case REPORTS_RUNNING:
		if (now - r->said_ns < SAY_NS)
			return;
		r->said_ns = now;
		tui_say(tui, false, "reading '%s', %s; Esc stops it", reports_path(r),
			fmt_clock(time, now - r->began_ns));
		return;
	case REPORTS_DONE:
		diff_run_again(tui);
		return;
	case REPORTS_FAILED:
		tui_say(tui, true, "%s", error);
		model_message(tui->model, 2, error);
	}
}

bool diff_stop(struct tui *tui)
{
	const char *path = reports_path(&tui->reports);

	if (!path)
		return false;
	tui_say(tui, false, "stopped reading '%s'", path);
	reports_stop(&tui->reports);
	return true;
}
