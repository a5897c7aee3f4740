/* SPDX-License-Identifier: MIT */
/*
 * The processes below this one: their processor time and memory, in sums. The kernel lists the
 * children of each thread (/proc/PID/task/TID/children): those of the main thread are looked at
 * each time, those of a few others in turn, so that a child of another thread is found within some
 * seconds.
 *
 * Processor time is a difference of two sums, each over the processes that are there and over what
 * ended children have left to those that waited for them: a child that ends moves from one part to
 * the other. A process that was found late is added to both sums.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/host/usage.h"
#include "probes/runtime/internal.h"

#define TURN_TASKS 8		/* threads whose children are looked for at one look */
#define USAGE_TEXT 1024u
#define START_SLACK_NS 20000000	/* the kernel tells the start of a process in ticks */

static struct usage_child {
	uint32_t pid;
	uint64_t start_ticks, ticks;
	bool seen;			/* at an earlier look */
} children[USAGE_CHILDREN];
static size_t child_count;
static size_t turn;			/* the next thread to look at */
static uint64_t waited_us;		/* at the last look */
static int64_t boot_ns;			/* the last look, since the machine started */
static uint32_t series_processor, series_memory;
static bool had_any;			/* this process had a child */

void usage_children_begin(void)
{
	child_count = turn = 0;
	had_any = false;
}

/* ---- which ---- */

static void usage_add_children(uint32_t pid, uint32_t tid)
{
	char path[64], text[USAGE_TEXT];
	const char *list = text;
	uint32_t child;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, tid);
	if (usage_read(path, text, sizeof(text)) <= 0)
		return;
	while (child_count < USAGE_CHILDREN && (child = usage_next_pid(&list))) {
		size_t i;

		for (i = 0; i < child_count && children[i].pid != child; i++)
			;
		if (i == child_count)
			children[child_count++] = (struct usage_child) { .pid = child };
	}
}

/* Asks for all threads at once, and leaves each child to whoever waits for it. */
static bool has_children(void)
{
	return !waitid(P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT | __WALL) || errno != ECHILD;
}

static void usage_find_children(void)
{
	uint32_t pid = (uint32_t)getpid();
	const uint32_t *tids;
	size_t n = usage_tasks(&tids);

	if (!has_children())
		return;
	usage_add_children(pid, pid);
	for (size_t i = 0; i < TURN_TASKS && i < n; i++, turn++)
		if (tids[turn % n] != pid)
			usage_add_children(pid, tids[turn % n]);
}

/* ---- what they use ---- */

static bool is_below(const struct usage_child *child, uint32_t parent)
{
	if (parent == (uint32_t)getpid())
		return true;
	for (size_t i = 0; i < child_count; i++)
		if (children[i].pid == parent && &children[i] != child)
			return true;
	return false;
}

/* Reads the process anew; false: it has ended, or is no longer below this one. */
static bool look_at_child(struct usage_child *child, struct usage_stat *stat)
{
	char path[64], text[USAGE_TEXT];

	snprintf(path, sizeof(path), "/proc/%u/stat", child->pid);
	return usage_read(path, text, sizeof(text)) > 0 && usage_stat(text, stat) &&
	       is_below(child, stat->parent) &&
	       (!child->seen || child->start_ticks == stat->start_ticks);
}

struct usage_sums {
	uint64_t before_ticks, now_ticks, pages;
};

/* Adds all of them; those that are below a child are found on the way. */
static void add_up(struct usage_sums *sums, uint64_t tick_ns)
{
	for (size_t i = 0; i < child_count;) {
		struct usage_child *child = &children[i];
		struct usage_stat stat;
		bool known = child->seen;

		if (!look_at_child(child, &stat)) {
			sums->before_ticks += child->ticks;
			*child = children[--child_count];
			continue;
		}
		if (!known && (int64_t)(stat.start_ticks * tick_ns) + START_SLACK_NS < boot_ns)
			child->ticks = stat.ticks;	/* found late */
		sums->before_ticks += child->ticks;
		sums->now_ticks += stat.ticks;
		sums->pages += stat.pages;
		*child = (struct usage_child) { child->pid, stat.start_ticks, stat.ticks, true };
		usage_add_children(child->pid, child->pid);
		i++;
	}
}

static uint64_t usage_waited_us(void)
{
	struct rusage r;

	if (getrusage(RUSAGE_CHILDREN, &r))
		return 0;
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

void usage_children_look(int64_t since_ns, int64_t now_ns)
{
	struct usage_sums sums = { .pages = 0 };
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t before_us = waited_us;

	usage_find_children();
	add_up(&sums, tick_ns);
	waited_us = usage_waited_us();
	boot_ns = rt_clock_ns(CLOCK_BOOTTIME);
	if (!since_ns)
		return;
	had_any = had_any || child_count || waited_us != before_us;
	if (!had_any)
		return;
	usage_send(&series_processor, TFT_USAGE_OF_CHILDREN, "1/1000", since_ns,
		   usage_share((int64_t)(sums.before_ticks * tick_ns + before_us * 1000),
			       (int64_t)(sums.now_ticks * tick_ns + waited_us * 1000),
			       now_ns - since_ns));
	usage_send(&series_memory, "memory of children", "bytes", now_ns,
		   (int64_t)(sums.pages * (uint64_t)sysconf(_SC_PAGESIZE)));
}
