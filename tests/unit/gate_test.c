/* SPDX-License-Identifier: MIT */
/* The window of --from-step, --steps and --for. */
#include <stdlib.h>
#include <string.h>

#include "model/synth/synth.h"
#include "tests/unit/model_graph.h"
#include "tests/unit/test.h"
#include "tui/run/gate.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define START_NS (100 * SECOND)

static struct model *model;
static struct gate *gate;
static struct model_synth *synth;

static void feed(void *arg, const struct event *events, size_t count)
{
	(void)arg;
	gate_apply(gate, events, count);
}

static void run(struct gate_window window, int64_t ns)
{
	model = model_new(NULL);
	gate = gate_new(model, &window);
	synth = model_synth_new(7, &model_synth_default, START_NS);
	model_synth_advance(synth, START_NS + ns, feed, NULL);
	model_synth_end(synth, feed, NULL);
	model_finish(model, false);
}

static void end(void)
{
	model_synth_free(synth);
	gate_free(gate);
	model_free(model);
}

static struct model_status status_now(void)
{
	struct model_status status;

	model_lock(model);
	model_status(model, &status);
	model_unlock(model);
	return status;
}

static size_t step_rows(struct step_row **rows)
{
	struct step_stats stats;
	size_t count;

	model_lock(model);
	count = model_steps(model, &stats, rows);
	model_unlock(model);
	return count;
}

TEST(gate_without_a_window_lets_everything_through)
{
	struct model_status status;

	run((struct gate_window){ 0 }, SECOND);
	status = status_now();
	CHECK(!gate_closed(gate));
	CHECK_INT(status.steps, model_synth_truth(synth)->steps);
	CHECK_INT(status.kernels, model_synth_truth(synth)->kernels);
	CHECK_INT(status.events, model_synth_truth(synth)->events);
	end();
}

TEST(gate_takes_the_steps_that_were_asked_for)
{
	struct step_row *rows;
	struct process_row *processes;
	uint64_t per_step;
	size_t count;

	run((struct gate_window){ .from_step = 4, .steps = 6 }, SECOND);
	per_step = model_synth_truth(synth)->kernels / model_synth_truth(synth)->steps;
	CHECK(gate_closed(gate));
	count = step_rows(&rows);
	CHECK_INT(count, 6);
	CHECK_INT(rows[5].number - rows[0].number, 5);
	CHECK_INT(status_now().kernels, 6 * per_step);
	/* Definitions of the time before are there. */
	model_lock(model);
	CHECK_INT(model_processes(model, &processes), 1);
	model_unlock(model);
	CHECK(processes[0].command && *processes[0].command);
	free(processes);
	free(rows);
	end();
}

TEST(gate_takes_the_first_steps)
{
	struct step_row *rows;

	run((struct gate_window){ .steps = 3 }, SECOND);
	CHECK(gate_closed(gate));
	CHECK_INT(step_rows(&rows), 3);
	free(rows);
	end();
}

TEST(gate_that_never_opens_leaves_nothing)
{
	run((struct gate_window){ .from_step = 1000000 }, 200 * MS);
	CHECK(!gate_closed(gate));
	CHECK_INT(status_now().kernels, 0);
	end();
}

/* The texts of an event are only valid during the call. */
TEST(gate_takes_definitions_before_the_window_with_their_texts)
{
	const struct gate_window window = { .from_step = 5 };
	char attributes[] = "T=float32\n", name[] = "dense/MatMul";
	struct event node = node_event(1, NAME0, "", 0);
	struct graph_node row;

	model = model_with_graph();
	gate = gate_new(model, &window);
	node.u.node.attributes = attributes;
	feed(NULL, &(struct event){ .type = EVENT_NAME, .pid = PID, .time_ns = BASE,
				    .u.name = { NAME0, NAME_NODE, name } }, 1);
	feed(NULL, &node, 1);
	memset(name, 'x', strlen(name));
	memset(attributes, 'x', strlen(attributes));
	CHECK(found(model, "dense/MatMul", &row));
	CHECK(row.attributes && !strcmp(row.attributes, "T=float32\n"));
	gate_free(gate);
	model_free(model);
}

TEST(gate_for_a_time)
{
	struct model_status status;

	run((struct gate_window){ .for_ns = 100 * MS }, SECOND);
	status = status_now();
	CHECK(status.kernels > 0);
	CHECK(status.kernels < model_synth_truth(synth)->kernels);
	CHECK(status.steps > 0);
	/* Time goes on without events, too. */
	gate_tick(gate, START_NS + SECOND);
	CHECK(gate_closed(gate));
	end();
}

/* Where it is told when PROGRAM was started, the first event does not matter, nor that there
 * is one. */
TEST(gate_for_a_time_from_a_beginning)
{
	struct gate_window window = { .for_ns = 100 * MS, .told = true };

	run(window, SECOND);
	CHECK_INT(status_now().kernels, model_synth_truth(synth)->kernels);
	end();
	model = model_new(NULL);
	gate = gate_new(model, &window);
	gate_tick(gate, START_NS + SECOND);
	CHECK(!gate_closed(gate));
	gate_begin(gate, START_NS + SECOND);
	gate_tick(gate, START_NS + SECOND + 99 * MS);
	CHECK(!gate_closed(gate));
	gate_tick(gate, START_NS + SECOND + 100 * MS);
	CHECK(gate_closed(gate));
	gate_free(gate);
	model_free(model);
}

TEST(gate_from_a_step_for_a_time)
{
	struct step_row *rows;
	size_t count;

	run((struct gate_window){ .from_step = 5, .for_ns = 50 * MS }, SECOND);
	count = step_rows(&rows);
	CHECK(count > 0);
	for (size_t i = 1; i < count; i++)
		CHECK(rows[i].start_ns - rows[0].start_ns < 50 * MS);
	free(rows);
	end();
}
