/* SPDX-License-Identifier: MIT */
/* Joins launches and runs by their ids, and passes the others to join_fifo.c. The rules are in
 * model/commands/join.h. */
#include "model/commands/join.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/commands/commands.h"
#include "model/commands/replays.h"
#include "model/core/model.h"
#include "model/ops/ops.h"

/* ---- items and their lists; index 0 is none ---- */

static struct join_item *item_at(const struct join *join, uint32_t i)
{
	return &join->items[i];
}

static void list_add(struct join *join, struct join_list *list, uint32_t i)
{
	struct join_item *item = item_at(join, i);

	item->next = 0;
	item->prev = list->last;
	if (list->last)
		item_at(join, list->last)->next = i;
	else
		list->first = i;
	list->last = i;
}

static void list_remove(struct join *join, struct join_list *list, uint32_t i)
{
	struct join_item *item = item_at(join, i);

	if (item->prev)
		item_at(join, item->prev)->next = item->next;
	else
		list->first = item->next;
	if (item->next)
		item_at(join, item->next)->prev = item->prev;
	else
		list->last = item->prev;
}

static struct join_list *list_of(struct join *join, const struct join_item *item)
{
	return item->is_run || item->met ? &join->leaving : &join->launches;
}

static uint32_t item_new(struct model *model, const struct process *process)
{
	struct join *join = model->join;
	uint32_t i = join->free;

	if (i) {
		join->free = item_at(join, i)->next;
	} else {
		if (!join->n_items)
			join->n_items = 1;
		grow(&join->items, &join->cap_items, join->n_items, sizeof(*join->items));
		i = (uint32_t)join->n_items++;
	}
	memset(item_at(join, i), 0, sizeof(struct join_item));
	item_at(join, i)->process = process->index;
	join->n++;
	return i;
}

static void item_free(struct join *join, uint32_t i)
{
	list_remove(join, list_of(join, item_at(join, i)), i);
	item_at(join, i)->next = join->free;
	join->free = i;
	join->n--;
}

/* ---- ids ---- */

struct id { uint64_t key; int table; };	/* key 0: there is none */

static struct id id_of(uint32_t correlation, uint64_t object)
{
	return (struct id) { correlation ? correlation : object, correlation ? 0 : 1 };
}

static struct id item_id(const struct join_item *item)
{
	return item->is_run ? id_of(item->u.run.run.correlation, item->u.run.run.object) :
			      id_of(item->u.launch.launch.correlation,
				    item->u.launch.launch.object);
}

static struct join_ids *ids_of(struct model *model, const struct join_item *item)
{
	return &process_at(model, item->process)->ids;
}

/* The index; 0: none. */
static uint32_t lookup(const struct map *map, struct id id)
{
	uint32_t i = map_get(map, id.key);

	return i == MAP_NONE ? 0 : i;
}

/* ---- giving up ---- */

/* The runs of an id form a chain from the oldest to the newest; the oldest's `tail` is the index
 * of the newest. */
static void chain_add(struct join *join, struct map *map, struct id id, uint32_t i)
{
	uint32_t first = lookup(map, id);

	item_at(join, i)->same = 0;
	item_at(join, i)->tail = i;
	if (!first) {
		map_set(map, id.key, i);
		return;
	}
	item_at(join, item_at(join, first)->tail)->same = i;
	item_at(join, first)->tail = i;
}

/* The oldest of its chain. */
static void chain_pop(struct join *join, struct map *map, struct id id, uint32_t i)
{
	uint32_t next = item_at(join, i)->same;

	if (!next) {
		map_remove(map, id.key);
		return;
	}
	item_at(join, next)->tail = item_at(join, i)->tail;
	map_set(map, id.key, next);
}

static void drop_launch(struct model *model, uint32_t i)
{
	struct join_item *item = item_at(model->join, i);
	struct id id = item_id(item);

	model->join->unmet += !item->met;
	if (item->announced && !item->met)	/* it is not in flight any more */
		command_forget(model, process_at(model, item->process),
			       item->u.launch.launch.correlation);
	replays_end(model, item->replay);
	map_remove(&ids_of(model, item)->launches[id.table], id.key);
	item_free(model->join, i);
}

static void drop_run(struct model *model, uint32_t i)
{
	struct join_item *item = item_at(model->join, i);
	struct id id = item_id(item);
	struct join_run run = item->u.run;
	uint32_t process = item->process;

	/* The lists keep the order of the chains, so this is the oldest of its chain. */
	chain_pop(model->join, &ids_of(model, item)->runs[id.table], id, i);
	item_free(model->join, i);
	join_hand_on(model, process_at(model, process), NULL, &run, HOW_NONE);
}

static void drop(struct model *model, uint32_t i)
{
	if (item_at(model->join, i)->is_run)
		drop_run(model, i);
	else
		drop_launch(model, i);
}

static void make_room(struct model *model)
{
	struct join *join = model->join;

	while (join->n >= JOIN_MAX && (join->leaving.first || join->launches.first))
		drop(model, join->leaving.first ? join->leaving.first : join->launches.first);
}

/* ---- meeting ---- */

/* On an in-order queue a later call starts later: checks that the run is in the place of its
 * launch, and remembers the latest. */
static bool run_in_order(struct model *model, struct process *process,
			 const struct event_launch *launch, const struct event_run *run,
			 int64_t written_ns)
{
	uint32_t index = process_queue_get(model, process, launch->queue);
	struct queue *queue = index == NONE ? NULL : queue_at(model, index);
	struct join_fifo *fifo;

	if (!queue || !(queue->flags & QUEUE_IN_ORDER) || !run->start_ticks)
		return true;
	if (!queue->fifo)
		queue->fifo = xcalloc(1, sizeof(*queue->fifo));
	fifo = queue->fifo;
	if (fifo->start_ticks && call_end(launch) <= fifo->call_ns)
		return run->start_ticks <= fifo->start_ticks;
	if (fifo->start_ticks && launch->call_ns >= fifo->call_end_ns &&
	    run->start_ticks < fifo->start_ticks)
		return false;
	if (launch->call_ns >= fifo->call_ns && run->start_ticks >= fifo->start_ticks) {
		fifo->call_ns = launch->call_ns;
		fifo->call_end_ns = call_end(launch);
		fifo->start_ticks = run->start_ticks;
		fifo->written_ns = written_ns;
	}
	return true;
}

/* HOW_NONE: they cannot belong together. */
static enum how judge_pair(struct model *model, const struct join_item *item,
			   const struct join_run *run)
{
	const struct join_ids *ids = ids_of(model, item);
	const struct event_launch *launch = &item->u.launch.launch;
	/* a graph's branches run on queues of their own, whose order says nothing of its launch */
	bool elsewhere = run->run.queue && run->run.queue != launch->queue;

	if (time_ok(run->time_ns) && run->time_ns < launch->call_ns)
		return HOW_NONE;
	if (item->doubt || !kinds_fit(launch, &run->run) || (elsewhere && !has_many(launch)))
		return HOW_GUESS;
	if (ids->reused && (ids->lost_ns > launch->call_ns ||
			    model->join->lost_ns > launch->call_ns))
		return HOW_GUESS;
	if (!elsewhere && !run_in_order(model, process_at(model, item->process), launch, &run->run,
					run->time_ns))
		return HOW_GUESS;
	return launch->correlation ? HOW_EXACT : HOW_EVENT;
}

/* The launch has a run and stays for others that may follow. */
static void keep_leaving(struct join *join, uint32_t i, int64_t time_ns)
{
	struct join_item *item = item_at(join, i);

	list_remove(join, list_of(join, item), i);
	item->met = true;
	if (time_ns > item->until_ns)
		item->until_ns = time_ns;
	list_add(join, &join->leaving, i);
}

static bool join_meet(struct model *model, uint32_t i, const struct join_run *run)
{
	struct join_item *item = item_at(model->join, i);
	struct event_launch launch = item->u.launch.launch;
	struct process *process = process_at(model, item->process);
	enum how how = judge_pair(model, item, run);
	struct join_run one = *run;

	if (how == HOW_NONE)
		return false;
	if (has_many(&launch)) {
		replays_node(model, process, &item->replay, &launch, &run->run);
		one.run.flags |= item->met ? CMD_MANY : 0;
	}
	keep_leaving(model->join, i, run->time_ns);
	item->guessed = !has_many(&launch) && how == HOW_GUESS;
	if (!has_many(&launch) && !item->guessed)
		drop_launch(model, i);
	join_hand_on(model, process, &launch, &one, how);
	return true;
}

/* Takes the run that waits under the launch's id; for a graph, all runs that fit. */
static void meet_waiting(struct model *model, struct process *process, uint32_t i, struct id id)
{
	struct join *join = model->join;
	struct map *map = &process->ids.runs[id.table];
	uint32_t run = lookup(map, id), next;
	bool many = has_many(&item_at(join, i)->u.launch.launch);

	/* The chain is rebuilt from the runs that stay. */
	if (run)
		map_remove(map, id.key);
	for (; run; run = next) {
		struct join_run met = item_at(join, run)->u.run;

		next = item_at(join, run)->same;
		if (i && join_meet(model, i, &met)) {
			item_free(join, run);
			i = many ? i : 0;
		} else {
			chain_add(join, map, id, run);
		}
	}
}

static void launch_by_id(struct model *model, struct process *process,
			 const struct join_launch *launch, struct id id)
{
	struct join *join = model->join;
	struct join_ids *ids = &process->ids;
	uint32_t old = lookup(&ids->launches[id.table], id), i;
	bool doubt = false;

	if (old) {
		/* The id was reused, so it is uncertain which launch the present run, and the run
		 * of the old launch, belong to. */
		ids->reused = true;
		doubt = !item_at(join, old)->guessed ||
			item_at(join, old)->until_ns >= launch->launch.call_ns;
		drop_launch(model, old);
	} else if (!id.table && done_get(process, launch->launch.correlation) &&
		   !lookup(&ids->runs[0], id)) {
		ids->reused = true;
	}
	make_room(model);
	i = item_new(model, process);
	item_at(join, i)->u.launch = *launch;
	item_at(join, i)->doubt = doubt;
	list_add(join, &join->launches, i);
	map_set(&ids->launches[id.table], id.key, i);
	meet_waiting(model, process, i, id);
}

static void run_by_id(struct model *model, struct process *process, const struct join_run *run,
		      struct id id)
{
	struct join *join = model->join;
	struct join_ids *ids = &process->ids;
	uint32_t launch = lookup(&ids->launches[id.table], id), i;

	if (launch && !item_at(join, launch)->guessed && join_meet(model, launch, run))
		return;
	make_room(model);
	i = item_new(model, process);
	item_at(join, i)->is_run = true;
	item_at(join, i)->u.run = *run;
	item_at(join, i)->until_ns = run->time_ns;
	list_add(join, &join->leaving, i);
	chain_add(join, &ids->runs[id.table], id, i);
}

/* ---- entry points ---- */

void apply_launch(struct model *model, const struct arrival *in)
{
	const struct event_launch *given = &in->event->u.launch;
	struct process *process = in->process;
	struct join_launch launch = {
		.launch = *given, .time_ns = arrival_written_ns(model, in),
	};
	uint32_t queue = process_queue_get(model, process, given->queue);
	struct id id = id_of(given->correlation, given->object);

	if (queue == NONE || given->kind == COMMAND_NONE || given->kind >= COMMAND_KIND_COUNT ||
	    !time_ok(given->call_ns)) {
		model_bad(model, BAD_KIND);
		return;
	}
	if (given->status < 0) {
		struct join_run none = {
			.run = { .status = given->status }, .time_ns = launch.time_ns,
		};

		join_hand_on(model, process, given, &none, HOW_NONE);
		return;
	}
	op_touched(model, process->index, given->op, local_name(model, process, given->op_name));
	if (id.key)
		launch_by_id(model, process, &launch, id);
	else
		join_fifo_launch(model, queue, &launch);
}

void apply_run(struct model *model, const struct arrival *in)
{
	const struct event_run *given = &in->event->u.run;
	struct join_run run = { .run = *given, .time_ns = arrival_written_ns(model, in) };
	struct id id = id_of(given->correlation, given->object);
	uint32_t queue = id.key ? NONE : process_queue_get(model, in->process, given->queue);

	if (given->kind >= COMMAND_KIND_COUNT || (!id.key && queue == NONE))
		model_bad(model, BAD_KIND);
	else if (id.key)
		run_by_id(model, in->process, &run, id);
	else
		join_fifo_run(model, queue, &run);
}

void join_hand_on(struct model *model, struct process *process, const struct event_launch *launch,
		  const struct join_run *given, enum how how)
{
	const struct event_run *run = &given->run;
	struct event_command command = {
		.queue = run->queue, .name = run->name, .correlation = run->correlation,
		.queued_ticks = run->queued_ticks, .submit_ticks = run->submit_ticks,
		.start_ticks = run->start_ticks, .end_ticks = run->end_ticks,
		.bytes = run->bytes, .status = run->status, .kind = run->kind, .shape = run->shape,
		.direction = run->direction, .how = (uint8_t)how, .flags = run->flags,
	};

	if (launch) {
		command.tid = launch->tid;
		command.op = launch->op;
		command.op_name = launch->op_name;
		command.shape = run->shape ? run->shape : launch->shape;
		command.call_ns = launch->call_ns;
		command.call_dur_ns = launch->call_dur_ns;
		command.flags |= launch->flags & (CMD_PINNED | CMD_BLOCKING);
		command.queue = has_many(launch) && run->queue ? run->queue : launch->queue;
		command.correlation = launch->correlation;
		command.name = run->name ? run->name : launch->name;
		command.kind = run->kind ? run->kind : launch->kind;
		command.bytes = run->bytes ? run->bytes : launch->bytes;
		command.direction = run->direction ? run->direction : launch->direction;
	}
	command.flags &= (uint8_t)~CMD_OPEN;
	command_in(model, process, &command, launch ?
		   (struct command_node){ run->op_name, run->source } : (struct command_node){ 0 },
		   given->time_ns);
}

void join_lost(struct model *model, uint32_t process, int64_t end_ns)
{
	int64_t *lost = process == NONE ? &model->join->lost_ns :
					  &process_at(model, process)->ids.lost_ns;

	if (end_ns > *lost)
		*lost = end_ns;
}

/* The vendor's library says how many records it dropped, never which. */
void join_beat(struct model *model, const struct arrival *in)
{
	const struct event_beat *beat = &in->event->u.beat;
	struct join_ids *ids = &in->process->ids;

	if (beat->vendor_dropped > ids->vendor_dropped) {
		ids->vendor_dropped = beat->vendor_dropped;
		join_lost(model, in->process->index, arrival_written_ns(model, in));
	}
}

#define HOLD_LOOK 64			/* how many runs are examined to find the earliest */
#define GIVE_UP_LOOK 256u

/* On an in-order queue, a launch before one that has long run has run too: its record is
 * lost. */
static void join_give_up(struct model *model, int64_t settled_ns, uint32_t most)
{
	struct join *join = model->join;
	uint32_t next;

	for (uint32_t i = join->launches.first; i && most-- > 0; i = next) {
		const struct join_item *item = item_at(join, i);
		const struct event_launch *launch = &item->u.launch.launch;
		uint32_t queue = map_get(&process_at(model, item->process)->queues, launch->queue);
		const struct join_fifo *fifo = queue == MAP_NONE ? NULL :
					       queue_at(model, queue)->fifo;

		next = item->next;
		if (fifo && fifo->start_ticks && call_end(launch) <= fifo->call_ns &&
		    fifo->written_ns < settled_ns - JOIN_WAIT_NS)
			drop_launch(model, i);
	}
}

#define ANNOUNCE_NS 10000000		/* as the probes do with whole commands */

/* A launch that has not run for a while is drawn as in flight. */
static void announce_launches(struct model *model, int64_t settled_ns)
{
	struct join *join = model->join;
	uint32_t prev;

	for (uint32_t i = join->launches.last; i; i = prev) {
		struct join_item *item = item_at(join, i);
		const struct event_launch *launch = &item->u.launch.launch;
		struct event_command command = {
			.tid = launch->tid, .queue = launch->queue, .name = launch->name,
			.shape = launch->shape, .correlation = launch->correlation,
			.op = launch->op, .op_name = launch->op_name, .call_ns = launch->call_ns,
			.call_dur_ns = launch->call_dur_ns, .bytes = launch->bytes,
			.kind = launch->kind, .direction = launch->direction, .flags = CMD_OPEN,
		};

		prev = item->prev;
		if (item->announced)
			break;		/* and all before it */
		if (!launch->correlation || launch->call_ns > settled_ns - ANNOUNCE_NS)
			continue;
		item->announced = true;
		command_in(model, process_at(model, item->process), &command,
			   (struct command_node){ 0 }, item->u.launch.time_ns);
	}
}

/* Runs that wait will be drawn where they started, so that time has not settled. */
static void join_hold(struct model *model)
{
	struct join *join = model->join;
	int64_t hold_ns = INT64_MAX, ns;
	int looked = 0;

	for (uint32_t i = join->leaving.first; i && looked < HOLD_LOOK;
	     i = item_at(join, i)->next) {
		const struct join_item *item = item_at(join, i);

		looked++;
		if (!item->is_run)
			continue;
		ns = join_start_ns(model, map_get(&process_at(model, item->process)->queues,
						  item->u.run.run.queue), &item->u.run);
		if (ns < hold_ns)
			hold_ns = ns;
	}
	for (uint32_t i = 0; i < model->queues.n; i++) {
		const struct join_fifo *fifo = queue_at(model, i)->fifo;

		if (!fifo || !fifo->n_runs)
			continue;
		ns = join_start_ns(model, i, &fifo->runs[0]);
		if (ns < hold_ns)
			hold_ns = ns;
	}
	model->hold_ns = hold_ns == INT64_MAX ? 0 : hold_ns;
}

void join_settle(struct model *model, int64_t settled_ns)
{
	struct join *join = model->join;
	uint32_t i, looked = 0;

	while ((i = join->leaving.first) &&
	       item_at(join, i)->until_ns < settled_ns - JOIN_WAIT_NS) {
		drop(model, i);
		if (++looked % 64 == 0)
			model_breathe(model);
	}
	for (i = 0; i < model->queues.n; i++)
		if (queue_at(model, i)->fifo)
			join_fifo_settle(model, i, settled_ns, false);
	join_give_up(model, settled_ns, GIVE_UP_LOOK);
	announce_launches(model, settled_ns);
	join_hold(model);
}

void join_finish(struct model *model)
{
	struct join *join = model->join;

	for (uint32_t i = 0; i < model->queues.n; i++)
		if (queue_at(model, i)->fifo)
			join_fifo_settle(model, i, model->live_ns, true);
	while (join->leaving.first)
		drop(model, join->leaving.first);
	join_give_up(model, INT64_MAX, UINT32_MAX);
	while (join->launches.first) {
		/* It may still be running: it stays in flight. */
		item_at(join, join->launches.first)->announced = false;
		drop(model, join->launches.first);
	}
	model->hold_ns = 0;
}

void join_process_release(struct join_ids *ids)
{
	for (int table = 0; table < 2; table++) {
		map_release(&ids->launches[table]);
		map_release(&ids->runs[table]);
	}
}

size_t join_process_bytes(const struct join_ids *ids)
{
	return map_bytes(&ids->launches[0]) + map_bytes(&ids->launches[1]) +
	       map_bytes(&ids->runs[0]) + map_bytes(&ids->runs[1]);
}

void join_new(struct model *model)
{
	model->join = xcalloc(1, sizeof(*model->join));
}

size_t join_bytes(const struct model *model)
{
	return sizeof(*model->join) + model->join->cap_items * sizeof(*model->join->items) +
	       replays_bytes(model->join->replays);
}

void join_free(struct model *model)
{
	free(model->join->items);
	replays_free(model->join->replays);
	free(model->join);
}
