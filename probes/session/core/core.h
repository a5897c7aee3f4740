/* SPDX-License-Identifier: MIT */
/*
 * The state of one session, and what all parts of a session do with it: report something to the
 * user, watch a descriptor, prepare PROGRAM's environment.
 *
 * It is written by probes/session/targets, as far as processes are concerned that ran already, and
 * for everything else by session.c (the start), session_events.c (what happens) and session_end.c
 * (the end). Nothing outside probes/session includes this header; the contract is session.h.
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
struct left;
struct pids;
struct session_target;
struct session_apart;

/* When tftop is root: the maximum number of user ids that LTTng is told to trace. */
#define SESSION_USERS_MAX 64
/* The time between two looks at /proc. */
#define SESSION_LOOK_NS 250000000

/* An event that tftop itself found, queued until session_next() reports it. Owned, linked. */
struct session_note {
	struct session_note *next;
	struct session_event event;	/* event.text points to text */
	char text[];
};

struct session {
	/* helper processes and the sockets to them */
	pid_t launcher, keeper, program;
	int launcher_fd, input_fd, keeper_fd;
	int broker;	/* for requests for connected sockets; protected by broker_lock */
	pthread_mutex_t broker_lock;
	bool launcher_gone, keeper_gone;
	int keeper_stood;		/* how many looks in a row found the keeper stopped */
	bool keeper_told;		/* the user has been told that */

	/* Descriptors for which session_next() waits. */
	int poll_fd;			/* epoll */
	int timer_fd;			/* fires when it is time to look at /proc */
	int wake_fd;			/* readable while notes are queued */
	int opened_fd;			/* readable once a probe has opened the control page;
					 * -1: unknown */
	int program_fd;			/* pidfd of PROGRAM, after the launcher's death */
	struct session_note *first, *last;	/* owned queue */
	struct session_note *told;	/* owned; the last event returned points into it */
	struct wire_message wire;		/* the last event returned may point into it */

	/* Members for PROGRAM. */
	struct launcher_plan *plan;	/* shared with the launcher; owned */
	struct preflight preflight;
	struct environ_choice probes;
	struct shortcut shortcut;	/* with -p; at a launch the launcher has it */
	struct children *children;	/* owned */
	char *environment;		/* owned; result of session_environment() */
	bool screen, lossless;
	int budget;			/* in percent; also in the control page, if there is one */
	bool released, started, exited, let_go;

	/* Members for the processes that PROGRAM left running (session_left.c). */
	bool stay;			/* from struct session_options */
	struct left *left;		/* owned; NULL: PROGRAM runs, or has left none */
	bool holds;			/* SESSION_EXITED is held back */
	struct session_event held;	/* that event */
	int64_t held_ns;		/* since when */
	bool stay_told;			/* the user has been told what tftop waits for */

	/* Members for processes that ran already (targets.h). */
	bool attach;			/* PROGRAM consists of these; there is no launcher */
	struct session_target *targets;	/* owned */
	size_t n_targets;
	struct session_apart *aparts;	/* owned, linked */
	struct pids *pids;		/* owned; NULL: tftop sees the same PIDs as they do */
	/* owned; the path at which a joined program looks for a tftop; NULL: no program is
	 * joined */
	char *join;
	bool (*seen)(void *arg);	/* from struct session_options */
	void *seen_arg;
	int64_t stopped_ns;		/* the longest time that one of their threads was stopped */
	struct follow *follow;	/* owned; NULL: tftop does not attach to what they start later */
	size_t unreached;	/* how many processes below them had no probes at the start */
	bool late_told;	/* the user has been told that what they start is only partly observed */
	uid_t uid;			/* uid of the targets */
	gid_t gid;

	/* Members for tracing. */
	struct wire_ready ready;	/* all zero before WIRE_READY */
	struct tft_control *control;	/* mapped; owned; NULL: not armed */
	enum tft_level level;
	enum tft_trigger trigger;
	struct tft_trigger_range range;
	bool armed, broken, drained;
	int64_t stop_limit_ns;		/* the time at which session_stop() is given up */
	struct wake wake;		/* programs that must be told about new daemons */
	off_t log_size[2];		/* sizes of the daemons' logs at the last look */
	int logs_told;
	size_t users;			/* how many uids were traced at the last look */
	bool user_came;			/* there is one more uid than at the previous look */
	uid_t admitted[SESSION_USERS_MAX];	/* uids that LTTng was told to trace */
	size_t admitted_count;
	bool users_missed;		/* the user has been told that there are too many */
};

/* Queues an event; it is dropped if memory is short. text NULL: "". */
void session_note(struct session *session, const struct session_event *event,
		  const char *text);
/* Queues a SESSION_MESSAGE; level 0: info, 1: warning, 2: error. */
void session_say(struct session *session, int level, const char *text);

/* Makes session_next() wake up when fd becomes readable; false and errno. */
bool session_watch(struct session *session, int fd);
void session_unwatch(struct session *session, int fd);

/*
 * Fills plan->lines with the variables for PROGRAM, and makes the copy for session_environment().
 * The caller sets all options except lossless. Does nothing if there is no tracing.
 */
void session_make_environment(struct session *session, struct environ_options options);

#endif
