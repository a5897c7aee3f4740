/* SPDX-License-Identifier: MIT */
/* Allocations and frees as they arrive: the journal, and samples at the ends of steps. */
#include "model/lines/lines.h"
#include "model/memory/memory_internal.h"
#include "model/steps/steps.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

void memory_new(struct model *model)
{
	struct memory_state *memory = xcalloc(1, sizeof(*memory));

	store_init(&memory->pools, sizeof(struct memory_pool));
	memory->book.free_holding = memory->over.free_holding = NONE;
	memory->booked_ns = INT64_MIN;
	memory->stride = 1;
	memory->series_process = NONE;
	model->memory = memory;
}

void memory_free(struct model *model)
{
	struct memory_state *memory = model->memory;

	for (uint32_t i = 0; i < memory->pools.n; i++)
		level_release(&pool_at(memory, i)->level);
	store_release(&memory->pools);
	map_release(&memory->pool_by_key);
	map_release(&memory->pool_by_name);
	map_release(&memory->stray_by_key);
	book_release(&memory->book);
	book_release(&memory->over);
	free(memory->strays);
	free(memory->journal);
	free(memory);
}

static size_t book_bytes(const struct book *book)
{
	return book->cap_regions * sizeof(*book->regions) +
	       book->cap_holdings * sizeof(*book->holdings) + map_bytes(&book->holding_by_key) +
	       book->cap_shares * sizeof(*book->shares) + map_bytes(&book->share_by_key);
}

size_t memory_bytes(const struct model *model)
{
	const struct memory_state *memory = model->memory;
	size_t bytes = memory->cap * sizeof(*memory->journal);

	for (uint32_t i = 0; i < memory->pools.n; i++)
		bytes += sizeof(struct memory_pool) + level_bytes(&pool_at(memory, i)->level);
	return bytes + book_bytes(&memory->book) + book_bytes(&memory->over) +
	       memory->cap_strays * sizeof(*memory->strays);
}

/* ---- the journal ---- */

static bool earlier(const struct memory_event *a, const struct memory_event *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static int by_time(const void *a, const void *b)
{
	return earlier(a, b) ? -1 : earlier(b, a);
}

/* Sorts the loose events in, from the back, so that each moves once. */
static void journal_sort(struct memory_state *memory)
{
	size_t loose = memory->n - memory->sorted, a = memory->sorted, b = loose, to = memory->n;
	struct memory_event *list = memory->journal, *late;

	if (!loose)
		return;
	qsort(list + memory->sorted, loose, sizeof(*list), by_time);
	late = xreallocarray(NULL, loose, sizeof(*late));
	memcpy(late, list + memory->sorted, loose * sizeof(*late));
	while (b > 0) {
		if (a > memory->head && earlier(&late[b - 1], &list[a - 1]))
			list[--to] = list[--a];
		else
			list[--to] = late[--b];
	}
	free(late);
	memory->sorted = memory->n;
}

static void journal_drop(struct memory_state *memory)
{
	memory->n -= memory->head;
	memory->sorted -= memory->head;
	memmove(memory->journal, memory->journal + memory->head,
		memory->n * sizeof(*memory->journal));
	memory->head = 0;
}

/* ---- steps ---- */

/* Halves the number of samples; growth by op is measured from here on. */
static void samples_halve(struct memory_state *memory)
{
	for (uint32_t i = 0; i < memory->pools.n; i++) {
		uint64_t *samples = pool_at(memory, i)->samples;

		for (uint32_t k = 0; k < GROWTH_SAMPLES / 2; k++)
			samples[k] = samples[2 * k + 1];
	}
	memory->n_samples = GROWTH_SAMPLES / 2;
	memory->stride *= 2;
}

static void mark(struct memory_state *memory)
{
	for (size_t i = 0; i < memory->book.n_accounts; i++)
		memory->book.accounts[i].mark++;
	memory->mark_steps = memory->steps;
}

/* The op that holds most of the growth since the mark. Determined now and not when it is
 * reported, because a program frees everything at its end. */
static void holders_sample(struct memory_state *memory)
{
	const struct book *book = &memory->book;

	for (uint32_t i = 0; i < memory->pools.n; i++)
		pool_at(memory, i)->grown = 0;
	for (size_t i = 0; i < book->n_shares; i++) {
		const struct share *share = &book->shares[i];
		struct memory_pool *pool = pool_at(memory, share->account);
		uint64_t before = share_at_mark(&book->accounts[share->account], share);

		if (share->bytes + share->left <= before + pool->grown)
			continue;
		pool->grown = share->bytes + share->left - before;
		pool->grown_op = share->op;
	}
	memory->sampled_steps = memory->steps;
}

static void memory_step_ended(struct memory_state *memory)
{
	memory->steps++;
	if (memory->steps % memory->stride)
		return;
	if (memory->n_samples == GROWTH_SAMPLES) {
		samples_halve(memory);
		mark(memory);
		if (memory->steps % memory->stride)
			return;
	}
	for (uint32_t i = 0; i < memory->pools.n; i++)
		pool_at(memory, i)->samples[memory->n_samples] =
			i < memory->book.n_accounts ? memory->book.accounts[i].live : 0;
	memory->n_samples++;
	holders_sample(memory);
	if (memory->steps == GROWTH_WARM_UP)
		mark(memory);
}

/* Samples the steps that ended before until_ns: what is live now was live at their end. */
static void steps_until(struct model *model, int64_t until_ns)
{
	struct memory_state *memory = model->memory;
	const struct steps *series = steps_best(model);

	if (!series)
		return;
	if (series->process != memory->series_process ||
	    (uint8_t)series->source != memory->series_source ||
	    series->name != memory->series_name) {
		memory->series_source = (uint8_t)series->source;
		memory->series_name = series->name;
		/* what was live at the ends of earlier steps is not known any more */
		memory->last_step_end_ns = memory->series_process == NONE ? INT64_MIN :
								       memory->booked_ns;
		memory->next_step = 0;
		memory->series_process = series->process;
		memory->steps = memory->n_samples = 0;
		memory->stride = 1;
	}
	for (; memory->next_step < series->n; memory->next_step++) {
		const struct step *step = &series->list[memory->next_step];
		int64_t end = step->start_ns + step->dur_ns;

		if (end >= until_ns)
			return;
		if (end <= memory->last_step_end_ns)
			continue;
		memory->last_step_end_ns = end;
		if (!memory->steps)
			memory->first_step_end_ns = end;
		memory_step_ended(memory);
	}
}

uint64_t memory_growth(const struct memory_state *memory, const struct memory_pool *pool,
		       uint32_t *from, uint32_t *to)
{
	const uint32_t segments = 4;
	uint64_t min[4], max[4], grown, swing = 0;
	uint32_t first = (uint32_t)(GROWTH_WARM_UP / memory->stride), length, last;

	if (first < memory->n_samples / 4)
		first = memory->n_samples / 4;
	length = (memory->n_samples - first) / segments;
	*from = first;
	*to = last = memory->n_samples ? memory->n_samples - 1 : 0;
	if (memory->n_samples < first || length < 2)
		return 0;
	first = memory->n_samples - length * segments;
	for (uint32_t s = 0; s < segments; s++) {
		min[s] = UINT64_MAX;
		max[s] = 0;
		for (uint32_t i = first + s * length; i < first + (s + 1) * length; i++) {
			min[s] = pool->samples[i] < min[s] ? pool->samples[i] : min[s];
			max[s] = pool->samples[i] > max[s] ? pool->samples[i] : max[s];
		}
		/* The minimum rises too, not only the maximum. */
		if (s && (min[s] <= min[s - 1] || max[s] <= max[s - 1]))
			return 0;
		swing += (max[s] - min[s]) / segments;
	}
	grown = min[segments - 1] - min[0];
	if (grown < swing)
		return 0;
	return grown / ((segments - 1) * length * memory->stride);
}

/* ---- adding ---- */

static void book_one(struct model *model, const struct memory_event *event)
{
	struct memory_state *memory = model->memory;

	steps_until(model, event->time_ns);
	chunks_until(model, event->time_ns);
	book_apply(model, &memory->book, event);
	if (event->time_ns > memory->booked_ns)
		memory->booked_ns = event->time_ns;
}

void memory_settled(struct model *model, int64_t settled_ns)
{
	struct memory_state *memory = model->memory;

	if (settled_ns <= memory->booked_ns)
		return;
	journal_sort(memory);
	for (unsigned i = 1; memory->head < memory->sorted &&
	     memory->journal[memory->head].time_ns <= settled_ns; i++) {
		struct memory_event event = memory->journal[memory->head++];

		memory->over_valid = false;
		book_one(model, &event);
		if (i % 256 == 0)
			model_breathe(model);
	}
	steps_until(model, settled_ns);
	memory->booked_ns = settled_ns;
	if (memory->head > memory->n / 2)
		journal_drop(memory);
}

static void memory_push(struct model *model, const struct arrival *in, struct memory_event event)
{
	struct memory_state *memory = model->memory;

	event.process = in->process->index;
	if (!event.time_ns)
		event.time_ns = in->event->time_ns;
	if (!time_ok(event.time_ns))
		event.time_ns = model->live_ns;
	event.order = memory->order++;
	memory->over_valid = false;
	if (event.time_ns < memory->booked_ns) {
		book_apply(model, &memory->book, &event);
		return;
	}
	grow(&memory->journal, &memory->cap, memory->n, sizeof(event));
	if (memory->sorted == memory->n &&
	    (memory->n == memory->head || !earlier(&event, &memory->journal[memory->n - 1])))
		memory->sorted++;
	memory->journal[memory->n++] = event;
	if (memory->n - memory->sorted >= JOURNAL_LOOSE)
		journal_sort(memory);
	if (memory->n - memory->head < JOURNAL_MAX)
		return;
	/* No source says what has settled, so old events are taken as settled. */
	journal_sort(memory);
	memory_settled(model, memory->journal[memory->head + JOURNAL_MAX / 2].time_ns);
}

void apply_alloc(struct model *model, const struct arrival *in)
{
	const struct event_alloc *alloc = &in->event->u.alloc;
	struct memory_event event = {
		.kind = MEMORY_ALLOC, .address = alloc->address, .bytes = alloc->bytes,
		.time_ns = alloc->at_ns,
		.allocator = alloc->allocator, .name = local_name(model, in->process,
								  alloc->allocator),
		.view = NONE, .op = local_name(model, in->process, alloc->op_name),
	};

	if (!event.name || alloc->bytes > (uint64_t)1 << 60) {
		model_bad(model, BAD_ID);
		return;
	}
	if (alloc->device)
		event.view = view_get(model, in->process->index, alloc->device);
	if (alloc->op)
		lines_allocated(model, in->process->index, alloc->op, alloc->bytes);
	memory_push(model, in, event);
}

void apply_free(struct model *model, const struct arrival *in)
{
	const struct event_free *event_free = &in->event->u.free;
	struct memory_event event = {
		.kind = MEMORY_FREE, .address = event_free->address, .time_ns = event_free->at_ns,
		.allocator = event_free->allocator,
		.name = local_name(model, in->process, event_free->allocator), .view = NONE,
	};

	if (!event.name)
		model_bad(model, BAD_ID);
	else
		memory_push(model, in, event);
}

void apply_region(struct model *model, const struct arrival *in)
{
	const struct event_region *region = &in->event->u.region;
	struct memory_event event = {
		.kind = MEMORY_REGION, .address = region->address, .bytes = region->bytes,
		.allocator = region->allocator, .name = local_name(model, in->process,
								   region->allocator),
		.view = NONE, .joined = region->joined != 0,
	};

	if (!event.name || region->bytes > (uint64_t)1 << 60 ||
	    region->address > UINT64_MAX - region->bytes) {
		model_bad(model, BAD_ID);
		return;
	}
	if (region->device)
		event.view = view_get(model, in->process->index, region->device);
	memory_push(model, in, event);
}

void memory_exit(struct model *model, const struct arrival *in)
{
	/* The allocator never had a region. */
	if (model->memory->order)
		memory_push(model, in, (struct memory_event) { .kind = MEMORY_EXIT, .view = NONE });
}

/* ---- queries ---- */

struct book *memory_now(struct model *model)
{
	struct memory_state *memory = model->memory;
	struct book *over = &memory->over;

	if (memory->over_valid)
		return over;
	book_release(over);
	over->below = &memory->book;
	over->live = memory->book.live;
	over->n_regions = memory->book.n_regions;
	over->cap_regions = over->n_regions + 1;
	over->regions = xreallocarray(NULL, over->cap_regions, sizeof(*over->regions));
	if (over->n_regions)
		memcpy(over->regions, memory->book.regions,
		       over->n_regions * sizeof(*over->regions));
	while (over->n_accounts < memory->book.n_accounts) {
		grow(&over->accounts, &over->cap_accounts, over->n_accounts,
		     sizeof(*over->accounts));
		over->accounts[over->n_accounts] = memory->book.accounts[over->n_accounts];
		over->n_accounts++;
	}
	journal_sort(memory);
	for (size_t i = memory->head; i < memory->n; i++)
		book_apply(model, over, &memory->journal[i]);
	memory->over_valid = true;
	return over;
}
