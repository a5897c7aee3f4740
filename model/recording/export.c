/* SPDX-License-Identifier: MIT */
/* Merges the sources in the order of their start; spans that have started come out by their end. */
#include <stdlib.h>
#include <string.h>

#include "model/base/binary_heap.h"
#include "model/base/heap.h"
#include "model/base/util.h"
#include "model/lines/lines.h"
#include "model/recording/export_internal.h"
#include "model/steps/steps.h"

#define SLICE_EVENTS 512u
/* How much later than others an entry of the journal may arrive: what a thread has gathered waits
 * for the runtime's next tick, several times in a row. */
#define JOURNAL_LATE_NS 100000000
#define JOURNAL_AHEAD 16384u

/* ---- heaps ---- */

/* Of sources that start together, processes come first, in the order in which they arrived; outer
 * ops come before inner ones. */
static bool source_is_before(const void *one, const void *other, const void *arg)
{
	const struct export_source *a = one, *b = other;

	(void)arg;
	if (a->next_ns != b->next_ns)
		return a->next_ns < b->next_ns;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->row != b->row ? a->row < b->row : a->lane < b->lane;
}

static void sift_source(struct model_export *x, size_t i)
{
	binary_heap_down(x->sources, x->n_sources, sizeof(*x->sources), i, source_is_before, NULL);
}

static bool event_is_before(const void *one, const void *other, const void *arg)
{
	const struct event *a = one, *b = other;

	(void)arg;
	return a->time_ns < b->time_ns;
}

static void push_pending(struct model_export *x, const struct event *event)
{
	grow(&x->pending, &x->cap_pending, x->n_pending, sizeof(*x->pending));
	x->pending[x->n_pending++] = *event;
	binary_heap_up(x->pending, x->n_pending, sizeof(*event), event_is_before, NULL);
}

/* Stores a span that has started: it is given out when it has ended, or at once. */
static void put_started(struct model_export *x, struct event *event, int64_t start_ns)
{
	if (x->by_start) {
		event->time_ns = start_ns;
		export_put(x, event);
	} else {
		push_pending(x, event);
	}
}

static void pop_pending(struct model_export *x)
{
	binary_heap_pop(x->pending, x->n_pending--, sizeof(*x->pending), event_is_before, NULL);
}

static void give_ended(struct model_export *x, int64_t until_ns)
{
	while (x->n_pending && x->pending[0].time_ns <= until_ns) {
		export_put(x, &x->pending[0]);
		pop_pending(x);
	}
}

/* ---- sources ---- */

static struct lane *export_lane(const struct model_export *x, const struct export_source *source)
{
	return &row_at(x->model, source->row)->lanes[source->lane];
}

/* The lane has changed: searches the place after the last span that was given out. */
static bool find_again(struct lane *lane, struct export_source *source)
{
	struct lane_pos pos;
	bool more;

	source->changes = lane->changes;
	if (!lane_lower(lane, source->next_ns, &pos))
		return false;
	source->pos = pos;
	for (more = true; more && chunk_start(lane->chunks[pos.chunk], pos.i) == source->next_ns;
	     more = lane_next(lane, &pos))
		if (chunk_id(lane->chunks[pos.chunk], pos.i) == source->last_id) {
			source->pos = pos;
			return lane_next(lane, &source->pos);
		}
	return true;
}

/* Takes spans until one touches the window; false: there are no more. */
static bool lane_step(struct model_export *x, struct export_source *source)
{
	struct lane *lane = export_lane(x, source);
	const struct row *row = row_at(x->model, source->row);
	struct lane_span span;
	union cold cold;
	struct event event, launch;

	if (source->changes != lane->changes && !find_again(lane, source))
		return false;
	span = lane_get(lane, source->pos);
	source->last_id = span.id;
	if (span.start_ns + span.dur_ns >= x->from_ns) {
		lane_cold(lane, source->pos, &cold);
		event = export_span(x, row, source->row, &span, &cold);
		if (row->kind == ROW_QUEUE &&
		    export_launch(x, frame_id(x->model, cold.command.place), &event, &launch))
			put_started(x, &launch, span.start_ns);
		put_started(x, &event, span.start_ns);
	}
	if (!lane_next(lane, &source->pos))
		return false;
	source->next_ns = chunk_start(lane->chunks[source->pos.chunk], source->pos.i);
	return true;
}

static bool steps_step(struct model_export *x, struct export_source *source)
{
	const struct steps *series = &x->model->steps[source->row];
	const struct step *step = &series->list[source->at++];
	struct event event = export_event(x, series->process, EVENT_STEP,
					  step->start_ns + step->dur_ns);

	event.u.step = (struct event_step) {
		.name = export_name(x, series->process, series->name, NAME_RANGE),
		.number = step->number, .start_ns = step->start_ns, .dur_ns = step->dur_ns,
	};
	if (event.time_ns >= x->from_ns)
		put_started(x, &event, step->start_ns);
	if (source->at >= series->n)
		return false;
	source->next_ns = series->list[source->at].start_ns;
	return true;
}

static bool losses_step(struct model_export *x, struct export_source *source)
{
	const struct model_loss *loss = &x->model->losses[source->at++];
	struct event event = { .type = EVENT_LOST, .time_ns = loss->begin_ns };

	event.u.lost = (struct event_lost) {
		loss->begin_ns, loss->end_ns, loss->count, loss->packets, 0,
	};
	if (loss->end_ns >= x->from_ns && loss->count) {
		*(loss->packets ? &x->lost_packets : &x->lost_events) += loss->count;
		export_put(x, &event);
	}
	if (source->at >= x->model->n_losses)
		return false;
	source->next_ns = x->model->losses[source->at].begin_ns;
	return true;
}

static bool messages_step(struct model_export *x, struct export_source *source)
{
	const struct message_row *message = &x->model->messages[source->at++];
	struct event event = export_event(x, 0, EVENT_MESSAGE, message->time_ns);

	event.u.message = (struct event_message) { (uint8_t)message->level, message->text };
	export_put(x, &event);
	if (source->at >= x->model->n_messages)
		return false;
	if (x->model->messages[source->at].time_ns > source->next_ns)
		source->next_ns = x->model->messages[source->at].time_ns;
	return true;
}

/* Inserts the entry behind all that are not later, which mostly is the end. */
static void ahead_insert(struct model_export *x, const struct journal_entry *entry)
{
	size_t i;

	if (x->ahead_head > x->n_ahead / 2) {
		x->n_ahead -= x->ahead_head;
		memmove(x->ahead, x->ahead + x->ahead_head, x->n_ahead * sizeof(*x->ahead));
		x->ahead_head = 0;
	}
	grow(&x->ahead, &x->cap_ahead, x->n_ahead, sizeof(*x->ahead));
	for (i = x->n_ahead++; i > x->ahead_head && x->ahead[i - 1].time_ns > entry->time_ns; i--)
		x->ahead[i] = x->ahead[i - 1];
	x->ahead[i] = *entry;
}

/* Reads so far that the first of the entries read is the first of all; false: there are none. */
static bool read_ahead(struct model_export *x, struct export_source *source)
{
	const struct journal *journal = x->model->journal;
	const struct journal_entry *entry;

	while (x->ahead_head == x->n_ahead || (x->n_ahead - x->ahead_head < JOURNAL_AHEAD &&
	       x->ahead[x->n_ahead - 1].time_ns - x->ahead[x->ahead_head].time_ns <
	       JOURNAL_LATE_NS)) {
		entry = journal_get(journal, source->at, &x->journal_at);
		if (!entry)
			break;
		source->at++;
		ahead_insert(x, entry);
	}
	if (x->ahead_head == x->n_ahead)
		return false;
	if (x->ahead[x->ahead_head].time_ns > source->next_ns)
		source->next_ns = x->ahead[x->ahead_head].time_ns;
	return true;
}

static bool journal_step(struct model_export *x, struct export_source *source)
{
	const struct journal_entry *entry = &x->ahead[x->ahead_head++];
	struct event event;

	if (entry->time_ns >= x->from_ns) {
		event = export_journal(x, entry);
		push_pending(x, &event);
	}
	return read_ahead(x, source);
}

/* The end of the previous program with this pid is given out first. */
static bool process_step(struct model_export *x, struct export_source *source)
{
	const struct process *process = process_at(x->model, source->row);

	for (uint32_t i = source->row; i-- > 0; ) {
		const struct process *before = process_at(x->model, i);

		if (before->host == process->host && before->pid == process->pid) {
			export_process_end(x, i);
			break;
		}
	}
	export_process(x, source->row, x->now_ns);
	return false;
}

typedef bool step_fn(struct model_export *x, struct export_source *source);

/* Takes the next event of the source that comes first. */
static void export_step_source(struct model_export *x)
{
	static step_fn *const steps[] = {
		[SOURCE_PROCESS] = process_step, [SOURCE_LANE] = lane_step,
		[SOURCE_STEPS] = steps_step, [SOURCE_LOSSES] = losses_step,
		[SOURCE_MESSAGES] = messages_step, [SOURCE_JOURNAL] = journal_step,
	};
	struct export_source source = x->sources[0];

	give_ended(x, source.next_ns);
	if (steps[source.kind](x, &source))
		x->sources[0] = source;
	else
		x->sources[0] = x->sources[--x->n_sources];
	if (x->n_sources)
		sift_source(x, 0);
}

/* ---- start and end ---- */

static struct export_source *add_source(struct model_export *x, enum source_kind kind,
					int64_t next_ns)
{
	struct export_source *source;

	grow(&x->sources, &x->cap_sources, x->n_sources, sizeof(*x->sources));
	source = &x->sources[x->n_sources++];
	*source = (struct export_source) { .kind = kind, .next_ns = next_ns };
	return source;
}

static void add_lanes(struct model_export *x)
{
	for (uint32_t i = 0; i < x->n_rows; i++) {
		struct row *row = row_at(x->model, i);

		if (row->kind != ROW_THREAD && row->kind != ROW_QUEUE && row->kind != ROW_COPY)
			continue;
		for (uint32_t l = 0; l < row->n_lanes; l++) {
			struct lane_pos pos;
			struct export_source *source;

			if (!lane_touching(&row->lanes[l], x->from_ns, &pos))
				continue;
			source = add_source(x, SOURCE_LANE,
					    chunk_start(row->lanes[l].chunks[pos.chunk], pos.i));
			source->row = i;
			source->lane = l;
			source->pos = pos;
			source->changes = row->lanes[l].changes;
		}
	}
}

static void add_lists(struct model_export *x)
{
	const struct model *model = x->model;
	const struct steps *best = steps_best(model);
	struct export_source journal = {
		.kind = SOURCE_JOURNAL, .next_ns = INT64_MIN, .at = model->journal->first_number,
	};

	for (size_t i = 0; i < model->n_steps; i++)
		if ((model->steps[i].source == STEPS_EXPLICIT ||
		     model->steps[i].source == STEPS_RUN ||
		     model->steps[i].source == STEPS_PASS ||
		     (best == &model->steps[i] && steps_are_runs(best))) && model->steps[i].n)
			add_source(x, SOURCE_STEPS, model->steps[i].list[0].start_ns)->row =
				(uint32_t)i;
	if (model->n_losses)
		add_source(x, SOURCE_LOSSES, model->losses[0].begin_ns);
	if (model->n_messages && model->processes.n)
		add_source(x, SOURCE_MESSAGES, model->messages[0].time_ns);
	if (read_ahead(x, &journal))
		*add_source(x, SOURCE_JOURNAL, journal.next_ns) = journal;
}

/* A later program of a pid is introduced when it appeared, all others at the start. */
static void export_add_processes(struct model_export *x)
{
	struct map pids = { .size = 0 };

	for (uint32_t i = 0; i < x->model->processes.n; i++) {
		const struct process *process = process_at(x->model, i);
		uint64_t key = (uint64_t)process->host << 32 | process->pid;
		bool again = map_get(&pids, key) != MAP_NONE;

		map_set(&pids, key, i);
		add_source(x, SOURCE_PROCESS, again ? process->defined_ns : INT64_MIN)->row = i;
	}
	map_release(&pids);
}

/* Finds the ids that processes have given to their queues and devices. */
static void find_ids(const struct map *map, uint32_t *ids)
{
	for (size_t slot = 0; slot < map->size; slot++)
		if (map->values[slot])
			ids[map->values[slot] - 1] = (uint32_t)map->keys[slot];
}

static void export_look_ahead(struct model_export *x)
{
	struct model *model = x->model;

	x->n_rows = model->rows.n;
	x->stacks = xcalloc(x->n_rows + 1, sizeof(*x->stacks));
	x->queue_ids = xcalloc(model->queues.n + 1, sizeof(*x->queue_ids));
	x->view_ids = xcalloc(model->views.n + 1, sizeof(*x->view_ids));
	for (uint32_t i = 0; i < model->processes.n; i++) {
		if (!process_at(model, i)->replaced)
			x->caller = i;
		find_ids(&process_at(model, i)->queues, x->queue_ids);
		find_ids(&process_at(model, i)->views, x->view_ids);
	}
	x->gap.spans_ns = model->folded_ns > x->from_ns ? model->folded_ns : INT64_MIN;
	x->gap.calls_ns = model->journal->from_ns > x->from_ns ? model->journal->from_ns :
		INT64_MIN;
	add_lanes(x);
	add_lists(x);
	x->begin_ns = model->live_ns > 0 ? model->live_ns : 1;
	for (size_t i = 0; i < x->n_sources; i++)
		if (x->sources[i].next_ns < x->begin_ns)
			x->begin_ns = x->sources[i].next_ns;
	if (x->begin_ns < 1)
		x->begin_ns = 1;
	if (x->begin_ns < x->from_ns)
		x->begin_ns = x->from_ns;
	x->now_ns = x->begin_ns;
	export_add_processes(x);
	for (size_t i = x->n_sources / 2; i-- > 0; )
		sift_source(x, i);
}

static void export_end_source(struct model_export *x)
{
	struct model *model = x->model;

	give_ended(x, INT64_MAX);
	for (uint32_t i = 0; i < x->n_rows; i++) {
		const struct row *row = row_at(model, i);

		for (uint32_t o = row->opens; o != NONE; o = open_at(model, o)->next)
			export_open(x, open_at(model, o));
	}
	export_totals(x);
	for (uint32_t i = 0; i < model->processes.n; i++)
		if (!process_at(model, i)->replaced)
			export_process_end(x, i);
	x->ended = true;
}

/* What is allocated here does not belong to the model, and must not be in its heap. */
static void look_in(struct model *model)
{
	model_lock(model);
	heap_leave(false);
}

struct model_export *model_export_new(struct model *model, int64_t from_ns)
{
	struct model_export *x = xcalloc(1, sizeof(*x));

	pthread_mutex_lock(&model->feeding);
	x->model = model;
	x->whole = from_ns == INT64_MIN;
	x->from_ns = from_ns;
	look_in(model);
	export_look_ahead(x);
	model_unlock(model);
	return x;
}

void model_export_by_start(struct model_export *x)
{
	x->by_start = true;
}

size_t model_export_next(struct model_export *x, struct event *out, size_t max)
{
	size_t n = x->n_ready - x->ready_head;

	while (!n && !x->ended) {
		look_in(x->model);
		for (unsigned i = 0; i < SLICE_EVENTS && x->n_sources; i++)
			export_step_source(x);
		if (!x->n_sources)
			export_end_source(x);
		model_unlock(x->model);
		n = x->n_ready - x->ready_head;
	}
	if (n > max)
		n = max;
	if (n)
		memcpy(out, x->ready + x->ready_head, n * sizeof(*out));
	x->ready_head += n;
	return n;
}

void model_export_gap(const struct model_export *x, struct model_export_gap *out)
{
	*out = x->gap;
}

void model_export_free(struct model_export *x)
{
	pthread_mutex_unlock(&x->model->feeding);
	for (uint32_t i = 0; i < x->n_rows; i++)
		free(x->stacks[i]);
	free(x->stacks);
	free(x->sources);
	free(x->pending);
	free(x->ahead);
	free(x->ready);
	free(x->queue_ids);
	free(x->view_ids);
	free(x->calls);
	map_release(&x->defined);
	map_release(&x->calls_by_name);
	free(x);
}
