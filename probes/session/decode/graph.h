/* SPDX-License-Identifier: MIT */
/*
 * Builds babeltrace2's graph for a reader: sources, muxer, and tftop's sink.
 *
 * Errors: false, with the chain of causes in error. Threads: a graph belongs to one thread at a
 * time (babeltrace keeps the current error per thread). Graphs share component classes, whose
 * reference counts have no lock, and the loading of plug-ins shares one list without a lock. So
 * plug-ins are loaded once and stay loaded, and graphs are built and freed under guard_lock().
 */
#ifndef PROBES_SESSION_GRAPH_H
#define PROBES_SESSION_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include <babeltrace2/babeltrace.h>

/* Consumes an array of messages; its result says whether the graph continues. */
typedef bt_graph_simple_sink_component_consume_func_status graph_status;
typedef graph_status graph_consume(bt_message_iterator *iterator, void *arg);

/* For use in a graph_consume: calls take for each message that has arrived (borrowed). */
graph_status graph_each(bt_message_iterator *iterator,
			void (*take)(void *arg, const bt_message *message), void *arg);

/* A live session ("net://..."); connects at once. */
bt_graph *graph_build(const char *url, graph_consume *consume, void *arg, char *error,
		      size_t size);

/* The recorded trace in exactly this folder; a single stream needs no muxer. */
bt_graph *graph_build_stream(const char *folder, graph_consume *consume, void *arg, char *error,
			     size_t size);

/* Also accepts NULL. Clears this thread's pending error. */
void graph_free(bt_graph *graph);

/* A plug-in, found by its name, borrowed; NULL: there is none. [guard_lock()] */
const bt_plugin *graph_plugin(const char *name);

/* Calls fn for each folder with CTF in or below path, with or without metadata, and for folders
 * that may not be read. false: there are too many, or memory is short. */
bool graph_folders(const char *path, void (*fn)(void *arg, const char *folder), void *arg);

/* Whether there is any such folder. Any thread. */
bool graph_finds_trace(const char *path);

/* Writes and clears this thread's pending babeltrace error as one sentence that starts with
 * `what`. */
void graph_take_error(char *error, size_t size, const char *what);

#endif
