/* SPDX-License-Identifier: MIT */
/*
 * Requests that programs have answered (EVENT_REQUEST), added up by process and by the function
 * that answered them. Totals are exact, whatever else is discarded.
 */
#ifndef MODEL_STEPS_REQUESTS_H
#define MODEL_STEPS_REQUESTS_H

#include "model/base/hist.h"
#include "model/core/model.h"

struct request_total {
	uint32_t process, name;
	uint64_t count, passes, tokens, later;	/* later: passes after each request's first */
	bool uncounted;			/* of some requests the sequences are unknown */
	int64_t from_ns, to_ns, sum_ns, later_ns;
	struct hist whole, first;	/* durations; times to the first token */
};

void apply_request(struct model *model, const struct arrival *in);
void requests_free(struct model *model);

#endif
