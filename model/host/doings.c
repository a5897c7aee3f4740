/* SPDX-License-Identifier: MIT */
#include "model/host/doings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/lines/lines.h"
#include "model/rows/rows.h"

/* ---- sums ---- */

struct doing_sum *doing_sum_at(const struct model *model, uint32_t i)
{
	return store_at(&model->doings->list, i);
}

void doings_free(struct model *model)
{
	for (uint32_t i = 0; i < model->threads.n; i++)
		free(thread_at(model, i)->doings.list);
	if (!model->doings)
		return;
	store_release(&model->doings->list);
	map_release(&model->doings->first);
	free(model->doings);
}

size_t doings_bytes(const struct model *model)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < model->threads.n; i++)
		bytes += thread_at(model, i)->doings.cap * sizeof(struct doing);
	if (model->doings)
		bytes += store_bytes(&model->doings->list) + map_bytes(&model->doings->first);
	return bytes;
}

/* Its sum with this key; NONE: there is none. *head: the first with the same hash. */
static uint32_t doing_sum_find(const struct doing_sums *sums, const struct doing_sum *key,
			       uint64_t hash, uint32_t *head)
{
	uint32_t i = map_get(&sums->first, hash);

	*head = i;
	for (; i != NONE; i = ((struct doing_sum *)store_at(&sums->list, i))->next) {
		const struct doing_sum *sum = store_at(&sums->list, i);

		if (sum->thread == key->thread && sum->frame == key->frame &&
		    sum->stack == key->stack && sum->what == key->what && sum->kind == key->kind)
			return i;
	}
	return NONE;
}

/* The sum with this key, which is made if need be. When there is no room, it is that of the state
 * alone. */
static uint32_t doing_sum_of(struct model *model, struct doing_sum key)
{
	struct doing_sums *sums = model->doings;
	uint64_t hash = map_mix((uint64_t)key.stack << 32 | key.frame) ^ key.thread;
	uint32_t head, i;

	if (!sums) {
		sums = model->doings = xcalloc(1, sizeof(*sums));
		store_init(&sums->list, sizeof(key));
	}
	i = doing_sum_find(sums, &key, hash, &head);
	if (i != NONE)
		return i;
	if (sums->list.n >= DOING_SUMS_MAX && (key.frame || key.stack || key.what)) {
		key.frame = key.stack = key.what = 0;
		return doing_sum_of(model, key);
	}
	key.next = head;
	*(struct doing_sum *)store_new(&sums->list) = key;
	map_set(&sums->first, hash, sums->list.n - 1);
	return sums->list.n - 1;
}

static uint32_t count_doing(struct model *model, uint32_t thread, const struct event_doing *doing,
			    uint32_t what, int64_t ns)
{
	uint32_t process = thread_at(model, thread)->process;
	uint32_t i = doing_sum_of(model, (struct doing_sum) {
		.thread = thread, .frame = frame_get(model, process, doing->frame),
		.stack = frame_get(model, process, doing->stack), .what = what,
		.kind = doing->doing,
	});
	struct doing_sum *sum = doing_sum_at(model, i);

	sum->looks += doing->looks;
	add_ns(&sum->ns, ns);
	return i;
}

/* ---- times ---- */

#define LATELY_NS (10 * INT64_C(1000000000))

void apply_doing(struct model *model, const struct arrival *in)
{
	const struct event_doing *doing = &in->event->u.doing;
	struct doings *doings;
	struct doing *last;
	int64_t left_ns, ns;
	uint32_t thread, what;
	bool same;

	/* a saved file has them all at its beginning, so when it was written says nothing */
	if (!span_ok(doing->start_ns, doing->dur_ns, 0)) {
		model_bad(model, bad_time(doing->dur_ns));
		return;
	}
	thread = thread_get(model, in->process->index, doing->tid);
	doings = &thread_at(model, thread)->doings;
	last = doings->n ? &doings->list[doings->n - 1] : NULL;
	same = last && last->start_ns == doing->start_ns &&
	       last->end_ns == doing->start_ns + doing->dur_ns;
	left_ns = doing->dur_ns - (same ? doings->told_ns : 0);
	/* a clock of another host that is mapped to ours may have made the time a little shorter */
	if ((last && !same && doing->start_ns < last->end_ns) || doing->ns < 0 ||
	    doing->ns > left_ns + doing->dur_ns / 64 || doing->doing >= DOING_COUNT ||
	    (doing->at_ns && (doing->at_ns < doing->start_ns ||
			      doing->at_ns > doing->start_ns + doing->dur_ns))) {
		model_bad(model, BAD_END);
		return;
	}
	ns = doing->ns < left_ns ? doing->ns : left_ns;
	if (ns <= 0)
		return;
	doings->told_ns = doing->dur_ns - left_ns + ns;
	if (doings->n >= DOINGS_MAX) {
		doings->n -= DOINGS_MAX / 2;
		memmove(doings->list, doings->list + DOINGS_MAX / 2,
			doings->n * sizeof(*doings->list));
	}
	/* its row shows what it did, even if it never ran an op */
	row_of_thread(model, thread);
	what = local_name(model, in->process, doing->what);
	if (doing->doing == DOING_NATIVE)
		what = names_function(&model->names, what, NAME_BARE);
	grow(&doings->list, &doings->cap, doings->n, sizeof(*doings->list));
	doings->list[doings->n++] = (struct doing) {
		.start_ns = doing->start_ns, .end_ns = doing->start_ns + doing->dur_ns,
		.ns = ns, .at_ns = doing->at_ns, .frame = doing->frame,
		.what = what, .looks = doing->looks, .kind = doing->doing,
		.sum = count_doing(model, thread, doing, what, ns),
	};
}

const struct doing *doings_from(const struct model *model, uint32_t thread, int64_t t_ns,
				const struct doing **end)
{
	const struct doings *doings = &thread_at(model, thread)->doings;

	*end = doings->list + doings->n;
	return doings->list + FIRST_NOT(i, 0, doings->n, doings->list[i].end_ns <= t_ns);
}

const struct doing *doings_lately(const struct model *model, uint32_t thread,
				  const struct doing **end)
{
	const struct doings *doings = &thread_at(model, thread)->doings;
	int64_t last_ns = doings->n ? doings->list[doings->n - 1].end_ns : 0;

	return doings_from(model, thread, last_ns - LATELY_NS, end);
}

int64_t doing_within(const struct doing *at, int64_t from_ns, int64_t to_ns)
{
	int64_t from = at->start_ns > from_ns ? at->start_ns : from_ns;
	int64_t to = at->end_ns < to_ns ? at->end_ns : to_ns;

	if (at->at_ns)
		return at->at_ns >= from_ns && at->at_ns < to_ns ? at->ns : 0;
	if (from >= to)
		return 0;
	if (from == at->start_ns && to == at->end_ns)
		return at->ns;
	return (int64_t)((__int128)at->ns * (to - from) / (at->end_ns - at->start_ns));
}

/* ---- waits ---- */

#define WAITS_LOOKED 16u	/* so many of the last are looked through for the same sum */

static void waits_add(struct doing_waits *waits, uint32_t thread, uint32_t sum, int64_t ns)
{
	for (size_t i = waits->n; i-- > 0 && waits->n - i <= WAITS_LOOKED;) {
		if (waits->list[i].sum != sum || waits->list[i].thread != thread)
			continue;
		add_ns(&waits->list[i].ns, ns);
		return;
	}
	grow(&waits->list, &waits->cap, waits->n, sizeof(*waits->list));
	waits->list[waits->n++] = (struct doing_wait) { thread, sum, ns };
}

void doings_wait(struct model *model, struct doing_waits *waits, uint32_t thread, int64_t from_ns,
		 int64_t to_ns)
{
	const struct doing *end, *at;

	if (thread >= model->threads.n || from_ns >= to_ns)
		return;
	if (waits->n >= DOING_WAITS_MAX)
		doings_waited(model, waits);
	waits_add(waits, thread, NONE, to_ns - from_ns);
	for (at = doings_from(model, thread, from_ns, &end); at < end && at->start_ns < to_ns;
	     at++) {
		int64_t ns = doing_within(at, from_ns, to_ns);

		if (ns > 0)
			waits_add(waits, thread, at->sum, ns);
	}
}

void doings_waited(struct model *model, struct doing_waits *waits)
{
	for (size_t i = 0; i < waits->n; i++) {
		const struct doing_wait *wait = &waits->list[i];
		struct doings *doings = &thread_at(model, wait->thread)->doings;

		if (wait->sum == NONE) {
			add_ns(&doings->waits_ns, wait->ns);
			continue;
		}
		add_ns(&doings->counted_ns, wait->ns);
		add_ns(&doing_sum_at(model, wait->sum)->waited_ns, wait->ns);
	}
	waits->n = 0;
}

int64_t doing_sum_waited(const struct model *model, const struct doing_sum *sum)
{
	const struct doings *doings = &thread_at(model, sum->thread)->doings;

	if (doings->counted_ns <= doings->waits_ns)
		return sum->waited_ns;
	return (int64_t)((__int128)sum->waited_ns * doings->waits_ns / doings->counted_ns);
}
