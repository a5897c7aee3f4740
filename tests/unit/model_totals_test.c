/* SPDX-License-Identifier: MIT */
/* Tables: kernels, copies, calls, memory, steps, compiles, losses, messages,
 * processes, the settled line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/memory.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

static struct event with_time(enum event_type type, int64_t after)
{
	return (struct event) {
		.type = (uint8_t)type, .pid = PID, .tid = PID, .time_ns = BASE + after,
	};
}

TEST(model_failed_and_untimed_commands)
{
	struct model *model = model_with_device();
	struct event failed = ev_kernel(1, 1, 1, 1000, 100),
		     untimed = ev_kernel(1, 1, 2, 2000, 100);
	struct event marker = ev_kernel(0, 1, 3, 3000, 100),
		     backwards = ev_kernel(1, 1, 4, 4000, 50);
	struct model_status status;
	struct kernel_row *rows;
	struct column column;
	struct span_ref ref;
	struct span span;

	failed.u.command.status = -5;
	untimed.u.command.flags = CMD_NOTIMES;
	marker.u.command.kind = COMMAND_MARKER;
	backwards.u.command.end_ticks = backwards.u.command.start_ticks - 1;
	apply_one(model, failed);
	apply_one(model, untimed);
	apply_one(model, marker);
	apply_one(model, backwards);
	apply_one(model, ev_kernel(1, 1, 5, 5000, 300));
	CHECK_INT(model_kernels(model, &rows), 1);
	CHECK_INT(rows[0].count, 3);
	CHECK_INT(rows[0].failed, 1);
	CHECK_INT(rows[0].untimed, 2);
	CHECK_INT(rows[0].total_ns, 300);
	CHECK_INT(rows[0].min_ns, 300);
	CHECK_INT(rows[0].mean_ns, 300);
	model_kernels_free(rows, 1);
	status = status_of(model);
	CHECK_INT(status.kernels, 3);
	CHECK_INT(status.how[HOW_EVENT], 3);
	CHECK_INT(status.bad, 1);
	/* The failure is an instant where it was launched. */
	CHECK(model_span_next(model, row_of(model, ROW_QUEUE, 0).id, 0, 0, &ref));
	CHECK(model_span(model, ref, &span));
	CHECK_INT(span.status, -5);
	CHECK_INT(span.start_ns, BASE + 990);
	CHECK_INT(span.end_ns, span.start_ns);
	model_columns(model, ref.row, 0, BASE, BASE + 2000, 1, &column);
	CHECK_INT(column.count, 1);
	CHECK_INT(column.busy_ns, 0);
	CHECK(column.flags & COLUMN_FAILED);
	model_free(model);
}

TEST(model_copies_table)
{
	struct model *model = model_with_device();
	struct event map = ev_copy(1, DIR_NONE, 500, 9000, 0);
	struct copy_row *rows;
	size_t n;

	apply_one(model, ev_copy(1, DIR_H2D, 100000, 1000, 1000));
	apply_one(model, ev_copy(1, DIR_H2D, 100000, 3000, 4000));
	apply_one(model, ev_copy(1, DIR_H2D, 64, 2500, 1));	/* too small for a peak */
	apply_one(model, ev_copy(2, DIR_D2H, 4096, 1000, 100));
	map.u.command.kind = COMMAND_MAP;
	apply_one(model, map);
	n = model_copies(model, &rows);
	CHECK_INT(n, 3);
	CHECK_INT(rows[0].direction, DIR_H2D);
	CHECK_INT(rows[0].count, 3);
	CHECK_INT(rows[0].bytes, 200064);
	CHECK_INT(rows[0].total_ns, 5001);
	CHECK_INT(rows[0].mean_bytes_per_s, 200064 * INT64_C(1000000000) / 5001);
	CHECK_INT(rows[0].peak_bytes_per_s, INT64_C(100000000000));
	CHECK_INT(rows[1].peak_bytes_per_s, INT64_C(40960000000));
	CHECK_INT(rows[2].direction, DIR_MAP);
	CHECK_INT(rows[2].bytes, 500);
	CHECK_INT(rows[2].peak_bytes_per_s, 0);
	free(rows);
	model_free(model);
}

TEST(model_calls_add_up)
{
	struct model *model = model_with_device();
	struct event call = with_time(EVENT_CALL, 100), calls = with_time(EVENT_CALLS, 200);
	struct event wait = with_time(EVENT_WAIT, 300);
	struct call_row *rows;

	call.u.call = (struct event_call) {
		.name = 1, .start_ns = BASE + 10, .dur_ns = 50, .result = 0,
	};
	apply_one(model, call);
	call.u.call.result = -30;
	call.u.call.dur_ns = 70;
	apply_one(model, call);
	calls.u.calls = (struct event_calls) {
		.name = 1, .count = 10, .errors = 2, .total_ns = 30, .max_ns = 9,
	};
	apply_one(model, calls);
	calls.u.calls = (struct event_calls){ .name = 2, .count = 5, .total_ns = -1, .max_ns = -1 };
	apply_one(model, calls);
	/* The probe sends a call for it as well. */
	wait.u.wait = (struct event_wait) { .name = 1, .start_ns = BASE + 10, .dur_ns = 50 };
	apply_one(model, wait);
	CHECK_INT(model_calls(model, &rows), 2);
	CHECK_STR(rows[0].name, "kernel1");
	CHECK_INT(rows[0].count, 12);
	CHECK_INT(rows[0].errors, 3);
	CHECK_INT(rows[0].total_ns, 150);
	CHECK_INT(rows[0].max_ns, 70);
	CHECK(rows[0].timed && !rows[1].timed);
	CHECK_INT(rows[1].count, 5);
	CHECK_INT(status_of(model).calls, 17);
	free(rows);
	model_free(model);
}

static struct event alloc_of(uint64_t address, uint64_t bytes, uint32_t op)
{
	struct event event = with_time(EVENT_ALLOC, 100);

	event.u.alloc = (struct event_alloc) {
		.allocator = 9, .address = address, .bytes = bytes, .op_name = op,
	};
	return event;
}

static struct event free_of(uint64_t address)
{
	struct event event = with_time(EVENT_FREE, 100);

	event.u.free = (struct event_free) { .allocator = 9, .address = address };
	return event;
}

TEST(model_memory_peak_and_its_holders)
{
	struct model *model = model_with_device();
	struct memory_row *rows;

	apply_one(model, alloc_of(1, 100, 1));
	apply_one(model, alloc_of(2, 700, 2));
	apply_one(model, alloc_of(3, 10, 0));
	apply_one(model, free_of(2));
	apply_one(model, free_of(77));
	apply_one(model, alloc_of(4, 300, 3));
	/* The free of 1 was lost: the address is used again. */
	apply_one(model, alloc_of(1, 50, 3));
	CHECK_INT(model_memory(model, &rows), 1);
	CHECK_STR(rows[0].allocator, "kernel9");
	CHECK_INT(rows[0].live_bytes, 360);
	CHECK_INT(rows[0].peak_bytes, 810);
	CHECK_INT(rows[0].allocations, 5);
	CHECK_INT(rows[0].frees, 2);
	CHECK_INT(rows[0].n_peak_ops, 2);
	CHECK_STR(rows[0].peak_ops[0], "kernel2");
	CHECK_STR(rows[0].peak_ops[1], "kernel1");
	free(rows);
	model_free(model);
}

TEST(model_memory_against_naive)
{
	static uint64_t live[64];
	uint64_t sum = 0, peak = 0;
	struct model *model = model_with_device();
	struct memory_row *rows;

	for (int i = 0; i < 20000; i++) {
		uint64_t address = test_below(64);

		if (live[address]) {
			apply_one(model, free_of(address));
			sum -= live[address];
			live[address] = 0;
		} else {
			live[address] = 1 + test_below(1000);
			apply_one(model, alloc_of(address, live[address], (uint32_t)test_below(9)));
			sum += live[address];
		}
		if (sum > peak)
			peak = sum;
	}
	CHECK_INT(model_memory(model, &rows), 1);
	CHECK_INT(rows[0].live_bytes, sum);
	CHECK_INT(rows[0].peak_bytes, peak);
	free(rows);
	model_free(model);
}

TEST(model_steps_by_range_names)
{
	static const char *const names[] = { "step 12", "Step#13", "STEP", "steps", "step 1x",
					     "my step 5", "step: 14" };
	struct model *model = model_with_device();
	struct step_stats stats;
	struct step_row *rows;

	for (uint32_t i = 0; i < 7; i++) {
		/* Some names come after the range. */
		if (i % 2)
			apply_one(model, ev_name(20 + i, NAME_RANGE, names[i]));
		apply_one(model, ev_op(20 + i, 100 + i, 0, 1000 * (int64_t)i, 100 + i, OP_RANGE));
		apply_one(model, ev_name(20 + i, NAME_RANGE, names[i]));
	}
	CHECK_INT(model_steps(model, &stats, &rows), 3);
	CHECK_STR(stats.source, "range step #");
	CHECK_INT(rows[0].number, 12);
	CHECK_INT(rows[1].number, 13);
	CHECK_INT(rows[2].number, 14);
	CHECK_INT(rows[2].dur_ns, 106);
	CHECK_INT(stats.mean_ns, (100 + 101 + 106) / 3);
	CHECK(stats.p99_ns >= 104 && stats.p99_ns <= 108);
	CHECK_INT(status_of(model).last_step_number, 14);
	CHECK_INT(status_of(model).last_step_ns, 106);
	free(rows);
	model_free(model);
}

TEST(model_explicit_steps_come_first)
{
	struct model *model = model_with_device();
	struct event step = with_time(EVENT_STEP, 5000);
	struct step_stats stats;
	struct step_row *rows;

	apply_one(model, ev_name(20, NAME_RANGE, "step 1"));
	apply_one(model, ev_op(20, 1, 0, 0, 100, OP_RANGE));
	apply_one(model, ev_op(20, 2, 0, 200, 100, OP_RANGE));
	step.u.step = (struct event_step) { .number = 7, .start_ns = BASE + 2000, .dur_ns = 500 };
	apply_one(model, step);
	step.u.step = (struct event_step) { .number = 6, .start_ns = BASE + 1000, .dur_ns = 400 };
	apply_one(model, step);
	CHECK_INT(model_steps(model, &stats, &rows), 2);
	CHECK_STR(stats.source, "step");
	CHECK_INT(rows[0].number, 6);
	CHECK_INT(rows[1].number, 7);
	free(rows);
	model_free(model);
}

static void apply_run(struct model *model, uint32_t name, int64_t number, int64_t at_ns)
{
	struct event step = with_time(EVENT_STEP, at_ns + 10);

	step.u.step = (struct event_step) {
		.name = name, .number = number, .start_ns = BASE + at_ns, .dur_ns = 10,
	};
	apply_one(model, step);
}

TEST(model_steps_of_a_framework)
{
	struct model *model = model_with_device();
	struct step_stats stats;
	struct step_row *rows;

	/* a name that comes only after its first step */
	apply_run(model, 31, -1, 1000);
	apply_one(model, ev_name(31, NAME_OP, "train()"));
	apply_one(model, ev_name(32, NAME_OP, "evaluate()"));
	for (int i = 1; i < 100; i++) {
		apply_run(model, 31, -1, 1000 + i * 100);
		if (i % 10 == 0)
			apply_run(model, 32, -1, 1000 + i * 100 + 50);
	}
	CHECK_INT(model_steps(model, &stats, &rows), 100);
	CHECK_STR(stats.source, "train");
	CHECK_INT(rows[99].number, 99);
	free(rows);
	/* a profiler's window in the middle marks a few of them */
	apply_one(model, ev_name(33, NAME_RANGE, "window"));
	for (int i = 40; i < 44; i++)
		apply_run(model, 33, i, 1000 + i * 100);
	CHECK_INT(model_steps(model, &stats, &rows), 100);
	free(rows);
	/* the program's own marks are there all the time, fewer or not */
	apply_one(model, ev_name(34, NAME_RANGE, "marked"));
	for (int i = 0; i < 20; i++)
		apply_run(model, 34, i, 1000 + i * 500);
	CHECK_INT(model_steps(model, &stats, &rows), 20);
	CHECK_STR(stats.source, "marked");
	free(rows);
	model_free(model);
}

TEST(model_no_steps)
{
	struct model *model = model_new(NULL);
	struct step_stats stats;
	struct step_row *rows;

	CHECK_INT(model_steps(model, &stats, &rows), 0);
	CHECK(stats.source == NULL);
	CHECK_INT(status_of(model).last_step_number, -1);
	free(rows);
	model_free(model);
}

TEST(model_compiles_and_their_failures)
{
	struct model *model = model_with_device();
	struct event compile = with_time(EVENT_COMPILE, 1000);
	struct compile_row *rows;

	compile.u.compile = (struct event_compile) {
		.start_ns = BASE, .dur_ns = 100, .what = "program", .options = "-O3", .log = "",
	};
	apply_one(model, compile);
	apply_one(model, compile);
	compile.u.compile.result = -11;
	compile.u.compile.log = "\n  error: no such type 'flaot'\nmore\n";
	compile.u.compile.dur_ns = 30;
	apply_one(model, compile);
	CHECK_INT(model_compiles(model, &rows), 2);
	CHECK_INT(rows[0].count, 2);
	CHECK_INT(rows[0].total_ns, 200);
	CHECK_STR(rows[0].cause, "-O3");
	CHECK_INT(rows[1].failed, 1);
	CHECK_STR(rows[1].cause, "error: no such type 'flaot'");
	free(rows);
	model_free(model);
}

TEST(model_losses_and_their_columns)
{
	struct model *model = model_with_device();
	struct event lost = { .type = EVENT_LOST };
	struct model_loss *losses;
	struct column columns[10];

	apply_one(model, ev_kernel(1, 1, 1, 100, 5000));
	lost.u.lost = (struct event_lost) { BASE + 3000, BASE + 4500, 12, false, 0 };
	apply_one(model, lost);
	lost.u.lost = (struct event_lost) { BASE + 1000, BASE + 1000, 3, true, 0 };
	apply_one(model, lost);
	lost.u.lost = (struct event_lost) { 500, 100, 0, false, 0 };
	apply_one(model, lost);
	CHECK_INT(status_of(model).lost_events, 13);
	CHECK_INT(status_of(model).lost_packets, 3);
	CHECK_INT(status_of(model).bad, 1);
	CHECK_INT(model_losses(model, 0, INT64_MAX, &losses), 2);
	CHECK_INT(losses[0].begin_ns, BASE + 1000);
	CHECK(losses[0].packets && losses[1].count == 12);
	free(losses);
	CHECK_INT(model_losses(model, BASE + 4500, BASE + 9000, &losses), 1);
	free(losses);
	model_columns(model, row_of(model, ROW_QUEUE, 0).id, 0, BASE, BASE + 10000, 10, columns);
	for (int c = 0; c < 10; c++)
		CHECK(!(columns[c].flags & COLUMN_LOST) == !(c == 1 || c == 3 || c == 4));
	model_free(model);
}

/* Told by packet, then found by a thread's numbers: it is lost there and nowhere
 * else, and counted once. */
TEST(model_losses_go_to_their_place)
{
	struct model *model = model_with_device();
	struct event lost = { .type = EVENT_LOST };
	struct model_loss *losses;

	lost.u.lost = (struct event_lost) { BASE, BASE + 90000, 12, false, 0 };
	apply_one(model, lost);
	lost.u.lost = (struct event_lost) { BASE + 100000, BASE + 200000, 5, false, 0 };
	apply_one(model, lost);
	lost.pid = lost.tid = PID;
	lost.u.lost = (struct event_lost) { BASE + 3000, BASE + 4500, 0, false, 10 };
	apply_one(model, lost);
	CHECK_INT(status_of(model).lost_events, 17);
	CHECK_INT(model_losses(model, 0, INT64_MAX, &losses), 3);
	CHECK_INT(losses[0].count, 2);
	CHECK_INT(losses[1].begin_ns, BASE + 3000);
	CHECK_INT(losses[1].count, 10);
	CHECK_INT(losses[2].count, 5);
	free(losses);
	/* The last two, and three that nobody had told of. */
	lost.u.lost = (struct event_lost) { BASE + 5000, BASE + 5500, 3, false, 2 };
	apply_one(model, lost);
	CHECK_INT(status_of(model).lost_events, 20);
	CHECK_INT(model_losses(model, 0, INT64_MAX, &losses), 3);
	CHECK_INT(losses[0].begin_ns, BASE + 3000);
	CHECK_INT(losses[1].count, 5);
	CHECK_INT(losses[1].end_ns, BASE + 5500);
	free(losses);
	/* None is left that this could be one of. */
	lost.u.lost = (struct event_lost) { BASE + 7000, BASE + 7500, 0, false, 9 };
	apply_one(model, lost);
	CHECK_INT(status_of(model).lost_events, 20);
	CHECK_INT(model_losses(model, 0, INT64_MAX, &losses), 4);
	CHECK_INT(losses[2].count, 0);
	free(losses);
	model_free(model);
}

/* An announced kernel whose end was lost keeps its device busy until later ones
 * of its queue have ended, or its process; where nothing was lost it goes on. */
TEST(model_lost_ends_are_not_waited_for)
{
	for (int lost = 0; lost < 2; lost++) {
		struct model *model = model_with_device();
		struct event open = ev_kernel(1, 1, 1, 1000, 0), queue = ev_queue(1, 1);
		struct device_row row;

		queue.u.queue.flags = QUEUE_IN_ORDER;
		apply_one(model, queue);
		open.u.command.flags = CMD_OPEN;
		open.u.command.start_ticks = open.u.command.end_ticks = 0;
		apply_one(model, open);
		if (lost)
			apply_one(model, (struct event) {
				.type = EVENT_LOST, .u.lost = { BASE, BASE + 10, 1, false, 0 } });
		apply_one(model, ev_kernel(2, 1, 2, 500000000, 100));
		CHECK_INT(status_of(model).in_flight, 1);
		apply_one(model, ev_kernel(2, 1, 3, 3000000000, 100));
		CHECK_INT(status_of(model).in_flight, lost ? 0 : 1);
		CHECK(model_device_window(model, 0, BASE + 600000000, BASE + 3000000000, &row));
		CHECK_INT(row.busy_ns, lost ? 0 : INT64_C(2400000000));
		model_free(model);
	}
}

TEST(model_messages_once)
{
	struct model *model = model_new(NULL);
	struct message_row *rows;
	struct event message = with_time(EVENT_MESSAGE, 0);

	model_message(model, 1, "disk full");
	model_message(model, 1, "disk full");
	model_message(model, 2, "disk full");
	message.u.message = (struct event_message) { 200, "from\x1b[2J a probe" };
	apply_one(model, message);
	CHECK_INT(model_messages(model, &rows), 3);
	CHECK_STR(rows[0].text, "disk full");
	CHECK_INT(rows[2].level, 2);
	CHECK_STR(rows[2].text, "from?[2J a probe");
	free(rows);
	model_free(model);
}

TEST(model_settled_line)
{
	struct model *model = model_new(NULL);
	struct event settled = with_time(EVENT_SETTLED, 2000), other, leave;
	uint64_t generation = model_generation(model);

	apply_one(model, ev_process(PID, "a"));
	CHECK(model_generation(model) != generation);
	apply_one(model, ev_process(PID + 1, "b"));
	settled.u.settled.settled_ns = BASE + 1000;
	apply_one(model, settled);
	CHECK_INT(status_of(model).settled_ns, 0);
	apply_one(model, ev_alive(BASE + 3000));
	CHECK_INT(status_of(model).settled_ns, BASE + 1000);
	CHECK_INT(status_of(model).live_ns, BASE + 3000);
	other = settled;
	other.pid = PID + 1;
	other.u.settled.settled_ns = BASE + 500;
	apply_one(model, other);
	/* It never goes back. */
	CHECK_INT(status_of(model).settled_ns, BASE + 1000);
	settled.u.settled.settled_ns = BASE + 2500;
	apply_one(model, settled);
	CHECK_INT(status_of(model).settled_ns, BASE + 1000);
	leave = with_time(EVENT_EXIT, 2600);
	leave.pid = PID + 1;
	apply_one(model, leave);
	CHECK_INT(status_of(model).settled_ns, BASE + 2500);
	/* Silent for long (its probes are off): it holds nobody up. */
	apply_one(model, ev_alive(BASE + 10000000000));
	CHECK_INT(status_of(model).settled_ns, BASE + 9000000000);
	model_finish(model, false);
	CHECK_INT(status_of(model).settled_ns, BASE + 10000000000);
	CHECK(status_of(model).finished);
	model_free(model);
}

/* A probe that has registered but not said anything yet may still write of a
 * time that others have settled; a process without a probe holds nobody up. */
TEST(model_nothing_is_settled_before_it_is_said)
{
	struct model *model = model_new(NULL);
	struct event probe = with_time(EVENT_PROBE, 1000), settled = with_time(EVENT_SETTLED, 4000);

	probe.u.probe = (struct event_probe) { .name = "opencl", .version = "1", .blind = "" };
	settled.u.settled.settled_ns = BASE + 3500;
	apply_one(model, ev_process(PID + 1, "without"));
	apply_one(model, ev_process(PID, "with"));
	apply_one(model, probe);
	apply_one(model, ev_alive(BASE + 3000));
	CHECK_INT(status_of(model).settled_ns, BASE + 1000);
	apply_one(model, settled);
	apply_one(model, ev_alive(BASE + 5000));
	CHECK_INT(status_of(model).settled_ns, BASE + 3500);
	model_free(model);
}

TEST(model_exec_and_reused_pids)
{
	struct model *model = model_with_device();
	struct event again = ev_process(PID, "another");
	struct process_row *rows;
	struct op_row *ops;

	apply_one(model, ev_op(1, 1, 0, 0, 10, 0));
	/* A dump tells the same again. */
	apply_one(model, ev_process(PID, "/usr/bin/python train.py"));
	CHECK_INT(model_processes(model, &rows), 1);
	free(rows);
	apply_one(model, again);
	apply_one(model, ev_name(1, NAME_OP, "elsewhere"));
	apply_one(model, ev_op(1, 1, 0, 100, 10, 0));
	CHECK_INT(model_processes(model, &rows), 2);
	CHECK(rows[0].exited && !rows[1].exited);
	free(rows);
	CHECK_INT(model_ops(model, &ops), 2);
	CHECK(op_named(ops, 2, "elsewhere") && op_named(ops, 2, "kernel1"));
	free(ops);
	CHECK_INT(status_of(model).bad, 0);
	model_set_exited(model, 0, PID, 3, 0);
	CHECK_INT(model_processes(model, &rows), 2);
	CHECK(rows[1].exited && rows[1].exit_status == 3);
	free(rows);
	model_free(model);
}

TEST(model_shapes_and_details_of_a_span)
{
	struct model *model = model_with_device();
	struct event kernel = ev_kernel(1, 1, 1, 1000, 100), shape = with_time(EVENT_SHAPE, 0);
	struct span_ref ref;
	struct span span;

	kernel.u.command.shape = 4;
	kernel.u.command.call_ns = BASE - 500;
	apply_one(model, kernel);
	shape.u.shape = (struct event_shape) {
		.id = 4, .dims = 2, .global = { 32, 14, 1 }, .local = { 8, 2, 1 },
	};
	apply_one(model, shape);
	CHECK(model_span_next(model, row_of(model, ROW_QUEUE, 0).id, 0, 0, &ref));
	CHECK(model_span(model, ref, &span));
	CHECK(span.dims == 2 && span.global[1] == 14 && span.local[0] == 8);
	CHECK_INT(span.call_ns, BASE - 500);
	CHECK_INT(span.call_dur_ns, 3);
	CHECK_INT(span.submit_ns, BASE + 994);
	CHECK_INT(span.clock_error_ns, 10);
	CHECK_STR(span.queue, "queue 0");
	CHECK_STR(span.device, "gpu0 H200");
	CHECK(span.op == NULL);
	CHECK(!model_span_peer(model, ref, &ref));
	model_free(model);
}

/* A range of its own around each run: as many ops as runs, each listed once. */
TEST(model_kernel_with_very_many_ops)
{
	struct model *model = model_with_device();
	const uint32_t n = 50000;
	struct kernel_row *rows;
	uint64_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct event run = ev_kernel(1, 1, i + 1, (int64_t)i * 100, 50);
		char text[32];

		snprintf(text, sizeof(text), "batch %u", i);
		apply_one(model, ev_name(100 + i, NAME_RANGE, text));
		run.u.command.op_name = 100 + i;
		apply_one(model, run);
	}
	CHECK_INT(model_kernels(model, &rows), 1);
	CHECK_INT(rows[0].n_ops, n);
	for (size_t i = 0; i < rows[0].n_ops; i++)
		count += rows[0].ops[i].count;
	CHECK_INT(count, n);
	model_kernels_free(rows, 1);
	model_free(model);
}
