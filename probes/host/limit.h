/* SPDX-License-Identifier: MIT */
/*
 * For how long limits of the processor have stopped this process: that of its cgroup and those of
 * the cgroups above it (cpu.max; cpu.cfs_quota_us in version 1). The kernel counts it in the
 * cpu.stat of each of these groups (its Documentation, admin-guide/cgroup-v2.rst and
 * scheduler/sched-bwc.rst).
 *
 * Always true:
 *  - Files are only read, by one thread, in its own table of descriptors. Nothing is allocated.
 *  - A group counts if a mount that the process sees has it, and if it has a limit. Groups above a
 *    namespace or outside of every mount are not seen, and nothing is said of them.
 *  - The total never decreases.
 *
 * The kernel counts the processors one by one: a group that is stopped on two of them for a second
 * was stopped for two. When several groups were stopped since the last look, the one with most
 * counts, because they may have been stopped together.
 *
 * Needs libc only, so that its tests can give it any files.
 */
#ifndef PROBES_HOST_LIMIT_H
#define PROBES_HOST_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LIMIT_LEVELS 4u		/* groups with a limit that are looked at: the lowest ones */

struct limits {
	uint32_t n;			/* 0: there is no limit, as far as can be seen */
	struct limit_level {
		int fd;			/* owned; its cpu.stat */
		bool v1;
		int64_t at_ns;		/* what it said at the last look */
	} level[LIMIT_LEVELS];
	int64_t total_ns;		/* since the first look */
};

/* The thread begins, with a new table of descriptors. */
void limits_begin(struct limits *limits);
/* Looks for the groups anew, because limits are changed and processes moved. root: what /proc and
 * all mounts are below, for tests; "" otherwise. */
void limits_find(struct limits *limits, const char *root);
/* Adds to the total what was counted since the last look. */
void limits_look(struct limits *limits);

#endif
