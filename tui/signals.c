/* SPDX-License-Identifier: MIT */
#include "tui/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int caught[] = {SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT};
#define CAUGHT (sizeof(caught) / sizeof(*caught))

static int ends[2] = {-1, -1};
static struct sigaction old[CAUGHT], old_pipe;

/* Asked twice before the loop came to look: it hangs in a write to a terminal
 * that takes nothing. Then it ends as the sender expects. */
static volatile sig_atomic_t ending;

static void on_signal(int number)
{
	unsigned char byte = (unsigned char)number;
	int saved = errno;
	ssize_t ignored = write(ends[1], &byte, 1);	/* full: it is told already */

	(void)ignored;
	if (number == SIGTERM || number == SIGHUP) {
		if (ending) {
			signal(number, SIG_DFL);
			raise(number);
		}
		ending = 1;
	}
	errno = saved;
}

void signals_start(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	size_t i;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		ends[0] = ends[1] = -1;
	sigemptyset(&action.sa_mask);
	for (i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &action, &old[i]);
	sigaction(SIGPIPE, &ignore, &old_pipe);
}

void signals_end(void)
{
	size_t i;

	for (i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &old[i], NULL);
	sigaction(SIGPIPE, &old_pipe, NULL);
	if (ends[0] >= 0) {
		close(ends[0]);
		close(ends[1]);
	}
	ends[0] = ends[1] = -1;
}

int signals_fd(void)
{
	return ends[0];
}

int signals_next(void)
{
	unsigned char byte;

	if (read(ends[0], &byte, 1) != 1)
		return 0;
	if (byte == SIGTERM || byte == SIGHUP)
		ending = 0;
	return byte;
}

void signals_raise(int number)
{
	on_signal(number);
}

void signals_stop_here(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL}, before;
	sigset_t stop, mask;

	sigemptyset(&standard.sa_mask);
	sigaction(SIGTSTP, &standard, &before);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &mask);
	/* only ourselves: launcher and keeper are in our process group and go on */
	kill(getpid(), SIGTSTP);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGTSTP, &before, NULL);
}
