/* SPDX-License-Identifier: MIT */
/*
 * babeltrace2's graph: lttng-live or ctf.fs sources -> muxer -> our sink.
 */
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probes/session/graph.h"

#define TRACES_MAX 4096			/* folders with CTF below one path */

/*
 * The innermost cause is the one a person can do something about; the outer
 * ones say where. Component and file names of babeltrace are left out.
 */
void graph_take_error(char *error, size_t size, const char *what)
{
	const bt_error *chain = bt_current_thread_take_error();
	const char *inner = NULL, *outer = NULL;
	uint64_t count;

	if (!chain) {
		snprintf(error, size, "%s", what);
		return;
	}
	count = bt_error_get_cause_count(chain);
	if (count) {
		inner = bt_error_cause_get_message(bt_error_borrow_cause_by_index(chain, 0));
		outer = bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(chain, count > 1 ? 1 : 0));
	}
	/* Outer causes like to list addresses of components. */
	if (count > 1 && !strstr(outer, "=0x"))
		snprintf(error, size, "%s: %s (%s)", what, inner, outer);
	else
		snprintf(error, size, "%s: %s", what, inner ? inner : "no reason given");
	bt_error_release(chain);
	for (char *c = error; *c; c++)
		if (*c == '\n')
			*c = ' ';
}

/* ---- folders with CTF in them ---- */

struct folders {
	char *path[TRACES_MAX];		/* owned */
	size_t count;
};

/* nftw() has no argument for its function. */
static _Thread_local struct folders *walking;

static int visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	if (type != FTW_F || strcmp(path + at->base, "metadata"))
		return 0;
	if (walking->count == TRACES_MAX)
		return 1;
	walking->path[walking->count] = strndup(path, at->base > 1 ? (size_t)at->base - 1 : 1);
	if (walking->path[walking->count])
		walking->count++;
	return 0;
}

static struct folders *find_folders(const char *path)
{
	struct folders *folders = calloc(1, sizeof(*folders));

	if (!folders)
		return NULL;
	walking = folders;
	nftw(path, visit, 32, FTW_PHYS);
	walking = NULL;
	return folders;
}

static void free_folders(struct folders *folders)
{
	for (size_t i = 0; folders && i < folders->count; i++)
		free(folders->path[i]);
	free(folders);
}

bool graph_finds_trace(const char *path)
{
	struct folders *folders = find_folders(path);
	bool found = folders && folders->count;

	free_folders(folders);
	return found;
}

/* ---- the graph ---- */

struct build {
	bt_graph *graph;		/* owned until handed out */
	const bt_plugin *ctf, *utils;	/* owned references */
	const bt_component_filter *muxer;	/* borrowed from the graph */
	uint64_t muxer_ports;		/* connected so far */
	char *error;
	size_t size;
};

static bool fail(struct build *build, const char *what)
{
	graph_take_error(build->error, build->size, what);
	return false;
}

static bool find_plugins(struct build *build)
{
	if (bt_plugin_find("ctf", 1, 0, 1, 1, 0, &build->ctf) != BT_PLUGIN_FIND_STATUS_OK ||
	    bt_plugin_find("utils", 1, 0, 1, 1, 0, &build->utils) != BT_PLUGIN_FIND_STATUS_OK)
		return fail(build, "babeltrace's plug-ins 'ctf' and 'utils' not found");
	return true;
}

static bool add_source(struct build *build, const char *class_name, const char *name,
		       const bt_value *params)
{
	const bt_component_class_source *class =
		bt_plugin_borrow_source_component_class_by_name_const(build->ctf, class_name);
	const bt_component_source *source = NULL;
	uint64_t ports;

	if (!class)
		return fail(build, "babeltrace has no such source");
	if (bt_graph_add_source_component(build->graph, class, name, params,
					  BT_LOGGING_LEVEL_NONE, &source))
		return fail(build, "cannot read the trace");
	ports = bt_component_source_get_output_port_count(source);
	for (uint64_t i = 0; i < ports; i++) {
		const bt_port_output *from =
			bt_component_source_borrow_output_port_by_index_const(source, i);
		const bt_port_input *to = bt_component_filter_borrow_input_port_by_index_const(
			build->muxer, build->muxer_ports);

		if (bt_graph_connect_ports(build->graph, from, to, NULL))
			return fail(build, "cannot connect the trace's streams");
		build->muxer_ports++;
	}
	return true;
}

static bool add_muxer_and_sink(struct build *build, graph_consume *consume, void *arg)
{
	const bt_component_class_filter *class =
		bt_plugin_borrow_filter_component_class_by_name_const(build->utils, "muxer");
	const bt_component_sink *sink = NULL;

	if (!class || bt_graph_add_filter_component(build->graph, class, "muxer", NULL,
						    BT_LOGGING_LEVEL_NONE, &build->muxer))
		return fail(build, "cannot make the muxer");
	if (bt_graph_add_simple_sink_component(build->graph, "tftop", NULL, consume, NULL, arg,
					       &sink))
		return fail(build, "cannot make the sink");
	if (bt_graph_connect_ports(build->graph,
			bt_component_filter_borrow_output_port_by_index_const(build->muxer, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL))
		return fail(build, "cannot connect the sink");
	return true;
}

/* {inputs: [input], session-not-found-action: "continue"} */
static bt_value *make_params(const char *input, bool live)
{
	bt_value *params = bt_value_map_create();
	bt_value *inputs = bt_value_array_create();
	bool good = params && inputs &&
		!bt_value_array_append_string_element(inputs, input) &&
		!bt_value_map_insert_entry(params, "inputs", inputs) &&
		(!live || !bt_value_map_insert_string_entry(params, "session-not-found-action",
							    "continue"));

	bt_value_put_ref(inputs);
	if (good)
		return params;
	bt_value_put_ref(params);
	return NULL;
}

static bool add_input(struct build *build, const char *input, const char *name, bool live)
{
	bt_value *params = make_params(input, live);
	bool good;

	if (!params)
		return fail(build, "out of memory");
	good = add_source(build, live ? "lttng-live" : "fs", name, params);
	bt_value_put_ref(params);
	return good;
}

static bool add_folders(struct build *build, const char *path)
{
	struct folders *folders = find_folders(path);
	bool good = true;

	if (!folders)
		return fail(build, "out of memory");
	if (!folders->count) {
		snprintf(build->error, build->size, "no CTF trace in or below '%s'", path);
		good = false;
	} else if (folders->count == TRACES_MAX) {
		snprintf(build->error, build->size, "more than %d traces below '%s'",
			 TRACES_MAX - 1, path);
		good = false;
	}
	for (size_t i = 0; good && i < folders->count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "fs%zu", i);
		good = add_input(build, folders->path[i], name, false);
	}
	free_folders(folders);
	return good;
}

static void quiet(void)
{
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
}

bt_graph *graph_build(const char *url, const char *path, graph_consume *consume, void *arg,
		      char *error, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct build build = { .error = error, .size = size };
	bool good;

	pthread_once(&once, quiet);
	error[0] = '\0';
	build.graph = bt_graph_create(0);
	if (!build.graph) {
		graph_take_error(error, size, "cannot make a graph");
		return NULL;
	}
	good = find_plugins(&build) && add_muxer_and_sink(&build, consume, arg) &&
		(url ? add_input(&build, url, "live", true) : add_folders(&build, path));
	bt_plugin_put_ref(build.ctf);
	bt_plugin_put_ref(build.utils);
	if (good)
		return build.graph;
	bt_graph_put_ref(build.graph);
	return NULL;
}
