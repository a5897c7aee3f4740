/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's messages about graphs, as far as we want them: nodes out of
 * GraphDef, FunctionDef and RunMetadata, source lines out of GraphDebugInfo.
 * Nothing but memory that is handed in: tests/fuzz runs it on any bytes.
 *
 * Source: tensorflow/core/framework/{graph,node_def,function,attr_value,
 * tensor_shape,graph_debug_info}.proto, core/protobuf/config.proto.
 */
#ifndef PROBES_TENSORFLOW_GRAPHDEF_H
#define PROBES_TENSORFLOW_GRAPHDEF_H

#include "probes/tensorflow/pb.h"

#define GRAPHDEF_NAME_BYTES 1024
#define GRAPHDEF_INPUTS_BYTES 4096
#define GRAPHDEF_ATTRIBUTES_BYTES 1024

/* What a message is. */
enum graphdef_kind { GRAPHDEF_FUNCTION, GRAPHDEF_METADATA };

/* The nodes of a message, one at a time, so that one may stop in between. */
struct graphdef_walk {
	enum graphdef_kind kind;
	struct pb message, graph;	/* graph: of GRAPHDEF_METADATA, the one we are in */
	struct pb begun;		/* all of it, set where it begins; for whoever resets it */
};
/* False: there are no more. */
bool graphdef_next(struct graphdef_walk *walk, struct pb *node);

/* The type of its first node that does something, "" none: of an eager op's graph
 * the op's. */
const char *graphdef_type(struct pb graph, char *buf, size_t size);

struct graphdef_node {
	char name[GRAPHDEF_NAME_BYTES], type[256], device[256];
	char inputs[GRAPHDEF_INPUTS_BYTES];	/* blanks between; what does not fit is left out */
	char attributes[GRAPHDEF_ATTRIBUTES_BYTES];	/* "key=value" lines, the short ones */
	/* Of an inlined function's node: what it was called where. "" else. */
	char first_name[GRAPHDEF_NAME_BYTES], first_function[GRAPHDEF_NAME_BYTES];
};
/* False: it has no name. */
bool graphdef_node(struct pb message, struct graphdef_node *node);

/* A FunctionDef's arguments and results run as nodes that are not in it: the how
 * manieth of them; false: there are no more. */
bool graphdef_port(struct pb message, size_t which, struct graphdef_node *node);

/* A FunctionDef's own name. */
const char *graphdef_function_name(struct pb message, char *buf, size_t size);

/* The user's own line of each node: the last frame outside of the framework. */
struct graphdef_line {
	struct pb node, file, function;
	uint32_t line;
};
typedef void graphdef_take_line(void *arg, const struct graphdef_line *line);

/* scratch: zeroed words to work in, see graphdef_scratch(). */
void graphdef_lines(struct pb message, uint64_t *scratch, graphdef_take_line *take, void *arg);
/* How many words graphdef_lines() needs. */
size_t graphdef_scratch(struct pb message);

/* A file of TensorFlow, Keras or Python itself. */
bool graphdef_is_framework(struct pb file);

#endif
