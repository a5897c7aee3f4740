/* SPDX-License-Identifier: MIT */
/*
 * The processor time of the threads that use most. A thread gets a series when it has used a
 * hundredth of a processor for a second, the busiest first, and keeps it until it ends. A thread
 * whose series has ended with it leaves its place to another, but no process has more than
 * USAGE_THREADS_EVER series of threads: a program that starts one thread for each task would
 * otherwise fill the list of counters.
 *
 * /proc/self/task lists the threads by age, so that those of one look are nearly in the same order
 * as those of the next one, and the first USAGE_TASKS of many stay the same.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/host/host.h"
#include "probes/host/usage.h"
#include "probes/runtime/internal.h"

#define BUSY_PER_MILLE 10	/* of a processor: the least that is worth a series */
#define USAGE_NAME 64

/* A directory entry as getdents64(2) writes it. */
struct usage_entry {
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static struct usage_tasks {
	size_t n;
	uint32_t tid[USAGE_TASKS];
	int64_t cpu_ns[USAGE_TASKS];
	int64_t used[USAGE_TASKS];	/* in 1/1000 of a processor; -1: unknown */
} tasks[2];
static struct usage_tasks *now = &tasks[0], *before = &tasks[1];

static struct {
	uint32_t tid, series;		/* tid 0: unused */
	char name[USAGE_NAME];
} threads[USAGE_THREADS];
static uint32_t ever;			/* series of threads so far */

void usage_threads_begin(bool forked)
{
	now = &tasks[0];
	before = &tasks[1];
	now->n = before->n = 0;
	if (!forked)
		return;
	memset(threads, 0, sizeof(threads));
	ever = 0;
}

size_t usage_tasks(const uint32_t **tids)
{
	*tids = now->tid;
	return now->n;
}

/* ---- the threads ---- */

static void add_task(const char *name)
{
	uint32_t tid = usage_next_pid(&name);
	int64_t cpu_ns = tid ? host_cpu_ns(tid) : -1;

	if (cpu_ns < 0 || now->n >= USAGE_TASKS)
		return;
	now->tid[now->n] = tid;
	now->cpu_ns[now->n++] = cpu_ns;
}

static void list_tasks(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task",
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	char entries[4096] __attribute__((aligned(8)));
	long n = 0;

	now->n = 0;
	if (fd < 0)
		return;
	while (now->n < USAGE_TASKS &&
	       (n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (long at = 0; at < n;) {
			struct usage_entry *entry = (void *)(entries + at);

			add_task(entry->name);
			at += entry->bytes;
		}
	syscall(SYS_close, fd);
}

/* Where the thread was at the last look; `from` is where it probably was. */
static size_t find_before(uint32_t tid, size_t from)
{
	for (size_t i = 0; i < before->n; i++) {
		size_t at = (from + i) % before->n;

		if (before->tid[at] == tid)
			return at;
	}
	return before->n;
}

static void compare_tasks(int64_t dur_ns)
{
	/* one that was not listed then has used all its time since, unless the list was full */
	int64_t unlisted_ns = before->n && before->n < USAGE_TASKS ? 0 : -1;
	size_t from = 0;

	for (size_t i = 0; i < now->n; i++) {
		size_t at = find_before(now->tid[i], from);

		from = at < before->n ? at + 1 : from;
		now->used[i] = usage_share(at < before->n ? before->cpu_ns[at] : unlisted_ns,
					   now->cpu_ns[i], dur_ns);
	}
}

/* ---- their series ---- */

static size_t series_of(uint32_t tid)
{
	size_t i;

	for (i = 0; i < USAGE_THREADS && threads[i].tid != tid; i++)
		;
	return i;
}

static void name_thread(size_t at, uint32_t tid)
{
	char comm[32];

	host_thread_name(tid, comm, sizeof(comm));
	snprintf(threads[at].name, sizeof(threads[at].name), "thread %u %s", tid, comm);
	threads[at].tid = tid;
	threads[at].series = 0;
	ever++;
}

/* Gives a series to the busiest of those that have none; false: there is none that is worth it. */
static bool name_busiest(void)
{
	size_t place = series_of(0), best = now->n;

	if (place == USAGE_THREADS || ever >= USAGE_THREADS_EVER)
		return false;
	for (size_t i = 0; i < now->n; i++)
		if (now->used[i] >= BUSY_PER_MILLE && series_of(now->tid[i]) == USAGE_THREADS &&
		    (best == now->n || now->used[i] > now->used[best]))
			best = i;
	if (best == now->n)
		return false;
	name_thread(place, now->tid[best]);
	return true;
}

static void send_threads(int64_t since_ns, int64_t now_ns, bool last)
{
	for (size_t i = 0; i < USAGE_THREADS; i++) {
		size_t at;

		if (!threads[i].tid)
			continue;
		for (at = 0; at < now->n && now->tid[at] != threads[i].tid; at++)
			;
		/* it has ended, at some time since the last look */
		if (at == now->n && threads[i].series && !last)
			usage_send(&threads[i].series, threads[i].name, "1/1000", now_ns, 0);
		else if (at < now->n)
			usage_send(&threads[i].series, threads[i].name, "1/1000", since_ns,
				   now->used[at]);
		if (at == now->n)
			threads[i].tid = 0;
	}
}

void usage_threads_look(int64_t since_ns, int64_t now_ns, bool last)
{
	struct usage_tasks *older = before;

	before = now;
	now = older;
	list_tasks();
	if (!since_ns)
		return;
	compare_tasks(now_ns - since_ns);
	while (name_busiest())
		;
	send_threads(since_ns, now_ns, last);
}
