/* SPDX-License-Identifier: MIT */
/* Runs the cases: see test.h. */
#include "tests/unit/test.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STATUS_FAILED 76		/* not 1: that is how sanitizers end a case */
#define STATUS_SKIPPED 77

static struct test_case *cases;
static const struct test_case *running;
static uint64_t seed, state;
static bool random_used;
static char root[200], folder[400];	/* "": none made yet */
static pid_t owner;			/* of root */
static sigset_t awaited, before;	/* what ends a case, or the run; what was held back */

void test_register(struct test_case *test)
{
	test->next = cases;
	cases = test;
}

/* ---- folders ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void remove_root(void)
{
	if (getpid() == owner)
		nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool make_root(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(root, sizeof(root), "%s/tftop-unit.XXXXXX",
		 base && base[0] == '/' ? base : "/tmp");
	if (!mkdtemp(root)) {
		fprintf(stderr, "cannot make '%s': %s\n", root, strerror(errno));
		return false;
	}
	owner = getpid();
	return atexit(remove_root) == 0;
}

const char *test_folder(void)
{
	if (folder[0])
		return folder;
	snprintf(folder, sizeof(folder), "%s/%s", root, running->name);
	if (mkdir(folder, 0700) != 0)
		test_fail(__FILE__, __LINE__, "cannot make '%s': %s", folder, strerror(errno));
	return folder;
}

/* ---- checks ---- */

__attribute__((noreturn)) static void leave(int status)
{
	fflush(NULL);
	remove_root();		/* where cases are not forked */
	_exit(status);
}

void test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("not ok %s: %s:%d: ", running->name, file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (random_used)
		printf(" (TEST_SEED=%llu)", (unsigned long long)seed);
	printf("\n");
	leave(STATUS_FAILED);
}

void test_check_int(const char *file, int line, const char *what, int64_t got, int64_t want)
{
	if (got != want)
		test_fail(file, line, "%s is %lld, not %lld", what, (long long)got,
			  (long long)want);
}

void test_check_str(const char *file, int line, const char *what, const char *got,
		    const char *want)
{
	if (!got || !want ? got != want : strcmp(got, want) != 0)
		test_fail(file, line, "%s is '%s', not '%s'", what, got ? got : "(null)",
			  want ? want : "(null)");
}

void test_skip(const char *missing)
{
	printf("skip %s: %s\n", running->name, missing);
	leave(STATUS_SKIPPED);
}

uint64_t test_random(void)
{
	uint64_t x;

	random_used = true;
	x = state += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t test_below(uint64_t n)
{
	return test_random() % n;
}

/* ---- running ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct test_case *const *)a)->name, (*(struct test_case *const *)b)->name);
}

static bool is_wanted(const struct test_case *test, int argc, char **argv)
{
	const char *wanted = getenv("CASE");

	if (wanted && wanted[0] == '=' && strcmp(test->name, wanted + 1) != 0)
		return false;
	if (wanted && wanted[0] != '=' && !strstr(test->name, wanted))
		return false;
	for (int i = 0; i < argc; i++)
		if (strstr(test->name, argv[i]))
			return true;
	return argc == 0;
}

static void run_case(const struct test_case *test)
{
	running = test;
	state = seed;
	random_used = false;
	folder[0] = '\0';
	test->run();
}

/* Until the case has ended; a signal that ends the run ends the case too. */
static void wait_for(pid_t pid, int *status)
{
	int got;

	while (waitpid(pid, status, WNOHANG) != pid) {
		if (sigwait(&awaited, &got) != 0 || got == SIGCHLD)
			continue;
		kill(pid, SIGKILL);
		waitpid(pid, status, 0);
		exit(128 + got);
	}
}

/* Exit status of the case: 0, STATUS_FAILED or STATUS_SKIPPED. */
static int run_forked(const struct test_case *test)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		printf("not ok %s: fork: %s\n", test->name, strerror(errno));
		return STATUS_FAILED;
	}
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		alarm(TEST_SECONDS);
		run_case(test);
		exit(0);	/* sanitizers look for leaks here */
	}
	wait_for(pid, &status);
	if (WIFSIGNALED(status)) {
		if (WTERMSIG(status) == SIGALRM)
			printf("not ok %s: still running after %d s (TEST_SEED=%llu)\n",
			       test->name, TEST_SECONDS, (unsigned long long)seed);
		else
			printf("not ok %s: killed by '%s' (TEST_SEED=%llu)\n", test->name,
			       strsignal(WTERMSIG(status)), (unsigned long long)seed);
		return STATUS_FAILED;
	}
	status = WEXITSTATUS(status);
	if (status == 0 || status == STATUS_SKIPPED)
		return status;
	if (status != STATUS_FAILED)
		printf("not ok %s: exit status %d\n", test->name, status);
	return STATUS_FAILED;
}

int main(int argc, char **argv)
{
	struct test_case *list[4096];
	size_t n = 0, passed = 0, failed = 0, skipped = 0;
	bool fork_each = true, list_only = false;
	const char *given = getenv("TEST_SEED");
	int option;

	while ((option = getopt(argc, argv, "ln")) != -1)
		if (option == 'l')
			list_only = true;
		else if (option == 'n')
			fork_each = false;
		else
			return 2;
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGHUP);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGTERM);
	if (!list_only && !make_root())
		return 2;
	if (fork_each)
		sigprocmask(SIG_BLOCK, &awaited, &before);
	seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	for (struct test_case *test = cases; test && n < sizeof(list) / sizeof(list[0]);
	     test = test->next)
		list[n++] = test;
	qsort(list, n, sizeof(list[0]), by_name);
	if (!list_only)
		printf("# seed TEST_SEED=%llu\n", (unsigned long long)seed);
	for (size_t i = 0; i < n; i++) {
		int status = 0;

		if (!is_wanted(list[i], argc - optind, argv + optind))
			continue;
		if (list_only) {
			puts(list[i]->name);
			continue;
		}
		if (fork_each)
			status = run_forked(list[i]);
		else
			run_case(list[i]);
		*(status == 0 ? &passed : status == STATUS_SKIPPED ? &skipped : &failed) += 1;
	}
	if (list_only)
		return 0;
	printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
	return failed || !passed;
}
