/* SPDX-License-Identifier: MIT */
#include "probes/session/lttng/keeper.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/session/lttng/keeper_end.h"
#include "probes/session/lttng/keeper_internal.h"
#include "probes/process/process.h"
#include "probes/session/lttng/scout.h"
#include "probes/process/wire.h"

#define SETUP_LIMIT_NS 8000000000	/* time limit for the calls that create the session */
#define SCOUT_LIMIT_NS 4000000000
#define CAUSE_LIMIT_NS INT64_C(500000000)
#define STOP_LIMIT_NS 3000000000
#define LOOK_PERIOD_NS 1000000000
#define STOPPED_LOOKS 5			/* after this many looks, a stopped daemon is replaced */
#define DISK_PERIOD_NS 1000000000
#define DISK_LOW_BYTES (4ull << 20)

static struct wire_message inbox;

void keeper_tell(struct keeper *k, int level, const char *text)
{
	wire_text(k->options->fd, WIRE_MESSAGE, level, text);
}

/* Tracing is not possible any more: reported once, as WIRE_FAILED or, after WIRE_BEGUN, as
 * WIRE_BROKEN. */
static void keeper_give_up(struct keeper *k, const char *text)
{
	if (k->state == KEEPER_DEAD)
		return;
	wire_text(k->options->fd, k->begun ? WIRE_BROKEN : WIRE_FAILED, 0, text);
	k->state = KEEPER_DEAD;
	keeper_end_daemons(&k->daemons, false);
}

/* While PROGRAM is traced, another set of daemons replaces all. */
static void replace_daemons(struct keeper *k, const char *text)
{
	char error[KEEPER_SENTENCE], both[2 * KEEPER_SENTENCE];

	if (!keeper_may_restart(k, monotonic_ns())) {
		keeper_give_up(k, text);
		return;
	}
	wire_text(k->options->fd, WIRE_RESTARTS, 0, text);
	if (keeper_restart(k, error, sizeof(error)))
		return;
	snprintf(both, sizeof(both), "%s, and %s", text, error);
	keeper_give_up(k, both);
}

/* A daemon is dead. Before WIRE_BEGUN that is an error, unless WIRE_BEGUN is on its way. */
static void replace_or_give_up(struct keeper *k, const char *text)
{
	if (k->state == KEEPER_READY && k->begun) {
		replace_daemons(k, text);
		return;
	}
	if (k->state == KEEPER_READY)
		snprintf(k->fallen, sizeof(k->fallen), "%s", text);
	keeper_give_up(k, text);
}

/* PROGRAM runs or has been attached to. If a daemon died at that very moment, WIRE_FAILED came too
 * late to stop it. */
static void program_has_begun(struct keeper *k)
{
	k->begun = true;
	if (k->state != KEEPER_DEAD || !k->fallen[0])
		return;
	k->state = KEEPER_READY;
	replace_daemons(k, k->fallen);
}

static void replace_daemon(struct keeper *k, const char *name, const char *what)
{
	char text[KEEPER_SENTENCE], tail[256];

	daemons_log_tail(k->dir, name, tail, sizeof(tail));
	snprintf(text, sizeof(text), "'lttng-%s' %s%s%s", name, what,
		 tail[0] ? "; its last output: " : "", tail);
	replace_or_give_up(k, text);
}

/* ---- running ---- */

static void daemons_stand(struct keeper *k)
{
	struct wire_head setup = { .type = WIRE_SETUP };

	if (!k->sessiond_ready || !daemons_relayd_listens(&k->daemons))
		return;
	k->state = KEEPER_CREATING;
	/* The scout loads its libraries while liblttng-ctl waits for the consumer. */
	if (k->options->library_dir && k->options->scout)
		scout_start(k->dir, k->options->library_dir, k->options->program_uid,
			    k->options->program_gid, &k->scout);
	k->deadline_ns = monotonic_ns() + process_patience(SETUP_LIMIT_NS);
	wire_send(k->caller_fd, &setup, NULL, 0, -1, true);
}

static void end_scout(struct keeper *k)
{
	close(k->scout);
	k->scout = -1;
}

static void tell_ready(struct keeper *k)
{
	struct wire_head head = { .type = WIRE_READY };
	struct wire_ready where;
	char host[128] = "localhost";

	memset(&where, 0, sizeof(where));
	gethostname(host, sizeof(host) - 1);
	snprintf(where.dir, sizeof(where.dir), "%s", k->dir);
	snprintf(where.trace, sizeof(where.trace), "%s", k->trace);
	snprintf(where.url, sizeof(where.url), "net://127.0.0.1:%u/host/%s/%s",
		 k->daemons.live, host, k->plan.session);
	where.timer_us = k->plan.timer_us;
	where.past_users = (uint32_t)k->past_users;
	k->state = KEEPER_READY;
	/* Not earlier: if a program keeps all processors busy, they would need seconds for the
	 * tenth of a second of work that makes them ready. */
	process_group_gives_way(k->hurried);
	process_gives_way(k->daemons.sessiond);
	process_gives_way(k->daemons.relayd);
	process_gives_way(k->consumer_pid);
	wire_send(k->options->fd, &head, &where, sizeof(where), k->set ? -1 : k->control, true);
}

/* The session is ready, and its first program, the scout, has registered. */
static void scout_has_registered(struct keeper *k)
{
	char text[KEEPER_SENTENCE], tail[256];

	if (k->scout_registered && dir_count(k->trace, 2) <= k->past_processes) {
		daemons_log_tail(k->dir, "sessiond", tail, sizeof(tail));
		snprintf(text, sizeof(text), "LTTng accepts no events%s%s",
			 tail[0] ? "; its last output: " : "", tail);
		keeper_give_up(k, text);
	} else {
		tell_ready(k);
	}
	end_scout(k);
}

static void session_was_created(struct keeper *k)
{
	k->consumer_pid = daemons_consumerd(&k->daemons);
	if (k->consumer_pid)
		k->consumer = (int)syscall(SYS_pidfd_open, k->consumer_pid, 0);
	if (k->scout_registered) {
		scout_has_registered(k);
	} else if (k->scout < 0) {
		tell_ready(k);
	} else {
		k->state = KEEPER_SCOUTING;
		k->deadline_ns = monotonic_ns() + SCOUT_LIMIT_NS;
	}
}

static void scout_speaks(struct keeper *k)
{
	char byte;

	k->scout_registered = read(k->scout, &byte, 1) == 1;
	if (!k->scout_registered) {
		keeper_tell(k, 2, "cannot load the probes: is liblttng-ust installed?");
		end_scout(k);
	}
	if (k->state == KEEPER_SCOUTING && k->scout_registered)
		scout_has_registered(k);
	else if (k->state == KEEPER_SCOUTING)
		tell_ready(k);
	else if (k->state > KEEPER_SCOUTING && k->scout >= 0)
		end_scout(k);		/* it is too late to be useful */
}

static void caller_answers(struct keeper *k)
{
	enum wire_result r = wire_recv(k->caller_fd, &inbox, NULL);
	struct wire_head drained = { .type = WIRE_DRAINED };

	if (r == WIRE_AGAIN)
		return;
	if (r != WIRE_OK) {
		close(k->caller_fd);
		k->caller_fd = -1;
		if (k->state < KEEPER_STOPPED)
			replace_or_give_up(k, "tftop's process that calls LTTng died");
		return;
	}
	if (inbox.head.type == WIRE_MESSAGE) {
		keeper_tell(k, inbox.head.status, inbox.data);
	} else if (k->state == KEEPER_CREATING) {
		if (inbox.head.status == 0)
			session_was_created(k);
		else
			keeper_give_up(k, inbox.data);
	} else if (k->state == KEEPER_STOPPING) {
		if (inbox.head.status != 0)
			keeper_tell(k, 1, inbox.data);
		k->state = KEEPER_STOPPED;
		wire_send(k->options->fd, &drained, NULL, 0, -1, true);
	}
}

static void keeper_obey(struct keeper *k)
{
	struct wire_head drained = { .type = WIRE_DRAINED };

	if (wire_recv(k->options->fd, &inbox, NULL) != WIRE_OK)
		return;
	if (inbox.head.type == WIRE_BEGUN)
		program_has_begun(k);
	if (inbox.head.type == WIRE_STOP && k->set && k->state < KEEPER_READY) {
		/* The next set is not ready yet: it has nothing to deliver. */
		k->state = KEEPER_STOPPED;
		wire_send(k->options->fd, &drained, NULL, 0, -1, true);
	}
	if (k->state != KEEPER_READY ||
	    (inbox.head.type != WIRE_STOP && inbox.head.type != WIRE_ADMIT))
		return;
	if (inbox.head.type == WIRE_STOP) {
		k->state = KEEPER_STOPPING;
		k->deadline_ns = monotonic_ns() + STOP_LIMIT_NS;
	}
	wire_send(k->caller_fd, &inbox.head, NULL, 0, -1, true);
}

static void reap_daemons(struct keeper *k)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(k->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo == SIGUSR1)
			k->sessiond_ready = true;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		bool expected = k->state >= KEEPER_STOPPED;
		char what[64];

		if (WIFSIGNALED(status))
			snprintf(what, sizeof(what), "was killed by signal %d", WTERMSIG(status));
		else
			snprintf(what, sizeof(what), "ended with status %d", WEXITSTATUS(status));
		if (pid == k->daemons.sessiond) {
			k->daemons.sessiond = 0;
			if (!expected)
				replace_daemon(k, "sessiond", what);
		} else if (pid == k->daemons.relayd) {
			k->daemons.relayd = 0;
			if (!expected)
				replace_daemon(k, "relayd", what);
		}
	}
}

/* A dying sessiond closes its sockets and ends the consumer daemon before its own death is
 * reported. So wait a moment for the actual cause. */
static void consumer_gone(struct keeper *k)
{
	struct pollfd signals = { .fd = k->signals, .events = POLLIN };
	int64_t until_ns = monotonic_ns() + CAUSE_LIMIT_NS;
	unsigned int set = k->set;

	close(k->consumer);
	k->consumer = -1;
	/* The first child that is reported dead may be the consumer itself. */
	while (k->set == set && k->state < KEEPER_STOPPED && monotonic_ns() < until_ns) {
		poll(&signals, 1, 50);
		reap_daemons(k);
	}
	if (k->set == set && k->state < KEEPER_STOPPED)
		replace_daemon(k, "consumerd", "died");
}

/* A daemon that was stopped from outside blocks all others. The time is counted in looks, not by
 * the clock: the keeper may have been stopped together with them. */
static void watch_stopped(struct keeper *k, int64_t now)
{
	static const char *const names[3] = { "sessiond", "relayd", "consumerd" };
	const pid_t pids[3] = { k->daemons.sessiond, k->daemons.relayd, k->consumer_pid };
	struct process_stat stat;

	if (now < k->look_ns || k->state != KEEPER_READY || !k->begun)
		return;
	k->look_ns = now + LOOK_PERIOD_NS;
	for (int i = 0; i < 3; i++) {
		if (!pids[i] || !process_stat(pids[i], &stat) || stat.state != 'T')
			k->stopped[i] = 0;
		else if (++k->stopped[i] > STOPPED_LOOKS) {
			replace_daemon(k, names[i], "was stopped for 5 s");
			return;
		}
	}
}

static void watch_disk(struct keeper *k, int64_t now)
{
	unsigned long long room;
	char text[1200];

	if (now < k->disk_ns || k->disk_told || k->state != KEEPER_READY)
		return;
	k->disk_ns = now + DISK_PERIOD_NS;
	room = dir_free_bytes(k->trace);
	if (room >= DISK_LOW_BYTES)
		return;
	k->disk_told = true;
	snprintf(text, sizeof(text), "the disk is full: '%s' has %llu KiB left, and events are "
		 "lost",
		 k->trace, room >> 10);
	keeper_tell(k, 2, text);
}

static void watch_deadline(struct keeper *k, int64_t now)
{
	struct wire_head drained = { .type = WIRE_DRAINED };

	if (now < k->deadline_ns)
		return;
	if (k->state == KEEPER_STANDING) {
		replace_daemon(k, k->sessiond_ready ? "relayd" : "sessiond",
			      "did not start in time");
	} else if (k->state == KEEPER_CREATING) {
		replace_daemon(k, "sessiond", "does not answer");
	} else if (k->state == KEEPER_SCOUTING) {
		keeper_tell(k, 1, "LTTng is slow to accept the first program: early events may be "
			    "missing");
		tell_ready(k);
	} else if (k->state == KEEPER_STOPPING) {
		keeper_tell(k, 1, "LTTng did not deliver its last events in time");
		k->state = KEEPER_STOPPED;
		wire_send(k->options->fd, &drained, NULL, 0, -1, true);
	}
}

static void keeper_loop(struct keeper *k)
{
	for (;;) {
		struct pollfd p[6] = {
			{ .fd = k->options->fd, .events = POLLIN },
			{ .fd = k->signals, .events = POLLIN },
			{ .fd = k->caller_fd, .events = POLLIN },
			{ .fd = k->options->broker, .events = POLLIN },
			{ .fd = k->consumer, .events = POLLIN },
			{ .fd = k->scout_registered ? -1 : k->scout, .events = POLLIN },
		};
		int wait = k->state == KEEPER_STANDING && k->sessiond_ready ? 1 :
			   k->state == KEEPER_READY ? 1000 : 200;
		unsigned int set = k->set;

		poll(p, 6, wait);
		if (p[0].revents & (POLLHUP | POLLERR))
			return;
		/* before a death is handled: this may be WIRE_BEGUN */
		if (p[0].revents)
			keeper_obey(k);
		if (p[1].revents)
			reap_daemons(k);
		if (p[5].revents && k->set == set)
			scout_speaks(k);
		if (p[2].revents && k->set == set)
			caller_answers(k);
		if (p[3].revents & POLLIN)
			daemons_broker(k->options->broker, &inbox);
		if (p[4].revents && k->set == set)
			consumer_gone(k);
		if (k->state == KEEPER_STANDING)
			daemons_stand(k);
		watch_deadline(k, monotonic_ns());
		watch_stopped(k, monotonic_ns());
		watch_disk(k, monotonic_ns());
	}
}

static void become_keeper(struct keeper *k)
{
	sigset_t watched;
	int fds[2];

	prctl(PR_SET_NAME, "tftop-keeper");
	setsid();
	k->hurried = process_hurry();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	process_shrug_signals();
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	sigprocmask(SIG_BLOCK, &watched, NULL);
	fds[0] = k->options->fd;
	fds[1] = k->options->broker;
	process_null_stdio();
	process_keep_fds(fds, 2);
	k->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	/* PROGRAM's other users reach its sockets; the recording gets the user's mask. */
	k->daemons.mask = umask(0022);
	if (chdir("/") != 0)
		umask(0022);
}

_Noreturn void keeper_main(const struct keeper_options *options)
{
	static struct keeper k;
	char error[KEEPER_SENTENCE] = "";

	k.options = options;
	k.lock = k.caller_fd = k.control = k.consumer = k.scout = -1;
	become_keeper(&k);
	if (!keeper_begin(&k, error, sizeof(error)))
		keeper_give_up(&k, error);
	keeper_loop(&k);
	dir_let_go(k.lock);	/* tftop does this itself unless it was killed */
	/* tftop has everything; sessiond resets root's own word in /dev/shm */
	keeper_end_daemons(&k.daemons, k.state == KEEPER_STOPPED &&
			   (geteuid() != 0 || k.places.other_uid));
	if (options->record_dir && k.places.uid != geteuid())
		keeper_end_recording(k.trace, geteuid(), getegid());
	keeper_end_folder(k.dir, options->known);
	keeper_end_wait_word(k.places.uid);
	_exit(0);
}
