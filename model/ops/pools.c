/* SPDX-License-Identifier: MIT */
/*
 * Thread pools, by thread: the reports of each thread are summed up, and the waits of the ops
 * that started there are kept as a histogram. Threads with the same name are combined by the
 * question, as names may arrive late.
 *
 * Complexity: O(1) for an event, O(threads) for a question.
 */
#include "model/ops/pools.h"

#include <stdlib.h>

#include "model/base/util.h"
#include "model/rows/rows.h"

struct pool_thread {
	uint32_t thread;
	uint64_t closures, with_ops, timed;
	int64_t wait_ns, max_wait_ns, busy_ns;
	int64_t begin_ns, end_ns;	/* 0: the thread has reported nothing */
	int64_t op_wait_ns, op_max_wait_ns;
	struct hist op_waits;
};

static struct pool_thread *pool_thread_at(const struct model *model, uint32_t i)
{
	return store_at(&model->pools->threads, i);
}

void pools_new(struct model *model)
{
	model->pools = xcalloc(1, sizeof(*model->pools));
	store_init(&model->pools->threads, sizeof(struct pool_thread));
}

void pools_free(struct model *model)
{
	struct pools *pools = model->pools;

	for (uint32_t i = 0; i < pools->threads.n; i++)
		hist_release(&((struct pool_thread *)store_at(&pools->threads, i))->op_waits);
	store_release(&pools->threads);
	map_release(&pools->by_thread);
	map_release(&pools->rows);
	free(pools);
}

size_t pools_bytes(const struct model *model)
{
	const struct pools *pools = model->pools;

	return sizeof(*pools) + pools->threads.n * sizeof(struct pool_thread) +
	       map_bytes(&pools->by_thread) + map_bytes(&pools->rows) + pools->hist_bytes;
}

static struct pool_thread *pool_thread_get(struct model *model, uint32_t thread)
{
	uint32_t i = map_get(&model->pools->by_thread, thread + 1);
	struct pool_thread *t;

	if (i != MAP_NONE)
		return pool_thread_at(model, i);
	t = store_new(&model->pools->threads);
	t->thread = thread;
	map_set(&model->pools->by_thread, thread + 1, model->pools->threads.n - 1);
	return t;
}

void apply_pool(struct model *model, const struct arrival *in)
{
	const struct event_pool *did = &in->event->u.pool;
	/* wraps around if the times are impossible: too long, or negative */
	int64_t dur_ns = (int64_t)((uint64_t)did->end_ns - (uint64_t)did->begin_ns);
	uint32_t thread;
	struct pool_thread *t;

	if (did->wait_ns < 0 || did->max_wait_ns < 0 || did->busy_ns < 0 ||
	    !span_ok(did->begin_ns, dur_ns, in->event->time_ns)) {
		model_bad(model, bad_time(dur_ns));
		return;
	}
	thread = did->tid ? thread_get(model, in->process->index, did->tid) : NONE;
	if (thread == NONE) {
		model_bad(model, did->tid ? BAD_FULL : BAD_ID);
		return;
	}
	t = pool_thread_get(model, thread);
	t->closures += did->closures;
	t->with_ops += did->with_ops;
	t->timed += did->timed;
	add_ns(&t->wait_ns, did->wait_ns);
	add_ns(&t->busy_ns, did->busy_ns);
	if (did->max_wait_ns > t->max_wait_ns)
		t->max_wait_ns = did->max_wait_ns;
	if (!t->end_ns || did->begin_ns < t->begin_ns)
		t->begin_ns = did->begin_ns;
	if (did->end_ns > t->end_ns)
		t->end_ns = did->end_ns;
}

void pools_op(struct model *model, uint32_t thread, int64_t wait_ns)
{
	struct pool_thread *t = pool_thread_get(model, thread);
	uint32_t buckets = t->op_waits.n;

	hist_add(&t->op_waits, wait_ns);
	model->pools->hist_bytes += (t->op_waits.n - buckets) * sizeof(uint64_t);
	add_ns(&t->op_wait_ns, wait_ns);
	if (wait_ns > t->op_max_wait_ns)
		t->op_max_wait_ns = wait_ns;
}

bool pools_event(struct model *model, uint32_t n, uint32_t process, struct event_pool *did)
{
	const struct pool_thread *t;

	if (n >= model->pools->threads.n)
		return false;
	t = pool_thread_at(model, n);
	*did = (struct event_pool) { .tid = 0 };
	if (t->end_ns && thread_at(model, t->thread)->process == process)
		*did = (struct event_pool) {
			.tid = thread_at(model, t->thread)->tid, .closures = t->closures,
			.with_ops = t->with_ops, .timed = t->timed, .wait_ns = t->wait_ns,
			.max_wait_ns = t->max_wait_ns, .busy_ns = t->busy_ns,
			.begin_ns = t->begin_ns, .end_ns = t->end_ns,
		};
	return true;
}

uint32_t pools_row(struct model *model, uint32_t process, uint32_t name)
{
	uint64_t key = (uint64_t)process << 32 | (name + 1);
	uint32_t row = map_get(&model->pools->rows, key);

	if (row != MAP_NONE)
		return row;
	row = row_new(model, ROW_POOL);
	if (row == NONE)
		return NONE;
	row_at(model, row)->process = process;
	row_at(model, row)->series = name;
	map_set(&model->pools->rows, key, row);
	return row;
}

uint32_t pools_threads(struct model *model, uint32_t process, uint32_t name)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->pools->threads.n; i++) {
		const struct thread *thread = thread_at(model, pool_thread_at(model, i)->thread);

		count += thread->process == process &&
			 names_resolve(&model->names, thread->name) == name;
	}
	return count;
}

/* ---- queries ---- */

/* A pool whose sums are being made: the waits of its ops, and its first and last time. */
struct making {
	struct hist op_waits;
	int64_t begin_ns, end_ns;
};

static void pool_add_thread(struct pool_row *row, struct making *m, const struct pool_thread *t)
{
	row->threads++;
	row->closures += t->closures;
	row->with_ops += t->with_ops;
	row->timed += t->timed;
	add_ns(&row->wait_ns, t->wait_ns);
	add_ns(&row->busy_ns, t->busy_ns);
	add_ns(&row->alive_ns, t->end_ns - t->begin_ns);
	add_ns(&row->op_wait_ns, t->op_wait_ns);
	if (t->max_wait_ns > row->max_wait_ns)
		row->max_wait_ns = t->max_wait_ns;
	if (t->op_max_wait_ns > row->op_max_wait_ns)
		row->op_max_wait_ns = t->op_max_wait_ns;
	row->ops += t->op_waits.total;
	hist_merge(&m->op_waits, &t->op_waits);
	if (!t->end_ns)
		return;
	if (!m->end_ns || t->begin_ns < m->begin_ns)
		m->begin_ns = t->begin_ns;
	if (t->end_ns > m->end_ns)
		m->end_ns = t->end_ns;
}

static int64_t percentile(const struct pool_row *row, const struct hist *hist, unsigned permille)
{
	int64_t ns = row->ops ? hist_percentile(hist, permille) : 0;

	return ns > row->op_max_wait_ns ? row->op_max_wait_ns : ns;
}

static int by_wait(const void *a, const void *b)
{
	const struct pool_row *x = a, *y = b;

	if (x->op_wait_ns != y->op_wait_ns)
		return x->op_wait_ns > y->op_wait_ns ? -1 : 1;
	return x->busy_ns != y->busy_ns ? (x->busy_ns > y->busy_ns ? -1 : 1) : 0;
}

size_t model_pools(struct model *model, struct pool_row **out)
{
	uint32_t count = model->pools->threads.n;
	struct making *making = xcalloc(count, sizeof(*making));
	struct map rows = { .size = 0 };
	size_t n = 0;

	*out = xcalloc(count, sizeof(**out));
	for (uint32_t i = 0; i < count; i++) {
		const struct thread *thread = thread_at(model, pool_thread_at(model, i)->thread);
		const struct process *process = process_at(model, thread->process);
		uint32_t name = names_resolve(&model->names, thread->name);
		uint64_t key = (uint64_t)thread->process << 32 | (name + 1);
		uint32_t row = map_get(&rows, key);

		if (row == MAP_NONE) {
			row = (uint32_t)n++;
			map_set(&rows, key, row);
			(*out)[row] = (struct pool_row) {
				.host = process->host, .pid = process->pid,
				.name = name ? names_short(&model->names, name) : "(no name)",
			};
		}
		pool_add_thread(&(*out)[row], &making[row], pool_thread_at(model, i));
	}
	for (size_t i = 0; i < n; i++) {
		(*out)[i].op_p50_ns = percentile(&(*out)[i], &making[i].op_waits, 500);
		(*out)[i].op_p99_ns = percentile(&(*out)[i], &making[i].op_waits, 990);
		(*out)[i].span_ns = making[i].end_ns - making[i].begin_ns;
		hist_release(&making[i].op_waits);
	}
	free(making);
	map_release(&rows);
	if (n)
		qsort(*out, n, sizeof(**out), by_wait);
	return n;
}
