/* SPDX-License-Identifier: MIT */
/*
 * Packs ops, kernels and memory as the words of a tft_ops (probes/schema/records.h). Independent of
 * the rest of the runtime; probes/session/decode/decode_ops.c unpacks them.
 */
#ifndef PROBES_RUNTIME_PACK_H
#define PROBES_RUNTIME_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/schema/records.h"

struct rt_pack {
	uint32_t used;			/* number of words */
	int64_t base_ns, step;		/* step, look, place, instance: of the previous op */
	uint64_t first, instance, look, place;
	/* of the previous kernel; ran_in also of the previous allocation */
	uint64_t ran_in, ran_on;
	uint32_t device;		/* of the previous allocation */
	uint64_t words[TFT_OPS_WORDS];
};

/* The first entry starts at start_ns; it is an op or ran in one, and still has to be added. */
static inline void rt_pack_begin(struct rt_pack *p, int64_t start_ns, uint64_t instance)
{
	p->used = 0;
	p->base_ns = start_ns;
	p->first = p->instance = instance;
	p->step = -1;
	p->look = p->place = p->ran_in = p->ran_on = 0;
	p->device = 0;
}

/* Whether there is room for one more entry, whatever it is. */
static inline bool rt_pack_has_room(const struct rt_pack *p)
{
	return p->used <= TFT_OPS_WORDS - TFT_OPS_WHOLE_WORDS;
}

/* How long the op waited for a thread, and which thread handed it over, as one word. */
static inline uint64_t rt_pack_handed(const struct tft_op *op)
{
	return (uint64_t)op->wait_ns | (uint64_t)op->waker << TFT_WAKER_SHIFT;
}

static inline size_t rt_pack_whole(uint64_t *w, const struct tft_op *op, uint64_t look,
				   uint64_t place)
{
	w[0] = TFT_OPS_WHOLE | (uint64_t)op->flags << 8 | (uint64_t)op->depth << 16 |
	       (uint64_t)op->name << 32;
	w[1] = op->instance;
	w[2] = op->parent;
	w[3] = (uint64_t)op->start_ns;
	w[4] = (uint64_t)op->dur_ns;
	w[5] = (uint64_t)op->step;
	w[6] = op->payload;
	w[7] = look;
	w[8] = op->type | (uint64_t)op->framework << 32;
	w[9] = place;
	w[10] = op->forward;
	w[11] = rt_pack_handed(op);
	return TFT_OPS_WHOLE_WORDS;
}

/* Adds an op; there must be room. */
static inline void rt_pack_add(struct rt_pack *p, const struct tft_op *op)
{
	uint64_t *w = p->words + p->used;
	uint64_t parent = op->parent ? op->instance - op->parent : 0;
	uint64_t instance = op->instance - p->instance;
	uint64_t start = (uint64_t)op->start_ns - (uint64_t)p->base_ns;
	uint64_t look = op->domain | (uint64_t)op->argb << 32, has = 0;
	uint64_t place = op->frame | (uint64_t)op->shapes << 32;
	size_t n = 3;

	if (((op->name | op->type) >> 24) | (op->depth >> 8) | (parent >> 28) |
	    ((instance + (1u << 19)) >> 20) | ((start + (1u << 31)) >> 32) |
	    ((uint64_t)op->dur_ns >> 32)) {
		n = rt_pack_whole(w, op, look, place);
	} else {
		w[1] = (uint32_t)start | (uint64_t)op->dur_ns << 32;
		w[2] = op->framework | (uint64_t)op->depth << 8 | parent << 16 | instance << 44;
		if (op->step != p->step) {
			has |= TFT_OPS_STEP;
			w[n++] = (uint64_t)op->step;
		}
		if (look != p->look) {
			has |= TFT_OPS_LOOK;
			w[n++] = look;
		}
		if (op->payload) {
			has |= TFT_OPS_PAYLOAD;
			w[n++] = op->payload;
		}
		if (place != p->place) {
			has |= TFT_OPS_PLACE;
			w[n++] = place;
		}
		if (op->forward) {
			has |= TFT_OPS_FORWARD;
			w[n++] = op->forward;
		}
		if (op->wait_ns) {
			has |= TFT_OPS_HANDED;
			w[n++] = rt_pack_handed(op);
		}
		w[0] = has | (uint64_t)op->flags << 8 | (uint64_t)op->name << 16 |
		       (uint64_t)op->type << 40;
	}
	p->used += (uint32_t)n;
	p->instance = op->instance;
	p->step = op->step;
	p->look = look;
	p->place = place;
}

/* The members of a tft_command that a kernel of the processor uses. */
struct rt_kernel {
	uint32_t queue, op_name, name, shape;
	uint64_t op;			/* 0: none */
	int64_t start_ns, end_ns;
};

/* Adds a kernel; false: it does not fit, now or ever. */
static inline bool rt_pack_kernel(struct rt_pack *p, const struct rt_kernel *k)
{
	uint64_t *w = p->words + p->used;
	uint64_t start = (uint64_t)k->start_ns - (uint64_t)p->base_ns;
	uint64_t dur = (uint64_t)k->end_ns - (uint64_t)k->start_ns;
	uint64_t has = TFT_OPS_KERNEL, on = k->queue | (uint64_t)k->op_name << 32;
	size_t n = 2;

	if (((k->name | k->shape) >> 24) | ((start + (1u << 31)) >> 32) | (dur >> 32))
		return false;
	w[1] = (uint32_t)start | dur << 32;
	if (k->op != p->ran_in) {
		has |= TFT_OPS_RAN_IN;
		w[n++] = p->ran_in = k->op;
	}
	if (on != p->ran_on) {
		has |= TFT_OPS_RAN_ON;
		w[n++] = p->ran_on = on;
	}
	w[0] = has | (uint64_t)k->name << 16 | (uint64_t)k->shape << 40;
	p->used += (uint32_t)n;
	return true;
}

/* Adds an allocation or a free; returns likewise. */
static inline bool rt_pack_alloc(struct rt_pack *p, const struct tft_alloc *a)
{
	uint64_t *w = p->words + p->used, at = (uint64_t)a->at_ns - (uint64_t)p->base_ns;
	uint64_t has = TFT_OPS_MEMORY;
	size_t n = 3;

	if (((a->allocator | a->op_name) >> 24) | ((at + (1u << 31)) >> 32) | (a->bytes >> 32))
		return false;
	w[1] = (uint32_t)at | a->bytes << 32;
	w[2] = a->address;
	if (a->op != p->ran_in) {
		has |= TFT_OPS_RAN_IN;
		w[n++] = p->ran_in = a->op;
	}
	if (a->device != p->device) {
		has |= TFT_OPS_DEVICE;
		w[n++] = p->device = a->device;
	}
	w[0] = has | (uint64_t)a->allocator << 16 | (uint64_t)a->op_name << 40;
	p->used += (uint32_t)n;
	return true;
}

static inline bool rt_pack_free(struct rt_pack *p, const struct tft_free *f)
{
	uint64_t *w = p->words + p->used, at = (uint64_t)f->at_ns - (uint64_t)p->base_ns;

	if ((f->allocator >> 24) | ((at + (1u << 31)) >> 32))
		return false;
	w[0] = TFT_OPS_MEMORY | TFT_OPS_FREE | (uint64_t)f->allocator << 16;
	w[1] = (uint32_t)at;
	w[2] = f->address;
	p->used += 3;
	return true;
}

#endif
