/* SPDX-License-Identifier: MIT */
#include "probes/session/program/children.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "probes/process/process.h"

#define KNOWN_MAX 4096
/* How many children of one process are examined per look. */
#define WIDTH_MAX 1024

struct child {
	pid_t pid, parent;
	uint64_t start_ticks, image;
	char comm[32];
	bool seen;
};

struct children {
	pid_t program;
	struct child *known;	/* owned, sorted by pid */
	size_t count, room;
	pid_t *found;		/* owned, WIDTH_MAX */
};

struct children *children_new(pid_t program)
{
	struct children *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->program = program;
	c->found = malloc(WIDTH_MAX * sizeof(*c->found));
	if (!c->found) {
		free(c);
		return NULL;
	}
	return c;
}

void children_free(struct children *c)
{
	if (!c)
		return;
	free(c->known);
	free(c->found);
	free(c);
}

void children_command(pid_t pid, char *text, size_t size)
{
	ssize_t got;

	got = process_read(pid, "cmdline", text, size);
	if (got <= 0) {
		text[0] = '\0';
		return;
	}
	while (got > 0 && text[got - 1] == '\0')
		got--;
	for (ssize_t i = 0; i < got; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			text[i] = ' ';
}

/* The index of pid, or where it would be inserted. */
static size_t place_of_child(const struct children *c, pid_t pid)
{
	return FIRST_NOT(i, 0, c->count, c->known[i].pid < pid);
}

static struct child *insert_child(struct children *c, size_t at)
{
	if (c->count == c->room) {
		size_t room = c->room ? 2 * c->room : 16;
		struct child *more;

		if (room > KNOWN_MAX)
			return NULL;
		more = realloc(c->known, room * sizeof(*more));
		if (!more)
			return NULL;
		c->known = more;
		c->room = room;
	}
	memmove(c->known + at + 1, c->known + at, (c->count - at) * sizeof(*c->known));
	c->count++;
	memset(&c->known[at], 0, sizeof(c->known[at]));
	return &c->known[at];
}

static void tell_child(const struct child *child, bool gone, child_function *tell, void *arg)
{
	struct child_event event = {
		.gone = gone, .pid = child->pid, .parent = child->parent,
		.kind = PREFLIGHT_UNKNOWN,
	};
	char exe[48];

	if (gone) {
		snprintf(event.command, sizeof(event.command), "%s", child->comm);
	} else {
		children_command(child->pid, event.command, sizeof(event.command));
		if (!event.command[0])
			snprintf(event.command, sizeof(event.command), "%s", child->comm);
		snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)child->pid);
		event.kind = preflight_kind(exe);
	}
	tell(arg, &event);
}

/* Whether it runs another program now, or has another name. */
static void follow_exec(struct child *child, const struct process_stat *stat,
			child_function *tell, void *arg)
{
	if (child->image == stat->image && strcmp(child->comm, stat->comm) == 0)
		return;
	child->image = stat->image;
	snprintf(child->comm, sizeof(child->comm), "%s", stat->comm);
	tell_child(child, false, tell, arg);
}

static void note_child(struct children *c, pid_t pid, pid_t parent,
		       child_function *tell, void *arg)
{
	struct process_stat stat;
	size_t at = place_of_child(c, pid);
	struct child *child = at < c->count && c->known[at].pid == pid ? &c->known[at] : NULL;

	if (!process_stat(pid, &stat) || stat.state == 'Z')
		return;
	if (child && child->start_ticks == stat.start_ticks) {
		child->seen = true;
		follow_exec(child, &stat, tell, arg);
		return;
	}
	if (child)
		tell_child(child, true, tell, arg);	/* the number was reused */
	else
		child = insert_child(c, at);
	if (!child)
		return;
	child->pid = pid;
	child->parent = parent;
	child->start_ticks = stat.start_ticks;
	child->image = stat.image;
	child->seen = true;
	snprintf(child->comm, sizeof(child->comm), "%s", stat.comm);
	tell_child(child, false, tell, arg);
}

static void look_at_children(struct children *c, pid_t parent, child_function *tell, void *arg)
{
	size_t found = process_children(parent, c->found, WIDTH_MAX);

	for (size_t i = 0; i < found; i++)
		note_child(c, c->found[i], parent, tell, arg);
}

/* Also those whose parent died: init is their parent now, but they are known. */
static void look_at_orphan(struct child *child, child_function *tell, void *arg)
{
	struct process_stat stat;

	if (child->seen)
		return;
	child->seen = process_stat(child->pid, &stat) && stat.state != 'Z' &&
		      stat.start_ticks == child->start_ticks;
	if (child->seen)
		follow_exec(child, &stat, tell, arg);
}

size_t children_pids(const struct children *c, pid_t *pids, size_t max)
{
	size_t count = 0;

	if (max)
		pids[count++] = c->program;
	for (size_t i = 0; i < c->count && count < max; i++)
		pids[count++] = c->known[i].pid;
	return count;
}

void children_look(struct children *c, child_function *tell, void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		c->known[i].seen = false;
	look_at_children(c, c->program, tell, arg);
	/* Parents nearly always have smaller PIDs; others are found at the next look. */
	for (size_t i = 0; i < c->count; i++)
		look_at_children(c, c->known[i].pid, tell, arg);
	for (size_t i = 0; i < c->count; i++)
		look_at_orphan(&c->known[i], tell, arg);
	for (size_t i = 0; i < c->count; i++) {
		if (c->known[i].seen)
			c->known[kept++] = c->known[i];
		else
			tell_child(&c->known[i], true, tell, arg);
	}
	c->count = kept;
}
