/* SPDX-License-Identifier: MIT */
/*
 * tftop's end of the wire: starts the private LTTng of this tftop, starts
 * PROGRAM under it, watches both, and clears everything away.
 *
 * Three processes (docs/architecture.md): tftop itself; the launcher, parent of
 * PROGRAM and owner of its pty, which ends with PROGRAM and not before; the
 * keeper, parent of the LTTng daemons in a private network namespace, which
 * clears everything when its pipe closes, however tftop ended.
 *
 * Always true:
 *  - session_fork() is called before any thread exists.
 *  - PROGRAM runs in the user's own namespaces, uid and working directory. If
 *    tftop dies before it let go, PROGRAM starts bare.
 *  - Nothing blocks for longer than its deadline; every failure is a sentence
 *    in *error* or a SESSION_MESSAGE, PROGRAM runs on or starts bare.
 *
 * Threads: all functions on tftop's main thread, except where said.
 */
#ifndef PROBES_SESSION_SESSION_H
#define PROBES_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include "probes/schema/control.h"

struct session;

/* A sentence about what went wrong: cause first, subject in 'quotes'. */
#define SESSION_ERROR_MAX 512

struct session_options {
	char *const *argv;		/* PROGRAM and arguments, NULL-terminated; borrowed */
	/* PROGRAM is these running processes, and argv is ignored. The session fails if one of
	 * the first n_given cannot be attached to; the others may be missing. */
	const pid_t *pids;		/* borrowed for session_fork(); messages name the first */
	size_t n_pids, n_given;		/* 0: none */
	bool follow;			/* what they start later belongs to PROGRAM too */
	/* An earlier tftop launched the process and left it running: nothing is injected, its
	 * probes connect by themselves (join.c). */
	bool join;
	bool (*seen)(void *arg);	/* for join: its probes have connected; main thread */
	void *seen_arg;
	const char *self_dir;		/* folder of the tftop binary; probes are in
					 * SELF_DIR/lib or SELF_DIR/../lib/tftop */
	const char *probes;		/* --probe LIST, "auto" when NULL */
	enum tft_level level;
	enum tft_trigger trigger;	/* the level is off but from its begin to its end */
	struct tft_trigger_range range;	/* of TFT_TRIGGER_RANGE */
	const char *record_dir;		/* -o DIR, NULL: a bounded ring in the private folder */
	bool lossless;
	bool unhurried;			/* nobody looks on: the daemons wake up less often */
	bool screen;			/* PROGRAM's terminal descriptors become a pty */
	struct winsize winsize;		/* of that pty */
};

/*
 * 1. Forks launcher and keeper; nothing of PROGRAM has run yet. On failure
 * NULL with the reason in error. Checks PROGRAM first: exit_status is then 127
 * (not found) or 126 (cannot be run), else 125. A process that runs is looked at
 * (probes/attach/preflight.h) and not touched; it has no launcher, no pty, and gets
 * no signal of ours.
 */
struct session *session_fork(const struct session_options *options,
			     char error[SESSION_ERROR_MAX], int *exit_status);

/* Whether a process was launched by a tftop: it can be joined when that one has gone, at
 * the name that is written to known[]. */
#define SESSION_KNOWN_MAX 128
bool session_can_join(pid_t pid, char known[SESSION_KNOWN_MAX]);

/*
 * 2. Waits until the daemons stand, then creates the session. Returns 0, or -1
 * when there can be no tracing (reason in error): PROGRAM can still be started
 * and runs bare. Takes 0.1 ... 0.3 s.
 */
int session_arm(struct session *session, char error[SESSION_ERROR_MAX]);

/* Where the reader finds the events, e.g. "net://127.0.0.1:5344/host/H/S";
 * NULL when not armed. Borrowed until session_free(), or SESSION_RESTARTED. */
const char *session_url(const struct session *session);

/* How often what was written is handed on when little is; 0 when not armed. */
int64_t session_period_ns(const struct session *session);

/*
 * A socket connected to the relay daemon's port, however far away that is
 * (private namespace): for the reader's connect(). Any thread. -1 and errno.
 */
int session_connect(struct session *session, uint16_t port);

/* What a process is called outside of PROGRAM's PID namespace (pids.h). Any thread, from
 * session_fork() on. */
uint32_t session_pid(const struct session *session, uint32_t inner);

/* 3. The reader is attached: PROGRAM may start. Of a process that runs: the probes are
 * brought into it; -1 when they could not be, and it runs on as it did. Waits for that,
 * ATTACH_LIMIT_NS of attach.c at most. */
int session_release(struct session *session, char error[SESSION_ERROR_MAX]);

/* The probes were brought into that process, by its PID when the session was made. */
bool session_attached(const struct session *session, pid_t pid);

/* False: no process has loaded a probe yet, so there is nothing to wait for at
 * the end. */
bool session_has_data(const struct session *session);

/* ---- what happens ---- */

enum session_event_type {
	SESSION_NOTHING = 0,
	SESSION_STARTED,		/* PROGRAM was exec'd; pid */
	SESSION_EXEC_FAILED,		/* text; status 126 or 127 */
	SESSION_OUTPUT,			/* data, size: what PROGRAM wrote to its pty */
	SESSION_STOPPED,		/* PROGRAM was stopped (SIGTSTP, ...) */
	SESSION_CONTINUED,
	SESSION_EXITED,			/* status or signal; pid */
	SESSION_CHILD,			/* a descendant appeared: pid, parent, text: command */
	SESSION_CHILD_EXITED,		/* pid; status -1 where unknown */
	SESSION_MESSAGE,		/* level, text */
	SESSION_USER,			/* a process of another user is traced now: the
					 * reader has to attach anew */
	SESSION_RESTARTS,		/* a daemon has died, others are started: text */
	SESSION_RESTARTED,		/* they stand: session_url() is another one */
	SESSION_BROKEN,			/* the tracing path is dead: text; PROGRAM runs on */
};

struct session_event {
	enum session_event_type type;
	pid_t pid, parent;
	int status, signal;		/* signal 0: exited by itself */
	int64_t time_ns;		/* STARTED, EXITED: when, CLOCK_MONOTONIC */
	int64_t stopped_ns;		/* STARTED of what runs already: how long a thread of it
					 * was kept from its work, at most */
	int level;			/* 0 info 1 warning 2 error */
	const char *text;		/* borrowed until the next session_next() */
	const void *data;		/* borrowed likewise */
	size_t size;
};

/* Readable when session_next() may have something; poll it. */
int session_fd(const struct session *session);

/* The next thing that happened, without waiting. false: nothing. */
bool session_next(struct session *session, struct session_event *event);

/* ---- steering ---- */

void session_resize(struct session *session, const struct winsize *size);
/* Keys for PROGRAM (pane 7 has the focus). Never blocks: returns what was
 * taken. */
size_t session_input(struct session *session, const void *data, size_t size);
/* To PROGRAM's process group. */
void session_signal(struct session *session, int signal);
/* From now on; a trigger is over. */
void session_set_level(struct session *session, enum tft_level level);
/* With a trigger: the one that it raises the level to. */
enum tft_level session_level(const struct session *session);
/* TFT_TRIGGER_NONE also when somebody has chosen a level. */
enum tft_trigger session_trigger(const struct session *session);
/* Probes send their definitions again (a viewer came late or lost some). */
void session_ask_dump(struct session *session);
/* tftop's sign of life for the probes; session_next() gives it too, each
 * 0.25 s, when it is called then. */
void session_alive(struct session *session);

/* Probe libraries and variables set for PROGRAM, "NAME=value" lines. */
const char *session_environment(const struct session *session);

/* ---- the end ---- */

/* All of PROGRAM's data has been written: stops tracing and makes the relay
 * hand out the rest. Returns at once; while session_next() is called, it is
 * done when session_stopped() says so (after 3.5 s in any case): the reader sees
 * the end then. */
void session_stop(struct session *session);
bool session_stopped(const struct session *session);

/* Leaves PROGRAM running (if it does): its terminal is kept by the launcher,
 * its output discarded, the probes write what is complete and disarm. */
void session_let_go(struct session *session);

/* Tears everything down and frees; PROGRAM is not touched. Called before
 * session_release(): PROGRAM is never started. The daemons are gone 0.5 s
 * later (the keeper sees to it also when tftop has ended). */
void session_free(struct session *session);

/*
 * First thing in main(): some of our helper processes are tftop itself, exec'd
 * under another name (argv[0] "lttng-consumerd"). Returns only when it is not.
 */
void session_main_hook(int argc, char **argv);

#endif
