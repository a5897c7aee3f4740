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
	OP_CLASS_LAYOUT,	/* changes the order of the same numbers */
	OP_CLASS_CAST,
	OP_CLASS_COPY,		/* moves the same numbers to another place */
	OP_CLASS_CHAIN,		/* elementwise: several in a row could be fused into one */
	OP_CLASSES
};

enum op_class op_class_of(const char *name);
/* A phrase for what costs time, such as "pooling" or "changes of layout". */
const char *op_class_word(enum op_class op_class);
/* A sentence that says what would cost less. */
const char *op_class_advice(enum op_class op_class);
/* The type without the parts that only name its maker: "MaxPool" for "_MklNativeMaxPool". */
const char *op_type_plain(const char *type);

#endif
