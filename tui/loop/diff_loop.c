/* SPDX-License-Identifier: MIT */
/* `diff DIR` as the loop sees it: the command waits for the report, and is run again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"
#include "tui/commands/commands_internal.h"

#define SCRIPT_WAITS_MS 600000
#define SAY_NS INT64_C(1000000000)

static char *line_of(const struct run *run)
{
	return run->call.line ? xstrdup(run->call.line) :
				words_join(run->call.argc, run->call.argv);
}

/* The first recording of which there is no report yet. */
static const char *missing(const struct run *run)
{
	for (int i = 1; i < run->call.argc; i++)
		if (reports_wants(run->call.argv[i]) &&
		    !reports_find(&run->tui->reports, run->call.argv[i]))
			return run->call.argv[i];
	return NULL;
}

bool diff_waits(struct run *run)
{
	struct tui *tui = run->tui;
	struct reports *r = &tui->reports;
	const char *path;

	/* What is typed is what is there now. */
	for (int i = 1; i < run->call.argc && !r->again && !r->job; i++)
		reports_forget(r, run->call.argv[i]);
	while ((path = missing(run))) {
		run->failed = true;
		if (r->job) {
			command_fail(run, "still reading '%s': Esc stops it", reports_path(r));
			return true;
		}
		if (!reports_start(r, path, run->error, run->error_size))
			return true;
		run->failed = false;
		if (!tui->script)
			break;
		/* A script's next line finds it done. */
		run->failed = reports_wait(r, SCRIPT_WAITS_MS, run->error, run->error_size) !=
			REPORTS_DONE;
		if (run->failed)
			return true;
	}
	if (!path)
		return false;
	free(r->line);
	r->line = line_of(run);
	r->began_ns = r->said_ns = tui_clock(tui);
	tui_say(tui, false, "reading '%s' ...; Esc stops it", path);
	return true;
}

static void run_again(struct tui *tui)
{
	struct reports *r = &tui->reports;
	char *line = r->line, error[512];

	r->line = NULL;
	r->again = true;
	if (!command_line(tui, line, error, sizeof(error)))
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
		run_again(tui);
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
