/* SPDX-License-Identifier: MIT */
/*
 * The inside of struct session, shared by session.c (life), session_events.c
 * (what happens) and session_end.c (the end). Everything here is the main
 * thread's but broker and its lock.
 */
#ifndef PROBES_SESSION_INTERNAL_H
#define PROBES_SESSION_INTERNAL_H

#include <pthread.h>

#include "probes/session/program/children.h"
#include "probes/session/program/environ.h"
#include "probes/session/program/follow.h"
#include "probes/session/program/launcher.h"
#include "probes/process/pids.h"
#include "probes/session/program/preflight.h"
#include "probes/session/session.h"
#include "probes/process/wire.h"

/* Uids that root's PROGRAM and its children may have, beside the one it began with. */
#define SESSION_USERS_MAX 64

/* A happening that tftop itself found, waiting to be told. Owned, linked. */
struct session_note {
	struct session_note *next;
	struct session_event event;	/* event.text points to text */
	char text[];
};

/* A process that ran already. */
struct target {
	pid_t pid;
	int fd;				/* pidfd */
	uint64_t start_ticks;		/* of it when it was looked at */
	uint64_t image;			/* what it ran then (process.h) */
	bool given;			/* there is no session without it */
	bool again;			/* another tftop has watched it before */
	bool attached, ended;
	bool is_apart;			/* it sees other files than tftop */
	struct stage_codes *codes;	/* owned; its code that was replaced (code.h), or NULL */
	struct apart *apart;		/* what it is given in their place; NULL: none yet */
	struct children *children;	/* owned; what it starts. NULL: another one's has it */
};

struct session {
	pid_t launcher, keeper, program;
	int launcher_fd, input_fd, keeper_fd, broker;
	int poll_fd;			/* epoll of what session_next() looks at */
	int timer_fd;			/* children are looked at */
	int wake_fd;			/* readable while notes are queued */
	int opened_fd;			/* readable once a probe opened the control page;
					 * -1: cannot be told */
	int program_fd;			/* pidfd, when the launcher died before it */
	bool attach;			/* PROGRAM runs already: no launcher */
	struct target *targets;		/* owned; then what PROGRAM is */
	size_t n_targets;
	struct apart *aparts;		/* owned, linked */
	struct pids *pids;		/* owned; NULL: they have the numbers that tftop sees */
	char *join;			/* owned; the name at which what is joined looks for a
					 * tftop; NULL: it is attached to */
	bool (*seen)(void *arg);	/* of struct session_options */
	void *seen_arg;
	int64_t stopped_ns;		/* a thread of theirs, for the probes, at most */
	struct follow *follow;		/* owned; NULL: what they start later is not entered */
	size_t unreached;		/* processes below them without a probe, at the start */
	bool late_told;			/* of processes that they start */
	int keeper_stood;		/* looks in a row that found the keeper stopped */
	bool keeper_told;		/* of that */
	uid_t uid;			/* the targets' */
	gid_t gid;
	pthread_mutex_t broker_lock;
	struct launcher_plan *plan;	/* shared with the launcher; owned */
	struct tft_control *control;	/* mapped; owned; NULL: not armed */
	struct wire_ready ready;	/* "" before READY */
	struct environ_choice probes;
	struct preflight preflight;
	struct children *children;	/* owned */
	struct session_note *first, *last;	/* owned queue */
	struct session_note *told;	/* owned; what the last event points into */
	enum tft_level level;
	enum tft_trigger trigger;
	struct tft_trigger_range range;
	bool screen, lossless;
	bool armed, broken, released, let_go;
	bool started, exited, launcher_gone, keeper_gone, drained;
	off_t log_size[2];		/* of the daemons' logs, when last looked at */
	int logs_told;
	size_t users;			/* whose processes are traced, at the last look */
	bool user_came;			/* one more than at the look before it */
	uid_t admitted[SESSION_USERS_MAX];	/* whose programs LTTng was told to trace */
	size_t admitted_count;
	bool users_missed;	/* and it was said */
	int64_t rouse_until_ns;		/* programs are told of fresh daemons until then; 0: no */
	uid_t roused[SESSION_USERS_MAX];	/* whose words were set for that */
	size_t n_roused;
	int64_t stop_limit_ns;		/* when session_stop() is given up */
	char *environment;		/* owned */
	struct wire wire;		/* the message the last event points into */
};

/* Queues an event of our own; dropped when memory is short. */
void session_note(struct session *session, const struct session_event *event,
		  const char *text);
void session_say(struct session *session, int level, const char *text);

/* ---- attach.c ---- */

/* May they be attached to? Else false with a sentence. */
bool session_attach_begin(struct session *session, const struct session_options *options,
			  char error[SESSION_ERROR_MAX]);
/* Their ends are seen by session->poll_fd; false and errno. */
bool session_attach_watch(struct session *session);
/* Brings the probes into them and waits until they are armed; as session_release(). */
int session_attach(struct session *session, char error[SESSION_ERROR_MAX]);
/* Its variables as they were when it began; text is the caller's to free. */
struct session_variables {
	char *text;			/* NAME=value, NUL after each; NULL: unknown */
	size_t size;
};
void session_attach_variables(pid_t pid, struct session_variables *variables);
const char *session_attach_variable(void *variables, const char *name);

/* Whether it is the one that began then; it is held. */
bool session_attach_hold(struct target *target, uint64_t start_ticks);
/* One of them that has ended since the last call; NULL: none. */
struct target *session_attach_ended(struct session *session);
/* How many are attached to and run. */
size_t session_attach_running(const struct session *session);
/* Looks at what they have started. */
void session_attach_look(struct session *session, child_function *tell);
/* Whether probes of ours are in that process, or it is to get them. */
bool session_attach_reaches(const struct session *session, pid_t pid);
bool session_attach_has_runtime(pid_t pid);
/* Code of theirs that was replaced is theirs again, where it can be. tftop lets go. */
void session_attach_put_back(struct session *session);
void session_attach_free(struct session *session);

/* ---- attach_apart.c ---- */

/* What it needs is where it can be seen; false with a sentence. */
bool session_apart_open(struct session *session, struct target *target, char *why, size_t size);
/* Of what no target that runs needs any more nothing is left. */
void session_apart_clear(struct session *session);
/* The private folder, as the target sees it; its descriptor here, -1: it is not apart. */
const char *session_apart_dir(const struct session *session, const struct target *target);
int session_apart_folder(const struct target *target);
/* The probes' folder as the target sees it; NULL: as tftop does. */
const char *session_apart_libraries(const struct target *target);

/* ---- rouse.c ---- */

/* Fresh daemons stand where those that died were: lets the programs know, as LTTng would
 * only where both are one user's. Again at each look, for some seconds. */
void session_rouse(struct session *session);
/* Takes back what session_rouse() left in shared memory. */
void session_rouse_end(struct session *session);

/* ---- join.c ---- */

/* Before anything is forked; false: error says why it cannot be joined. */
bool session_join_begin(struct session *session, char error[SESSION_ERROR_MAX]);
/* Until it is there; false: why it is not. */
bool session_join(struct session *session, char *why, size_t size);

/* ---- session.c ---- */

bool session_watch(struct session *session, int fd);
void session_unwatch(struct session *session, int fd);
/* What is set for PROGRAM; target: what has an environment already, NULL: none. */
void session_make_environment(struct session *session, const struct target *target);

/* The looks at /proc that the timer asks for, SESSION_LOOK_NS apart. */
#define SESSION_LOOK_NS 250000000
void session_look(struct session *session);
/* A keeper that somebody has stopped is told of and continued. */
void session_look_at_keeper(struct session *session);

#endif
