/* SPDX-License-Identifier: MIT */
/*
 * The process that becomes PROGRAM: waits until it is released, takes the pty if there is one, and
 * executes PROGRAM with everything else as tftop found it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "probes/session/program/launcher.h"

void launcher_origin_save(struct launcher_origin *origin)
{
	if (origin->saved)
		return;
	sigprocmask(SIG_SETMASK, NULL, &origin->mask);
	for (int i = 1; i < LAUNCHER_SIGNALS; i++)
		sigaction(i, NULL, &origin->actions[i]);
	origin->saved = true;
}

static void restore_signals(const struct launcher_origin *origin)
{
	for (int i = 1; i < LAUNCHER_SIGNALS; i++) {
		/* Handlers do not survive an exec: only "ignored" does. */
		if (origin->actions[i].sa_handler == SIG_IGN)
			signal(i, SIG_IGN);
		else
			signal(i, SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, &origin->mask, NULL);
}

static void take_pty(int slave)
{
	for (int fd = 0; fd < 3; fd++)
		if (isatty(fd))
			dup2(slave, fd);
}

static void set_planned_variables(struct launcher_plan *plan)
{
	uint32_t at = 0;

	if (plan->bytes > LAUNCHER_ENV_MAX)
		return;
	while (at < plan->bytes) {
		char *line = plan->lines + at;
		size_t length = strnlen(line, plan->bytes - at);

		if (strchr(line, '='))
			putenv(line);
		at += (uint32_t)length + 1;
	}
}

_Noreturn void program_main(const struct launcher_options *options,
			    const struct program_gate *gate)
{
	char opened = 0;
	ssize_t got;
	int error;

	restore_signals(options->origin);
	do {
		got = read(gate->gate, &opened, 1);
	} while (got < 0 && errno == EINTR);
	if (got == 1 && opened == 'A')
		_exit(0);
	if (got == 1 && opened == 'R') {
		if (gate->slave >= 0)
			take_pty(gate->slave);
		set_planned_variables(options->plan);
	}
	execvp(options->argv[0], options->argv);
	error = errno;
	if (write(gate->report, &error, sizeof(error)) < 0)
		_exit(error == ENOENT ? 127 : 126);
	_exit(error == ENOENT ? 127 : 126);
}
