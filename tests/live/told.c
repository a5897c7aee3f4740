/* SPDX-License-Identifier: MIT */
/*
 * told RECORDING: prints the probes' events, one per line, with names and lines of source in place
 * of their ids, for tests that compare each op and not only totals. Columns are separated by tabs
 * (a tab in a name becomes a blank). The first two are the event's kind and the process:
 *
 * 	op	pid tid instance parent forward start_ns dur_ns depth flags name line shapes
 *
 * 	step	pid name start_ns dur_ns; pass: the same, of a forward pass
 *
 * 	kernel	pid op op_name name start_ns end_ns		of the processor's
 *
 * 	alloc	pid op op_name bytes allocator address
 *
 * 	free	pid allocator address
 *
 * 	compile	pid start_ns dur_ns what options
 *
 * 	message	pid text		lost	pid count
 *
 *
 * line is FILE:LINE:FUNCTION, "" if unknown. Announcements of open ops are left out. Exit status 0,
 * or 2 when the recording cannot be read.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/event.h"
#include "probes/session/recording/offline.h"

/* A definition. Definitions and events are not ordered relative to each other. */
struct defined {
	uint32_t pid, id;
	bool is_frame;
	char *text;			/* text of a name */
	struct event_frame frame;
};

static struct defined *defined;
static size_t count, room;
static bool all_known;

static int by_id(const void *a, const void *b)
{
	const struct defined *x = a, *y = b;

	if (x->is_frame != y->is_frame)
		return x->is_frame ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static struct defined *find(uint32_t pid, uint32_t id, bool is_frame)
{
	struct defined key = { .pid = pid, .id = id, .is_frame = is_frame };

	return id && count ? bsearch(&key, defined, count, sizeof(*defined), by_id) : NULL;
}

static const char *name(uint32_t pid, uint32_t id)
{
	const struct defined *d = find(pid, id, false);

	return d ? d->text : "";
}

/* Formats into a static buffer. */
static const char *line(uint32_t pid, uint32_t id)
{
	static char text[8192];
	const struct defined *d = find(pid, id, true);

	if (!d)
		return "";
	snprintf(text, sizeof(text), "%s:%" PRIu32 ":%s", name(pid, d->frame.file), d->frame.line,
		 name(pid, d->frame.function));
	return text;
}

static char *copy_of(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		abort();
	for (char *c = copy; *c; c++)
		if (*c == '\t' || *c == '\n')
			*c = ' ';
	return copy;
}

static void define(const struct event *e)
{
	struct defined d = { .pid = e->pid };

	if (e->type == EVENT_NAME) {
		d.id = e->u.name.id;
		d.text = copy_of(e->u.name.text);
	} else if (e->type == EVENT_FRAME) {
		d.id = e->u.frame.id;
		d.is_frame = true;
		d.frame = e->u.frame;
	} else {
		return;
	}
	if (count == room) {
		room = room ? room * 2 : 1024;
		defined = realloc(defined, room * sizeof(*defined));
		if (!defined)
			abort();
	}
	defined[count++] = d;
}

static void tell_op(uint32_t pid, const struct event_op *op)
{
	if (op->dur_ns < 0)
		return;
	printf("op\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%" PRId64
	       "\t%u\t%u\t%s\t", pid, op->tid, op->instance, op->parent, op->forward, op->start_ns,
	       op->dur_ns, op->depth, op->flags, name(pid, op->name));
	printf("%s\t%s\n", line(pid, op->frame), name(pid, op->shapes));
}

static void tell_kernel(uint32_t pid, const struct event_command *c)
{
	if (c->kind != COMMAND_KERNEL || c->queue <= EVENT_OWN_IDS)
		return;
	printf("kernel\t%u\t%" PRIu64 "\t%s\t", pid, c->op, name(pid, c->op_name));
	printf("%s\t%" PRIu64 "\t%" PRIu64 "\n", name(pid, c->name), c->start_ticks, c->end_ticks);
}

static void tell(const struct event *e)
{
	uint32_t pid = e->pid;

	switch (e->type) {
	case EVENT_OP:
		tell_op(pid, &e->u.op);
		break;
	case EVENT_STEP:
		printf("%s\t%u\t%s\t%" PRId64 "\t%" PRId64 "\n",
		       e->u.step.number == STEP_PASS ? "pass" : "step", pid,
		       name(pid, e->u.step.name), e->u.step.start_ns, e->u.step.dur_ns);
		break;
	case EVENT_COMMAND:
		tell_kernel(pid, &e->u.command);
		break;
	case EVENT_ALLOC:
		printf("alloc\t%u\t%" PRIu64 "\t%s\t", pid, e->u.alloc.op,
		       name(pid, e->u.alloc.op_name));
		printf("%" PRIu64 "\t%s\t%" PRIu64 "\n", e->u.alloc.bytes,
		       name(pid, e->u.alloc.allocator), e->u.alloc.address);
		break;
	case EVENT_FREE:
		printf("free\t%u\t%s\t%" PRIu64 "\n", pid, name(pid, e->u.free.allocator),
		       e->u.free.address);
		break;
	case EVENT_COMPILE:
		printf("compile\t%u\t%" PRId64 "\t%" PRId64 "\t%s\t%s\n", pid,
		       e->u.compile.start_ns, e->u.compile.dur_ns, e->u.compile.what,
		       e->u.compile.options);
		break;
	case EVENT_MESSAGE:
		printf("message\t%u\t%s\n", pid, e->u.message.text);
		break;
	case EVENT_LOST:
		printf("lost\t%u\t%" PRIu64 "\n", pid, e->u.lost.count);
		break;
	default:
		break;
	}
}

static void take(void *arg, const struct event *events, size_t n)
{
	(void)arg;
	for (size_t i = 0; i < n; i++)
		if (all_known)
			tell(&events[i]);
		else
			define(&events[i]);
}

int main(int argc, char **argv)
{
	static atomic_bool stop;
	static _Atomic uint64_t read, done, all;
	struct offline_options options = {
		.stop = &stop, .sink = take, .events = &read, .bytes_done = &done,
		.bytes_all = &all,
	};
	char error[512];

	if (argc != 2) {
		fputs("usage: told RECORDING\n", stderr);
		return 2;
	}
	options.path = argv[1];
	for (int pass = 0; pass < 2; pass++) {
		all_known = pass > 0;
		if (offline_read(&options, error, sizeof(error)) == OFFLINE_FAILED) {
			fprintf(stderr, "told: %s\n", error);
			return 2;
		}
		if (!pass && count)
			qsort(defined, count, sizeof(*defined), by_id);
	}
	for (size_t i = 0; i < count; i++)
		free(defined[i].text);
	free(defined);
	return 0;
}
