/* SPDX-License-Identifier: MIT */
/*
 * See usage.h. A rate holds from the last look on, and is told at this one: the plot of a second
 * stands above what ran in that second. A file that could not be read several times in a row is
 * not asked for again.
 */
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probes/host/limit.h"
#include "probes/host/usage.h"
#include "probes/runtime/internal.h"

#define USAGE_EVERY_NS 1000000000
#define USAGE_LEAST_NS 100000000	/* a shorter part of a second at the end is not told */
#define USAGE_NET_TEXT 8192u
#define USAGE_FAILURES 3

enum usage_file { FILE_MEMORY, FILE_DISKS, FILE_NETWORK, USAGE_FILES };
static const char *const paths[USAGE_FILES] = {
	"/proc/self/statm", "/proc/self/io", "/proc/self/net/dev",
};

/* In this order they are sent, and shown: the timeline puts the others below the first one. */
enum usage_kind {
	PROCESSOR, SYSTEM, FAULT_TIME, THROTTLED, RESIDENT, MINOR_FAULTS, MAJOR_FAULTS, WAITS,
	PREEMPTIONS, DISK_READ, DISK_WRITTEN, NET_RECEIVED, NET_SENT, USAGE_KINDS,
};

static const struct {
	const char *name, *unit;
} about[USAGE_KINDS] = {
	[PROCESSOR] = { TFT_USAGE_PROCESSOR, "1/1000" },
	[SYSTEM] = { "system time", "1/1000" },
	[FAULT_TIME] = { TFT_USAGE_FAULT_TIME, "1/1000" },
	[THROTTLED] = { "throttled", "1/1000" },
	[RESIDENT] = { "resident memory", "bytes" },
	[MINOR_FAULTS] = { TFT_USAGE_FAULTS, "/s" },
	[MAJOR_FAULTS] = { "major page faults", "/s" },
	[WAITS] = { "voluntary switches", "/s" },
	[PREEMPTIONS] = { "involuntary switches", "/s" },
	[DISK_READ] = { "disk read", "bytes/s" },
	[DISK_WRITTEN] = { "disk written", "bytes/s" },
	[NET_RECEIVED] = { "network received (machine)", "bytes/s" },
	[NET_SENT] = { "network sent (machine)", "bytes/s" },
};

/* Everything but `defined` belongs to the sampler's thread. */
static _Atomic uint32_t defined = 1;	/* raised when the series have to be sent again */
static struct {
	uint32_t pid;
	uint32_t series[USAGE_KINDS];	/* 0: nothing has been sent yet */
	uint32_t told;			/* value of `defined` when the series were sent */
	bool again;			/* they are sent again with this look */
	int64_t look_ns;		/* 0: there was no look yet */
	uint64_t count[USAGE_KINDS];	/* at the last look */
	bool known[USAGE_KINDS];
	bool has_ids;			/* /proc has the ids that this process has for itself */
	uint8_t io_failures, net_failures;
	int fd[USAGE_FILES];
	char text[USAGE_NET_TEXT];
} usage;

void rt_host_dump(void)
{
	atomic_fetch_add(&defined, 1);
}

static void usage_define(uint32_t *id, const char *name, const char *unit)
{
	struct tft_series series = { .device = TFT_SERIES_USAGE, .name = name, .unit = unit };

	if (*id && !usage.again)
		return;
	if (!*id)
		*id = rt_series_id();
	series.id = *id;
	rt_emit_series(&series);
}

void usage_send(uint32_t *id, const char *name, const char *unit, int64_t at_ns, int64_t value)
{
	struct tft_counter counter = { .at_ns = at_ns, .value = value };

	if (rt_level() < TFT_LEVEL_DEFAULT || value < 0)
		return;
	usage_define(id, name, unit);
	counter.series = *id;
	rt_emit_counter(&counter);
}

/* ---- one look ---- */

static void send_kind(enum usage_kind kind, int64_t at_ns, int64_t value)
{
	usage_send(&usage.series[kind], about[kind].name, about[kind].unit, at_ns, value);
}

/* Whether it counts nanoseconds of processors. */
static bool is_time(enum usage_kind kind)
{
	return kind == PROCESSOR || kind == SYSTEM || kind == THROTTLED;
}

static void send_rate(enum usage_kind kind, uint64_t count, int64_t now_ns)
{
	if (usage.known[kind] && usage.look_ns)
		send_kind(kind, usage.look_ns,
			  is_time(kind) ?
			  usage_share((int64_t)usage.count[kind], (int64_t)count,
				      now_ns - usage.look_ns) :
			  usage_rate(usage.count[kind], count, now_ns - usage.look_ns));
	usage.count[kind] = count;
	usage.known[kind] = true;
}

static long usage_read_file(enum usage_file file)
{
	return usage_read_kept(&usage.fd[file], paths[file], usage.text, sizeof(usage.text));
}

static void look_at_memory(int64_t now_ns)
{
	uint64_t pages;

	if (usage_read_file(FILE_MEMORY) > 0 &&
	    usage_statm(usage.text, &pages))
		send_kind(RESIDENT, now_ns, (int64_t)(pages * (uint64_t)sysconf(_SC_PAGESIZE)));
}

/* How long the faults since the last look took the processor, which no kernel counts: at most as
 * long as it worked for the program at all. */
static void send_fault_time(uint64_t faults, uint64_t system_ns, int64_t now_ns)
{
	int64_t dur_ns = now_ns - usage.look_ns, ns;

	if (!usage.known[MINOR_FAULTS] || !usage.known[SYSTEM] || !usage.look_ns ||
	    faults < usage.count[MINOR_FAULTS] || system_ns < usage.count[SYSTEM])
		return;
	ns = usage_fault_time(faults - usage.count[MINOR_FAULTS],
			      system_ns - usage.count[SYSTEM], dur_ns);
	send_kind(FAULT_TIME, usage.look_ns, ns < 0 ? -1 : usage_share(0, ns, dur_ns));
}

static void look_at_counts(int64_t now_ns)
{
	struct rusage r;
	uint64_t system_ns;

	if (getrusage(RUSAGE_SELF, &r))
		return;
	system_ns = (uint64_t)r.ru_stime.tv_sec * 1000000000 + (uint64_t)r.ru_stime.tv_usec * 1000;
	send_fault_time((uint64_t)r.ru_minflt, system_ns, now_ns);
	send_rate(SYSTEM, system_ns, now_ns);
	send_rate(MINOR_FAULTS, (uint64_t)r.ru_minflt, now_ns);
	send_rate(MAJOR_FAULTS, (uint64_t)r.ru_majflt, now_ns);
	send_rate(WAITS, (uint64_t)r.ru_nvcsw, now_ns);
	send_rate(PREEMPTIONS, (uint64_t)r.ru_nivcsw, now_ns);
}

/* Where there is no limit, or none any more, nothing is counted. */
static void look_at_limits(const struct limits *limits, int64_t now_ns)
{
	if (limits->n)
		send_rate(THROTTLED, (uint64_t)limits->total_ns, now_ns);
	else
		usage.known[THROTTLED] = false;
}

static void look_at_disks(int64_t now_ns)
{
	uint64_t bytes_read, written;

	if (usage.io_failures >= USAGE_FAILURES)
		return;
	if (usage_read_file(FILE_DISKS) <= 0 ||
	    !usage_field(usage.text, "read_bytes", ':', &bytes_read) ||
	    !usage_field(usage.text, "write_bytes", ':', &written)) {
		usage.io_failures++;
		return;
	}
	usage.io_failures = 0;
	send_rate(DISK_READ, bytes_read, now_ns);
	send_rate(DISK_WRITTEN, written, now_ns);
}

static void look_at_network(int64_t now_ns)
{
	uint64_t received, sent;

	if (usage.net_failures >= USAGE_FAILURES)
		return;
	if (usage_read_file(FILE_NETWORK) <= 0 ||
	    !usage_net(usage.text, &received, &sent)) {
		usage.net_failures++;
		return;
	}
	usage.net_failures = 0;
	send_rate(NET_RECEIVED, received, now_ns);
	send_rate(NET_SENT, sent, now_ns);
}

static void usage_look_now(int64_t now_ns, const struct limits *limits, bool last)
{
	uint32_t wanted = atomic_load(&defined);
	struct timespec cpu;

	usage.again = usage.told != wanted;
	/* the one that stands for the others is known before the first of them */
	if (!usage.look_ns && rt_level() >= TFT_LEVEL_DEFAULT)
		usage_define(&usage.series[PROCESSOR], about[PROCESSOR].name,
			     about[PROCESSOR].unit);
	if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu))
		send_rate(PROCESSOR, (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec,
			  now_ns);
	look_at_limits(limits, now_ns);
	look_at_memory(now_ns);
	look_at_counts(now_ns);
	look_at_disks(now_ns);
	look_at_network(now_ns);
	if (usage.has_ids) {
		usage_threads_look(usage.look_ns, now_ns, last);
		usage_children_look(usage.look_ns, now_ns);
	}
	/* the first look sends what has no rate; what it does not send is sent by the next one */
	if (usage.look_ns)
		usage.told = wanted;
	usage.look_ns = now_ns;
}

/* ---- the sampler's side ---- */

/* A namespace of processes whose /proc is that of another one gives other processes the ids that
 * this one knows. */
static bool has_own_ids(void)
{
	char target[32];
	const char *list = target;
	ssize_t n = readlink("/proc/self", target, sizeof(target) - 1);

	target[n > 0 ? n : 0] = '\0';
	return usage_next_pid(&list) == (uint32_t)getpid();
}

void host_usage_begin(void)
{
	bool forked = usage.pid != (uint32_t)getpid();

	/* the ids of the series stay: a forked child continues counting */
	usage.pid = (uint32_t)getpid();
	usage.has_ids = has_own_ids();
	usage.told = 0;
	usage.look_ns = 0;
	usage.io_failures = usage.net_failures = 0;
	memset(usage.known, 0, sizeof(usage.known));
	for (int i = 0; i < USAGE_FILES; i++)
		usage.fd[i] = -1;	/* a descriptor of an earlier sampler's table */
	usage_faults_begin();
	usage_threads_begin(forked);
	usage_children_begin();
}

void host_usage_look(int64_t now_ns, const struct limits *limits)
{
	if (!usage.look_ns || now_ns - usage.look_ns >= USAGE_EVERY_NS)
		usage_look_now(now_ns, limits, false);
}

void host_usage_end(const struct limits *limits)
{
	int64_t now_ns = rt_now_ns();

	if (usage.look_ns && now_ns - usage.look_ns >= USAGE_LEAST_NS)
		usage_look_now(now_ns, limits, true);
}
