/* SPDX-License-Identifier: MIT */
#include "model/analyses/critical_sums.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

void critical_sums_release(struct critical_sums *sums)
{
	free(sums->parts);
	free(sums->steps);
	map_release(&sums->by_key);
}

size_t critical_sums_bytes(const struct critical_sums *sums)
{
	return sums->cap_parts * sizeof(*sums->parts) + map_bytes(&sums->by_key) +
	       sums->cap_steps * sizeof(*sums->steps);
}

void critical_sums_part(struct critical_sums *sums, enum scope scope, int kind, uint32_t name,
			int64_t ns)
{
	uint64_t key = (uint64_t)kind << 32 | name;
	uint32_t at = map_get(&sums->by_key, key);

	if (at == MAP_NONE) {
		if (sums->n_parts == PATH_PARTS)
			return;
		grow(&sums->parts, &sums->cap_parts, sums->n_parts, sizeof(*sums->parts));
		at = (uint32_t)sums->n_parts++;
		sums->parts[at] = (struct part_sum) { .kind = (uint8_t)kind, .name = name };
		map_set(&sums->by_key, key, at);
	}
	sums->parts[at].ns[scope] += ns;
	sums->parts[at].count[scope]++;
}

static void keep_step(struct critical_sums *sums, const struct slice *slice,
		      const int64_t ns[PATH_KINDS])
{
	struct step_path *step;

	if (sums->n_steps < PATH_STEPS)
		grow(&sums->steps, &sums->cap_steps, (size_t)sums->n_steps, sizeof(*sums->steps));
	step = &sums->steps[sums->n_steps++ % PATH_STEPS];
	step->start_ns = slice->t0;
	step->dur_ns = slice->t1 - slice->t0;
	memcpy(step->ns, ns, sizeof(step->ns));
}

void critical_sums_slice(struct critical_sums *sums, enum scope scope, const struct slice *slice,
			 const int64_t ns[PATH_KINDS])
{
	for (int k = 0; k < PATH_KINDS; k++)
		sums->ns[scope][k] += ns[k];
	if (slice->step)
		keep_step(sums, slice, ns);
}

/* ---- queries ---- */

static int by_ns(const void *a, const void *b)
{
	const struct path_part *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

struct critical_path critical_sums_mean(const struct critical_sums *sums,
					const struct basis *basis)
{
	struct critical_path path = { .steps = basis->steps, .whole_ns = basis_whole(basis) };

	for (int k = 0; k < PATH_KINDS; k++)
		path.ns[k] = basis_per(basis, sums->ns[basis_scope(basis)][k]);
	return path;
}

/* Lists either the parts of the path or the types of the ops that it leads through. */
static size_t list_parts(const struct critical_sums *sums, const struct basis *basis,
			 struct names *names, bool types, size_t max, struct path_part **out)
{
	enum scope scope = basis_scope(basis);
	size_t n = 0;

	*out = xcalloc(sums->n_parts, sizeof(**out));
	for (size_t i = 0; i < sums->n_parts; i++) {
		const struct part_sum *part = &sums->parts[i];

		if (part->count[scope] && (part->kind == PATH_TYPE) == types)
			(*out)[n++] = (struct path_part) {
				.kind = (enum path_kind)part->kind,
				.name = part->name ? names_short(names, part->name) : NULL,
				.ns = basis_per(basis, part->ns[scope]),
				.count = part->count[scope],
			};
	}
	if (n)
		qsort(*out, n, sizeof(**out), by_ns);
	return n < max ? n : max;
}

size_t critical_sums_parts(const struct critical_sums *sums, const struct basis *basis,
			   struct names *names, size_t max, struct path_part **out)
{
	return list_parts(sums, basis, names, false, max, out);
}

size_t critical_sums_types(const struct critical_sums *sums, const struct basis *basis,
			   struct names *names, struct path_part **out)
{
	return list_parts(sums, basis, names, true, SIZE_MAX, out);
}

/* Steps follow each other, so this is a bisection over the ring. */
bool critical_sums_step(const struct critical_sums *sums, int64_t start_ns,
			struct critical_path *path)
{
	uint64_t end = sums->n_steps;
	uint64_t at = FIRST_NOT(i, end > PATH_STEPS ? end - PATH_STEPS : 0, end,
				sums->steps[i % PATH_STEPS].start_ns < start_ns);
	const struct step_path *step = &sums->steps[at % PATH_STEPS];

	if (at == end || step->start_ns != start_ns)
		return false;
	*path = (struct critical_path) { .steps = 1, .whole_ns = step->dur_ns };
	memcpy(path->ns, step->ns, sizeof(path->ns));
	return true;
}
