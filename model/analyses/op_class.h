/* SPDX-License-Identifier: MIT */
/*
 * Ops and kernels that are not the work itself, because a cheaper form of what they do is
 * known. They are recognised by words: in the type of an op, in the name of an op without a
 * type, in the name of a kernel. What multiplies matrices or sends data is never one of them,
 * whatever else its name says ("conv_transpose").
 */
#ifndef MODEL_OP_CLASS_H
#define MODEL_OP_CLASS_H

enum op_class {
	OP_CLASS_NONE,
	OP_CLASS_POOLING,
	OP_CLASS_LAYOUT,	/* the same numbers in another order */
	OP_CLASS_CAST,
	OP_CLASS_COPY,		/* the same numbers in another place */
	OP_CLASS_CHAIN,		/* one result for each element: several in a row could be one */
	OP_CLASSES
};

enum op_class op_class_of(const char *name);
/* What of them costs: "pooling", "changes of layout", ... */
const char *op_class_word(enum op_class op_class);
/* What would cost less. */
const char *op_class_advice(enum op_class op_class);
/* The type without what says who made the op: "MaxPool" of "_MklNativeMaxPool". */
const char *op_type_plain(const char *type);

#endif
