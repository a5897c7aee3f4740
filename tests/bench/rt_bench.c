/* SPDX-License-Identifier: MIT */
/*
 * What the runtime costs a program: bars G1, G2 and G4 (an op, without what its
 * probe does: tensorflow_bench.sh has it whole), each
 * beside what it is compared with, in turns within the same run. A figure is
 * the smallest of several means; the spread is (largest - smallest) / smallest.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/rt_raw_tp.h"

#include "probes/runtime/runtime.h"
#include "tests/probes/itt_double.h"
#include "tests/probes/nvtx_double.h"

#define RUNS 15
#define CALLS 20000

struct measure {
	void (*once)(void);
	double best_ns, worst_ns;
};

static struct tft_control *control;
static uint32_t fn, name;
static volatile uint32_t sink;
static int64_t step;

/* ---- what is measured ---- */

static __attribute__((noinline)) void bare(void)
{
	sink = sink + 1;
}

static void bare_call(void)
{
	bare();
}

static void count(void)
{
	bare();
	rt_count(fn, 0);
}

static void call_given_times(void)
{
	rt_call(fn, 1000, 2000, 0, 0);
}

static void call_timed(void)
{
	int64_t start = rt_now_ns();

	rt_call(fn, start, rt_now_ns(), 0, 0);
}

static void raw_call(void)
{
	struct tft_call r = { .seq = sink, .name = fn, .start_ns = 1000, .dur_ns = 1000 };

	lttng_ust_tracepoint(tftop_raw, call, &r);
}

static void op(void)
{
	struct rt_op_args args = { .name = name, .step = -1 };

	rt_op_push(&args);
	rt_op_pop(0);
}

/* As in a framework: the run of a function with its ops. */
static void op_in_op(void)
{
	struct rt_op_args args = { .name = name, .type = fn, .framework = TFT_FW_TENSORFLOW };

	args.step = ++step / 1000;
	rt_op_push(&args);
	rt_op_push(&args);
	rt_op_pop(0);
	rt_op_pop(0);
}

static void raw_op(void)
{
	struct tft_op r = { .seq = sink, .tid = 1, .instance = 2, .name = name, .step = -1 };

	lttng_ust_tracepoint(tftop_raw, op, &r);
}

static void interned(void)
{
	sink = rt_name(TFT_NAME_OP, "model/conv2d_1/Conv2D");
}

static __itt_domain *domain;
static __itt_string_handle *text;

static void nvtx_range(void)
{
	nvtxRangePushA("model/conv2d_1/Conv2D");
	nvtxRangePop();
}

static void itt_task(void)
{
	__itt_task_begin(domain, __itt_null, __itt_null, text);
	__itt_task_end(domain);
}

/* Loads the probes' libraries, which the build puts beside this program. */
static void load_probes(void)
{
	char exe[4096], path[4200];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n <= 0)
		exit(1);
	exe[n] = '\0';
	for (int i = 0; i < 3 && (slash = strrchr(exe, '/')); i++)
		*slash = '\0';
	snprintf(path, sizeof(path), "%s/lib/libtftop-nvtx.so", exe);
	setenv(NVTX_PATH_ENV, path, 1);
	nvtxInitialize(NULL);
	snprintf(path, sizeof(path), "%s/lib/libtftop-itt.so", exe);
	setenv(ITT_PATH_ENV, path, 1);
	itt_load();
	domain = __itt_domain_create("bench");
	text = __itt_string_handle_create("model/conv2d_1/Conv2D");
}

/* ---- measuring ---- */

static double mean_ns(void (*once)(void))
{
	int64_t start = rt_now_ns();

	for (int i = 0; i < CALLS; i++)
		once();
	return (double)(rt_now_ns() - start) / CALLS;
}

/* Measures both alternately, so that slow phases of the machine affect both. */
static void measure(struct measure *m, int n)
{
	for (int k = 0; k < n; k++) {
		m[k].best_ns = 1e9;
		m[k].worst_ns = 0;
		mean_ns(m[k].once);
	}
	for (int run = 0; run < RUNS; run++) {
		for (int k = 0; k < n; k++) {
			double ns = mean_ns(m[k].once);

			if (ns < m[k].best_ns)
				m[k].best_ns = ns;
			if (ns > m[k].worst_ns)
				m[k].worst_ns = ns;
		}
	}
}

static void print(const char *id, const char *what, const char *yardstick,
		  const struct measure *m, const struct measure *beside, const char *bar,
		  double most_ns)
{
	printf("%s|%s|%.1f|ns|low|%s|%.1f|%.2f|%s|%d|%.2f|%s\n", id, what, m->best_ns,
	       yardstick, beside->best_ns, m->best_ns / beside->best_ns, bar, RUNS,
	       (m->worst_ns - m->best_ns) / m->best_ns,
	       most_ns < 0 ? "null" : m->best_ns <= most_ns ? "true" : "false");
}

static void set_level(enum tft_level level)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	control->level = level;
	for (int i = 0; i < 5000 && rt_level() != level; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
	if (rt_level() != level)
		exit(1);
}

static void at_off(void)
{
	struct measure m[] = { { .once = bare_call }, { .once = count }, { .once = op } };

	set_level(TFT_LEVEL_OFF);
	measure(m, 3);
	m[1].best_ns -= m[0].best_ns;
	print("G1.count", "a counted call at level off, above the bare call", "bare call",
	      &m[1], &m[0], "<= 5 ns", 5);
	print("G1.op", "push and pop at level off", "bare call", &m[2], &m[0], "<= 5 ns each", 10);
}

static void at_default(void)
{
	struct measure m[] = { { .once = bare_call }, { .once = count }, { .once = op },
			       { .once = raw_op }, { .once = interned },
			       { .once = nvtx_range }, { .once = itt_task },
			       { .once = op_in_op } };

	set_level(TFT_LEVEL_DEFAULT);
	measure(m, 8);
	m[1].best_ns -= m[0].best_ns;
	print("G2.count", "a call only counted, above the bare call", "bare call", &m[1], &m[0],
	      "<= 15 ns", 15);
	print("G4.op", "an op: push, pop, event", "raw tracepoint of equal payload", &m[2], &m[3],
	      "<= 200 ns", 200);
	print("G4.nested", "an op in an op, with type and step, both",
	      "raw tracepoint of equal payload", &m[7], &m[3], "<= 400 ns", 400);
	print("G4.nvtx", "an NVTX push and pop", "raw tracepoint of equal payload", &m[5], &m[3],
	      "<= 200 ns", 200);
	print("G4.itt", "an ITT task", "raw tracepoint of equal payload", &m[6], &m[3],
	      "<= 200 ns", 200);
	print("G2.name", "a name that is known", "bare call", &m[4], &m[0], "no bar", -1);
}

static void at_full(void)
{
	struct measure m[] = { { .once = raw_call }, { .once = call_given_times },
			       { .once = call_timed } };

	set_level(TFT_LEVEL_FULL);
	measure(m, 3);
	print("G2.full", "a call's event", "raw tracepoint of equal payload", &m[1], &m[0],
	      "<= raw + 40 ns", m[0].best_ns + 40);
	print("G2.timed", "a call's event with both clock readings",
	      "raw tracepoint of equal payload", &m[2], &m[0], "<= raw + 40 ns",
	      m[0].best_ns + 40);
}

static void control_new(void)
{
	const char *path = getenv(TFT_CONTROL_ENV);
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd < 0 || ftruncate(fd, TFT_CONTROL_BYTES) != 0)
		exit(1);
	control = mmap(NULL, TFT_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (control == MAP_FAILED)
		exit(1);
	close(fd);
	control->version = TFT_CONTROL_VERSION;
	control->level = TFT_LEVEL_DEFAULT;
	control->magic = TFT_CONTROL_MAGIC;
}

int main(int argc, char **argv)
{
	static const struct rt_probe probe = { .name = "bench", .version = "1", .blind = "" };

	if (argc > 1 && !strcmp(argv[1], "--list")) {
		puts("G1.count\nG1.op\nG2.count\nG2.name\nG2.full\nG2.timed\n"
		     "G4.op\nG4.nested\nG4.nvtx\nG4.itt");
		return 0;
	}
	if (!getenv("RT_BENCH_CHILD")) {
		execl("tests/bench/rt_session.sh", "rt_session.sh", argv[0], (char *)NULL);
		perror("tests/bench/rt_session.sh");
		return 1;
	}
	control_new();
	if (!rt_probe_register(&probe))
		return 1;
	fn = rt_name(TFT_NAME_CALL, "call");
	name = rt_name(TFT_NAME_OP, "op");
	load_probes();
	at_off();
	at_default();
	at_full();
	return 0;
}
