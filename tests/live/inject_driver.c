/* SPDX-License-Identifier: MIT */
/*
 * inject_driver [-n TIMES] [-f FIND_MS] [-c CALL_MS] [-k MICROSECONDS] PID LIBRARY [ARGUMENT]
 * inject_driver -t PID: traces it until standard input ends; says "ready"
 *
 * The injector by itself: one line for each injection, "OUTCOME STOPPED_NS TRIES TID WHY".
 * -k: each is made by a child that is killed after at most that time, as tftop may
 * be at any moment; one line "killed N of TIMES" at the end. Status 0: all were done.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probes/attach/inject.h"

static const char *const names[] = {
	[INJECT_DONE] = "done", [INJECT_REFUSED] = "refused", [INJECT_NO_MOMENT] = "no-moment",
	[INJECT_FAILED] = "failed", [INJECT_GONE] = "gone", [INJECT_LEFT] = "left",
};

static void say(const struct inject_result *r)
{
	printf("%s %lld %u %d %s\n", names[r->outcome], (long long)r->stopped_ns, r->tries,
	       (int)r->tid, r->why);
	fflush(stdout);
}

static bool inject_and_be_killed(const struct inject_request *q, long microseconds)
{
	struct inject_result r;
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(inject_load(q, &r) ? 0 : 1);
	nanosleep(&(struct timespec){ .tv_nsec = random() % microseconds * 1000 }, NULL);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return WIFSIGNALED(status);
}

static int be_a_tracer(pid_t pid)
{
	char byte;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0) != 0)
		return 1;
	puts("ready");
	fflush(stdout);
	return read(0, &byte, 1) < 0;
}

int main(int argc, char **argv)
{
	struct inject_request q = { 0 };
	struct inject_result r = { 0 };
	long times = 1, done = 0, kill_us = 0, killed = 0;
	bool trace = false;
	int option;

	while ((option = getopt(argc, argv, "n:f:c:k:t")) != -1) {
		if (option == 'n')
			times = atol(optarg);
		else if (option == 'f')
			q.find_ms = atoi(optarg);
		else if (option == 'c')
			q.call_ms = atoi(optarg);
		else if (option == 'k')
			kill_us = atol(optarg);
		else if (option == 't')
			trace = true;
		else
			return 2;
	}
	if (optind + !trace >= argc)
		return 2;
	q.pid = (pid_t)atoi(argv[optind]);
	q.library = argv[optind + 1];
	q.argument = optind + 2 < argc ? argv[optind + 2] : NULL;
	if (trace)
		return be_a_tracer(q.pid);
	srandom((unsigned)time(NULL));
	for (long i = 0; i < times; i++) {
		if (kill_us) {
			killed += inject_and_be_killed(&q, kill_us);
			continue;
		}
		done += inject_load(&q, &r);
		say(&r);
	}
	if (kill_us)
		printf("killed %ld of %ld\n", killed, times);
	return kill_us || done == times ? 0 : 1;
}
