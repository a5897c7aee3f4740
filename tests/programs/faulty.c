/* SPDX-License-Identifier: MIT */
/*
 * faulty FAULT FOLDER: computes, marks itself with ranges, and in its midst does what is hard
 * for a profiler to bear. For tests/faults/run.py and tests/live/batch.sh.
 *
 * It says FOLDER/ready and computes without counting until FOLDER/go is there; then come STEPS
 * steps that count, with the fault between them. FOLDER/truth gets what came of it: the same
 * whoever watches. FAULT "none": nothing happens. Leaves with 0, or as its fault ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/probes/nvtx_double.h"

#define STEPS 200
#define FAULT_STEP 100
#define CHILDREN 1000
#define NAMES 1000000
#define LONG_NAME (1 << 20)
#define NOBODY 65534
#define ROOM (64ul << 20)
#define FILE_LIMIT 4096
#define STACK (64 << 10)

static char **arguments;
static char truth_path[4096];
static int truth = -1;
static uint64_t sum = 1;
static long came;			/* result of the fault, which is part of the truth */

static void compute(void)
{
	struct timespec pause = { 0, 2000000 };

	nvtxRangePushA("compute");
	for (int i = 0; i < 200000; i++)
		sum = sum * 6364136223846793005u + 1442695040888963407u;
	nvtxRangePop();
	nanosleep(&pause, NULL);
}

static void open_truth(void)
{
	truth = open(truth_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (truth < 0)
		exit(99);
}

static void crash(void)
{
	raise(SIGSEGV);
}

static void do_abort(void)
{
	abort();
}

static void die(void)
{
	raise(SIGKILL);
}

static void leave(void)
{
	exit(7);
}

/* Waits until FOLDER/leave exists. */
static void leave_told(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/leave", arguments[2]);
	while (access(path, F_OK))
		compute();
	leave();
}

static void do_exec(void)
{
	arguments[1] = (char *)"none";
	execv("/proc/self/exe", arguments);
	came = errno;
}

static void close_all(void)
{
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	open_truth();
	/* the lowest number is free again: no other code has taken it */
	came = truth;
}

static void change_folder(void)
{
	came = chdir("/");
}

static void change_root(void)
{
	if (chroot(".") || chdir("/"))
		came = errno;
}

static void change_user(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		came = errno;
}

static void fork_many(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();
		int status = 0;

		if (child == 0) {
			nvtxRangePushA("child");
			nvtxRangePop();
			_exit(i % 100);
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			exit(98);
		came += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
	}
}

static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	kill(getpid(), SIGTERM);
	sigpending(&all);
	came = sigismember(&all, SIGTERM);
}

static void use_up_memory(void)
{
	struct rlimit limit, before;
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	void *first = NULL, **block;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		exit(97);
	fclose(file);
	getrlimit(RLIMIT_AS, &before);
	limit = before;
	limit.rlim_cur = pages * 4096 + ROOM;
	setrlimit(RLIMIT_AS, &limit);
	while ((block = malloc(4096))) {
		*block = first;
		first = block;
	}
	/* no descriptor is left, and the program continues to mark ranges */
	for (int i = 0; i < 100; i++)
		compute();
	while (first) {
		block = first;
		first = *block;
		free(block);
	}
	setrlimit(RLIMIT_AS, &before);
	came = 1;
}

/* Uses up all descriptors, so that code that opens one fails. */
static void use_up_descriptors(void)
{
	struct rlimit limit = { 64, 64 };

	setrlimit(RLIMIT_NOFILE, &limit);
	while (dup(truth) >= 0)
		;
	came = errno;
}

static void limit_files(void)
{
	struct rlimit limit = { FILE_LIMIT, FILE_LIMIT };
	char page[FILE_LIMIT + 1] = { 0 };
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	came = write(fd, page, sizeof(page));
	came += write(fd, page, 1) < 0 ? errno : 0;
	close(fd);
	unlink("file");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *short_thread(void *gate)
{
	nvtxRangePushA("thread");
	pthread_mutex_lock(gate);
	came++;
	pthread_mutex_unlock(gate);
	nvtxRangePop();
	return NULL;
}

/* All of the threads live at the same time. */
static void many_threads(int count)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_t small;
	int made = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	pthread_mutex_lock(&lock);
	while (made < count && !pthread_create(&threads[made], &small, short_thread, &lock))
		made++;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void threads_1000(void)
{
	many_threads(1000);
}

static void threads_10000(void)
{
	many_threads(10000);
}

/* The limit depends on the system too; it matters only that there is one. */
static void limit_threads(void)
{
	struct rlimit limit = { 8, 8 };

	change_user();
	setrlimit(RLIMIT_NPROC, &limit);
	many_threads(64);
	came = came < 64;
}

static void long_name(void)
{
	char *name = malloc(LONG_NAME + 1);

	memset(name, 'n', LONG_NAME);
	name[LONG_NAME] = 0;
	for (int i = 0; i < 10; i++) {
		nvtxRangePushA(name);
		nvtxRangePop();
	}
	free(name);
}

static void many_names(void)
{
	char name[32];

	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		nvtxRangePushA(name);
		nvtxRangePop();
	}
}

static void nothing(void)
{
}

static const struct {
	const char *name;
	void (*happen)(void);
} faults[] = {
	{ "none", nothing }, { "crash", crash }, { "abort", do_abort }, { "die", die },
	{ "leave", leave }, { "leave-told", leave_told },
	{ "exec", do_exec }, { "close", close_all }, { "chdir", change_folder },
	{ "chroot", change_root }, { "setuid", change_user }, { "forks", fork_many },
	{ "signals", block_signals }, { "memory", use_up_memory },
	{ "descriptors", use_up_descriptors }, { "files", limit_files },
	{ "nproc", limit_threads }, { "threads-1000", threads_1000 },
	{ "threads-10000", threads_10000 }, { "long-name", long_name },
	{ "many-names", many_names },
};

static void say(const char *folder, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file))
		exit(96);
}

/* These steps are not counted, because their number depends on the speed of other processes. */
static void until_go(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/go", folder);
	for (int i = 0; i < 20; i++)
		compute();
	say(folder, "ready");
	while (access(path, F_OK))
		compute();
	sum = 1;
}

int main(int argc, char **argv)
{
	char line[128];
	size_t fault;
	int length;

	for (fault = 0; argc == 3 && fault < sizeof(faults) / sizeof(*faults); fault++)
		if (!strcmp(argv[1], faults[fault].name))
			break;
	if (argc != 3 || fault == sizeof(faults) / sizeof(*faults)) {
		fprintf(stderr, "usage: faulty FAULT FOLDER\n");
		return 2;
	}
	arguments = argv;
	snprintf(truth_path, sizeof(truth_path), "%s/truth", argv[2]);
	open_truth();
	nvtxInitialize(NULL);
	until_go(argv[2]);
	for (int i = 0; i < STEPS; i++) {
		compute();
		if (i == FAULT_STEP)
			faults[fault].happen();
	}
	length = snprintf(line, sizeof(line), "sum %llu came %ld\n", (unsigned long long)sum, came);
	return write(truth, line, (size_t)length) != length;
}
