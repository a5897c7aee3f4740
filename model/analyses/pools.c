/* SPDX-License-Identifier: MIT */
/*
 * Ops that wait for a thread of a pool while cores are unused.
 *
 * Definition: an op waits from the moment it was handed to a pool until a thread took it. A
 * pool is held while ops of it wait and each of its threads runs one (the time to wake a thread
 * is not included). A pool of n threads on a machine with more cores could have more threads.
 * With k ops waiting, k more threads would make the held time shorter by k / (n + k) of it,
 * which is the cost; k is at most the number of unused cores. A pool with a thread for each
 * core is never reported.
 *
 * Bounds: POOLS_MAX pools, WAITERS_MAX ops listed by name. Complexity: O(n log n) for a slice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/base/util.h"
#include "model/core/model.h"
#include "model/ops/pools.h"

#define POOLS_MAX 16u
#define WAITERS_MAX 256u

struct pools_waiter {
	uint32_t name, row;
	int64_t wait_ns, longest_ns, t0, t1;
};

struct pools_pool {
	uint32_t process, name;		/* process and name of its threads */
	uint32_t threads, cores;	/* as last seen */
	int64_t held_ns[SCOPE_COUNT], cost_ns[SCOPE_COUNT], wait_ns[SCOPE_COUNT];
	uint64_t handed[SCOPE_COUNT];
	struct pools_waiter waiters[WAITERS_MAX];
	uint32_t n_waiters;
};

struct pools_change { int64_t at_ns; int8_t waiting, running; };

struct pools_state {
	struct basis basis;
	struct pools_pool *list[POOLS_MAX];	/* owned */
	uint32_t n;
	struct pools_change *changes;		/* owned */
	size_t n_changes, cap_changes;
	int64_t *until_ns;		/* owned; for each thread the end of its outermost op */
	uint32_t n_threads;
};

/* ---- pools ---- */

static uint32_t pool_name(struct model *model, uint32_t thread)
{
	return names_resolve(&model->names, thread_at(model, thread)->name);
}

static struct pools_pool *pool_of(struct model *model, struct pools_state *s, const struct act *act)
{
	uint32_t name = pool_name(model, act->thread);
	struct pools_pool *pool;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->list[i]->process == act->process && s->list[i]->name == name)
			return s->list[i];
	if (!name || s->n == POOLS_MAX)
		return NULL;
	pool = xcalloc(1, sizeof(*pool));
	pool->process = act->process;
	pool->name = name;
	s->list[s->n++] = pool;
	return pool;
}

static bool was_handed(const struct act *act)
{
	return act->kind == ACT_OP && act->call_ns && act->thread != NONE;
}

static void add_waiter(struct pools_pool *pool, const struct act *act)
{
	int64_t wait_ns = act->start_ns - act->call_ns;
	struct pools_waiter *w = pool->waiters;
	uint32_t i = 0;

	while (i < pool->n_waiters && w[i].name != act->name)
		i++;
	if (i == WAITERS_MAX)
		return;
	if (i == pool->n_waiters)
		w[pool->n_waiters++] = (struct pools_waiter) { .name = act->name };
	add_ns(&w[i].wait_ns, wait_ns);
	if (wait_ns <= w[i].longest_ns)
		return;
	w[i].longest_ns = wait_ns;
	w[i].t0 = act->call_ns;
	w[i].t1 = act->start_ns;
	w[i].row = act->row;
}

/* ---- a slice ---- */

static void put(struct pools_state *s, const struct slice *slice, int64_t from_ns, int64_t to_ns,
		bool waiting)
{
	from_ns = from_ns < slice->t0 ? slice->t0 : from_ns;
	to_ns = to_ns > slice->t1 ? slice->t1 : to_ns;
	if (from_ns >= to_ns)
		return;
	grow(&s->changes, &s->cap_changes, s->n_changes + 1, sizeof(*s->changes));
	s->changes[s->n_changes++] = (struct pools_change) { from_ns, waiting, !waiting };
	s->changes[s->n_changes++] = (struct pools_change) {
		to_ns, -(int8_t)waiting, -(int8_t)!waiting,
	};
}

/* Gathers the waits of the pool's ops, and what its threads ran (outermost ops only). */
static void pools_gather_changes(struct model *model, struct pools_state *s,
				 const struct slice *slice, struct pools_pool *pool,
				 enum scope scope)
{
	s->n_changes = 0;
	for (uint32_t i = 0; i < s->n_threads; i++)
		s->until_ns[i] = INT64_MIN;
	for (size_t i = 0; i < slice->n; i++) {
		const struct act *act = &slice->acts[i];

		if (act->kind != ACT_OP || act->process != pool->process || act->thread == NONE ||
		    pool_name(model, act->thread) != pool->name)
			continue;
		if (was_handed(act))
			put(s, slice, act->call_ns, act->start_ns, true);
		if (was_handed(act) && act_counts(slice, act)) {
			pool->handed[scope]++;
			add_ns(&pool->wait_ns[scope], act->start_ns - act->call_ns);
			add_waiter(pool, act);
		}
		if ((act->flags & ACT_ASYNC) || act->thread >= s->n_threads ||
		    act->start_ns < s->until_ns[act->thread])
			continue;
		s->until_ns[act->thread] = act->end_ns;
		put(s, slice, act->start_ns, act->end_ns, false);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct pools_change *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static void pools_sweep_changes(struct pools_state *s, struct pools_pool *pool, enum scope scope)
{
	int64_t waiting = 0, running = 0, last_ns = 0;

	qsort(s->changes, s->n_changes, sizeof(*s->changes), by_time);
	for (size_t i = 0; i < s->n_changes; i++) {
		const struct pools_change *c = &s->changes[i];
		int64_t more = pool->cores - pool->threads, ns = c->at_ns - last_ns;

		more = waiting < more ? waiting : more;
		if (more > 0 && running >= pool->threads) {
			add_ns(&pool->held_ns[scope], ns);
			add_ns(&pool->cost_ns[scope], ns * more / (pool->threads + more));
		}
		waiting += c->waiting;
		running += c->running;
		last_ns = c->at_ns;
	}
}

static void pools_slice(struct model *model, void *state, const struct slice *slice)
{
	struct pools_state *s = state;
	enum scope scope;

	if (!basis_add(&s->basis, slice, &scope) || (scope == SCOPE_TIME && s->basis.steps))
		return;
	if (s->n_threads < model->threads.n) {
		s->n_threads = model->threads.n;
		s->until_ns = xreallocarray(s->until_ns, s->n_threads, sizeof(*s->until_ns));
	}
	for (size_t i = 0; i < slice->n; i++)
		if (was_handed(&slice->acts[i]))
			pool_of(model, s, &slice->acts[i]);
	for (uint32_t i = 0; i < s->n; i++) {
		struct pools_pool *pool = s->list[i];

		pool->cores = processor_cores(model, pool->process);
		pool->threads = pools_threads(model, pool->process, pool->name);
		if (!pool->threads || pool->threads >= pool->cores)
			continue;
		pools_gather_changes(model, s, slice, pool, scope);
		pools_sweep_changes(s, pool, scope);
		model_breathe(model);
	}
}

/* ---- findings ---- */

static const struct pools_waiter *pools_longest_waiter(const struct pools_pool *pool)
{
	const struct pools_waiter *most = NULL;

	for (uint32_t i = 0; i < pool->n_waiters; i++)
		if (!most || pool->waiters[i].wait_ns > most->wait_ns)
			most = &pool->waiters[i];
	return most;
}

static void pools_report(struct model *model, const struct basis *basis,
			 const struct pools_pool *pool, struct findings *findings)
{
	enum scope scope = basis_scope(basis);
	const struct pools_waiter *most = pools_longest_waiter(pool);
	int64_t held_ns = basis_per(basis, pool->held_ns[scope]), whole_ns = basis_whole(basis);
	char share[FMT_MAX], times[FMT_MAX], wait[FMT_MAX], longest[FMT_MAX];
	struct finding finding = {
		.id = "pool-bound", .subject = pool->name,
		.cost_ns = basis_cost(basis, pool->cost_ns[scope]),
		.severity = per_mille(held_ns, whole_ns) >= 500 ? SEVERITY_WARNING : SEVERITY_NOTE,
		.evidence = {
			.kind = EVIDENCE_OP, .t0 = most->t0, .t1 = most->t1, .row = most->row,
			.key = names_short(&model->names, most->name),
		},
	};

	snprintf(finding.title, FINDING_TEXT, "pool-bound: in %s of %s, ops wait for %s of %.40s",
		 fmt_share(share, (uint64_t)held_ns, (uint64_t)whole_ns),
		 basis_each(model, basis),
		 pool->threads == 1 ? "the one thread" : "the threads",
		 names_short(&model->names, pool->name));
	snprintf(finding.lines[0], FINDING_TEXT,
		 "%s ops %s are handed to it and wait %s in total; %.80s waits most, up to %s",
		 basis_times(times, basis, pool->handed[scope]), basis_word(model, basis),
		 fmt_time(wait, basis_per(basis, pool->wait_ns[scope])),
		 names_short(&model->names, most->name), fmt_time(longest, most->longest_ns));
	snprintf(finding.lines[1], FINDING_TEXT,
		 "it uses %u of %u cores; the cost is what the other cores would save at most",
		 pool->threads, pool->cores);
	snprintf(finding.advice, FINDING_TEXT,
		 "call tf.config.threading.set_inter_op_parallelism_threads(0) for a thread per "
		 "core");
	finding_add(findings, &finding);
}

static void pools_review(struct model *model, void *state, struct findings *findings)
{
	const struct pools_state *s = state;
	enum scope scope = basis_scope(&s->basis);
	int64_t least = model_threshold(model, THRESHOLD_POOL_SHARE) * 10;

	if (!basis_ready(model, &s->basis))
		return;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->list[i]->threads < s->list[i]->cores && s->list[i]->cost_ns[scope] > 0 &&
		    per_mille(basis_per(&s->basis, s->list[i]->held_ns[scope]),
			      basis_whole(&s->basis)) >= least)
			pools_report(model, &s->basis, s->list[i], findings);
}

static void pools_end(void *state)
{
	struct pools_state *s = state;

	for (uint32_t i = 0; i < s->n; i++)
		free(s->list[i]);
	free(s->changes);
	free(s->until_ns);
}

static size_t state_bytes(const void *state)
{
	const struct pools_state *s = state;

	return s->n * sizeof(struct pools_pool) + s->cap_changes * sizeof(*s->changes) +
	       s->n_threads * sizeof(*s->until_ns);
}

const struct analysis analysis_pools = {
	.name = "pools", .size = sizeof(struct pools_state), .release = pools_end,
	.per_step = true,
	.slice = pools_slice, .review = pools_review, .bytes = state_bytes,
};
