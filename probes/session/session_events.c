/* SPDX-License-Identifier: MIT */
/* The events of a session: messages of launcher and keeper, and what /proc shows. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/session/lttng/daemons.h"
#include "probes/process/dir.h"
#include "probes/session/internal.h"
#include "probes/session/program/follow.h"
#include "probes/session/left.h"
#include "probes/session/targets/targets.h"
#include "probes/process/process.h"

/* How many messages of the daemons are passed on. */
#define LOGS_TOLD_MAX 4
/* How many processes of one tree are looked at. */
#define PIDS_MAX 256
/* A stopped keeper is continued after this many looks in a row: 1 s. */
#define KEEPER_STANDS 4

/* ---- the launcher ---- */

static void told_child(void *arg, const struct child_event *child);
static void watch_users(struct session *s);

static void program_ended(struct session *s)
{
	s->exited = true;
	if (s->follow)
		follow_program(s->follow, 0);
	watch_users(s);
	targets_look(s, told_child);
	if (s->children)
		children_look(s->children, told_child, s);
	children_free(s->children);
	s->children = NULL;
}

static void launcher_ended(struct session *s)
{
	struct epoll_event event = { .events = EPOLLIN };

	s->launcher_gone = true;
	session_unwatch(s, s->launcher_fd);
	if (s->exited)
		return;
	if (!s->started) {
		struct session_event failed = { .type = SESSION_EXEC_FAILED, .status = 125 };

		program_ended(s);
		session_note(s, &failed, "tftop's launcher died before PROGRAM started");
		return;
	}
	session_say(s, 2, "tftop's launcher died: PROGRAM's exit status will be unknown");
	s->program_fd = (int)syscall(SYS_pidfd_open, s->program, 0);
	event.data.fd = s->program_fd;
	if (s->program_fd >= 0)
		epoll_ctl(s->poll_fd, EPOLL_CTL_ADD, s->program_fd, &event);
}

static void fill(struct session *s, struct session_event *event)
{
	const struct wire_message *w = &s->wire;

	*event = (struct session_event){
		.pid = w->head.pid, .status = w->head.status,
		.signal = w->head.signal, .time_ns = w->head.time_ns, .text = w->data,
	};
}

static bool is_stopped(pid_t pid)
{
	struct process_stat stat;

	return process_stat(pid, &stat) && stat.state == 'T';
}

/* Tells of processes that the variables do not reach, where they would load the probes. */
static void watch_environments(struct session *s)
{
	char text[SESSION_ERROR_MAX];

	environ_complaint(&s->probes, text, sizeof(text));
	if (text[0] || !s->armed || s->broken || s->preflight.kind == PREFLIGHT_FOREIGN)
		return;
	s->follow = follow_new_to_tell(&s->probes);
	if (s->follow)
		follow_program(s->follow, s->program);
}

static bool take_launcher(struct session *s, struct session_event *event)
{
	fill(s, event);
	switch (s->wire.head.type) {
	case WIRE_STARTED:
		event->type = SESSION_STARTED;
		s->program = event->pid;
		s->started = true;
		s->children = children_new(s->program);
		watch_environments(s);
		return true;
	case WIRE_EXEC_FAILED:
		event->type = SESSION_EXEC_FAILED;
		program_ended(s);
		return true;
	case WIRE_OUTPUT:
		event->type = SESSION_OUTPUT;
		event->data = s->wire.data;
		event->size = s->wire.size;
		return true;
	case WIRE_STOPPED:
		event->type = SESSION_STOPPED;
		/* Ctrl-Z stops tftop as well: continued, it must not stop again. */
		return is_stopped(s->program);
	case WIRE_CONTINUED:
		event->type = SESSION_CONTINUED;
		return true;
	case WIRE_EXITED:
		event->type = SESSION_EXITED;
		program_ended(s);
		return session_tell_end(s, event);
	case WIRE_MESSAGE:
		event->type = SESSION_MESSAGE;
		event->level = event->status;
		return true;
	default:
		return false;
	}
}

/* PROGRAM has ended when all targets have. */
static bool take_target(struct session *s, struct session_event *event)
{
	struct session_target *target = s->exited ? NULL : targets_ended(s);
	char text[SESSION_ERROR_MAX];
	size_t others;

	if (!target)
		return false;
	session_unwatch(s, target->fd);
	others = targets_running(s);
	*event = (struct session_event){
		.type = others ? SESSION_CHILD_EXITED : SESSION_EXITED, .status = -1,
		.pid = others ? target->pid : s->program, .time_ns = monotonic_ns(), .text = "",
	};
	if (!others) {
		program_ended(s);
		return session_tell_end(s, event);
	}
	snprintf(text, sizeof(text), "process %d has ended; %zu %s still observed",
		 (int)target->pid, others, others == 1 ? "is" : "are");
	session_say(s, 0, text);
	return true;
}

/* After the launcher's death only the pidfd shows that PROGRAM ended. */
static bool take_pidfd(struct session *s, struct session_event *event)
{
	struct process_stat stat;

	if (s->attach)
		return take_target(s, event);
	if (s->program_fd < 0 || s->exited)
		return false;
	if (process_stat(s->program, &stat) && stat.state != 'Z' &&
	    syscall(SYS_pidfd_send_signal, s->program_fd, 0, NULL, 0) == 0)
		return false;
	session_unwatch(s, s->program_fd);
	program_ended(s);
	*event = (struct session_event){
		.type = SESSION_EXITED, .pid = s->program, .status = -1,
		.time_ns = monotonic_ns(), .text = "",
	};
	return session_tell_end(s, event);
}

/* ---- new daemons ---- */

typedef void wake_function(struct wake *wake, pid_t pid);

/* Calls fn for the processes that are known, and for `first` if it is not among them. */
static void each_of_tree(struct session *s, const struct children *children, pid_t first,
			 wake_function *fn)
{
	pid_t pids[PIDS_MAX];
	size_t count = children ? children_pids(children, pids, PIDS_MAX) : 0;
	bool known = false;

	for (size_t i = 0; i < count; i++) {
		known |= pids[i] == first;
		fn(&s->wake, pids[i]);
	}
	if (!known && first > 0)
		fn(&s->wake, first);
}

static void each_program(struct session *s, wake_function *fn)
{
	if (!s->attach)
		each_of_tree(s, s->children, s->exited ? 0 : s->program, fn);
	for (size_t i = 0; i < s->n_targets; i++)
		if (s->targets[i].attached && !s->targets[i].ended)
			each_of_tree(s, s->targets[i].children, s->targets[i].pid, fn);
	for (size_t i = 0; s->left && i < s->left->count; i++)
		fn(&s->wake, s->left->rows[i].pid);
}

static void wake_programs(struct session *s)
{
	if (monotonic_ns() < s->wake.until_ns)
		each_program(s, wake_program);
	else
		session_stop_waking(s);
}

void session_stop_waking(struct session *s)
{
	if (s->wake.until_ns)
		each_program(s, wake_reset);
	s->wake = (struct wake){ .until_ns = 0 };
}

/* ---- the keeper ---- */

static void restarted(struct session *s)
{
	memcpy(&s->ready, s->wire.data, sizeof(s->ready));
	s->users = 0;
	s->user_came = false;
	s->admitted_count = 0;
	memset(s->log_size, 0, sizeof(s->log_size));
	wake_begin(&s->wake);
	wake_programs(s);
}

static bool take_keeper(struct session *s, struct session_event *event)
{
	fill(s, event);
	switch (s->wire.head.type) {
	case WIRE_MESSAGE:
		event->type = SESSION_MESSAGE;
		event->level = event->status;
		return true;
	case WIRE_RESTARTS:
		event->type = SESSION_RESTARTS;
		return true;
	case WIRE_READY:
		if (s->wire.size != sizeof(s->ready))
			return false;
		restarted(s);
		event->type = SESSION_RESTARTED;
		return true;
	case WIRE_BROKEN:
	case WIRE_FAILED:
		/* If it crossed WIRE_BEGUN, the keeper says next what becomes of it. */
		if (s->wire.head.type == WIRE_FAILED && s->released)
			return false;
		event->type = SESSION_BROKEN;
		s->broken = true;
		return true;
	case WIRE_DRAINED:
		/* The relay daemon has everything now. A folder that appeared since the
		 * last look has not been read. */
		watch_users(s);
		s->drained = true;
		return false;
	default:
		return false;
	}
}

static bool keeper_ended(struct session *s, struct session_event *event)
{
	s->keeper_gone = true;
	session_unwatch(s, s->keeper_fd);
	if (s->ready.dir[0])
		dir_remove(s->ready.dir);
	if (!s->armed || s->broken)
		return false;
	s->broken = true;
	*event = (struct session_event){
		.type = SESSION_BROKEN,
		.text = "tftop's keeper died, and the LTTng daemons with it",
	};
	return true;
}

/* ---- /proc ---- */

/* Reports once that the process has inherited its parent's variables, but that nothing is
 * preloaded. */
static void say_late(struct session *s, const struct child_event *child, char *text, size_t size)
{
	s->late_told = true;
	snprintf(text, size, "'%.160s' (process %d) was started after tftop attached: in such "
		 "processes OpenCL, CUDA, NVTX and ITT are observed, but not frameworks; use "
		 "--children for those",
		 child->command, (int)child->pid);
}

static void told_child(void *arg, const struct child_event *child)
{
	struct session *s = arg;
	struct session_event event = {
		.type = child->gone ? SESSION_CHILD_EXITED : SESSION_CHILD,
		.pid = child->pid, .parent = child->parent, .status = -1,
	};
	const char *hider = child->gone ? NULL : preflight_hider(child->command);
	char text[SESSION_ERROR_MAX];

	session_note(s, &event, child->command);
	if (s->follow)
		follow_child(s->follow, child);
	if (child->gone)
		return;
	if (hider)
		snprintf(text, sizeof(text), "tftop cannot observe what '%s' (process %d) runs",
			 hider, (int)child->pid);
	else if (child->kind == PREFLIGHT_STATIC || child->kind == PREFLIGHT_SECURE)
		snprintf(text, sizeof(text), "'%.200s' (process %d) is %s: no probe can be loaded "
			 "into it", child->command, (int)child->pid,
			 child->kind == PREFLIGHT_STATIC ? "statically linked" : "set-uid");
	else if (s->attach && !s->follow && !s->late_told && !targets_reach(s, child->pid))
		say_late(s, child, text, sizeof(text));
	else
		return;
	session_say(s, 1, text);
}

/* LTTng's interface reports little, so the errors in its daemons' logs are passed on. After the
 * drain the logs are about the daemons' own end, which is of no interest. */
static void watch_logs(struct session *s)
{
	static const char *const names[2] = { "sessiond", "relayd" };
	char path[sizeof(s->ready.dir) + 32], tail[256], text[SESSION_ERROR_MAX];
	struct stat st;

	if (!s->armed || s->broken || s->drained || s->logs_told >= LOGS_TOLD_MAX)
		return;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s.log", s->ready.dir, names[i]);
		if (stat(path, &st) != 0 || st.st_size <= s->log_size[i])
			continue;
		s->log_size[i] = st.st_size;
		daemons_log_tail(s->ready.dir, names[i], tail, sizeof(tail));
		if (!tail[0])
			continue;
		snprintf(text, sizeof(text), "'lttng-%s' says: %s", names[i], tail);
		session_say(s, 1, text);
		s->logs_told++;
	}
}

/*
 * Watches the relay daemon's folders HOST/SESSION/ust/uid/UID, because babeltrace 2.0.4 does not
 * notice the streams of a second user. It is reported again at the next look, when the relay daemon
 * has all of them.
 */
static void watch_users(struct session *s)
{
	struct session_event event = { .type = SESSION_USER };
	/* The first user is noticed, even if the second came before the first look. */
	size_t users, known = s->users ? s->users : 1;

	if (!s->armed || s->broken)
		return;
	users = dir_count(s->ready.trace, 4);
	users -= users < s->ready.past_users ? users : s->ready.past_users;
	if (users > known || s->user_came)
		session_note(s, &event, "");
	s->user_came = users > known;
	s->users = users;
}

static void say_users_missed(struct session *s)
{
	if (!s->users_missed)
		session_say(s, 1, "PROGRAM has at least 256 processes or 64 users: processes that "
			    "change their user from now on may not be observed");
	s->users_missed = true;
}

/*
 * Root's programs may change their uid. LTTng traces the uids that it was told to (lttng.c), and a
 * probe waits a second for that. The uid is read from /proc; what a process claims does not count.
 */
static void admit_users(struct session *s, const struct children *children)
{
	pid_t pids[PIDS_MAX];
	size_t count = children ? children_pids(children, pids, PIDS_MAX) : 0;

	if (count == PIDS_MAX || s->admitted_count == SESSION_USERS_MAX)
		say_users_missed(s);
	for (size_t i = 0; i < count && s->admitted_count < SESSION_USERS_MAX; i++) {
		struct wire_head head = { .type = WIRE_ADMIT };
		size_t known = 0;
		uid_t uid;

		if (!process_uid(pids[i], &uid))
			continue;
		while (known < s->admitted_count && s->admitted[known] != uid)
			known++;
		if (known < s->admitted_count)
			continue;
		head.status = (int32_t)uid;
		if (wire_send(s->keeper_fd, &head, NULL, 0, -1, false) == WIRE_OK)
			s->admitted[s->admitted_count++] = uid;
	}
}

/* A stopped keeper removes nothing and delivers no last events, so tftop continues it, but not at
 * the first look, which may have met a debugger. */
void session_look_at_keeper(struct session *s)
{
	struct process_stat stat;
	char text[SESSION_ERROR_MAX];

	if (s->keeper_gone || s->keeper <= 0 || !process_stat(s->keeper, &stat) ||
	    stat.state != 'T') {
		s->keeper_stood = 0;
		return;
	}
	if (++s->keeper_stood < KEEPER_STANDS)
		return;
	s->keeper_stood = 0;
	kill(s->keeper, SIGCONT);
	if (s->keeper_told)
		return;
	s->keeper_told = true;
	snprintf(text, sizeof(text), "tftop's keeper (process %d), which supervises the LTTng "
		 "daemons, was stopped from outside; tftop has continued it", (int)s->keeper);
	session_say(s, 1, text);
}

static void told_follow(void *arg, int level, const char *text)
{
	session_say(arg, level, text);
}

static void session_look(struct session *s)
{
	session_alive(s);
	session_look_at_keeper(s);
	if (s->wake.until_ns)
		wake_programs(s);
	watch_users(s);
	targets_look(s, told_child);
	if (s->follow && s->broken)
		follow_stop(s->follow);
	if (s->follow)
		follow_look(s->follow, told_follow, s);
	if (s->children)
		children_look(s->children, told_child, s);
	if (s->armed && !s->broken && !s->keeper_gone && geteuid() == 0) {
		admit_users(s, s->children);
		for (size_t i = 0; i < s->n_targets; i++)
			admit_users(s, s->targets[i].children);
	}
	watch_logs(s);
	session_look_at_left(s);
}

/* ---- the next event ---- */

static bool take_note(struct session *s, struct session_event *event)
{
	struct session_note *note = s->first;
	uint64_t count;

	if (!note) {
		if (read(s->wake_fd, &count, sizeof(count)) < 0)
			return false;
		return false;
	}
	s->first = note->next;
	if (!s->first)
		s->last = NULL;
	free(s->told);
	s->told = note;
	*event = note->event;
	return true;
}

bool session_next(struct session *s, struct session_event *event)
{
	uint64_t ticks;
	enum wire_result r;

	for (int i = 0; i < 64; i++) {
		if (take_note(s, event))
			return true;
		r = s->launcher_gone ? WIRE_AGAIN : wire_recv(s->launcher_fd, &s->wire, NULL);
		if (r == WIRE_OK) {
			if (take_launcher(s, event))
				return true;
			continue;
		}
		if (r != WIRE_AGAIN) {
			launcher_ended(s);
			continue;
		}
		r = s->keeper_gone ? WIRE_AGAIN : wire_recv(s->keeper_fd, &s->wire, NULL);
		if (r == WIRE_OK) {
			if (take_keeper(s, event))
				return true;
			continue;
		}
		if (r != WIRE_AGAIN && keeper_ended(s, event))
			return true;
		if (take_pidfd(s, event))
			return true;
		if (read(s->timer_fd, &ticks, sizeof(ticks)) == (ssize_t)sizeof(ticks))
			session_look(s);
		else if (!s->first)
			break;
	}
	return false;
}
