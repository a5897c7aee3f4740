/* SPDX-License-Identifier: MIT */
/* What a thread did in columns of the timeline and at a moment: answers of query/host.h. */
#include "model/query/host.h"

#include <string.h>

#include "model/core/model.h"
#include "model/host/doings.h"
#include "model/lines/lines.h"
#include "model/rows/rows.h"

#define SLOTS 256u			/* a power of two, with room for STATE_LINES */

_Static_assert(STATE_LINES < SLOTS, "a search in the table must end");

/* The states and lines of one time. */
struct state_sums {
	int64_t by_kind[DOING_COUNT];
	struct state_slot {
		uint64_t key;		/* kind and frame */
		uint32_t round;		/* it is used in this round only */
		uint32_t sum;		/* doing_sum_at() */
		uint32_t what;		/* 0: unknown, or not the same all along */
		uint32_t task;		/* name; likewise */
		int64_t ns;
		int64_t at_ns;		/* as in struct host_state */
	} slots[SLOTS];
	uint32_t used[STATE_LINES], n;
	uint32_t round;
	struct model *tasks_of;		/* whose tasks are looked up; NULL: none are */
};

/* The name of the task in a stack; 0: there is none. */
static uint32_t task_of_stack(struct model *model, uint32_t stack)
{
	while (stack) {
		const struct source_frame *frame = frame_at(model->lines, stack - 1);

		if (frame_is_task(model, frame))
			return frame->function;
		stack = frame_caller(model->lines, stack);
	}
	return 0;
}

static void state_sums_clear(struct state_sums *sums)
{
	memset(sums->by_kind, 0, sizeof(sums->by_kind));
	sums->n = 0;
	sums->round++;
}

static void state_sums_add(struct state_sums *sums, const struct doing *at, int64_t ns)
{
	uint64_t key = (uint64_t)at->kind << 32 | at->frame;
	uint32_t i = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 56) % SLOTS;
	uint32_t task = 0;
	struct state_slot *slot;

	if (sums->tasks_of)
		task = task_of_stack(sums->tasks_of, doing_sum_at(sums->tasks_of, at->sum)->stack);
	sums->by_kind[at->kind] += ns;
	while (sums->slots[i].round == sums->round && sums->slots[i].key != key)
		i = (i + 1) % SLOTS;
	slot = &sums->slots[i];
	if (slot->round != sums->round) {
		if (sums->n >= STATE_LINES)
			return;
		*slot = (struct state_slot) {
			key, sums->round, at->sum, at->what, task, 0, at->at_ns,
		};
		sums->used[sums->n++] = i;
	}
	slot->ns += ns;
	if (!at->at_ns)
		slot->at_ns = 0;
	if (at->what != slot->what)
		slot->what = 0;
	if (task != slot->task)
		slot->task = 0;
}

/* Like doing_within(), but a look at the very end of its time counts in that time. */
static int64_t state_within(const struct doing *at, int64_t from_ns, int64_t to_ns)
{
	if (at->at_ns && at->at_ns >= at->end_ns)
		return at->end_ns > from_ns && at->end_ns <= to_ns ? at->ns : 0;
	return doing_within(at, from_ns, to_ns);
}

/* Adds the parts that touch [from_ns, to_ns); at: the first that ends later than from_ns. */
static void state_sums_of(struct state_sums *sums, const struct doing *at, const struct doing *end,
			  int64_t from_ns, int64_t to_ns)
{
	state_sums_clear(sums);
	for (; at < end && at->start_ns < to_ns; at++) {
		int64_t ns = state_within(at, from_ns, to_ns);

		if (ns > 0)
			state_sums_add(sums, at, ns);
	}
}

static struct host_state states_slot(struct model *model, const struct state_slot *slot)
{
	const struct doing_sum *sum = doing_sum_at(model, slot->sum);
	const struct source_frame *frame = sum->frame ? frame_at(model->lines, sum->frame - 1) :
							NULL;
	struct host_state out = {
		.doing = sum->kind, .file = "", .function = "", .what = "", .task = "",
		.ns = slot->ns, .at_ns = slot->at_ns,
	};

	if (slot->what)
		out.what = names_raw(&model->names, slot->what);
	if (slot->task)
		out.task = names_raw(&model->names, slot->task);
	if (frame && frame->file) {
		out.file = names_raw(&model->names, frame->file);
		out.function = frame->function ? names_raw(&model->names, frame->function) : "";
		out.line = frame->line;
	}
	return out;
}

/* Whether x comes before y: more time, else the lower number. */
static bool slot_before(const struct state_slot *x, const struct state_slot *y)
{
	return x->ns != y->ns ? x->ns > y->ns : x->key < y->key;
}

/* The state with most time at the line with most of it. */
static struct host_state state_most(struct model *model, const struct state_sums *sums)
{
	const struct state_slot *best = NULL;
	struct host_state out = { .file = "", .function = "", .what = "", .task = "" };
	uint32_t most = 0;

	for (uint32_t kind = 1; kind < DOING_COUNT; kind++)
		if (sums->by_kind[kind] > sums->by_kind[most])
			most = kind;
	for (uint32_t i = 0; i < sums->n; i++) {
		const struct state_slot *slot = &sums->slots[sums->used[i]];

		if (slot->key >> 32 == most && (!best || slot_before(slot, best)))
			best = slot;
	}
	out.doing = (enum doing_kind)most;
	if (best)
		out = states_slot(model, best);
	out.ns = sums->by_kind[most];
	return out;
}

/* The thread of a row; NONE: it has none. */
static uint32_t thread_of_row(const struct model *model, uint32_t row)
{
	return row && row <= model->rows.n && row_at(model, row - 1)->kind == ROW_THREAD ?
	       row_at(model, row - 1)->thread : NONE;
}

void model_host_states(struct model *model, uint32_t row, int64_t t0_ns, int64_t w_ns, size_t n,
			 struct host_state *out)
{
	uint32_t thread = thread_of_row(model, row);
	const struct doing *at = NULL, *end = NULL;
	struct state_sums sums = { .round = 0 };

	if (thread != NONE)
		at = doings_from(model, thread, t0_ns, &end);
	for (size_t i = 0; i < n; i++) {
		int64_t from_ns = t0_ns + (int64_t)i * w_ns;

		while (at < end && at->end_ns <= from_ns)
			at++;
		if (at >= end || at->start_ns >= from_ns + w_ns) {
			out[i] = (struct host_state) {
				.file = "", .function = "", .what = "", .task = "",
			};
			continue;
		}
		state_sums_of(&sums, at, end, from_ns, from_ns + w_ns);
		out[i] = state_most(model, &sums);
	}
}

size_t model_host_doing(struct model *model, uint32_t row, int64_t t_ns, int64_t *from_ns,
			  int64_t *to_ns, struct host_state *out, size_t max, int64_t *others_ns)
{
	uint32_t thread = thread_of_row(model, row);
	struct state_sums sums = { .tasks_of = model };
	const struct doing *at, *end;
	size_t n = 0;

	*others_ns = 0;
	if (thread == NONE)
		return 0;
	at = doings_from(model, thread, t_ns, &end);
	if (at < end && at->start_ns <= t_ns && at->end_ns - at->start_ns > *to_ns - *from_ns) {
		*from_ns = at->start_ns;
		*to_ns = at->end_ns;
	}
	state_sums_of(&sums, doings_from(model, thread, *from_ns, &end), end, *from_ns, *to_ns);
	for (uint32_t kind = 0; kind < DOING_COUNT; kind++)
		*others_ns += sums.by_kind[kind];
	while (n < max) {
		struct state_slot *best = NULL;

		for (uint32_t i = 0; i < sums.n; i++) {
			struct state_slot *slot = &sums.slots[sums.used[i]];

			if (slot->ns && (!best || slot_before(slot, best)))
				best = slot;
		}
		if (!best)
			break;
		out[n++] = states_slot(model, best);
		*others_ns -= best->ns;
		best->ns = 0;
	}
	return n;
}
