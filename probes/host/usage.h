/* SPDX-License-Identifier: MIT */
/*
 * What the process takes of its machine, as series of counters, once a second: processor time of
 * the process, of the kernel for it, of its busiest threads and of its children, for how long a
 * limit stopped it, memory, page faults, context switches, bytes to and from disks, and bytes of
 * the network (docs/host.md). A part of the sampler.
 *
 * Always true:
 *  - Everything is read by the sampler's thread, in its own table of descriptors, into memory that
 *    is there from the start. Nothing is allocated, and nothing waits for the program.
 *  - What cannot be read, for any reason, has no series. That is no error and is not reported.
 *  - The numbers of threads, of children and of series are bounded (USAGE_...).
 *  - A rate is what was counted since the last look, divided by the time since then, and begins at
 *    the last look. A count that went backwards has no rate.
 *
 * usage.c looks and sends, usage_threads.c and usage_children.c find those, usage_faults.c measures
 * what a page fault takes; usage_text.c reads the
 * kernel's texts and needs libc only, so that its tests can give it any text.
 */
#ifndef PROBES_HOST_USAGE_H
#define PROBES_HOST_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USAGE_TASKS 256u	/* threads that are looked at; more are not told apart */
#define USAGE_THREADS 16u	/* threads with a series at one time */
#define USAGE_THREADS_EVER 32u	/* and in the life of the process */
#define USAGE_CHILDREN 32u	/* processes below this one that are looked at */

/* ---- for the sampler's thread, see host.c ---- */

/* The sampler begins: what was counted before is not looked at. */
void host_usage_begin(void);
/* Looks if a second has passed since the last look, or if this is the first one. */
struct limits;
void host_usage_look(int64_t now_ns, const struct limits *limits);
/* The sampler ends: the last part of a second. */
void host_usage_end(const struct limits *limits);

/* ---- usage.c ---- */

/* Sends a value, and the series before its first one. *id: of the series, 0 until then. */
void usage_send(uint32_t *id, const char *name, const char *unit, int64_t at_ns, int64_t value);

/* ---- usage_faults.c ---- */

void usage_faults_begin(void);
/* Estimates how many of system_ns so many minor page faults within dur_ns took, by what one takes
 * of the processor here, which is measured as soon as there are many. -1: unknown. */
int64_t usage_fault_time(uint64_t faults, uint64_t system_ns, int64_t dur_ns);

/* ---- usage_threads.c ---- */

void usage_threads_begin(bool forked);
/* The processor time of each thread; since_ns: the last look, 0: none. last: the process may be
 * ending, and its threads with it. */
void usage_threads_look(int64_t since_ns, int64_t now_ns, bool last);
/* The threads of the last look. */
size_t usage_tasks(const uint32_t **tids);

/* ---- usage_children.c ---- */

void usage_children_begin(void);
void usage_children_look(int64_t since_ns, int64_t now_ns);

/* ---- usage_text.c: pure, over texts of /proc (proc(5)) ---- */

/* Reads the whole file, at most size - 1 bytes of it, with a terminating zero. Returns its length;
 * -1: it cannot be read. */
long usage_read(const char *path, char *text, size_t size);
/* Likewise of a file that is not empty and stays open, as to open it costs more than to read it.
 * *fd: its descriptor; -1: it is not open, as to begin with and where it cannot be read. */
long usage_read_kept(int *fd, const char *path, char *text, size_t size);
/* What was counted, for each second of dur_ns; -1: it went backwards, or there is no duration. */
int64_t usage_rate(uint64_t before, uint64_t now, int64_t dur_ns);
/* The share of one processor, in 1/1000; -1: as above. */
int64_t usage_share(int64_t before_ns, int64_t now_ns, int64_t dur_ns);
/* The resident pages of statm. */
bool usage_statm(const char *text, uint64_t *pages);
/* Moves *text behind the number that it begins with; false: it begins with none. */
bool usage_number(const char **text, uint64_t *value);
/* The number behind NAME and that character, as in "NAME: 12", at the start of a line. */
bool usage_field(const char *text, const char *name, char after, uint64_t *value);
/* The bytes of all interfaces of net/dev but the loopback; false: there are no others. */
bool usage_net(const char *text, uint64_t *received, uint64_t *sent);

struct usage_stat {
	uint32_t parent;
	uint64_t ticks;			/* its own and those of children that it waited for */
	uint64_t start_ticks;		/* since the machine started */
	uint64_t pages;			/* resident */
	uint64_t stack;			/* where it starts; 0 and 1: that may not be seen */
};
/* stat of a process, whose name may contain anything. */
bool usage_stat(const char *text, struct usage_stat *out);
/* The next number of a list; 0: there is none. */
uint32_t usage_next_pid(const char **list);

#endif
