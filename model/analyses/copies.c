/* SPDX-License-Identifier: MIT */
/*
 * Copies that a device waits for, and copies that are not needed.
 *
 * Definitions:
 *  - exposed: the time of a copy in which no kernel runs on its device and no earlier copy is
 *    still going on. Hiding all copies of a direction behind kernels saves at most their
 *    exposed time, which is the cost of "copy-bound".
 *  - unused: a copy to or from a place in memory (object and offset) that was copied just
 *    before with the same direction and size, while nothing but copies of the same direction
 *    ran on the device in between. The first of two such uploads was overwritten before
 *    anything could read it; the second of two such downloads brought what was there already.
 *    Copies with a kernel between them may be necessary (another batch in the same buffer) and
 *    are not reported.
 *  - round trip: a place is copied to the host and, later in the same step, as many bytes are
 *    copied back to it.
 *
 * Complexity: O(n log n) for a slice (a sort of its copies), the rest is one pass; the look at
 * what lies between two copies ends after BETWEEN_MAX acts. Memory: WAYS_MAX + HABITS_MAX fixed
 * entries; further ones are not looked at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/base/util.h"
#include "model/core/model.h"

#define WAYS_MAX 64u
#define HABITS_MAX 64u
#define BETWEEN_MAX 256u
#define RATE_BYTES 65536u		/* smaller copies say little about the bus */

struct copies_place {				/* where the costliest copy was */
	int64_t t0, t1, cost_ns;
	uint32_t row;
};

/* One direction of one device. */
struct copies_way {
	uint32_t device;
	uint8_t direction;
	struct {
		int64_t ns, exposed_ns;
		uint64_t bytes, count, plain;	/* plain: copies whose host memory is not pinned */
	} sum[SCOPE_COUNT];
	uint64_t best;			/* bytes/s of the fastest copy */
	uint32_t before;		/* the op or kernel that mostly comes next ... */
	int64_t weight_ns;		/* ... by majority vote, weighted by exposed time */
	struct copies_place place;
};

enum habit_kind { HABIT_UNUSED, HABIT_ROUND_TRIP };

/* Unneeded copies of one kind, size and op. */
struct habit {
	uint8_t kind, direction;
	uint32_t op_name;
	uint64_t bytes;
	struct { int64_t ns; uint64_t count; } sum[SCOPE_COUNT];
	struct copies_place place;
};

struct copies {
	struct basis basis;
	struct copies_way ways[WAYS_MAX];
	uint32_t n_ways;
	struct habit habits[HABITS_MAX];
	uint32_t n_habits;
};

/* ---- exposed time ---- */

struct span_ns { int64_t start_ns, end_ns; };

/* A slice's copies of one device, and when kernels ran on it. */
struct copies_sweep {
	const struct slice *slice;
	const uint32_t *runs;		/* borrowed; indices of its runs in the slice */
	size_t n_runs;
	struct span_ns *busy;		/* owned; union of kernels */
	size_t n_busy;
	int64_t *exposed;		/* borrowed; by index in the slice */
};

static void copies_gather_busy(struct copies_sweep *sweep)
{
	sweep->busy = xreallocarray(NULL, sweep->n_runs, sizeof(*sweep->busy));
	sweep->n_busy = 0;
	for (size_t i = 0; i < sweep->n_runs; i++) {
		const struct act *act = &sweep->slice->acts[sweep->runs[i]];
		struct span_ns span = {
			act_start(sweep->slice, act), act_end(sweep->slice, act),
		};

		if (!act_is_kernel(act) || span.end_ns <= span.start_ns)
			continue;
		if (sweep->n_busy && span.start_ns <= sweep->busy[sweep->n_busy - 1].end_ns) {
			if (span.end_ns > sweep->busy[sweep->n_busy - 1].end_ns)
				sweep->busy[sweep->n_busy - 1].end_ns = span.end_ns;
		} else {
			sweep->busy[sweep->n_busy++] = span;
		}
	}
}

static void find_exposed(struct copies_sweep *sweep)
{
	int64_t done_ns = INT64_MIN;
	size_t at = 0;

	for (size_t i = 0; i < sweep->n_runs; i++) {
		const struct act *act = &sweep->slice->acts[sweep->runs[i]];
		int64_t start_ns = act_start(sweep->slice, act);
		int64_t end_ns = act_end(sweep->slice, act), left;

		if (!act_is_copy(act))
			continue;
		if (start_ns < done_ns)
			start_ns = done_ns;
		if (end_ns <= start_ns)
			continue;
		done_ns = end_ns;
		left = end_ns - start_ns;
		while (at < sweep->n_busy && sweep->busy[at].end_ns <= start_ns)
			at++;
		for (size_t k = at; k < sweep->n_busy && sweep->busy[k].start_ns < end_ns; k++) {
			const struct span_ns *busy = &sweep->busy[k];

			left -= (busy->end_ns < end_ns ? busy->end_ns : end_ns) -
				(busy->start_ns > start_ns ? busy->start_ns : start_ns);
		}
		sweep->exposed[sweep->runs[i]] = left;
	}
}

/* ---- ways ---- */

static struct copies_way *way_get(struct copies *copies, uint32_t device, uint8_t direction)
{
	for (uint32_t i = 0; i < copies->n_ways; i++)
		if (copies->ways[i].device == device && copies->ways[i].direction == direction)
			return &copies->ways[i];
	if (copies->n_ways == WAYS_MAX)
		return NULL;
	copies->ways[copies->n_ways] = (struct copies_way) {
		.device = device, .direction = direction,
	};
	return &copies->ways[copies->n_ways++];
}

static void note_place(struct copies_place *place, const struct act *act, int64_t cost_ns)
{
	if (cost_ns > place->cost_ns)
		*place = (struct copies_place) { act->start_ns, act->end_ns, cost_ns, act->row };
}

/* Finds what most of the exposed time comes before: one pass of majority vote (Boyer and Moore
 * 1981). */
static void vote(struct copies_way *way, uint32_t name, int64_t exposed_ns)
{
	if (way->before == name) {
		way->weight_ns += exposed_ns;
	} else if (exposed_ns > way->weight_ns) {
		way->before = name;
		way->weight_ns = exposed_ns - way->weight_ns;
	} else {
		way->weight_ns -= exposed_ns;
	}
}

static void add_copy(struct copies *copies, const struct copies_sweep *sweep, enum scope scope,
		     const struct act *act, int64_t exposed_ns, uint32_t next_name)
{
	struct copies_way *way = way_get(copies, act->device, act->direction);
	int64_t ns = act_end(sweep->slice, act) - act_start(sweep->slice, act);
	uint64_t rate = bytes_per_s(act->amount, act->end_ns - act->start_ns);

	if (!way)
		return;
	if (ns > 0)
		way->sum[scope].ns += ns;
	way->sum[scope].exposed_ns += exposed_ns;
	if (act_counts(sweep->slice, act)) {
		way->sum[scope].count++;
		way->sum[scope].bytes += act->amount;
		way->sum[scope].plain += !(act->flags & ACT_PINNED);
	}
	if (act->amount >= RATE_BYTES && rate > way->best)
		way->best = rate;
	if (exposed_ns > 0) {
		note_place(&way->place, act, exposed_ns);
		vote(way, next_name, exposed_ns);
	}
}

/* Goes backwards, so that the next kernel is known. */
static void add_copies(struct copies *copies, const struct copies_sweep *sweep, enum scope scope)
{
	uint32_t next = 0;

	for (size_t i = sweep->n_runs; i-- > 0; ) {
		const struct act *act = &sweep->slice->acts[sweep->runs[i]];

		if (act_is_copy(act))
			add_copy(copies, sweep, scope, act, sweep->exposed[sweep->runs[i]], next);
		else
			next = act->op_name ? act->op_name : act->name;
	}
}

/* ---- habits ---- */

/* A copy, for the search for equal ones. */
struct copies_moved {
	uint64_t bytes;
	uint32_t process, object, at;	/* at: index in the slice */
};

static int by_place(const void *a, const void *b)
{
	const struct copies_moved *x = a, *y = b;

	return ASCENDING(x, y, process) ?: ASCENDING(x, y, object) ?: ASCENDING(x, y, bytes) ?:
	       ASCENDING(x, y, at);
}

static bool same_place(const struct copies_moved *a, const struct copies_moved *b)
{
	return a->process == b->process && a->object == b->object && a->bytes == b->bytes;
}

/* Whether anything ran between two acts of the slice that could have read or
 * changed what they copied. */
static bool used_between(const struct slice *slice, uint32_t first, uint32_t second)
{
	const struct act *copy = &slice->acts[first];

	if (second - first > BETWEEN_MAX)
		return true;
	for (uint32_t i = first + 1; i < second; i++) {
		const struct act *act = &slice->acts[i];

		if (act->kind == ACT_RUN && act->device == copy->device &&
		    !(act_is_copy(act) && act->direction == copy->direction))
			return true;
	}
	/* Runs that started before the first act and ended after it may have used the data, too. */
	for (uint32_t i = first; i-- > 0 && first - i < BETWEEN_MAX; ) {
		const struct act *act = &slice->acts[i];

		if (act->kind == ACT_RUN && act->device == copy->device && act_is_kernel(act) &&
		    act->end_ns > copy->end_ns)
			return true;
	}
	return false;
}

static void add_habit(struct copies *copies, enum habit_kind kind, enum scope scope,
		      const struct act *act, int64_t cost_ns)
{
	struct habit *habit = NULL;

	for (uint32_t i = 0; i < copies->n_habits && !habit; i++) {
		struct habit *one = &copies->habits[i];

		if (one->kind == kind && one->direction == act->direction &&
		    one->op_name == act->op_name && one->bytes == act->amount)
			habit = one;
	}
	if (!habit) {
		if (copies->n_habits == HABITS_MAX)
			return;
		habit = &copies->habits[copies->n_habits++];
		*habit = (struct habit) {
			.kind = (uint8_t)kind, .direction = act->direction,
			.op_name = act->op_name, .bytes = act->amount,
		};
	}
	habit->sum[scope].count++;
	habit->sum[scope].ns += cost_ns;
	note_place(&habit->place, act, cost_ns);
}

/* The copies of one place, in the order in which they ran. */
static void look_at_place(struct copies *copies, const struct slice *slice, enum scope scope,
			  const struct copies_moved *list, size_t n, const int64_t *exposed)
{
	bool home = false;		/* it has been copied to the host and not back since */
	int64_t home_ns = 0;

	for (size_t i = 0; i < n; i++) {
		const struct act *act = &slice->acts[list[i].at];
		const struct act *before = i ? &slice->acts[list[i - 1].at] : NULL;

		if (before && before->direction == act->direction &&
		    (act->direction == DIR_H2D || act->direction == DIR_D2H) &&
		    !used_between(slice, list[i - 1].at, list[i].at))
			add_habit(copies, HABIT_UNUSED, scope, act, exposed[list[i].at]);
		if (act->direction == DIR_D2H) {
			home = true;
			home_ns = exposed[list[i].at];
		} else if (act->direction == DIR_H2D && home) {
			add_habit(copies, HABIT_ROUND_TRIP, scope, act,
				  home_ns + exposed[list[i].at]);
			home = false;
		}
	}
}

static void find_habits(struct copies *copies, const struct slice *slice, enum scope scope,
			const int64_t *exposed, size_t n_copies)
{
	struct copies_moved *list = xcalloc(n_copies, sizeof(*list));
	size_t n = 0, end;

	for (size_t i = 0; i < slice->n_runs && n < n_copies; i++) {
		const struct act *act = &slice->acts[slice->runs[i]];

		if (act_is_copy(act) && act->object && act->amount && act->start_ns >= slice->t0)
			list[n++] = (struct copies_moved) {
				.bytes = act->amount, .process = act->process,
				.object = act->object, .at = slice->runs[i],
			};
	}
	if (n > 1)
		qsort(list, n, sizeof(*list), by_place);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && same_place(&list[i], &list[end]); end++)
			;
		if (end - i > 1)
			look_at_place(copies, slice, scope, &list[i], end - i, exposed);
	}
	free(list);
}

/* ---- a slice ---- */

/* Examines each device in turn, named by the first of its runs that was not examined yet. */
static void look_at_devices(struct copies *copies, const struct slice *slice, enum scope scope,
			    int64_t *exposed)
{
	uint32_t *runs = xreallocarray(NULL, slice->n_runs, sizeof(*runs));
	uint32_t done[WAYS_MAX], n_done = 0;

	for (size_t i = 0; i < slice->n_runs && n_done < WAYS_MAX; i++) {
		const struct act *first = &slice->acts[slice->runs[i]];
		struct copies_sweep sweep = { .slice = slice, .runs = runs, .exposed = exposed };
		uint32_t device = first->device, k = 0;

		if (!act_is_copy(first))
			continue;
		while (k < n_done && done[k] != device)
			k++;
		if (k < n_done)
			continue;
		done[n_done++] = device;
		for (size_t r = 0; r < slice->n_runs; r++)
			if (slice->acts[slice->runs[r]].device == device)
				runs[sweep.n_runs++] = slice->runs[r];
		copies_gather_busy(&sweep);
		find_exposed(&sweep);
		add_copies(copies, &sweep, scope);
		free(sweep.busy);
	}
	free(runs);
}

static void copies_slice(struct model *model, void *state, const struct slice *slice)
{
	struct copies *copies = state;
	size_t n_copies = 0;
	int64_t *exposed;
	enum scope scope;

	(void)model;
	if (!basis_add(&copies->basis, slice, &scope))
		return;
	for (size_t i = 0; i < slice->n_runs; i++)
		n_copies += act_is_copy(&slice->acts[slice->runs[i]]);
	if (!n_copies)
		return;
	exposed = xcalloc(slice->n, sizeof(*exposed));
	look_at_devices(copies, slice, scope, exposed);
	find_habits(copies, slice, scope, exposed, n_copies);
	free(exposed);
}

/* ---- findings ---- */

static const char *from_to(uint8_t direction)
{
	static const char *const words[DIR_COUNT] = {
		[DIR_H2D] = "host→device", [DIR_D2H] = "device→host",
		[DIR_D2D] = "device→device", [DIR_P2P] = "between devices",
		[DIR_H2H] = "host→host", [DIR_FILL] = "filled on the device",
		[DIR_MAP] = "mapped", [DIR_UNMAP] = "unmapped", [DIR_SEND] = "sent",
		[DIR_RECV] = "received",
	};

	return direction < DIR_COUNT && words[direction] ? words[direction] : "copied";
}

static bool has_host_memory(uint8_t direction)
{
	return direction == DIR_H2D || direction == DIR_D2H;
}

/* Copies from one place in host memory to another: nothing is pinned, and there is no separate
 * queue. */
static bool by_processor(const struct model *model, const struct copies_way *way)
{
	return way->device < model->devices.n && device_at(model, way->device)->processor;
}

static void way_lines(const struct model *model, struct finding *finding,
		      const struct copies_way *way, const struct basis *basis,
		      enum scope scope, bool processor)
{
	char time[FMT_MAX], hidden[FMT_MAX], best[FMT_MAX], times[FMT_MAX];
	int64_t ns = way->sum[scope].ns, exposed_ns = way->sum[scope].exposed_ns;

	fmt_time(time, basis_per(basis, ns));
	if (basis_per(basis, ns - exposed_ns))
		fmt_time(hidden, basis_per(basis, ns - exposed_ns));
	else
		snprintf(hidden, sizeof(hidden), "none");
	snprintf(finding->lines[0], FINDING_TEXT,
		 "%s %s in %s copies, %s of it while a kernel runs", time,
		 basis_word(model, basis), basis_times(times, basis, way->sum[scope].count),
		 hidden);
	if (way->best)
		snprintf(finding->lines[1], FINDING_TEXT, "the fastest of them reached %s",
			 fmt_rate(best, way->best));
	if (processor)
		snprintf(finding->advice, FINDING_TEXT,
			 "make the data where it is used, or copy it there once, before the loop");
	else if (!has_host_memory(way->direction))
		snprintf(finding->advice, FINDING_TEXT,
			 "copy on another queue to hide it, or make fewer passes over the data");
	else if (way->sum[scope].plain)
		snprintf(finding->advice, FINDING_TEXT,
			 "use pinned memory, or copy on another queue during the previous %s, to "
			 "hide it", step_noun(steps_are_passes(model)));
	else
		snprintf(finding->advice, FINDING_TEXT,
			 "copy on another queue during the previous %s to hide it",
			 step_noun(steps_are_passes(model)));
}

/* A pointer into the program itself must not be in a model that is kept (image.h). */
static const char *direction_key(struct model *model, enum direction direction)
{
	return names_raw(&model->names, names_intern(&model->names, direction_name(direction)));
}

static void way_finding(struct model *model, const struct copies *copies,
			const struct copies_way *way, struct findings *findings)
{
	const struct basis *basis = &copies->basis;
	enum scope scope = basis_scope(basis);
	bool processor = by_processor(model, way);
	char bytes[FMT_MAX], rate[FMT_MAX], before[100] = "";
	struct finding finding = {
		.id = "copy-bound", .subject = way->device << 4 | way->direction,
		.severity = SEVERITY_WARNING,
		.cost_ns = basis_cost(basis, way->sum[scope].exposed_ns),
		.evidence = {
			.kind = EVIDENCE_COPIES, .t0 = way->place.t0, .t1 = way->place.t1,
			.row = way->place.row, .key = direction_key(model, way->direction),
		},
	};

	/* Copies that are not needed have a finding of their own. */
	if (way->direction == DIR_H2D && basis->steps)
		finding.cost_ns -= same_data_run_ns(model, way->device);
	if (finding.cost_ns <= 0 || per_mille(finding.cost_ns, basis_whole(basis)) <
	    model_threshold(model, THRESHOLD_COPY_SHARE) * 10)
		return;
	if (way->before)
		snprintf(before, sizeof(before), ", before %.80s",
			 names_short(&model->names, way->before));
	fmt_all_bytes(bytes, (uint64_t)basis_per(basis, (int64_t)way->sum[scope].bytes));
	fmt_rate(rate, bytes_per_s(way->sum[scope].bytes, way->sum[scope].ns));
	snprintf(finding.title, FINDING_TEXT, "copy on the critical path: %s %s %s%s%s (%s)",
		 bytes, processor ? "copied by the processor" : from_to(way->direction),
		 basis_word(model, basis), processor || !has_host_memory(way->direction) ? "" :
		 way->sum[scope].plain ? ", pageable" : ", pinned", before, rate);
	way_lines(model, &finding, way, basis, scope, processor);
	finding_add(findings, &finding);
}

static void habit_words(struct model *model, const struct copies *copies,
			const struct habit *habit, struct finding *finding)
{
	const struct basis *basis = &copies->basis;
	char bytes[FMT_MAX], times[FMT_MAX], op[100] = "";

	if (habit->op_name)
		snprintf(op, sizeof(op), ", by %.80s", names_short(&model->names, habit->op_name));
	fmt_all_bytes(bytes, habit->bytes);
	basis_times(times, basis, habit->sum[basis_scope(basis)].count);
	if (habit->kind == HABIT_UNUSED) {
		snprintf(finding->title, FINDING_TEXT,
			 "repeated copy: the same %s %s, %s times more than needed %s%s", bytes,
			 from_to(habit->direction), times, basis_word(model, basis), op);
		snprintf(finding->lines[0], FINDING_TEXT,
			 "nothing ran on the device between one copy of this memory and the next");
		snprintf(finding->advice, FINDING_TEXT, "copy it once");
	} else {
		snprintf(finding->title, FINDING_TEXT,
			 "round trip: %s device→host and back, %s times %s%s", bytes, times,
			 basis_word(model, basis), op);
		snprintf(finding->lines[0], FINDING_TEXT,
			 "the host reads the memory and writes it back within one %s",
			 step_noun(steps_are_passes(model)));
		snprintf(finding->advice, FINDING_TEXT,
			 "do on the device what the host does with the data");
	}
}

static void habit_finding(struct model *model, const struct copies *copies,
			  const struct habit *habit, struct findings *findings)
{
	const struct basis *basis = &copies->basis;
	struct finding finding = {
		.subject = (uint32_t)(habit - copies->habits), .severity = SEVERITY_WARNING,
		.cost_ns = basis_cost(basis, habit->sum[basis_scope(basis)].ns),
		.evidence = {
			.kind = EVIDENCE_COPIES, .t0 = habit->place.t0, .t1 = habit->place.t1,
			.row = habit->place.row, .key = direction_key(model, habit->direction),
		},
	};

	if (per_mille(finding.cost_ns, basis_whole(basis)) <
	    model_threshold(model, THRESHOLD_REPEAT_SHARE) * 10)
		return;
	snprintf(finding.id, sizeof(finding.id), "%s",
		 habit->kind == HABIT_UNUSED ? "repeated-copy" : "round-trip");
	habit_words(model, copies, habit, &finding);
	finding_add(findings, &finding);
}

static void copies_review(struct model *model, void *state, struct findings *findings)
{
	const struct copies *copies = state;

	if (!basis_ready(model, &copies->basis))
		return;
	for (uint32_t i = 0; i < copies->n_ways; i++)
		way_finding(model, copies, &copies->ways[i], findings);
	for (uint32_t i = 0; i < copies->n_habits; i++)
		habit_finding(model, copies, &copies->habits[i], findings);
}

const struct analysis analysis_copies = {
	.name = "copies", .size = sizeof(struct copies),
	.per_step = true,
	.slice = copies_slice, .review = copies_review,
};
