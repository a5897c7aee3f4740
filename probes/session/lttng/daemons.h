/* SPDX-License-Identifier: MIT */
/*
 * The LTTng daemons of one tftop: where their programs are, how they start,
 * when they stand, what they last said.
 *
 * Always true: a daemon dies with its parent (PDEATHSIG), has no descriptor of
 * ours, a small RLIMIT_NOFILE (it closes every one up to the limit, one system
 * call pair each) and an environment of a few variables. Its words go to
 * DIR/NAME.log.
 *
 * Used by the keeper only.
 */
#ifndef PROBES_SESSION_DAEMONS_H
#define PROBES_SESSION_DAEMONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DAEMON_PATH_MAX 1024
/* The environment variable by which our consumer hook finds the real one. */
#define DAEMON_CONSUMER_ENV "TFTOP_CONSUMERD"
/* And the library that makes its start quick. */
#define DAEMON_QUICK_ENV "TFTOP_CONSUMERD_PRELOAD"
#define DAEMON_CONSUMER_NAME "lttng-consumerd"

struct wire_message;

struct daemons {
	/* filled by daemons_find() */
	char sessiond_path[DAEMON_PATH_MAX];
	char relayd_path[DAEMON_PATH_MAX];
	char consumerd_path[DAEMON_PATH_MAX];
	char self_path[DAEMON_PATH_MAX];
	/* set by the caller */
	const char *dir;	/* private folder, LTTNG_HOME; borrowed */
	const char *library_dir;	/* our libraries; NULL: none; borrowed */
	const char *trace;	/* where the relay daemon writes; borrowed */
	uid_t uid;
	mode_t mask;		/* the user's umask, for what the relay daemon keeps */
	bool write_anywhere;	/* root's relayd under another uid: may write to `trace` */
	uint16_t control, data, live, agent;	/* ports */
	/* running */
	pid_t sessiond, relayd;	/* 0: not running */
};

/* Finds the programs; -1 and a sentence that names what is missing. */
int daemons_find(struct daemons *daemons, char *error, size_t size);

/* Starts both; 0, or -1 and a sentence. */
int daemons_start(struct daemons *daemons, char *error, size_t size);

/* True once the relay daemon listens on its three ports. */
bool daemons_relayd_listens(const struct daemons *daemons);

/* The telling line of DIR/NAME.log ("" when there is none). */
void daemons_log_tail(const char *dir, const char *name, char *text, size_t size);

/* The consumer daemon among sessiond's descendants; 0 when not there. */
pid_t daemons_consumerd(const struct daemons *daemons);

/* In main(): becomes the real consumer daemon when started as one. */
void daemons_consumer_hook(int argc, char **argv);

/*
 * Answers one request on `broker`: connects to the asked port on behalf of tftop,
 * which is in another network namespace. A relay that takes nobody must not keep
 * the keeper from seeing tftop's end, so it waits for 1 s at most.
 */
void daemons_broker(int broker, struct wire_message *inbox);

#endif
