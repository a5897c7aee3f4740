/* SPDX-License-Identifier: MIT */
/*
 * babeltrace2's graph: a source (lttng-live or ctf.fs) -> muxer -> tftop's sink.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/session/decode/graph.h"
#include "probes/session/decode/guard.h"
#include "probes/process/process.h"

#define TRACES_MAX 4096			/* folders with CTF below one path */
#define LOOK_MAX 100000			/* how many files and folders are searched for them */
#define STREAMS_LOOKED 16u		/* how many files of a folder are examined */
#define STREAM_MAGIC 0xc1fc1fc1u

/* Cuts off the text from ": some-addr=0x1234, ..." on. */
static void cut_addresses(char *error)
{
	char *at = strstr(error, "-addr=0x");

	while (at && at > error && strncmp(at, ": ", 2))
		at--;
	if (at && at > error)
		*at = '\0';
}

/*
 * The innermost cause is the one that a user can do something about; the outer ones say where it
 * happened. Names of babeltrace's components and files are left out.
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
	/* Outer causes tend to list addresses of components. */
	if (count > 1 && !strstr(outer, "=0x"))
		snprintf(error, size, "%s: %s (%s)", what, inner, outer);
	else
		snprintf(error, size, "%s: %s", what, inner ? inner : "no reason given");
	bt_error_release(chain);
	cut_addresses(error);
	for (char *c = error; *c; c++)
		if (*c == '\n')
			*c = ' ';
}

/* ---- folders with CTF in them ---- */

struct folders {
	char *path[TRACES_MAX];		/* owned */
	size_t count, looked;
};

/* nftw() has no argument for its function. */
static _Thread_local struct folders *walking;

/* Whether the file starts like a packet of events. */
static bool is_stream(int folder, const char *name)
{
	uint32_t magic = 0;
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	bool found = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		read(fd, &magic, sizeof(magic)) == sizeof(magic) &&
		(magic == STREAM_MAGIC || magic == __builtin_bswap32(STREAM_MAGIC));

	if (fd >= 0)
		close(fd);
	return found;
}

/* Whether there is a description of a trace, or at least what looks like its streams. */
static bool holds_trace(const char *path)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);
	bool found = false;
	struct stat st;

	for (unsigned int i = 0; dir && !found && (entry = readdir(dir)); ) {
		if (!strcmp(entry->d_name, "metadata"))
			found = !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ?
				S_ISREG(st.st_mode) : errno == EACCES;
		else if (entry->d_name[0] != '.' && i++ < STREAMS_LOOKED)
			found = is_stream(dirfd(dir), entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* A folder that may not be opened counts as one that cannot be read. */
static int visit_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)at;
	if (++walking->looked > LOOK_MAX)
		return 1;
	if (type != FTW_DNR && (type != FTW_D || !holds_trace(path)))
		return 0;
	if (walking->count == TRACES_MAX)
		return 1;
	walking->path[walking->count] = strdup(path);
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
	nftw(path, visit_entry, 32, FTW_PHYS);
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

struct graph_build {
	bt_graph *graph;		/* owned until handed out */
	const bt_component_filter *muxer;	/* borrowed from the graph */
	const bt_component_sink *sink;	/* borrowed from the graph */
	uint64_t muxer_ports;		/* connected so far */
	char *error;
	size_t size;
};

static bool fail(struct graph_build *build, const char *what)
{
	graph_take_error(build->error, build->size, what);
	return false;
}

/* From the libraries that a bundle brings, else from where babeltrace looks. */
static const bt_plugin *graph_find_plugin(const char *name)
{
	const bt_plugin *plugin = NULL;
	const bt_plugin_set *set = NULL;
	char file[64], path[PATH_MAX];

	snprintf(file, sizeof(file), "own/lib/babeltrace2/babeltrace-plugin-%s.so", name);
	if (!process_own_file(file, path, sizeof(path)))
		return bt_plugin_find(name, 1, 0, 1, 1, 0, &plugin) == BT_PLUGIN_FIND_STATUS_OK ?
			plugin : NULL;
	if (bt_plugin_find_all_from_file(path, 1, &set) !=
	    BT_PLUGIN_FIND_ALL_FROM_FILE_STATUS_OK)
		return NULL;
	plugin = bt_plugin_set_borrow_plugin_by_index_const(set, 0);
	bt_plugin_get_ref(plugin);
	bt_plugin_set_put_ref(set);
	return plugin;
}

const bt_plugin *graph_plugin(const char *name)
{
	static struct { const char *name; const bt_plugin *plugin; } loaded[] = {
		{ "ctf", NULL }, { "utils", NULL },
	};

	for (size_t i = 0; i < sizeof(loaded) / sizeof(loaded[0]); i++) {
		if (strcmp(loaded[i].name, name))
			continue;
		if (!loaded[i].plugin)
			loaded[i].plugin = graph_find_plugin(name);
		return loaded[i].plugin;
	}
	return NULL;
}

static bool add_muxer(struct graph_build *build)
{
	const bt_plugin *utils = graph_plugin("utils");
	const bt_component_class_filter *class = utils ?
		bt_plugin_borrow_filter_component_class_by_name_const(utils, "muxer") : NULL;

	if (!utils)
		return fail(build, "babeltrace's plug-in 'utils' was not found");
	if (!class || bt_graph_add_filter_component(build->graph, class, "muxer", NULL,
						    BT_LOGGING_LEVEL_NONE, &build->muxer))
		return fail(build, "cannot create babeltrace's muxer");
	if (bt_graph_connect_ports(build->graph,
			bt_component_filter_borrow_output_port_by_index_const(build->muxer, 0),
			bt_component_sink_borrow_input_port_by_index_const(build->sink, 0), NULL))
		return fail(build, "cannot connect babeltrace's sink");
	return true;
}

static bool make_source(struct graph_build *build, const char *class_name, const char *name,
			const bt_value *params, const bt_component_source **source)
{
	const bt_plugin *ctf = graph_plugin("ctf");
	const bt_component_class_source *class = ctf ?
		bt_plugin_borrow_source_component_class_by_name_const(ctf, class_name) : NULL;

	if (!ctf)
		return fail(build, "babeltrace's plug-in 'ctf' was not found");
	if (!class)
		return fail(build, "babeltrace has no source for CTF");
	if (bt_graph_add_source_component(build->graph, class, name, params,
					  BT_LOGGING_LEVEL_NONE, source))
		return fail(build, "cannot read the trace");
	return true;
}

static bool connect_all(struct graph_build *build, const bt_component_source *source)
{
	uint64_t ports = bt_component_source_get_output_port_count(source);

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

static bool add_graph_sink(struct graph_build *build, graph_consume *consume, void *arg)
{
	if (bt_graph_add_simple_sink_component(build->graph, "tftop", NULL, consume, NULL, arg,
					       &build->sink))
		return fail(build, "cannot create babeltrace's sink");
	return true;
}

graph_status graph_each(bt_message_iterator *iterator,
			void (*take)(void *arg, const bt_message *message), void *arg)
{
	bt_message_array_const messages;
	uint64_t count = 0;

	switch (bt_message_iterator_next(iterator, &messages, &count)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		for (uint64_t i = 0; i < count; i++) {
			take(arg, messages[i]);
			bt_message_put_ref(messages[i]);
		}
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_MEMORY_ERROR;
	default:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	}
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

static bool add_live(struct graph_build *build, const char *url)
{
	const bt_component_source *source = NULL;
	bt_value *params = make_params(url, true);
	bool good;

	if (!params)
		return fail(build, "out of memory");
	good = make_source(build, "lttng-live", "live", params, &source) &&
		connect_all(build, source);
	bt_value_put_ref(params);
	return good;
}

bool graph_folders(const char *path, void (*fn)(void *arg, const char *folder), void *arg)
{
	struct folders *folders = find_folders(path);
	bool good = folders && folders->count < TRACES_MAX;

	for (size_t i = 0; good && i < folders->count; i++)
		fn(arg, folders->path[i]);
	free_folders(folders);
	return good;
}

static void quiet(void)
{
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
}

static bool begin(struct graph_build *build, graph_consume *consume, void *arg)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, quiet);
	guard_lock();
	build->error[0] = '\0';
	build->graph = bt_graph_create(0);
	if (!build->graph)
		return fail(build, "cannot create babeltrace's graph");
	return add_graph_sink(build, consume, arg);
}

static bt_graph *end(struct graph_build *build, bool good)
{
	if (!good) {
		bt_graph_put_ref(build->graph);
		bt_current_thread_clear_error();
	}
	guard_unlock();
	return good ? build->graph : NULL;
}

bt_graph *graph_build(const char *url, graph_consume *consume, void *arg, char *error,
		      size_t size)
{
	struct graph_build build = { .error = error, .size = size };
	bool good = begin(&build, consume, arg) && add_muxer(&build) &&
		add_live(&build, url);

	return end(&build, good);
}

static bool add_stream_source(struct graph_build *build, const char *folder)
{
	const bt_component_source *source = NULL;
	bt_value *params = make_params(folder, false);
	bool good;

	if (!params)
		return fail(build, "out of memory");
	good = make_source(build, "fs", "fs", params, &source);
	bt_value_put_ref(params);
	if (!good)
		return false;
	if (bt_component_source_get_output_port_count(source) != 1)
		return add_muxer(build) && connect_all(build, source);
	if (bt_graph_connect_ports(build->graph,
			bt_component_source_borrow_output_port_by_index_const(source, 0),
			bt_component_sink_borrow_input_port_by_index_const(build->sink, 0), NULL))
		return fail(build, "cannot connect the stream");
	return true;
}

bt_graph *graph_build_stream(const char *folder, graph_consume *consume, void *arg, char *error,
			     size_t size)
{
	struct graph_build build = { .error = error, .size = size };

	return end(&build, begin(&build, consume, arg) && add_stream_source(&build, folder));
}

void graph_free(bt_graph *graph)
{
	guard_lock();
	bt_graph_put_ref(graph);
	guard_unlock();
	bt_current_thread_clear_error();
}
