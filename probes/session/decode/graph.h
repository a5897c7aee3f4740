/* SPDX-License-Identifier: MIT */
/*
 * Builds babeltrace2's graph for a reader: sources, muxer, our sink.
 *
 * Errors: false with the chain of causes in error. Threads: a graph is one
 * thread's at a time (babeltrace keeps its current error per thread). Graphs
 * share component classes, whose counts of references have no lock, and each
 * loading of a plug-in its one list of them, which has none either: so plug-ins
 * are loaded once and stay, and graphs are made and freed under guard_lock().
 */
#ifndef PROBES_SESSION_GRAPH_H
#define PROBES_SESSION_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include <babeltrace2/babeltrace.h>

/* Takes an array of messages; what it returns ends or goes on with the graph. */
typedef bt_graph_simple_sink_component_consume_func_status graph_status;
typedef graph_status graph_consume(bt_message_iterator *iterator, void *arg);

/* For it: calls take for each message that has come (borrowed). */
graph_status graph_each(bt_message_iterator *iterator,
			void (*take)(void *arg, const bt_message *message), void *arg);

/* A live session ("net://..."); connects at once. */
bt_graph *graph_build(const char *url, graph_consume *consume, void *arg, char *error,
		      size_t size);

/* The recorded trace in exactly this folder; a single stream without a muxer. */
bt_graph *graph_build_stream(const char *folder, graph_consume *consume, void *arg, char *error,
			     size_t size);

/* NULL is fine. Clears this thread's pending error. */
void graph_free(bt_graph *graph);

/* A plug-in by its name, borrowed; NULL: not found. [guard_lock()] */
const bt_plugin *graph_plugin(const char *name);

/* Calls fn for each folder with CTF in or below path, with or without metadata,
 * and for those that may not be looked into. False: there are too many or no
 * memory. */
bool graph_folders(const char *path, void (*fn)(void *arg, const char *folder), void *arg);

/* Is there any such folder? Any thread. */
bool graph_finds_trace(const char *path);

/* This thread's pending error of babeltrace as one sentence; cleared. */
void graph_take_error(char *error, size_t size, const char *what);

#endif
