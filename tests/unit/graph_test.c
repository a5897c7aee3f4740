/* SPDX-License-Identifier: MIT */
/* babeltrace's graphs on several threads at once: what it shares between its
 * graphs has no lock, and only one of ours may be in there. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/session/decode/graph.h"
#include "probes/session/decode/guard.h"
#include "tests/unit/test.h"

#define THREADS 4
#define ROUNDS 200
#define YIELDS 20			/* time for another thread to come in */

static const char *folder;
static atomic_uint refused, inside, together, loaded;

static void enter(void)
{
	together += atomic_fetch_add(&inside, 1) > 0;
	for (int i = 0; i < YIELDS; i++)
		sched_yield();
}

/* ---- babeltrace's own, watched ---- */

bt_plugin_find_status bt_plugin_find(const char *name, bt_bool in_env, bt_bool in_home,
				     bt_bool in_system, bt_bool in_static, bt_bool on_error,
				     const bt_plugin **plugin)
{
	bt_plugin_find_status (*real)(const char *, bt_bool, bt_bool, bt_bool, bt_bool, bt_bool,
				      const bt_plugin **) = dlsym(RTLD_NEXT, "bt_plugin_find");
	bt_plugin_find_status status;

	enter();
	status = real(name, in_env, in_home, in_system, in_static, on_error, plugin);
	loaded++;
	inside--;
	return status;
}

bt_graph_add_component_status
bt_graph_add_source_component(bt_graph *graph, const bt_component_class_source *class,
			      const char *name, const bt_value *params, bt_logging_level level,
			      const bt_component_source **component)
{
	bt_graph_add_component_status (*real)(bt_graph *, const bt_component_class_source *,
		const char *, const bt_value *, bt_logging_level, const bt_component_source **) =
		dlsym(RTLD_NEXT, "bt_graph_add_source_component");
	bt_graph_add_component_status status;

	enter();
	status = real(graph, class, name, params, level, component);
	inside--;
	return status;
}

void bt_graph_put_ref(const bt_graph *graph)
{
	void (*real)(const bt_graph *) = dlsym(RTLD_NEXT, "bt_graph_put_ref");

	enter();
	real(graph);
	inside--;
}

/* ---- the test ---- */

static bt_graph_simple_sink_component_consume_func_status nothing(bt_message_iterator *iterator,
								  void *arg)
{
	(void)iterator, (void)arg;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
}

static void *build_often(void *arg)
{
	char error[512];

	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		bt_graph *graph = graph_build_stream(folder, nothing, NULL, error, sizeof(error));

		refused += !graph;
		graph_free(graph);
	}
	return NULL;
}

static void write_metadata(const char *text)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/metadata", folder);
	out = fopen(path, "w");
	CHECK(out);
	fputs(text, out);
	fclose(out);
}

static void build_on_threads(void)
{
	pthread_t threads[THREADS];

	refused = 0;
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, build_often, NULL));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

TEST(graph_threads)
{
	folder = test_folder();
	write_metadata("/* CTF 1.8 */ trace { major = 1; minor = nonsense; };\n");
	build_on_threads();
	CHECK_INT(refused, THREADS * ROUNDS);
	write_metadata("/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\n");
	build_on_threads();
	CHECK_INT(refused, 0);
	CHECK_INT(together, 0);
	CHECK(loaded > 0 && loaded <= 2);
}

/* A thread that is given up while it is alone lets the others in. */
static void *abort_alone(void *arg)
{
	guard_begin(arg);
	guard_lock();
	abort();
}

TEST(guard_lost_while_alone)
{
	static atomic_bool gave_up;
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, abort_alone, &gave_up));
	while (!gave_up)
		sched_yield();
	guard_lock();
	guard_unlock();
	guard_lock();
	guard_unlock();
}
