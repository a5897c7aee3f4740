/* SPDX-License-Identifier: MIT */
/*
 * A synthetic program: it makes the events of a training loop, or of a program that answers
 * requests by a language model, driven by a virtual clock. The same seed and profile give the same
 * events. For tests and benchmarks.
 *
 * In each process and step there is a range "step N" on the main thread. It contains forward and
 * backward, which contain layers; each layer has kernels on one of the queues. There is a copy to
 * the device at the start of a step and one back at its end, and ranges on input threads. Commands
 * run in order on each queue and are written when they finish, ops when they end. With `late`, some
 * are written much later; with `opens`, long ones are announced while they are open.
 *
 * Threads: one. Times: host ns from start_ns on; device ticks have an offset of their own.
 */
#ifndef MODEL_SYNTH_H
#define MODEL_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

#define SYNTH_GPU_DEVICES 64u	/* limits for the program with `gpu`: devices, at most ... */
#define SYNTH_GPU_STREAMS 4u		/* ... streams per device, at least ... */
/* ... and the approximate duration of a step with two devices */
#define SYNTH_GPU_STEP_NS 17500000

struct model_synth_profile {
	unsigned processes, devices, queues, input_threads;	/* queues: per process */
	unsigned layers, kernels;	/* layers: per step and direction; kernels: per layer */
	int64_t kernel_ns;		/* mean duration, which also determines that of a step */
	unsigned late_permille;	/* of finished events: how many are written 0 ... 200 ms late */
	/* steps between two losses; 0: none (losses are reported, but nothing is left out) */
	unsigned lose_every;
	unsigned fail_permille;		/* of kernels: how many fail */
	/* of commands: how many are written as a launch and a run */
	unsigned apart_permille;
	bool opens;			/* announce what lasts 10 ms or longer */
	/* time that a step first waits for its batch, while the input threads are busy all the
	 * time; 0: the batch is there */
	int64_t input_ns;
	uint64_t upload_bytes;		/* size of the step's copy to the device; 0: 1 MiB */
	/* size of a layer's weights, and of what a layer allocates in forward and frees in
	 * backward; 0: no memory */
	uint64_t layer_bytes;
	/* in each step, one value for the process and one for each device; layers are chunks of a
	 * region with one free chunk at its end */
	bool counters;
	bool host;			/* what the main thread does while it waits for a batch */
	/* makes the program of synth_gpu.c. Of these fields, only `devices`, `queues` (for all
	 * devices together) and `steps` (the number of its steps) change that program */
	bool gpu;
	/* makes the program of synth_generate.c, which has one device and one queue; of the other
	 * fields, only `steps` (after so many passes it finishes its request and ends) counts */
	bool generate;
	/* makes the program of synth_cpu.c, which no other field changes: ops and kernels of the
	 * processor, their lines and graph, compilations */
	bool processor;
	/*
	 * A program of a given size: it launches this many kernels and copies, and then ends. With
	 * ops (at least 4) it is a training loop with this many ops and steps; otherwise it
	 * consists of queues only. The caller determines the shares of time: see tests/gen.
	 */
	/* spans 0: no size is given, and ops and steps are ignored */
	uint64_t spans, ops, steps;
	int64_t period_ns;	/* minimum duration of a step, or of a round of all queues */
	int64_t launch_ns, op_ns;	/* mean durations; 0: a few us */
	int64_t disorder_ns;		/* events are written up to this much later */
	/* drift of the devices' clocks, for which pairs are reported all the time */
	int64_t drift_ppb;
	/* of ops and commands: how many are left out, and reported by EVENT_LOST */
	unsigned loss_ppm;
};

/* A small default: 1 process, 1 device, 2 queues, steps of about 10 ms. */
extern const struct model_synth_profile model_synth_default;

/* What has been made so far. After model_synth_end() all of it has been handed out, except for what
 * loss_ppm left out (losses). */
struct model_synth_truth {
	uint64_t events, steps, requests, kernels, failed, copies, bytes, ops, losses, launched;
	int64_t kernel_ns, copy_ns;	/* sums of durations */
};

struct model_synth;
typedef void model_synth_sink(void *arg, const struct event *events, size_t count);

struct model_synth *model_synth_new(uint64_t seed, const struct model_synth_profile *profile,
				    int64_t start_ns);
/* Hands out everything that is written up to until_ns, in batches of at most 1024 events. */
void model_synth_advance(struct model_synth *synth, int64_t until_ns, model_synth_sink *sink,
			 void *arg);
/* Whether everything that the profile asks for has been launched; false if the profile has no
 * size. */
bool model_synth_over(const struct model_synth *synth);
/* Lets all processes end and hands out everything that is left. */
void model_synth_end(struct model_synth *synth, model_synth_sink *sink, void *arg);
const struct model_synth_truth *model_synth_truth(const struct model_synth *synth);
void model_synth_free(struct model_synth *synth);

#endif
