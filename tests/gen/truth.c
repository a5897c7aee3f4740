/* SPDX-License-Identifier: MIT */
/* Sums over events, by id. */
#include "tests/gen/truth_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

/* ---- arrays by id ---- */

/* Element `id` of a growing zeroed array. */
static void *at(struct table *table, uint64_t id)
{
	while (table->cap <= id) {
		size_t cap = table->cap ? table->cap * 2 : 64;

		table->data = xreallocarray(table->data, cap, table->size);
		memset(table->data + table->cap * table->size, 0,
		       (cap - table->cap) * table->size);
		table->cap = cap;
	}
	if (id >= table->n)
		table->n = id + 1;
	return table->data + id * table->size;
}

struct truth *truth_new(bool drifts)
{
	struct truth *truth = xcalloc(1, sizeof(*truth));

	truth->drifts = drifts;
	truth->names.size = sizeof(char *);
	truth->queues.size = sizeof(struct truth_queue);
	truth->ops.size = sizeof(struct truth_op);
	truth->kernels.size = sizeof(struct truth_kernel);
	truth->kernel_ops.size = sizeof(struct truth_kernel_op);
	truth->calls.size = sizeof(uint64_t);
	truth->steps.size = sizeof(struct truth_step);
	truth->spans.size = sizeof(struct truth_span);
	truth->changes.size = sizeof(struct truth_change);
	truth->launches.size = sizeof(struct event_launch);
	truth->runs.size = sizeof(struct event_run);
	return truth;
}

void truth_free(struct truth *truth)
{
	struct table *const tables[] = {
		&truth->names, &truth->queues, &truth->ops, &truth->kernels, &truth->kernel_ops,
		&truth->calls, &truth->steps, &truth->spans, &truth->changes, &truth->launches,
		&truth->runs,
	};

	if (!truth)
		return;
	for (size_t i = 0; i < truth->names.n; i++)
		free(*(char **)at(&truth->names, i));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		free(tables[i]->data);
	free(truth->command);
	free(truth->device);
	free(truth->host);
	map_release(&truth->kernel_by_key);
	map_release(&truth->kernel_op_by_key);
	free(truth);
}

const char *truth_name(struct truth *truth, uint32_t id)
{
	const char *name = id < truth->names.n ? *(char **)at(&truth->names, id) : NULL;

	return name ? name : "?";
}

/* ---- commands ---- */

/* The element with that key; a new one is zeroed. */
static void *keyed(struct table *table, struct map *map, uint64_t key)
{
	uint32_t index = map_get(map, key);

	if (index == MAP_NONE) {
		index = (uint32_t)table->n;
		map_set(map, key, index);
	}
	return at(table, index);
}

static void count_kernel(struct truth *truth, const struct event_command *c, int64_t dur_ns)
{
	struct truth_kernel *kernel = keyed(&truth->kernels, &truth->kernel_by_key,
					    (uint64_t)c->name << 32 | c->queue);
	struct truth_kernel_op *op;

	kernel->name = c->name;
	kernel->queue = c->queue;
	if (c->status < 0) {
		kernel->failed++;
		return;
	}
	if (!kernel->count || dur_ns < kernel->min_ns)
		kernel->min_ns = dur_ns;
	if (dur_ns > kernel->max_ns)
		kernel->max_ns = dur_ns;
	kernel->count++;
	kernel->total_ns += dur_ns;
	op = keyed(&truth->kernel_ops, &truth->kernel_op_by_key,
		   (uint64_t)c->name << 32 | (uint64_t)c->how << 24 | c->op_name);
	op->name = c->name;
	op->op_name = c->op_name;
	op->how = c->how;
	op->count++;
	op->total_ns += dur_ns;
}

static void count_copy(struct truth_queue *queue, const struct event_command *c, int64_t dur_ns)
{
	struct truth_copy *copy = &queue->copies[c->direction];
	uint64_t rate, *peak = c->bytes >= 65536 ? &copy->peak : &copy->peak_small;

	if (c->status < 0) {
		copy->failed++;
		return;
	}
	copy->count++;
	copy->bytes += c->bytes;
	copy->total_ns += dur_ns;
	rate = dur_ns > 0 ? (uint64_t)((__uint128_t)c->bytes * 1000000000 / (uint64_t)dur_ns) : 0;
	if (rate > *peak)
		*peak = rate;
}

static void add_command(struct truth *truth, const struct event_command *c)
{
	struct truth_queue *queue = at(&truth->queues, c->queue);
	int64_t dur_ns = (int64_t)(c->end_ticks - c->start_ticks);
	bool kernel = c->kind == COMMAND_KERNEL;
	struct truth_op *op = c->op ? at(&truth->ops, c->op) : NULL;
	struct truth_span *span;

	if (op) {
		op->touched = true;
		op->op_name = c->op_name;
	}
	if (c->flags & CMD_OPEN)
		return;
	if (kernel)
		count_kernel(truth, c, dur_ns);
	else
		count_copy(queue, c, dur_ns);
	if (c->status < 0) {
		queue->failed++;
		return;
	}
	truth->how[c->how]++;
	*(kernel ? &queue->n_kernels : &queue->n_copies) += 1;
	if (op) {
		op->device_ns += dur_ns;
		op->kernels += kernel;
		op->copies += !kernel;
		op->copy_bytes += kernel ? 0 : c->bytes;
	}
	span = at(&truth->spans, truth->spans.n);
	*span = (struct truth_span) {
		(int64_t)c->start_ticks, (int64_t)c->end_ticks, c->queue, kernel,
	};
}

/* A launch and its run have the same id and are joined to one command. */
static void join_runs(struct truth *truth)
{
	for (size_t i = 0; i < truth->runs.n; i++) {
		const struct event_run *run = at(&truth->runs, i);
		const struct event_launch *launch = at(&truth->launches, run->correlation);
		struct event_command c = {
			.queue = launch->queue, .name = launch->name, .op_name = launch->op_name,
			.bytes = run->bytes, .op = launch->op, .start_ticks = run->start_ticks,
			.end_ticks = run->end_ticks, .kind = run->kind,
			.direction = run->direction, .status = run->status,
			.how = HOW_EXACT,
		};

		add_command(truth, &c);
	}
}

/* ---- ops ---- */

static void add_op(struct truth *truth, const struct event_op *event)
{
	struct truth_op *op = at(&truth->ops, event->instance), *parent;

	op->known = true;
	op->name = event->name;
	op->type = event->op_type;
	op->framework = event->framework;
	if (event->dur_ns < 0)
		return;
	op->finished = true;
	op->flags = event->flags;
	op->tid = event->tid;
	op->start_ns = event->start_ns;
	op->dur_ns = event->dur_ns;
	if (event->parent) {
		parent = at(&truth->ops, event->parent);
		parent->child_tid = event->tid;
		parent->children_ns += event->dur_ns;
	}
}

/* A range "step N" is a step. */
static void find_steps(struct truth *truth)
{
	for (size_t i = 0; i < truth->ops.n; i++) {
		const struct truth_op *op = at(&truth->ops, i);
		const char *name = truth_name(truth, op->name);
		struct truth_step *step;

		if (!op->finished || !(op->flags & OP_RANGE) || strncmp(name, "step ", 5))
			continue;
		step = at(&truth->steps, truth->steps.n);
		*step = (struct truth_step) { op->start_ns, op->dur_ns };
	}
}

/* ---- the rest ---- */

static void set_text(char **to, const char *text)
{
	free(*to);
	*to = xstrdup(text);
}

static void add_queue(struct truth *truth, const struct event_queue *def)
{
	struct truth_queue *queue = at(&truth->queues, def->id);

	queue->defined = true;
	queue->device = def->device;
	queue->in_order = def->flags & QUEUE_IN_ORDER;
}

static void add_one(struct truth *truth, const struct event *event)
{
	switch ((enum event_type)event->type) {
	case EVENT_PROCESS:
		truth->pid = event->pid;
		set_text(&truth->command, event->u.process.command);
		set_text(&truth->host, event->u.process.host);
		break;
	case EVENT_NAME:
		set_text(at(&truth->names, event->u.name.id), event->u.name.text);
		break;
	case EVENT_DEVICE:
		truth->n_devices++;
		set_text(&truth->device, event->u.device.name);
		break;
	case EVENT_QUEUE:
		add_queue(truth, &event->u.queue);
		break;
	case EVENT_CLOCK:
		truth->offset_ns = event->u.clock.host_ns - (int64_t)event->u.clock.ticks;
		break;
	case EVENT_COMMAND:
		add_command(truth, &event->u.command);
		break;
	case EVENT_LAUNCH:
		*(struct event_launch *)at(&truth->launches, event->u.launch.correlation) =
			event->u.launch;
		break;
	case EVENT_RUN:
		*(struct event_run *)at(&truth->runs, truth->runs.n) = event->u.run;
		break;
	case EVENT_ALLOC:
	case EVENT_FREE:
		truth_memory(truth, event);
		break;
	case EVENT_OP:
		add_op(truth, &event->u.op);
		break;
	case EVENT_CALLS:
		*(uint64_t *)at(&truth->calls, event->u.calls.name) += event->u.calls.count;
		break;
	case EVENT_BEAT:
		truth->beat_calls = event->u.beat.calls;
		truth->own_ns = event->u.beat.own_ns;
		break;
	default:
		break;
	}
}

void truth_add(struct truth *truth, const struct event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (events[i].type == EVENT_ALIVE)
			continue;
		if (events[i].type == EVENT_LOST) {
			truth->lost += events[i].u.lost.count;
			continue;
		}
		truth->events++;
		add_one(truth, &events[i]);
	}
}

/* ---- unions ---- */

static int by_start(const void *a, const void *b)
{
	const struct truth_span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int64_t truth_union(const struct truth *truth, uint32_t queue, int kind)
{
	const struct truth_span *spans = (const struct truth_span *)(const void *)truth->spans.data;
	int64_t sum = 0, until = INT64_MIN;

	for (size_t i = 0; i < truth->spans.n; i++) {
		if ((queue && spans[i].queue != queue) || (kind >= 0 && spans[i].kernel != kind))
			continue;
		if (spans[i].end > until) {
			sum += spans[i].end - (spans[i].start > until ? spans[i].start : until);
			until = spans[i].end;
		}
	}
	return sum;
}

void truth_settle(struct truth *truth)
{
	join_runs(truth);
	if (truth->spans.n)
		qsort(truth->spans.data, truth->spans.n, truth->spans.size, by_start);
	find_steps(truth);
}

void *truth_at(struct table *table, uint64_t id)
{
	return at(table, id);
}
