/* SPDX-License-Identifier: MIT */
/*
 * Who makes the input that is waited for. The critical path, the classes of a step and the idle
 * time of devices tell of that thread what they tell of waiting for input.
 */
#ifndef MODEL_HOST_MAKER_H
#define MODEL_HOST_MAKER_H

#include <stddef.h>
#include <stdint.h>

#include "model/analyses/host_time.h"

/* Whose doings say what a thread waited for within [t0, t1), the time in which it or, for it, a
 * thread of a pool fetched the next batch: that thread itself if it did anything else than to wait
 * for another one's work; otherwise the thread of its process that did something for most of that
 * time; if none did so for half of it, the thread that asks (NONE: none does). */
uint32_t host_maker(struct model *model, uint32_t thread, uint32_t asking, int64_t t0, int64_t t1);

/* A wait for input that is told piece by piece: who fetches it (NONE: unknown), and who asks. */
struct host_input {
	uint32_t thread, asking;	/* their indexes */
	int64_t start_ns, end_ns;	/* the same: there is none */
};

/* The next piece of the wait. Each 0.2 s of it, and what it lasted when another one begins, is
 * added to the host's time, of which max and class are as in host_time_count(). */
void host_input_extend(struct model *model, struct host_time *host, size_t max, uint8_t class,
		       struct host_input *input, const struct host_input *piece);
/* The wait is over, if there was one: adds it. */
void host_input_add(struct model *model, struct host_time *host, size_t max, uint8_t class,
		    struct host_input *input);

#endif
