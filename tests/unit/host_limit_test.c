/* SPDX-License-Identifier: MIT */
/* Limits of the processor: which groups have one, and what their cpu.stat says, from made-up
 * files. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probes/host/limit.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)

/* Writes a file below the case's folder, with the folders that it needs. */
static void put(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(const char *path, const char *format, ...)
{
	char whole[TEST_PATH_MAX + 1024];
	size_t root = strlen(test_folder());
	va_list args;
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", test_folder(), path);
	for (char *at = whole + root + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(whole, 0700);
		*at = '/';
	}
	file = fopen(whole, "w");
	CHECK(file != NULL);
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	CHECK(!fclose(file));
}

#define V2 "25 1 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define ROOTS "20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n" \
	      "21 20 0:5 / /proc rw shared:2 master:3 - proc proc rw\n"

static void groups(const char *cgroup, const char *mountinfo)
{
	put("/proc/self/cgroup", "%s", cgroup);
	put("/proc/self/mountinfo", "%s", mountinfo);
}

static void group_v2(const char *path, const char *max, long long throttled_us)
{
	char name[640];

	snprintf(name, sizeof(name), "%s/cpu.max", path);
	put(name, "%s", max);
	snprintf(name, sizeof(name), "%s/cpu.stat", path);
	put(name, "usage_usec 90\nuser_usec 80\nsystem_usec 10\nnr_periods 7\nnr_throttled 3\n"
	    "throttled_usec %lld\nnr_bursts 0\nburst_usec 0\n", throttled_us);
}

static uint32_t found(struct limits *limits)
{
	limits_find(limits, test_folder());
	return limits->n;
}

/* A group and those above it: the one without a limit is left out, the one that has been stopped
 * for longest counts. */
TEST(host_limit_levels)
{
	struct limits limits;

	limits_begin(&limits);
	groups("0::/docker/a b/job\n", ROOTS V2);
	put("/sys/fs/cgroup/cpu.stat", "usage_usec 1\n");	/* the root of all has no cpu.max */
	group_v2("/sys/fs/cgroup/docker", "200000 100000\n", 5000);
	group_v2("/sys/fs/cgroup/docker/a b", "max 100000\n", 0);
	group_v2("/sys/fs/cgroup/docker/a b/job", "30000 100000\n", 100);
	CHECK_INT(found(&limits), 2);
	limits_look(&limits);
	CHECK_INT(limits.total_ns, 0);	/* what was before does not count */
	group_v2("/sys/fs/cgroup/docker/a b/job", "30000 100000\n", 700);
	limits_look(&limits);
	CHECK_INT(limits.total_ns, 600 * US);
	group_v2("/sys/fs/cgroup/docker", "200000 100000\n", 5200);
	group_v2("/sys/fs/cgroup/docker/a b/job", "30000 100000\n", 750);
	limits_look(&limits);
	CHECK_INT(limits.total_ns, 800 * US);
	/* one that counts backwards, and one that says nothing any more */
	group_v2("/sys/fs/cgroup/docker", "200000 100000\n", 10);
	put("/sys/fs/cgroup/docker/a b/job/cpu.stat", "throttled_usec many\n");
	limits_look(&limits);
	CHECK_INT(limits.total_ns, 800 * US);
	group_v2("/sys/fs/cgroup/docker", "200000 100000\n", 30);
	limits_look(&limits);
	CHECK_INT(limits.total_ns, 820 * US);
	/* the limits are taken away; what was counted stays */
	group_v2("/sys/fs/cgroup/docker", "max 100000\n", 40);
	group_v2("/sys/fs/cgroup/docker/a b/job", "max 100000\n", 0);
	CHECK_INT(found(&limits), 0);
	limits_look(&limits);
	CHECK_INT(limits.total_ns, 830 * US);
}

/* Not more levels than there is room for: the lowest ones. */
TEST(host_limit_many_levels)
{
	char path[512], group[] = "0::/d/d/d/d/d/d/d/d/d/d\n";
	struct limits limits;

	for (int i = 1; i <= 10; i++) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%.*s", 2 * i, group + 3);
		group_v2(path, "1000 100000\n", 0);
	}
	groups(group, V2);
	limits_begin(&limits);
	CHECK_INT(found(&limits), LIMIT_LEVELS);
	group_v2(path, "1000 100000\n", 9);
	limits_look(&limits);
	CHECK_INT(limits.total_ns, 9 * US);
}

static void group_v1(const char *path, const char *quota, const char *stat)
{
	char name[640];

	snprintf(name, sizeof(name), "%s/cpu.cfs_quota_us", path);
	put(name, "%s", quota);
	snprintf(name, sizeof(name), "%s/cpu.stat", path);
	put(name, "%s", stat);
}

#define V1 "30 1 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" \
	   "31 1 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n" \
	   "32 1 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
#define CPU "/sys/fs/cgroup/cpu,cpuacct"

/* Version 1, beside a version 2 that has no processors; and a container that is the root of what it
 * sees. */
TEST(host_limit_version_1)
{
	struct limits limits;

	limits_begin(&limits);
	groups("5:cpuset:/elsewhere\n4:cpu,cpuacct:/job\n0::/job\n", V1);
	group_v1(CPU, "-1\n", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
	group_v1(CPU "/job", "30000\n", "nr_periods 9\nnr_throttled 2\nthrottled_time 100\n");
	put("/sys/fs/cgroup/unified/job/cpu.stat", "usage_usec 1\n");
	CHECK_INT(found(&limits), 1);
	group_v1(CPU "/job", "30000\n", "nr_periods 9\nnr_throttled 2\nthrottled_time 163\n");
	limits_look(&limits);
	CHECK_INT(limits.total_ns, 63);
	groups("4:cpu:/docker/0123\n",
	       "40 1 0:29 /docker/0123 /c\\040pu ro - cgroup cgroup rw,cpu\n");
	group_v1("/c pu", "5\n", "throttled_time 1\n");
	CHECK_INT(found(&limits), 1);
	groups("4:cpu:/docker/0123/x\n",
	       "40 1 0:29 /docker/0123 /c\\040pu ro - cgroup cgroup rw,cpu\n");
	group_v1("/c pu/x", "-1\n", "throttled_time 1\n");
	CHECK_INT(found(&limits), 1);
}

/* What is not of the process's own group, and what has not the form that it should have. */
TEST(host_limit_nothing)
{
	static const struct { const char *cgroup, *mountinfo, *max, *stat; } cases[] = {
		{ "0::/job\n", V2, "30000\n", "throttled_usec 1\n" },
		{ "0::/job\n", V2, "30000 0\n", "throttled_usec 1\n" },
		{ "0::/job\n", V2, "0 100000\n", "throttled_usec 1\n" },
		{ "0::/job\n", V2, "99999999999999999999 100000\n", "throttled_usec 1\n" },
		{ "0::/job\n", V2, "", "throttled_usec 1\n" },
		{ "0::/job\n", V2, "30000 100000\n", "throttled_usec -1\n" },
		{ "0::/job\n", V2, "30000 100000\n", "throttled_usec 18446744073709551\n" },
		{ "0::/job\n", V2, "30000 100000\n", "xthrottled_usec 1\nthrottled 1\n" },
		{ "0::/job\n", V2, "30000 100000\n", "" },
		{ "0::/job\n", ROOTS, "30000 100000\n", "throttled_usec 1\n" },
		{ "0::/job\n", "", "30000 100000\n", "throttled_usec 1\n" },
		{ "0::/job\n", "25 1 0:22 / /sys/fs/cgroup rw -\n25 - cgroup2\n\n - \n",
		  "30000 100000\n", "throttled_usec 1\n" },
		/* another part of the hierarchy, and what only looks like its root */
		{ "0::/job\n", "25 1 0:22 /jo /sys/fs/cgroup/job rw - cgroup2 cgroup2 rw\n",
		  "30000 100000\n", "throttled_usec 1\n" },
		{ "0::/../job\n", V2, "30000 100000\n", "throttled_usec 1\n" },
		{ "1:cpu:/job\n", V2, "30000 100000\n", "throttled_usec 1\n" },
		{ "0:cpu:/job\n0:/job\njob\n1::/job\n", V2, "30000 100000\n",
		  "throttled_usec 1\n" },
		{ "", V2, "30000 100000\n", "throttled_usec 1\n" },
		{ "0::/other\n", V2, "30000 100000\n", "throttled_usec 1\n" },
	};
	struct limits limits;

	limits_begin(&limits);
	CHECK_INT(found(&limits), 0);	/* there is no /proc */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		groups(cases[i].cgroup, cases[i].mountinfo);
		put("/sys/fs/cgroup/job/cpu.max", "%s", cases[i].max);
		put("/sys/fs/cgroup/job/cpu.stat", "%s", cases[i].stat);
		if (found(&limits))
			test_fail(__FILE__, __LINE__, "case %zu has a limit", i);
	}
	/* the same files, in their form */
	groups("0::/job\n", V2);
	put("/sys/fs/cgroup/job/cpu.max", "30000 100000\n");
	put("/sys/fs/cgroup/job/cpu.stat", "throttled_usec 1\n");
	CHECK_INT(found(&limits), 1);
}

/* The mounts of a container have lines longer than a page, and a machine has thousands. */
TEST(host_limit_long_mounts)
{
	size_t size = 200000, at = 0;
	char *text = malloc(size);
	struct limits limits;

	limits_begin(&limits);
	for (int i = 0; i < 500; i++)
		at += (size_t)snprintf(text + at, size - at, "%d 1 0:9 / /m%d rw - tmpfs t rw\n",
				       i + 100, i);
	at += (size_t)snprintf(text + at, size - at, "99 1 0:8 / /o rw - overlay o lower=");
	memset(text + at, 'x', 100000);
	at += 100000;
	/* what is behind the end of a buffer does not begin a line */
	snprintf(text + at, size - at, "%s", " " V2);
	groups("0::/job\n", text);
	group_v2("/sys/fs/cgroup/job", "30000 100000\n", 1);
	CHECK_INT(found(&limits), 0);
	snprintf(text + at, size - at, "%s", "\n" V2);
	groups("0::/job\n", text);
	CHECK_INT(found(&limits), 1);
	free(text);
}

/* Any text is read without harm, and a path that is too long is not cut. */
TEST(host_limit_any_text)
{
	static const char letters[] = "0123456789:/ -\n\\.,cpugroumax";
	struct limits limits;
	char text[3000];

	limits_begin(&limits);
	for (int k = 0; k < 400; k++) {
		size_t n = (size_t)test_below(sizeof(text) - 1);

		for (size_t i = 0; i < n; i++)
			text[i] = letters[test_below(sizeof(letters) - 1)];
		text[n] = '\0';
		if (k % 2)
			groups("0::/job\n1:cpu:/job\n", text);
		else
			groups(text, V2 V1);
		found(&limits);
		CHECK(limits.n <= LIMIT_LEVELS && !limits.total_ns);
	}
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "0::/", 4);
	text[1020] = '\n';
	groups(text, V2);
	CHECK_INT(found(&limits), 0);
}
