/* SPDX-License-Identifier: MIT */
#include "model/analyses/critical_host.h"

#include <stdlib.h>

#include "model/analyses/host_maker.h"

#define HOST_MAX 16384u

void critical_host_edge(struct critical_host *host, enum path_kind kind, uint32_t thread,
			int64_t start_ns, int64_t end_ns)
{
	if (kind != PATH_HOST && kind != PATH_INPUT)
		return;
	grow(&host->edges, &host->cap, host->n, sizeof(*host->edges));
	host->edges[host->n++] = (struct host_edge) { start_ns, end_ns, thread, (uint8_t)kind };
}

void critical_host_slice(struct model *model, struct critical_host *host,
			 const struct basis *basis, enum scope scope)
{
	while (host->n) {
		const struct host_edge *edge = &host->edges[--host->n];
		uint32_t thread = edge->thread;

		if (edge->kind == PATH_INPUT)
			thread = host_maker(model, thread, host->asking, edge->start_ns,
					    edge->end_ns);
		host_time_count(model, &host->time, HOST_MAX, edge->kind, thread, edge->start_ns,
				edge->end_ns);
	}
	if (host->scope != basis_scope(basis))
		host->time.total.n = 0;
	host->scope = basis_scope(basis);
	if (scope == host->scope)
		host_time_commit(&host->time);
	else
		host_time_drop(&host->time);
}

void critical_host_release(struct critical_host *host)
{
	free(host->edges);
	host_time_release(&host->time);
}

size_t critical_host_bytes(const struct critical_host *host)
{
	return host->cap * sizeof(*host->edges) + host_time_bytes(&host->time);
}

size_t critical_host_mean(struct model *model, const struct critical_host *host,
			  const struct basis *basis, const struct critical_path *path,
			  struct host_time_row **rows)
{
	struct host_parts parts = host->time.total;

	for (uint32_t i = 0; i < parts.n; i++)
		parts.list[i].ns = basis_per(basis, parts.list[i].ns);
	return host_time_rows(model, &parts, path->ns, PATH_KINDS, 1, rows);
}

size_t critical_host_within(struct model *model, const struct critical_host *host, int64_t t0,
			    int64_t t1, const struct critical_path *path,
			    struct host_time_row **rows)
{
	struct host_parts parts = { .n = 0 };

	host_time_within(&host->time, t0, t1, &parts);
	return host_time_rows(model, &parts, path->ns, PATH_KINDS, 1, rows);
}
