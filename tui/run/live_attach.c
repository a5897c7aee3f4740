/* SPDX-License-Identifier: MIT */
/* Attaching to a running program (-p): its name, and detaching from it. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "probes/process/process.h"
#include "tui/run/live_internal.h"
#include "tui/base/log.h"

/* The probes check the control page at least every 100 ms and write all complete events then; LTTng
 * reads them at once. */
#define FLUSH_NS 150000000

/* The command line as the probes report it: its words, separated by blanks. The caller owns it. */
static char *read_line(pid_t pid)
{
	char path[64], text[8192];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	size = process_read_file(path, text, sizeof(text));
	for (ssize_t i = 0; i + 1 < size; i++)
		if (!text[i])
			text[i] = ' ';
	return xstrdup(size > 0 ? text : "");
}

void live_read_command(struct live *live)
{
	char path[64], text[8192];
	size_t words = 0;
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)live->options->pids[0]);
	size = process_read_file(path, text, sizeof(text));
	live->command = xcalloc(RECORDING_WORDS_MAX + 1, sizeof(*live->command));
	for (char *at = text; size > 0 && at < text + size && words < RECORDING_WORDS_MAX;
	     at += strlen(at) + 1)
		live->command[words++] = xstrdup(at);
	live->run.command = live->command;
	live->run.pid = live->options->pids[0];
	if (live->options->n_pids > 1)
		live->others = xcalloc(live->options->n_pids - 1, sizeof(*live->others));
	for (size_t i = 1; i < live->options->n_pids; i++)
		live->others[i - 1] = read_line(live->options->pids[i]);
}

void live_free_command(struct live *live)
{
	for (char **word = live->command; word && *word; word++)
		free(*word);
	free(live->command);
	for (size_t i = 1; live->others && i < live->options->n_pids; i++)
		free(live->others[i - 1]);
	free(live->others);
	live_free_left(live);
}

bool live_has_come(void *arg)
{
	struct live *live = arg;

	return atomic_load(&live->introduced);
}

/* Other events may date from before, with names that only the previous tftop received. */
void live_look_for_it(struct live *live, const struct event *events, size_t count)
{
	if (!live->options->join || atomic_load(&live->introduced))
		return;
	for (size_t i = 0; i < count; i++)
		if (events[i].type == EVENT_PROCESS)
			atomic_store(&live->introduced, true);
}

const char *live_error(const struct live *live)
{
	return live->error;
}

const char *live_program_name(const struct live *live)
{
	const char *path =
		live->run.command && live->run.command[0] ? live->run.command[0] : "the program";
	const char *name = basename(path);

	return *name ? name : path;
}

void live_let_go(struct live *live)
{
	int64_t until_ns = monotonic_ns() + FLUSH_NS;

	if (!live->options->n_pids || !live->session || live->phase >= LIVE_ENDING)
		return;
	session_let_go(live->session);
	while (monotonic_ns() < until_ns)
		live_wait(live, 10);
	log_line("detached from %zu processes", live->options->n_pids);
	if (live->options->n_pids == 1)
		live_say(live, 0,
			 "detached from process %d: it keeps running, its probes are switched off",
			 (int)live->options->pids[0]);
	else
		live_say(live, 0,
			 "detached from %zu processes: they keep running, their probes are "
			 "switched off",
			 live->options->n_pids);
	live_finish(live, false);
}
