/* SPDX-License-Identifier: MIT */
/*
 * Inside the keeper, shared by keeper.c (what happens to the daemons) and keeper_start.c (what they
 * are started with). The keeper has one thread.
 */
#ifndef PROBES_SESSION_KEEPER_INTERNAL_H
#define PROBES_SESSION_KEEPER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/session/lttng/daemons.h"
#include "probes/process/dir.h"
#include "probes/session/lttng/keeper.h"
#include "probes/session/lttng/lttng.h"
#include "probes/session/lttng/namespaces.h"

#define KEEPER_SENTENCE 512

enum keeper_state {
	KEEPER_STANDING = 0,	/* the daemons are starting */
	KEEPER_CREATING,	/* liblttng-ctl is creating the session */
	KEEPER_SCOUTING,	/* the scout is still registering */
	KEEPER_READY,
	KEEPER_STOPPING,
	KEEPER_STOPPED,
	KEEPER_DEAD,		/* the session was reported as failed or broken */
};

/* How many sets of daemons may be started within RESTARTS_NS after daemons have died. */
#define KEEPER_RESTARTS 3

struct keeper {
	const struct keeper_options *options;
	struct daemons daemons;
	struct daemon_places places;
	struct lttng_plan plan;
	char dir[DIR_PATH_MAX];
	char trace[1024];
	int lock, signals, caller_fd, control, consumer, scout;
	pid_t caller, consumer_pid;
	bool hurried;			/* process_hurry() was granted */
	bool sessiond_ready, disk_told, private_network, scout_registered;
	bool begun;			/* PROGRAM is traced: a daemon that dies is replaced */
	char fallen[KEEPER_SENTENCE];	/* what died after WIRE_READY and before that, or "" */
	unsigned int set;		/* number of the current set of daemons; the first is 0 */
	int64_t restarts_ns[KEEPER_RESTARTS];	/* when the last restarts began */
	/* how many looks found sessiond, relayd, consumerd stopped */
	unsigned int stopped[3];
	/* numbers in the trace's folder that belong to earlier sets */
	size_t past_processes, past_users;
	enum keeper_state state;
	int64_t deadline_ns, disk_ns, look_ns;
};

/* Sends a message for the user to tftop. */
void keeper_tell(struct keeper *keeper, int level, const char *text);

/* ---- keeper_start.c ---- */

/* Chooses namespaces and sizes, creates the folder, and starts the daemons and the process that
 * calls liblttng-ctl; false and a sentence. keeper_main() removes what this created. */
bool keeper_begin(struct keeper *keeper, char *error, size_t size);

/* Whether another set of daemons may be started now; if so, counts it. */
bool keeper_may_restart(struct keeper *keeper, int64_t now_ns);

/* Ends what is left of the set, and starts another one with the same folder, ports, sizes and
 * control page, for a session of another name; false and a sentence. */
bool keeper_restart(struct keeper *keeper, char *error, size_t size);

#endif
