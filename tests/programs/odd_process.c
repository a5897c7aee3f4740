/* SPDX-License-Identifier: MIT */
/*
 * odd_process MODE: a process that is hard to look at or to attach to, says "PID"
 * when it has become so and waits for the end of its standard input.
 * odd_process denied CALL [COMMAND…]: its, or COMMAND's, filter gives an error for open,
 *    socket, tgkill; for none
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(pid_t pid)
{
	printf("%d\n", (int)pid);
	fflush(stdout);
}

static void wait_for_end(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0 || errno == EINTR)
		errno = 0;
}

/* Creates a child that traces this process until it ends. */
static void be_traced(void)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		exit(1);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (fork() == 0) {
		int status;

		if (ptrace(PTRACE_SEIZE, getppid(), NULL, NULL))
			_exit(1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		while (waitpid(getppid(), &status, __WALL) > 0 && WIFSTOPPED(status))
			ptrace(PTRACE_CONT, getppid(), NULL, NULL);
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
}

/* Installs a filter that returns an error for that call; -1: for no call. */
static void filter(int call)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(1);
}

static void deny(const char *call)
{
	filter(!strcmp(call, "open") ? SYS_openat : !strcmp(call, "socket") ? SYS_socket :
	       !strcmp(call, "tgkill") ? SYS_tgkill : -1);
}

/* From then on only read, write and exit are allowed. */
static void be_strict(void)
{
	char text[32], byte;
	int length = snprintf(text, sizeof(text), "%d\n", (int)getpid());

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) ||
	    write(STDOUT_FILENO, text, (size_t)length) != length)
		exit(1);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	syscall(SYS_exit, 0);
}

static void *say_thread(void *arg)
{
	say((pid_t)syscall(SYS_gettid));
	wait_for_end();
	return arg;
}

static void be_zombie(void)
{
	pid_t child = fork();
	siginfo_t info;

	if (child == 0)
		_exit(0);
	if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT))
		exit(1);
	say(child);
	wait_for_end();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(mode, "traced"))
		be_traced();
	else if (!strcmp(mode, "chroot") && (argc < 3 || chroot(argv[2]) || chdir("/")))
		return 1;
	else if (!strcmp(mode, "closed"))
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	else if (!strcmp(mode, "filtered"))
		filter(-1);
	else if (!strcmp(mode, "denied") && argc > 2)
		deny(argv[2]);
	if (!strcmp(mode, "denied") && argc > 3)
		return execvp(argv[3], argv + 3);
	else if (!strcmp(mode, "zombie"))
		return be_zombie(), 0;
	else if (!strcmp(mode, "thread"))
		return pthread_create(&thread, NULL, say_thread, NULL) ||
		       pthread_join(thread, NULL);
	if (!strcmp(mode, "strict"))
		be_strict();
	say(getpid());
	wait_for_end();
	return 0;
}
