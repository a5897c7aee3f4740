/* SPDX-License-Identifier: MIT */
/*
 * What the launcher, the keeper and the keeper's children have in common as
 * processes: which descriptors they keep, how they are named, what they read
 * from /proc. No state; any process, single-threaded where it closes things.
 */
#ifndef PROBES_SESSION_PROCESS_H
#define PROBES_SESSION_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Closes all descriptors above 2 but those given (negative ones are skipped);
 * never walks up to the limit, which can be a million and more. */
void process_keep_fds(const int *fds, size_t count);

/* The folder of this executable; ".": it cannot be told. */
void process_own_folder(char *path, size_t size);

/* Standard descriptors to /dev/null. */
void process_null_stdio(void);

/* Ignores what a terminal, a shell or a logout sends. SIGCHLD and SIGPIPE get
 * a known disposition; nothing stays blocked. */
void process_shrug_signals(void);

/* All dispositions to default, nothing blocked: for an exec of ours. */
void process_default_signals(void);

/*
 * Where cores are short PROGRAM comes first: the calling thread, and what it
 * starts, gets a lower priority, and when it wakes it pushes nobody from a core
 * (SCHED_BATCH). Never raises anything; failure is silent.
 */
void process_give_way(void);
/* All threads of that process; those that it starts later have it from these. */
void process_gives_way(pid_t pid);
/* The calling thread, and what it starts, goes before others until its group gives way, for a
 * start that is short but made of many small steps. False: it may not. */
bool process_hurry(void);
/* The session that this process leads, whose nice level counts where the kernel groups
 * tasks by session (sched(7), autogroup); hurried: and all of the group but this thread. */
void process_group_gives_way(bool hurried);
/* How long what takes ns at most may take now, as many want the processors: up to 3 times. */
int64_t process_patience(int64_t ns);

/* Reads a whole small file; bytes read (NUL added), -1 and errno. */
ssize_t process_read_file(const char *path, char *buffer, size_t size);

/* Fields of /proc/PID/stat; false when the process is gone. */
struct process_stat {
	char state;
	pid_t parent;
	uint64_t start_ticks;
	uint64_t image;		/* its stack's start: another one after an exec; 0 or 1: not shown */
	char comm[32];
};
bool process_stat(pid_t pid, struct process_stat *stat);

/* Holds the process that began at start_ticks: a pidfd, the caller's, so that its PID cannot
 * become another one's unseen; -1: it has gone. image: as in struct process_stat, or NULL. */
int process_open(pid_t pid, uint64_t start_ticks, uint64_t *image);

/* The variables with which a process began what it runs. text: NAME=value with a NUL after
 * each, the caller's to free; NULL: unknown. */
struct process_environment {
	char *text;
	size_t size;
};
void process_environment(pid_t pid, struct process_environment *environment);
/* A variable's value; NULL: it is not set. environment: a struct process_environment. */
const char *process_variable(void *environment, const char *name);

/* Its effective uid; false: it has gone, or is not shown. */
bool process_uid(pid_t pid, uid_t *uid);

/* Direct children, from /proc/PID/task/ * /children; count found (at most max). */
size_t process_children(pid_t pid, pid_t *children, size_t max);

/* SIGKILL (or signal) to every direct child of the caller. */
void process_kill_children(int signal);

/* "what 'subject': strerror(error)" */
void process_error(char *buffer, size_t size, const char *what,
		   const char *subject, int error);

#endif
