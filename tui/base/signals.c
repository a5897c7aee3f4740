/* SPDX-License-Identifier: MIT */
#include "tui/base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/* Without a screen only the first two are caught; while a recording is read, the first three. */
static const int caught[] = {SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT};
#define CAUGHT (sizeof(caught) / sizeof(*caught))

static int ends[2] = {-1, -1};
static struct sigaction old[CAUGHT], old_pipe;
static sigset_t mask_before;
static bool held;
static size_t count;			/* number of entries of `caught` in use */
static bool interrupt_ends;		/* SIGINT asks tftop to quit */
static bool interrupt_ignored;	/* SIGINT was ignored when tftop was started */

/* The second request came before the loop handled the first one: the loop is blocked in a write to
 * a terminal that does not read. tftop then dies of the signal, as the sender expects. */
static volatile sig_atomic_t ending;

static bool asks_to_leave(int number)
{
	return number == SIGTERM || number == SIGHUP || (number == SIGINT && interrupt_ends);
}

static void on_signal(int number)
{
	unsigned char byte = (unsigned char)number;
	int saved = errno;
	/* if the pipe is full, the loop has been woken already */
	ssize_t ignored = write(ends[1], &byte, 1);

	(void)ignored;
	if (asks_to_leave(number)) {
		if (ending) {
			signal(number, SIG_DFL);
			raise(number);
		}
		ending = 1;
	}
	errno = saved;
}

void signals_hold(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < CAUGHT; i++)
		sigaddset(&set, caught[i]);
	sigaddset(&set, SIGQUIT);
	held = !sigprocmask(SIG_BLOCK, &set, &mask_before);
}

/* A signal that nohup or a shell without job control set to be ignored stays ignored. */
static void take(size_t i)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(caught[i], NULL, &old[i]);
	if (old[i].sa_handler != SIG_IGN)
		sigaction(caught[i], &action, NULL);
}

void signals_start(enum signals_of of)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		ends[0] = ends[1] = -1;
	count = of == SIGNALS_SCREEN ? CAUGHT : of == SIGNALS_RECORDING ? 3 : 2;
	interrupt_ends = of == SIGNALS_RECORDING;
	for (size_t i = 0; i < count; i++)
		take(i);
	if (of == SIGNALS_PROGRAM) {
		interrupt_ignored = signal(SIGINT, SIG_IGN) == SIG_IGN;
		signal(SIGQUIT, SIG_IGN);
	}
	sigaction(SIGPIPE, &ignore, &old_pipe);
	if (held)
		sigprocmask(SIG_SETMASK, &mask_before, NULL);
	held = false;
}

void signals_take_interrupt(void)
{
	if (interrupt_ends || interrupt_ignored || count != 2)
		return;
	interrupt_ends = true;
	count = 3;
	signal(caught[2], SIG_DFL);	/* signals_start() has ignored it */
	take(2);
}

void signals_end(void)
{
	for (size_t i = 0; i < count; i++)
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
	if (asks_to_leave(byte))
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
	/* stops only tftop: launcher and keeper are in the same process group and must continue */
	kill(getpid(), SIGTSTP);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGTSTP, &before, NULL);
}
