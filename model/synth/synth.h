/* SPDX-License-Identifier: MIT */
/*
 * A synthetic program: it makes the events of a training loop, driven by a virtual clock, the
 * same for the same seed and profile. For tests and benches.
 *
 * In each process and step there is a range "step N" on the main thread, with forward and
 * backward in it, layers in these, and in each layer kernels on one of the queues; a copy to
 * the device at the beginning, and one back at the end; and ranges on input threads. Commands
 * run in order on each queue and are written when they finish, ops when they end. With `late`,
 * some are written much later; with `opens`, long ones are announced while they are open.
 *
 * Threads: one. Times: host ns from start_ns on; device ticks have an offset of their own.
 */
#ifndef MODEL_SYNTH_H
#define MODEL_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

#define SYNTH_GPU_DEVICES 64u		/* of the third program at most ... */
#define SYNTH_GPU_STREAMS 4u		/* ... and streams of each at least */
#define SYNTH_GPU_STEP_NS 17500000	/* about so long is a step of two */

struct model_synth_profile {
	unsigned processes, devices, queues, input_threads;	/* queues: per process */
	unsigned layers, kernels;	/* per step and direction; per layer */
	int64_t kernel_ns;		/* mean; a step follows from it */
	unsigned late_permille;		/* of finished things, written 0 ... 200 ms later */
	unsigned lose_every;		/* steps between losses, 0 none (nothing is left out) */
	unsigned fail_permille;		/* of kernels */
	unsigned apart_permille;	/* of commands, as a launch and a run */
	bool opens;			/* announce what lasts 10 ms and more */
	int64_t input_ns;		/* a step first waits for its batch, as the input
					 * threads are busy all the time; 0: it is there */
	uint64_t upload_bytes;		/* of the step's copy to the device; 0: 1 MiB */
	uint64_t layer_bytes;		/* a layer's weights, and what it allocates in
					 * forward and frees in backward; 0: no memory */
	bool counters;			/* in each step a value of the process and of each
					 * device; layers are chunks of a region, with one
					 * free chunk at its end */
	bool gpu;			/* the third program. Of these fields only `devices` and
					 * `queues` (of all devices together) change it, and
					 * `steps`, the number of its steps */
	bool processor;			/* the second program, which no other field changes:
					 * ops and kernels of the processor, their lines and
					 * graph, compilations */
	/*
	 * A program of given size: launches so many kernels and copies, and is over.
	 * With ops (4 at least) it is a training loop of so many ops and steps, else
	 * nothing but queues. Shares of the time are the caller's: see tests/gen.
	 */
	uint64_t spans, ops, steps;	/* spans 0: no given size, and no ops and steps */
	int64_t period_ns;		/* a step, or a round of all queues, lasts at least */
	int64_t launch_ns, op_ns;	/* means; 0: a few us */
	int64_t disorder_ns;		/* written up to so much later */
	int64_t drift_ppb;		/* of the devices' clocks; with pairs all the time */
	unsigned loss_ppm;		/* of ops and commands: left out, told by EVENT_LOST */
};

/* A small default: 1 process, 1 device, 2 queues, steps of about 10 ms. */
extern const struct model_synth_profile model_synth_default;

/* What has been made so far; after model_synth_end all of it was handed out, but
 * what loss_ppm left out (losses). */
struct model_synth_truth {
	uint64_t events, steps, kernels, failed, copies, bytes, ops, losses, launched;
	int64_t kernel_ns, copy_ns;	/* sums of durations */
};

struct model_synth;
typedef void model_synth_sink(void *arg, const struct event *events, size_t count);

struct model_synth *model_synth_new(uint64_t seed, const struct model_synth_profile *profile,
				    int64_t start_ns);
/* Hands out what is written up to until_ns, in batches of at most 1024. */
void model_synth_advance(struct model_synth *synth, int64_t until_ns, model_synth_sink *sink,
			 void *arg);
/* All that it was to launch is launched; false where nothing says how much that is. */
bool model_synth_over(const struct model_synth *synth);
/* Lets all processes end and hands out everything that is left. */
void model_synth_end(struct model_synth *synth, model_synth_sink *sink, void *arg);
const struct model_synth_truth *model_synth_truth(const struct model_synth *synth);
void model_synth_free(struct model_synth *synth);

#endif
