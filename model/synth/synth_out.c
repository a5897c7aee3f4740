/* SPDX-License-Identifier: MIT */
/*
 * The events of the synthetic program on their way out: ordered by when they are written (a
 * heap), numbered per thread, and some of them lost.
 */
#include "model/base/binary_heap.h"
#include "model/synth/synth_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define NO_ITEM UINT32_MAX

static uint64_t random_of(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t synth_random(struct model_synth *s)
{
	return random_of(&s->random);
}

/* ---- the heap ---- */

static bool is_earlier(const void *a, const void *b, const void *synth)
{
	const struct model_synth *s = synth;
	const struct synth_item *x = &s->items[*(const uint32_t *)a];
	const struct synth_item *y = &s->items[*(const uint32_t *)b];

	return x->event.time_ns != y->event.time_ns ? x->event.time_ns < y->event.time_ns :
						      x->order < y->order;
}

static void push_item(struct model_synth *s, uint32_t item)
{
	grow(&s->heap, &s->cap, s->n, sizeof(*s->heap));
	s->heap[s->n++] = item;
	binary_heap_up(s->heap, s->n, sizeof(item), is_earlier, s);
}

static uint32_t pop_item(struct model_synth *s)
{
	uint32_t top = s->heap[0];

	binary_heap_pop(s->heap, s->n--, sizeof(top), is_earlier, s);
	return top;
}

static uint32_t take_item(struct model_synth *s)
{
	uint32_t item = s->n_items ? s->free_item : NO_ITEM;

	if (item != NO_ITEM) {
		s->free_item = s->items[item].next_free;
		return item;
	}
	if (!s->n_items)
		s->free_item = NO_ITEM;
	grow(&s->items, &s->cap_items, s->n_items, sizeof(*s->items));
	return (uint32_t)s->n_items++;
}

struct event *synth_write(struct model_synth *s, struct synth_worker *w, enum event_type type,
			  int64_t written_ns)
{
	uint32_t index = take_item(s);
	struct synth_item *item = &s->items[index];

	memset(item, 0, sizeof(*item));
	item->order = s->order++;
	item->event.type = (uint8_t)type;
	item->event.pid = item->event.tid = w ? w->pid : 0;
	item->event.time_ns = written_ns;
	push_item(s, index);
	return &item->event;
}

void synth_own(struct model_synth *s, struct event *event, char *text)
{
	struct synth_item *item = (struct synth_item *)(void *)event;

	(void)s;
	item->text = text;
}

/* ---- handing out ---- */

static void hand(struct model_synth *s, model_synth_sink *sink, void *arg)
{
	if (s->n_batch)
		sink(arg, s->batch, s->n_batch);
	s->n_batch = 0;
	while (s->n_texts)
		free(s->texts[--s->n_texts]);
}

static bool has_number(uint8_t type)
{
	return type == EVENT_OP || type == EVENT_COMMAND || type == EVENT_ALLOC ||
	       type == EVENT_FREE;
}

static struct synth_thread *thread_of(const struct model_synth *s, const struct event *event)
{
	for (unsigned i = 0; i < s->profile.processes; i++) {
		const struct synth_worker *w = &s->workers[i];

		if (event->tid - w->pid <= s->profile.input_threads)
			return &w->threads[event->tid - w->pid];
	}
	return NULL;
}

static void tell_loss(struct model_synth *s, const struct event *at, struct synth_thread *thread,
		      int64_t end_ns)
{
	s->batch[s->n_batch++] = (struct event) {
		.type = EVENT_LOST, .pid = at ? at->pid : 0, .tid = at ? at->tid : 0,
		.time_ns = end_ns,
		.u.lost = {
			.begin_ns = thread->last_ns ? thread->last_ns : end_ns, .end_ns = end_ns,
			.count = thread->missing,
		},
	};
	thread->missing = 0;
}

/* Numbers the event; returns whether it is lost. Lost events are numbered, too. */
static bool synth_number_event(struct model_synth *s, struct event *event)
{
	struct synth_thread *thread = has_number(event->type) ? thread_of(s, event) : NULL;

	if (!thread)
		return false;
	event->seq = ++thread->seq;
	if (s->profile.loss_ppm && random_of(&s->luck) % 1000000 < s->profile.loss_ppm) {
		thread->missing++;
		s->truth.losses++;
		return true;
	}
	if (thread->missing)
		tell_loss(s, event, thread, event->time_ns);
	thread->last_ns = event->time_ns;
	return false;
}

void synth_hand_out(struct model_synth *s, int64_t until_ns, model_synth_sink *sink, void *arg)
{
	while (s->n && s->items[s->heap[0]].event.time_ns <= until_ns) {
		uint32_t index = pop_item(s);
		struct synth_item *item = &s->items[index];

		if (!synth_number_event(s, &item->event)) {
			s->batch[s->n_batch++] = item->event;
			s->truth.events++;
		}
		if (item->text)
			s->texts[s->n_texts++] = item->text;
		item->text = NULL;
		item->next_free = s->free_item;
		s->free_item = index;
		if (s->n_batch + 2 > SYNTH_BATCH || s->n_texts == SYNTH_BATCH)
			hand(s, sink, arg);
	}
	hand(s, sink, arg);
}

void synth_hand_out_end(struct model_synth *s, model_synth_sink *sink, void *arg)
{
	for (unsigned i = 0; i < s->profile.processes; i++)
		for (unsigned t = 0; t <= s->profile.input_threads; t++)
			if (s->workers[i].threads[t].missing) {
				tell_loss(s, NULL, &s->workers[i].threads[t],
					  s->workers[i].now_ns);
				hand(s, sink, arg);
			}
}

void synth_out_release(struct model_synth *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->items[s->heap[i]].text);
	free(s->items);
	free(s->heap);
}

const struct model_synth_truth *model_synth_truth(const struct model_synth *s)
{
	return &s->truth;
}
