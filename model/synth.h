/* SPDX-License-Identifier: MIT */
/*
 * A program that never ran: makes the events of a training loop, the same for
 * the same seed and profile, driven by a virtual clock. For tests and benches.
 *
 * Per process and step: a range "step N" on the main thread, in it forward and
 * backward with layers, in each layer kernels on one of the queues; a copy to
 * the device first, one back at the end; ranges on input threads. Commands run
 * in order per queue and are written when they finish, ops when they end; with
 * `late` some are written much later, with `opens` long things are announced.
 *
 * Threads: one. Times: host ns from start_ns on; device ticks have their own
 * offset.
 */
#ifndef MODEL_SYNTH_H
#define MODEL_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct model_synth_profile {
	unsigned processes, devices, queues, input_threads;	/* queues: per process */
	unsigned layers, kernels;	/* per step and direction; per layer */
	int64_t kernel_ns;		/* mean; a step follows from it */
	unsigned late_permille;		/* of finished things, written 0 ... 200 ms later */
	unsigned lose_every;		/* steps between losses, 0 none (nothing is left out) */
	unsigned fail_permille;		/* of kernels */
	bool opens;			/* announce what lasts 10 ms and more */
	uint64_t layer_bytes;		/* a layer's weights, and what it allocates in
					 * forward and frees in backward; 0: no memory */
};

/* A small default: 1 process, 1 device, 2 queues, steps of about 10 ms. */
extern const struct model_synth_profile model_synth_default;

/* What has been made so far; after model_synth_end all of it was handed out. */
struct model_synth_truth {
	uint64_t events, steps, kernels, failed, copies, bytes, ops, losses;
	int64_t kernel_ns, copy_ns;	/* sums of durations */
};

struct model_synth;
typedef void model_synth_sink(void *arg, const struct event *events, size_t count);

struct model_synth *model_synth_new(uint64_t seed, const struct model_synth_profile *profile,
				    int64_t start_ns);
/* Hands out what is written up to until_ns, in batches of at most 1024. */
void model_synth_advance(struct model_synth *synth, int64_t until_ns, model_synth_sink *sink,
			 void *arg);
/* Lets all processes end and hands out everything that is left. */
void model_synth_end(struct model_synth *synth, model_synth_sink *sink, void *arg);
const struct model_synth_truth *model_synth_truth(const struct model_synth *synth);
void model_synth_free(struct model_synth *synth);

#endif
