/* SPDX-License-Identifier: MIT */
/* Where graphs come from: hooks, and the first run of each function. */
#include "probes/tensorflow/graph.h"
#include "probes/tensorflow/hash.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/tensorflow/graphdef.h"
#include "probes/tensorflow/probe.h"

#define CONTEXTS_MAX 16u
#define SEEN_SLOTS 8192u

static const uint8_t run_options[] = { 0x28, 1 };	/* output_partition_graphs */
static const struct tf_buffer run_options_buffer = { run_options, sizeof(run_options), NULL };

/* ---- the C API ---- */

static struct api {
	struct tf_buffer *(*new_buffer)(void);
	struct tf_buffer *(*buffer_of)(const void *data, size_t size);
	void (*delete_buffer)(struct tf_buffer *buffer);
	void *(*new_status)(void);
	void (*delete_status)(void *status);
	int (*code)(const void *status);
	void (*enable)(void *context);
	void (*export)(void *context, struct tf_buffer *buffer, void *status);
	void (*function_def)(void *function, struct tf_buffer *buffer, void *status);
	const char *(*function_name)(void *function);
	void (*lines)(void *context, const char *function, struct tf_buffer *buffer, void *status);
	void *(*context_of)(void *op, void *status);
	void *(*executor)(void *context);
	void (*delete_executor)(void *executor);
	bool (*is_async)(void *executor);
} api;
static atomic_int api_state;	/* 0: not looked for, 1: being looked for, 2: found, 3: not there */

static bool api_find(void)
{
	int none = 0;

	if (atomic_load(&api_state) >= 2)
		return atomic_load(&api_state) == 2;
	if (!atomic_compare_exchange_strong(&api_state, &none, 1))
		return false;
	*(void **)&api.new_buffer = tf_lib->find("TF_NewBuffer");
	*(void **)&api.buffer_of = tf_lib->find("TF_NewBufferFromString");
	*(void **)&api.delete_buffer = tf_lib->find("TF_DeleteBuffer");
	*(void **)&api.new_status = tf_lib->find("TF_NewStatus");
	*(void **)&api.delete_status = tf_lib->find("TF_DeleteStatus");
	*(void **)&api.code = tf_lib->find("TF_GetCode");
	*(void **)&api.enable = tf_lib->find("TFE_ContextEnableGraphCollection");
	*(void **)&api.export = tf_lib->find("TFE_ContextExportRunMetadata");
	*(void **)&api.function_def = tf_lib->find("TF_FunctionToFunctionDef");
	*(void **)&api.function_name = tf_lib->find("TF_FunctionName");
	*(void **)&api.lines = tf_lib->find("TFE_ContextGetGraphDebugInfo");
	*(void **)&api.context_of = tf_lib->find("TFE_OpGetContext");
	*(void **)&api.executor = tf_lib->find("TFE_ContextGetExecutorForThread");
	*(void **)&api.delete_executor = tf_lib->find("TFE_DeleteExecutor");
	*(void **)&api.is_async = tf_lib->find("TFE_ExecutorIsAsync");
	if (!api.new_buffer || !api.delete_buffer || !api.new_status || !api.delete_status ||
	    !api.code) {
		atomic_store(&api_state, 3);
		tf_blind("graphs: this version has no C API for them");
		return false;
	}
	atomic_store(&api_state, 2);
	return true;
}

/* ---- contexts ---- */

static struct context {
	void *context;
	int users;	/* how often the program itself requested graphs */
} contexts[CONTEXTS_MAX];
static atomic_flag contexts_busy = ATOMIC_FLAG_INIT;

static void lock_contexts(void)
{
	while (atomic_flag_test_and_set_explicit(&contexts_busy, memory_order_acquire))
		;
}

static void unlock_contexts(void)
{
	atomic_flag_clear_explicit(&contexts_busy, memory_order_release);
}

/* The lock must be held; NULL: unknown, and (make) there is no room. */
static struct context *context_find(void *context, bool make)
{
	struct context *free_one = NULL;

	for (size_t i = 0; i < CONTEXTS_MAX; i++) {
		if (contexts[i].context == context)
			return &contexts[i];
		if (!contexts[i].context && !free_one)
			free_one = &contexts[i];
	}
	if (make && free_one)
		free_one->context = context;
	return make ? free_one : NULL;
}

static void collect(void *context)
{
	bool fresh;

	if (!context || rt_level() < TFT_LEVEL_DEFAULT || !api_find() || !api.enable || !api.export)
		return;
	lock_contexts();
	fresh = !context_find(context, false) && context_find(context, true);
	unlock_contexts();
	if (fresh)
		api.enable(context);
}

/* Whether the probe may collect, because the program does not. */
static bool is_ours(void *context)
{
	struct context *c;
	bool ours;

	lock_contexts();
	c = context_find(context, false);
	ours = c && !c->users;
	unlock_contexts();
	return ours;
}

/* Whether ops run ahead in the context: exporting would wait for them. */
static bool runs_ahead(void *context)
{
	void *executor;
	bool async;

	if (!api.executor || !api.delete_executor || !api.is_async)
		return false;
	executor = api.executor(context);
	async = executor && api.is_async(executor);
	if (executor)
		api.delete_executor(executor);
	return async;
}

static void tf_export_graphs(void *context, const char *name)
{
	static atomic_bool said;
	struct tf_buffer *buffer;
	void *status;
	int saved = errno;

	if (runs_ahead(context)) {
		if (!atomic_exchange(&said, true))
			tf_blind("graphs of a context that executes asynchronously");
		return;
	}
	buffer = api.new_buffer();
	status = api.new_status();
	if (buffer && status) {
		api.export(context, buffer, status);
		if (!api.code(status))
			tf_graph_hand_over(TAKE_METADATA, name, buffer);
		else
			api.delete_buffer(buffer);
	}
	if (status)
		api.delete_status(status);
	errno = saved;
}

/* ---- hooks ---- */

static _Atomic int64_t changed_ns;	/* when a function was last defined, or ran first */
static atomic_int first_runs;		/* how many are running */

void *tf_new_context(void *options, void *status)
{
	void *(*original)(void *, void *) =
		(void *(*)(void *, void *))tf_original(TFT_TF_NEW_CONTEXT);
	void *context = original(options, status);
	int saved = errno;

	if (context) {
		/* the address may be reused by another one */
		lock_contexts();
		for (size_t i = 0; i < CONTEXTS_MAX; i++)
			if (contexts[i].context == context)
				contexts[i] = (struct context){ NULL, 0 };
		unlock_contexts();
		collect(context);
		if (rt_level() != TFT_LEVEL_OFF)
			tf_config_context(context);
	}
	errno = saved;
	return context;
}

static void user_collects(void *context, bool on, enum tft_tf_function function)
{
	void (*original)(void *) = (void (*)(void *))tf_original(function);
	struct context *c;
	bool again = false;

	if (on && is_ours(context))
		tf_export_graphs(context, TF_GRAPH_EAGER);
	lock_contexts();
	c = context_find(context, false);
	if (c && on)
		c->users = 1;
	else if (c)
		again = c->users && api.enable;
	if (c && !on)
		c->users = 0;
	unlock_contexts();
	original(context);
	if (again)
		api.enable(context);
}

#define USER_COLLECTS(hook, on, function) \
	void hook(void *context) \
	{ \
		user_collects(context, on, function); \
	}
USER_COLLECTS(tf_enable_graphs, true, TFT_TF_ENABLE_GRAPHS)
USER_COLLECTS(tf_disable_graphs, false, TFT_TF_DISABLE_GRAPHS)
USER_COLLECTS(tf_enable_metadata, true, TFT_TF_ENABLE_METADATA)
USER_COLLECTS(tf_disable_metadata, false, TFT_TF_DISABLE_METADATA)

/* A function's definition and its lines, both of which are there once it has been added. */
void tf_add_function(void *context, void *function, void *status)
{
	void (*original)(void *, void *, void *) =
		(void (*)(void *, void *, void *))tf_original(TFT_TF_ADD_FUNCTION);
	struct tf_buffer *buffer;
	const char *name;
	void *own;
	int saved;

	original(context, function, status);
	saved = errno;
	collect(context);
	atomic_store_explicit(&changed_ns, rt_now_ns(), memory_order_relaxed);
	if (rt_level() >= TFT_LEVEL_DEFAULT && api_find() && api.function_name &&
	    !api.code(status) && (own = api.new_status())) {
		name = api.function_name(function);
		buffer = api.lines ? api.new_buffer() : NULL;
		if (buffer) {
			api.lines(context, name, buffer, own);
			tf_graph_hand_over(TAKE_LINES, name, buffer);
		}
		buffer = api.function_def ? api.new_buffer() : NULL;
		if (buffer) {
			api.function_def(function, buffer, own);
			tf_graph_hand_over(TAKE_FUNCTION, name, buffer);
		}
		api.delete_status(own);
	}
	errno = saved;
}

void tf_add_function_def(void *context, const char *data, size_t size, void *status)
{
	void (*original)(void *, const char *, size_t, void *) =
		(void (*)(void *, const char *, size_t,
			  void *))tf_original(TFT_TF_ADD_FUNCTION_DEF);
	char name[TF_GRAPH_NAME];
	struct tf_buffer *buffer;
	int saved;

	original(context, data, size, status);
	saved = errno;
	if (rt_level() >= TFT_LEVEL_DEFAULT && api_find() && api.buffer_of && !api.code(status)) {
		collect(context);
		graphdef_function_name(pb_of(data, size), name, sizeof(name));
		buffer = api.buffer_of(data, size);
		if (buffer)
			tf_graph_hand_over(TAKE_FUNCTION, name, buffer);
	}
	errno = saved;
}

/* ---- first runs ---- */

static _Atomic uint64_t seen[SEEN_SLOTS];

static uint64_t hash_word(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

/* If the entry is taken, it is overwritten: then something is exported once more. */
static bool tf_export_is_first(uint64_t key)
{
	uint32_t at = (uint32_t)(key >> 40) % SEEN_SLOTS;

	key |= 1;
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t found = atomic_load_explicit(&seen[(at + i) % SEEN_SLOTS],
						      memory_order_relaxed);

		if (found == key)
			return false;
		if (!found &&
		    atomic_compare_exchange_strong(&seen[(at + i) % SEEN_SLOTS], &found, key))
			return true;
		if (found == key)
			return false;
	}
	atomic_store_explicit(&seen[at], key, memory_order_relaxed);
	return true;
}

bool tf_graph_tells_lines(void)
{
	return api_find() && api.lines;
}

bool tf_graph_is_first(unsigned int kind, const char *name)
{
	return tf_export_is_first(tf_hash_name(kind, name, strlen(name)));
}

bool tf_graph_rests(int64_t since_ns)
{
	return !atomic_load_explicit(&first_runs, memory_order_relaxed) &&
	       atomic_load_explicit(&changed_ns, memory_order_relaxed) < since_ns;
}

static void changed(int runs)
{
	atomic_fetch_add_explicit(&first_runs, runs, memory_order_relaxed);
	atomic_store_explicit(&changed_ns, rt_now_ns(), memory_order_relaxed);
}

void *tf_graph_begin(void *op, const char *name, bool function)
{
	void *context, *status;

	if (rt_level() < TFT_LEVEL_DEFAULT ||
	    !tf_export_is_first(tf_hash_name(function, name, strlen(name))) ||
	    !api_find() || !api.context_of || !api.export || !(status = api.new_status()))
		return NULL;
	context = api.context_of(op, status);
	if (api.code(status))
		context = NULL;
	api.delete_status(status);
	if (!context || !is_ours(context))
		return NULL;
	/* the graphs of eager ops since the last time */
	if (function)
		tf_export_graphs(context, TF_GRAPH_EAGER);
	changed(1);
	return context;
}

void tf_graph_end(void *context, const char *function)
{
	if (is_ours(context))
		tf_export_graphs(context, function);
	changed(-1);
}

struct proto_output {		/* TF_Output */
	const void *operation;
	int index;
};

bool tf_graph_session(void *session, const void *outputs, int n_outputs,
		      const void *const *targets, int n_targets, struct tf_graph_run *run)
{
	const struct proto_output *out = outputs;
	uint64_t key = hash_word(0, (uintptr_t)session);

	for (int i = 0; i < n_outputs; i++)
		key = hash_word(key, (uintptr_t)out[i].operation + (unsigned int)out[i].index);
	for (int i = 0; i < n_targets; i++)
		key = hash_word(key, (uintptr_t)targets[i] + 1);
	if (rt_level() < TFT_LEVEL_DEFAULT || tf_config_no_partitions() ||
	    !tf_export_is_first(key) ||
	    !api_find())
		return false;
	run->options = (void *)(uintptr_t)&run_options_buffer;
	run->session = session;
	run->metadata = api.new_buffer();
	return run->metadata != NULL;
}

void tf_graph_session_end(struct tf_graph_run *run, const char *label, const void *status)
{
	char name[TF_GRAPH_NAME];

	if (api.code(status)) {
		api.delete_buffer(run->metadata);
		return;
	}
	tf_line_session(run->session, label, name, sizeof(name));
	tf_graph_hand_over(TAKE_METADATA, name, run->metadata);
}

/* ---- for graph_read.c ---- */

void (*tf_graph_delete(void))(struct tf_buffer *)
{
	return atomic_load(&api_state) == 2 ? api.delete_buffer : NULL;
}

void tf_graph_forget_contexts(void)
{
	atomic_store(&first_runs, 0);
	atomic_flag_clear(&contexts_busy);
}
