/* SPDX-License-Identifier: MIT */
/*
 * Calls of the C API that run something: eager ops, functions, sessions. Each is an op on the
 * calling thread's stack while it lasts, so what runs inline is nested in it. The outermost run of
 * a function or session is a step; the model decides which of them is the program's own step.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/python/python.h"
#include "probes/tensorflow/graph.h"
#include "probes/tensorflow/probe.h"
#include "probes/tensorflow/traceme.h"

#define NAME_BYTES 512

static _Thread_local int runs;	/* how many functions and sessions are open on this thread */

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/*
 * "__inference_step_203" is the 203rd function of the process, made from "step";
 * "__forward_step_203" is the same when gradients are needed, and "__backward_step_203" computes
 * them. Another trace has another number.
 */
static size_t function_label(char *buf, size_t size, const char *name, bool *is_step)
{
	static const struct {
		const char *prefix, *format;
		bool step;
	} kinds[] = {
		{ "__inference_", "%.*s()", true },
		{ "__forward_", "%.*s()", true },
		{ "__backward_", "%.*s() backward", false },
	};
	int length;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *base = name + strlen(kinds[i].prefix);
		size_t n;

		if (!starts(name, kinds[i].prefix))
			continue;
		n = strlen(base);
		while (n && base[n - 1] >= '0' && base[n - 1] <= '9')
			n--;
		if (n && base[n - 1] == '_' && base[n])
			n--;
		else
			n = strlen(base);
		*is_step = kinds[i].step;
		length = snprintf(buf, size, kinds[i].format, (int)(n < size ? n : size - 1), base);
		return length < (int)size ? (size_t)length : size - 1;
	}
	return 0;
}

static void begin(uint32_t name, uint32_t type, uint32_t source)
{
	struct rt_op_args args = {
		.name = name, .type = type, .step = -1, .framework = TFT_FW_TENSORFLOW,
		.source = source,
	};

	rt_op_push(&args);
}

struct called {
	uint32_t name;
	struct py_where where;
};

static uint32_t whole_stack(int64_t dur_ns, const void *arg)
{
	const struct called *c = arg;

	return py_slow_stack(py_slowest(c->name), dur_ns, &c->where);
}

static void end(const struct called *c)
{
	struct rt_ask ask = { py_slow_ns(py_slowest(c->name)), whole_stack, c };

	rt_op_pop_asking(0, &ask);
}

static void end_run(const struct called *c, int64_t start_ns, bool is_step)
{
	struct tft_step step = { .name = c->name, .number = -1, .start_ns = start_ns };

	end(c);
	runs--;
	if (runs || !is_step)
		return;
	step.dur_ns = rt_now_ns() - start_ns;
	rt_emit_step(&step);
}

/* ---- eager execution ---- */

typedef void execute(void *op, void **results, int *count, void *status);

static struct tf_ids labelled(const char *label, size_t length, const char *type)
{
	return tf_ids(label, length, type, strlen(type));
}

void tf_execute(void *op, void **results, int *count, void *status)
{
	execute *original = (execute *)tf_original(TFT_TF_EXECUTE);
	const char *(*get_name)(const void *, void *), *name;
	char label[NAME_BYTES], function[NAME_BYTES];
	struct called call;
	struct tf_run run;
	struct tf_ids ids;
	bool is_step = false;
	void *context;
	int64_t start_ns;
	size_t length;

	TF_FIND(const char *(*)(const void *, void *), get_name, "TFE_OpGetName");
	name = rt_level() != TFT_LEVEL_OFF && get_name ? get_name(op, status) : NULL;
	if (!name) {
		original(op, results, count, status);
		return;
	}
	tf_gate_poll();
	py_where(&call.where, NULL);
	length = starts(name, "__") ? function_label(label, sizeof(label), name, &is_step) : 0;
	if (!length) {
		length = (size_t)snprintf(label, sizeof(label), "eager %s", name);
		ids = labelled(label, length < sizeof(label) ? length : sizeof(label) - 1, "eager");
		context = tf_graph_begin(op, name, false);
		begin(ids.name, ids.type, call.where.source);
		tf_run_eager(ids.name);	/* its graph has the same name */
		original(op, results, count, status);
		tf_run_eager(0);
		call.name = ids.name;
		end(&call);
		if (context)
			tf_graph_end(context, TF_GRAPH_EAGER);
		return;
	}
	ids = labelled(label, length, "function");
	context = tf_graph_begin(op, name, true);
	if (context)
		snprintf(function, sizeof(function), "%s", name);
	start_ns = rt_now_ns();
	begin(ids.name, ids.type, call.where.source);
	runs++;
	tf_run_begin(&run, name);
	original(op, results, count, status);
	tf_run_end(&run);
	call.name = ids.name;
	end_run(&call, start_ns, is_step);
	if (context)
		tf_graph_end(context, function);
}

/* ---- sessions ---- */

struct tf_output {
	void *operation;
	int index;
};

typedef void session_run(void *session, const void *options, const struct tf_output *inputs,
			 void *const *values, int n_inputs, const struct tf_output *outputs,
			 void **results, int n_outputs, const void *const *targets, int n_targets,
			 void *metadata, void *status);

/* A run is named after what was requested: the first target, or else the first output. */
static struct tf_ids session_ids(char label[NAME_BYTES], const struct tf_output *outputs,
				 int n_outputs, const void *const *targets, int n_targets)
{
	const char *(*get_name)(const void *), *name = NULL;
	size_t length;

	TF_FIND(const char *(*)(const void *), get_name, "TF_OperationName");
	if (get_name && n_targets > 0 && targets[0])
		name = get_name(targets[0]);
	else if (get_name && n_outputs > 0 && outputs[0].operation)
		name = get_name(outputs[0].operation);
	length = (size_t)snprintf(label, NAME_BYTES, "Session.run(%s)", name ? name : "");
	return labelled(label, length < NAME_BYTES ? length : NAME_BYTES - 1, "session");
}

void tf_session_run(void *session, const void *options, const void *inputs, void *const *values,
		    int n_inputs, const void *outputs, void **results, int n_outputs,
		    const void *const *targets, int n_targets, void *metadata, void *status)
{
	session_run *original = (session_run *)tf_original(TFT_TF_SESSION_RUN);
	struct tf_graph_run graph;
	char label[NAME_BYTES];
	struct tf_ids ids;
	int64_t start_ns;
	bool asks = false;

	if (rt_level() == TFT_LEVEL_OFF) {
		original(session, options, inputs, values, n_inputs, outputs, results, n_outputs,
			 targets, n_targets, metadata, status);
		return;
	}
	tf_gate_poll();
	ids = session_ids(label, outputs, n_outputs, targets, n_targets);
	if (!options && !metadata)
		asks = tf_graph_session(session, outputs, n_outputs, targets, n_targets, &graph);
	if (asks) {
		options = graph.options;
		metadata = graph.metadata;
	}
	start_ns = rt_now_ns();
	begin(ids.name, ids.type, 0);
	runs++;
	original(session, options, inputs, values, n_inputs, outputs, results, n_outputs,
		 targets, n_targets, metadata, status);
	end_run(&(struct called){ .name = ids.name }, start_ns, true);
	if (asks)
		tf_graph_session_end(&graph, label, status);
}

/* The run of a callable, or a run by a C++ program, did not go through the C API. */
void tf_session_traced(const struct traceme *t)
{
	struct tft_step step = {
		.number = -1, .start_ns = t->start_ns, .dur_ns = t->end_ns - t->start_ns,
	};

	if (runs)
		return;
	step.name = labelled("Session.run()", strlen("Session.run()"), "session").name;
	rt_emit_step(&step);
}
