/* SPDX-License-Identifier: MIT */
/* See report.h. */
#include "probes/attach/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probes/attach/inject.h"

_Static_assert(sizeof(((struct stage_argument *)0)->text) == INJECT_ARGUMENT_MAX,
	       "an argument has the injector's size");

static bool fill(int fd, uid_t uid, gid_t gid)
{
	uint32_t magic = STAGE_MAGIC;

	/* allocates all blocks: a write to a missing one on a full disk would kill the program */
	errno = posix_fallocate(fd, 0, sizeof(struct stage_report));
	return !errno && pwrite(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       (geteuid() != 0 || fchown(fd, uid, gid) == 0);
}

bool report_open(struct report *report, int folder, const char *name, uid_t uid, gid_t gid,
		 char *why, size_t size)
{
	*report = (struct report){ .fd = -1 };
	snprintf(report->name, sizeof(report->name), "%s", name);
	report->folder = fcntl(folder, F_DUPFD_CLOEXEC, 3);
	if (report->folder >= 0)
		report->fd = openat(report->folder, report->name,
				    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (report->fd >= 0 && fill(report->fd, uid, gid))
		return true;
	snprintf(why, size, "cannot create the report file '%s' for the program: %s", name,
		 strerror(errno));
	report_close(report);
	return false;
}

bool report_read(const struct report *report, struct stage_report *now)
{
	if (pread(report->fd, now, sizeof(*now), 0) != (ssize_t)sizeof(*now) ||
	    now->magic != STAGE_MAGIC || now->loads > STAGE_LOADS_MAX)
		return false;
	now->text[sizeof(now->text) - 1] = '\0';
	now->codes.why[sizeof(now->codes.why) - 1] = '\0';
	for (size_t i = 0; i < STAGE_LOADS_MAX; i++)
		now->load[i].text[sizeof(now->load[i].text) - 1] = '\0';
	return true;
}

bool report_answer(const struct report *report, enum stage_codes_state state, const char *why)
{
	const off_t at = (off_t)offsetof(struct stage_report, codes);
	uint32_t now, answer = state;
	char text[sizeof(((struct stage_codes *)0)->why)];

	snprintf(text, sizeof(text), "%s", why);
	return pread(report->fd, &now, sizeof(now), at) == (ssize_t)sizeof(now) &&
	       now == STAGE_CODES_ASKED &&
	       pwrite(report->fd, text, sizeof(text),
		      at + (off_t)offsetof(struct stage_codes, why)) == (ssize_t)sizeof(text) &&
	       pwrite(report->fd, &answer, sizeof(answer), at) == (ssize_t)sizeof(answer);
}

void report_close(struct report *report)
{
	if (report->fd >= 0) {
		unlinkat(report->folder, report->name, 0);
		close(report->fd);
	}
	if (report->folder >= 0)
		close(report->folder);
	report->fd = report->folder = -1;
}

void argument_begin(struct stage_argument *argument, const char *path)
{
	argument->used = 0;
	argument->full = false;
	argument_add(argument, "report", path);
}

void argument_add(struct stage_argument *argument, const char *verb, const char *what)
{
	size_t room = sizeof(argument->text) - argument->used;
	int length = snprintf(argument->text + argument->used, room, "%s %s\n", verb, what);

	if (length < 0 || (size_t)length >= room || strchr(what, '\n'))
		argument->full = true;
	else
		argument->used += (size_t)length;
}
