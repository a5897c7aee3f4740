/* SPDX-License-Identifier: MIT */
/*
 * What tftop and its helper processes do to themselves (descriptors, signals, priority) and read
 * of other processes in /proc.
 *
 * No state; functions that close descriptors or set signals are for single-threaded processes.
 */
#ifndef PROBES_PROCESS_PROCESS_H
#define PROBES_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Closes all descriptors above 2 except those given (negative ones are skipped). It never counts
 * up to the limit, which can be a million and more. */
void process_keep_fds(const int *fds, size_t count);

/* The folder of this executable; ".": unknown. */
void process_own_folder(char *path, size_t size);

/* Writes the path of a file or folder beside this executable; false: there is none. */
bool process_own_file(const char *name, char *path, size_t size);

/* Connects the standard descriptors to /dev/null. */
void process_null_stdio(void);

/* Ignores the signals that a terminal, a shell or a logout sends. SIGCHLD and SIGPIPE get a known
 * disposition; no signal stays blocked. */
void process_shrug_signals(void);

/* Sets all dispositions to default and blocks nothing, before an exec. */
void process_default_signals(void);

/*
 * Lowers the priority of the calling thread and of what it starts, so that PROGRAM comes first when
 * processors are short; the thread also preempts no other when it wakes up (SCHED_BATCH). Never
 * raises a priority; failure is silent.
 */
void process_give_way(void);
/* The same for all threads of a process; threads that they start later inherit it. */
void process_gives_way(pid_t pid);
/* Raises the priority of the calling thread, and of what it starts, until its group gives way: for
 * a start that consists of many short steps. false: tftop may not do that. */
bool process_hurry(void);
/* Lowers the session that this process leads, because its nice level counts where the kernel groups
 * tasks by session (sched(7), autogroup). hurried: lowers also all other threads of its group. */
void process_group_gives_way(bool hurried);
/* A time limit of ns, extended by up to 3 times if many tasks want the processors. */
int64_t process_patience(int64_t ns);

/* Reads a whole small file and adds a NUL. Returns the number of bytes, or -1 and errno. */
ssize_t process_read_file(const char *path, char *buffer, size_t size);
/* The same with /proc/PID/NAME; and its descriptor, or -1 and errno. */
ssize_t process_read(pid_t pid, const char *name, char *buffer, size_t size);
int process_open_file(pid_t pid, const char *name, int flags);

/* Fields of /proc/PID/stat; false: there is no such process. */
struct process_stat {
	char state;
	pid_t parent;
	uint64_t start_ticks;
	uint64_t worked_ticks;	/* what all its threads have had of processors */
	uint64_t image;	/* where its stack starts, which changes with an exec; 0, 1: not visible */
	char comm[32];
};
bool process_stat(pid_t pid, struct process_stat *stat);

/* Holds the process that started at start_ticks by a pidfd, which the caller owns, so that its PID
 * cannot be reused unnoticed; -1: it has ended. image: as in struct process_stat, or NULL. */
int process_open(pid_t pid, uint64_t start_ticks, uint64_t *image);

/* The environment variables with which a process started its current program. text: NAME=value with
 * a NUL after each, freed by the caller; NULL: unknown. */
struct process_environment {
	char *text;
	size_t size;
};
void process_environment(pid_t pid, struct process_environment *environment);
/* A variable's value; NULL: it is not set. environment: a struct process_environment. */
const char *process_variable(void *environment, const char *name);

/* The effective uid of a process; false: it has ended, or is not visible. */
bool process_uid(pid_t pid, uid_t *uid);

/* Direct children, from /proc/PID/task/ * /children; returns how many, max at most. */
size_t process_children(pid_t pid, pid_t *children, size_t max);

/* Sends a signal to every direct child of the caller. */
void process_kill_children(int signal);

/* Writes "what 'subject': strerror(error)". */
void process_error(char *buffer, size_t size, const char *what,
		   const char *subject, int error);

#endif
