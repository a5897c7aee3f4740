/* SPDX-License-Identifier: MIT */
#include "model/flows/flows.h"

#include <stdlib.h>
#include <string.h>

#include "model/align/hosts.h"
#include "model/base/util.h"
#include "model/core/model.h"

void flows_new(struct model *model)
{
	model->flows = xcalloc(1, sizeof(*model->flows));
	store_init(&model->flows->totals, sizeof(struct flow_total));
}

void flows_free(struct model *model)
{
	struct flows *flows = model->flows;

	for (uint32_t i = 0; i < flows->totals.n; i++)
		hist_release(&flow_total_at(flows, i)->latency);
	store_release(&flows->totals);
	map_release(&flows->total_by_name);
	map_release(&flows->wait_by_key);
	map_release(&flows->peer_by_op);
	free(flows->waits);
	free(flows->peers);
	free(flows->made);
	free(flows->fresh);
	free(flows);
}

size_t flows_bytes(const struct model *model)
{
	const struct flows *flows = model->flows;
	size_t bytes = flows->totals.n * sizeof(struct flow_total) +
		       map_bytes(&flows->total_by_name) + map_bytes(&flows->wait_by_key) +
		       map_bytes(&flows->peer_by_op) + flows->cap_fresh * sizeof(*flows->fresh);

	if (flows->made)
		bytes += FLOW_OUTPUTS * sizeof(*flows->made);
	if (flows->waits)
		bytes += FLOWS_WAIT * sizeof(*flows->waits);
	if (flows->peers)
		bytes += FLOW_PEERS * sizeof(*flows->peers);
	return bytes;
}

/* ---- totals ---- */

/* NULL: there are too many names. */
static struct flow_total *flow_total_get(struct model *model, uint32_t name)
{
	struct flows *flows = model->flows;
	struct flow_total *total;
	uint32_t i;

	name = names_resolve(&model->names, name);
	i = map_get(&flows->total_by_name, name);
	if (i != MAP_NONE)
		return flow_total_at(flows, i);
	if (flows->totals.n >= FLOW_TOTALS_MAX)
		return NULL;
	total = store_new(&flows->totals);
	total->name = name;
	map_set(&flows->total_by_name, name, flows->totals.n - 1);
	return total;
}

const struct flow_total *flow_total_of(const struct model *model, uint32_t name)
{
	uint32_t i = map_get(&model->flows->total_by_name, name);

	return i == MAP_NONE ? NULL : flow_total_at(model->flows, i);
}

static void flow_count(struct flow_total *total, const struct event_flow *flow)
{
	int64_t dur_ns = flow->dur_ns > 0 ? flow->dur_ns : 0;

	switch ((enum flow_phase)flow->phase) {
	case FLOW_SENT:
		total->sent++;
		total->bytes += flow->bytes;
		break;
	case FLOW_RECEIVED:
		total->received++;
		add_ns(&total->wait_ns, dur_ns);
		break;
	case FLOW_ENCODED:
		total->encoded++;
		add_ns(&total->encode_ns, dur_ns);
		break;
	default:
		total->decoded++;
		add_ns(&total->decode_ns, dur_ns);
	}
}

/* ---- sizes of ops' outputs ---- */

static void flow_made_add(struct model *model, uint32_t op_name, uint64_t bytes)
{
	struct flows *flows = model->flows;

	for (uint32_t i = 0; i < flows->n_made; i++)
		if (flows->made[i].op_name == op_name) {
			flows->made[i].bytes = bytes;
			return;
		}
	if (!op_name || flows->n_made == FLOW_OUTPUTS) {
		model_bad(model, op_name ? BAD_FULL : BAD_ID);
		return;
	}
	if (!flows->made)
		flows->made = xcalloc(FLOW_OUTPUTS, sizeof(*flows->made));
	flows->made[flows->n_made++] = (struct flow_made) { op_name, bytes };
}

/* The name may not have been known when the flow was reported. */
uint64_t flows_made(const struct model *model, uint32_t op_name)
{
	const struct flows *flows = model->flows;

	for (uint32_t i = 0; i < flows->n_made; i++)
		if (names_resolve(&model->names, flows->made[i].op_name) == op_name)
			return flows->made[i].bytes;
	return 0;
}

/* ---- joining both ends ---- */

static uint64_t op_key(uint32_t process, uint64_t op)
{
	return op ^ map_mix((uint64_t)process + 1);
}

static void flow_remember_peer(struct flows *flows, const struct flow_end *end,
			       const struct flow_end *other)
{
	struct flow_peer *peer;

	if (!end->op || !other->op)
		return;
	if (!flows->peers)
		flows->peers = xcalloc(FLOW_PEERS, sizeof(*flows->peers));
	peer = &flows->peers[flows->next_peer % FLOW_PEERS];
	if (peer->op && map_get(&flows->peer_by_op, peer->key) == flows->next_peer % FLOW_PEERS)
		map_remove(&flows->peer_by_op, peer->key);
	*peer = (struct flow_peer) {
		.key = op_key(end->process, end->op), .op = other->op, .at_ns = other->at_ns,
		.process = other->process, .tid = other->tid,
	};
	map_set(&flows->peer_by_op, peer->key, flows->next_peer++ % FLOW_PEERS);
}

const struct flow_peer *flow_peer(const struct model *model, uint32_t process, uint64_t op)
{
	uint32_t i = map_get(&model->flows->peer_by_op, op_key(process, op));

	return i == MAP_NONE ? NULL : &model->flows->peers[i];
}

static void put_fresh(struct flows *flows, const struct flow_message *message)
{
	/* Without slices no analysis takes the messages, so the oldest are dropped. */
	if (flows->n_fresh >= FLOW_NEW) {
		flows->n_fresh /= 2;
		memmove(flows->fresh, flows->fresh + flows->n_fresh,
			flows->n_fresh * sizeof(*flows->fresh));
	}
	grow(&flows->fresh, &flows->cap_fresh, flows->n_fresh, sizeof(*flows->fresh));
	flows->fresh[flows->n_fresh++] = *message;
}

size_t flows_take(struct model *model, int64_t t_ns, struct flow_message **out)
{
	struct flows *flows = model->flows;
	size_t n = 0, kept = 0;

	*out = flows->n_fresh ? xreallocarray(NULL, flows->n_fresh, sizeof(**out)) : NULL;
	for (size_t i = 0; i < flows->n_fresh; i++) {
		if (flows->fresh[i].end_ns < t_ns)
			(*out)[n++] = flows->fresh[i];
		else
			flows->fresh[kept++] = flows->fresh[i];
	}
	flows->n_fresh = kept;
	return n;
}

static void flow_join(struct model *model, const struct flow_wait *wait)
{
	const struct flow_end *from = &wait->sent, *to = &wait->received;
	struct flow_total *total = flow_total_get(model, wait->name);
	int64_t asked_ns = to->dur_ns > 0 ? to->at_ns - to->dur_ns : to->at_ns;
	int64_t ready_ns = from->at_ns > asked_ns ? from->at_ns : asked_ns, error_ns = 0;
	uint16_t host = process_at(model, from->process)->host;
	uint16_t other = process_at(model, to->process)->host;

	flow_remember_peer(model->flows, from, to);
	flow_remember_peer(model->flows, to, from);
	if (!total)
		return;
	if (host != other)
		error_ns = hosts_error(model, host) + hosts_error(model, other);
	if (ready_ns > to->at_ns)	/* the two clocks disagree */
		ready_ns = to->at_ns;
	total->joined++;
	total->local += from->process == to->process;
	hist_add(&total->latency, to->at_ns > from->at_ns ? to->at_ns - from->at_ns : 0);
	add_ns(&total->wire_ns, to->at_ns - ready_ns);
	if (error_ns > total->error_ns)
		total->error_ns = error_ns;
	if (from->process == to->process)
		return;
	put_fresh(model->flows, &(struct flow_message) {
		.sent_ns = from->at_ns, .ready_ns = ready_ns, .end_ns = to->at_ns,
		.bytes = wait->bytes, .op = to->op, .name = wait->name,
		.from = from->process, .to = to->process,
	});
}

static void forget(struct flows *flows, uint32_t i)
{
	if (flows->waits[i].waits)
		map_remove(&flows->wait_by_key, flows->waits[i].key);
	flows->waits[i].waits = false;
}

/* Handles one end of a message, and joins it with the other if that has arrived. */
static void flow_meet(struct model *model, const struct arrival *in, uint32_t name)
{
	const struct event_flow *flow = &in->event->u.flow;
	struct flows *flows = model->flows;
	bool sent = flow->phase == FLOW_SENT;
	struct flow_end end = {
		.at_ns = flow->at_ns, .dur_ns = flow->dur_ns, .op = flow->op, .known = true,
		.process = in->process->index, .tid = in->event->tid,
	};
	uint32_t i = map_get(&flows->wait_by_key, flow->key);
	struct flow_wait *wait;

	if (!flows->waits)
		flows->waits = xcalloc(FLOWS_WAIT, sizeof(*flows->waits));
	if (i == MAP_NONE || (sent ? flows->waits[i].sent : flows->waits[i].received).known) {
		/* The same end arrived again, so the other end was lost. */
		if (i != MAP_NONE)
			forget(flows, i);
		i = flows->next_wait++ % FLOWS_WAIT;
		forget(flows, i);
		flows->waits[i] = (struct flow_wait) {
			.key = flow->key, .name = name, .waits = true,
		};
		map_set(&flows->wait_by_key, flow->key, i);
	}
	wait = &flows->waits[i];
	if (sent) {
		wait->sent = end;
		wait->name = name;
		wait->bytes = flow->bytes;
	} else {
		wait->received = end;
		if (!wait->bytes)
			wait->bytes = flow->bytes;
	}
	if (!wait->sent.known || !wait->received.known)
		return;
	flow_join(model, wait);
	forget(flows, i);
}

void apply_flow(struct model *model, const struct arrival *in)
{
	const struct event_flow *flow = &in->event->u.flow;
	uint32_t name = local_name(model, in->process, flow->name);
	struct flow_total *total;

	if (flow->phase >= FLOW_PHASE_COUNT || flow->bytes > (uint64_t)1 << 60) {
		model_bad(model, BAD_KIND);
		return;
	}
	if (!time_ok(flow->at_ns) || flow->dur_ns < -1 || flow->dur_ns > DUR_MAX) {
		model_bad(model, flow->dur_ns < -1 ? BAD_END : BAD_FAR);
		return;
	}
	if (flow->phase == FLOW_MADE) {
		flow_made_add(model, name, flow->bytes);
		return;
	}
	total = flow_total_get(model, name);
	if (!total)
		model_bad(model, BAD_FULL);
	else
		flow_count(total, flow);
	if (flow->key && flow->phase <= FLOW_RECEIVED)
		flow_meet(model, in, name);
}
