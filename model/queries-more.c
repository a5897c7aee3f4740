/* SPDX-License-Identifier: MIT */
/* The smaller tables: calls, compiles. See queries.c. */
#include "model/model-internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

static int call_by_time(const void *a, const void *b)
{
	const struct call_row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Index of the row of a name, a new one when it has none. */
static uint32_t row_for(struct map *rows, uint32_t name, size_t *n)
{
	uint32_t at = map_get(rows, name);

	if (at == MAP_NONE) {
		at = (uint32_t)(*n)++;
		map_set(rows, name, at);
	}
	return at;
}

size_t model_calls(struct model *model, struct call_row **out)
{
	struct map rows = { .size = 0 };
	size_t n = 0;

	*out = xcalloc(model->calls.n, sizeof(**out));
	for (uint32_t i = 0; i < model->calls.n; i++) {
		const struct call_total *total = store_at(&model->calls, i);
		uint32_t name = names_resolve(&model->names, total->name);
		struct call_row *row = &(*out)[row_for(&rows, name, &n)];

		row->name = names_raw(&model->names, name);
		row->count += total->count;
		row->errors += total->errors;
		row->timed |= total->timed;
		add_ns(&row->total_ns, total->total_ns);
		if (total->max_ns > row->max_ns)
			row->max_ns = total->max_ns;
	}
	map_release(&rows);
	if (n)
		qsort(*out, n, sizeof(**out), call_by_time);
	return n;
}

static int compile_by_time(const void *a, const void *b)
{
	const struct compile_row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(x->what, y->what);
}

size_t model_compiles(struct model *model, struct compile_row **out)
{
	*out = xcalloc(model->compiles.n, sizeof(**out));
	for (uint32_t i = 0; i < model->compiles.n; i++) {
		const struct compile_total *total = store_at(&model->compiles, i);

		(*out)[i] = (struct compile_row) {
			.what = total->what ? names_raw(&model->names, total->what) : "",
			.cause = total->cause ? names_raw(&model->names, total->cause) : NULL,
			.count = total->count, .failed = total->failed,
			.total_ns = total->total_ns,
		};
	}
	if (model->compiles.n)
		qsort(*out, model->compiles.n, sizeof(**out), compile_by_time);
	return model->compiles.n;
}

size_t model_losses(struct model *model, int64_t t0, int64_t t1, struct model_loss **out)
{
	size_t n = 0;

	*out = xreallocarray(NULL, model->n_losses, sizeof(**out));
	for (size_t i = 0; i < model->n_losses; i++)
		if (model->losses[i].begin_ns < t1 && model->losses[i].end_ns >= t0)
			(*out)[n++] = model->losses[i];
	return n;
}
