/* SPDX-License-Identifier: MIT */
/* The model as a whole: life, lock, dispatch of events, losses, messages. */
#include "model/core/model-internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/base/heap.h"
#include "model/base/util.h"

#define LOCK_NS 500000
#define SLICE_CHECK 32u			/* events between looks at the clock */
#define MEMORY_CHECK 4096u
#define MEMORY_DEFAULT ((size_t)512 << 20)

/* ---- stores ---- */

void store_init(struct store *store, size_t size)
{
	memset(store, 0, sizeof(*store));
	store->size = (uint32_t)((size + 7) / 8 * 8);
}

void store_release(struct store *store)
{
	for (uint32_t i = 0; i < store->n; i += STORE_PAGE)
		free(store->pages[i / STORE_PAGE]);
	free(store->pages);
	memset(store, 0, sizeof(*store));
}

void *store_new(struct store *store)
{
	size_t page = store->n / STORE_PAGE;

	if (store->n % STORE_PAGE == 0) {
		grow(&store->pages, &store->cap_pages, page, sizeof(*store->pages));
		store->pages[page] = xcalloc(STORE_PAGE, store->size);
	}
	return store_at(store, store->n++);
}

/* ---- life ---- */

static void lock_init(struct fair_lock *lock)
{
	bool heap = lock->heap;

	memset(lock, 0, sizeof(*lock));
	pthread_mutex_init(&lock->mutex, NULL);
	pthread_cond_init(&lock->turn, NULL);
	lock->heap = heap;
}

void model_revive(struct model *model)
{
	lock_init(&model->lock);
	pthread_mutex_init(&model->feeding, NULL);
}

static struct model *make(const struct model_options *options)
{
	struct model *model = xcalloc(1, sizeof(*model));

	lock_init(&model->lock);
	pthread_mutex_init(&model->feeding, NULL);
	model->journal.from_ns = INT64_MIN;
	model->memory_limit = options && options->memory_limit ? options->memory_limit :
			      MEMORY_DEFAULT;
	names_init(&model->names);
	store_init(&model->processes, sizeof(struct process));
	store_init(&model->threads, sizeof(struct thread));
	store_init(&model->devices, sizeof(struct device));
	store_init(&model->views, sizeof(struct view));
	store_init(&model->queues, sizeof(struct queue));
	store_init(&model->rows, sizeof(struct row));
	store_init(&model->shapes, sizeof(struct shape));
	store_init(&model->opens, sizeof(struct open_span));
	store_init(&model->op_states, sizeof(struct op_state));
	store_init(&model->idents, sizeof(struct ident));
	store_init(&model->kernels, sizeof(struct kernel_total));
	store_init(&model->kernel_ops, sizeof(struct kernel_op_total));
	store_init(&model->kernel_shapes, sizeof(struct kernel_shape_total));
	store_init(&model->copies, sizeof(struct copy_total));
	store_init(&model->calls, sizeof(struct call_total));
	store_init(&model->compiles, sizeof(struct compile_total));
	model->free_open = model->free_state = NONE;
	memory_new(model);
	optree_new(model);
	edges_new(model);
	inputs_init(&model->inputs);
	counters_init(&model->counters);
	pools_init(&model->pools);
	flows_new(model);
	model->kept_max = model->memory_limit / 16 / sizeof(struct op_state);
	if (model->kept_max > OPS_KEEP)
		model->kept_max = OPS_KEEP;
	if (model->kept_max < 256)
		model->kept_max = 256;
	model->kept = xreallocarray(NULL, model->kept_max, sizeof(*model->kept));
	model->first_ns = INT64_MAX;
	model->last_ns = INT64_MIN;
	model->folded_ns = INT64_MIN;
	for (int i = 0; i < THRESHOLD_COUNT; i++)
		model->thresholds[i] = threshold_table[i].initial;
	model->analyses = analyses_new(model);
	return model;
}

struct model *model_new(const struct model_options *options)
{
	bool heap = options && options->keepable && heap_bytes() && !heap_root();
	struct model *model;

	if (heap)
		heap_enter();
	model = make(options);
	heap_leave(false);
	model->lock.heap = heap;
	if (heap)
		heap_set_root(model);
	return model;
}

static void release_things(struct model *model)
{
	for (uint32_t i = 0; i < model->processes.n; i++) {
		struct process *process = process_at(model, i);

		map_release(&process->names);
		map_release(&process->views);
		map_release(&process->queues);
		map_release(&process->threads);
		map_release(&process->shapes);
		map_release(&process->ops);
		map_release(&process->opens);
		merged_release(&process->merged);
		done_release(process);
		free(process->mets);
		cover_release(&process->compiling);
		join_process_release(&process->ids);
		free(process->order.threads);
		free(process->pauses.list);
	}
	for (uint32_t i = 0; i < model->devices.n; i++) {
		merged_release(&device_at(model, i)->all);
		merged_release(&device_at(model, i)->kernels);
		merged_release(&device_at(model, i)->copies);
	}
	for (uint32_t i = 0; i < model->views.n; i++) {
		clock_release(&view_at(model, i)->clock);
		free(view_at(model, i)->pending.list);
	}
	for (uint32_t i = 0; i < model->queues.n; i++) {
		merged_release(&queue_at(model, i)->merged);
		hist_release(&queue_at(model, i)->delay);
		join_fifo_release(queue_at(model, i)->fifo);
		free(queue_at(model, i)->pending.list);
	}
	for (uint32_t i = 0; i < model->rows.n; i++)
		row_release(row_at(model, i));
}

static void release_all(struct model *model)
{
	struct store *const stores[] = {
		&model->processes, &model->threads, &model->devices, &model->views,
		&model->queues, &model->rows, &model->shapes, &model->opens,
		&model->op_states, &model->idents, &model->kernels, &model->kernel_ops,
		&model->kernel_shapes, &model->copies, &model->calls, &model->compiles,
	};
	struct map *const maps[] = {
		&model->process_by_pid, &model->ident_by_hash, &model->kernel_by_key,
		&model->kernel_op_by_key, &model->kernel_shape_by_key, &model->copy_by_key,
		&model->call_by_name, &model->compile_by_key, &model->message_by_text,
		&model->nameless_kernels,
	};

	analyses_free(model->analyses);
	release_things(model);
	join_release(model);
	hosts_release(model);
	totals_release(model);
	memory_free(model);
	optree_free(model);
	edges_free(model);
	graphs_free(model);
	lines_free(model);
	inputs_release(&model->inputs);
	counters_release(&model->counters);
	pools_release(&model->pools);
	flows_free(model);
	steps_release(model);
	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++)
		store_release(stores[i]);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		map_release(maps[i]);
	names_release(&model->names);
	free(model->kept);
	free(model->losses);
	free(model->messages);
	watch_free(model->watch);
	journal_release(&model->journal);
	pthread_mutex_destroy(&model->feeding);
	pthread_cond_destroy(&model->lock.turn);
	pthread_mutex_destroy(&model->lock.mutex);
	free(model);
}

void model_free(struct model *model)
{
	if (model && model->lock.heap)
		heap_free_all();
	else if (model)
		release_all(model);
}

/* ---- what times are possible ---- */

bool span_ok(int64_t start_ns, int64_t dur_ns, int64_t written_ns)
{
	if (!time_ok(start_ns) || dur_ns < 0 || dur_ns > DUR_MAX)
		return false;
	return !time_ok(written_ns) || start_ns + dur_ns <= written_ns + LATE_SLACK_NS;
}

void saw_time(struct model *model, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < model->first_ns)
		model->first_ns = start_ns;
	if (end_ns > model->last_ns)
		model->last_ns = end_ns;
}

/* ---- events ---- */

static void apply_settled(struct model *model, int64_t settled_ns)
{
	if (!span_ok(settled_ns, 0, model->event->time_ns))
		model_bad(model, BAD_FAR);
	else if (settled_ns > model->process->settled_ns)
		model->process->settled_ns = settled_ns;
}

static void apply_beat(struct model *model, const struct event_beat *beat)
{
	struct process *process = model->process;

	if (beat->calls > process->beat_calls)
		process->beat_calls = beat->calls;
	if (beat->own_ns > process->own_ns && beat->own_ns <= DUR_MAX)
		process->own_ns = beat->own_ns;
	if (beat->dropped + beat->vendor_dropped > process->dropped)
		process->dropped = beat->dropped + beat->vendor_dropped;
	join_beat(model, beat);
}

static void apply_definition(struct model *model, const struct event *event)
{
	switch ((enum event_type)event->type) {
	case EVENT_PROCESS:
		apply_process(model, &event->u.process);
		break;
	case EVENT_EXIT:
		apply_exit(model, &event->u.exit);
		break;
	case EVENT_PROBE:
		apply_probe(model, &event->u.probe);
		/* From here on it says what is settled: until then, nothing is. */
		if (!model->process->settled_ns)
			apply_settled(model, event->time_ns);
		break;
	case EVENT_NAME:
		apply_name(model, &event->u.name);
		break;
	case EVENT_THREAD:
		apply_thread(model, &event->u.thread);
		break;
	case EVENT_DEVICE:
		apply_device(model, &event->u.device);
		break;
	case EVENT_QUEUE:
		apply_queue(model, &event->u.queue);
		break;
	case EVENT_SHAPE:
		apply_shape(model, &event->u.shape);
		break;
	case EVENT_STAGE:
		apply_stage(model, &event->u.stage);
		break;
	case EVENT_NODE:
	case EVENT_INFO:
		graph_define(model, event);
		break;
	case EVENT_SERIES:
		apply_series(model, &event->u.series);
		break;
	case EVENT_FRAME:
		frame_define(model, &event->u.frame);
		break;
	default:
		note_message(model, event->time_ns, event->u.message.level > 2 ? 2 :
			    event->u.message.level, event->u.message.text);
	}
}

static void apply_data(struct model *model, const struct event *event)
{
	journal_keep(model, event);
	switch ((enum event_type)event->type) {
	case EVENT_OP:
		apply_op(model, &event->u.op);
		break;
	case EVENT_STEP:
		apply_step(model, &event->u.step);
		break;
	case EVENT_CALL:
		apply_call(model, &event->u.call);
		break;
	case EVENT_CALLS:
		apply_calls(model, &event->u.calls);
		break;
	case EVENT_COMMAND:
		apply_command(model, &event->u.command);
		break;
	case EVENT_LAUNCH:
		apply_launch(model, &event->u.launch);
		break;
	case EVENT_RUN:
		apply_run(model, &event->u.run);
		break;
	case EVENT_ALLOC:
		apply_alloc(model, &event->u.alloc);
		break;
	case EVENT_FREE:
		apply_free(model, &event->u.free);
		break;
	case EVENT_REGION:
		apply_region(model, &event->u.region);
		break;
	case EVENT_WAIT:
		apply_wait(model, &event->u.wait);
		break;
	case EVENT_COMPILE:
		apply_compile(model, &event->u.compile);
		break;
	case EVENT_EDGE:
		apply_edge(model, &event->u.edge);
		break;
	case EVENT_CLOCK:
		apply_clock(model, &event->u.clock);
		break;
	case EVENT_FLOW:
		apply_flow(model, &event->u.flow);
		break;
	case EVENT_STAGES:
		apply_stages(model, &event->u.stages);
		break;
	case EVENT_POOL:
		apply_pool(model, &event->u.pool);
		break;
	case EVENT_COUNTER:
		apply_counter(model, &event->u.counter);
		break;
	case EVENT_LEVEL:
		apply_level(model, &event->u.level);
		break;
	case EVENT_SETTLED:
		apply_settled(model, event->u.settled_ns);
		break;
	default:
		apply_beat(model, &event->u.beat);
	}
}

/* A process at level off says nothing; one that lives beats once a second. */
#define SILENT_NS 3000000000
#define SILENT_LAG_NS 1000000000

/* What the sources promised. */
static int64_t sources_settled(const struct model *model)
{
	int64_t settled = model->alive_ns;

	for (uint32_t i = 0; i < model->processes.n; i++) {
		const struct process *process = process_at(model, i);
		bool gone = process->exited && model->alive_ns >= process->exit_seen_ns;
		int64_t own = process->settled_ns;

		if (!own || gone || process->replaced)
			continue;
		if (model->alive_ns - process->seen_ns > SILENT_NS &&
		    own < model->alive_ns - SILENT_LAG_NS)
			own = model->alive_ns - SILENT_LAG_NS;
		if (own < settled)
			settled = own;
	}
	return settled;
}

int64_t model_settle(struct model *model)
{
	int64_t settled = sources_settled(model);

	/* What waits to be joined is still to come. */
	if (model->join.hold_ns && model->join.hold_ns < settled)
		settled = model->join.hold_ns;
	if (model->finished && !model->partial) {
		settled = model->live_ns;
		if (model->last_ns > settled)
			settled = model->last_ns;
	}
	if (settled > model->settled_ns)
		model->settled_ns = settled;
	return model->settled_ns;
}

static void apply_event(struct model *model, const struct event *given)
{
	const struct event *event = hosts_map(model, given);
	bool timed = time_ok(event->time_ns);

	model->event = event;
	if (event->type == EVENT_ALIVE) {
		if (!timed)
			model_bad(model, BAD_FAR);
		else if (event->time_ns > model->alive_ns)
			model->alive_ns = event->time_ns;
		if (timed && event->time_ns > model->live_ns)
			model->live_ns = event->time_ns;
		if (timed) {
			commands_alive(model, event->time_ns);
			join_settle(model, sources_settled(model));
		}
		memory_settled(model, model_settle(model));
		optree_settled(model, model->settled_ns);
		edges_settled(model, model->settled_ns);
		graph_settled(model, model->settled_ns);
		lines_settled(model, model->settled_ns);
		counters_settled(model, model->settled_ns);
		return;
	}
	if (event->type == EVENT_LOST) {
		note_lost(model, &event->u.lost);
		return;
	}
	/* What the reader itself says is no event of a program. */
	model->events += event->type != EVENT_MESSAGE || event->pid;
	if (event->type == EVENT_NONE || event->type >= EVENT_TYPE_COUNT) {
		model_bad(model, BAD_KIND);
		return;
	}
	if (timed && event->time_ns > model->live_ns)
		model->live_ns = event->time_ns;
	model->process = process_get(model, event->host, event->pid, &model->process_index);
	if (!model->process) {
		model_bad(model, BAD_FULL);
		return;
	}
	if (timed && event->time_ns > model->process->seen_ns)
		model->process->seen_ns = event->time_ns;
	if (event->type < EVENT_OP)
		apply_definition(model, event);
	else
		apply_data(model, event);
}

void model_breathe(struct model *model)
{
	int64_t now = monotonic_ns();

	if (now < model->slice_ns || now - model->slice_ns <= LOCK_NS)
		return;
	/* Whoever waits comes next: the lock is fair. */
	model_yield(model);
	model->slice_ns = monotonic_ns();
}

void model_apply(struct model *model, const struct event *events, size_t count)
{
	if (!count)
		return;
	pthread_mutex_lock(&model->feeding);
	model_lock(model);
	model->slice_ns = monotonic_ns();
	for (size_t i = 0; i < count; i++) {
		if (i % SLICE_CHECK == SLICE_CHECK - 1) {
			analyses_poll(model, false);
			model_breathe(model);
		}
		apply_event(model, &events[i]);
		if (++model->since_check >= MEMORY_CHECK + model->rows.n)
			budget_check(model);
	}
	model->event = NULL;
	analyses_poll(model, true);
	atomic_fetch_add_explicit(&model->generation, 1, memory_order_relaxed);
	model_unlock(model);
	pthread_mutex_unlock(&model->feeding);
}

uint64_t model_generation(const struct model *model)
{
	return atomic_load_explicit(&model->generation, memory_order_relaxed);
}

void model_set_exited(struct model *model, uint16_t host, uint32_t pid, int status, int signal)
{
	struct process *process;
	uint32_t index;

	model_lock(model);
	process = process_get(model, host, pid, &index);
	if (process) {
		process->exited = true;
		process->exit_status = status;
		process->exit_signal = signal;
		/* What it wrote before may still be on its way. */
		if (!process->exit_seen_ns)
			process->exit_seen_ns = monotonic_ns();
	}
	atomic_fetch_add_explicit(&model->generation, 1, memory_order_relaxed);
	model_unlock(model);
}

void model_message(struct model *model, int level, const char *text)
{
	model_lock(model);
	note_message(model, model->live_ns, level, text);
	atomic_fetch_add_explicit(&model->generation, 1, memory_order_relaxed);
	model_unlock(model);
}

void model_finish(struct model *model, bool partial)
{
	model_lock(model);
	model->event = NULL;
	model->slice_ns = INT64_MAX;
	join_finish(model);
	commands_finish(model);
	ops_finish(model);
	memory_settled(model, INT64_MAX);
	optree_settled(model, INT64_MAX);
	edges_settled(model, INT64_MAX);
	graph_settled(model, INT64_MAX);
	lines_settled(model, INT64_MAX);
	counters_settled(model, INT64_MAX);
	model->finished = true;
	model->partial = partial;
	analyses_run(model, true);
	budget_check(model);
	atomic_fetch_add_explicit(&model->generation, 1, memory_order_relaxed);
	model_unlock(model);
}
