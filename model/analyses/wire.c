/* SPDX-License-Identifier: MIT */
/*
 * Steps that wait for tensors of other processes.
 *
 * Definition: a message is on the wire from the moment when it is ready (sent and asked for)
 * until it has arrived (model/flows/flows.h). Alone is the part of that time in which the
 * receiving process ran no op: nothing hid it, so the step is longer by that much, unless
 * another message was on the wire at the same time. Ops that last a whole step (the call that
 * runs it) and ops that only wait do not count as work.
 *
 * A better cut: of the ops that the receiver starts right after the message, the first one
 * whose output is smaller than the message. An op whose output is more than CUT_AFTER times
 * smaller is not a layer but a loss, and an op of the backward pass stays with its layer wherever
 * the cut is.
 *
 * Bounds: WIRES_MAX names, RECEIVERS_MAX receiving processes in a slice. Complexity: O(acts *
 * receivers + messages * log acts) for a slice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/base/util.h"
#include "model/core/model.h"
#include "model/flows/flows.h"
#include "model/ops/passes.h"

#define WIRES_MAX 256u
#define RECEIVERS_MAX 64u
#define NEXT_OPS 8u
#define NEXT_LOOK 512u			/* how many acts after a message are examined */
#define CUT_AFTER 256u
#define SAID_MAX 3u

struct next_op {
	uint32_t name;
	uint32_t place;			/* the smallest number of ops before it */
	uint64_t count;
};

struct wire_sums {
	uint32_t name;
	uint64_t count, bytes;
	int64_t wire_ns, alone_ns;
	int64_t t0, t1;			/* start and end of the last message */
	struct next_op next[NEXT_OPS];
};

struct wires {
	struct basis basis;
	struct wire_sums *list;		/* owned */
	size_t n, cap;
};

struct wire_piece { int64_t from_ns, to_ns; };

/* The time in which one process ran ops, in disjoint pieces sorted by time. */
struct wire_busy {
	struct wire_piece *list;		/* owned */
	size_t n, cap;
};

static struct wire_sums *wire_get(struct wires *wires, uint32_t name)
{
	for (size_t i = 0; i < wires->n; i++)
		if (wires->list[i].name == name)
			return &wires->list[i];
	if (wires->n == WIRES_MAX)
		return NULL;
	grow(&wires->list, &wires->cap, wires->n, sizeof(*wires->list));
	wires->list[wires->n] = (struct wire_sums) { .name = name };
	return &wires->list[wires->n++];
}

/* ---- a slice ---- */

static bool works(const struct slice *slice, const struct act *act, uint32_t process)
{
	return act->kind == ACT_OP && act->process == process &&
	       !(act->flags & (ACT_ASYNC | ACT_RANGE)) &&
	       act_end(slice, act) - act_start(slice, act) < (slice->t1 - slice->t0) / 10 * 9;
}

static void wire_gather_busy(struct wire_busy *busy, const struct slice *slice, uint32_t process)
{
	busy->n = 0;
	for (size_t i = 0; i < slice->n; i++) {
		const struct act *act = &slice->acts[i];
		struct wire_piece *last = busy->n ? &busy->list[busy->n - 1] : NULL;

		if (!works(slice, act, process))
			continue;
		if (last && act->start_ns <= last->to_ns) {
			if (act->end_ns > last->to_ns)
				last->to_ns = act->end_ns;
			continue;
		}
		grow(&busy->list, &busy->cap, busy->n, sizeof(*busy->list));
		busy->list[busy->n++] = (struct wire_piece) { act->start_ns, act->end_ns };
	}
}

static int64_t wire_alone_ns(const struct wire_busy *busy, int64_t from_ns, int64_t to_ns)
{
	int64_t ns = to_ns - from_ns;
	size_t low = FIRST_NOT(i, 0, busy->n, busy->list[i].to_ns <= from_ns);

	for (; low < busy->n && busy->list[low].from_ns < to_ns; low++) {
		int64_t from = busy->list[low].from_ns, to = busy->list[low].to_ns;

		ns -= (to < to_ns ? to : to_ns) - (from > from_ns ? from : from_ns);
	}
	return ns > 0 ? ns : 0;
}

static void count_next(struct wire_sums *wire, uint32_t name, uint32_t place)
{
	for (uint32_t i = 0; i < NEXT_OPS; i++) {
		struct next_op *next = &wire->next[i];

		if (next->name && next->name != name)
			continue;
		next->place = next->count && next->place < place ? next->place : place;
		next->name = name;
		next->count++;
		return;
	}
}

/* Finds the ops that the receiver started after the message, each once. */
static void find_next(struct wire_sums *wire, const struct slice *slice,
		      const struct flow_message *message)
{
	size_t at = FIRST_FROM(slice->acts, slice->n, message->end_ns);
	uint32_t seen[NEXT_OPS], n = 0;

	for (size_t end = at + NEXT_LOOK; at < slice->n && at < end && n < NEXT_OPS; at++) {
		const struct act *act = &slice->acts[at];
		bool again = false;

		if (!works(slice, act, message->to) || !act->name ||
		    (message->op && act->op == message->op))
			continue;
		for (uint32_t i = 0; i < n; i++)
			again = again || seen[i] == act->name;
		if (again)
			continue;
		count_next(wire, act->name, n);
		seen[n++] = act->name;
	}
}

static void wire_add_message(struct model *model, struct wires *wires, const struct slice *slice,
			     const struct flow_message *message, const struct wire_busy *busy)
{
	struct wire_sums *wire = wire_get(wires, names_resolve(&model->names, message->name));
	int64_t from_ns = message->ready_ns > slice->t0 ? message->ready_ns : slice->t0;

	if (!wire)
		return;
	wire->count++;
	wire->bytes += message->bytes;
	wire->wire_ns += message->end_ns - from_ns;
	wire->alone_ns += wire_alone_ns(busy, from_ns, message->end_ns);
	wire->t0 = from_ns;
	wire->t1 = message->end_ns;
	find_next(wire, slice, message);
}

static void wire_slice(struct model *model, void *state, const struct slice *slice)
{
	struct wires *wires = state;
	struct flow_message *messages;
	struct wire_busy busy = { .n = 0 };
	size_t n = flows_take(model, slice->t1, &messages);
	uint32_t receivers[RECEIVERS_MAX], n_receivers = 0;
	enum scope scope;

	if (!basis_add(&wires->basis, slice, &scope) || (scope == SCOPE_TIME && wires->basis.steps))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t r = 0;

		while (r < n_receivers && receivers[r] != messages[i].to)
			r++;
		if (r == n_receivers && r < RECEIVERS_MAX)
			receivers[n_receivers++] = messages[i].to;
	}
	for (uint32_t r = 0; r < n_receivers; r++) {
		wire_gather_busy(&busy, slice, receivers[r]);
		for (size_t i = 0; i < n; i++)
			if (messages[i].to == receivers[r] && messages[i].end_ns >= slice->t0)
				wire_add_message(model, wires, slice, &messages[i], &busy);
		model_breathe(model);
	}
	free(busy.list);
	free(messages);
}

/* ---- findings ---- */

static bool goes_backward(struct model *model, uint32_t op_name)
{
	const char *name = names_raw(&model->names, op_name);
	char base[PASS_BASE_MAX];

	return name && pass_of(name, base, sizeof(base)) == PASS_BACKWARD;
}

/* The first op after the message that makes less of its data; NULL: none, or unknown. */
static const struct next_op *better_cut(struct model *model, const struct wire_sums *wire,
					uint64_t *bytes)
{
	uint64_t tensor = wire->count ? wire->bytes / wire->count : 0;
	const struct next_op *best = NULL;

	for (uint32_t i = 0; i < NEXT_OPS; i++) {
		const struct next_op *next = &wire->next[i];
		uint64_t made = next->name ? flows_made(model, next->name) : 0;

		/* it must be there in nearly all steps, or it only happened to come then */
		if (!made || made >= tensor || made < tensor / CUT_AFTER ||
		    next->count * 10 < wire->count * 9 || goes_backward(model, next->name))
			continue;
		if (!best || next->place < best->place) {
			best = next;
			*bytes = made;
		}
	}
	return best;
}

static void say_times(const struct model *model, const struct wires *wires,
		      const struct wire_sums *wire, struct finding *finding,
		      const struct flow_total *total)
{
	int64_t wire_ns = wire->wire_ns / (int64_t)wire->count;
	uint64_t bytes = wire->bytes / wire->count;
	char per[FMT_MAX], rate[FMT_MAX], p50[FMT_MAX], encode[FMT_MAX], decode[FMT_MAX];

	snprintf(finding->lines[0], FINDING_TEXT,
		 "%s on the wire %s (%s); the median time from send to receive is %s",
		 fmt_time(per, basis_per(&wires->basis, wire->wire_ns)),
		 basis_word(model, &wires->basis), fmt_rate(rate, bytes_per_s(bytes, wire_ns)),
		 fmt_time(p50, hist_percentile(&total->latency, 500)));
	if (total->encoded && total->decoded)
		snprintf(finding->lines[1], FINDING_TEXT, "encoding each takes %s, decoding it %s",
			 fmt_time(encode, total->encode_ns / (int64_t)total->encoded),
			 fmt_time(decode, total->decode_ns / (int64_t)total->decoded));
}

static void wire_report(struct model *model, const struct wires *wires,
			const struct wire_sums *wire, struct findings *findings)
{
	struct flow_name name = flow_name(model, wire->name);
	int64_t cost_ns = basis_cost(&wires->basis, wire->alone_ns);
	uint64_t per_step = basis_count(&wires->basis, wire->bytes), made = 0;
	const struct next_op *cut = better_cut(model, wire, &made);
	const struct flow_total *total = flow_total_of(model, wire->name);
	struct finding finding = {
		.id = "wire-bound", .subject = wire->name, .cost_ns = cost_ns,
		.severity = per_mille(cost_ns, basis_whole(&wires->basis)) >= 200 ?
			    SEVERITY_WARNING : SEVERITY_NOTE,
		.evidence = { .kind = EVIDENCE_TIME, .t0 = wire->t0, .t1 = wire->t1 },
	};
	const char *what = names_raw(&model->names, name.what);
	const char *to = names_raw(&model->names, name.destination);
	char bytes[FMT_MAX], less[FMT_MAX];

	snprintf(finding.title, FINDING_TEXT,
		 "wire-bound: %.80s carries %s %s to %.60s, which waits for it",
		 what ? what : "a tensor", fmt_all_bytes(bytes, per_step),
		 basis_word(model, &wires->basis), to ? to : "another process");
	if (total)
		say_times(model, wires, wire, &finding, total);
	snprintf(finding.advice, FINDING_TEXT,
		 "send less (a smaller cut, a smaller type), or give the receiver other work "
		 "meanwhile");
	if (cut) {
		snprintf(finding.lines[2], FINDING_TEXT,
			 "%.80s, which the receiver runs next, reduces it to %s",
			 names_short(&model->names, cut->name), fmt_all_bytes(less, made));
		snprintf(finding.advice, FINDING_TEXT,
			 "cut after %.80s instead: %s %s on the wire instead of %s",
			 names_short(&model->names, cut->name),
			 fmt_all_bytes(less, basis_count(&wires->basis, made * wire->count)),
			 basis_word(model, &wires->basis), bytes);
	}
	finding_add(findings, &finding);
}

static int by_alone(const void *a, const void *b)
{
	const struct wire_sums *x = *(const struct wire_sums *const *)a;
	const struct wire_sums *y = *(const struct wire_sums *const *)b;

	return (x->alone_ns < y->alone_ns) - (x->alone_ns > y->alone_ns);
}

static void wire_review_one(struct model *model, void *state, struct findings *findings)
{
	const struct wires *wires = state;
	int64_t least = model_threshold(model, THRESHOLD_WIRE_SHARE) * 10;
	const struct wire_sums *order[WIRES_MAX];

	if (!basis_ready(model, &wires->basis))
		return;
	for (size_t i = 0; i < wires->n; i++)
		order[i] = &wires->list[i];
	qsort(order, wires->n, sizeof(order[0]), by_alone);
	for (size_t i = 0; i < wires->n && i < SAID_MAX; i++)
		if (order[i]->alone_ns && order[i]->bytes &&
		    per_mille(basis_per(&wires->basis, order[i]->alone_ns),
			      basis_whole(&wires->basis)) >= least)
			wire_report(model, wires, order[i], findings);
}

static void wire_release(void *state)
{
	free(((struct wires *)state)->list);
}

static size_t wire_bytes(const void *state)
{
	return ((const struct wires *)state)->cap * sizeof(struct wire_sums);
}

const struct analysis analysis_wire = {
	.name = "wire", .size = sizeof(struct wires), .release = wire_release,
	.per_step = true,
	.slice = wire_slice, .review = wire_review_one, .bytes = wire_bytes,
};

void wire_of(struct model *model, uint32_t name, uint64_t *bytes_per_step,
	     int64_t *alone_ns_per_step)
{
	const struct wires *wires = analysis_state(model, ANALYSIS_WIRE);

	*bytes_per_step = 0;
	*alone_ns_per_step = 0;
	for (size_t i = 0; i < wires->n && wires->basis.steps; i++) {
		if (wires->list[i].name != name)
			continue;
		*bytes_per_step = basis_count(&wires->basis, wires->list[i].bytes);
		*alone_ns_per_step = basis_per(&wires->basis, wires->list[i].alone_ns);
	}
}
