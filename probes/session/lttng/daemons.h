/* SPDX-License-Identifier: MIT */
/*
 * The LTTng daemons of one tftop: where their programs are, how they are started, when they are
 * ready, and what they last wrote.
 *
 * Always true: a daemon dies with its parent (PDEATHSIG). It has none of tftop's descriptors, a
 * small RLIMIT_NOFILE (it closes every descriptor up to the limit, with a pair of system calls
 * each), and an environment of a few variables. Its output goes to DIR/NAME.log.
 *
 * Used by the keeper only, except daemons_find(), daemons_log_tail() and daemons_consumer_hook().
 */
#ifndef PROBES_SESSION_DAEMONS_H
#define PROBES_SESSION_DAEMONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DAEMON_PATH_MAX 1024
/* The environment variable by which daemons_consumer_hook() finds the real consumer daemon. */
#define DAEMON_CONSUMER_ENV "TFTOP_CONSUMERD"
/* The same for tftop's own copy of LTTng, see daemons.own. */
#define DAEMON_OWN_ENV "TFTOP_CONSUMERD_OWN"
/* The library that shortens its start. */
#define DAEMON_QUICK_ENV "TFTOP_CONSUMERD_PRELOAD"
#define DAEMON_CONSUMER_NAME "lttng-consumerd"

struct wire_message;

struct daemons {
	/* Filled in by daemons_find(). */
	char sessiond_path[DAEMON_PATH_MAX];
	char relayd_path[DAEMON_PATH_MAX];
	char consumerd_path[DAEMON_PATH_MAX];
	char self_path[DAEMON_PATH_MAX];
	/* The folder `own` beside tftop, which holds all that the daemons need ("make bundle"); "":
	 * there is none, they are the system's. Daemons reach it by a descriptor, because their uid
	 * may have no right to pass the folders above, and lists of paths allow no colon. */
	char own[DAEMON_PATH_MAX];
	/* Set by the caller. */
	const char *dir;	/* the private folder, which is LTTNG_HOME; borrowed */
	const char *library_dir;	/* the probes' libraries; NULL: none; borrowed */
	const char *trace;	/* where the relay daemon writes; borrowed */
	uid_t uid;
	mode_t mask;		/* the user's umask, for what the relay daemon keeps */
	/* root's relayd, which runs under another uid, may write to `trace` */
	bool write_anywhere;
	uint16_t control, data, live, agent;	/* ports */
	/* The running daemons. */
	pid_t sessiond, relayd;	/* 0: not running */
};

/* Finds the programs; -1 and a sentence that names what is missing. */
int daemons_find(struct daemons *daemons, char *error, size_t size);

/* Starts both daemons; returns 0, or -1 and a sentence. */
int daemons_start(struct daemons *daemons, char *error, size_t size);

/* True once the relay daemon listens on its three ports. */
bool daemons_relayd_listens(const struct daemons *daemons);

/* The last error in DIR/NAME.log, or else its last line; "": the log is empty. */
void daemons_log_tail(const char *dir, const char *name, char *text, size_t size);

/* The consumer daemon, a child of sessiond; 0: there is none. */
pid_t daemons_consumerd(const struct daemons *daemons);

/* In main(): becomes the real consumer daemon if tftop was started as one. */
void daemons_consumer_hook(int argc, char **argv);

/*
 * Answers one request on `broker`: connects to the requested port on behalf of tftop, which is in
 * another network namespace. It waits for 1 s at most, since a relay daemon that accepts nobody
 * must not keep the keeper from noticing tftop's end.
 */
void daemons_broker(int broker, struct wire_message *inbox);

#endif
