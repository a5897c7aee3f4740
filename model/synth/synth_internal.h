/* SPDX-License-Identifier: MIT */
/* What synth.c (what happens) and synth_out.c (when it is written) share. */
#ifndef MODEL_SYNTH_INTERNAL_H
#define MODEL_SYNTH_INTERNAL_H

#include "model/synth/synth.h"

#define SYNTH_BATCH 1024u
#define SYNTH_REGION (UINT64_C(1) << 32)
#define SYNTH_CORRELATION 0x80000000u	/* correlations have this bit, as those of CUPTI */

/* Ids of names: fixed ones, then those of the layers, then those of their kernels. */
enum { NAME_FORWARD = 1, NAME_BACKWARD, NAME_LOAD, NAME_H2D, NAME_D2H, NAME_ENQUEUE,
       NAME_TYPE, NAME_BUFFER, NAME_INPUT, NAME_LAYERS };

struct synth_thread {
	uint32_t seq;			/* sequence number of its last event */
	uint64_t missing;		/* events left out since the last one that was handed out */
	int64_t last_ns;
};

struct synth_worker {
	uint32_t pid;
	int64_t now_ns;			/* time of its main thread */
	int64_t *queue_ns;		/* owned; how long each queue is busy */
	struct synth_thread *threads;	/* owned; the main thread, then the input threads */
	uint64_t steps, instances, calls, told_calls;
	uint64_t held;			/* layers whose memory is allocated, one bit each */
	uint32_t correlations, names;
	uint64_t quota;			/* spans that this step may still launch */
	/* when the last settled time, beat and pair were written */
	int64_t told_ns, beat_ns, clock_ns;
};

/* An event that has been written and not handed out. */
struct synth_item {
	struct event event;
	uint64_t order;
	char *text;			/* owned; the text that the event's name points to */
	uint32_t next_free;
};

struct model_synth {
	struct model_synth_profile profile;
	struct model_synth_truth truth;
	int64_t start_ns;
	uint64_t random, order;
	/* a second random state, used for losses only, so that losses do not change the program */
	uint64_t luck;
	struct synth_worker *workers;		/* owned */
	struct synth_item *items;	/* owned */
	size_t n_items, cap_items;
	uint32_t free_item;
	uint32_t *heap;			/* owned; indices of items, the earliest first */
	size_t n, cap;
	struct event batch[SYNTH_BATCH];
	char *texts[SYNTH_BATCH];	/* owned; the texts of the batch */
	size_t n_batch, n_texts;
};

/* ---- synth_define.c ---- */
/* A random number from mean / 2 to mean * 3 / 2. */
int64_t synth_around(struct model_synth *s, int64_t mean);
uint64_t synth_ticks(const struct model_synth *s, int64_t host_ns);
void synth_name(struct model_synth *s, struct synth_worker *w, uint32_t id, uint8_t kind,
		int64_t written_ns, char *owned);
uint32_t synth_kernel_name(const struct model_synth *s, unsigned layer, unsigned kernel);
void synth_alloc(struct model_synth *s, struct synth_worker *w, uint64_t place, uint64_t op,
		 uint32_t op_name);
void synth_dealloc(struct model_synth *s, struct synth_worker *w, uint64_t place);
/* Series 1 is the number of waiting batches; series 2 and up are the devices' temperatures. */
void synth_counters(struct model_synth *s, struct synth_worker *w);
void synth_pair(struct model_synth *s, struct synth_worker *w, unsigned device);
void synth_define(struct model_synth *s, struct synth_worker *w);

/* ---- synth.c ---- */
void synth_settled(struct model_synth *s, struct synth_worker *w, int64_t settled_ns);

/* ---- synth_host.c ---- */
void synth_host_define(struct model_synth *s, struct synth_worker *w);
/* What the main thread did from start_ns until now, while it waited for a batch. */
void synth_host_wait(struct model_synth *s, struct synth_worker *w, int64_t start_ns);

/* ---- synth_cpu.c ---- */
void synth_cpu_define(struct model_synth *s, struct synth_worker *w);
void synth_cpu_step(struct model_synth *s, struct synth_worker *w);

/* ---- synth_gpu.c ---- */
void synth_gpu_define(struct model_synth *s, struct synth_worker *w);
void synth_gpu_step(struct model_synth *s, struct synth_worker *w);
void synth_gpu_define_device(struct model_synth *s, struct synth_worker *w, unsigned device);
struct event_op synth_gpu_begin(struct synth_worker *w, uint32_t name, uint32_t frame);
void synth_gpu_end(struct model_synth *s, struct synth_worker *w, struct event_op op);
/* Enqueues work, which starts when the queue is free and not before after_ns; returns the end of
 * its run. */
int64_t synth_gpu_launch(struct model_synth *s, struct synth_worker *w, unsigned queue,
			 struct event_command c, const struct event_op *op, int64_t run_ns,
			 int64_t after_ns);
void synth_gpu_counters(struct model_synth *s, struct synth_worker *w);

/* ---- synth_generate.c ---- */
void synth_generate_define(struct model_synth *s, struct synth_worker *w);
/* Answers one request. */
void synth_generate_step(struct model_synth *s, struct synth_worker *w);

/* ---- synth_out.c ---- */
uint64_t synth_random(struct model_synth *s);
/* Makes an event that is written at that time; valid until the next one. w NULL: it has no
 * process. */
struct event *synth_write(struct model_synth *s, struct synth_worker *w, enum event_type type,
			  int64_t written_ns);
/* Gives the text to the name that was written last, which owns it from now on. */
void synth_own(struct model_synth *s, struct event *event, char *text);
/* Hands out everything that is written up to that time. */
void synth_hand_out(struct model_synth *s, int64_t until_ns, model_synth_sink *sink, void *arg);
/* Hands out the rest at the end. */
void synth_hand_out_end(struct model_synth *s, model_synth_sink *sink, void *arg);
void synth_out_release(struct model_synth *s);

#endif
