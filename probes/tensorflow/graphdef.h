/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's messages about graphs, as far as they are needed: nodes from GraphDef, FunctionDef
 * and RunMetadata, source lines from GraphDebugInfo. Everything works on memory that is handed in:
 * tests/fuzz runs it on arbitrary bytes.
 *
 * Source: tensorflow/core/framework/{graph,node_def,function,attr_value,
 * tensor_shape,graph_debug_info}.proto, core/protobuf/config.proto.
 */
#ifndef PROBES_TENSORFLOW_GRAPHDEF_H
#define PROBES_TENSORFLOW_GRAPHDEF_H

#include "probes/protobuf/pb.h"

#define GRAPHDEF_NAME_BYTES 1024
#define GRAPHDEF_INPUTS_BYTES 4096
#define GRAPHDEF_ATTRIBUTES_BYTES 1024

/* What a message is. */
enum graphdef_kind { GRAPHDEF_FUNCTION, GRAPHDEF_METADATA };

/* The nodes of a message, one at a time, so that the walk can be interrupted. */
struct graphdef_walk {
	enum graphdef_kind kind;
	struct pb message, graph;	/* graph: for GRAPHDEF_METADATA, the current graph */
	struct pb begun;	/* the whole message, set at the start, for resetting the walk */
};
/* False: there are no more. */
bool graphdef_next(struct graphdef_walk *walk, struct pb *node);

/* The type of the graph's first node that computes something; "": none. For an eager op's graph,
 * this is the op's type. */
const char *graphdef_type(struct pb graph, char *buf, size_t size);

struct graphdef_node {
	char name[GRAPHDEF_NAME_BYTES], type[256], device[256];
	/* separated by blanks; what does not fit is left out */
	char inputs[GRAPHDEF_INPUTS_BYTES];
	/* lines "key=value", of the short attributes only */
	char attributes[GRAPHDEF_ATTRIBUTES_BYTES];
	/* For a node of an inlined function: its name there, and the function. Otherwise "". */
	char first_name[GRAPHDEF_NAME_BYTES], first_function[GRAPHDEF_NAME_BYTES];
};
/* false: it has no name. */
bool graphdef_node(struct pb message, struct graphdef_node *node);

/* A FunctionDef's arguments and results run as nodes that are not in it. `index` counts them;
 * false: there are no more. */
bool graphdef_port(struct pb message, size_t which, struct graphdef_node *node);

/* A FunctionDef's own name. */
const char *graphdef_function_name(struct pb message, char *buf, size_t size);

/* The user's own line for each node: the last frame outside of the framework. */
struct graphdef_line {
	struct pb node, file, function;
	uint32_t line;
};
typedef void graphdef_take_line(void *arg, const struct graphdef_line *line);

/* scratch: zeroed words to work in, as many as graphdef_scratch() says. */
void graphdef_lines(struct pb message, uint64_t *scratch, graphdef_take_line *take, void *arg);
/* How many words graphdef_lines() needs. */
size_t graphdef_scratch(struct pb message);

/* Whether the file belongs to TensorFlow, Keras or Python itself. */
bool graphdef_is_framework(struct pb file);

#endif
