/* SPDX-License-Identifier: MIT */
/*
 * A session: starts this tftop's private LTTng, starts PROGRAM or attaches to it, watches both,
 * and removes everything at the end.
 *
 * It has three processes (docs/architecture.md): tftop itself; the launcher, which is the parent of
 * PROGRAM and owns its pty, and ends with PROGRAM, not earlier; and the keeper, which is the parent
 * of the LTTng daemons in a private network namespace, and removes everything when its socket
 * closes, however tftop ended.
 *
 * Always true:
 *  - session_fork() is called before any thread exists.
 *  - PROGRAM runs in the user's own namespaces, with the user's uid and working directory. If tftop
 *    dies before session_release(), PROGRAM starts untraced.
 *  - Nothing blocks beyond its deadline. Every failure is a sentence in `error` or a
 *    SESSION_MESSAGE; PROGRAM then runs on, or starts untraced.
 *
 * Threads: all functions on tftop's main thread, except where stated.
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

/* A sentence about what went wrong: first the cause, with its subject in 'quotes'. */
#define SESSION_ERROR_MAX 512

struct session_options {
	char *const *argv;		/* PROGRAM and its arguments, NULL-terminated; borrowed */
	/* PROGRAM consists of these running processes, and argv is ignored. The session fails if
	 * one of the first n_given cannot be attached to; the others are optional. */
	const pid_t *pids;		/* borrowed for session_fork(); messages name the first */
	size_t n_pids, n_given;		/* 0: none */
	bool follow;			/* what they start later belongs to PROGRAM too */
	/* An earlier tftop launched the process and left it running: nothing is injected, its
	 * probes connect by themselves (join.c). */
	bool join;
	/* for join: whether its probes have connected; main thread */
	bool (*seen)(void *arg);
	void *seen_arg;
	const char *self_dir;		/* folder of the tftop binary; probes are in
					 * SELF_DIR/lib or SELF_DIR/../lib/tftop */
	const char *probes;		/* --probe LIST; NULL: "auto" */
	enum tft_level level;
	/* what raises the level, which is off before it begins and after it ends */
	enum tft_trigger trigger;
	struct tft_trigger_range range;	/* for TFT_TRIGGER_RANGE */
	/* SESSION_EXITED comes only when the processes that PROGRAM left running have ended too */
	bool stay;
	const char *record_dir;		/* -o DIR; NULL: a bounded ring in the private folder */
	bool lossless;
	int budget;			/* --budget in percent; 0: none */
	bool unhurried;			/* there is no screen, so the daemons wake up less often */
	bool screen;			/* a pty replaces the terminal in PROGRAM's descriptors */
	struct winsize winsize;		/* size of that pty */
};

/*
 * 1. Checks PROGRAM, then forks launcher and keeper; PROGRAM does not run yet. NULL on failure,
 * with the reason in error; exit_status is then 127 (not found), 126 (cannot be executed), or 125.
 * A running process is checked (probes/attach/preflight.h) and not touched; it has no launcher and
 * no pty, and tftop sends it no signal.
 */
struct session *session_fork(const struct session_options *options,
			     char error[SESSION_ERROR_MAX], int *exit_status);

/* Whether a tftop launched the process, so that it can be joined after that tftop has ended, at the
 * path that is written to known[]. */
#define SESSION_KNOWN_MAX 128
bool session_can_join(pid_t pid, char known[SESSION_KNOWN_MAX]);

/*
 * 2. Waits until the daemons and LTTng's session are ready. Returns 0; or -1 and the reason if
 *    tracing is not possible: PROGRAM can still be started and runs untraced. Takes 0.1 to 0.3 s.
 */
int session_arm(struct session *session, char error[SESSION_ERROR_MAX]);

/* Where the reader finds the events, e.g. "net://127.0.0.1:5344/host/H/S";
 * NULL when not armed. Borrowed until session_free(), or SESSION_RESTARTED. */
const char *session_url(const struct session *session);

/* The period after which LTTng delivers what was written, even if that is little; 0: not armed. */
int64_t session_period_ns(const struct session *session);

/*
 * A socket that is connected to the relay daemon's port, which may be in a private namespace; for
 * the reader's connect(). Any thread. -1 and errno.
 */
int session_connect(struct session *session, uint16_t port);

/* tftop's PID for a PID of PROGRAM's namespace (pids.h). Any thread, from session_fork() on. */
uint32_t session_pid(const struct session *session, uint32_t inner);

/* 3. The reader is attached: starts PROGRAM. For running processes: injects the probes and waits
 *    for them, 15 s for each at most; -1: that failed, and the processes run on as before. */
int session_release(struct session *session, char error[SESSION_ERROR_MAX]);

/* Whether the probes were injected into that process of session_options.pids. */
bool session_attached(const struct session *session, pid_t pid);

/* false: no process has loaded a probe so far, so that there is nothing to wait for at the end. */
bool session_has_data(const struct session *session);

/* ---- what happens ---- */

enum session_event_type {
	SESSION_NOTHING = 0,
	SESSION_STARTED,		/* PROGRAM has been exec'd; pid */
	SESSION_EXEC_FAILED,		/* text; status 126 or 127 */
	SESSION_OUTPUT,			/* data, size: what PROGRAM wrote to its pty */
	SESSION_STOPPED,		/* PROGRAM was stopped (SIGTSTP, ...) */
	SESSION_CONTINUED,
	/* PROGRAM has ended; status or signal; pid. Up to 0.5 s later if it left processes running,
	 * since most of these are ending, too; time_ns is that of the end */
	SESSION_EXITED,
	SESSION_CHILD,			/* a descendant has appeared: pid, parent, text: command */
	SESSION_CHILD_EXITED,		/* a descendant has ended: pid; status -1: unknown */
	SESSION_MESSAGE,		/* a message for the user: level, text */
	SESSION_USER,	/* a process of another user is traced now: the reader must attach again */
	SESSION_RESTARTS,		/* a daemon has died, and all are being replaced: text */
	SESSION_RESTARTED,	/* the new daemons are ready, and session_url() has changed */
	SESSION_BROKEN,			/* tracing has ended: text; PROGRAM continues */
};

struct session_event {
	enum session_event_type type;
	pid_t pid, parent;
	int status, signal;		/* signal 0: it exited by itself */
	int64_t time_ns;		/* of STARTED and EXITED: when, CLOCK_MONOTONIC */
	/* of STARTED for a running process: how long one of its threads was stopped, at most */
	int64_t stopped_ns;
	int level;			/* 0: info, 1: warning, 2: error */
	const char *text;		/* borrowed until the next session_next() */
	const void *data;		/* borrowed until the next session_next(), too */
	size_t size;
};

/* Readable when session_next() may return something; meant to be polled. */
int session_fd(const struct session *session);

/* The next event, without waiting. false: there is none. */
bool session_next(struct session *session, struct session_event *event);

/* A process that PROGRAM left running. */
struct session_left {
	pid_t pid;
	bool joins;		/* probes are in use in it, so that `tftop --join PID` finds it */
	char command[256];	/* any bytes but NUL and control characters */
};

/* After SESSION_EXITED: those that still run, borrowed until the next call; *more: how many others
 * there are. */
size_t session_left(struct session *session, const struct session_left **left, size_t *more);

/* Whether PROGRAM has ended, and tftop waits for the processes that it left running
 * (session_options.stay). Any signal for PROGRAM ends that. */
bool session_stays(const struct session *session);

/* ---- control ---- */

void session_resize(struct session *session, const struct winsize *size);
/* Sends keys to PROGRAM (pane 7 has the focus). Never blocks; returns how many bytes were
 * taken. */
size_t session_input(struct session *session, const void *data, size_t size);
/* Sends a signal to PROGRAM's process group. */
void session_signal(struct session *session, int signal);
/* Sets the level from now on, and ends a trigger. */
void session_set_level(struct session *session, enum tft_level level);
/* Sets how much ops may cost from now on, in percent; 0: any. */
void session_set_budget(struct session *session, int percent);
int session_budget(const struct session *session);
/* The level; with a trigger, the level that the trigger switches to. */
enum tft_level session_level(const struct session *session);
/* TFT_TRIGGER_NONE also after the user has chosen a level. */
enum tft_trigger session_trigger(const struct session *session);
/* Asks the probes to send their definitions again, because the reader came late or lost some. */
void session_ask_dump(struct session *session);
/* Gives the probes a sign of life. session_next() does this, too, every 0.25 s if it is called. */
void session_alive(struct session *session);

/* The variables and probe libraries that were set for PROGRAM, as lines "NAME=value". */
const char *session_environment(const struct session *session);

/* ---- the end ---- */

/* PROGRAM has written everything: stops tracing and makes the relay daemon deliver the rest.
 * Returns at once. Call session_next() until session_stopped() is true (after 3.5 s in any case);
 * then the reader sees the end. */
void session_stop(struct session *session);
bool session_stopped(const struct session *session);

/* Detaches: leaves PROGRAM running, if it runs. The launcher keeps its terminal and discards its
 * output; the probes write what is complete and disarm. */
void session_let_go(struct session *session);

/* Ends everything and frees. PROGRAM is not touched, and is never started if this is called before
 * session_release(). The daemons have ended 0.5 s later (the keeper ensures that, even if tftop has
 * ended). */
void session_free(struct session *session);

/*
 * Call this first in main(): a helper process is tftop itself, executed under another name (argv[0]
 * is "lttng-consumerd"). Returns only if this process is none.
 */
void session_main_hook(int argc, char **argv);

#endif
