/* SPDX-License-Identifier: MIT */
/* See host_others.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/finding.h"
#include "model/analyses/host_others.h"
#include "model/analyses/host_place.h"
#include "model/analyses/sweep.h"
#include "model/base/util.h"
#include "model/host/doings.h"
#include "model/lines/lines.h"

#define MEANWHILE_LOOKS 1024		/* so many of the last tell what another thread did */
#define CONVOY_PART 10			/* who waits for locks for 1 / so much of its time */

/* What the thread did in its last seconds, if it is the first one of its process: others hand
 * batches over. */
static void add_lately(struct model *model, uint32_t thread, struct host_parts *parts)
{
	const struct thread *one = thread_at(model, thread);
	const struct doing *end, *first = doings_lately(model, thread, &end);

	if (first < end && one->tid == process_at(model, one->process)->pid)
		host_time_of_thread(model, thread, first->start_ns, end[-1].end_ns, parts);
}

void host_workers_say(struct model *model, uint32_t process, int64_t at_ns,
		       struct finding *finding)
{
	const int64_t any_ns = INT64_MAX;
	struct host_parts parts = { .n = 0 };
	struct host_time_row *rows;
	struct place_row most;
	char *line = finding_line_left(finding);
	int64_t all_ns = 0;
	size_t n;

	for (uint32_t i = 0; i < model->threads.n; i++)
		if (loader_is_worker(model, process, thread_at(model, i)->process, at_ns))
			add_lately(model, i, &parts);
	n = host_time_rows(model, &parts, &any_ns, 1, 1, &rows);
	most = host_most_of(rows, n, 0, ANY_FINDING);
	for (size_t i = 0; i < n; i++)
		add_ns(&all_ns, rows[i].ns);
	free(rows);
	if (line && most.row.ns && *most.row.file)
		host_place_say(line, "the workers' time", all_ns, &most);
}

/* ---- locks ---- */

/* How many threads of the process waited for locks that others hold, for a good part of the last
 * seconds in which they were seen. Who waits for another thread's data is none of them. */
static uint32_t lock_waiters(const struct model *model, uint32_t process)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < model->threads.n; i++) {
		const struct doing *end, *at;
		int64_t all_ns = 0, locks_ns = 0;

		if (thread_at(model, i)->process != process)
			continue;
		for (at = doings_lately(model, i, &end); at < end; at++) {
			add_ns(&all_ns, at->ns);
			add_ns(&locks_ns, at->kind == DOING_LOCK && at->what ? at->ns : 0);
		}
		n += locks_ns > 0 && locks_ns >= all_ns / CONVOY_PART;
	}
	return n;
}

void host_convoy_say(const struct model *model, uint32_t process, struct finding *finding)
{
	uint32_t n = lock_waiters(model, process);
	char *line = finding_line_left(finding);

	if (line && n > 1)
		snprintf(line, FINDING_TEXT, "a convoy: %u threads wait for locks that others "
			 "hold, a tenth of their time or more", n);
}

/* A wait for another thread, whose holder is unknown, at the place of that row. */
static bool waits_at(struct model *model, uint32_t process, const struct doing *at,
		     const struct host_time_row *row)
{
	uint32_t frame = frame_of_process(model, process, at->frame);
	const struct source_frame *line = frame ? frame_at(model->lines, frame - 1) : NULL;

	return at->kind == DOING_LOCK && !at->what && line && line->file &&
	       line->line == row->line && !strcmp(names_raw(&model->names, line->file), row->file);
}

/* How long the thread waited there lately; adds what another one did meanwhile, unless
 * that is NONE. The looks at all threads are made together, so that one stands for its time. */
static int64_t waited_at(struct model *model, uint32_t thread, const struct host_time_row *row,
			 uint32_t other, struct host_parts *parts)
{
	uint32_t process = thread_at(model, thread)->process;
	const struct doing *end, *at = doings_lately(model, thread, &end);
	int64_t ns = 0;

	if (end - at > MEANWHILE_LOOKS)
		at = end - MEANWHILE_LOOKS;
	for (; at < end; at++) {
		/* the half of a time that is mixed says little of another thread's */
		if (!waits_at(model, process, at, row) || at->ns < (at->end_ns - at->start_ns) / 2)
			continue;
		add_ns(&ns, at->ns);
		if (other != NONE)
			host_time_of_thread(model, other, at->start_ns, at->end_ns, parts);
	}
	return ns;
}

/* The thread of the process that waited there most; NONE: none did. */
static uint32_t who_waited(struct model *model, uint32_t process, const struct host_time_row *row,
			   int64_t *most_ns)
{
	uint32_t most = NONE;

	*most_ns = 0;
	for (uint32_t i = 0; i < model->threads.n; i++) {
		int64_t ns = thread_at(model, i)->process == process ?
			     waited_at(model, i, row, NONE, NULL) : 0;

		if (ns > *most_ns) {
			*most_ns = ns;
			most = i;
		}
	}
	return most;
}

/* A thread that waits for its next work. */
static bool rests(const struct host_time_row *row)
{
	return row->doing == DOING_POLL || (row->doing == DOING_LOCK && !*row->what);
}

/* What was done most in these parts, but for resting. */
static struct place_row did_most(struct model *model, const struct host_parts *parts)
{
	const int64_t any_ns = INT64_MAX;
	struct host_time_row *rows;
	struct place_row most;
	size_t n = host_time_rows(model, parts, &any_ns, 1, 1, &rows), left = 0;

	for (size_t i = 0; i < n; i++)
		if (!rests(&rows[i]))
			rows[left++] = rows[i];
	most = host_most_of(rows, left, 0, ANY_FINDING);
	free(rows);
	return most;
}

/* What other threads of the process did most while that one waited there. *thread: which one did
 * most of it; NONE: several did. */
static struct place_row did_meanwhile(struct model *model, uint32_t waiter,
				      const struct host_time_row *row, uint32_t *thread)
{
	uint32_t process = thread_at(model, waiter)->process;
	struct host_parts all = { .n = 0 };
	struct place_row most, best = { .row.ns = 0 };

	for (uint32_t i = 0; i < model->threads.n; i++) {
		struct host_parts parts = { .n = 0 };
		struct place_row one;

		if (i == waiter || thread_at(model, i)->process != process)
			continue;
		waited_at(model, waiter, row, i, &parts);
		host_parts_add(&all, &parts);
		one = did_most(model, &parts);
		if (one.row.ns > best.row.ns) {
			best = one;
			*thread = i;
		}
	}
	most = did_most(model, &all);
	if (!best.row.ns || !host_same_place(&most.row, &best.row, ANY_FINDING) ||
	    best.row.ns < most.row.ns - most.row.ns / 10)
		*thread = NONE;
	return most;
}

void host_meanwhile_say(struct model *model, uint32_t process, const struct host_time_row *row,
			  struct finding *finding)
{
	char share[FMT_MAX], place[PLACE_TEXT], who[64], *line = finding_line_left(finding);
	struct place_row most;
	uint32_t thread = NONE, waiter, name;
	int64_t wait_ns;

	waiter = line ? who_waited(model, process, row, &wait_ns) : NONE;
	if (waiter == NONE)
		return;
	most = did_meanwhile(model, waiter, row, &thread);
	if (!most.row.ns || most.row.ns < wait_ns / 2)
		return;
	name = thread != NONE ? thread_at(model, thread)->name : 0;
	snprintf(who, sizeof(who), "another thread");
	if (thread != NONE)
		snprintf(who, sizeof(who), "thread %u%s%.40s", thread_at(model, thread)->tid,
			 name ? " " : "", name ? names_raw(&model->names, name) : "");
	place[0] = '\0';
	if (*most.row.file)
		snprintf(place, sizeof(place), " at %.80s:%u in %.60s", path_last(most.row.file),
			 most.row.line, most.row.function);
	else if (host_is_function(&most.row))
		snprintf(place, sizeof(place), " in %.100s", most.row.what);
	snprintf(line, FINDING_TEXT, "meanwhile, for %s of it, %s %s%s",
		 fmt_share(share, (uint64_t)(most.row.ns < wait_ns ? most.row.ns : wait_ns),
			   (uint64_t)wait_ns), who, most.verb, place);
}
