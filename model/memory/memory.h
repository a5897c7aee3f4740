/* SPDX-License-Identifier: MIT */
/* Allocations and frees in the model; see memory_internal.h. */
#ifndef MODEL_MEMORY_H
#define MODEL_MEMORY_H

#include "model/query/query.h"

struct arrival;

void memory_new(struct model *model);
void memory_free(struct model *model);
void apply_alloc(struct model *model, const struct arrival *in);
void apply_free(struct model *model, const struct arrival *in);
void apply_region(struct model *model, const struct arrival *in);
/* The process of the event has ended. */
void memory_exit(struct model *model, const struct arrival *in);
/* All events before settled_ns have arrived. Yields the lock (model_breathe()). */
void memory_settled(struct model *model, int64_t settled_ns);
size_t memory_bytes(const struct model *model);
/* The account of a device's total, and its peak; NONE: nothing was allocated there. */
uint32_t memory_of_device(struct model *model, uint32_t device, uint64_t *peak);
/* The live bytes of a device as the columns of a counter. */
void memory_columns(struct model *model, uint32_t device, int64_t t0, int64_t w, size_t n,
		    struct column *out);

#endif
