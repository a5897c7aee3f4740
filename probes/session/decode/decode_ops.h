/* SPDX-License-Identifier: MIT */
/*
 * Takes apart what one event carries of many ops, kernels and allocations (tft_ops in
 * probes/schema/records.h).
 *
 * Always true: nothing is read behind the words; what does not fit ends it, and
 * what comes before it is whole. Any words give events that the model can take.
 * O(1) each. Threads: any, each with its own.
 */
#ifndef PROBES_SESSION_DECODE_OPS_H
#define PROBES_SESSION_DECODE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct decode_ops {
	const uint64_t *at, *end;	/* borrowed */
	int64_t base_ns, step;		/* step, look, place, instance: of the op before */
	uint64_t instance, look, place;
	uint64_t ran_in, ran_on;	/* of the kernel before; ran_in of the allocation too */
	uint32_t device;		/* of the allocation before */
	uint32_t tid;
};

/* head: start_ns, instance and tid of what carries them. */
void decode_ops_begin(struct decode_ops *ops, const struct event_op *head,
		      const uint64_t *words, size_t n);
/* An EVENT_OP, _COMMAND, _ALLOC or _FREE: type and u of *event. false: the words are at their
 * end, or damaged. */
bool decode_ops_next(struct decode_ops *ops, struct event *event);

#endif
