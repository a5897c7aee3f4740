/* SPDX-License-Identifier: MIT */
/* The model as a whole: makes and frees it, and passes each event to its part. */
#include <stdlib.h>
#include <string.h>

#include "model/acts/acts.h"
#include "model/align/align.h"
#include "model/align/hosts.h"
#include "model/analyses/analyses.h"
#include "model/analyses/thresholds.h"
#include "model/base/heap.h"
#include "model/base/util.h"
#include "model/commands/commands.h"
#include "model/commands/join.h"
#include "model/core/model.h"
#include "model/counters/counters.h"
#include "model/engine/engine.h"
#include "model/flows/flows.h"
#include "model/graph/graph.h"
#include "model/host/doings.h"
#include "model/input/input.h"
#include "model/lines/lines.h"
#include "model/memory/memory.h"
#include "model/ops/ops.h"
#include "model/ops/pools.h"
#include "model/recording/journal.h"
#include "model/steps/requests.h"
#include "model/steps/steps.h"
#include "model/totals/totals.h"

#define SLICE_CHECK 32u			/* events between looks at the clock */
#define MEMORY_CHECK 4096u
#define MEMORY_DEFAULT ((size_t)512 << 20)

/* ---- life ---- */

static void init_stores(struct model *model)
{
	store_init(&model->processes, sizeof(struct process));
	store_init(&model->threads, sizeof(struct thread));
	store_init(&model->devices, sizeof(struct device));
	store_init(&model->views, sizeof(struct device_view));
	store_init(&model->queues, sizeof(struct queue));
	store_init(&model->rows, sizeof(struct row));
	store_init(&model->shapes, sizeof(struct launch_shape));
	store_init(&model->opens, sizeof(struct open_span));
	store_init(&model->op_states, sizeof(struct op_state));
	store_init(&model->idents, sizeof(struct ident));
	store_init(&model->kernels, sizeof(struct kernel_total));
	store_init(&model->kernel_ops, sizeof(struct kernel_op_total));
	store_init(&model->kernel_shapes, sizeof(struct kernel_shape_total));
	store_init(&model->copies, sizeof(struct copy_total));
	store_init(&model->calls, sizeof(struct call_total));
	store_init(&model->compiles, sizeof(struct compile_total));
}

static struct model *make_model(const struct model_options *options)
{
	struct model *model = xcalloc(1, sizeof(*model));

	fair_lock_init(&model->lock);
	pthread_mutex_init(&model->feeding, NULL);
	model->memory_limit = options && options->memory_limit ? options->memory_limit :
			      MEMORY_DEFAULT;
	names_init(&model->names);
	init_stores(model);
	model->free_open = model->free_state = NONE;
	journal_new(model);
	hosts_new(model);
	join_new(model);
	memory_new(model);
	optree_new(model);
	edges_new(model);
	inputs_new(model);
	counters_new(model);
	pools_new(model);
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
	model->thresholds = xcalloc(THRESHOLD_COUNT, sizeof(*model->thresholds));
	for (int i = 0; i < THRESHOLD_COUNT; i++)
		model->thresholds[i] = threshold_table[i].initial;
	acts_new(model);
	model->analyses = analyses_new(model);
	return model;
}

struct model *model_new(const struct model_options *options)
{
	bool heap = options && options->keepable && heap_bytes() && !heap_root();
	struct model *model;

	if (heap)
		heap_enter();
	model = make_model(options);
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
		free(process->bares.list);
		free(process->bares.ops);
	}
	doings_free(model);
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
	acts_free(model);
	join_free(model);
	hosts_free(model);
	totals_release(model);
	memory_free(model);
	optree_free(model);
	edges_free(model);
	graphs_free(model);
	lines_free(model);
	inputs_free(model);
	counters_free(model);
	pools_free(model);
	flows_free(model);
	steps_release(model);
	requests_free(model);
	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++)
		store_release(stores[i]);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		map_release(maps[i]);
	names_release(&model->names);
	free(model->kept);
	free(model->thresholds);
	free(model->losses);
	free(model->messages);
	watch_free(model->watch);
	journal_free(model);
	pthread_mutex_destroy(&model->feeding);
	fair_lock_release(&model->lock);
	free(model);
}

void model_free(struct model *model)
{
	if (model && model->lock.heap)
		heap_free_all();
	else if (model)
		release_all(model);
}

/* ---- events ---- */

static void take_settled(struct model *model, const struct arrival *in, int64_t settled_ns)
{
	if (!span_ok(settled_ns, 0, in->event->time_ns))
		model_bad(model, BAD_FAR);
	else if (settled_ns > in->process->settled_ns)
		in->process->settled_ns = settled_ns;
}

static void apply_settled(struct model *model, const struct arrival *in)
{
	take_settled(model, in, in->event->u.settled.settled_ns);
}

static void apply_beat(struct model *model, const struct arrival *in)
{
	const struct event_beat *beat = &in->event->u.beat;
	struct process *process = in->process;

	if (beat->calls > process->beat_calls)
		process->beat_calls = beat->calls;
	if (beat->own_ns > process->own_ns && beat->own_ns <= DUR_MAX)
		process->own_ns = beat->own_ns;
	if (beat->dropped + beat->vendor_dropped > process->dropped)
		process->dropped = beat->dropped + beat->vendor_dropped;
	join_beat(model, in);
}

/* From its first probe on, a process says what has settled; until then nothing has. */
static void apply_first_probe(struct model *model, const struct arrival *in)
{
	apply_probe(model, in);
	if (!in->process->settled_ns)
		take_settled(model, in, in->event->time_ns);
}

static void apply_message(struct model *model, const struct arrival *in)
{
	const struct event_message *message = &in->event->u.message;

	note_message(model, in->event->time_ns, message->level > 2 ? 2 : message->level,
		     message->text);
}

static void apply_device_clock(struct model *model, const struct arrival *in)
{
	apply_clock(model, in, commands_clock_known);
}

/* A wait is counted among the calls, because the probe sends both. Here it bounds the device's
 * clock, closes an epoch of its queue and is stored for the analyses. */
static void apply_wait(struct model *model, const struct arrival *in)
{
	const struct event_wait *wait = &in->event->u.wait;
	struct process *process = in->process;
	struct act act = {
		.kind = ACT_WAIT, .start_ns = wait->start_ns, .process = process->index,
		.thread = thread_get(model, process->index, in->event->tid),
		.device = NONE, .queue = NONE,
	};

	if (!span_ok(wait->start_ns, wait->dur_ns, in->event->time_ns)) {
		model_bad(model, bad_time(wait->dur_ns));
		return;
	}
	act.end_ns = wait->start_ns + wait->dur_ns;
	optree_wait(model, in);
	align_wait(model, in, commands_clock_known);
	join_wait(model, in);
	act.name = local_name(model, process, wait->name);
	act.op = wait->op;
	act.op_name = local_name(model, process, wait->op_name);
	if (wait->queue)
		act.queue = map_get(&process->queues, wait->queue);
	acts_push(model, &act);
}

static void apply_any_step(struct model *model, const struct arrival *in)
{
	apply_step(model, in);
	unseen_step(model, in->process);
}

/* Passes an event to its part. */
static void (*const apply[EVENT_TYPE_COUNT])(struct model *model, const struct arrival *in) = {
	[EVENT_PROCESS] = apply_process, [EVENT_EXIT] = apply_exit,
	[EVENT_PROBE] = apply_first_probe, [EVENT_NAME] = apply_name,
	[EVENT_THREAD] = apply_thread, [EVENT_DEVICE] = apply_device,
	[EVENT_QUEUE] = apply_queue, [EVENT_SHAPE] = apply_shape, [EVENT_STAGE] = apply_stage,
	[EVENT_NODE] = graph_define, [EVENT_INFO] = graph_define,
	[EVENT_SERIES] = apply_series, [EVENT_FRAME] = frame_define,
	[EVENT_MESSAGE] = apply_message, [EVENT_OP] = apply_op, [EVENT_STEP] = apply_any_step,
	[EVENT_REQUEST] = apply_request,
	[EVENT_CALL] = apply_call, [EVENT_CALLS] = apply_calls,
	[EVENT_COMMAND] = apply_command, [EVENT_LAUNCH] = apply_launch, [EVENT_RUN] = apply_run,
	[EVENT_ALLOC] = apply_alloc, [EVENT_FREE] = apply_free, [EVENT_REGION] = apply_region,
	[EVENT_WAIT] = apply_wait, [EVENT_COMPILE] = apply_compile, [EVENT_EDGE] = apply_edge,
	[EVENT_CLOCK] = apply_device_clock, [EVENT_FLOW] = apply_flow,
	[EVENT_STAGES] = apply_stages, [EVENT_POOL] = apply_pool,
	[EVENT_COUNTER] = apply_counter, [EVENT_LEVEL] = apply_level,
	[EVENT_TAKEN] = apply_taken, [EVENT_BARE] = apply_bare, [EVENT_COST] = apply_cost,
	[EVENT_DOING] = apply_doing,
	[EVENT_SETTLED] = apply_settled, [EVENT_BEAT] = apply_beat,
};

/* The reader has read every source up to time_ns. */
static void apply_alive(struct model *model, int64_t time_ns)
{
	bool timed = time_ok(time_ns);

	if (!timed)
		model_bad(model, BAD_FAR);
	else if (time_ns > model->alive_ns)
		model->alive_ns = time_ns;
	if (timed && time_ns > model->live_ns)
		model->live_ns = time_ns;
	if (timed) {
		commands_alive(model, time_ns);
		join_settle(model, sources_settled(model));
	}
	memory_settled(model, model_settle(model));
	optree_settled(model, model->settled_ns);
	edges_settled(model, model->settled_ns);
	graph_settled(model, model->settled_ns);
	lines_settled(model, model->settled_ns);
	counters_settled(model, model->settled_ns);
}

static void apply_event(struct model *model, const struct event *given)
{
	struct arrival in = { .event = hosts_map(model, given) };
	const struct event *event = in.event;
	bool timed = time_ok(event->time_ns);

	model->noted_ns = timed ? event->time_ns : 0;
	if (event->type == EVENT_ALIVE) {
		apply_alive(model, event->time_ns);
		return;
	}
	if (event->type == EVENT_LOST) {
		if (note_lost(model, &event->u.lost, event->pid, event->tid))
			join_lost(model, process_known(model, event), event->u.lost.end_ns);
		return;
	}
	/* Events made by the reader belong to no program. */
	model->events += event->type != EVENT_MESSAGE || event->pid;
	if (event->type >= EVENT_TYPE_COUNT || !apply[event->type]) {
		model_bad(model, BAD_KIND);
		return;
	}
	if (timed && event->time_ns > model->live_ns)
		model->live_ns = event->time_ns;
	in.process = process_get(model, event->host, event->pid);
	if (!in.process) {
		model_bad(model, BAD_FULL);
		return;
	}
	if (timed && event->time_ns > in.process->seen_ns)
		in.process->seen_ns = event->time_ns;
	if (event->type >= EVENT_OP)
		journal_keep(model, &in);
	apply[event->type](model, &in);
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
	model->noted_ns = 0;
	analyses_poll(model, true);
	atomic_fetch_add_explicit(&model->generation, 1, memory_order_relaxed);
	model_unlock(model);
	pthread_mutex_unlock(&model->feeding);
}

void model_set_exited(struct model *model, uint16_t host, uint32_t pid, int status, int signal)
{
	struct process *process;

	model_lock(model);
	process = process_get(model, host, pid);
	if (process) {
		process->exited = true;
		process->exit_status = status;
		process->exit_signal = signal;
		/* What the process wrote before may still arrive. */
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
	model->noted_ns = 0;
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
