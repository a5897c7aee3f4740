/* SPDX-License-Identifier: MIT */
/* Graphs that are launched as one: their nodes, gaps, ops. */
#include <stdlib.h>
#include <string.h>

#include "model/query/lines.h"
#include "model/query/links.h"
#include "model/query/replays.h"
#include "model/query/work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)

enum { GRAPH = 20, REPLAY, LINEAR, NODE_A, NODE_B, FILE_NAME };

static void launch(struct model *model, uint32_t correlation, int64_t call_ns)
{
	apply_one(model, (struct event) {
		.type = EVENT_LAUNCH, .pid = PID, .tid = PID, .time_ns = BASE + call_ns + 5 * US,
		.u.launch = { .tid = PID, .queue = 1, .name = GRAPH, .correlation = correlation,
			      .op = 7, .op_name = REPLAY, .call_ns = BASE + call_ns,
			      .call_dur_ns = 5 * US, .kind = COMMAND_GRAPH, .flags = CMD_MANY },
	});
}

static struct event node_event(uint32_t correlation, uint32_t name, uint32_t op, uint32_t queue,
			       int64_t start_ns, int64_t dur_ns)
{
	return (struct event) {
		.type = EVENT_RUN, .pid = PID, .tid = PID, .time_ns = BASE + start_ns + dur_ns,
		.u.run = { .queue = queue, .name = name, .correlation = correlation, .op_name = op,
			   .kind = COMMAND_KERNEL,
			   .start_ticks = (uint64_t)(BASE + TICKS + start_ns),
			   .end_ticks = (uint64_t)(BASE + TICKS + start_ns + dur_ns) },
	};
}

static void node(struct model *model, uint32_t correlation, uint32_t name, uint32_t op,
		 uint32_t queue, int64_t start_ns, int64_t dur_ns)
{
	apply_one(model, node_event(correlation, name, op, queue, start_ns, dur_ns));
}

static void node_of_line(struct model *model, uint32_t correlation, uint32_t name, uint32_t op,
			 uint32_t source, int64_t start_ns, int64_t dur_ns)
{
	struct event event = node_event(correlation, name, op, 1, start_ns, dur_ns);

	event.u.run.source = source;
	apply_one(model, event);
}

/* 10 us, 5 us nothing, then two of 20 us at once, the second one 4 us late; in two queues
 * and not in order. */
static void replay(struct model *model, uint32_t correlation, int64_t at_ns)
{
	node(model, correlation, NODE_B, 0, 1, at_ns + 15 * US, 20 * US);
	node(model, correlation, NODE_A, LINEAR, 1, at_ns, 10 * US);
	node(model, correlation, NODE_B, 0, 2, at_ns + 19 * US, 20 * US);
}

static struct model *model_of_graphs(void)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(GRAPH, NAME_KERNEL, "graph 1"));
	apply_one(model, ev_name(REPLAY, NAME_OP, "replay"));
	apply_one(model, ev_name(LINEAR, NAME_OP, "linear"));
	apply_one(model, ev_name(NODE_A, NAME_KERNEL, "gemm"));
	apply_one(model, ev_name(NODE_B, NAME_KERNEL, "add"));
	return model;
}

TEST(replays_are_sums_over_their_nodes)
{
	struct model *model = model_of_graphs();
	struct queue_work *work;
	struct device_row *devices;
	struct queue_row *queues;
	struct model_row boxes;
	struct span_ref ref;
	struct span span;
	struct replay_row *rows;
	struct kernel_row *kernels, *gemm;
	size_t n;

	launch(model, 1, 0);
	launch(model, 2, 50 * US);
	/* the second one's come first */
	replay(model, 2, 110 * US);
	replay(model, 1, 60 * US);
	model_finish(model, false);
	boxes = row_of(model, ROW_GRAPH, 0);
	model_lock(model);
	CHECK_INT(model_replays(model, &rows), 1);
	CHECK_STR(rows[0].name, "graph 1");
	CHECK_STR(rows[0].op, "replay");
	CHECK_INT(rows[0].launches, 2);
	CHECK_INT(rows[0].whole, 0);
	CHECK_INT(rows[0].nodes, 6);
	CHECK_INT(rows[0].total_ns, 2 * 39 * US);
	CHECK_INT(rows[0].min_ns, 39 * US);
	CHECK_INT(rows[0].busy_ns, 2 * 34 * US);
	CHECK_INT(rows[0].gap_ns, 2 * 5 * US);
	CHECK_INT(rows[0].max_gap_ns, 5 * US);
	CHECK_INT(rows[0].call_ns, 2 * 5 * US);
	CHECK_INT(rows[0].n_nodes, 2);
	CHECK_STR(rows[0].node[0].name, "add");
	CHECK_INT(rows[0].node[0].count, 4);
	CHECK(!rows[0].node[0].op);
	CHECK_STR(rows[0].node[1].op, "linear");
	CHECK_INT(rows[0].node[1].total_ns, 2 * 10 * US);
	model_replays_free(rows, 1);
	/* A node is told by the op that it was captured in, where that is known. */
	n = model_kernels(model, &kernels);
	gemm = kernel_named(kernels, n, "gemm");
	CHECK_STR(gemm->ops[0].name, "linear");
	CHECK_INT(gemm->ops[0].how, HOW_EXACT);
	CHECK_INT(kernel_named(kernels, n, "add")->ops[0].how, HOW_EXACT);
	CHECK_STR(kernel_named(kernels, n, "add")->ops[0].name, "replay");
	model_kernels_free(kernels, n);
	/* A box over the nodes, that is in no sum of the device. */
	CHECK_INT(boxes.count, 2);
	CHECK_STR(boxes.label, "queue 0 graph");
	CHECK(model_span_at(model, boxes.id, 0, BASE + 70 * US, &ref));
	CHECK(model_span(model, ref, &span));
	CHECK_INT(span.start_ns, BASE + 60 * US);
	CHECK_INT(span.end_ns, BASE + 99 * US);
	CHECK_INT(span.kernels, 3);
	CHECK_INT(span.call_ns, BASE);
	CHECK_INT(span.kind, COMMAND_GRAPH);
	CHECK_INT(model_devices(model, &devices), 1);
	CHECK_INT(devices[0].busy_ns, 2 * 34 * US);
	free(devices);
	/* Nodes count where they ran, also beside the stream that their graph was launched in. */
	CHECK_INT(model_queues(model, &queues), 2);
	CHECK_INT(queues[0].kernels, 4);
	CHECK_INT(queues[1].kernels, 2);
	free(queues);
	/* One call of the host launched all of a graph. */
	n = model_queue_work(model, &work);
	for (size_t i = 0, all = 0; i < n; i++) {
		all += work[i].launches;
		if (i + 1 == n)
			CHECK_INT(all, 2);
	}
	free(work);
	model_unlock(model);
	model_free(model);
}

/* The device time of the lines, "FILE:LINE ns kernels" each, in order of the file. */
static void check_lines(struct model *model, const char *file, const int64_t (*wanted)[3], size_t n)
{
	struct source_line *lines;

	model_lock(model);
	CHECK_INT(model_source_lines(model, file, &lines), n);
	for (size_t i = 0; i < n; i++) {
		CHECK_INT(lines[i].line, wanted[i][0]);
		CHECK_INT(lines[i].cost.device_ns, wanted[i][1]);
		CHECK_INT(lines[i].cost.kernels, wanted[i][2]);
	}
	free(lines);
	model_unlock(model);
}

static void frame(struct model *model, uint32_t id, uint32_t line)
{
	struct event event = {
		.type = EVENT_FRAME, .pid = PID, .tid = PID, .time_ns = BASE,
		.u.frame = { .id = id, .file = FILE_NAME, .function = FILE_NAME, .line = line },
	};

	apply_one(model, event);
}

static void replay_op(struct model *model, int64_t start_ns)
{
	apply_one(model, (struct event) {
		.type = EVENT_OP, .pid = PID, .tid = PID, .time_ns = BASE + start_ns + 10 * US,
		.u.op = { .instance = 7, .name = REPLAY, .tid = PID, .frame = 1, .step = -1,
			  .start_ns = BASE + start_ns, .dur_ns = 10 * US,
			  .framework = FW_JAX },
	});
}

/* A node whose line is known costs that line, the others the line of the launch. */
TEST(replays_nodes_have_lines)
{
	static const int64_t wanted[][3] = {
		{ 10, 20 * US, 1 }, { 20, 10 * US, 1 },
	};
	struct model *model = model_of_graphs(), *copy;
	struct model_row row;
	struct span_ref ref;
	struct span span;

	apply_one(model, ev_name(FILE_NAME, NAME_SOURCE, "model.py"));
	frame(model, 1, 10);
	frame(model, 2, 20);
	launch(model, 1, 0);
	replay_op(model, -1 * US);
	node_of_line(model, 1, NODE_A, LINEAR, 2, 60 * US, 10 * US);
	node(model, 1, NODE_B, 0, 1, 75 * US, 20 * US);
	/* a line whose definition was lost is not shown */
	node_of_line(model, 1, NODE_B, 0, 99, 100 * US, 20 * US);
	model_finish(model, false);
	check_lines(model, "model.py", wanted, 2);
	row = row_of(model, ROW_QUEUE, 0);
	model_lock(model);
	CHECK(model_span_at(model, row.id, 0, BASE + 61 * US, &ref));
	CHECK(model_span(model, ref, &span));
	CHECK_STR(span.file, "model.py");
	CHECK_INT(span.line, 20);
	CHECK(model_span_at(model, row.id, 0, BASE + 76 * US, &ref));
	CHECK(model_span(model, ref, &span));
	CHECK(!span.file);
	model_unlock(model);
	/* and so does what was saved */
	copy = saved_again(model);
	check_lines(copy, "model.py", wanted, 2);
	model_free(copy);
	model_free(model);
}

/* From a box to all its nodes, in whatever queue they ran, and from each back to it. */
TEST(replays_are_linked_with_their_nodes)
{
	static const int64_t starts[] = { 60, 75, 79 };
	struct model *model = model_of_graphs();
	struct span_link links[8], back[8];
	struct model_row boxes;
	struct span_ref box;
	size_t n;

	launch(model, 1, 0);
	launch(model, 2, 50 * US);
	replay(model, 2, 110 * US);
	replay(model, 1, 60 * US);
	model_finish(model, false);
	boxes = row_of(model, ROW_GRAPH, 0);
	model_lock(model);
	CHECK(model_span_at(model, boxes.id, 0, BASE + 70 * US, &box));
	n = model_span_links(model, box, links, 8);
	CHECK_INT(n, 3);
	for (size_t i = 0; i < 3; i++) {
		CHECK_INT(links[i].kind, LINK_NODE);
		CHECK_INT(links[i].start_ns, BASE + starts[i] * US);
		CHECK_INT(model_span_links(model, links[i].ref, back, 8), 1);
		CHECK_INT(back[0].kind, LINK_GRAPH);
		CHECK(back[0].ref.id == box.id && back[0].ref.row == box.row);
		CHECK_STR(back[0].name, "graph 1");
	}
	CHECK_INT(model_span_links(model, box, links, 2), 2);
	model_unlock(model);
	model_free(model);
}

/* What is told without nodes is a launch of its graph all the same. */
TEST(replays_may_come_whole)
{
	struct model *model = model_of_graphs();
	struct replay_row *rows;
	struct event event = ev_kernel(GRAPH, 1, 9, 500 * US, 30 * US);

	launch(model, 1, 0);
	replay(model, 1, 60 * US);
	event.u.command.kind = COMMAND_GRAPH;
	apply_one(model, event);
	model_finish(model, false);
	model_lock(model);
	CHECK_INT(model_replays(model, &rows), 1);
	CHECK_INT(rows[0].launches, 1);
	CHECK_INT(rows[0].whole, 1);
	CHECK_INT(rows[0].total_ns, 69 * US);
	CHECK_INT(rows[0].busy_ns, 34 * US);
	model_replays_free(rows, 1);
	model_unlock(model);
	model_free(model);
}
