/* SPDX-License-Identifier: MIT */
/*
 * The state of one session, and what all parts of a session do with it: report something to
 * the user, watch a descriptor, prepare PROGRAM's environment.
 *
 * Who writes it: probes/session/targets, what concerns processes that ran already; session.c
 * (the beginning), session_events.c (what happens) and session_end.c (the end), everything else.
 * Nobody outside probes/session includes this header; the contract is session.h.
 *
 * Threads: everything is the main thread's, except broker with its lock, and pids.
 */
#ifndef PROBES_SESSION_CORE_H
#define PROBES_SESSION_CORE_H

#include <pthread.h>

#include "probes/process/wire.h"
#include "probes/session/lttng/wake.h"
#include "probes/session/program/environ.h"
#include "probes/session/program/launcher.h"
#include "probes/session/program/preflight.h"
#include "probes/session/session.h"

struct children;
struct follow;
struct pids;
struct session_target;
struct session_apart;

/* How many user ids LTTng is told to trace at most, when tftop is root. */
#define SESSION_USERS_MAX 64
/* The time between two looks at /proc. */
#define SESSION_LOOK_NS 250000000

/* Something that tftop itself found, queued until session_next() reports it. Owned, linked. */
struct session_note {
	struct session_note *next;
	struct session_event event;	/* event.text points to text */
	char text[];
};

struct session {
	/* helper processes and the sockets to them */
	pid_t launcher, keeper, program;
	int launcher_fd, input_fd, keeper_fd;
	int broker;			/* requests for connected sockets; under broker_lock */
	pthread_mutex_t broker_lock;
	bool launcher_gone, keeper_gone;
	int keeper_stood;		/* looks in a row that found the keeper stopped */
	bool keeper_told;		/* the user has been told of that */

	/* what session_next() waits for */
	int poll_fd;			/* epoll */
	int timer_fd;			/* it is time to look at /proc */
	int wake_fd;			/* readable while notes are queued */
	int opened_fd;			/* readable once a probe has opened the control page;
					 * -1: unknown */
	int program_fd;			/* pidfd of PROGRAM after the launcher's death */
	struct session_note *first, *last;	/* owned queue */
	struct session_note *told;	/* owned; the last event points into it */
	struct wire_message wire;		/* the last event may point into it */

	/* PROGRAM */
	struct launcher_plan *plan;	/* shared with the launcher; owned */
	struct preflight preflight;
	struct environ_choice probes;
	struct children *children;	/* owned */
	char *environment;		/* owned; for session_environment() */
	bool screen, lossless;
	bool released, started, exited, let_go;

	/* processes that ran already (targets.h) */
	bool attach;			/* PROGRAM consists of these; there is no launcher */
	struct session_target *targets;	/* owned */
	size_t n_targets;
	struct session_apart *aparts;	/* owned, linked */
	struct pids *pids;		/* owned; NULL: they have the same PIDs for tftop */
	char *join;			/* owned; the path at which a joined program looks for a
					 * tftop; NULL: nothing is joined */
	bool (*seen)(void *arg);	/* of struct session_options */
	void *seen_arg;
	int64_t stopped_ns;		/* how long a thread of theirs was stopped, at most */
	struct follow *follow;		/* owned; NULL: what they start later is not attached to */
	size_t unreached;		/* processes below them that had no probes at the start */
	bool late_told;			/* the user knows that what they start is seen in part */
	uid_t uid;			/* the targets' */
	gid_t gid;

	/* tracing */
	struct wire_ready ready;	/* all zero before WIRE_READY */
	struct tft_control *control;	/* mapped; owned; NULL: not armed */
	enum tft_level level;
	enum tft_trigger trigger;
	struct tft_trigger_range range;
	bool armed, broken, drained;
	int64_t stop_limit_ns;		/* when session_stop() is given up */
	struct wake wake;		/* programs that are told of fresh daemons */
	off_t log_size[2];		/* of the daemons' logs at the last look */
	int logs_told;
	size_t users;			/* how many uids were traced at the last look */
	bool user_came;			/* one more than at the look before */
	uid_t admitted[SESSION_USERS_MAX];	/* uids that LTTng was told to trace */
	size_t admitted_count;
	bool users_missed;		/* the user was told that there are too many */
};

/* Queues an event; dropped when memory is short. text NULL: "". */
void session_note(struct session *session, const struct session_event *event,
		  const char *text);
/* Queues a SESSION_MESSAGE: 0 info, 1 warning, 2 error. */
void session_say(struct session *session, int level, const char *text);

/* Whether session_next() wakes when fd becomes readable; false and errno. */
bool session_watch(struct session *session, int fd);
void session_unwatch(struct session *session, int fd);

/*
 * Fills plan->lines with the variables for PROGRAM, and the copy for
 * session_environment(). Of options the caller sets everything but lossless. Nothing happens
 * when there is no tracing.
 */
void session_make_environment(struct session *session, struct environ_options options);

#endif
