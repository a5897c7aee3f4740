/* SPDX-License-Identifier: MIT */
/* Questions about memory: the table, its holders, columns over time. */
#include "model/memory/memory_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

struct memory_holders {
	const char *ops[MEMORY_HOLDERS];
	uint64_t bytes[MEMORY_HOLDERS], no_op;
	size_t n;
};

/* Keeps the largest holders, largest first. */
static void memory_holders_add(struct memory_holders *holders, const char *op, uint64_t bytes)
{
	size_t at = holders->n;

	if (!bytes)
		return;
	if (!op) {
		holders->no_op += bytes;
		return;
	}
	if (at == MEMORY_HOLDERS && holders->bytes[at - 1] >= bytes)
		return;
	if (at == MEMORY_HOLDERS)
		at--;
	else
		holders->n++;
	for (; at > 0 && holders->bytes[at - 1] < bytes; at--) {
		holders->ops[at] = holders->ops[at - 1];
		holders->bytes[at] = holders->bytes[at - 1];
	}
	holders->ops[at] = op;
	holders->bytes[at] = bytes;
}

/* Shares of the lower book that the upper one has changed are not in force. */
static const struct share *share_in_force(const struct book *over, size_t i)
{
	const struct share *share;
	uint64_t key;

	if (i < over->n_shares)
		return &over->shares[i];
	share = &over->below->shares[i - over->n_shares];
	key = (uint64_t)share->account << 32 | share->op;
	return map_get(&over->share_by_key, key) == MAP_NONE ? share : NULL;
}

static void memory_add_shares(struct model *model, const struct book *over,
			      struct memory_holders *peak, struct memory_holders *now)
{
	for (size_t i = 0; i < over->n_shares + over->below->n_shares; i++) {
		const struct share *share = share_in_force(over, i);
		const char *op;

		if (!share)
			continue;
		op = names_short(&model->names, share->op);
		memory_holders_add(&peak[share->account], op,
				   share_at_peak(&over->accounts[share->account], share));
		memory_holders_add(&now[share->account], op, share->bytes + share->left);
	}
}

static int by_peak(const void *a, const void *b)
{
	const struct memory_row *x = a, *y = b;

	if (x->peak_bytes != y->peak_bytes)
		return x->peak_bytes > y->peak_bytes ? -1 : 1;
	if (strcmp(x->allocator, y->allocator))
		return strcmp(x->allocator, y->allocator);
	return x->device < y->device ? -1 : x->device > y->device;
}

static void memory_fill_row(struct model *model, const struct account *account, uint32_t index,
			    struct memory_row *row)
{
	const struct memory_pool *pool = pool_at(model->memory, index);
	uint32_t from, to;

	*row = (struct memory_row) {
		.allocator = names_raw(&model->names, names_resolve(&model->names, pool->name)),
		.device = pool->device, .account = index, .host = pool->host,
		.live_bytes = account->live + account->left, .peak_bytes = account->peak,
		.allocated_bytes = account->allocated, .allocations = account->allocations,
		.frees = account->frees, .peak_ns = account->peak_ns,
		.unknown_frees = account->unknown, .missed_frees = account->missed,
		.late = account->late,
		.growth_bytes_per_step = memory_growth(model->memory, pool, &from, &to),
	};
}

size_t model_memory(struct model *model, struct memory_row **out)
{
	struct memory_state *memory = model->memory;
	struct book *over = memory_now(model);
	size_t n_pools = memory->pools.n, n = 0;
	struct memory_holders *peak = xcalloc(n_pools, sizeof(*peak));
	struct memory_holders *now = xcalloc(n_pools, sizeof(*now));

	*out = xcalloc(n_pools, sizeof(**out));
	memory_add_shares(model, over, peak, now);
	for (uint32_t i = 0; i < over->n_accounts; i++) {
		const struct account *account = &over->accounts[i];
		struct memory_row *row = &(*out)[n];

		if (!pool_at(memory, i)->name || (!account->allocations && !account->frees))
			continue;
		n++;
		memory_fill_row(model, account, i, row);
		memcpy(row->peak_ops, peak[i].ops, sizeof(row->peak_ops));
		memcpy(row->peak_op_bytes, peak[i].bytes, sizeof(row->peak_op_bytes));
		memcpy(row->ops, now[i].ops, sizeof(row->ops));
		memcpy(row->op_bytes, now[i].bytes, sizeof(row->op_bytes));
		row->n_peak_ops = peak[i].n;
		row->n_ops = now[i].n;
		row->peak_no_op_bytes = peak[i].no_op;
		row->no_op_bytes = now[i].no_op;
	}
	free(peak);
	free(now);
	if (n)
		qsort(*out, n, sizeof(**out), by_peak);
	return n;
}

uint64_t model_memory_steps(struct model *model)
{
	return model->memory->steps;
}

uint32_t memory_of_device(struct model *model, uint32_t device, uint64_t *peak)
{
	struct memory_state *memory = model->memory;
	uint32_t index = map_get(&memory->pool_by_key, device);
	struct book *over = memory_now(model);

	if (index == MAP_NONE || index >= over->n_accounts)
		return NONE;
	*peak = over->accounts[index].peak;
	return index;
}

void memory_columns(struct model *model, uint32_t device, int64_t t0, int64_t w, size_t n,
		    struct column *out)
{
	struct memory_column *columns;
	uint64_t peak;
	uint32_t account = memory_of_device(model, device, &peak);

	if (account == NONE)
		return;
	columns = xreallocarray(NULL, n, sizeof(*columns));
	model_memory_columns(model, account, t0, t0 + w * (int64_t)n, n, columns);
	for (size_t i = 0; i < n; i++) {
		out[i].value = columns[i].mean;
		out[i].value_min = columns[i].min;
		out[i].value_max = columns[i].max;
		out[i].flags |= columns[i].approx ? COLUMN_APPROX : 0;
	}
	free(columns);
}

void model_memory_columns(struct model *model, uint32_t account, int64_t t0, int64_t t1, size_t n,
			  struct memory_column *out)
{
	struct book *over = memory_now(model);
	int64_t span, w, edge = live_edge(model);
	struct level_tail tail;

	memset(out, 0, n * sizeof(*out));
	if (account >= over->n_accounts || !n || __builtin_sub_overflow(t1, t0, &span) || span <= 0)
		return;
	w = span / (int64_t)n > 0 ? span / (int64_t)n : 1;
	tail = (struct level_tail) {
		over->accounts[account].tail, over->accounts[account].n_tail,
	};
	for (size_t i = 0; i < n; i++) {
		int64_t from = t0 + w * (int64_t)i, to = from + w;
		struct level_range range;

		if (from >= edge)
			break;
		level_range(&pool_at(model->memory, account)->level, tail, from,
			    to < edge ? to : edge, &range);
		out[i] = (struct memory_column) {
			.min = range.min, .mean = range.mean, .max = range.max, .known = true,
			.approx = range.approx,
		};
	}
}
