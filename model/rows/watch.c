/* SPDX-License-Identifier: MIT */
#include "model/query/watch.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/rows/rows.h"

#define ROW_KINDS (ROW_GRAPH + 1)

enum asked { ASKED_NOT, ASKED_NO, ASKED_MAYBE };

struct watch {
	struct watch_sort sort;
	uint8_t *names;			/* owned; enum asked, by name id and kind of row */
	uint32_t n_names;
	struct span_ref *notes;		/* owned, WATCH_NOTES; a ring */
	uint64_t first, next;		/* notes [first, next) are waiting */
	uint64_t missed;
};

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	free(watch->names);
	free(watch->notes);
	free(watch);
}

void model_watch(struct model *model, const struct watch_sort *sort)
{
	watch_free(model->watch);
	model->watch = NULL;
	if (!sort)
		return;
	model->watch = xcalloc(1, sizeof(*model->watch));
	model->watch->sort = *sort;
	model->watch->notes = xreallocarray(NULL, WATCH_NOTES, sizeof(*model->watch->notes));
}

/* A copy has no name; an undefined name is tested again later. */
static bool may_by_name(struct model *model, enum row_kind kind, uint32_t name)
{
	struct watch *watch = model->watch;
	uint32_t n = model->names.n;
	uint8_t *asked;

	if (!names_defined(&model->names, name))
		return true;
	if (name >= watch->n_names) {
		watch->names = xreallocarray(watch->names, n, ROW_KINDS);
		memset(watch->names + (size_t)watch->n_names * ROW_KINDS, ASKED_NOT,
		       (size_t)(n - watch->n_names) * ROW_KINDS);
		watch->n_names = n;
	}
	asked = &watch->names[(size_t)name * ROW_KINDS + kind];
	if (*asked == ASKED_NOT)
		*asked = watch->sort.name(watch->sort.arg, kind, names_short(&model->names, name),
					  names_raw(&model->names, name)) ? ASKED_MAYBE : ASKED_NO;
	return *asked == ASKED_MAYBE;
}

void watch_note(struct model *model, uint32_t row, uint32_t lane, const struct lane_span *span)
{
	struct watch *watch = model->watch;

	if (!watch->sort.time(watch->sort.arg, span->start_ns, span->dur_ns) ||
	    !may_by_name(model, row_at(model, row)->kind, span->name))
		return;
	if (watch->next - watch->first == WATCH_NOTES) {
		watch->missed++;
		return;
	}
	watch->notes[watch->next++ % WATCH_NOTES] = (struct span_ref) { row + 1, lane, span->id };
}

bool watch_next(struct model *model, struct span_ref *ref)
{
	struct watch *watch = model->watch;

	if (!watch || watch->first == watch->next)
		return false;
	*ref = watch->notes[watch->first++ % WATCH_NOTES];
	return true;
}

uint64_t watch_missed(const struct model *model, uint64_t more)
{
	if (!model->watch)
		return 0;
	return model->watch->missed += more;
}
