/* SPDX-License-Identifier: MIT */
/*
 * What the OpenCL probe costs the program: bars G1, G2 and G3. The bench
 * runs itself as the program, bare and under tftop in turn, on PoCL's "basic"
 * device, which runs a command inside its enqueue call: the worst case, as
 * nothing hides the cost. Figures are medians over the pairs.
 *
 * "left" is a program that the probe came to in its midst and that tftop has let go of.
 *
 * The bare program has an idle thread: glibc's locks cost a single-threaded
 * process about 150 ns less a command, and under LTTng no process is that.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "probes/schema/control.h"
#include "tests/programs/late.h"

#define PAIRS 7
#define REPEATS 5
#define KERNELS 20000
#define CALLS 1000000
#define WIRE_FEW 10000
#define WIRE_MANY 60000
#define LATE_ENV "OPENCL_BENCH_LATE"

extern char **environ;

/* ---- the program ---- */

static cl_command_queue queue;
static cl_kernel kernel;
static cl_mem buffer;

static void *idle(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void set_up(void)
{
	static const char *source = "kernel void one(global int *a) { a[get_global_id(0)]++; }";
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_program program;
	pthread_t thread;

	pthread_create(&thread, NULL, idle, NULL);
	clGetPlatformIDs(1, &platform, NULL);
	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
	program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
	if (!queue || clBuildProgram(program, 0, NULL, NULL, NULL, NULL)) {
		fprintf(stderr, "opencl_bench: no OpenCL device to run on\n");
		exit(1);
	}
	kernel = clCreateKernel(program, "one", NULL);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
	clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
}

static void run_kernels(int n)
{
	size_t global = 64;

	for (int i = 0; i < n; i++) {
		clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
		if (i % 1000 == 999)
			clFinish(queue);
	}
	clFinish(queue);
}

static void run_calls(int n)
{
	cl_uint refs;

	for (int i = 0; i < n; i++)
		clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof(refs), &refs, NULL);
}

static void fail(const char *what)
{
	fprintf(stderr, "opencl_bench: %s\n", what);
	exit(1);
}

static void *entry(void)
{
	enum { SLOT_NDRANGE = offsetof(struct _cl_icd_dispatch, clEnqueueNDRangeKernel) };

	return __atomic_load_n((void **)((char *)*(void **)queue + SLOT_NDRANGE), __ATOMIC_RELAXED);
}

/* Attaches the probe, runs under it, and detaches as tftop would. */
static void come_and_go(void)
{
	const char *library = getenv(LATE_ENV), *path = getenv(TFT_CONTROL_ENV);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct tft_control *page = fd < 0 ? MAP_FAILED :
		mmap(NULL, TFT_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *before = entry();

	if (page == MAP_FAILED || late_attach(library) != TFT_ATTACHED || entry() == before)
		fail("the probe did not come late");
	run_kernels(1000);
	__atomic_store_n(&page->closed, 1, __ATOMIC_RELAXED);
	for (int ms = 0; entry() != before; ms++) {
		if (ms == 5000)
			fail("the probe did not go");
		poll(NULL, 0, 1);
	}
}

/* Writes picoseconds of CPU time per operation, the best of REPEATS. */
static int child(const char *what, const char *out)
{
	bool kernels = strstr(what, "kernels") != NULL;
	int n = kernels ? KERNELS : CALLS;
	int64_t best_ns = INT64_MAX;
	FILE *f;

	set_up();
	if (!strncmp(what, "wire", 4)) {
		run_kernels(atoi(what + 4));
		return 0;
	}
	run_kernels(2000);
	if (getenv(LATE_ENV))
		come_and_go();
	for (int i = 0; i < REPEATS; i++) {
		int64_t begin_ns = cpu_ns();

		if (kernels)
			run_kernels(n);
		else
			run_calls(n);
		begin_ns = cpu_ns() - begin_ns;
		if (begin_ns < best_ns)
			best_ns = begin_ns;
	}
	f = fopen(out, "w");
	if (!f)
		return 1;
	fprintf(f, "%lld\n", (long long)(best_ns * 1000 / n));
	return fclose(f) ? 1 : 0;
}

/* ---- the bench ---- */

static char self[4096], tftop[4112], probe[4160], folder[] = "/tmp/opencl-bench-XXXXXX";

/* Runs argv and discards its output; returns true if it ended with status 0. */
static bool run(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ))
		fail("cannot run a program");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	posix_spawn_file_actions_destroy(&actions);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* One run of the child, bare for level NULL; picoseconds per operation. */
static int64_t measure(const char *level, const char *what)
{
	bool left = level && !strcmp(level, "left");
	char out[4200], json[] = "--json=/dev/null", dashes[] = "--";
	char option[16], child_option[] = "--child", lev[32], op[32];
	char *bare[] = { self, child_option, op, out, NULL };
	char *traced[] = { tftop, json, option, lev, dashes, self, child_option, op, out, NULL };
	long long ps = -1;
	FILE *f;

	snprintf(out, sizeof(out), "%s/figure", folder);
	snprintf(op, sizeof(op), "%s", what);
	snprintf(option, sizeof(option), "%s", left ? "--probe" : "--level");
	snprintf(lev, sizeof(lev), "%s", left ? "itt" : level ? level : "");
	if (left)
		setenv(LATE_ENV, probe, 1);
	else
		unsetenv(LATE_ENV);
	unlink(out);
	if (!run(level ? traced : bare))
		fail(level ? "a run under tftop failed" : "a bare run failed");
	f = fopen(out, "r");
	if (!f || fscanf(f, "%lld", &ps) != 1)
		fail("a run left no figure");
	fclose(f);
	return ps;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t median(int64_t *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), by_size);
	return values[n / 2];
}

/* Prints what the probe adds to an operation; bar in ps. */
static void figure(const char *id, const char *name, const char *level, const char *what,
		   const char *yardstick, int64_t bar)
{
	int64_t added[PAIRS], bare[PAIRS], traced[PAIRS], typical, low, high, base;

	for (int i = 0; i < PAIRS; i++) {
		bare[i] = measure(NULL, what);
		traced[i] = measure(level, what);
		added[i] = traced[i] - bare[i];
	}
	typical = median(added, PAIRS);
	low = added[0];
	high = added[PAIRS - 1];
	base = median(bare, PAIRS);
	printf("%s|%s|%.1f|ns CPU|low|%s|%.1f|%.2f|<= %.1f ns|%d|%.1f|%s\n", id, name,
	       (double)typical / 1000, yardstick, (double)base / 1000,
	       base ? (double)median(traced, PAIRS) / (double)base : 0, (double)bar / 1000, PAIRS,
	       (double)(high - low) / 1000, typical <= bar ? "true" : "false");
	fflush(stdout);
}

static int64_t total_bytes;

static int add_file(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && strstr(path, "events"))
		total_bytes += s->st_blocks * 512 < s->st_size ? s->st_blocks * 512 : s->st_size;
	return 0;
}

static int remove_file(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
	(void)s, (void)type, (void)ftw;
	return remove(path);
}

/* Size in bytes of the recording's event channel with n kernels. */
static int64_t recorded(int n)
{
	char dir[4200], where[] = "-o", batch[] = "-b", option[] = "--level", level[] = "min";
	char dashes[] = "--", child_option[] = "--child", op[32], none[] = "-";
	char *argv[] = { tftop, batch, option, level, where, dir, dashes, self, child_option, op,
			 none, NULL };

	snprintf(dir, sizeof(dir), "%s/recording", folder);
	snprintf(op, sizeof(op), "wire%d", n);
	if (!run(argv))
		fail("a recording run failed");
	total_bytes = 0;
	nftw(dir, add_file, 8, FTW_PHYS);
	nftw(dir, remove_file, 8, FTW_DEPTH | FTW_PHYS);
	return total_bytes;
}

static void wire(void)
{
	int64_t few = recorded(WIRE_FEW), many = recorded(WIRE_MANY);
	double each = (double)(many - few) / (WIRE_MANY - WIRE_FEW);

	printf("G3.wire|a kernel on the wire|%.1f|bytes|low|-|-|-|<= 110 bytes|1|-|%s\n", each,
	       each > 0 && each <= 110 ? "true" : "false");
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--child"))
		return child(argv[2], argv[3]);
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		puts("G1.off G1.left G1.left-kernel G1.min G2.counted G3.min G3.default G3.full "
		     "G3.wire");
		return 0;
	}
	if (argc > 1) {
		fprintf(stderr, "usage: opencl_bench [--list]\n");
		return 2;
	}
	if (!realpath(argv[0], self))
		fail("cannot find itself");
	snprintf(tftop, sizeof(tftop), "%s", self);
	for (int i = 0; i < 3; i++)
		dirname(tftop);
	memcpy(tftop + strlen(tftop), "/tftop", sizeof("/tftop"));
	if (access(tftop, X_OK))
		fail("no tftop beside it; build all");
	snprintf(probe, sizeof(probe), "%.*s/lib/libtftop-opencl.so",
		 (int)(strlen(tftop) - strlen("/tftop")), tftop);
	if (!mkdtemp(folder))
		fail("cannot make a folder");
	setenv("POCL_DEVICES", "basic", 1);
	figure("G1.off", "a call, level off", "off", "calls", "bare call", 5000);
	figure("G1.left", "a call after tftop came late and went", "left", "calls", "bare call",
	       5000);
	/* nothing of ours is in its path either: the bar is the noise, 5 % */
	figure("G1.left-kernel", "a kernel after tftop came late and went", "left", "kernels",
	       "bare enqueue", 25000);
	figure("G1.min", "a call that min leaves alone", "min", "calls", "bare call", 5000);
	figure("G2.counted", "a call only counted", "default", "calls", "bare call", 15000);
	figure("G3.min", "an armed kernel, level min", "min", "kernels", "bare enqueue", 900000);
	figure("G3.default", "an armed kernel, level default", "default", "kernels", "bare enqueue",
	       900000);
	figure("G3.full", "an armed kernel, level full", "full", "kernels", "bare enqueue", 900000);
	wire();
	rmdir(folder);
	return 0;
}
