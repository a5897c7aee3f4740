/* SPDX-License-Identifier: MIT */
/*
 * Attribution: the same facts in every order give the same totals and the same
 * picture.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

enum { KERNEL = 1, OP, TYPE };

static void check_tables(struct model *model)
{
	struct kernel_row *kernels;
	struct op_row *ops;
	struct queue_row *queues;
	size_t n;

	n = model_kernels(model, &kernels);
	CHECK_INT(n, 1);
	CHECK_STR(kernels[0].name, "conv");
	CHECK_INT(kernels[0].work, WORK_MATMUL);
	CHECK_INT(kernels[0].count, 1);
	CHECK_INT(kernels[0].total_ns, 4000);
	CHECK_INT(kernels[0].n_ops, 1);
	CHECK_STR(kernels[0].ops[0].name, "layer");
	CHECK_INT(kernels[0].ops[0].how, HOW_EVENT);
	model_kernels_free(kernels, n);

	n = model_ops(model, &ops);
	CHECK_INT(n, 1);
	CHECK_STR(ops[0].name, "layer");
	CHECK_STR(ops[0].type, "Conv2D");
	CHECK_INT(ops[0].count, 1);
	CHECK_INT(ops[0].total_ns, 900);
	CHECK_INT(ops[0].self_ns, 900);
	CHECK_INT(ops[0].device_ns, 4000);
	CHECK_INT(ops[0].kernels, 1);
	CHECK(!ops[0].is_range);
	free(ops);

	n = model_queues(model, &queues);
	CHECK_INT(n, 1);
	CHECK_INT(queues[0].in_flight, 0);
	CHECK_INT(queues[0].kernels, 1);
	CHECK_INT(queues[0].busy_ns, 4000);
	CHECK_INT(queues[0].delay_p50_ns, 8);
	free(queues);
}

/* What one kernel, launched in one op, must look like, however it came. */
static void check_one(struct model *model, int64_t offset)
{
	struct model_row row;
	struct span_ref ref, peer, back;
	struct span span;

	check_tables(model);
	row = row_of(model, ROW_QUEUE, 0);
	CHECK(row.id && row.count == 1 && row.lanes == 1);
	CHECK(model_span_next(model, row.id, LANE_ALL, 0, &ref));
	CHECK(model_span(model, ref, &span));
	CHECK_INT(span.start_ns, BASE + 1000 + offset);
	CHECK_INT(span.end_ns, BASE + 5000 + offset);
	CHECK_INT(span.queued_ns, BASE + 992 + offset);
	CHECK(!span.open);
	CHECK_INT(span.work, WORK_MATMUL);
	CHECK_STR(span.op, "layer");
	CHECK(!model_span_next(model, row.id, LANE_ALL, span.start_ns, &back));
	CHECK(model_span_peer(model, ref, &peer));
	CHECK(model_span(model, peer, &span));
	CHECK_STR(span.name, "layer");
	CHECK_INT(span.device_ns, 4000);
	CHECK_INT(span.kernels, 1);
	CHECK(span.is_op && !span.open);
	CHECK(model_span_peer(model, peer, &back));
	CHECK(memcmp(&back, &ref, sizeof(ref)) == 0);
	CHECK_INT(row_of(model, ROW_THREAD, 0).count, 1);
	CHECK_INT(status_of(model).bad, 0);
	CHECK_INT(status_of(model).how[HOW_EVENT], 1);
}

static struct event facts[12];
static int n_facts;

static void add_fact(struct event event)
{
	facts[n_facts++] = event;
}

static struct event launch(unsigned flags)
{
	struct event event = ev_kernel(KERNEL, 1, 9, 1000, 4000);

	event.u.command.op = 77;
	event.u.command.op_name = OP;
	event.u.command.flags |= (uint8_t)flags;
	if (flags & CMD_OPEN)
		event.u.command.start_ticks = event.u.command.end_ticks = 0;
	return event;
}

static struct event op(int64_t dur)
{
	struct event event = ev_op(OP, 77, 0, 500, dur, OP_RANGE | (dur >= 0 ? OP_INNER : 0));

	event.u.op.op_type = TYPE;
	return event;
}

static void try_order(const int *order)
{
	struct model *model = model_new(NULL);

	for (int i = 0; i < n_facts; i++)
		apply_one(model, facts[order[i]]);
	model_finish(model, false);
	check_one(model, 0);
	model_free(model);
}

/* All orders of order[at ...]. */
static void permute(int *order, int at)
{
	if (at == n_facts)
		try_order(order);
	for (int i = at; i < n_facts; i++) {
		int swap = order[at];

		order[at] = order[i];
		order[i] = swap;
		permute(order, at + 1);
		swap = order[at];
		order[at] = order[i];
		order[i] = swap;
	}
}

TEST(model_attribution_every_order)
{
	int order[12];

	add_fact(ev_name(KERNEL, NAME_KERNEL, "conv"));
	add_fact(ev_name(OP, NAME_OP, "layer"));
	add_fact(ev_queue(1, 1));
	add_fact(ev_clock(1, BASE, TICKS));
	add_fact(launch(0));
	add_fact(op(900));
	add_fact(ev_name(TYPE, NAME_OP_TYPE, "Conv2D"));
	for (int i = 0; i < n_facts; i++)
		order[i] = i;
	permute(order, 0);
}

TEST(model_attribution_any_order_with_announcements)
{
	int order[12];

	add_fact(ev_name(KERNEL, NAME_KERNEL, "conv"));
	add_fact(ev_name(OP, NAME_OP, "layer"));
	add_fact(ev_name(TYPE, NAME_OP_TYPE, "Conv2D"));
	add_fact(ev_process(PID, "p"));
	add_fact(ev_device(1, ""));
	add_fact(ev_queue(1, 1));
	add_fact(ev_clock(1, BASE, TICKS));
	add_fact(launch(0));
	add_fact(launch(CMD_OPEN));
	add_fact(op(900));
	add_fact(op(-1));
	for (int round = 0; round < 4000; round++) {
		for (int i = 0; i < n_facts; i++)
			order[i] = i;
		for (int i = n_facts - 1; i > 0; i--) {
			int k = (int)test_below((uint64_t)i + 1), swap = order[i];

			order[i] = order[k];
			order[k] = swap;
		}
		try_order(order);
	}
}

TEST(model_no_clock_ever_is_anchored_by_the_launch)
{
	struct model *model = model_new(NULL);
	struct device_row *devices;

	apply_one(model, ev_name(KERNEL, NAME_KERNEL, "conv"));
	apply_one(model, ev_name(OP, NAME_OP, "layer"));
	apply_one(model, ev_name(TYPE, NAME_OP_TYPE, "Conv2D"));
	apply_one(model, ev_device(1, ""));
	apply_one(model, ev_queue(1, 1));
	apply_one(model, op(900));
	apply_one(model, launch(0));
	CHECK_INT(status_of(model).kernels, 0);
	model_finish(model, false);
	/* Queued, 8 before start, is taken for the call, 10 before. */
	check_one(model, -2);
	CHECK_INT(model_devices(model, &devices), 1);
	CHECK(!devices[0].clock_known && devices[0].clock_quality == CLOCK_ESTIMATE);
	free(devices);
	model_free(model);
}

TEST(model_waiting_commands_are_shown_after_a_while)
{
	struct model *model = model_new(NULL);

	apply_one(model, ev_queue(1, 1));
	apply_one(model, launch(0));
	apply_one(model, ev_alive(BASE + 100000000));
	CHECK_INT(status_of(model).kernels, 0);
	apply_one(model, ev_alive(BASE + 700000000));
	CHECK_INT(status_of(model).kernels, 1);
	/* The true clock comes after all: everything moves. */
	apply_one(model, ev_clock(1, BASE, TICKS));
	CHECK_INT(status_of(model).first_ns, BASE + 1000);
	model_free(model);
}

TEST(model_op_that_never_ends_keeps_its_work)
{
	struct model *model = model_new(NULL);
	struct op_row *ops;

	apply_one(model, ev_name(OP, NAME_OP, "layer"));
	apply_one(model, ev_queue(1, 1));
	apply_one(model, ev_clock(1, BASE, TICKS));
	apply_one(model, launch(0));
	CHECK_INT(model_ops(model, &ops), 0);
	free(ops);
	model_finish(model, true);
	CHECK_INT(model_ops(model, &ops), 1);
	CHECK_STR(ops[0].name, "layer");
	CHECK_INT(ops[0].count, 0);
	CHECK_INT(ops[0].device_ns, 4000);
	free(ops);
	CHECK(status_of(model).partial);
	model_free(model);
}

TEST(model_open_spans_reach_the_live_edge)
{
	struct model *model = model_new(NULL);
	struct column columns[10];
	struct model_row row;
	struct span span;
	struct span_edge edges[4];
	struct span_ref ref, after;

	apply_one(model, ev_name(KERNEL, NAME_KERNEL, "conv"));
	apply_one(model, ev_queue(1, 1));
	apply_one(model, ev_clock(1, BASE, TICKS));
	apply_one(model, launch(CMD_OPEN));
	apply_one(model, launch(CMD_OPEN));
	apply_one(model, ev_alive(BASE + 50000));
	row = row_of(model, ROW_QUEUE, 0);
	CHECK(row.id);
	model_columns(model, row.id, LANE_ALL, BASE, BASE + 100000, 10, columns);
	CHECK_INT(columns[0].busy_ns, 10000 - 990);
	CHECK_INT(columns[3].busy_ns, 10000);
	CHECK_INT(columns[3].count, 1);
	CHECK(columns[3].flags == COLUMN_OPEN);
	CHECK_INT(columns[5].busy_ns, 0);
	CHECK(model_span_at(model, row.id, LANE_ALL, BASE + 20000, &ref));
	CHECK(model_span(model, ref, &span) && span.open && span.end_ns == BASE + 50000);
	CHECK_INT(model_spans(model, row.id, LANE_ALL, BASE, BASE + 100000, 4, edges), 1);
	CHECK(edges[0].flags & COLUMN_OPEN);
	/* Finished: the same span by the same reference. */
	apply_one(model, launch(0));
	CHECK(model_span(model, ref, &span) && !span.open);
	CHECK_INT(span.end_ns, BASE + 5000);
	CHECK(model_span_next(model, row.id, LANE_ALL, 0, &after));
	CHECK(memcmp(&after, &ref, sizeof(ref)) == 0);
	/* Announced again, too late. */
	apply_one(model, launch(CMD_OPEN));
	CHECK_INT(row_of(model, ROW_QUEUE, 0).count, 1);
	model_columns(model, row.id, LANE_ALL, BASE, BASE + 100000, 10, columns);
	CHECK_INT(columns[3].busy_ns, 0);
	model_free(model);
}

TEST(model_self_time_in_any_order)
{
	for (int mask = 0; mask < 6; mask++) {
		static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
						  { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
		struct model *model = model_with_device();
		struct event events[3] = {
			ev_op(1, 10, 0, 0, 1000, OP_INNER), ev_op(2, 11, 10, 100, 300, 0),
			ev_op(2, 12, 10, 500, 100, 0),
		};
		struct op_row *ops;
		size_t n;

		for (int i = 0; i < 3; i++)
			apply_one(model, events[orders[mask][i]]);
		/* A child on another thread is no part of it. */
		events[0] = ev_op(3, 13, 10, 600, 50, 0);
		events[0].u.op.tid = PID + 1;
		apply_one(model, events[0]);
		/* The same op twice. */
		apply_one(model, events[1]);
		CHECK_INT(status_of(model).bad, 1);
		n = model_ops(model, &ops);
		CHECK_INT(n, 3);
		CHECK_INT(op_named(ops, n, "kernel1")->self_ns, 600);
		CHECK_INT(op_named(ops, n, "kernel1")->total_ns, 1000);
		CHECK_INT(op_named(ops, n, "kernel2")->self_ns, 400);
		CHECK_INT(op_named(ops, n, "kernel2")->max_ns, 300);
		free(ops);
		model_free(model);
	}
}

/* So late that the op is no longer among those kept at hand. */
TEST(model_late_launch_finds_its_op_in_the_timeline)
{
	struct model *model = model_with_device();
	struct event late = ev_kernel(1, 1, 1, 1050, 500), batch[1024];
	struct span_ref ref, peer;
	struct op_row *ops;
	struct span span;
	uint64_t instance = 100;
	size_t n;

	apply_one(model, ev_op(2, 7, 0, 1000, 100, OP_INNER));
	for (int i = 0; i < 200; i++) {
		for (int k = 0; k < 1024; k++, instance++)
			batch[k] = ev_op(3, instance, 0, (int64_t)instance * 100, 50, 0);
		model_apply(model, batch, 1024);
	}
	late.u.command.op = 7;
	late.u.command.op_name = 2;
	apply_one(model, late);
	n = model_ops(model, &ops);
	CHECK_INT(n, 2);
	CHECK_INT(op_named(ops, n, "kernel2")->device_ns, 500);
	CHECK_INT(op_named(ops, n, "kernel2")->kernels, 1);
	free(ops);
	CHECK(model_span_next(model, row_of(model, ROW_QUEUE, 0).id, 0, 0, &ref));
	CHECK(model_span_peer(model, ref, &peer));
	CHECK(model_span(model, peer, &span));
	CHECK_INT(span.instance, 7);
	CHECK_INT(span.device_ns, 500);
	model_free(model);
}

TEST(model_range_with_and_without_launches)
{
	struct model *model = model_with_device();
	struct event kernel = ev_kernel(5, 1, 1, 120, 10);
	struct op_row *ops;
	size_t n;

	kernel.u.command.op = 2;
	kernel.u.command.op_name = 2;
	apply_one(model, ev_op(1, 1, 0, 0, 50, OP_RANGE));
	apply_one(model, ev_op(2, 2, 0, 100, 50, OP_RANGE));
	apply_one(model, ev_op(3, 3, 0, 200, 50, OP_RANGE | OP_INNER));
	apply_one(model, ev_op(4, 4, 0, 300, 50, 0));
	apply_one(model, kernel);
	n = model_ops(model, &ops);
	CHECK_INT(n, 4);
	CHECK(op_named(ops, n, "kernel1")->is_range);
	CHECK(!op_named(ops, n, "kernel2")->is_range);
	CHECK(!op_named(ops, n, "kernel3")->is_range);
	CHECK(!op_named(ops, n, "kernel4")->is_range);
	free(ops);
	model_free(model);
}
