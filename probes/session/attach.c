/* SPDX-License-Identifier: MIT */
/* A session without a launcher: PROGRAM runs already, and the probes are brought into it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/attach/awake.h"
#include "probes/attach/inject.h"
#include "probes/attach/preflight.h"
#include "probes/attach/report.h"
#include "probes/session/internal.h"
#include "probes/session/process.h"

#define REPORT_NAME "attach"
#define ENVIRONMENT_MAX (128u << 10)
/* Frameworks of many libraries. */
#define ATTACH_LIMIT_NS INT64_C(15000000000)
#define LOOK_MS 5
#define AWAKE_LOOKS 20		/* 100 ms */
#define AGAIN_TRIES 9
#define AGAIN_MS 250

/* ---- before anything is forked ---- */

/* What will be missing of what is in it; of its part each probe that comes tells itself. */
static void say_lines(struct session *s, const struct attach_check *check)
{
	for (size_t i = 0; i < check->count; i++) {
		const struct attach_line *line = &check->lines[i];
		char text[SESSION_ERROR_MAX];

		if (line->probe ? line->verdict != ATTACH_CANNOT || !line->loaded :
		    line->verdict != ATTACH_PARTLY)
			continue;
		snprintf(text, sizeof(text), "%s: %s", line->what, line->why);
		session_say(s, 1, text);
	}
}

/* The PID is that process's as long as this descriptor finds it there. */
static bool hold(struct session *s, pid_t pid, uint64_t start_ticks)
{
	struct process_stat stat;

	s->program_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return s->program_fd >= 0 && process_stat(pid, &stat) && stat.start_ticks == start_ticks;
}

bool session_attach_begin(struct session *s, pid_t pid, char error[SESSION_ERROR_MAX])
{
	struct attach_check *check = malloc(sizeof(*check));
	bool good;

	if (!check) {
		snprintf(error, SESSION_ERROR_MAX, "no memory for a session");
		return false;
	}
	attach_check_process(check, pid, s->probes.lib_dir);
	good = check->possible;
	if (!good)
		snprintf(error, SESSION_ERROR_MAX, "cannot attach to %d: %.400s; 'tftop --check -p %d' "
			 "says all", (int)pid, check->error, (int)pid);
	if (good && !hold(s, pid, check->start_ticks)) {
		snprintf(error, SESSION_ERROR_MAX, "cannot attach to %d: it has just ended", (int)pid);
		good = false;
	}
	if (good) {
		s->attach = s->launcher_gone = true;
		s->program = pid;
		s->start_ticks = check->start_ticks;
		s->again = check->again;
		s->uid = check->uid;
		s->gid = check->gid;
		say_lines(s, check);
	}
	free(check);
	return good;
}

/* ---- what it is given ---- */

void session_attach_variables(const struct session *s, struct session_variables *variables)
{
	char path[64];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)s->program);
	variables->text = malloc(ENVIRONMENT_MAX);
	got = variables->text ? process_read_file(path, variables->text, ENVIRONMENT_MAX) : -1;
	variables->size = got > 0 ? (size_t)got : 0;
}

const char *session_attach_variable(void *arg, const char *name)
{
	const struct session_variables *v = arg;
	size_t length = strlen(name);

	for (size_t at = 0; at < v->size; at += strlen(v->text + at) + 1)
		if (!strncmp(v->text + at, name, length) && v->text[at + length] == '=')
			return v->text + at + length + 1;
	return NULL;
}

/* False: it is too long. */
static bool make_argument(const struct session *s, struct stage_argument *argument)
{
	char path[sizeof(s->ready.dir) + sizeof(REPORT_NAME) + 1], libraries[4096], *save = NULL;

	snprintf(path, sizeof(path), "%s/" REPORT_NAME, s->ready.dir);
	argument_begin(argument, path);
	/* They stay: what is loaded and started later finds tftop by them. */
	for (const char *line = s->plan->lines; line < s->plan->lines + s->plan->bytes;
	     line += strlen(line) + 1)
		argument_add(argument, "set", line);
	environ_libraries(&s->probes, libraries, sizeof(libraries));
	for (char *p = strtok_r(libraries, " ", &save); p; p = strtok_r(NULL, " ", &save))
		argument_add(argument, "load", p);
	return !argument->full;
}

/* ---- the report ---- */

static bool open_report(const struct session *s, struct report *report, char *why, size_t size)
{
	int folder = open(s->ready.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good;

	if (folder < 0) {
		process_error(why, size, "cannot open", s->ready.dir, errno);
		return false;
	}
	good = report_open(report, folder, REPORT_NAME, s->uid, s->gid, why, size);
	close(folder);
	return good;
}

/* Until everything was tried; false: it was not within the time, or PROGRAM has ended. */
static bool wait_report(struct session *s, const struct report *report, struct stage_report *now)
{
	int64_t deadline = wire_now_ns() + ATTACH_LIMIT_NS;
	struct pollfd ended = { .fd = s->program_fd, .events = POLLIN };
	unsigned looks = 0;

	do {
		session_alive(s);
		if (s->again && ++looks % AWAKE_LOOKS == 0)
			attach_awake(s->program);
		if (report_read(report, now) &&
		    (now->state == STAGE_OVER || now->state == STAGE_BAD_ARGUMENT))
			return true;
	} while (poll(&ended, 1, LOOK_MS) == 0 && wire_now_ns() < deadline);
	return false;
}

static bool went_wrong(const struct stage_load *load)
{
	return load->state == STAGE_NOT_LOADED ||
	       (load->state == STAGE_ATTACHED && load->result < 0);
}

/* How many libraries have begun, what was there before counts as one; else why not. */
static int count_begun(const struct session *s, const struct stage_report *now, char *why,
		       size_t size)
{
	int begun = s->again && !now->text[0];

	snprintf(why, size, "%s", now->text[0] ? now->text : "no probe is of use in it");
	for (uint32_t i = 0; i < now->loads; i++) {
		begun += now->load[i].state == STAGE_ATTACHED && now->load[i].result == 0;
		if (went_wrong(&now->load[i]))
			snprintf(why, size, "%s", now->load[i].text[0] ? now->load[i].text :
				 "a probe cannot begin, and does not say why");
	}
	return begun;
}

/* Probes that did not begin beside others that did. */
static void say_wrong(struct session *s, const struct stage_report *now)
{
	for (uint32_t i = 0; i < now->loads; i++)
		if (went_wrong(&now->load[i]) && now->load[i].text[0])
			session_say(s, 2, now->load[i].text);
}

static void say_started(struct session *s)
{
	struct session_event started = {
		.type = SESSION_STARTED, .pid = s->program, .time_ns = wire_now_ns(),
	};

	s->started = true;
	s->children = children_new(s->program);
	session_note(s, &started, "");
}

/* The stage in PROGRAM has got its argument; false with the reason in why. */
static bool stage(struct session *s, struct report *report, struct stage_report *now, char *why,
		  size_t size)
{
	struct stage_argument argument;
	char library[1200];
	struct inject_request request = {
		.pid = s->program, .library = library, .argument = argument.text,
	};
	struct inject_result result;

	snprintf(library, sizeof(library), "%s/" STAGE_LIBRARY, s->probes.lib_dir);
	if (!make_argument(s, &argument)) {
		snprintf(why, size, "the paths of the probes are too long: '%.300s'", s->probes.lib_dir);
		return false;
	}
	if (!inject_load(&request, &result)) {
		snprintf(why, size, "%s", result.why);
		return false;
	}
	if (!wait_report(s, report, now)) {
		snprintf(why, size, "its probes did not begin within %d s, or it has ended",
			 (int)(ATTACH_LIMIT_NS / 1000000000));
		return false;
	}
	if (now->state == STAGE_BAD_ARGUMENT) {
		snprintf(why, size, "its environment does not take '%s'", now->text);
		return false;
	}
	return count_begun(s, now, why, size) > 0;
}

static bool try_once(struct session *s, struct stage_report *now, char *why, size_t size)
{
	struct report report = { .fd = -1, .folder = -1 };
	bool good = open_report(s, &report, why, size) && stage(s, &report, now, why, size);

	report_close(&report);
	return good;
}

int session_attach(struct session *s, char error[SESSION_ERROR_MAX])
{
	/* The tftop before is not gone before its keeper has cleared away: 0.5 s, 2 s at most. */
	int tries = s->again ? AGAIN_TRIES : 1;
	struct stage_report now = { .loads = 0 };
	char why[640];
	bool good = try_once(s, &now, why, sizeof(why));

	while (!good && --tries > 0) {
		struct pollfd ended = { .fd = s->program_fd, .events = POLLIN };

		if (poll(&ended, 1, AGAIN_MS) != 0)
			break;
		good = try_once(s, &now, why, sizeof(why));
	}
	if (!good) {
		snprintf(error, SESSION_ERROR_MAX, "cannot attach to %d: %.440s", (int)s->program, why);
		return -1;
	}
	say_wrong(s, &now);
	say_started(s);
	return 0;
}
