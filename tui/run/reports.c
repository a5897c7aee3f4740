/* SPDX-License-Identifier: MIT */
#include "tui/run/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/util.h"
#include "tui/timeline/when.h"

#define LOOK_MS 10
#define FAILED 125			/* exit status of a tftop that failed */

struct report_job {
	char *path;			/* owned */
	pid_t pid;
	int out, err;			/* owned; memory files */
};

bool reports_wants(const char *word)
{
	struct stat st;

	return !when_is_word(word) && !stat(word, &st) && S_ISDIR(st.st_mode);
}

/* ---- what is kept ---- */

const struct report_kept *reports_find(const struct reports *r, const char *path)
{
	for (size_t i = 0; r && i < r->n; i++)
		if (strcmp(r->kept[i].path, path) == 0)
			return &r->kept[i];
	return NULL;
}

static void drop(struct reports *r, size_t i)
{
	free(r->kept[i].path);
	free(r->kept[i].text);
	memmove(&r->kept[i], &r->kept[i + 1], (--r->n - i) * sizeof(r->kept[0]));
}

void reports_forget(struct reports *r, const char *path)
{
	for (size_t i = r->n; i-- > 0;)
		if (strcmp(r->kept[i].path, path) == 0)
			drop(r, i);
}

static void keep(struct reports *r, const char *path, char *text, size_t length)
{
	reports_forget(r, path);
	if (r->n == REPORTS_KEPT)
		drop(r, 0);
	r->kept[r->n++] = (struct report_kept){ xstrdup(path), text, length };
}

/* ---- the other tftop ---- */

static void job_free(struct report_job *job)
{
	if (job->out >= 0)
		close(job->out);
	if (job->err >= 0)
		close(job->err);
	free(job->path);
	free(job);
}

/*
 * The child behaves as if started by a shell: it gets no signals of this process and has no part in
 * its terminal, but it ends when this process does, however that happens. Only system calls are
 * allowed here, because this runs in the child of a process with threads.
 */
__attribute__((noreturn))
static void report_child_become(const struct report_job *job, char *const *argv, pid_t parent)
{
	static const char failed[] = "tftop cannot start itself a second time";
	struct sigaction action = { .sa_handler = SIG_DFL };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &action, NULL);
	/* The parent may have died before prctl() was called. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && null >= 0 &&
	    dup2(null, STDIN_FILENO) >= 0 && dup2(job->out, STDOUT_FILENO) >= 0 &&
	    dup2(job->err, STDERR_FILENO) >= 0 && setpgid(0, 0) == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execv("/proc/self/exe", argv);
	}
	_exit(write(job->err, failed, sizeof(failed) - 1) > 0 ? FAILED : FAILED + 1);
}

static int report_spawn(struct report_job *job)
{
	char *path = xasprintf("%s%s", *job->path == '-' ? "./" : "", job->path);
	char name[] = "tftop", json[] = "--json=-", config[] = "--no-config";
	char *argv[] = { name, json, config, path, NULL };
	pid_t parent = getpid();
	sigset_t all, before;
	int code;

	sigfillset(&all);
	/* With all signals blocked, none of our handlers runs in the child. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	job->pid = fork();
	code = job->pid < 0 ? errno : 0;
	if (!job->pid)
		report_child_become(job, argv, parent);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	free(path);
	return code;
}

bool reports_start(struct reports *r, const char *path, char *error, size_t size)
{
	struct report_job *job = xcalloc(1, sizeof(*job));
	int code;

	job->path = xstrdup(path);
	job->out = memfd_create("tftop-report", MFD_CLOEXEC);
	job->err = memfd_create("tftop-report-errors", MFD_CLOEXEC);
	code = job->out < 0 || job->err < 0 ? errno : report_spawn(job);
	if (code) {
		snprintf(error, size, "no report of '%.200s': %s", path, strerror(code));
		job_free(job);
		return false;
	}
	r->job = job;
	return true;
}

const char *reports_path(const struct reports *r)
{
	return r->job ? r->job->path : NULL;
}

/* Reads all of it and adds a NUL; returns NULL if this fails. */
static char *read_whole(int fd, size_t *length)
{
	struct stat st;
	char *text;
	size_t at = 0;

	if (fstat(fd, &st))
		return NULL;
	text = xreallocarray(NULL, (size_t)st.st_size + 1, 1);
	while (at < (size_t)st.st_size) {
		ssize_t n = pread(fd, text + at, (size_t)st.st_size - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	text[at] = '\0';
	*length = at;
	return text;
}

/* Copies the last line of its error output, without the program name. */
static void report_say_why(const struct report_job *job, int status, char *error, size_t size)
{
	static const char name[] = "tftop: ";
	size_t length = 0;
	char *text = read_whole(job->err, &length), *line;

	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	line = length ? strrchr(text, '\n') : NULL;
	line = line ? line + 1 : text;
	if (length && strncmp(line, name, sizeof(name) - 1) == 0)
		line += sizeof(name) - 1;
	if (length)
		snprintf(error, size, "no report of '%.100s': %.300s", job->path, line);
	else if (WIFSIGNALED(status))
		snprintf(error, size,
			 "no report of '%.100s': the tftop that makes it was "
			 "killed by signal %d",
			 job->path, WTERMSIG(status));
	else
		snprintf(error, size,
			 "no report of '%.100s': the tftop that makes it ended "
			 "with status %d",
			 job->path, WEXITSTATUS(status));
	free(text);
}

static enum reports_state report_job_over(struct reports *r, int status, char *error, size_t size)
{
	struct report_job *job = r->job;
	bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	size_t length = 0;
	char *text = good ? read_whole(job->out, &length) : NULL;

	if (text)
		keep(r, job->path, text, length);
	else
		report_say_why(job, status, error, size);
	job_free(job);
	r->job = NULL;
	return text ? REPORTS_DONE : REPORTS_FAILED;
}

enum reports_state reports_look(struct reports *r, char *error, size_t size)
{
	struct stat st;
	int status = 0;
	pid_t pid;

	if (!r->job)
		return REPORTS_NONE;
	pid = waitpid(r->job->pid, &status, WNOHANG);
	if (pid == r->job->pid)
		return report_job_over(r, status, error, size);
	if (pid == 0 && (fstat(r->job->out, &st) || st.st_size <= REPORT_BYTES_MAX))
		return REPORTS_RUNNING;
	snprintf(error, size, pid ? "no report of '%.100s': the child process disappeared" :
		 "the report of '%.100s' is too long", r->job->path);
	reports_stop(r);
	return REPORTS_FAILED;
}

enum reports_state reports_wait(struct reports *r, int limit_ms, char *error, size_t size)
{
	enum reports_state state;

	while ((state = reports_look(r, error, size)) == REPORTS_RUNNING && limit_ms > 0) {
		poll(NULL, 0, LOOK_MS);
		limit_ms -= LOOK_MS;
	}
	if (state != REPORTS_RUNNING)
		return state;
	snprintf(error, size, "the report of '%.100s' took too long", r->job->path);
	reports_stop(r);
	return REPORTS_FAILED;
}

void reports_stop(struct reports *r)
{
	struct report_job *job = r->job;

	r->job = NULL;
	if (!job)
		return;
	kill(job->pid, SIGKILL);
	while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR)
		;
	job_free(job);
}

void reports_release(struct reports *r)
{
	reports_stop(r);
	while (r->n)
		drop(r, r->n - 1);
	free(r->line);
	r->line = NULL;
}
