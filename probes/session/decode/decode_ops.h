/* SPDX-License-Identifier: MIT */
/*
 * Splits a record that carries many ops, kernels and allocations (tft_ops in
 * probes/schema/records.h) into single events.
 *
 * Always true: nothing beyond the record's words is read. Words that make no sense end it, and
 * what comes before them is valid. Any words give events that the model can take. O(1) for each
 * event. Threads: any, each with its own state.
 */
#ifndef PROBES_SESSION_DECODE_OPS_H
#define PROBES_SESSION_DECODE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct decode_ops {
	const uint64_t *at, *end;	/* borrowed */
	int64_t base_ns, step;		/* step, look, place, instance: the previous op's */
	uint64_t instance, look, place;
	uint64_t ran_in, ran_on;	/* the previous kernel's; ran_in also the allocation's */
	uint32_t device;		/* the previous allocation's */
	uint32_t tid;
};

/* head: start_ns, instance and tid of the record. */
void decode_ops_begin(struct decode_ops *ops, const struct event_op *head,
		      const uint64_t *words, size_t n);
/* Sets type and u of *event: EVENT_OP, _COMMAND, _ALLOC or _FREE. false: no words are left, or
 * they are damaged. */
bool decode_ops_next(struct decode_ops *ops, struct event *event);

#endif
