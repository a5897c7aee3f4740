/* SPDX-License-Identifier: MIT */
/*
 * What the host did in those edges of the critical path of which only a look at the thread can tell
 * it: those of the kinds host and input. Each counts on the thread that it lies on, by the rules of
 * host_time.h, with enum path_kind as the class; input on that which makes it (host_maker()).
 *
 * Always true: only slices of the scope in use are added up, as in the means of the path.
 */
#ifndef MODEL_CRITICAL_HOST_H
#define MODEL_CRITICAL_HOST_H

#include "model/analyses/basis.h"
#include "model/analyses/host_time.h"
#include "model/query/work.h"

struct host_edge {
	int64_t start_ns, end_ns;
	uint32_t thread;		/* its index; NONE: unknown */
	uint8_t kind;			/* enum path_kind */
};

struct critical_host {
	struct host_edge *edges;	/* owned; of the current slice, the last one first */
	size_t n, cap;
	uint32_t asking;		/* the thread of the slice; NONE: unknown */
	struct host_time time;
	enum scope scope;		/* of its sums */
};

/* The next edge on the way back through a slice; those of other kinds are left out. */
void critical_host_edge(struct critical_host *host, enum path_kind kind, uint32_t thread,
			int64_t start_ns, int64_t end_ns);
/* The slice has ended, of which basis_add() returned this scope. */
void critical_host_slice(struct model *model, struct critical_host *host,
			 const struct basis *basis, enum scope scope);
void critical_host_release(struct critical_host *host);
size_t critical_host_bytes(const struct critical_host *host);
/* Rows as those of host_time_rows(), of the mean path and of that of [t0, t1). */
size_t critical_host_mean(struct model *model, const struct critical_host *host,
			  const struct basis *basis, const struct critical_path *path,
			  struct host_time_row **rows);
size_t critical_host_within(struct model *model, const struct critical_host *host, int64_t t0,
			    int64_t t1, const struct critical_path *path,
			    struct host_time_row **rows);

#endif
