/* SPDX-License-Identifier: MIT */
/*
 * Joins a program that an earlier tftop launched and left running. Nothing is injected: the probes
 * are loaded, and their runtime looks every second (probes/runtime/home.c) for a tftop at the path
 * of the first one's folder, which is free. A link is made there to the new tftop's folder; the
 * keeper removes it. Behind it LTTng finds its daemon and the runtime the control page, and so do
 * all child processes, also later ones. The link is made only when the session is ready and is
 * being read: if a program registers while the session is being created, babeltrace 2.0.4 gets a
 * stream without its description, and fails an assertion.
 *
 * ptrace is used for one thing, where it is permitted: to end LTTng's sleep of 5 s
 * (probes/attach/awake.h), which is waited for otherwise.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/attach/awake.h"
#include "probes/attach/stage.h"
#include "probes/process/dir.h"
#include "probes/process/process.h"
#include "probes/session/targets/targets.h"

#define CLEARED_NS INT64_C(3000000000)	/* a keeper cleans up within 2 s */
#define CLEARED_LOOK_MS 20
/* 1 s until it looks, 5 s of LTTng's sleep, and time for a busy machine */
#define JOIN_LIMIT_NS INT64_C(15000000000)
#define LOOK_MS 5
#define AWAKE_LOOKS 20			/* 100 ms */

bool session_can_join(pid_t pid, char known[SESSION_KNOWN_MAX])
{
	struct process_environment own;
	const char *home, *control;
	bool can = false;

	process_environment(pid, &own);
	home = process_variable(&own, "LTTNG_HOME");
	control = process_variable(&own, TFT_CONTROL_ENV);
	/* Both name the folder of the tftop that launched it; an attach does not change them. */
	if (home && control && dir_is_name(home) && strlen(home) < SESSION_KNOWN_MAX &&
	    !strncmp(control, home, strlen(home)) && !strcmp(control + strlen(home), "/control")) {
		snprintf(known, SESSION_KNOWN_MAX, "%s", home);
		can = true;
	}
	free(own.text);
	return can;
}

/* Whether it is in tftop's mount namespace, so that it sees the link. */
static bool sees_the_same(pid_t pid)
{
	char path[64];
	struct stat own, its;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &its) == 0 &&
	       own.st_ino == its.st_ino && own.st_dev == its.st_dev;
}

/* Waits until the earlier tftop has removed its folder; removes what a killed one left. */
static bool wait_until_free(const char *known)
{
	int64_t deadline = monotonic_ns() + CLEARED_NS;
	struct stat st;

	dir_sweep();
	while (lstat(known, &st) == 0 && monotonic_ns() < deadline)
		poll(NULL, 0, CLEARED_LOOK_MS);
	return lstat(known, &st) != 0 && errno == ENOENT;
}

static bool is_ours(struct session *s, pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (!process_uid(pid, &s->uid) || stat(path, &st))
		return false;
	s->gid = st.st_gid;
	return s->uid == geteuid() || geteuid() == 0;
}

bool targets_join_begin(struct session *s, char error[SESSION_ERROR_MAX])
{
	struct session_target *target = &s->targets[0];
	char known[SESSION_KNOWN_MAX];
	struct process_stat stat;
	int pid = (int)target->pid;

	if (process_stat(target->pid, &stat) && stat.state != 'Z') {
		target->start_ticks = stat.start_ticks;
		target->fd = process_open(target->pid, stat.start_ticks, &target->image);
	}
	if (target->fd < 0)
		snprintf(error, SESSION_ERROR_MAX, "cannot join %d: it has ended", pid);
	else if (!is_ours(s, target->pid))
		snprintf(error, SESSION_ERROR_MAX, "cannot join %d: it belongs to another user; "
			 "run tftop as that user or as root", pid);
	else if (!session_can_join(target->pid, known) || !targets_has_runtime(target->pid))
		snprintf(error, SESSION_ERROR_MAX, "cannot join %d: no tftop started it and left "
			 "it running; attach with 'tftop -p %d'", pid, pid);
	else if (!sees_the_same(target->pid))
		snprintf(error, SESSION_ERROR_MAX, "cannot join %d: it is in another mount "
			 "namespace; run tftop inside that namespace", pid);
	else if (!wait_until_free(known))
		snprintf(error, SESSION_ERROR_MAX, "cannot join %d: another tftop uses '%s', where "
			 "it looks for tftop; quit that tftop first", pid, known);
	else
		s->join = strdup(known);
	return s->join != NULL;
}

bool targets_join(struct session *s, char *why, size_t size)
{
	const struct session_target *target = &s->targets[0];
	struct pollfd ended = { .fd = target->fd, .events = POLLIN };
	int64_t deadline = monotonic_ns() + JOIN_LIMIT_NS;
	unsigned looks = 0;

	if (!dir_link(s->join, s->ready.dir, why, size))
		return false;
	do {
		session_alive(s);
		if (s->seen && s->seen(s->seen_arg))
			return true;
		if (++looks % AWAKE_LOOKS == 0)
			attach_awake(target->pid);
		if (poll(&ended, 1, LOOK_MS) != 0) {
			snprintf(why, size, "the process has just ended");
			return false;
		}
	} while (monotonic_ns() < deadline);
	snprintf(why, size, "its probes did not %s within %d s",
		 session_has_data(s) ? "connect to the LTTng daemons" : "find this tftop",
		 (int)(JOIN_LIMIT_NS / 1000000000));
	return false;
}
