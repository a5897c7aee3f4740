/* SPDX-License-Identifier: MIT */
#include "model/query/watch.h"

#include "model/rows/rows.h"

bool model_watched(struct model *model, size_t most,
		   bool (*take)(void *arg, const struct span *span), void *arg, uint64_t *missed)
{
	struct span_ref ref;
	struct span span;
	bool taken = false;

	for (; !taken && most && watch_next(model, &ref); most--) {
		if (model_span(model, ref, &span))
			taken = take(arg, &span);
		else
			watch_missed(model, 1);
	}
	*missed = watch_missed(model, 0);
	return taken;
}
