/* SPDX-License-Identifier: MIT */
#include "model/align/hosts.h"

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

/* For device work and for what the host waits for. */
static void map_work_times(const struct host_mapping *mapping, struct event *event)
{
	switch ((enum event_type)event->type) {
	case EVENT_COMMAND:
		map_time(mapping, &event->u.command.call_ns);
		map_approx(mapping, event->u.command.flags, &event->u.command.start_ticks,
			   &event->u.command.end_ticks);
		break;
	case EVENT_LAUNCH:
		map_time(mapping, &event->u.launch.call_ns);
		break;
	case EVENT_RUN:
		map_approx(mapping, event->u.run.flags, &event->u.run.start_ticks,
			   &event->u.run.end_ticks);
		break;
	case EVENT_OP:
		map_span(mapping, &event->u.op.start_ns, &event->u.op.dur_ns);
		break;
	case EVENT_STEP:
		map_span(mapping, &event->u.step.start_ns, &event->u.step.dur_ns);
		break;
	case EVENT_CALL:
		map_span(mapping, &event->u.call.start_ns, &event->u.call.dur_ns);
		break;
	case EVENT_WAIT:
		map_span(mapping, &event->u.wait.start_ns, &event->u.wait.dur_ns);
		break;
	case EVENT_COMPILE:
		map_span(mapping, &event->u.compile.start_ns, &event->u.compile.dur_ns);
		break;
	default:
		break;
	}
}

static void map_times(const struct host_mapping *mapping, struct event *event)
{
	switch ((enum event_type)event->type) {
	case EVENT_PROCESS:
		map_time(mapping, &event->u.process.start_ns);
		break;
	case EVENT_STAGES:
		map_time(mapping, &event->u.stages.begin_ns);
		map_time(mapping, &event->u.stages.end_ns);
		break;
	case EVENT_POOL:
		map_time(mapping, &event->u.pool.begin_ns);
		map_time(mapping, &event->u.pool.end_ns);
		break;
	case EVENT_CLOCK:
		map_time(mapping, &event->u.clock.host_ns);
		break;
	case EVENT_ALLOC:
		map_time(mapping, &event->u.alloc.at_ns);
		break;
	case EVENT_FREE:
		map_time(mapping, &event->u.free.at_ns);
		break;
	case EVENT_COUNTER:
		map_time(mapping, &event->u.counter.at_ns);
		break;
	case EVENT_FLOW:
		map_time(mapping, &event->u.flow.at_ns);
		break;
	case EVENT_SETTLED:
		map_time(mapping, &event->u.settled.settled_ns);
		break;
	case EVENT_LEVEL:
		map_time(mapping, &event->u.level.at_ns);
		break;
	case EVENT_LOST:
		map_time(mapping, &event->u.lost.begin_ns);
		map_time(mapping, &event->u.lost.end_ns);
		break;
	default:
		map_work_times(mapping, event);
	}
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
