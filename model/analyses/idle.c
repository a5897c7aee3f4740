/* SPDX-License-Identifier: MIT */
/*
 * Idle time of a device, and its causes.
 *
 * Definition: a gap is a time between the first and the last work of a device in which it runs
 * neither kernels nor copies. Each instant of a gap has one cause. It is the cause of the work
 * that ends the gap, and follows from what the thread T that launched this work did:
 *
 *  - From the start of its launch on: launch, while T launched and for the moment that work
 *    takes to begin (sweep.h); after that other, because the work waited for something that
 *    tftop does not see. For a blocking copy: copy, because its data is being prepared on the
 *    host.
 *  - Before that, T decides. T waited: sync. T launched other work: launch. T was in an op or
 *    range that fetches batches: input (also if T was in none and other threads fetched, see
 *    sweep.h). T did anything else: host.
 *  - Events were lost at that time, or T is unknown: other.
 *
 * Of the parts of T's stack, the innermost call comes before the op around it. Sums are exact
 * up to the settled line. What T did while the cause was input or host divides this time further
 * (host_time.h). Gaps of GAP_KEPT_NS and more are kept one by one (the last GAPS_MAX);
 * all gaps are added up in buckets of time that widen as the run grows.
 *
 * Source: HTA's host wait and kernel wait, with the causes that the stack of ops reveals.
 */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/host/doings.h"

#define GAP_KEPT_NS 10000
#define GAPS_MAX 16384u
#define BUCKETS_MAX 4096u
#define BUCKET_NS 10000000
#define HOST_MAX 16384u
#define DETAILED 64u	/* how many devices get full lists; further ones get a sixteenth */

struct idle_bucket { int64_t ns[IDLE_COUNT]; };

void idle_release(struct idle_device *idle)
{
	host_time_release(&idle->host);
	free(idle->waits.list);
	free(idle->ring);
	free(idle->buckets);
}

size_t idle_bytes(const struct idle_device *idle)
{
	return idle->ring_cap * sizeof(*idle->ring) + idle->buckets_cap * sizeof(*idle->buckets) +
	       idle->waits.cap * sizeof(*idle->waits.list) + host_time_bytes(&idle->host);
}

/* ---- what is kept ---- */

static size_t kept_max(uint32_t device, size_t most)
{
	return device < DETAILED ? most : most / 16;
}

bool idle_host_dropped(const struct idle_device *idle, uint32_t device)
{
	return idle->host.n == kept_max(device, HOST_MAX);
}

static void ring_add(struct idle_device *idle, const struct idle_gap *gap, size_t max)
{
	if (idle->ring_n < max) {
		grow(&idle->ring, &idle->ring_cap, idle->ring_n, sizeof(*idle->ring));
		idle->ring[idle->ring_n++] = *gap;
		return;
	}
	idle->ring[idle->ring_head] = *gap;
	idle->ring_head = (idle->ring_head + 1) % max;
}

static const struct idle_gap *ring_at(const struct idle_device *idle, size_t i)
{
	return &idle->ring[(idle->ring_head + i) % idle->ring_n];
}

static void idle_widen_buckets(struct idle_device *idle)
{
	for (size_t i = 0; i < idle->buckets_n; i++) {
		struct idle_bucket one = idle->buckets[i];

		if (i % 2)
			for (int c = 0; c < IDLE_COUNT; c++)
				idle->buckets[i / 2].ns[c] += one.ns[c];
		else
			idle->buckets[i / 2] = one;
	}
	idle->buckets_n = (idle->buckets_n + 1) / 2;
	idle->bucket_ns *= 2;
}

static int64_t part_of(int64_t ns, int64_t part, int64_t whole)
{
	return whole > 0 ? (int64_t)((__int128)ns * part / whole) : 0;
}

static void buckets_add(struct idle_device *idle, const struct idle_gap *gap, size_t max)
{
	int64_t length = gap->end_ns - gap->start_ns;

	while ((gap->end_ns - idle->base_ns) / idle->bucket_ns >= (int64_t)max)
		idle_widen_buckets(idle);
	while ((int64_t)idle->buckets_n <= (gap->end_ns - idle->base_ns) / idle->bucket_ns) {
		grow(&idle->buckets, &idle->buckets_cap, idle->buckets_n,
		     sizeof(*idle->buckets));
		memset(&idle->buckets[idle->buckets_n++], 0, sizeof(*idle->buckets));
	}
	for (int64_t from = gap->start_ns; from < gap->end_ns; ) {
		int64_t i = (from - idle->base_ns) / idle->bucket_ns;
		int64_t to = idle->base_ns + (i + 1) * idle->bucket_ns;

		if (to > gap->end_ns)
			to = gap->end_ns;
		for (int c = 0; c < IDLE_COUNT; c++)
			if (gap->ns[c])
				idle->buckets[i].ns[c] += to - from == length ? gap->ns[c] :
					part_of(gap->ns[c], to - from, length);
		from = to;
	}
}

static void idle_commit(struct model *model, struct idle_device *idle, uint32_t device)
{
	const struct idle_gap *gap = &idle->gap;

	host_input_add(model, &idle->host, kept_max(device, HOST_MAX), IDLE_INPUT, &idle->input);
	if (gap->end_ns <= gap->start_ns)
		return;
	for (int c = 0; c < IDLE_COUNT; c++)
		add_ns(&idle->total.ns[c], gap->ns[c]);
	host_time_commit(&idle->host);
	if (gap->end_ns - gap->start_ns >= GAP_KEPT_NS)
		ring_add(idle, gap, kept_max(device, GAPS_MAX));
	buckets_add(idle, gap, kept_max(device, BUCKETS_MAX));
}

/* ---- during the sweep ---- */

static enum idle_cause cause_of_thread(struct slice_sweep *sweep, uint32_t thread)
{
	if (thread >= sweep->n_threads)
		return IDLE_OTHER;
	switch (sweep_state(sweep_thread_at(sweep, thread))) {
	case HOST_SYNC:
		return IDLE_SYNC;
	case HOST_LAUNCH:
		return IDLE_LAUNCH;
	case HOST_INPUT:
		return IDLE_INPUT;
	case HOST_NOTHING:
		return sweep_waits_for_others(sweep) ? IDLE_INPUT : IDLE_HOST;
	default:
		return IDLE_HOST;
	}
}

static bool launches(struct slice_sweep *sweep, uint32_t thread)
{
	return thread < sweep->n_threads &&
	       sweep_state(sweep_thread_at(sweep, thread)) == HOST_LAUNCH;
}

static void add(struct idle_device *idle, enum idle_cause cause, int64_t ns)
{
	if (ns > 0)
		idle->gap.ns[cause] += ns;
}

/* [from_ns, to_ns) before the launch: the cause is what the launching thread does. */
static void count_thread(struct slice_sweep *sweep, struct idle_device *idle, int64_t from_ns,
			 int64_t to_ns)
{
	enum idle_cause cause = cause_of_thread(sweep, idle->thread);
	uint32_t device = (uint32_t)((struct sweep_device *)
		((char *)idle - offsetof(struct sweep_device, idle)) - sweep->devices);
	struct host_input input = { idle->thread, NONE, from_ns, to_ns };

	add(idle, cause, to_ns - from_ns);
	if (cause == IDLE_INPUT)
		host_input_extend(sweep->model, &idle->host, kept_max(device, HOST_MAX), IDLE_INPUT,
				  &idle->input, &input);
	else if (cause == IDLE_HOST)
		host_time_count(sweep->model, &idle->host, kept_max(device, HOST_MAX), IDLE_HOST,
				idle->thread, from_ns, to_ns);
	else
		return;
	/* The processor itself waits for nobody: the report says how busy its cores are instead. */
	if (!device_at(sweep->model, device)->processor)
		doings_wait(sweep->model, &idle->waits, idle->thread, from_ns, to_ns);
}

static void idle_count_piece(struct slice_sweep *sweep, struct idle_device *idle, int64_t t_ns)
{
	int64_t from = idle->from_ns, call = idle->call_ns, moment_ns;

	if (t_ns <= from)
		return;
	idle->from_ns = idle->gap.end_ns = t_ns;
	if (launches(sweep, idle->thread))
		idle->handed_ns = t_ns;
	if (slice_partial(sweep->slice)) {
		add(idle, IDLE_OTHER, t_ns - from);
		return;
	}
	if (call < from)
		call = from;
	if (call > t_ns)
		call = t_ns;
	if (call > from)
		count_thread(sweep, idle, from, call);
	if (idle->copies) {
		add(idle, IDLE_COPY, t_ns - call);
	} else if (t_ns > call) {
		if (idle->handed_ns < idle->call_ns)
			idle->handed_ns = idle->call_ns;
		moment_ns = sweep_moment(sweep, idle->handed_ns, call, t_ns);
		add(idle, IDLE_LAUNCH, moment_ns);
		add(idle, IDLE_OTHER, t_ns - call - moment_ns);
	}
}

static void link_thread(struct slice_sweep *sweep, uint32_t device)
{
	struct idle_device *idle = &sweep->devices[device].idle;
	struct sweep_thread *thread;

	if (idle->thread >= sweep->n_threads)
		return;
	thread = sweep_thread_at(sweep, idle->thread);
	idle->prev = NONE;
	idle->next = thread->devices;
	if (idle->next != NONE)
		sweep->devices[idle->next].idle.prev = device;
	thread->devices = device;
	idle->linked = true;
}

static void unlink_thread(struct slice_sweep *sweep, struct idle_device *idle)
{
	if (!idle->linked)
		return;
	if (idle->prev != NONE)
		sweep->devices[idle->prev].idle.next = idle->next;
	else
		sweep_thread_at(sweep, idle->thread)->devices = idle->next;
	if (idle->next != NONE)
		sweep->devices[idle->next].idle.prev = idle->prev;
	idle->linked = false;
}

void idle_begins(struct model *model, struct slice_sweep *sweep, uint32_t device, int64_t t_ns)
{
	struct idle_device *idle = &sweep->devices[device].idle;
	uint32_t next = sweep->devices[device].next;

	if (!idle->open) {
		idle->gap = (struct idle_gap) { .start_ns = t_ns, .end_ns = t_ns };
		idle->handed_ns = t_ns;
	}
	idle->open = true;
	idle->from_ns = t_ns;
	idle->copies = false;
	idle->call_ns = INT64_MAX;
	if (next != NONE) {
		const struct act *act = &sweep->slice->acts[next];

		idle->thread = act->thread;
		if (act->call_ns)
			idle->call_ns = act->call_ns;
		else if (act->start_ns - idle->gap.start_ns <= sweep->launch_gap_ns)
			idle->call_ns = idle->gap.start_ns;
		idle->copies = act->flags & ACT_BLOCKING && act->direction != DIR_NONE;
	}
	link_thread(sweep, device);
}

void idle_ends(struct model *model, struct slice_sweep *sweep, uint32_t device, int64_t t_ns)
{
	struct idle_device *idle = &sweep->devices[device].idle;

	if (!idle->known) {
		idle->known = true;
		idle->base_ns = idle->total.start_ns = t_ns;
		idle->bucket_ns = BUCKET_NS;
	}
	if (!idle->open)
		return;
	idle_count_piece(sweep, idle, t_ns);
	unlink_thread(sweep, idle);
	idle->open = false;
	idle_commit(model, idle, device);
	doings_waited(model, &idle->waits);
}

void idle_count(struct slice_sweep *sweep, uint32_t thread, int64_t t_ns)
{
	for (uint32_t d = sweep_thread_at(sweep, thread)->devices; d != NONE;
	     d = sweep->devices[d].idle.next)
		idle_count_piece(sweep, &sweep->devices[d].idle, t_ns);
}

void idle_pause(struct slice_sweep *sweep, uint32_t device, int64_t t_ns)
{
	struct idle_device *idle = &sweep->devices[device].idle;

	if (idle->open)
		idle_count_piece(sweep, idle, t_ns);
	unlink_thread(sweep, idle);
}

/* ---- queries ---- */

bool model_idle(struct model *model, uint32_t device, struct idle_gap *out)
{
	const struct sweep_device *known = sweep_device_of(model, device);

	*out = (struct idle_gap) { 0, 0, { 0 } };
	if (!known)
		return false;
	*out = known->idle.total;
	out->end_ns = known->idle.open ? known->idle.gap.start_ns : known->since_ns;
	return true;
}

static void add_part(struct idle_gap *out, const int64_t ns[IDLE_COUNT], int64_t start_ns,
		     int64_t end_ns)
{
	int64_t from = start_ns > out->start_ns ? start_ns : out->start_ns;
	int64_t to = end_ns < out->end_ns ? end_ns : out->end_ns;

	for (int c = 0; c < IDLE_COUNT && to > from; c++)
		out->ns[c] += part_of(ns[c], to - from, end_ns - start_ns);
}

static int64_t sum_of(const struct idle_gap *gap)
{
	int64_t sum = 0;

	for (int c = 0; c < IDLE_COUNT; c++)
		sum += gap->ns[c];
	return sum;
}

/* The first kept gap that ends after t_ns. */
static size_t ring_from(const struct idle_device *idle, int64_t t_ns)
{
	return FIRST_NOT(i, 0, idle->ring_n, ring_at(idle, i)->end_ns <= t_ns);
}

/* Adds the kept gaps within the window; true: all gaps except the short ones are kept. */
static bool kept_within(const struct idle_device *idle, size_t max, struct idle_gap *out)
{
	bool all = idle->ring_n < max || ring_at(idle, 0)->start_ns <= out->start_ns;
	int64_t width = idle->bucket_ns;

	if (idle->open)
		add_part(out, idle->gap.ns, idle->gap.start_ns, idle->gap.end_ns);
	if (all) {
		for (size_t i = ring_from(idle, out->start_ns); i < idle->ring_n &&
		     ring_at(idle, i)->start_ns < out->end_ns; i++)
			add_part(out, ring_at(idle, i)->ns, ring_at(idle, i)->start_ns,
				 ring_at(idle, i)->end_ns);
		return true;
	}
	for (size_t i = 0; i < idle->buckets_n; i++)
		add_part(out, idle->buckets[i].ns, idle->base_ns + (int64_t)i * width,
			 idle->base_ns + (int64_t)(i + 1) * width);
	return false;
}

bool model_idle_window(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		       struct idle_gap *out)
{
	const struct sweep_device *known = sweep_device_of(model, device);
	struct device_row row;
	int64_t idle, sum, unknown = 0;

	*out = (struct idle_gap) { .start_ns = t0, .end_ns = t1 };
	if (!known || !model_device_window(model, device, t0, t1, &row))
		return false;
	idle = t1 - t0 - row.busy_ns;
	/* Nothing is known before its first work and after the last slice. */
	if (known->idle.base_ns > t0)
		unknown += (known->idle.base_ns < t1 ? known->idle.base_ns : t1) - t0;
	if (known->since_ns < t1)
		unknown += t1 - (known->since_ns > t0 ? known->since_ns : t0);
	if (kept_within(&known->idle, kept_max(device, GAPS_MAX), out)) {
		/* The rest is the short gaps, between commands. */
		sum = sum_of(out);
		if (sum < idle && idle - sum > unknown)
			out->ns[IDLE_LAUNCH] += idle - sum - unknown;
	}
	sum = sum_of(out);
	if (sum > idle)
		for (int c = 0; c < IDLE_COUNT; c++)
			out->ns[c] = part_of(out->ns[c], idle > 0 ? idle : 0, sum);
	sum = sum_of(out);
	out->ns[IDLE_OTHER] += idle > sum ? idle - sum : 0;
	return true;
}

size_t model_idle_host(struct model *model, uint32_t device, const struct idle_gap *gap,
		       struct host_time_row **rows)
{
	const struct sweep_device *known = sweep_device_of(model, device);
	struct host_parts parts = { .n = 0 };

	*rows = NULL;
	if (!known)
		return 0;
	if (gap->start_ns <= known->idle.base_ns && gap->end_ns >= known->since_ns)
		parts = known->idle.host.total;
	else
		host_time_within(&known->idle.host, gap->start_ns, gap->end_ns, &parts);
	return host_time_rows(model, &parts, gap->ns, IDLE_COUNT, 1, rows);
}

bool model_idle_at(struct model *model, uint32_t device, int64_t t_ns, struct idle_gap *out)
{
	const struct sweep_device *known = sweep_device_of(model, device);
	const struct idle_device *idle;
	size_t i;

	if (!known)
		return false;
	idle = &known->idle;
	if (idle->open && t_ns >= idle->gap.start_ns && t_ns < idle->gap.end_ns) {
		*out = idle->gap;
		return true;
	}
	i = idle->ring_n ? ring_from(idle, t_ns) : 0;
	if (i >= idle->ring_n || ring_at(idle, i)->start_ns > t_ns)
		return false;
	*out = *ring_at(idle, i);
	return true;
}

enum idle_cause idle_most(const struct idle_gap *gap)
{
	enum idle_cause most = IDLE_INPUT;

	for (int c = 0; c < IDLE_COUNT; c++)
		if (gap->ns[c] > gap->ns[most])
			most = (enum idle_cause)c;
	return most;
}

const char *idle_name(enum idle_cause cause)
{
	static const char *const names[IDLE_COUNT] = {
		"input", "launch", "sync", "copy", "host", "other",
	};

	return (unsigned)cause < IDLE_COUNT ? names[cause] : "";
}
