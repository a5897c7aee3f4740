/* SPDX-License-Identifier: MIT */
/*
 * Data edges between ops. Idea: the edges to one consumer are collected until everything that may
 * report its inputs has settled: a producer ends before its consumer starts, and the consumer's
 * start is known when it has ended or was announced. Then the input that ended last is known, and
 * the edges are added to the totals of their (key, source, destination).
 *
 * Bounds: CONSUMERS_MAX consumers that are being collected, with INPUTS_MAX edges (then the
 * oldest consumer is taken as it is), TOTALS_MAX totals.
 * Complexity: O(1) for an edge.
 */
#include "model/query/flows.h"
#include "model/steps/steps.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/ops/ops.h"

#define CONSUMERS_MAX (1u << 16)
#define INPUTS_MAX (1u << 18)
#define TOTALS_MAX (1u << 16)
#define ANNOUNCED_NS 20000000		/* longer ops have been announced */

struct edge_input {
	uint64_t from, bytes;
	int64_t end_ns;			/* end of the producer; 0: unknown so far */
	uint32_t key, source, next;
};

struct edge_consumer {
	uint64_t to;
	int64_t due_ns;
	uint32_t process, inputs;	/* list head */
};

struct edge_total {
	uint32_t key, source, destination, next;	/* next: same hash */
	uint64_t count, bytes, measured;
	struct hist latency;
};

struct edges {
	/* [head, n), in the order they came first */
	struct edge_consumer *consumers;	/* owned */
	size_t head, n, cap;
	struct map by_op;		/* process and instance -> place in the list, from base */
	uint64_t base;			/* how many consumers have left the list */
	struct edge_input *inputs;		/* owned */
	size_t n_inputs, cap_inputs, used_inputs;
	uint32_t free_input;
	struct store totals;
	struct map total_by_hash;
};

void edges_new(struct model *model)
{
	model->edges = xcalloc(1, sizeof(*model->edges));
	model->edges->free_input = NONE;
	store_init(&model->edges->totals, sizeof(struct edge_total));
}

void edges_free(struct model *model)
{
	struct edges *edges = model->edges;

	for (uint32_t i = 0; i < edges->totals.n; i++)
		hist_release(&((struct edge_total *)store_at(&edges->totals, i))->latency);
	store_release(&edges->totals);
	map_release(&edges->by_op);
	map_release(&edges->total_by_hash);
	free(edges->consumers);
	free(edges->inputs);
	free(edges);
}

size_t edges_bytes(const struct model *model)
{
	const struct edges *edges = model->edges;

	return edges->cap * sizeof(*edges->consumers) +
	       edges->cap_inputs * sizeof(*edges->inputs) + map_bytes(&edges->by_op) +
	       edges->totals.n * sizeof(struct edge_total);
}

/* ---- totals ---- */

static struct edge_total *edge_total_get(struct edges *edges, uint32_t key, uint32_t source,
					 uint32_t destination)
{
	uint64_t hash = map_mix((uint64_t)source << 32 | destination) ^ map_mix(key + 1);
	uint32_t first = map_get(&edges->total_by_hash, hash);
	struct edge_total *total;

	for (uint32_t i = first; i != NONE; i = total->next) {
		total = store_at(&edges->totals, i);
		if (total->key == key && total->source == source &&
		    total->destination == destination)
			return total;
	}
	if (edges->totals.n >= TOTALS_MAX)
		return NULL;
	total = store_new(&edges->totals);
	total->key = key;
	total->source = source;
	total->destination = destination;
	total->next = first;
	map_set(&edges->total_by_hash, hash, edges->totals.n - 1);
	return total;
}

/* The name of an instance's op, as far as it is known. */
static const struct op_state *op_known(const struct model *model, uint32_t process,
				       uint64_t instance)
{
	uint32_t index = map_get(&process_at(model, process)->ops, instance);
	const struct op_state *state;

	if (index == MAP_NONE)
		return NULL;
	state = store_at(&model->op_states, index);
	return state->flags & STATE_KNOWN ? state : NULL;
}

static uint32_t name_of(struct model *model, const struct op_state *state)
{
	return state ? steps_plain(model, ident_at(model, state->ident)->name) : 0;
}

/* Looks up the producer of an input and when it ended, if that is not known yet. */
static void look_up(struct model *model, uint32_t process, struct edge_input *input)
{
	const struct op_state *state;

	if (input->end_ns)
		return;
	state = op_known(model, process, input->from);
	if (!state)
		return;
	input->source = name_of(model, state);
	if (state->flags & STATE_FINISHED)
		input->end_ns = state->start_ns + state->dur_ns;
}

static void edges_resolve(struct model *model, const struct edge_consumer *consumer)
{
	struct edges *edges = model->edges;
	const struct op_state *to = op_known(model, consumer->process, consumer->to);
	uint32_t destination = name_of(model, to), last = NONE;
	struct edge_total *total;
	bool all = true;

	for (uint32_t i = consumer->inputs; i != NONE; i = edges->inputs[i].next) {
		struct edge_input *input = &edges->inputs[i];

		look_up(model, consumer->process, input);
		all = all && input->end_ns;
		if (last == NONE || input->end_ns > edges->inputs[last].end_ns)
			last = i;
	}
	for (uint32_t i = consumer->inputs, next; i != NONE; i = next) {
		struct edge_input *input = &edges->inputs[i];

		next = input->next;
		total = edge_total_get(edges, names_resolve(&model->names, input->key),
				       input->source, destination);
		if (!total) {
			model_bad(model, BAD_FULL);
		} else {
			total->count++;
			total->bytes += input->bytes;
		}
		/* Which input ended last is known only if all of them are. */
		if (total && to && all && i == last) {
			total->measured++;
			hist_add(&total->latency, to->start_ns > input->end_ns ?
				 to->start_ns - input->end_ns : 0);
		}
		input->next = edges->free_input;
		edges->free_input = i;
		edges->used_inputs--;
	}
}

/* ---- adding ---- */

static uint64_t op_key(uint32_t process, uint64_t instance)
{
	return instance ^ map_mix((uint64_t)process + 1);
}

static void resolve_first(struct model *model)
{
	struct edges *edges = model->edges;
	struct edge_consumer consumer = edges->consumers[edges->head++];

	edges->base++;
	map_remove(&edges->by_op, op_key(consumer.process, consumer.to));
	edges_resolve(model, &consumer);
	if (edges->head <= edges->n / 2)
		return;
	edges->n -= edges->head;
	memmove(edges->consumers, edges->consumers + edges->head,
		edges->n * sizeof(*edges->consumers));
	edges->head = 0;
}

void edges_settled(struct model *model, int64_t settled_ns)
{
	struct edges *edges = model->edges;

	for (unsigned i = 1; edges->head < edges->n &&
	     edges->consumers[edges->head].due_ns <= settled_ns; i++) {
		resolve_first(model);
		if (i % 256 == 0)
			model_breathe(model);
	}
}

static struct edge_consumer *consumer_get(struct model *model, uint32_t process, uint64_t to)
{
	struct edges *edges = model->edges;
	uint64_t key = op_key(process, to);
	uint32_t at = map_get(&edges->by_op, key);

	/* Places are numbered from the first consumer ever, in 32 bits. */
	if (at != MAP_NONE)
		return &edges->consumers[edges->head + (uint32_t)(at - (uint32_t)edges->base)];
	if (edges->n - edges->head >= CONSUMERS_MAX)
		resolve_first(model);
	grow(&edges->consumers, &edges->cap, edges->n, sizeof(*edges->consumers));
	at = (uint32_t)edges->base + (uint32_t)(edges->n - edges->head);
	if (at == MAP_NONE) {
		/* MAP_NONE is not a place, so one place stays empty. */
		resolve_first(model);
		at = (uint32_t)edges->base + (uint32_t)(edges->n - edges->head);
	}
	map_set(&edges->by_op, key, at);
	edges->consumers[edges->n] = (struct edge_consumer) {
		.to = to, .process = process, .inputs = NONE,
	};
	return &edges->consumers[edges->n++];
}

void apply_edge(struct model *model, const struct arrival *in)
{
	const struct event_edge *edge = &in->event->u.edge;
	struct edges *edges = model->edges;
	int64_t now = arrival_written_ns(model, in);
	struct edge_input input = { .from = edge->from, .bytes = edge->bytes };
	struct edge_consumer *consumer;
	uint32_t at;

	if (!edge->from || !edge->to || edge->from == edge->to || edge->bytes > (uint64_t)1 << 60) {
		model_bad(model, BAD_ID);
		return;
	}
	while (edges->used_inputs >= INPUTS_MAX && edges->head < edges->n)
		resolve_first(model);
	input.key = local_name(model, in->process, edge->key);
	look_up(model, in->process->index, &input);
	consumer = consumer_get(model, in->process->index, edge->to);
	at = edges->free_input;
	if (at != NONE) {
		edges->free_input = edges->inputs[at].next;
	} else {
		grow(&edges->inputs, &edges->cap_inputs, edges->n_inputs, sizeof(input));
		at = (uint32_t)edges->n_inputs++;
	}
	input.next = consumer->inputs;
	edges->inputs[at] = input;
	edges->used_inputs++;
	consumer->inputs = at;
	if (consumer->due_ns < now + ANNOUNCED_NS)
		consumer->due_ns = now + ANNOUNCED_NS;
}

/* ---- queries ---- */

void edges_each(struct model *model, uint32_t name, bool takers,
		void (*each)(void *arg, uint32_t name), void *arg)
{
	const struct names *names = &model->names;

	for (uint32_t i = 0; i < model->edges->totals.n; i++) {
		const struct edge_total *total = store_at(&model->edges->totals, i);
		uint32_t near = takers ? total->source : total->destination;

		if (near && names_resolve(names, near) == names_resolve(names, name))
			each(arg, takers ? total->destination : total->source);
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct edge_row *x = a, *y = b;

	return DESCENDING(x, y, bytes) ?: DESCENDING(x, y, count);
}

size_t model_edges(struct model *model, struct edge_row **out)
{
	struct edges *edges = model->edges;
	size_t n = edges->totals.n;

	*out = xcalloc(n, sizeof(**out));
	for (uint32_t i = 0; i < n; i++) {
		const struct edge_total *total = store_at(&edges->totals, i);

		(*out)[i] = (struct edge_row) {
			.key = names_short(&model->names, total->key),
			.source = names_short(&model->names, total->source),
			.destination = names_short(&model->names, total->destination),
			.count = total->count, .bytes = total->bytes, .measured = total->measured,
			.latency_p50_ns = hist_percentile(&total->latency, 500),
			.latency_p99_ns = hist_percentile(&total->latency, 990),
		};
	}
	if (n)
		qsort(*out, n, sizeof(**out), by_bytes);
	return n;
}
