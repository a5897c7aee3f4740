/* SPDX-License-Identifier: MIT */
/* Signals as something to poll; a loop that does not come to look can still be
 * ended. Each case in a process of its own. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tui/base/signals.h"

/* How a child that runs `life` ends: as wait() gives it. */
static int end_of(void (*life)(void))
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		/* A shell's background job is born with SIGINT ignored, nohup's with SIGHUP. */
		signal(SIGINT, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		life();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status;
}

static void hung_up_twice(void)
{
	signals_start(SIGNALS_SCREEN);
	raise(SIGHUP);
	raise(SIGHUP);
}

static void terminated_then_hung_up(void)
{
	signals_start(SIGNALS_PROGRAM);
	raise(SIGTERM);
	raise(SIGHUP);
}

static void looked_between(void)
{
	struct pollfd fd;

	signals_start(SIGNALS_SCREEN);
	for (int i = 0; i < 3; i++) {
		raise(SIGTERM);
		fd = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
		if (poll(&fd, 1, 0) != 1 || signals_next() != SIGTERM || signals_next())
			_exit(1);
	}
}

static void held_until_the_start(void)
{
	signals_hold();
	raise(SIGTERM);
	raise(SIGINT);
	signals_start(SIGNALS_SCREEN);
	_exit(signals_next() + signals_next() == SIGTERM + SIGINT ? 7 : 1);
}

static void ignored_before(void)
{
	signal(SIGHUP, SIG_IGN);
	signals_hold();
	raise(SIGHUP);
	signals_start(SIGNALS_SCREEN);
	raise(SIGHUP);
	raise(SIGHUP);
	_exit(signals_next() ? 1 : 7);
}

TEST(signals_end_a_loop_that_does_not_look)
{
	int status = end_of(hung_up_twice);

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
	status = end_of(terminated_then_hung_up);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
	CHECK_INT(end_of(looked_between), 0);
}

TEST(signals_that_come_early_wait)
{
	CHECK_INT(WEXITSTATUS(end_of(held_until_the_start)), 7);
}

TEST(signals_ignored_by_the_caller_stay_ignored)
{
	CHECK_INT(WEXITSTATUS(end_of(ignored_before)), 7);
}
