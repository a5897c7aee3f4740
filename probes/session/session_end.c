/* SPDX-License-Identifier: MIT */
/* The end of a session: the last events, leaving PROGRAM, removing everything. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/process/dir.h"
#include "probes/session/internal.h"
#include "probes/session/program/follow.h"
#include "probes/session/targets/targets.h"

#define STOP_LIMIT_NS 3500000000
#define LAUNCHER_WAIT_NS 100000000
#define KEEPER_WAIT_NS 1000000000

void session_stop(struct session *s)
{
	struct wire_head head = { .type = WIRE_STOP };

	s->stop_limit_ns = monotonic_ns() + STOP_LIMIT_NS;
	if (s->follow)
		follow_stop(s->follow);
	if (session_stopped(s))
		return;
	/* No probe was loaded: the relay daemon has nothing to deliver. */
	if (!session_has_data(s)) {
		s->drained = true;
		return;
	}
	/* It may have been stopped a moment ago, and no look has found that yet. */
	if (s->keeper > 0 && !s->keeper_gone)
		kill(s->keeper, SIGCONT);
	if (wire_send(s->keeper_fd, &head, NULL, 0, -1, false) != WIRE_OK)
		s->drained = true;
}

bool session_stopped(const struct session *s)
{
	return !s->armed || s->broken || s->drained || s->keeper_gone ||
	       monotonic_ns() >= s->stop_limit_ns;
}

void session_let_go(struct session *s)
{
	struct wire_head head = { .type = WIRE_LET_GO };

	s->let_go = true;
	session_release_end(s);
	if (s->follow)
		follow_stop(s->follow);
	if (s->control)
		__atomic_store_n(&s->control->closed, 1, __ATOMIC_RELAXED);
	if (!s->launcher_gone)
		wire_send(s->launcher_fd, &head, NULL, 0, -1, true);
	targets_put_back(s);
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Waits for the launcher, which ends after PROGRAM, so that it leaves no zombie. */
static void reap_helpers(struct session *s)
{
	int64_t deadline = monotonic_ns() + LAUNCHER_WAIT_NS;

	while (s->launcher > 0 && (s->exited || !s->released) &&
	       waitpid(s->launcher, NULL, WNOHANG) == 0 && monotonic_ns() < deadline)
		poll(NULL, 0, 1);
	if (s->keeper > 0)
		waitpid(s->keeper, NULL, WNOHANG);
}

/* Removes the folder of a keeper that died. Its socket closes before its daemons are killed, which
 * may create files until then: so it is tried again. If the keeper died before it reported its
 * folder, all folders of dead tftops are removed. */
static void clear_for_keeper(struct session *s)
{
	int64_t deadline = monotonic_ns() + KEEPER_WAIT_NS;

	while (s->keeper > 0 && waitpid(s->keeper, NULL, WNOHANG) == 0 &&
	       monotonic_ns() < deadline)
		poll(NULL, 0, 1);
	s->keeper = 0;
	if (s->join && s->ready.dir[0])
		dir_unlink(s->join, s->ready.dir);
	while (!(s->ready.dir[0] ? dir_remove(s->ready.dir) : dir_sweep()) &&
	       monotonic_ns() < deadline)
		poll(NULL, 0, 5);
}

/* Checks whether the keeper has died, which may not have been noticed yet. */
static void look_for_keeper(struct session *s)
{
	if (!s->keeper_gone && s->keeper > 0 && waitpid(s->keeper, NULL, WNOHANG) == s->keeper) {
		s->keeper = 0;
		s->keeper_gone = true;
	}
}

static void free_notes(struct session *s)
{
	while (s->first) {
		struct session_note *note = s->first;

		s->first = note->next;
		free(note);
	}
	free(s->told);
}

void session_free(struct session *s)
{
	struct wire_head abort_head = { .type = WIRE_ABORT };

	if (!s)
		return;
	session_stop_waking(s);
	if (s->control) {
		__atomic_store_n(&s->control->closed, 1, __ATOMIC_RELAXED);
		targets_put_back(s);
		munmap(s->control, TFT_CONTROL_BYTES);
	}
	if (!s->released && s->launcher_fd >= 0)
		wire_send(s->launcher_fd, &abort_head, NULL, 0, -1, false);
	shortcut_close(&s->shortcut);
	close_one(&s->launcher_fd);
	close_one(&s->input_fd);
	look_for_keeper(s);		/* before it is told to end */
	pthread_mutex_lock(&s->broker_lock);
	close_one(&s->broker);
	pthread_mutex_unlock(&s->broker_lock);
	close_one(&s->keeper_fd);
	close_one(&s->timer_fd);
	close_one(&s->wake_fd);
	close_one(&s->program_fd);
	close_one(&s->opened_fd);
	close_one(&s->poll_fd);
	if (s->keeper_gone)
		clear_for_keeper(s);
	else if (s->keeper > 0)
		kill(s->keeper, SIGCONT);	/* it may be stopped, and must clean up */
	reap_helpers(s);
	free_notes(s);
	children_free(s->children);
	free(s->left);
	targets_free(s);
	free(s->environment);
	if (s->plan)
		munmap(s->plan, sizeof(*s->plan));
	pthread_mutex_destroy(&s->broker_lock);
	free(s);
}
