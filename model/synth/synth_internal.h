/* SPDX-License-Identifier: MIT */
/* What synth.c (what happens) and synth_out.c (when it is written) share. */
#ifndef MODEL_SYNTH_INTERNAL_H
#define MODEL_SYNTH_INTERNAL_H

#include "model/synth/synth.h"

#define SYNTH_BATCH 1024u
#define SYNTH_REGION (UINT64_C(1) << 32)

/* Name ids: fixed ones, then layers, then their kernels. */
enum { NAME_FORWARD = 1, NAME_BACKWARD, NAME_LOAD, NAME_H2D, NAME_D2H, NAME_ENQUEUE,
       NAME_TYPE, NAME_BUFFER, NAME_INPUT, NAME_LAYERS };

struct synth_thread {
	uint32_t seq;			/* of its last event */
	uint64_t missing;		/* left out since the last one that was handed out */
	int64_t last_ns;
};

struct synth_worker {
	uint32_t pid;
	int64_t now_ns;			/* of its main thread */
	int64_t *queue_ns;		/* owned; each queue is busy until then */
	struct synth_thread *threads;	/* owned; main, then input */
	uint64_t steps, instances, calls, told_calls;
	uint64_t held;			/* layers whose memory is allocated, a bit each */
	uint32_t correlations, names;
	uint64_t quota;			/* spans that this step may still launch */
	int64_t told_ns, beat_ns, clock_ns;	/* last settled, beat, pair */
};

/* Written, but not handed out. */
struct synth_item {
	struct event event;
	uint64_t order;
	char *text;			/* owned; what the event's name points to */
	uint32_t next_free;
};

struct model_synth {
	struct model_synth_profile profile;
	struct model_synth_truth truth;
	int64_t start_ns;
	uint64_t random, order;
	/* random too, of losses alone: the program stays the same */
	uint64_t luck;
	struct synth_worker *workers;		/* owned */
	struct synth_item *items;	/* owned */
	size_t n_items, cap_items;
	uint32_t free_item;
	uint32_t *heap;			/* owned; of items, the earliest first */
	size_t n, cap;
	struct event batch[SYNTH_BATCH];
	char *texts[SYNTH_BATCH];	/* owned; of the batch */
	size_t n_batch, n_texts;
};

/* ---- synth_define.c ---- */
/* Half ... one and a half of mean. */
int64_t synth_around(struct model_synth *s, int64_t mean);
uint64_t synth_ticks(const struct model_synth *s, int64_t host_ns);
void synth_name(struct model_synth *s, struct synth_worker *w, uint32_t id, uint8_t kind,
		int64_t written_ns, char *owned);
uint32_t synth_kernel_name(const struct model_synth *s, unsigned layer, unsigned kernel);
void synth_alloc(struct model_synth *s, struct synth_worker *w, uint64_t place, uint64_t op,
		 uint32_t op_name);
void synth_dealloc(struct model_synth *s, struct synth_worker *w, uint64_t place);
/* Series 1: waiting batches; 2 and on: the devices' temperatures. */
void synth_counters(struct model_synth *s, struct synth_worker *w);
void synth_pair(struct model_synth *s, struct synth_worker *w, unsigned device);
void synth_define(struct model_synth *s, struct synth_worker *w);

/* ---- synth.c ---- */
void synth_settled(struct model_synth *s, struct synth_worker *w, int64_t settled_ns);

/* ---- synth_cpu.c ---- */
void synth_cpu_define(struct model_synth *s, struct synth_worker *w);
void synth_cpu_step(struct model_synth *s, struct synth_worker *w);

/* ---- synth_gpu.c ---- */
void synth_gpu_define(struct model_synth *s, struct synth_worker *w);
void synth_gpu_step(struct model_synth *s, struct synth_worker *w);

/* ---- synth_out.c ---- */
uint64_t synth_random(struct model_synth *s);
/* An event that is written then; valid until the next one. w NULL: no process. */
struct event *synth_write(struct model_synth *s, struct synth_worker *w, enum event_type type,
			  int64_t written_ns);
/* The name written last owns its text. */
void synth_own(struct model_synth *s, struct event *event, char *text);
/* All that is written up to then. */
void synth_hand_out(struct model_synth *s, int64_t until_ns, model_synth_sink *sink, void *arg);
/* What is missing at the end. */
void synth_hand_out_end(struct model_synth *s, model_synth_sink *sink, void *arg);
void synth_out_release(struct model_synth *s);

#endif
