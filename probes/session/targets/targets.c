/* SPDX-License-Identifier: MIT */
/* A session without a launcher: PROGRAM runs already, and the probes are injected. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/attach/code.h"
#include "probes/attach/preflight.h"
#include "probes/process/pids.h"
#include "probes/process/process.h"
#include "probes/session/program/bring.h"
#include "probes/session/program/follow.h"
#include "probes/session/targets/targets.h"

#define REPORT_NAME "attach"
#define AGAIN_TRIES 9
#define AGAIN_MS 250
#define STARTING_TRIES 100		/* of 20 ms each */

/* ---- before anything is forked ---- */

/* Reports what will be missing in the process. Each probe that attaches reports its own part. */
static void say_lines(struct session *s, const struct attach_check *check)
{
	for (size_t i = 0; i < check->count; i++) {
		const struct attach_line *line = &check->lines[i];
		char text[SESSION_ERROR_MAX];

		if (line->probe ? line->verdict != ATTACH_CANNOT || !line->loaded :
		    line->verdict != ATTACH_PARTLY)
			continue;
		if (s->n_targets > 1)
			snprintf(text, sizeof(text), "process %d: %s: %s", (int)check->pid,
				 line->what, line->why);
		else
			snprintf(text, sizeof(text), "%s: %s", line->what, line->why);
		session_say(s, 1, text);
	}
}

static bool hold_target(struct session_target *target, uint64_t start_ticks)
{
	target->start_ticks = start_ticks;
	target->fd = process_open(target->pid, start_ticks, &target->image);
	return target->fd >= 0;
}

/* tftop's folder belongs to one user. */
static bool same_owner(struct session *s, const struct attach_check *check)
{
	if (s->targets[0].pid == check->pid) {
		s->uid = check->uid;
		s->gid = check->gid;
	}
	return s->uid == check->uid && s->gid == check->gid;
}

/* All targets must be in one PID namespace, tftop's or one below it. */
static bool same_numbers(struct session *s, const struct attach_check *check)
{
	struct stat first, its;
	char path[64];

	if (s->targets[0].pid == check->pid)
		s->pids = check->pid_space ? pids_new(check->pid) : NULL;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)s->targets[0].pid);
	if (stat(path, &first) != 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)check->pid);
	return stat(path, &its) == 0 && first.st_ino == its.st_ino && first.st_dev == its.st_dev;
}

/* Checks a process; one that is just starting again, until it has its C library. */
static void check_started(struct session *s, pid_t pid, struct attach_check *check)
{
	static const struct timespec moment = { .tv_nsec = 20000000 };
	char text[SESSION_ERROR_MAX];

	attach_check_process(check, pid, s->probes.lib_dir);
	if (check->bare) {
		snprintf(text, sizeof(text), "process %d has no C library yet: tftop waits for it "
			 "for a moment", (int)pid);
		session_say(s, 0, text);
	}
	for (int i = 0; i < STARTING_TRIES && check->bare; i++) {
		nanosleep(&moment, NULL);
		attach_check_process(check, pid, s->probes.lib_dir);
	}
}

static bool begin_one(struct session *s, struct session_target *target, struct attach_check *check,
		      char error[SESSION_ERROR_MAX])
{
	int pid = (int)target->pid;

	check_started(s, target->pid, check);
	if (!check->possible)
		snprintf(error, SESSION_ERROR_MAX, "cannot attach to %d: %.400s; see 'tftop "
			 "--check -p %d'", pid, check->error, pid);
	else if (!same_owner(s, check))
		snprintf(error, SESSION_ERROR_MAX, "cannot attach to %d: it belongs to uid %u and "
			 "gid %u, and process %d to uid %u and gid %u; one tftop observes the "
			 "processes of one user only",
			 pid, check->uid, check->gid, (int)s->targets[0].pid, s->uid, s->gid);
	else if (!same_numbers(s, check))
		snprintf(error, SESSION_ERROR_MAX, "cannot attach to %d: it is in another PID "
			 "namespace than process %d; one tftop observes the processes of one PID "
			 "namespace only", pid, (int)s->targets[0].pid);
	else if (!hold_target(target, check->start_ticks))
		snprintf(error, SESSION_ERROR_MAX, "cannot attach to %d: it has just ended", pid);
	else
		return true;
	return false;
}

/* Of many targets some may be ending now, which is no failure. */
static void say_left_out(struct session *s, const struct session_target *target, const char *error)
{
	struct process_stat stat;

	if (process_stat(target->pid, &stat) && stat.state != 'Z')
		session_say(s, 1, error);
}

/* A named target that cannot be attached to is an error; others are left out. */
static bool begin_all(struct session *s, struct attach_check *check, char error[SESSION_ERROR_MAX])
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_targets; i++) {
		struct session_target *target = &s->targets[kept];

		*target = s->targets[i];
		if (begin_one(s, target, check, error)) {
			target->again = check->again;
			target->is_apart = check->apart;
			say_lines(s, check);
			kept++;
			continue;
		}
		if (target->given)
			return false;
		say_left_out(s, target, error);
		if (target->fd >= 0)
			close(target->fd);
		target->fd = -1;
	}
	s->n_targets = kept;
	return true;
}

bool targets_begin(struct session *s, const struct session_options *options,
			  char error[SESSION_ERROR_MAX])
{
	struct attach_check *check = malloc(sizeof(*check));
	char complaint[SESSION_ERROR_MAX];
	bool good = false;

	s->targets = calloc(options->n_pids, sizeof(*s->targets));
	s->n_targets = s->targets ? options->n_pids : 0;
	for (size_t i = 0; i < s->n_targets; i++)
		s->targets[i] = (struct session_target){
			.pid = options->pids[i], .fd = -1, .given = i < options->n_given,
		};
	s->attach = s->launcher_gone = true;
	s->program = options->pids[0];
	s->seen = options->seen;
	s->seen_arg = options->seen_arg;
	environ_complaint(&s->probes, complaint, sizeof(complaint));
	if (!check || !s->targets)
		snprintf(error, SESSION_ERROR_MAX, "out of memory for the session");
	else if (options->join)		/* nothing is loaded into it */
		good = targets_join_begin(s, error);
	else if (complaint[0])		/* at a launch nothing is loaded in this case */
		snprintf(error, SESSION_ERROR_MAX, "cannot attach: %.480s", complaint);
	else
		good = begin_all(s, check, error);
	free(check);
	if (good && options->follow && !options->join)
		s->follow = follow_new(&s->probes, s->lossless, s->uid, s->gid);
	return good;
}

/* ---- ends of targets, and what they start ---- */

bool targets_watch(struct session *s)
{
	for (size_t i = 0; i < s->n_targets; i++)
		if (!session_watch(s, s->targets[i].fd))
			return false;
	return true;
}

static bool has_ended(const struct session_target *target)
{
	struct process_stat stat;

	return !process_stat(target->pid, &stat) || stat.state == 'Z' ||
	       syscall(SYS_pidfd_send_signal, target->fd, 0, NULL, 0) != 0;
}

struct session_target *targets_ended(struct session *s)
{
	for (size_t i = 0; i < s->n_targets; i++) {
		struct session_target *target = &s->targets[i];

		if (!target->attached || target->ended || !has_ended(target))
			continue;
		target->ended = true;
		apart_clear(s);
		return target;
	}
	return NULL;
}

size_t targets_running(const struct session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_targets; i++)
		n += s->targets[i].attached && !s->targets[i].ended;
	return n;
}

static const struct session_target *target_of(const struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_targets; i++)
		if (s->targets[i].pid == pid && s->targets[i].fd >= 0)
			return &s->targets[i];
	return NULL;
}

bool session_attached(const struct session *s, pid_t pid)
{
	const struct session_target *target = target_of(s, pid);

	return target && target->attached;
}

/* Children of a target below another target are reported as the other's. */
static bool is_below_another(const struct session *s, const struct session_target *target)
{
	struct process_stat stat;
	pid_t pid = target->pid;

	for (int depth = 0; depth < 64 && process_stat(pid, &stat) && stat.parent > 1; depth++) {
		pid = stat.parent;
		if (target_of(s, pid))
			return true;
	}
	return false;
}

/* Notices an exec of a target that is below no other: nobody else would report it. */
static void look_at_exec(struct session *s, struct session_target *target)
{
	struct child_event event = { .pid = target->pid };
	struct process_stat stat;

	if (!s->follow || target->ended || !process_stat(target->pid, &stat) ||
	    stat.image == target->image || stat.start_ticks != target->start_ticks)
		return;
	target->image = stat.image;
	event.parent = stat.parent;
	snprintf(event.command, sizeof(event.command), "%s", stat.comm);
	follow_child(s->follow, &event);
}

void targets_look(struct session *s, child_function *tell)
{
	for (size_t i = 0; i < s->n_targets; i++) {
		if (!s->targets[i].children)
			continue;
		look_at_exec(s, &s->targets[i]);
		children_look(s->targets[i].children, tell, s);
	}
}

bool targets_reach(const struct session *s, pid_t pid)
{
	return target_of(s, pid) != NULL || targets_has_runtime(pid);
}

bool targets_has_runtime(pid_t pid)
{
	char path[64], line[1024];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "/" STAGE_RUNTIME) != NULL;
	if (maps)
		fclose(maps);
	return found;
}

void targets_put_back(struct session *s)
{
	for (size_t i = 0; i < s->n_targets; i++) {
		struct session_target *target = &s->targets[i];
		struct code_result result;

		if (!target->codes || target->ended || has_ended(target))
			continue;
		code_put_back(target->pid, target->codes, &result);
		free(target->codes);
		target->codes = NULL;
	}
}

void targets_free(struct session *s)
{
	follow_free(s->follow);
	s->follow = NULL;
	for (size_t i = 0; i < s->n_targets; i++) {
		children_free(s->targets[i].children);
		free(s->targets[i].codes);
		if (s->targets[i].fd >= 0)
			close(s->targets[i].fd);
		s->targets[i].fd = -1;
	}
	apart_clear(s);
	pids_free(s->pids);
	s->pids = NULL;
	free(s->targets);
	free(s->join);
	s->join = NULL;
	s->targets = NULL;
	s->n_targets = 0;
}

/* ---- injecting the probes ---- */

/* Whether the daemons that the probes would register with are dead; the keeper says why. */
static bool have_fallen(struct session *s, char *why, size_t size)
{
	enum wire_result r;

	while ((r = wire_recv(s->keeper_fd, &s->wire, NULL)) == WIRE_OK) {
		if (s->wire.head.type == WIRE_MESSAGE)
			session_say(s, s->wire.head.status, s->wire.data);
		if (s->wire.head.type != WIRE_BROKEN && s->wire.head.type != WIRE_FAILED)
			continue;
		snprintf(why, size, "%.600s", s->wire.data);
		s->broken = true;
		return true;
	}
	if (r == WIRE_AGAIN)
		return false;
	snprintf(why, size, "tftop's keeper died");
	s->broken = true;
	return true;
}

static bool may_wait(void *arg, char *why, size_t size)
{
	struct session *s = arg;

	session_alive(s);
	return !have_fallen(s, why, size);
}

/* Reports probes that failed to start while others started. */
static void say_wrong(struct session *s, const struct stage_report *now)
{
	for (uint32_t i = 0; i < now->loads; i++)
		if (bring_went_wrong(&now->load[i]) && now->load[i].text[0])
			session_say(s, 2, now->load[i].text);
}

static void count_child(void *arg, const struct child_event *child)
{
	struct session *s = arg;

	if (targets_reach(s, child->pid))
		return;
	if (s->follow)
		follow_child(s->follow, child);
	else
		s->unreached++;
}

/* Finds the children that run already; nothing reports them later. */
static void find_children(struct session *s)
{
	char text[SESSION_ERROR_MAX];

	for (size_t i = 0; i < s->n_targets; i++)
		if (s->targets[i].attached && !is_below_another(s, &s->targets[i]))
			s->targets[i].children = children_new(s->targets[i].pid);
	targets_look(s, count_child);
	if (!s->unreached)
		return;
	snprintf(text, sizeof(text), s->unreached == 1 ? "%zu child process is not observed; "
		 "--children attaches to child processes too" : "%zu child processes are not "
		 "observed; --children attaches to child processes too", s->unreached);
	session_say(s, 0, text);
}

static void say_started(struct session *s)
{
	struct session_event started = {
		.type = SESSION_STARTED, .pid = s->program, .time_ns = monotonic_ns(),
		.stopped_ns = s->stopped_ns,
	};

	s->started = true;
	if (s->follow)
		follow_begin(s->follow, s->ready.dir);
	find_children(s);
	session_note(s, &started, "");
}

static bool bring_into(struct session *s, struct session_target *target, struct stage_report *now,
		       char *why, size_t size)
{
	struct bring bring = {
		.pid = target->pid, .fd = target->fd, .again = target->again, .uid = s->uid,
		.gid = s->gid, .dir = s->ready.dir, .name = REPORT_NAME, .probes = &s->probes,
		.lines = s->plan->lines, .bytes = s->plan->bytes, .may_go_on = may_wait, .arg = s,
		.seen = apart_libraries(target), .place = apart_folder(target),
	};
	bool good = bring_probes(&bring, now, why, size);

	if (bring.codes) {
		free(target->codes);
		target->codes = bring.codes;
	}
	if (bring.stopped_ns > s->stopped_ns)
		s->stopped_ns = bring.stopped_ns;
	return good;
}

/* The variables' existing values in the target are kept, as at a launch. */
static void make_environment(struct session *s, const struct session_target *target)
{
	struct process_environment own;

	process_environment(target->pid, &own);
	session_make_environment(s, (struct environ_options){
		.dir = apart_dir(s, target), .lib_dir = apart_libraries(target),
		/* Once a place is removed, programs complain about what it preloaded. */
		.preload = s->follow && !apart_libraries(target),
		.own = process_variable, .arg = &own,
	});
	free(own.text);
}

static bool attach_one(struct session *s, struct session_target *target,
		       char error[SESSION_ERROR_MAX])
{
	/* An earlier tftop's keeper may still be removing its files: 0.5 s, 2 s at most. */
	int tries = target->again ? AGAIN_TRIES : 1;
	struct stage_report now = { .loads = 0 };
	char why[640];
	bool good;

	if (s->join) {
		target->attached = targets_join(s, why, sizeof(why));
		if (!target->attached)
			snprintf(error, SESSION_ERROR_MAX, "cannot join %d: %.440s",
				 (int)target->pid, why);
		return target->attached;
	}
	good = apart_open(s, target, why, sizeof(why));
	if (!good) {
		snprintf(error, SESSION_ERROR_MAX, "cannot attach to %d: %.440s", (int)target->pid,
			 why);
		return false;
	}
	make_environment(s, target);
	good = bring_into(s, target, &now, why, sizeof(why));
	while (!good && !s->broken && --tries > 0) {
		struct pollfd ended = { .fd = target->fd, .events = POLLIN };

		if (poll(&ended, 1, AGAIN_MS) != 0)
			break;
		session_alive(s);
		good = bring_into(s, target, &now, why, sizeof(why));
	}
	if (!good) {
		snprintf(error, SESSION_ERROR_MAX, "cannot attach to %d: %.440s", (int)target->pid,
			 why);
		return false;
	}
	target->attached = true;
	say_wrong(s, &now);
	return true;
}

int targets_attach(struct session *s, char error[SESSION_ERROR_MAX])
{
	for (size_t i = 0; i < s->n_targets; i++) {
		if (attach_one(s, &s->targets[i], error))
			continue;
		if (s->targets[i].given || s->broken)
			return -1;
		say_left_out(s, &s->targets[i], error);
		session_unwatch(s, s->targets[i].fd);	/* its end would never be read */
		close(s->targets[i].fd);
		s->targets[i].fd = -1;
		apart_clear(s);
	}
	say_started(s);
	return 0;
}
