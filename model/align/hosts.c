/* SPDX-License-Identifier: MIT */
#include "model/align/hosts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"

/* ---- the hosts ---- */

/* NULL: there are too many. */
static struct host *host_get(struct hosts *hosts, uint16_t host)
{
	if (host == 0)
		return &hosts->first;
	if (host >= HOSTS_MAX)
		return NULL;
	if (!hosts->graph) {
		hosts->graph = clock_graph_new();
		hosts->n = 0;
	}
	while (hosts->n <= host)
		hosts->list[hosts->n++] = clock_graph_node(hosts->graph) ?
					  xcalloc(1, sizeof(struct host)) : NULL;
	return hosts->list[host];
}

/* Links the clocks as soon as both wall clocks are known. */
static void link_wall(struct hosts *hosts, uint32_t index)
{
	struct host *host = hosts->list[index];
	int64_t ahead;

	if (!host || host->linked || !host->has_wall || !hosts->first.has_wall ||
	    __builtin_sub_overflow(host->wall_ns, hosts->first.wall_ns, &ahead))
		return;
	/* When its clock was 0, host 0's clock was `ahead`. */
	clock_guess(&host->wall, 0, ahead, HOSTS_WALL_NS);
	clock_graph_attach(hosts->graph, index, 0, &host->wall);
	host->linked = true;
}

/* Applies what a process reports about its host's clocks. */
static void hosts_wall(struct model *model, uint16_t index, int64_t mono_ns, int64_t real_ns)
{
	struct hosts *hosts = model->hosts;
	struct host *host = host_get(hosts, index);

	if (!host || host->has_wall || !time_ok(mono_ns) || !time_ok(real_ns))
		return;
	host->has_wall = true;
	host->wall_ns = real_ns - mono_ns;
	for (uint32_t i = 1; i < hosts->n; i++)
		link_wall(hosts, i);
}

int64_t hosts_error(const struct model *model, uint16_t host)
{
	const struct hosts *hosts = model->hosts;

	return host && host < hosts->n ? hosts->list[host]->error_ns : 0;
}

size_t model_hosts(struct model *model, struct host_row **out)
{
	struct hosts *hosts = model->hosts;
	size_t n = 0;

	*out = xcalloc(hosts->n, sizeof(**out));
	for (uint32_t i = 1; i < hosts->n; i++) {
		struct host_row *row = &(*out)[n];
		int64_t ns;

		row->host = (uint16_t)i;
		for (uint32_t p = 0; p < model->processes.n && !row->name; p++)
			if (process_at(model, p)->host == i && process_at(model, p)->host_name)
				row->name = names_raw(&model->names,
						      process_at(model, p)->host_name);
		if (!row->name && !hosts->list[i]->has_wall)
			continue;
		row->clock_known = clock_graph_map(hosts->graph, i, 0, &ns, &row->clock_error_ns);
		row->clock_error_ns = hosts->list[i]->error_ns;
		row->by_messages = row->clock_known && row->clock_error_ns < HOSTS_WALL_NS;
		n++;
	}
	return n;
}

int64_t model_wall(struct model *model, int64_t ns)
{
	int64_t wall_ns;

	if (!model->hosts->first.has_wall || !time_ok(ns) ||
	    __builtin_add_overflow(model->hosts->first.wall_ns, ns, &wall_ns) || wall_ns < 0)
		return 0;
	return wall_ns;
}

const char *host_clock_name(const struct host_row *row)
{
	return !row->clock_known ? "none" : row->by_messages ? "messages" : "wall clock";
}

uint64_t model_host_violations(struct model *model)
{
	return model->hosts->graph ? clock_graph_violations(model->hosts->graph) : 0;
}

/* ---- times ---- */

struct host_mapping { struct hosts *hosts; uint16_t host; };

static void map_time(const struct host_mapping *mapping, int64_t *ns)
{
	int64_t mapped, error_ns;

	if (!time_ok(*ns) || !clock_graph_map(mapping->hosts->graph, mapping->host, (uint64_t)*ns,
					      &mapped, &error_ns))
		return;
	mapping->hosts->list[mapping->host]->error_ns = error_ns;
	/* A time before the beginning of host 0's clock becomes the earliest possible one. */
	*ns = mapped < 1 ? 1 : mapped < TIME_MAX ? mapped : *ns;
}

/* Converts the end as well as the start, because spans inside this one would stick out otherwise.
 * If the line changes in between, the duration is kept. */
static void map_span(const struct host_mapping *mapping, int64_t *start_ns, int64_t *dur_ns)
{
	int64_t end_ns, length_ns;

	if (*dur_ns <= 0 || __builtin_add_overflow(*start_ns, *dur_ns, &end_ns) ||
	    !time_ok(*start_ns) || !time_ok(end_ns)) {
		map_time(mapping, start_ns);
		return;
	}
	map_time(mapping, start_ns);
	map_time(mapping, &end_ns);
	length_ns = end_ns - *start_ns;
	if (length_ns >= 0 && llabs(length_ns - *dur_ns) <= *dur_ns / (HULL_DRIFT / 2) + 100)
		*dur_ns = length_ns;
}

static void map_approx(const struct host_mapping *mapping, uint8_t flags, uint64_t *start,
		       uint64_t *end)
{
	if (!(flags & CMD_APPROX))
		return;
	map_time(mapping, (int64_t *)start);
	map_time(mapping, (int64_t *)end);
}

/* Of each type of event the times by its host's clock, and a start with its duration. */
#define TIME(member) offsetof(struct event, u.member)
static const uint16_t host_times[EVENT_TYPE_COUNT][2] = {
	[EVENT_PROCESS] = { TIME(process.start_ns) },
	[EVENT_COMMAND] = { TIME(command.call_ns) },
	[EVENT_LAUNCH] = { TIME(launch.call_ns) },
	[EVENT_STAGES] = { TIME(stages.begin_ns), TIME(stages.end_ns) },
	[EVENT_POOL] = { TIME(pool.begin_ns), TIME(pool.end_ns) },
	[EVENT_CLOCK] = { TIME(clock.host_ns) },
	[EVENT_ALLOC] = { TIME(alloc.at_ns) },
	[EVENT_FREE] = { TIME(free.at_ns) },
	[EVENT_COUNTER] = { TIME(counter.at_ns) },
	[EVENT_FLOW] = { TIME(flow.at_ns) },
	[EVENT_DOING] = { TIME(doing.at_ns) },
	[EVENT_SETTLED] = { TIME(settled.settled_ns) },
	[EVENT_LEVEL] = { TIME(level_now.at_ns) },
	[EVENT_TAKEN] = { TIME(taken.at_ns) },
	[EVENT_LOST] = { TIME(lost.begin_ns), TIME(lost.end_ns) },
};
static const uint16_t host_spans[EVENT_TYPE_COUNT][2] = {
	[EVENT_OP] = { TIME(op.start_ns), TIME(op.dur_ns) },
	[EVENT_STEP] = { TIME(step.start_ns), TIME(step.dur_ns) },
	[EVENT_REQUEST] = { TIME(request.start_ns), TIME(request.dur_ns) },
	[EVENT_CALL] = { TIME(call.start_ns), TIME(call.dur_ns) },
	[EVENT_WAIT] = { TIME(wait.start_ns), TIME(wait.dur_ns) },
	[EVENT_COMPILE] = { TIME(compile.start_ns), TIME(compile.dur_ns) },
	[EVENT_BARE] = { TIME(bare.start_ns), TIME(bare.dur_ns) },
	[EVENT_DOING] = { TIME(doing.start_ns), TIME(doing.dur_ns) },
};

static int64_t *time_at(struct event *event, uint16_t offset)
{
	return (int64_t *)(void *)((char *)event + offset);
}

static void map_times(const struct host_mapping *mapping, struct event *event)
{
	const uint16_t *times, *span;

	if (event->type >= EVENT_TYPE_COUNT)
		return;
	times = host_times[event->type];
	span = host_spans[event->type];
	for (int i = 0; i < 2 && times[i]; i++)
		map_time(mapping, time_at(event, times[i]));
	if (span[0])
		map_span(mapping, time_at(event, span[0]), time_at(event, span[1]));
	if (event->type == EVENT_COMMAND)
		map_approx(mapping, event->u.command.flags, &event->u.command.start_ticks,
			   &event->u.command.end_ticks);
	else if (event->type == EVENT_RUN)
		map_approx(mapping, event->u.run.flags, &event->u.run.start_ticks,
			   &event->u.run.end_ticks);
}

/* ---- messages ---- */

static void flow_forget(struct hosts *hosts, uint32_t i)
{
	if (hosts->flows[i].waits)
		map_remove(&hosts->flow_by_key, hosts->flows[i].key);
	hosts->flows[i].waits = false;
}

static void hosts_flow(struct model *model, const struct event *event)
{
	struct hosts *hosts = model->hosts;
	struct flow_side side = {
		.key = event->u.flow.key, .at_ns = event->u.flow.at_ns, .host = event->host,
		.received = event->u.flow.phase == FLOW_RECEIVED, .waits = true,
	};
	uint32_t i = map_get(&hosts->flow_by_key, side.key);

	/* a bad event is counted where it is applied */
	if (!time_ok(side.at_ns) || !host_get(hosts, side.host))
		return;
	if (!hosts->flows)
		hosts->flows = xcalloc(HOSTS_FLOWS, sizeof(*hosts->flows));
	if (i != MAP_NONE) {
		struct flow_side other = hosts->flows[i];

		flow_forget(hosts, i);
		if (other.received != side.received) {
			const struct flow_side *from = side.received ? &other : &side;
			const struct flow_side *to = side.received ? &side : &other;

			if (hosts->graph)
				clock_graph_message(hosts->graph, from->host, from->at_ns, to->host,
						    to->at_ns);
			return;
		}
	}
	i = hosts->next_flow++ % HOSTS_FLOWS;
	flow_forget(hosts, i);
	hosts->flows[i] = side;
	map_set(&hosts->flow_by_key, side.key, i);
}

const struct event *hosts_map(struct model *model, const struct event *event)
{
	struct hosts *hosts = model->hosts;
	struct host_mapping mapping = { hosts, event->host };

	if (event->type == EVENT_PROCESS)
		hosts_wall(model, event->host, event->u.process.mono_ns, event->u.process.real_ns);
	else if (event->type == EVENT_BEAT)
		hosts_wall(model, event->host, event->u.beat.mono_ns, event->u.beat.real_ns);
	else if (event->type == EVENT_FLOW && event->u.flow.phase <= FLOW_RECEIVED)
		hosts_flow(model, event);
	if (!event->host)
		return event;
	if (!host_get(hosts, event->host)) {
		model_odd(model, BAD_FULL);	/* the times are not converted */
		return event;
	}
	hosts->mapped = *event;
	map_times(&mapping, &hosts->mapped);
	map_time(&mapping, &hosts->mapped.time_ns);
	return &hosts->mapped;
}

void hosts_new(struct model *model)
{
	model->hosts = xcalloc(1, sizeof(*model->hosts));
}

size_t hosts_bytes(const struct model *model)
{
	return sizeof(*model->hosts);
}

void hosts_free(struct model *model)
{
	struct hosts *hosts = model->hosts;

	clock_graph_free(hosts->graph);
	for (uint32_t i = 0; i < hosts->n; i++) {
		if (hosts->list[i])
			clock_release(&hosts->list[i]->wall);
		free(hosts->list[i]);
	}
	free(hosts->flows);
	map_release(&hosts->flow_by_key);
	free(hosts);
}
