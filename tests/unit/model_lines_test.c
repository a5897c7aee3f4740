/* SPDX-License-Identifier: MIT */
/* Lines, shapes, forward links and slowest runs of ops, against sums over a made-up run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/flows.h"
#include "model/query/lines.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define OPS 4000		/* so many that lanes are packed */
#define LINES 5u			/* of each of two files */
#define FRAMES 20u			/* the second half: the same lines, called from others */
#define NAMES 6u
#define SHAPES 70u			/* more than are kept of one op */
#define FILE0 100u
#define SHAPE0 200u
#define FUNCTION 110u

struct made_op {
	uint32_t name, frame, shapes;
	int parent, forward;		/* -1 none */
	int64_t start, dur, self, device, alloc;
	unsigned depth, kernels;
};

struct made {
	struct made_op op[OPS];
	struct event *events;
	size_t n_events;
	int n;
	int64_t device_ns;
	uint32_t correlations;
};

static uint32_t file_of(uint32_t frame)
{
	return (frame - 1) % (2 * LINES) / LINES;
}

static uint32_t line_of(uint32_t frame)
{
	return 1 + (frame - 1) % LINES;
}

static bool is_same_line(uint32_t a, uint32_t b)
{
	return a && b && file_of(a) == file_of(b) && line_of(a) == line_of(b);
}

static void add(struct made *m, struct event event, int64_t written_ns)
{
	event.time_ns = BASE + written_ns;
	m->events[m->n_events++] = event;
}

static void launch(struct made *m, int i, int64_t t)
{
	struct event event;
	int64_t dur = 1 + (int64_t)test_below(5000);

	if (m->device_ns < t + 100)
		m->device_ns = t + 100;
	event = ev_kernel(9, 1, ++m->correlations, m->device_ns, dur);
	event.u.command.op = (uint64_t)i + 1;
	event.u.command.op_name = m->op[i].name;
	event.u.command.call_ns = BASE + t;
	event.u.command.how = HOW_EXACT;
	m->device_ns += dur;
	m->op[i].device += dur;
	m->op[i].kernels++;
	add(m, event, m->device_ns);
}

static void allocate(struct made *m, int i, int64_t t)
{
	struct event event = { .type = EVENT_ALLOC, .pid = PID, .tid = PID };
	uint64_t bytes = 4096 + test_below(100000);

	event.u.alloc = (struct event_alloc) {
		.allocator = 8, .op_name = m->op[i].name, .op = (uint64_t)i + 1,
		.address = 0x1000000 + m->n_events * 0x100000, .bytes = bytes,
	};
	m->op[i].alloc += (int64_t)bytes;
	add(m, event, t);
}

/* An op with what is in it; its end. */
static int64_t make_op(struct made *m, int parent, unsigned depth, int64_t t)
{
	int i = m->n++;
	struct made_op *op = &m->op[i];
	int64_t children = 0, start = t;
	struct event event;

	*op = (struct made_op) {
		.name = 1 + (uint32_t)test_below(NAMES), .parent = parent, .forward = -1,
		.depth = depth, .start = t,
		/* mostly the line of what is around it */
		.frame = parent >= 0 && test_below(3) ? m->op[parent].frame :
			 (uint32_t)test_below(FRAMES + 1),
		.shapes = test_below(2) ? SHAPE0 + (uint32_t)test_below(SHAPES) : 0,
	};
	if (i && !test_below(3))
		op->forward = (int)test_below((uint64_t)i);
	for (uint64_t k = test_below(4); k > 0; k--) {
		t += 200 + (int64_t)test_below(1000);
		switch (test_below(depth < 5 && m->n < OPS - 8 ? 4 : 2)) {
		case 0: launch(m, i, t); break;
		case 1: allocate(m, i, t); break;
		default:
			children -= t;
			t = make_op(m, i, depth + 1, t);
			children += t;
		}
	}
	t += 100 + (int64_t)test_below(2000);
	op->dur = t - start;
	op->self = op->dur - children;
	event = ev_op(op->name, (uint64_t)i + 1, parent < 0 ? 0 : (uint64_t)parent + 1, start,
		      op->dur, 0);
	event.u.op.framework = FW_PYTORCH;
	event.u.op.depth = (uint16_t)depth;
	event.u.op.frame = op->frame;
	event.u.op.shapes = op->shapes;
	event.u.op.forward = op->forward < 0 ? 0 : (uint64_t)op->forward + 1;
	add(m, event, t);
	return t;
}

static struct model *made_model(void)
{
	struct model *model = model_with_device();
	char text[64];

	apply_one(model, ev_name(FILE0, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(FILE0 + 1, NAME_SOURCE, "/home/me/net.py"));
	apply_one(model, ev_name(FUNCTION, NAME_SOURCE, "forward"));
	for (uint32_t i = 0; i < SHAPES; i++) {
		snprintf(text, sizeof(text), "[%u, 3] f32", i);
		apply_one(model, ev_name(SHAPE0 + i, NAME_SHAPES, text));
	}
	for (uint32_t i = 1; i <= FRAMES; i++) {
		struct event event = { .type = EVENT_FRAME, .pid = PID, .time_ns = BASE };

		event.u.frame = (struct event_frame) {
			.id = i, .parent = i > 2 * LINES ? i - 2 * LINES : 0,
			.file = FILE0 + file_of(i), .function = FUNCTION, .line = line_of(i),
		};
		apply_one(model, event);
	}
	return model;
}

/* ---- what it should come to ---- */

static void check_line(const struct made *m, uint32_t file, const struct source_line *line)
{
	struct line_cost want = { .calls = 0 };
	uint64_t seen[NAMES + 1] = { 0 }, ops = 0, device = 0;

	for (int i = 0; i < m->n; i++) {
		const struct made_op *op = &m->op[i];

		if (op->forward >= 0 && m->op[op->forward].frame &&
		    file_of(m->op[op->forward].frame) == file &&
		    line_of(m->op[op->forward].frame) == line->line) {
			want.backward++;
			want.backward_ns += op->dur;
		}
		if (!op->frame || file_of(op->frame) != file || line_of(op->frame) != line->line)
			continue;
		if (op->parent < 0 || !is_same_line(op->frame, m->op[op->parent].frame)) {
			want.calls++;
			want.total_ns += op->dur;
		}
		ops += !seen[op->name]++;
		want.self_ns += op->self;
		want.device_ns += op->device;
		want.kernels += op->kernels;
		want.allocated_bytes += (uint64_t)op->alloc;
		device += (uint64_t)op->device;
	}
	CHECK_INT(line->cost.calls, want.calls);
	CHECK_INT(line->cost.total_ns, want.total_ns);
	CHECK_INT(line->cost.self_ns, want.self_ns);
	CHECK_INT(line->cost.device_ns, want.device_ns);
	CHECK_INT(line->cost.kernels, want.kernels);
	CHECK_INT(line->cost.allocated_bytes, want.allocated_bytes);
	CHECK_INT(line->cost.backward, want.backward);
	CHECK_INT(line->cost.backward_ns, want.backward_ns);
	CHECK_INT(line->ops, ops);
	CHECK_STR(line->function, "forward");
	for (uint32_t k = 1; k < line->n_op; k++)
		CHECK(line->op[k - 1].total_ns >= line->op[k].total_ns);
}

static void check_lines(const struct made *m, struct model *model)
{
	static const char *const files[] = { "/home/me/train.py", "/home/me/net.py" };
	struct source_row *rows;
	struct source_line *lines;

	CHECK_INT(model_sources(model, NULL, &rows), 2);
	free(rows);
	for (uint32_t file = 0; file < 2; file++) {
		CHECK_INT(model_source_lines(model, files[file], &lines), LINES);
		for (uint32_t i = 0; i < LINES; i++) {
			CHECK_INT(lines[i].line, i + 1);
			check_line(m, file, &lines[i]);
		}
		free(lines);
	}
}

/* Shapes: those that are kept are exact, and with the others all is there. */
static void check_shapes(const struct made *m, uint32_t name, const struct op_detail *detail)
{
	uint64_t count = 0, told = 0;
	int64_t total = 0;

	for (int i = 0; i < m->n; i++)
		told += m->op[i].name == name && m->op[i].shapes;
	for (size_t k = 0; k < detail->n_shapes; k++) {
		const struct op_shape *shape = &detail->shapes[k];
		char text[64];
		int64_t most = 0;
		uint64_t n = 0;

		count += shape->count;
		total = 0;
		for (int i = 0; i < m->n; i++) {
			snprintf(text, sizeof(text), "[%u, 3] f32", m->op[i].shapes - SHAPE0);
			if (m->op[i].name != name || !shape->shapes || strcmp(text, shape->shapes))
				continue;
			n++;
			total += m->op[i].dur;
			most = m->op[i].dur > most ? m->op[i].dur : most;
		}
		if (!shape->shapes)
			continue;
		CHECK_INT(shape->count, n);
		CHECK_INT(shape->total_ns, total);
		CHECK_INT(shape->max_ns, most);
	}
	CHECK_INT(count, told);
	CHECK(detail->n_shapes <= OP_SHAPES + 1);
}

static void check_op(const struct made *m, struct model *model, uint32_t name)
{
	struct op_detail detail;
	int64_t slowest = 0, lines = 0, want = 0, backward = 0;
	uint64_t links = 0;
	char text[16];

	snprintf(text, sizeof(text), "kernel%u", name);
	CHECK(model_op_detail(model, text, NULL, FW_PYTORCH, &detail));
	check_shapes(m, name, &detail);
	for (int i = 0; i < m->n; i++) {
		const struct made_op *op = &m->op[i];

		if (op->name == name && op->frame) {
			want += op->dur;
			slowest = op->dur > slowest ? op->dur : slowest;
		}
		if (op->forward >= 0 && m->op[op->forward].name == name) {
			links++;
			backward += op->dur;
		}
	}
	for (size_t k = 0; k < detail.n_lines; k++)
		lines += detail.lines[k].total_ns;
	CHECK_INT(lines, want);
	for (size_t k = 0; k < detail.n_backward; k++) {
		links -= detail.backward[k].count;
		backward -= detail.backward[k].total_ns;
	}
	CHECK_INT(links, 0);
	CHECK_INT(backward, 0);
	CHECK_INT(detail.n_slow, OP_SLOWEST);
	CHECK_INT(detail.slow[0].dur_ns, slowest);
	for (size_t k = 0; k < detail.n_slow; k++) {
		CHECK(detail.slow[k].n_stack == 1 || detail.slow[k].n_stack == 2);
		CHECK_INT(detail.slow[k].stack[detail.slow[k].n_stack - 1].line,
			  detail.slow[k].stack[0].line);
		CHECK(!k || detail.slow[k - 1].dur_ns >= detail.slow[k].dur_ns);
	}
	op_detail_free(&detail);
}

static void check(const struct made *m, struct model *model)
{
	struct line_counts counts;

	model_lock(model);
	check_lines(m, model);
	for (uint32_t name = 1; name <= NAMES; name++)
		check_op(m, model, name);
	model_line_counts(model, &counts);
	CHECK_INT(counts.unlinked, 0);
	CHECK_INT(counts.dropped, 0);
	CHECK_INT(counts.ops, m->n);
	model_unlock(model);
}

static int by_end(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static void shuffle(struct made *m)
{
	for (size_t i = m->n_events; i > 1; i--) {
		size_t other = test_below(i);
		struct event swapped = m->events[i - 1];

		m->events[i - 1] = m->events[other];
		m->events[other] = swapped;
	}
}

/* And again from what the model gives back. */
static void check_run(bool in_order)
{
	struct made *m = calloc(1, sizeof(*m));
	struct model *model = made_model(), *copy;
	int64_t t = 1000;

	m->events = calloc(OPS * 5, sizeof(*m->events));
	while (m->n < OPS - 100)
		t = make_op(m, -1, 0, t + 500);
	if (in_order)
		qsort(m->events, m->n_events, sizeof(*m->events), by_end);
	else
		shuffle(m);
	for (size_t i = 0; i < m->n_events; i++)
		model_apply(model, &m->events[i], 1);
	model_finish(model, false);
	check(m, model);
	copy = saved_again(model);
	check(m, copy);
	model_free(copy);
	model_free(model);
	free(m->events);
	free(m);
}

/* As it comes from a program: lanes are packed. */
TEST(model_lines_against_sums)
{
	check_run(true);
}

/* Whatever comes first. */
TEST(model_lines_in_any_order)
{
	check_run(false);
}

/* An op says its own line: its node's line has the rest. What nothing said of a
 * pass, the names do. */
TEST(model_lines_of_an_op_and_its_node)
{
	struct model *model = made_model();
	struct event node = { .type = EVENT_NODE, .pid = PID, .time_ns = BASE };
	struct source_line *lines;
	struct pass_pair *pairs;
	size_t n;

	apply_one(model, ev_name(40, NAME_NODE, "graph"));
	apply_one(model, ev_name(41, NAME_OP_TYPE, "MatMul"));
	apply_one(model, ev_name(42, NAME_OP, "aten::mm"));
	apply_one(model, ev_name(43, NAME_OP, "MmBackward0"));
	apply_one(model, ev_name(44, NAME_OP, "aten::other"));
	node.u.node = (struct event_node) {
		.id = 1, .graph = 40, .name = 42, .op_type = 41, .file = FILE0, .line = 3,
		.inputs = "", .attributes = "",
	};
	apply_one(model, node);
	for (uint64_t i = 1; i <= 5; i++) {
		struct event op = ev_op(42, i, 0, (int64_t)i * 1000, 100, 0);

		op.u.op.op_type = 41;
		op.u.op.framework = FW_TENSORFLOW;
		op.u.op.frame = i <= 2 ? 2 : 0;
		apply_one(model, op);
	}
	model_lock(model);
	n = model_source_lines(model, "/home/me/train.py", &lines);
	CHECK_INT(n, 2);
	CHECK_INT(lines[0].line, 2);
	CHECK_INT(lines[0].cost.calls, 2);
	CHECK_INT(lines[1].line, 3);
	CHECK_INT(lines[1].nodes, 1);
	CHECK_INT(lines[1].cost.calls, 3);
	CHECK_INT(lines[1].cost.total_ns, 300);
	free(lines);
	model_unlock(model);
	apply_one(model, ev_op(44, 20, 0, 20000, 100, 0));
	apply_one(model, ev_op(43, 21, 0, 21000, 100, 0));
	model_lock(model);
	CHECK_INT(model_passes(model, &pairs), 1);
	CHECK_STR(pairs[0].forward, "mm");
	CHECK_INT(pairs[0].links, 0);
	free(pairs);
	model_unlock(model);
	for (uint64_t i = 30; i < 33; i++) {
		struct event op = ev_op(43, i, 0, (int64_t)i * 1000, 100, 0);

		op.u.op.forward = 20;
		apply_one(model, op);
	}
	model_lock(model);
	CHECK_INT(model_passes(model, &pairs), 1);
	CHECK_STR(pairs[0].forward, "other");
	CHECK_INT(pairs[0].links, 3);
	free(pairs);
	model_unlock(model);
	model_free(model);
}
