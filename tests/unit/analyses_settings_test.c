/* SPDX-License-Identifier: MIT */
/* settings: what the program is set to, held against what its ops do. */
#include <stdio.h>
#include <string.h>

#include "model/acts/act.h"
#include "model/core/model.h"
#include "model/query/findings.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define STEPS 10

static void info(struct bench *bench, const char *key, const char *value)
{
	apply_one(bench->model, (struct event) {
		.type = EVENT_INFO, .pid = PID, .time_ns = BASE,
		.u.info = { "tensorflow", key, value },
	});
}

static void setup(struct bench *bench, uint32_t cores)
{
	struct event event = ev_device(2, "");

	bench_init(bench, &analysis_settings);
	event.u.device.api = "cpu";
	event.u.device.gpu = 0;
	event.u.device.units = cores;
	apply_one(bench->model, event);
	info(bench, "version", "2.21.0");
}

static void op(struct bench *bench, const char *name, const char *type, uint32_t tid,
	       int64_t start_ns, int64_t dur_ns)
{
	struct act *act = bench_act(bench, ACT_OP, start_ns, start_ns + dur_ns);

	act->name = bench_name(bench, name);
	act->op_name = bench_name(bench, type);
	act->thread = thread_get(bench->model, 0, tid);
	act->flags = ACT_WORKS;
}

/* Steps of 4 ms; of `ops` eager ones each takes 50 us, 20 of them its kernel, with
 * pauses of 30 us; behind them one of the program's own. */
static size_t eager(struct bench *bench, int ops, struct finding *finding)
{
	for (int64_t i = 0; i < STEPS; i++) {
		int64_t t = BASE + i * 4 * MS;

		for (int k = 0; k < ops; k++, t += 80 * US) {
			op(bench, "eager Mul", "eager", PID, t, 50 * US);
			op(bench, "Mul", "Mul", PID, t + 10 * US, 20 * US);
		}
		op(bench, "eager Mul", "eager", PID, BASE + i * 4 * MS + 3900 * US, 50 * US);
		bench_step(bench, BASE + i * 4 * MS, BASE + (i + 1) * 4 * MS);
	}
	return bench_review(bench, "settings", finding);
}

TEST(settings_eager)
{
	struct finding finding;
	struct bench bench;

	setup(&bench, 2);
	CHECK_INT(eager(&bench, 30, &finding), 1);
	CHECK_STR(finding.title, "settings: 31.0 ops are run eagerly per step, one by one, and the "
		  "time around their kernels is 46 % of each step");
	/* 30 us around each kernel, 29 pauses; the last one's kernel was not seen */
	CHECK_INT(finding.cost_ns, (30 * 30 + 29 * 30 + 50) * US);
	CHECK(strstr(finding.advice, "run_functions_eagerly(False)"));
	CHECK(finding.evidence.kind == EVIDENCE_TIME);
	CHECK_INT(finding.evidence.t1 - finding.evidence.t0, 4 * MS);
	bench_release(&bench);
	/* a few around a function are no loop without one */
	setup(&bench, 2);
	CHECK_INT(eager(&bench, 10, &finding), 0);
	bench_release(&bench);
}

/* In a step of 2 ms one thread runs for 1600 us, the other one 400 of them beside it. */
static size_t threads(struct bench *bench, struct finding *finding)
{
	for (int64_t i = 0; i < STEPS; i++) {
		int64_t t = BASE + i * 2 * MS;

		op(bench, "step", "function", PID, t, 2 * MS);
		op(bench, "a", "MatMul", 70, t, 1600 * US);
		op(bench, "inner", "MatMul", 70, t + 100 * US, 500 * US);
		op(bench, "b", "MatMul", 71, t + 1000 * US, 400 * US);
		for (int k = 0; k < 10; k++)
			op(bench, "short", "Mul", 70, t + 1600 * US + k * 30 * US, 20 * US);
		bench_step(bench, t, t + 2 * MS);
	}
	return bench_review(bench, "settings", finding);
}

TEST(settings_threads_inside_of_an_op)
{
	static const char *const keys[] = { "threads inside of an op", "TF_NUM_INTRAOP_THREADS" };
	struct finding finding;
	struct bench bench;

	for (int i = 0; i < 2; i++) {
		setup(&bench, 4);
		info(&bench, keys[i], "1");
		CHECK_INT(threads(&bench, &finding), 1);
		CHECK_STR(finding.title,
			  "settings: ops may use 1 of 4 cores; the others could save up to 55 % of "
			  "each step");
		CHECK_INT(finding.cost_ns, 1600 * US - 2000 * US / 4);
		CHECK(strstr(finding.lines[0], "a mean of 1.2 cores was busy"));
		CHECK_STR(finding.evidence.key, "a");
		CHECK(finding.severity == SEVERITY_WARNING);
		bench_release(&bench);
	}
}

TEST(settings_threads_that_are_no_fault)
{
	static const char *const values[] = { "as many as cores", "4", "8", "0" };
	struct finding finding;
	struct bench bench;

	for (int i = 0; i < 4; i++) {
		setup(&bench, 4);
		info(&bench, "threads inside of an op", values[i]);
		CHECK_INT(threads(&bench, &finding), 0);
		bench_release(&bench);
	}
	/* nor where the cores are not known */
	setup(&bench, 0);
	info(&bench, "threads inside of an op", "1");
	CHECK_INT(threads(&bench, &finding), 0);
	bench_release(&bench);
}

static size_t convolutions(struct bench *bench, const char *value, struct finding *finding)
{
	setup(bench, 2);
	if (value)
		info(bench, "TF_ENABLE_ONEDNN_OPTS", value);
	for (int64_t i = 0; i < STEPS; i++) {
		int64_t t = BASE + i * MS;

		op(bench, "c1", "Conv2D", 70, t, 200 * US);
		op(bench, "c2", "Conv2DBackpropInput", 71, t + 100 * US, 200 * US);
		op(bench, "m", "MatMul", 70, t + 500 * US, 100 * US);
		bench_step(bench, t, t + MS);
	}
	return bench_review(bench, "settings", finding);
}

TEST(settings_onednn_off)
{
	struct finding finding;
	struct bench bench;

	CHECK_INT(convolutions(&bench, "0", &finding), 1);
	CHECK_STR(finding.title,
		  "settings: oneDNN is off, and convolutions take 30 % of each step");
	CHECK_INT(finding.cost_ns, 300 * US);	/* what two do at once is once */
	bench_release(&bench);
	CHECK_INT(convolutions(&bench, "1", &finding), 0);
	bench_release(&bench);
	CHECK_INT(convolutions(&bench, NULL, &finding), 0);
	bench_release(&bench);
}

static void node(struct bench *bench, uint32_t id, const char *name, const char *type,
		 const char *device)
{
	apply_one(bench->model, ev_name(100, NAME_NODE, "__inference_step_7"));
	apply_one(bench->model, ev_name(100 + 3 * id, NAME_NODE, name));
	apply_one(bench->model, ev_name(101 + 3 * id, NAME_OP_TYPE, type));
	apply_one(bench->model, ev_name(102 + 3 * id, NAME_NODE, device));
	apply_one(bench->model, (struct event) {
		.type = EVENT_NODE, .pid = PID, .time_ns = BASE,
		.u.node = { .id = id, .graph = 100, .name = 100 + 3 * id, .op_type = 101 + 3 * id,
			    .device = 102 + 3 * id, .inputs = "", .attributes = "" },
	});
}

static size_t placed(struct bench *bench, const char *devices, struct finding *finding)
{
	setup(bench, 2);
	info(bench, "devices", devices);
	node(bench, 1, "where", "Unique", "/job:localhost/task:0/device:CPU:0");
	node(bench, 2, "dense/MatMul", "MatMul", "/job:localhost/task:0/device:GPU:0");
	node(bench, 3, "py", "EagerPyFunc", "/job:localhost/task:0/device:CPU:0");
	for (int64_t i = 0; i < STEPS; i++) {
		int64_t t = BASE + i * MS;

		op(bench, "where", "Unique", 70, t, 250 * US);
		op(bench, "StatefulPartitionedCall/dense/MatMul", "MatMul", 70, t + 300 * US,
		   300 * US);
		op(bench, "py", "EagerPyFunc", 70, t + 600 * US, 300 * US);
		bench_step(bench, t, t + MS);
	}
	return bench_review(bench, "settings", finding);
}

TEST(settings_ops_on_the_processor)
{
	struct finding finding;
	struct bench bench;

	CHECK_INT(placed(&bench, "CPU:0 GPU:0", &finding), 1);
	CHECK_STR(finding.title,
		  "settings: ops on the processor take 25 % of each step, though there is a GPU");
	CHECK_INT(finding.cost_ns, 250 * US);
	CHECK_STR(finding.evidence.key, "where");
	CHECK_STR(finding.lines[0], "devices: CPU:0 GPU:0");
	bench_release(&bench);
	CHECK_INT(placed(&bench, "CPU:0", &finding), 0);
	bench_release(&bench);
}

/* Of a program that told of no settings nothing is said. */
TEST(settings_not_told)
{
	struct finding finding;
	struct bench bench;

	bench_init(&bench, &analysis_settings);
	CHECK_INT(eager(&bench, 30, &finding), 0);
	bench_release(&bench);
}
