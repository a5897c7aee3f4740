/* SPDX-License-Identifier: MIT */
#include "probes/session/program/bring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/attach/awake.h"
#include "probes/attach/code.h"
#include "probes/attach/inject.h"
#include "probes/process/process.h"

/* Frameworks with many libraries take that long to load. */
#define LIMIT_NS INT64_C(15000000000)
#define LOOK_MS 5
#define BUSY_MS 100		/* between two tries while the stage is busy: each stops a thread */
#define COMPARE_NS 50000000
#define AWAKE_MAX_NS 160000000

/* Variables that only processes started by exec read. */
static bool is_for_children(const char *line)
{
	return !strncmp(line, "LD_PRELOAD=", 11) || !strncmp(line, "ASAN_OPTIONS=", 13);
}

static void fill_argument(const struct bring *b, struct stage_argument *argument, bool whole)
{
	char path[256], libraries[4096], *save = NULL;

	snprintf(path, sizeof(path), "%s/%s", b->seen ? b->seen : b->dir, b->name);
	argument_begin(argument, path);
	/* They stay: libraries and programs that are loaded later find tftop by them. */
	for (const char *line = b->lines; line < b->lines + b->bytes; line += strlen(line) + 1)
		if (whole || !is_for_children(line))
			argument_add(argument, "set", line);
	environ_libraries(b->probes, b->seen, libraries, sizeof(libraries));
	for (char *p = strtok_r(libraries, " ", &save); p; p = strtok_r(NULL, " ", &save))
		argument_add(argument, "load", p);
}

/* False: it is too long, even without the program's own list of preloaded libraries. */
static bool make_argument(const struct bring *b, struct stage_argument *argument)
{
	fill_argument(b, argument, true);
	if (argument->full)
		fill_argument(b, argument, false);
	return !argument->full;
}

static bool open_report(const struct bring *b, struct report *report, char *why, size_t size)
{
	int folder;
	bool good;

	if (b->seen)
		return report_open(report, b->place, b->name, b->uid, b->gid, why, size);
	folder = open(b->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0) {
		process_error(why, size, "cannot open", b->dir, errno);
		return false;
	}
	good = report_open(report, folder, b->name, b->uid, b->gid, why, size);
	close(folder);
	return good;
}

/* If there are several reports, keeps the last one, which is complete. */
static void keep_codes(struct bring *b, const struct stage_codes *codes)
{
	if (!b->codes)
		b->codes = malloc(sizeof(*b->codes));
	if (b->codes)
		*b->codes = *codes;
}

/* Where the kernel put the stack and the libraries of a program, which an exec changes. */
struct program_layout {
	char auxv[1024];
	ssize_t n;
};

static void read_layout(pid_t pid, struct program_layout *layout)
{
	memset(layout, 0, sizeof(*layout));
	layout->n = process_read(pid, "auxv", layout->auxv, sizeof(layout->auxv));
}

/* Whether the process runs another program now, into which no stage was injected. */
static bool is_another(pid_t pid, const struct program_layout *before)
{
	struct program_layout now;

	read_layout(pid, &now);
	return before->n > 0 && now.n > 0 &&
	       (now.n != before->n || memcmp(now.auxv, before->auxv, (size_t)now.n) != 0);
}

/* Waits until everything was tried; false with the reason: it took too long, or a process that is
 * needed has ended. */
static bool wait_report(struct bring *b, const struct report *report,
			const struct program_layout *layout, struct stage_report *now, char *why,
			size_t size)
{
	int64_t deadline = monotonic_ns() + LIMIT_NS;
	struct pollfd ended = { .fd = b->fd, .events = POLLIN };
	struct code_result replaced;
	int64_t awake_ns = 0, wait_ns = LOOK_MS * 1000000, compared_ns = monotonic_ns();
	bool read, over = false;

	do {
		read = report_read(report, now);
		/* LTTng looks for its daemon at the place that the stage's thread has just set */
		if (b->again && read && now->state == STAGE_RUNS && monotonic_ns() >= awake_ns) {
			attach_awake(b->pid);
			awake_ns = monotonic_ns() + wait_ns;
			wait_ns = wait_ns < AWAKE_MAX_NS ? 2 * wait_ns : AWAKE_MAX_NS;
		}
		if (read && (now->state == STAGE_OVER || now->state == STAGE_BAD_ARGUMENT))
			return true;
		if (read && now->codes.state == STAGE_CODES_ASKED &&
		    code_replace(b->pid, report, &now->codes, &replaced))
			keep_codes(b, &now->codes);
		if (!b->may_go_on(b->arg, why, size))
			return false;
		over = poll(&ended, 1, LOOK_MS) != 0;
		if (!over && monotonic_ns() - compared_ns > COMPARE_NS) {
			compared_ns = monotonic_ns();
			if (is_another(b->pid, layout)) {
				snprintf(why, size, "the process called exec() in the meantime: "
					 "try again");
				return false;
			}
		}
	} while (!over && monotonic_ns() < deadline);
	if (over)
		snprintf(why, size, "the process ended in the meantime");
	else
		snprintf(why, size, "its probes did not start within %d s",
			 (int)(LIMIT_NS / 1000000000));
	return false;
}

bool bring_went_wrong(const struct stage_load *load)
{
	return load->state == STAGE_NOT_LOADED ||
	       (load->state == STAGE_ATTACHED && load->result < 0);
}

/* How many probes have started (probes loaded earlier count as one); if none, the reason. */
static int count_begun(const struct bring *b, const struct stage_report *now, char *why,
		       size_t size)
{
	int begun = b->again, ready = 0, wrong = 0;

	snprintf(why, size, "%s", now->text[0] ? now->text : "no probe observes anything in it");
	if (now->text[0])		/* what starts is recorded nowhere */
		return 0;
	for (uint32_t i = 0; i < now->loads; i++) {
		begun += now->load[i].state == STAGE_ATTACHED &&
			 now->load[i].result == TFT_ATTACHED;
		ready += now->load[i].state == STAGE_ATTACHED &&
			 now->load[i].result == TFT_ATTACH_READY;
		if (!bring_went_wrong(&now->load[i]))
			continue;
		wrong++;
		snprintf(why, size, "%s", now->load[i].text[0] ? now->load[i].text :
			 "a probe failed to start, without a reason");
	}
	/* that a probe may start later does not help if the ones in use could not start */
	return begun + (wrong ? 0 : ready);
}

/* An earlier tftop may have been killed while the stage was at work for it: loading, waiting for
 * LTTng or for an answer. The stage is asked again until that is over. */
static bool inject_when_free(struct bring *b, const struct inject_request *request, char *why,
			     size_t size)
{
	struct pollfd ended = { .fd = b->fd, .events = POLLIN };
	int64_t deadline = monotonic_ns() + LIMIT_NS;
	struct inject_result result;

	for (;;) {
		inject_load(request, &result);
		if (result.stopped_ns > b->stopped_ns)
			b->stopped_ns = result.stopped_ns;
		snprintf(why, size, "%s", result.why);
		if (result.outcome != INJECT_BUSY || monotonic_ns() >= deadline)
			return result.outcome == INJECT_DONE;
		if (!b->may_go_on(b->arg, why, size))
			return false;
		b->again = true;
		poll(&ended, 1, BUSY_MS);	/* at its end the next try says so */
	}
}

/* Injects the stage with its argument; false with the reason in why. */
static bool inject_stage(struct bring *b, struct report *report, struct stage_report *now,
			 char *why, size_t size)
{
	struct stage_argument argument;
	char library[1200];
	struct inject_request request = {
		.pid = b->pid, .library = library, .argument = argument.text,
	};
	struct program_layout layout;

	read_layout(b->pid, &layout);
	snprintf(library, sizeof(library), "%s/" STAGE_LIBRARY,
		 b->seen ? b->seen : b->probes->lib_dir);
	if (!make_argument(b, &argument)) {
		snprintf(why, size, "the paths of the probes are too long: '%.300s'",
			 b->probes->lib_dir);
		return false;
	}
	if (!inject_when_free(b, &request, why, size) ||
	    !wait_report(b, report, &layout, now, why, size))
		return false;
	if (now->state == STAGE_BAD_ARGUMENT) {
		snprintf(why, size, "cannot set '%s' in its environment", now->text);
		return false;
	}
	return count_begun(b, now, why, size) > 0;
}

bool bring_probes(struct bring *b, struct stage_report *now, char *why, size_t size)
{
	struct report report = { .fd = -1, .folder = -1 };
	bool good = open_report(b, &report, why, size) && inject_stage(b, &report, now, why, size);

	report_close(&report);
	return good;
}
