/* SPDX-License-Identifier: MIT */
/* Test cases: fork, exec, the ways a process ends, descriptors. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/probes/rt_test.h"

extern char **environ;

static void wait_child(pid_t pid, int want)
{
	int status;

	EXPECT(pid > 0);
	EXPECT(waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == want);
}

static void grandchild(void)
{
	pid_t pid = fork();

	if (!pid) {
		EXPECT(test_push("in the grandchild", 0, 0) == 1);
		rt_op_pop(0);
		exit(4);
	}
	wait_child(pid, 4);
}

static void fork_(void)
{
	uint64_t parents;
	pid_t pid;

	EXPECT(test_join());
	parents = test_push("of the parent", 0, 0);
	/* most of them are unwritten at the fork */
	for (int i = 0; i < 10; i++) {
		test_push("before the fork", 0, 0);
		EXPECT(rt_op_pop(0) == 1);
	}
	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* the parent's op is not open in the child, but its pop is accepted */
		EXPECT(rt_op_launch().instance == 0);
		EXPECT(test_push("in the child", 0, 0) == 1);
		EXPECT(rt_op_pop(0) == 1);
		EXPECT(rt_op_pop(0) == 0);
		EXPECT(rt_op_pop(0) == -1);
		EXPECT(rt_correlation() == 1);
		grandchild();
		exit(3);
	}
	wait_child(pid, 3);
	EXPECT(rt_op_launch().instance == parents);
	EXPECT(rt_op_pop(0) == 0);
	printf("child=%d\n", (int)pid);
}

/* A child that is forked while the level is off follows the level when it goes on again. */
static void fork_off(void)
{
	pid_t pid;

	EXPECT(test_join());
	EXPECT(rt_level() == TFT_LEVEL_OFF);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		test_control()->level = TFT_LEVEL_DEFAULT;
		WAIT_FOR(rt_level() == TFT_LEVEL_DEFAULT);
		EXPECT(test_push("seen", 0, 0) == 1);
		EXPECT(rt_op_pop(0) == 0);
		exit(0);
	}
	wait_child(pid, 0);
	WAIT_FOR(rt_level() == TFT_LEVEL_DEFAULT);
}

/* Children that only call exec, in all the usual ways. */
static void spawn(void)
{
	char *const argv[] = { (char *)"true", NULL };
	pid_t pid;

	EXPECT(test_join());
	test_push("around", 0, 0);
	pid = fork();
	if (!pid) {
		execvp("true", argv);
		_exit(99);
	}
	wait_child(pid, 0);
	pid = vfork();
	if (!pid) {
		execlp("true", "true", (char *)NULL);
		_exit(99);
	}
	wait_child(pid, 0);
	pid = vfork();
	if (!pid) {
		close_range(3, ~0u, 0);
		execl("/nonexistent", "x", (char *)NULL);
		_exit(5);
	}
	wait_child(pid, 5);
	EXPECT(posix_spawnp(&pid, "true", NULL, NULL, argv, environ) == 0);
	wait_child(pid, 0);
	EXPECT(rt_op_pop(0) == 0);
}

static void some_calls(const char *name)
{
	uint32_t fn = rt_name(TFT_NAME_CALL, name);

	for (int i = 0; i < 500; i++)
		rt_count(fn, 0);
}

static void early_exit(void)
{
	EXPECT(test_join());
	some_calls("before _exit");
	fflush(NULL);
	_exit(3);
}

static void quick(void)
{
	EXPECT(test_join());
	some_calls("before quick_exit");
	fflush(NULL);
	quick_exit(6);
}

static void exec_(void)
{
	EXPECT(test_join());
	some_calls("before exec");
	EXPECT(execl("/nonexistent/program", "x", (char *)NULL) == -1 && errno == ENOENT);
	test_push("after a failed exec", 0, 0);
	rt_op_pop(0);
	fflush(NULL);
	execlp("sh", "sh", "-c", "exit $1", "sh", "8", (char *)NULL);
	abort();
}

static void hundred_ops(const char *name)
{
	for (int i = 0; i < 100; i++) {
		test_push(name, 0, 0);
		rt_op_pop(0);
	}
}

/* Some ops that have been written, and some just before the end. */
static void old_and_new_ops(void)
{
	int ticks;

	EXPECT(test_join());
	hundred_ops("survives");
	ticks = test_ticks;
	WAIT_FOR(test_ticks - ticks > 2);
	hundred_ops("the last");
}

static void abort_(void)
{
	old_and_new_ops();
	abort();
}

static void kill_(void)
{
	old_and_new_ops();
	raise(SIGKILL);
}

static void late(void)
{
	test_push("in a late handler", 0, 0);
	rt_op_pop(0);
}

static void at_exit(void)
{
	EXPECT(atexit(late) == 0);
	EXPECT(test_join());
	some_calls("before exit");
	fflush(NULL);
	exit(9);
}

/* ---- descriptors ---- */

static int pipe_at(int low)
{
	int fd[2], high;

	EXPECT(pipe(fd) == 0);
	high = fcntl(fd[1], F_DUPFD, low);
	close(fd[0]);
	close(fd[1]);
	EXPECT(high >= low);
	return high;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int open_beyond_std(void)
{
	int n = 0;

	for (int fd = 3; fd < 1024; fd++)
		n += is_open(fd);
	return n;
}

/* The same once it holds still: the tracer's threads open and close some at any time. */
static int open_at_rest(void)
{
	int n = open_beyond_std(), same = 0;

	for (int tries = 0; same < 3 && tries < 1000; tries++) {
		int before = n;

		usleep(10000);
		n = open_beyond_std();
		same = n == before ? same + 1 : 0;
	}
	return n;
}

static void close_all(void)
{
	int fd, left;

	EXPECT(test_join());
	test_push("before", 0, 0);
	rt_op_pop(0);
	fd = pipe_at(200);
	for (int i = 3; i < 1024; i++)
		close(i);
	EXPECT(!is_open(fd));
	errno = 0;
	EXPECT(close(fd) == -1 && errno == EBADF);
	left = open_at_rest();
	fd = pipe_at(200);
	EXPECT(close_range(3, ~0u, 0) == 0);
	EXPECT(!is_open(fd) && open_at_rest() == left);
	fd = pipe_at(200);
	EXPECT(close_range(150, 300, CLOSE_RANGE_CLOEXEC) == 0);
	EXPECT(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	EXPECT(close_range(9, 3, 0) == -1 && errno == EINVAL);
	closefrom(3);
	EXPECT(!is_open(fd) && open_at_rest() == left);
	fd = pipe_at(200);
	EXPECT(close(fd) == 0);
	some_calls("after closing all");
	test_push("after", 0, 0);
	rt_op_pop(0);
	printf("left=%d\n", left);
}

/* dup2 onto a descriptor of LTTng's: the number then belongs to the program, and works. */
static int socket_of_lttng(void)
{
	char path[32], to[64];

	for (int fd = 3; fd < 1024; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, to, sizeof(to) - 1);
		if (n > 7 && !strncmp(to, "socket:", 7))
			return fd;
	}
	return -1;
}

static void dup_over(void)
{
	int fd, ends[2];
	char c = 'x';

	EXPECT(test_join());
	test_push("before", 0, 0);
	rt_op_pop(0);
	fd = socket_of_lttng();
	EXPECT(fd >= 3);
	EXPECT(pipe(ends) == 0);
	EXPECT(dup2(ends[0], fd) == fd);
	EXPECT(write(ends[1], &c, 1) == 1);
	c = 0;
	EXPECT(read(fd, &c, 1) == 1 && c == 'x');
	/* no other code reads from it, writes to it or closes it */
	EXPECT(write(ends[1], "yz", 2) == 2);
	test_last(200000000);
	EXPECT(read(fd, &c, 1) == 1 && c == 'y');
	EXPECT(close(fd) == 0 && !is_open(fd));
	EXPECT(close(fd) == -1 && errno == EBADF);
}

/* Forks while the runtime thread handles events. */
static void fork_storm(void)
{
	struct rt_op_args args = { .step = -1 };

	EXPECT(test_join());
	args.name = rt_name(TFT_NAME_OP, "storm");
	for (int i = 0; i < 30; i++) {
		pid_t pid = fork();

		if (!pid) {
			rt_op_push(&args);
			rt_op_pop(0);
			exit(0);
		}
		rt_op_push(&args);
		rt_op_pop(0);
		wait_child(pid, 0);
	}
}

const struct test_case test_process[] = {
	{ "fork", fork_ }, { "fork_off", fork_off }, { "spawn", spawn }, { "_exit", early_exit },
	{ "quick_exit", quick },
	{ "exec", exec_ }, { "abort", abort_ }, { "kill", kill_ }, { "exit", at_exit },
	{ "close", close_all }, { "dup2", dup_over }, { "storm", fork_storm },
	{ NULL, NULL },
};
