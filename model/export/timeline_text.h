/* SPDX-License-Identifier: MIT */
/* The naming scheme of StepStats: labels of nodes, descriptions of tensors. */
#ifndef MODEL_EXPORT_TIMELINE_TEXT_H
#define MODEL_EXPORT_TIMELINE_TEXT_H

#include "model/base/util.h"
#include "formats/step_stats.pb-c.h"

struct timeline_word { const char *text; size_t length; };

/* "name = op(a, b)"; inputs: what stands between the brackets. */
struct label { struct timeline_word op, inputs; };
struct label label_of_op(const char *text);
/* The next of "a, b, c"; false: that was the last. text NULL: none. */
bool label_input(struct timeline_word *rest, struct timeline_word *input);
/* "retval (arg) detail @@name:op#...", else the node's name:op. */
void label_of_kernel(const char *text, const char *node, struct timeline_word *name,
		     struct timeline_word *op);

/* As protobuf's text format, without quotes. */
void describe_tensor(struct strbuf *out, const Tf__TensorDescription *tensor);

#endif
