/* SPDX-License-Identifier: MIT */
/* Totals of kernels, copies, calls and compilations, kept while events come in; see
 * totals.c. */
#ifndef MODEL_TOTALS_TOTALS_H
#define MODEL_TOTALS_TOTALS_H

#include "model/core/model.h"

struct kernel_total {
	uint32_t name, queue;
	uint32_t shape;			/* shape id of the process; 0: none, or several */
	bool shapes;			/* there were several shapes */
	uint64_t count, failed, approx, untimed;
	int64_t total_ns, min_ns, max_ns;
	struct hist hist;
	uint32_t ops;			/* list of kernel_op_total */
	uint32_t op;			/* the last entry of that list that was used, or NONE */
	uint32_t by_shape;		/* list of kernel_shape_total */
	uint32_t last_shape;		/* the last entry of that list that was used, or NONE */
};

struct kernel_shape_total {
	uint32_t shape, next;
	uint64_t count, timed;
	int64_t total_ns;
};

struct kernel_op_total {
	uint32_t op_name, next;
	uint8_t how;
	uint64_t count;
	int64_t total_ns;
};

struct copy_total {
	/* peer: for P2P copies the process's id of the other device; 0: none */
	uint32_t queue, peer;
	uint8_t direction;
	uint64_t count, failed, approx, bytes, untimed, timed_bytes;
	uint64_t pinned;		/* how many of the copies had pinned host memory */
	int64_t total_ns;
	uint64_t peak, peak_small;
};

struct call_total {
	uint32_t name;
	uint64_t count, errors;
	bool timed;
	int64_t total_ns, max_ns;
};

struct compile_total { uint32_t what, cause; uint64_t count, failed; int64_t total_ns; };

struct finished_run {	/* a finished command whose names have been resolved */
	uint32_t process, queue, name, op_name, shape;
	enum how how;
	enum direction direction;
	bool timed, approx, failed, pinned;
	int64_t dur_ns;
	uint64_t bytes;
};
void total_kernel(struct model *model, const struct finished_run *run);
void total_copy(struct model *model, const struct finished_run *run);
void apply_call(struct model *model, const struct arrival *in);
void apply_calls(struct model *model, const struct arrival *in);
void apply_compile(struct model *model, const struct arrival *in);
/* The name that consists of the first non-empty line of a text. */
uint32_t text_first_line(struct model *model, const char *text);
void totals_release(struct model *model);

#endif
