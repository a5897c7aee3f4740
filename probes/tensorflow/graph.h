/* SPDX-License-Identifier: MIT */
/*
 * Graphs as they run, with the user's source lines.
 *
 * Idea: on request, TensorFlow keeps the graphs that a context made of its functions, after
 * optimisation and placement, until they are exported. The request is made when a context is
 * created. The thread that has just run a function for the first time exports them (a session's run
 * returns the graphs with its metadata). The lines come with a function's definition. The exporting
 * thread only hands all this over; the runtime's thread reads it, some nodes each tick.
 *
 * Always true: the program's own collection of graphs gets what it would have got without tftop. A
 * node is sent once, and again on a dump or when it has changed.
 *
 * Bounds: 65 536 nodes and lines each, 32 MiB of text, 64 MiB of messages that wait; if there are
 * more, one message says so.
 */
#ifndef PROBES_TENSORFLOW_GRAPH_H
#define PROBES_TENSORFLOW_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TF_GRAPH_NAME 256

/* TF_Buffer of tensorflow/c/tf_buffer.h */
struct tf_buffer {
	const void *data;
	size_t length;
	void (*release)(void *data, size_t length);
};

/* ---- hooks ---- */
void *tf_new_context(void *options, void *status);
void tf_add_function(void *context, void *function, void *status);
void tf_add_function_def(void *context, const char *data, size_t size, void *status);
void tf_enable_graphs(void *context);
void tf_disable_graphs(void *context);
void tf_enable_metadata(void *context);
void tf_disable_metadata(void *context);
void tf_options_set_config(void *options, const void *proto, size_t size, void *status);
void tf_set_config(void *options, const void *proto, size_t size, void *status);

/* lines.c */
void *tf_new_graph(void);
void *tf_new_operation(void *graph, const char *type, const char *name);
void tf_delete_status(void *status);
void *tf_graph_to_function(const void *graph, const char *name, unsigned char append, int n_ops,
			   const void *ops, int n_in, const void *in, int n_out, const void *out,
			   const void *names, int n_control, const void *control,
			   const void *control_names, const void *options, const char *description,
			   void *status);
void *tf_new_session(void *graph, const void *options, void *status);
void *tf_eager_reset(void *status, void *op, const char *name, const char *device);

/* ---- from calls.c ---- */

/* A function, or an eager op, is about to run (begin) or has run (end); op is the TFE_Op. Begin
 * returns the context if it is its first run, else NULL. */
#define TF_GRAPH_EAGER "eager"		/* the graph that the nodes of eager ops are in */
void *tf_graph_begin(void *op, const char *name, bool function);
void tf_graph_end(void *context, const char *graph);

/* For a session's run without options and metadata of its own: those to use instead, the first time
 * that these outputs are requested. false: none. */
struct tf_graph_run {
	void *options, *metadata, *session;
};
bool tf_graph_session(void *session, const void *outputs, int n_outputs,
		      const void *const *targets, int n_targets, struct tf_graph_run *run);
/* The session has run; status: the TF_Status. label: what the graph is called. */
void tf_graph_session_end(struct tf_graph_run *run, const char *label, const void *status);

/* ---- from tensorflow.c ---- */
void tf_graph_tick(int64_t now_ns);
void tf_graph_dump(void);
void tf_graph_fini(void);
void tf_graph_fork_child(void);

/* ---- between graph.c and graph_read.c ---- */

enum tf_graph_kind { TAKE_LINES, TAKE_FUNCTION, TAKE_METADATA };
/* Takes over the buffer. */
void tf_graph_hand_over(enum tf_graph_kind kind, const char *name, struct tf_buffer *buffer);
/* TF_DeleteBuffer; NULL: no buffer can have been handed over. */
void (*tf_graph_delete(void))(struct tf_buffer *);
void tf_graph_forget_contexts(void);
/* Whether no function has been defined, or is in its first run, since then. */
bool tf_graph_rests(int64_t since_ns);

/* Whether the C API reports where a function's nodes were made. */
bool tf_graph_tells_lines(void);
/* Whether this is the first call with these arguments. */
bool tf_graph_is_first(unsigned int kind, const char *name);

/* ---- lines.c: where nodes were made, on any thread ---- */

struct tf_line {
	uint32_t file, line, function;	/* file, function: name ids */
};
/* Notes where a node of the graph of a function, or of a session's label, was made. */
bool tf_line_made(const char *function, const char *node, size_t length, struct tf_line *line);
/* Notes where an eager op of this type, or a function, was first run. */
bool tf_line_eager(const char *op, struct tf_line *line);
/* What the graph of a session's run is called: the label, unless that belongs to another graph. */
void tf_line_session(const void *session, const char *label, char *name, size_t size);
void tf_lines_fork_child(void);

/* ---- nodes.c: what is kept and sent; one thread at a time ---- */

struct graphdef_node;
/* Sends a node of the graph of a function or session, unless it was sent before; returns about how
 * many bytes that took. */
size_t tf_nodes_take(const char *graph, struct graphdef_node *node);
/* Adds the lines in a function's GraphDebugInfo. */
void tf_lines_take(const char *function, const void *data, size_t size);
void tf_nodes_dump(void);
void tf_nodes_forget(void);

/* Whether a function's nodes have arrived as they run, so that its definition is not needed. */
bool tf_is_covered(const char *function);
void tf_cover(const char *function);

/* ---- config.c ---- */
void tf_config_context(void *context);
void tf_config_dump(void);
/* Whether the program has forbidden to hand out graphs. */
bool tf_config_no_partitions(void);

#endif
