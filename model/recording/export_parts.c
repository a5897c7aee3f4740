/* SPDX-License-Identifier: MIT */
/*
 * The events of everything that is not a span: nodes and settings of graphs, frames, pauses, stages
 * of input pipelines, thread pools.
 */
#include "model/recording/export_internal.h"

#include "model/core/model.h"
#include "model/core/pauses.h"
#include "model/graph/graph.h"
#include "model/host/doings.h"
#include "model/input/input.h"
#include "model/lines/lines.h"
#include "model/ops/pools.h"

/* Correlations of the launches that export_launch() makes: those of CUPTI, the only ones of open
 * launches, have the highest bit. */
#define LAUNCH_IDS 0x40000000u

#define LEVEL_ON 2			/* the level if it is not off: TFT_LEVEL_DEFAULT */

static const char *raw(struct model *model, uint32_t name)
{
	const char *text = names_raw(&model->names, name);

	return text ? text : "";
}

void export_put_graphs(struct model_export *x, uint32_t process, int64_t time_ns)
{
	struct model *model = x->model;
	const struct graphs *g = model->graphs;
	struct event event;

	for (size_t i = 0; g && i < g->n_infos; i++) {
		if (g->infos[i].process != process)
			continue;
		event = export_event(x, process, EVENT_INFO, time_ns);
		event.u.info = (struct event_info) {
			raw(model, g->infos[i].scope), raw(model, g->infos[i].key),
			raw(model, g->infos[i].value),
		};
		export_put(x, &event);
	}
	for (uint32_t i = 0; g && i < g->nodes.n; i++) {
		const struct gnode *node = gnode_at(g, i);

		if (node->process != process)
			continue;
		event = export_event(x, process, EVENT_NODE, time_ns);
		event.u.node = (struct event_node) {
			.id = node->id, .graph = export_name(x, process, node->graph, NAME_NODE),
			.name = export_name(x, process, node->name, NAME_NODE),
			.op_type = export_name(x, process, node->type, NAME_OP_TYPE),
			.device = export_name(x, process, node->device, NAME_NODE),
			.file = export_name(x, process, node->file, NAME_SOURCE),
			.function = export_name(x, process, node->function, NAME_SOURCE),
			.line = node->line, .origin = node->origin, .inputs = node->inputs,
			.attributes = node->attributes,
		};
		export_put(x, &event);
	}
}

void export_frames(struct model_export *x, uint32_t process, int64_t time_ns)
{
	const struct source_lines *l = x->model->lines;

	for (uint32_t i = 0; l && i < l->frames.n; i++) {
		const struct source_frame *frame = frame_at(l, i);
		struct event event = export_event(x, process, EVENT_FRAME, time_ns);

		if (frame->process != process || !frame->file)
			continue;
		event.u.frame = (struct event_frame) {
			.id = frame->id, .line = frame->line,
			.parent = frame->parent == NONE ? 0 : frame_at(l, frame->parent)->id,
			.file = export_name(x, process, frame->file, NAME_SOURCE),
			.function = export_name(x, process, frame->function, NAME_SOURCE),
		};
		export_put(x, &event);
	}
}

static void export_pause(struct model_export *x, struct event *event, bool taken, int64_t at_ns,
			 bool begins)
{
	if (taken) {
		event->type = EVENT_TAKEN;
		event->u.taken = (struct event_taken) { at_ns, begins };
	} else {
		event->type = EVENT_LEVEL;
		event->u.level_now = (struct event_level_now) { at_ns, begins ? 0 : LEVEL_ON };
	}
	export_put(x, event);
}

void export_pauses(struct model_export *x, uint32_t process, int64_t time_ns)
{
	const struct pauses *pauses = &process_at(x->model, process)->pauses;
	struct event event = export_event(x, process, EVENT_LEVEL, time_ns);

	for (size_t i = 0; i < pauses->n; i++) {
		const struct model_pause *p = &pauses->list[i];

		export_pause(x, &event, p->taken, p->begin_ns, true);
		if (p->end_ns != INT64_MAX)
			export_pause(x, &event, p->taken, p->end_ns, false);
	}
}

void export_bares(struct model_export *x, uint32_t process, int64_t time_ns)
{
	const struct process *p = process_at(x->model, process);
	struct event event = export_event(x, process, EVENT_BARE, time_ns);

	for (size_t i = 0; i < p->bares.n; i++) {
		const struct bare *bare = &p->bares.list[i];

		event.u.bare = (struct event_bare) {
			.tid = bare->tid, .steps = bare->steps, .start_ns = bare->start_ns,
			.dur_ns = bare->end_ns - bare->start_ns,
		};
		export_put(x, &event);
	}
	if (!p->cost.steps)
		return;
	event.type = EVENT_COST;
	event.u.cost = p->cost;
	export_put(x, &event);
}

void export_doings(struct model_export *x, uint32_t process, int64_t time_ns)
{
	struct event event = export_event(x, process, EVENT_DOING, time_ns);

	for (uint32_t i = 0; i < x->model->threads.n; i++) {
		const struct thread *thread = thread_at(x->model, i);

		for (size_t k = 0; thread->process == process && k < thread->doings.n; k++) {
			const struct doing *doing = &thread->doings.list[k];
			uint32_t stack = doing_sum_at(x->model, doing->sum)->stack;

			event.u.doing = (struct event_doing) {
				.tid = thread->tid, .looks = doing->looks,
				.start_ns = doing->start_ns,
				.dur_ns = doing->end_ns - doing->start_ns, .ns = doing->ns,
				.at_ns = doing->at_ns,
				.frame = doing->frame, .stack = frame_id(x->model, stack),
				.doing = doing->kind,
				.what = doing->what ?
					export_name(x, process, doing->what, NAME_OTHER) : 0,
			};
			export_put(x, &event);
		}
	}
}

/* These are sums over the whole run, and would be too large for a part of it. */
void export_stages(struct model_export *x, uint32_t process)
{
	struct model *model = x->model;

	for (uint32_t i = 0; x->whole && i < model->inputs->stages.n; i++) {
		const struct input_stage *s = store_at(&model->inputs->stages, i);
		struct event event = export_event(x, process, EVENT_STAGE, x->now_ns);

		if (s->process != process)
			continue;
		event.u.stage = (struct event_stage) {
			.id = s->id, .parent = s->parent, .parallelism = s->parallelism_set,
			.buffer = s->buffer, .path = raw(x->model, s->path),
				  .what = raw(x->model, s->what),
		};
		if (s->path)
			export_put(x, &event);
		event.type = EVENT_STAGES;
		event.u.stages = (struct event_stages) {
			.stage = s->id, .parallelism = s->parallelism, .buffered = s->buffered,
			.elements = s->calls, .bytes = s->bytes, .total_ns = s->total_ns,
			.self_ns = s->self_ns, .busy_ns = s->busy_ns, .wait_ns = s->wait_ns,
			.max_ns = s->max_ns, .begin_ns = s->begin_ns, .end_ns = s->end_ns,
		};
		if (s->end_ns)
			export_put(x, &event);
	}
}

void export_pools(struct model_export *x, uint32_t process)
{
	struct event event = export_event(x, process, EVENT_POOL, x->now_ns);

	for (uint32_t i = 0; x->whole && pools_event(x->model, i, process, &event.u.pool); i++)
		if (event.u.pool.tid)
			export_put(x, &event);
}

/* ---- nodes of graphs ---- */

bool export_launch(struct model_export *x, uint32_t source, struct event *event,
		   struct event *launch)
{
	const struct event_command *command = &event->u.command;
	struct event run = *event;

	if (!source || event->type != EVENT_COMMAND || command->status < 0)
		return false;
	*launch = *event;
	launch->type = EVENT_LAUNCH;
	launch->u.launch = (struct event_launch) {
		.tid = command->tid, .queue = command->queue, .name = command->name,
		.shape = command->shape, .correlation = LAUNCH_IDS + x->n_launches++ % LAUNCH_IDS,
		.op_name = command->op_name, .op = command->op, .call_ns = command->call_ns,
		.call_dur_ns = command->call_dur_ns, .kind = command->kind,
	};
	run.type = EVENT_RUN;
	run.u.run = (struct event_run) {
		.queue = command->queue, .name = command->name,
		.correlation = launch->u.launch.correlation, .op_name = command->op_name,
		.source = source, .shape = command->shape,
		.queued_ticks = command->queued_ticks, .submit_ticks = command->submit_ticks,
		.start_ticks = command->start_ticks, .end_ticks = command->end_ticks,
		.kind = command->kind, .direction = command->direction, .flags = command->flags,
	};
	*event = run;
	return true;
}
