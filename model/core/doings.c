/* SPDX-License-Identifier: MIT */
#include "model/core/doings.h"

#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"

void apply_doing(struct model *model, const struct arrival *in)
{
	const struct event_doing *doing = &in->event->u.doing;
	struct doings *doings;
	struct doing *last;
	int64_t left_ns, ns;
	bool same;

	/* a saved file has them all at its beginning, so when it was written says nothing */
	if (!span_ok(doing->start_ns, doing->dur_ns, 0)) {
		model_bad(model, bad_time(doing->dur_ns));
		return;
	}
	doings = &thread_at(model, thread_get(model, in->process->index, doing->tid))->doings;
	last = doings->n ? &doings->list[doings->n - 1] : NULL;
	same = last && last->start_ns == doing->start_ns &&
	       last->end_ns == doing->start_ns + doing->dur_ns;
	left_ns = doing->dur_ns - (same ? doings->told_ns : 0);
	/* a clock of another host that is mapped to ours may have made the time a little shorter */
	if ((last && !same && doing->start_ns < last->end_ns) || doing->ns < 0 ||
	    doing->ns > left_ns + doing->dur_ns / 64 || doing->doing >= DOING_COUNT ||
	    (doing->at_ns && (doing->at_ns < doing->start_ns ||
			      doing->at_ns > doing->start_ns + doing->dur_ns))) {
		model_bad(model, BAD_END);
		return;
	}
	ns = doing->ns < left_ns ? doing->ns : left_ns;
	if (ns <= 0)
		return;
	doings->told_ns = doing->dur_ns - left_ns + ns;
	if (doings->n >= DOINGS_MAX) {
		doings->n -= DOINGS_MAX / 2;
		memmove(doings->list, doings->list + DOINGS_MAX / 2,
			doings->n * sizeof(*doings->list));
	}
	grow(&doings->list, &doings->cap, doings->n, sizeof(*doings->list));
	doings->list[doings->n++] = (struct doing) {
		.start_ns = doing->start_ns, .end_ns = doing->start_ns + doing->dur_ns,
		.ns = ns, .at_ns = doing->at_ns, .frame = doing->frame,
		.what = local_name(model, in->process, doing->what), .looks = doing->looks,
		.kind = doing->doing,
	};
}

const struct doing *doings_from(const struct model *model, uint32_t thread, int64_t t_ns,
				const struct doing **end)
{
	const struct doings *doings = &thread_at(model, thread)->doings;

	*end = doings->list + doings->n;
	return doings->list + FIRST_NOT(i, 0, doings->n, doings->list[i].end_ns <= t_ns);
}
