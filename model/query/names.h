/* SPDX-License-Identifier: MIT */
/*
 * Names alone, for who types one: no percentiles, no shapes, so that a hundred
 * thousand cost milliseconds. Beside query.h, by the same rules.
 */
#ifndef MODEL_QUERY_NAMES_H
#define MODEL_QUERY_NAMES_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct model;

struct name_total {
	const char *name;		/* short; the model's, as long as it lives */
	int64_t ns;			/* device time, of an op without it its own time */
};

/* In any order; a name may come several times (types, devices, queues). The caller frees.
 * O(ops), O(kernels). [locked] */
size_t model_op_names(struct model *model, struct name_total **out);
size_t model_kernel_names(struct model *model, struct name_total **out);

/* Whether one is called so, in full or short. O(ops), O(kernels). [locked] */
bool model_has_op(struct model *model, const char *name);
bool model_has_kernel(struct model *model, const char *name);

#endif
