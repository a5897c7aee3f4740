/* SPDX-License-Identifier: MIT */
/* How StepStats names things: labels of nodes and descriptions of tensors. */
#ifndef MODEL_EXPORT_TIMELINE_TEXT_H
#define MODEL_EXPORT_TIMELINE_TEXT_H

#include "model/base/util.h"
#include "formats/step_stats.pb-c.h"

struct timeline_word { const char *text; size_t length; };

/* The parts of "name = op(a, b)"; inputs: the text between the brackets. */
struct label { struct timeline_word op, inputs; };
struct label label_of_op(const char *text);
/* Takes the next of "a, b, c"; false: there are no more. text NULL: none. */
bool label_input(struct timeline_word *rest, struct timeline_word *input);
/* The label of a kernel, such as "retval (arg) detail @@name:op#..."; if it has none, the node's
 * "name:op". */
void label_of_kernel(const char *text, const char *node, struct timeline_word *name,
		     struct timeline_word *op);

/* Describes a tensor in protobuf's text format, without quotes. */
void describe_tensor(struct strbuf *out, const Tf__TensorDescription *tensor);

#endif
