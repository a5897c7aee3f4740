/* SPDX-License-Identifier: MIT */
/* Describes this process: tft_process. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/host/starter.h"
#include "probes/runtime/internal.h"

/* Reads a whole small file into buf, NUL-terminated; returns the number of bytes, 0: failure. */
static size_t rt_read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return 0;
	while (n < size - 1) {
		got = read(fd, buf + n, size - 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	buf[n] = '\0';
	return n;
}

/* Field 22 of /proc/self/stat, in ticks since boot, converted to our clock. */
static int64_t start_time_ns(int64_t mono_ns)
{
	char buf[1024], *p;
	int64_t ticks, hz = sysconf(_SC_CLK_TCK);

	if (hz <= 0 || !rt_read_file("/proc/self/stat", buf, sizeof(buf)))
		return mono_ns;
	p = strrchr(buf, ')');	/* the command name may hold anything */
	if (!p)
		return mono_ns;
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (!p)
		return mono_ns;
	ticks = strtoll(p + 1, NULL, 10);
	return ticks * (1000000000 / hz) - (rt_clock_ns(CLOCK_BOOTTIME) - mono_ns);
}

static int32_t first_number(const char *const *names)
{
	for (; *names; names++) {
		char value[32], *end;
		const char *text = rt_env(*names, value, sizeof(value));
		long n;

		if (!text || !*text)
			continue;
		n = strtol(text, &end, 10);
		if (!*end && n >= 0 && n <= INT32_MAX)
			return (int32_t)n;
	}
	return -1;
}

/* Kept: the server may end before its workers. */
static int32_t starter(void)
{
	static _Atomic uint64_t known;	/* the pid, and above it what it has */
	uint64_t old = atomic_load(&known);
	uint32_t pid = (uint32_t)getpid();

	if ((uint32_t)old != pid) {
		old = (uint64_t)(uint32_t)starter_of("", (pid_t)pid) << 32 | pid;
		atomic_store(&known, old);
	}
	return (int32_t)(old >> 32);
}

/* Read at most once a second: while a session begins, it is tried often. */
static void process_rank(struct tft_process *r)
{
	static const char *const ranks[] = {
		"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
		"MV2_COMM_WORLD_RANK", "SLURM_PROCID", NULL,
	};
	static const char *const worlds[] = {
		"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
		"MV2_COMM_WORLD_SIZE", "SLURM_NTASKS", NULL,
	};
	static _Atomic int32_t pid, rank, world;
	static _Atomic int64_t read_ns;

	if (atomic_load(&pid) != getpid() || rt_now_ns() - atomic_load(&read_ns) > 1000000000) {
		atomic_store(&rank, first_number(ranks));
		atomic_store(&world, first_number(worlds));
		atomic_store(&read_ns, rt_now_ns());
		atomic_store(&pid, getpid());
	}
	r->rank = atomic_load(&rank);
	r->world = atomic_load(&world);
}

bool rt_process_introduce(void)
{
	char command[TFT_TEXT_MAX + 1], host[256];
	bool written;
	struct tft_process r = { .schema = TFT_SCHEMA_VERSION, .parent = getppid() };
	int saved = errno;
	size_t n = rt_read_file("/proc/self/cmdline", command, sizeof(command));

	while (n && !command[n - 1])
		n--;
	command[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (!command[i])
			command[i] = ' ';
	if (gethostname(host, sizeof(host)) != 0)
		host[0] = '\0';
	host[sizeof(host) - 1] = '\0';
	r.host = host;
	r.command = command;
	process_rank(&r);
	r.mono_ns = rt_now_ns();
	r.real_ns = rt_clock_ns(CLOCK_REALTIME);
	r.raw_ns = rt_clock_ns(CLOCK_MONOTONIC_RAW);
	r.start_ns = start_time_ns(r.mono_ns);
	r.starter = starter();
	written = rt_emit_process(&r);
	errno = saved;
	return written;
}
