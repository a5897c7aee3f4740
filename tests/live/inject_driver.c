/* SPDX-License-Identifier: MIT */
/*
 * inject_driver [-n TIMES] [-f FIND_MS] [-c CALL_MS] [-k MICROSECONDS] [-u FOLDER] PID LIBRARY
 *
 *    [ARGUMENT]
 *
 * inject_driver -s FOLDER [-C] PID STAGE LINE…: STAGE is libtftop-attach.so, LINE as in stage.h;
 *
 *    waits for its end and prints "load STATE RESULT TEXT" for each; -C: all files are
 *
 *    copied to where PID finds them. Code is replaced as the stage asks for it: prints "code DONE
 *
 *    WHY"; -b: the program gets its own code back, "back DONE WHY". -n TIMES: all of this. -k N or
 *
 *    -x N: this program or PID is killed before the Nth call with which code is replaced, and then
 *
 *    given back, changes PID; each prints "calls N" after it, and the number of the first write.
 *
 *    -S: PID is stopped (SIGSTOP) before code is replaced; says "stopped"
 *
 * inject_driver -t PID: traces it until standard input ends; prints "ready"
 * inject_driver -w PID: wakes LTTng's threads there; prints how many
 *
 * Drives the injector alone and prints one line per injection, "OUTCOME STOPPED_NS TRIES TID WHY".
 * -k: a child makes each injection and is killed within that time, as tftop may be at any moment,
 * or is killed by the library when the argument is "die"; prints "killed N of TIMES" at the end.
 * Exit status 0: all were done. -u: injects a new copy of the library each time, made in FOLDER, so
 * that the dynamic linker must load it.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probes/attach/awake.h"
#include "probes/attach/code.h"
#include "probes/attach/inject.h"
#include "probes/attach/place.h"
#include "probes/attach/report.h"

static const char *const names[] = {
	[INJECT_DONE] = "done", [INJECT_REFUSED] = "refused", [INJECT_NO_MOMENT] = "no-moment",
	[INJECT_FAILED] = "failed", [INJECT_BUSY] = "busy", [INJECT_GONE] = "gone",
	[INJECT_LEFT] = "left",
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
	if (!q->argument || strcmp(q->argument, "die") != 0) {
		nanosleep(&(struct timespec){ .tv_nsec = random() % microseconds * 1000 }, NULL);
		kill(child, SIGKILL);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status);
}

/* Returns NULL if it cannot be created. */
static const char *fresh_copy(const char *library, const char *folder, long number)
{
	static char path[600];
	int from = open(library, O_RDONLY | O_CLOEXEC), to;

	snprintf(path, sizeof(path), "%s/%ld.so", folder, number);
	to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (from < 0 || to < 0)
		return NULL;
	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	close(from);
	close(to);
	return path;
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

static const char *copied(struct container_place *place, const char *path, char *there, size_t size)
{
	char why[400];

	if (place->folder < 0)
		return path;
	if (!place_copy(place, path, why, sizeof(why))) {
		puts(why);
		exit(1);
	}
	snprintf(there, size, "%s%s", place->path, strrchr(path, '/'));
	return there;
}

/* ---- code that is replaced ---- */

static struct {
	bool counts, stops, gives_back;
	long calls, first_write, dies_at;	/* dies_at: 0: not at all */
	pid_t victim;
	struct stage_codes codes;
	bool replaced;
} code;

static char state_of(pid_t pid)
{
	char path[64], state = 'X';
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	stat = fopen(path, "re");
	if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	if (stat)
		fclose(stat);
	return state;
}

/* Also when nobody has waited for it, as its tracer has to do first. */
static bool has_ended(pid_t pid)
{
	return strchr("XZ", state_of(pid)) != NULL;
}

static void count_call(bool writes)
{
	if (!code.counts)
		return;
	code.calls++;
	if (writes && !code.first_write)
		code.first_write = code.calls;
	if (code.calls != code.dies_at)
		return;
	kill(code.victim, SIGKILL);
	while (!has_ended(code.victim))
		sched_yield();
}

/* The linker leads the calls of probes/attach here. */
long __real_ptrace(enum __ptrace_request request, pid_t pid, void *address, void *data);
long __wrap_ptrace(enum __ptrace_request request, pid_t pid, void *address, void *data);
long __wrap_ptrace(enum __ptrace_request request, pid_t pid, void *address, void *data)
{
	count_call(false);
	return __real_ptrace(request, pid, address, data);
}

ssize_t __real_pwrite(int fd, const void *from, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t size, off_t at)
{
	count_call(true);
	return __real_pwrite(fd, from, size, at);
}

static void say_code(const char *what, const struct code_result *r)
{
	printf("%s %d %s\n", what, r->replaced, r->why);
	printf("calls %ld %ld\n", code.calls, code.first_write);
	fflush(stdout);
}

static void replace_as_asked(pid_t pid, const struct report *report, const struct stage_report *now)
{
	struct code_result r;

	if (code.stops)
		kill(pid, SIGSTOP);
	while (code.stops && state_of(pid) != 'T')
		sched_yield();
	if (code.stops)
		puts("stopped");
	fflush(stdout);
	code.counts = true;
	code.replaced = code_replace(pid, report, &now->codes, &r);
	code.counts = false;
	code.codes = now->codes;
	say_code("code", &r);
}

static bool give_back(pid_t pid)
{
	struct code_result r;

	code.counts = true;
	code_put_back(pid, &code.codes, &r);
	code.counts = false;
	say_code("back", &r);
	return r.replaced;
}

static bool wait_for_report(pid_t pid, const struct report *report)
{
	struct stage_report now;

	for (int i = 0; i < 2000; i++) {
		if (!report_read(report, &now))
			return false;
		if (now.codes.state == STAGE_CODES_ASKED)
			replace_as_asked(pid, report, &now);
		if (now.state >= STAGE_OVER || has_ended(pid))
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
	printf("stage %u %s\n", now.state, now.text);
	for (uint32_t i = 0; i < now.loads; i++)
		printf("load %u %d %s\n", now.load[i].state, now.load[i].result, now.load[i].text);
	return now.state == STAGE_OVER;
}

static bool stage(struct inject_request *q, const char *folder, bool copy, char **lines)
{
	struct stage_argument argument;
	struct container_place place = { .link = -1, .folder = -1 };
	struct inject_result r;
	struct report report;
	struct stat st;
	char why[400], process[64], there[600], library[600];
	int here = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool done;

	snprintf(process, sizeof(process), "/proc/%d", (int)q->pid);
	if (stat(process, &st) != 0 ||
	    (copy && !place_open(&place, q->pid, st.st_uid, NULL, why, sizeof(why))) ||
	    !report_open(&report, copy ? place.folder : here, "report", st.st_uid, st.st_gid,
			  why, sizeof(why))) {
		puts(why);
		return false;
	}
	q->library = copied(&place, q->library, library, sizeof(library));
	snprintf(there, sizeof(there), "%s/report", copy ? place.path : folder);
	argument_begin(&argument, there);
	for (; *lines; lines++) {
		char verb[8] = "";
		const char *what = *lines + strcspn(*lines, " ") + 1;

		snprintf(verb, sizeof(verb), "%.*s", (int)strcspn(*lines, " "), *lines);
		argument_add(&argument, verb, strcmp(verb, "load") == 0 ?
			     copied(&place, what, there, sizeof(there)) : what);
	}
	q->argument = argument.text;
	done = !argument.full && inject_load(q, &r);
	say(&r);
	done = done && wait_for_report(q->pid, &report);
	report_close(&report);
	place_remove(&place);
	if (done && code.replaced && code.gives_back)
		done = give_back(q->pid);
	return done;
}

int main(int argc, char **argv)
{
	struct inject_request q = { 0 };
	struct inject_result r = { 0 };
	long times = 1, done = 0, kill_us = 0, killed = 0;
	const char *report = NULL, *fresh = NULL, *library;
	bool trace = false, copy = false, wake = false;
	int option;

	while ((option = getopt(argc, argv, "n:f:c:k:s:u:x:CSbtw")) != -1) {
		if (option == 'n')
			times = atol(optarg);
		else if (option == 'f')
			q.find_ms = atoi(optarg);
		else if (option == 'c')
			q.call_ms = atoi(optarg);
		else if (option == 'k')
			kill_us = atol(optarg);
		else if (option == 'u')
			fresh = optarg;
		else if (option == 's')
			report = optarg;
		else if (option == 'x')
			code.dies_at = atol(optarg);
		else if (option == 'S')
			code.stops = true;
		else if (option == 'b')
			code.gives_back = true;
		else if (option == 'C')
			copy = true;
		else if (option == 't')
			trace = true;
		else if (option == 'w')
			wake = true;
		else
			return 2;
	}
	if (optind + !(trace || wake) >= argc)
		return 2;
	q.pid = (pid_t)atoi(argv[optind]);
	if (wake)
		return printf("%d\n", attach_awake(q.pid)) < 0;
	if (trace)
		return be_a_tracer(q.pid);
	q.library = library = argv[optind + 1];
	code.victim = code.dies_at ? q.pid : getpid();
	code.dies_at = code.dies_at ? code.dies_at : kill_us;
	for (; report && times > 0; times--) {
		q.library = library;
		if (!stage(&q, report, copy, argv + optind + 2))
			return 1;
	}
	if (report)
		return 0;
	q.argument = optind + 2 < argc ? argv[optind + 2] : NULL;
	srandom((unsigned)time(NULL));
	for (long i = 0; i < times; i++) {
		if (fresh && !(q.library = fresh_copy(library, fresh, i)))
			return 2;
		if (kill_us) {
			killed += inject_and_be_killed(&q, kill_us);
			continue;
		}
		done += inject_load(&q, &r);
		say(&r);
		if (fresh)
			unlink(q.library);
	}
	if (kill_us)
		printf("killed %ld of %ld\n", killed, times);
	return kill_us || done == times ? 0 : 1;
}
