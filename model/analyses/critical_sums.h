/* SPDX-License-Identifier: MIT */
/*
 * What critical.c keeps of the paths: their time by kind, by the name of what they lead through and
 * by the type of ops, and the path of each of the last steps.
 *
 * Memory: at most PATH_PARTS names and types, and PATH_STEPS steps.
 */
#ifndef MODEL_CRITICAL_SUMS_H
#define MODEL_CRITICAL_SUMS_H

#include "model/analyses/basis.h"
#include "model/analyses/work.h"
#include "model/base/map.h"

#define PATH_PARTS 4096u
#define PATH_TYPE PATH_KINDS	/* a part that is a type of ops, stored beside the others */

struct part_sum {
	uint8_t kind;
	uint32_t name;
	int64_t ns[SCOPE_COUNT];
	uint64_t count[SCOPE_COUNT];
};

struct step_path { int64_t start_ns, dur_ns, ns[PATH_KINDS]; };

struct critical_sums {
	int64_t ns[SCOPE_COUNT][PATH_KINDS];
	struct part_sum *parts;		/* owned */
	size_t n_parts, cap_parts;
	struct map by_key;
	struct step_path *steps;	/* owned; a ring, grown until PATH_STEPS */
	size_t cap_steps;
	uint64_t n_steps;
};

void critical_sums_release(struct critical_sums *sums);
size_t critical_sums_bytes(const struct critical_sums *sums);
/* A path leads through something for that time. kind: enum path_kind, or PATH_TYPE. */
void critical_sums_part(struct critical_sums *sums, enum scope scope, int kind, uint32_t name,
			int64_t ns);
/* The path through a slice; steps must come in their order. */
void critical_sums_slice(struct critical_sums *sums, enum scope scope, const struct slice *slice,
			 const int64_t ns[PATH_KINDS]);

/* Per step or second, as the basis says. */
struct critical_path critical_sums_mean(const struct critical_sums *sums,
					const struct basis *basis);
/* What the paths lead through, most time first, at most max of them; the list is the caller's. */
size_t critical_sums_parts(const struct critical_sums *sums, const struct basis *basis,
			   struct names *names, size_t max, struct path_part **out);
/* The same for the types of the ops. */
size_t critical_sums_types(const struct critical_sums *sums, const struct basis *basis,
			   struct names *names, struct path_part **out);
/* The path of the step that starts at start_ns; false: it is not kept. */
bool critical_sums_step(const struct critical_sums *sums, int64_t start_ns,
			struct critical_path *path);

#endif
