/* SPDX-License-Identifier: MIT */
#include "probes/session/program/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/process/process.h"
#include "probes/process/wire.h"

#define RING_BYTES (1u << 20)
#define INPUT_BYTES 4096
#define QUEUE_MAX 32
/* How long a tftop that reads nothing may block PROGRAM, as a slow terminal would; after that
 * PROGRAM's oldest output is dropped. */
#define PATIENCE_NS 100000000
/* A pty delivers its last bytes slightly after its writer's exit. */
#define TAIL_NS 30000000

struct launcher {
	const struct launcher_options *options;
	pid_t program;
	int master, slave, gate, report, signals;
	bool released, started, exec_failed, exited, exit_sent, silent, tftop_gone;
	int64_t exited_ns;
	bool pty_ended, wake_again, stopped;
	int status;			/* as returned by waitpid() */
	int64_t tail_ns;		/* output is awaited until this time */
	int64_t wake_ns;		/* when tftop is continued once more */
	/* Output of PROGRAM that tftop has not taken yet: the oldest bytes are discarded first. */
	char *ring;			/* owned; NULL: nothing is forwarded */
	size_t ring_start, ring_used;
	uint64_t dropped;
	int64_t taken_ns;		/* when tftop last took output */
	/* Keys that the pty has not taken yet. */
	char input[INPUT_BYTES];
	size_t input_used;
	struct {
		struct wire_head head;
		char text[160];
	} queue[QUEUE_MAX];
	size_t queued;
};

static struct wire_message inbox;

/* ---- to tftop ---- */

static void queue_message(struct launcher *l, const struct wire_head *head, const char *text)
{
	if (l->tftop_gone || l->queued == QUEUE_MAX)
		return;
	l->queue[l->queued].head = *head;
	snprintf(l->queue[l->queued].text, sizeof(l->queue[0].text), "%s", text ? text : "");
	l->queued++;
}

/* Continues a stopped PROGRAM, because there is no other process left that could. */
static void continue_program(struct launcher *l)
{
	if (!l->stopped || l->exited)
		return;
	if (getpgid(l->program) == l->program)
		kill(-l->program, SIGCONT);
	else
		kill(l->program, SIGCONT);
}

static void tftop_is_gone(struct launcher *l)
{
	l->tftop_gone = true;
	continue_program(l);
	l->silent = true;
	l->queued = 0;
	l->ring_used = 0;
}

static bool send_messages(struct launcher *l)
{
	size_t sent = 0;

	while (sent < l->queued) {
		const char *text = l->queue[sent].text;
		enum wire_result r = wire_send(l->options->fd, &l->queue[sent].head,
					       text, strlen(text), -1, false);

		if (r == WIRE_AGAIN)
			break;
		if (r != WIRE_OK) {
			tftop_is_gone(l);
			return false;
		}
		sent++;
	}
	l->queued -= sent;
	memmove(l->queue, l->queue + sent, l->queued * sizeof(l->queue[0]));
	return l->queued == 0;
}

static bool send_ring(struct launcher *l)
{
	while (l->ring_used) {
		struct wire_head head = { .type = WIRE_OUTPUT };
		size_t size = RING_BYTES - l->ring_start;
		enum wire_result r;

		if (size > l->ring_used)
			size = l->ring_used;
		if (size > WIRE_DATA_MAX)
			size = WIRE_DATA_MAX;
		r = wire_send(l->options->fd, &head, l->ring + l->ring_start, size,
			      -1, false);
		if (r == WIRE_AGAIN)
			return false;
		if (r != WIRE_OK) {
			tftop_is_gone(l);
			return false;
		}
		l->ring_start = (l->ring_start + size) % RING_BYTES;
		l->ring_used -= size;
		l->taken_ns = monotonic_ns();
	}
	if (l->dropped) {
		struct wire_head head = { .type = WIRE_MESSAGE, .status = 1 };
		char text[160], bytes[FMT_MAX];

		snprintf(text, sizeof(text), "%s of PROGRAM's output were discarded: the screen "
			 "did not keep up", fmt_many(bytes, l->dropped, "byte"));
		queue_message(l, &head, text);
		l->dropped = 0;
	}
	return true;
}

static bool output_pending(const struct launcher *l)
{
	return l->master >= 0 && !l->pty_ended &&
	       (l->ring_used || monotonic_ns() < l->tail_ns);
}

static void send_pending(struct launcher *l)
{
	if (l->tftop_gone || !send_messages(l) || !send_ring(l) || !send_messages(l))
		return;
	if (l->exited && !l->exit_sent && !output_pending(l)) {
		struct wire_head head = {
			.type = WIRE_EXITED, .pid = l->program, .time_ns = l->exited_ns,
		};

		if (WIFSIGNALED(l->status)) {
			head.signal = WTERMSIG(l->status);
			head.status = 128 + head.signal;
		} else {
			head.status = WEXITSTATUS(l->status);
		}
		l->exit_sent = true;
		if (!l->exec_failed)
			queue_message(l, &head, NULL);
		send_messages(l);
	}
}

/* ---- from PROGRAM ---- */

static void keep_output(struct launcher *l, const char *data, size_t size)
{
	if (l->silent || !l->ring)
		return;
	if (l->ring_used + size > RING_BYTES) {
		size_t over = l->ring_used + size - RING_BYTES;

		l->ring_start = (l->ring_start + over) % RING_BYTES;
		l->ring_used -= over;
		l->dropped += over;
	}
	for (size_t done = 0; done < size;) {
		size_t at = (l->ring_start + l->ring_used) % RING_BYTES;
		size_t part = RING_BYTES - at;

		if (part > size - done)
			part = size - done;
		memcpy(l->ring + at, data + done, part);
		l->ring_used += part;
		done += part;
	}
}

/* For how many milliseconds PROGRAM's output stays blocked; 0: it is not blocked. */
static int holding_up(const struct launcher *l)
{
	int64_t left = l->taken_ns + PATIENCE_NS - monotonic_ns();

	if (l->ring_used + WIRE_DATA_MAX <= RING_BYTES || l->silent || left <= 0)
		return 0;
	return (int)(left / 1000000) + 1;
}

static void read_output(struct launcher *l)
{
	char data[WIRE_DATA_MAX];

	/* Bounded, so that messages are handled even in a flood of output. */
	for (int i = 0; i < 16 && !holding_up(l); i++) {
		ssize_t got = read(l->master, data, sizeof(data));

		if (got > 0) {
			keep_output(l, data, (size_t)got);
			if (l->exited)
				l->tail_ns = monotonic_ns() + TAIL_NS;
			continue;
		}
		if (got < 0 && errno == EINTR)
			continue;
		/* EIO: nobody has the pty open now; before the exit somebody may open it again. */
		l->pty_ended = got == 0 || errno == EIO;
		return;
	}
}

static void write_input(struct launcher *l)
{
	if (!l->input_used) {
		ssize_t got = read(l->options->input, l->input, sizeof(l->input));

		if (got <= 0)
			return;
		l->input_used = (size_t)got;
	}
	ssize_t put = l->master < 0 ? (ssize_t)l->input_used
				    : write(l->master, l->input, l->input_used);
	if (put < 0 && errno != EAGAIN && errno != EINTR)
		put = (ssize_t)l->input_used;
	if (put > 0) {
		l->input_used -= (size_t)put;
		memmove(l->input, l->input + put, l->input_used);
	}
}

/* ---- PROGRAM itself ---- */

static void read_exec_report(struct launcher *l)
{
	struct wire_head head = {
		.type = WIRE_STARTED, .pid = l->program, .time_ns = monotonic_ns(),
	};
	char text[160];
	int error = 0;
	ssize_t got;

	if (l->report < 0)
		return;
	got = read(l->report, &error, sizeof(error));
	if (got < 0)
		return;
	close(l->report);
	l->report = -1;
	if (got == (ssize_t)sizeof(error)) {
		l->exec_failed = true;
		head.type = WIRE_EXEC_FAILED;
		head.status = error == ENOENT ? 127 : 126;
		process_error(text, sizeof(text), "cannot run", l->options->argv[0], error);
		queue_message(l, &head, text);
		return;
	}
	l->started = true;
	queue_message(l, &head, NULL);
}

static void reap_program(struct launcher *l)
{
	struct signalfd_siginfo info;
	int status;

	while (read(l->signals, &info, sizeof(info)) > 0)
		;
	while (!l->exited &&
	       waitpid(l->program, &status, WNOHANG | WUNTRACED | WCONTINUED) > 0) {
		struct wire_head head = { .pid = l->program };

		if (WIFSTOPPED(status)) {
			head.type = WIRE_STOPPED;
			l->stopped = true;
			head.signal = WSTOPSIG(status);
			queue_message(l, &head, NULL);
		} else if (WIFCONTINUED(status)) {
			head.type = WIRE_CONTINUED;
			l->stopped = false;
			queue_message(l, &head, NULL);
			/* tftop may be about to stop, because PROGRAM did. */
			if (!l->options->screen && getppid() == l->options->tftop) {
				kill(l->options->tftop, SIGCONT);
				l->wake_again = true;
				l->wake_ns = monotonic_ns() + 300000000;
			}
		} else {
			read_exec_report(l);
			l->exited = true;
			l->exited_ns = monotonic_ns();
			l->status = status;
			l->tail_ns = monotonic_ns() + TAIL_NS;
		}
	}
}

static void open_gate(struct launcher *l, char how)
{
	if (l->released)
		return;
	l->released = true;
	if (l->slave >= 0) {
		/* Untraced, PROGRAM keeps tftop's terminal: the launcher's session gives the pty
		 * up (SIGHUP goes to its foreground group, the launcher's, and is ignored). */
		if (how == 'R')
			tcsetpgrp(l->slave, l->program);
		else
			ioctl(l->slave, TIOCNOTTY);
	}
	if (how && write(l->gate, &how, 1) < 0)
		how = 0;
	close(l->gate);
	l->gate = -1;
	if (l->slave >= 0)
		close(l->slave);
	l->slave = -1;
	if (how != 'R' && l->master >= 0) {
		close(l->master);
		l->master = -1;
	}
}

static void forward_signal(struct launcher *l, int number)
{
	if (l->exited || number <= 0 || number >= LAUNCHER_SIGNALS)
		return;
	/* Not to tftop's own group, which contains the rest of a pipeline. */
	if (getpgid(l->program) == l->program)
		kill(-l->program, number);
	else
		kill(l->program, number);
}

static void launcher_obey(struct launcher *l)
{
	for (;;) {
		enum wire_result r = wire_recv(l->options->fd, &inbox, NULL);

		if (r == WIRE_AGAIN)
			return;
		if (r != WIRE_OK) {
			tftop_is_gone(l);
			open_gate(l, 0);
			return;
		}
		switch (inbox.head.type) {
		case WIRE_RELEASE:
			open_gate(l, 'R');
			break;
		case WIRE_ABORT:
			open_gate(l, 'A');
			l->silent = true;
			break;
		case WIRE_RESIZE:
			if (l->master >= 0 && inbox.size == sizeof(struct winsize))
				ioctl(l->master, TIOCSWINSZ, inbox.data);
			break;
		case WIRE_SIGNAL:
			forward_signal(l, inbox.head.signal);
			break;
		case WIRE_LET_GO:
			l->silent = true;
			continue_program(l);
			l->ring_used = 0;
			l->dropped = 0;
			break;
		default:
			break;
		}
	}
}

/* ---- the loop ---- */

static int time_to_wait(struct launcher *l)
{
	int64_t now = monotonic_ns();

	if (l->wake_again && now >= l->wake_ns) {
		l->wake_again = false;
		if (!l->exited && getppid() == l->options->tftop)
			kill(l->options->tftop, SIGCONT);
	}
	if (l->exited && output_pending(l))
		return (int)((l->tail_ns - now) / 1000000) + 1;
	if (l->wake_again)
		return 100;
	/* A pty that nobody has open is polled: it may be opened again. */
	return l->master >= 0 && l->pty_ended && !l->exited ? 200 : -1;
}

static void launcher_turn(struct launcher *l)
{
	const struct launcher_options *o = l->options;
	bool more = l->queued || l->ring_used || l->dropped;
	int held = holding_up(l), wait = time_to_wait(l);
	struct pollfd p[5] = {
		{ .fd = l->signals, .events = POLLIN },
		{ .fd = l->tftop_gone ? -1 : o->fd,
		  .events = (short)(POLLIN | (more ? POLLOUT : 0)) },
		{ .fd = l->pty_ended ? -1 : l->master,
		  .events = (short)((held ? 0 : POLLIN) | (l->input_used ? POLLOUT : 0)) },
		{ .fd = l->input_used || l->tftop_gone ? -1 : o->input, .events = POLLIN },
		{ .fd = l->report, .events = POLLIN },
	};

	if (held && (wait < 0 || wait > held))
		wait = held;
	if (poll(p, 5, wait) < 0 && errno != EINTR)
		return;
	if (p[4].revents)
		read_exec_report(l);
	if (p[0].revents)
		reap_program(l);
	if (p[1].revents & (POLLIN | POLLHUP | POLLERR))
		launcher_obey(l);
	if (l->master >= 0 && (p[2].revents & (POLLIN | POLLHUP | POLLERR) ||
			       l->pty_ended || l->exited))
		read_output(l);
	if (p[3].revents || (p[2].revents & POLLOUT))
		write_input(l);
	send_pending(l);
}

static bool launcher_finished(const struct launcher *l)
{
	if (!l->exited)
		return false;
	/* Children of PROGRAM may still use the pty. */
	if (l->master >= 0 && !l->pty_ended)
		return false;
	return l->tftop_gone || (l->exit_sent && !l->queued && !l->ring_used);
}

static void open_pty(struct launcher *l)
{
	struct termios modes;
	char name[128];
	bool same = false;

	l->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (l->master < 0)
		return;
	if (grantpt(l->master) == 0 && unlockpt(l->master) == 0 &&
	    ptsname_r(l->master, name, sizeof(name)) == 0)
		l->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (l->slave < 0) {
		close(l->master);
		l->master = -1;
		return;
	}
	/* PROGRAM gets the modes of its user's terminal. */
	for (int fd = 0; fd < 3 && !same; fd++)
		same = tcgetattr(fd, &modes) == 0;
	if (same)
		tcsetattr(l->slave, TCSANOW, &modes);
	ioctl(l->master, TIOCSWINSZ, &l->options->winsize);
	/* Before the fork: a controlling terminal is inherited, not shared. */
	ioctl(l->slave, TIOCSCTTY, 0);
	l->ring = malloc(RING_BYTES);
}

static void fork_program(struct launcher *l)
{
	int gate[2], report[2];

	if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0)
		_exit(125);
	l->program = fork();
	if (l->program < 0)
		_exit(125);
	if (l->program == 0) {
		struct program_gate ends = { gate[0], report[1], l->slave };

		/* The other ends must notice the launcher's death. */
		close(gate[1]);
		close(report[0]);
		close(l->signals);
		close(l->options->fd);
		close(l->options->input);
		if (l->master >= 0)
			close(l->master);
		if (l->options->screen)
			setpgid(0, 0);
		program_main(l->options, &ends);
	}
	if (l->options->screen)
		setpgid(l->program, l->program);
	close(gate[0]);
	close(report[1]);
	l->gate = gate[1];
	l->report = report[0];
}

_Noreturn void launcher_main(const struct launcher_options *options)
{
	struct launcher l = { .options = options, .master = -1, .slave = -1 };
	sigset_t child;

	prctl(PR_SET_NAME, "tftop-launcher");
	process_shrug_signals();
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	l.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (options->screen) {
		struct wire_head head = { .type = WIRE_MESSAGE, .status = 1 };

		setsid();
		open_pty(&l);
		if (l.master < 0)
			queue_message(&l, &head,
				      "no pseudo-terminal is available: PROGRAM writes to the "
				      "terminal directly");
	}
	fork_program(&l);
	if (!options->screen)
		setpgid(0, 0);

	int keep[] = { options->fd, options->input, l.master, l.slave, l.gate,
		       l.report, l.signals, options->shortcut->lock };
	process_null_stdio();
	process_keep_fds(keep, sizeof(keep) / sizeof(keep[0]));
	if (chdir("/") != 0)
		prctl(PR_SET_NAME, "tftop-launcher");
	fcntl(options->input, F_SETFL, O_NONBLOCK);
	while (!launcher_finished(&l))
		launcher_turn(&l);
	shortcut_close(options->shortcut);
	/* The end of a session's leader sends SIGHUP to the foreground group of its terminal: not
	 * to what PROGRAM left running, which does not use the pty. */
	if (l.master >= 0)
		tcsetpgrp(l.master, getpgrp());
	_exit(0);
}
