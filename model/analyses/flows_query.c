/* SPDX-License-Identifier: MIT */
/*
 * The list of messages: those whose two ends were joined (flows/), with what they cost per step
 * (wire.c).
 */
#include "model/query/flows.h"

#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/base/util.h"
#include "model/core/model.h"
#include "model/flows/flows.h"

static int by_bytes(const void *a, const void *b)
{
	const struct flow_row *x = a, *y = b;

	return DESCENDING(x, y, bytes) ?: DESCENDING(x, y, sent) ?:
	       (x->key && y->key ? strcmp(x->key, y->key) : (x->key != NULL) - (y->key != NULL));
}

static void flow_row_fill(struct model *model, struct flow_row *row, const struct flow_total *sum)
{
	struct flow_name parts = flow_name(model, sum->name);

	*row = (struct flow_row) {
		.key = names_raw(&model->names, parts.what),
		.source = names_raw(&model->names, parts.source),
		.destination = names_raw(&model->names, parts.destination),
		.sent = sum->sent, .received = sum->received, .bytes = sum->bytes,
		.joined = sum->joined, .encoded = sum->encoded, .decoded = sum->decoded,
		.encode_ns = sum->encode_ns, .decode_ns = sum->decode_ns, .wait_ns = sum->wait_ns,
		.wire_ns = sum->wire_ns, .error_ns = sum->error_ns,
		.latency_p50_ns = hist_percentile(&sum->latency, 500),
		.latency_p99_ns = hist_percentile(&sum->latency, 990),
		.local = (sum->joined && sum->local == sum->joined) ||
			 (parts.source && parts.source == parts.destination),
	};
	wire_of(model, sum->name, &row->bytes_per_step, &row->alone_ns_per_step);
}

static void flow_total_merge(struct flow_total *to, const struct flow_total *from)
{
	to->sent += from->sent;
	to->received += from->received;
	to->bytes += from->bytes;
	to->joined += from->joined;
	to->local += from->local;
	to->encoded += from->encoded;
	to->decoded += from->decoded;
	add_ns(&to->encode_ns, from->encode_ns);
	add_ns(&to->decode_ns, from->decode_ns);
	add_ns(&to->wait_ns, from->wait_ns);
	add_ns(&to->wire_ns, from->wire_ns);
	if (from->error_ns > to->error_ns)
		to->error_ns = from->error_ns;
	hist_merge(&to->latency, &from->latency);
}

/* Merges names that were not defined when their first message arrived and turned out to be the
 * same. */
size_t model_flows(struct model *model, struct flow_row **out)
{
	struct flows *flows = model->flows;
	struct flow_total *sums = xcalloc(flows->totals.n, sizeof(*sums));
	struct map by_name = { .size = 0 };
	size_t n = 0;

	for (uint32_t i = 0; i < flows->totals.n; i++) {
		const struct flow_total *total = flow_total_at(flows, i);
		uint32_t name = names_resolve(&model->names, total->name);
		uint32_t at = map_get(&by_name, name);

		if (at == MAP_NONE) {
			at = (uint32_t)n;
			sums[n++].name = name;
			map_set(&by_name, name, at);
		}
		flow_total_merge(&sums[at], total);
	}
	map_release(&by_name);
	*out = xcalloc(n, sizeof(**out));
	for (size_t i = 0; i < n; i++) {
		flow_row_fill(model, &(*out)[i], &sums[i]);
		hist_release(&sums[i].latency);
	}
	free(sums);
	if (n)
		qsort(*out, n, sizeof(**out), by_bytes);
	return n;
}
