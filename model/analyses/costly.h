/* SPDX-License-Identifier: MIT */
/*
 * Ops that hold much of the critical path although a cheaper form of them is known
 * (op_class.h): what they hold of the path, and how long a step would be at least without them
 * (zeroing.h). A part of critical.c.
 *
 * Elementwise ops count where they follow one another on the path, all but the longest of such
 * a chain: fusing the chain saves at most that, because all data must go through memory once.
 * This is done only for ops on the processor; on a device, tiny.c reports small kernels.
 *
 * Threads: under the model's lock. Memory: MEMBERS_MAX names.
 */
#ifndef MODEL_COSTLY_H
#define MODEL_COSTLY_H

#include "model/analyses/basis.h"
#include "model/analyses/op_class.h"
#include "model/analyses/zeroing.h"
#include "model/base/map.h"

/* An op or kernel of the path. */
struct costly_member {
	enum op_class op_class;
	uint32_t name, type;		/* type 0: none */
	bool kernel;
	uint8_t framework;		/* enum framework, if it is an op */
	int64_t ns[SCOPE_COUNT];
	int64_t longest_ns, t0, t1;	/* duration, start and end of the longest one */
	uint32_t row;
};

struct costly {
	struct act_slots class_of;		/* class of each name, plus 1 */
	struct costly_member *members;	/* owned */
	size_t n_members, cap_members;
	struct map by_key;
	int64_t ns[OP_CLASSES][SCOPE_COUNT];		/* time on the critical path */
	/* how much shorter the steps would be without the class */
	int64_t saved_ns[OP_CLASSES][SCOPE_COUNT];
	/* for the current slice */
	struct names *names;		/* borrowed */
	const struct slice *slice;
	enum scope scope;
	bool met[OP_CLASSES];
	/* owned; by act: it is part of a chain of elementwise ops that has a longer member */
	uint8_t *in_row;
	size_t cap_in_row;
	/* longest act of the chain that the path is in; NULL: it is in none */
	const struct act *longest;
	int64_t longest_ns;
	struct zeroing zeroing;
};

void costly_release(struct costly *costly);
size_t costly_bytes(const struct costly *costly);
/* Starts a slice; then takes the parts of its path, from the end of the slice on. act NULL: none.
 * ns: time on the path. */
void costly_begin(struct costly *costly, struct names *names, const struct slice *slice,
		  enum scope scope);
void costly_op(struct costly *costly, const struct act *act, int64_t ns);
void costly_run(struct costly *costly, const struct act *act, int64_t ns);
/* Finishes the path of the slice; the arguments are those of zeroing.h. */
void costly_end_ops(struct costly *costly, const struct function_run *run);
void costly_end_runs(struct costly *costly, struct critical_ready *ready, uint32_t thread);
void costly_review(struct model *model, const struct costly *costly, const struct basis *basis,
		   struct findings *findings);

#endif
