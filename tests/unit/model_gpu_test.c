/* SPDX-License-Identifier: MIT */
/* What is told of a GPU beyond any device: kept, answered, given back by a save. */
#include <stdlib.h>
#include <string.h>

#include "model/recording/export.h"
#include "model/query/launch.h"
#include "tests/unit/model_events.h"
#include "tests/unit/page_text.h"
#include "tests/unit/test.h"

static const struct device_limits h200 = {
	.capability = 90, .threads = 2048, .blocks = 32, .registers = 65536, .shared = 233472,
	.block_registers = 65536, .block_shared = 49152, .bandwidth = UINT64_C(4814000000000),
};

static struct event gpu(void)
{
	struct event event = ev_device(1, "GPU-1");

	event.u.device.capability = 90;
	event.u.device.threads_per_unit = 2048;
	event.u.device.blocks_per_unit = 32;
	event.u.device.registers_per_unit = event.u.device.registers_per_block = 65536;
	event.u.device.shared_per_unit = 233472;
	event.u.device.shared_per_block = 49152;
	event.u.device.bandwidth = UINT64_C(4814000000000);
	return event;
}

static struct event stream(uint32_t id, uint32_t flags, int32_t priority)
{
	struct event event = ev_queue(id, 1);

	event.u.queue.flags |= flags;
	event.u.queue.priority = priority;
	return event;
}

static struct event shape(void)
{
	struct event event = { .type = EVENT_SHAPE, .pid = PID, .tid = PID, .time_ns = BASE };

	event.u.shape = (struct event_shape) {
		.id = 3, .dims = 1, .global = { 1024 }, .local = { 128 }, .registers = 40,
		.shared_static = 1024, .shared_dynamic = 32768,
	};
	return event;
}

static struct event wait_of(uint64_t op)
{
	struct event event = { .type = EVENT_WAIT, .pid = PID, .tid = PID, .time_ns = BASE + 900 };

	event.u.wait = (struct event_wait){
		.name = 8,
		.start_ns = BASE + 100,
		.dur_ns = 700,
		.queue = 2,
		.op = op,
		.op_name = 2,
	};
	return event;
}

static struct model *model_of_gpu(void)
{
	struct model *model = model_new(NULL);

	apply_one(model, ev_process(PID, "train"));
	apply_one(model, ev_name(2, NAME_OP, "loss.item"));
	apply_one(model, ev_name(8, NAME_CALL, "cudaStreamSynchronize"));
	apply_one(model, gpu());
	apply_one(model, stream(1, QUEUE_DEFAULT, 0));
	apply_one(model, stream(2, 0, -3));
	apply_one(model, shape());
	apply_one(model, wait_of(77));
	return model;
}

static void same_limits(const struct device_limits *limits)
{
	CHECK(!memcmp(limits, &h200, sizeof(h200)));
}

TEST(model_gpu_is_answered)
{
	struct model *model = model_of_gpu();
	struct device_row *devices;
	struct queue_row *queues;

	model_lock(model);
	CHECK_INT(model_devices(model, &devices), 1);
	same_limits(&devices[0].limits);
	CHECK_INT(model_queues(model, &queues), 2);
	CHECK(queues[0].fallback && !queues[1].fallback);
	CHECK_INT(queues[0].priority, 0);
	CHECK_INT(queues[1].priority, -3);
	model_unlock(model);
	free(devices);
	free(queues);
	model_free(model);
}

TEST(model_gpu_is_given_back)
{
	struct model *model = model_of_gpu();
	struct model_export *export = model_export_new(model, INT64_MIN);
	unsigned devices = 0, queues = 0, shapes = 0, waits = 0;
	struct event events[64];
	size_t n;

	while ((n = model_export_next(export, events, 64)) > 0)
		for (const struct event *e = events; e < events + n; e++) {
			if (e->type == EVENT_DEVICE) {
				devices++;
				CHECK_INT(e->u.device.capability, 90);
				CHECK_INT(e->u.device.threads_per_unit, 2048);
				CHECK_INT(e->u.device.blocks_per_unit, 32);
				CHECK_INT(e->u.device.registers_per_unit, 65536);
				CHECK_INT(e->u.device.registers_per_block, 65536);
				CHECK_INT(e->u.device.shared_per_unit, 233472);
				CHECK_INT(e->u.device.shared_per_block, 49152);
				CHECK(e->u.device.bandwidth == h200.bandwidth);
			} else if (e->type == EVENT_QUEUE) {
				CHECK_INT(e->u.queue.priority, queues ? -3 : 0);
				CHECK_INT(!!(e->u.queue.flags & QUEUE_DEFAULT), !queues);
				queues++;
			} else if (e->type == EVENT_SHAPE) {
				shapes++;
				CHECK_INT(e->u.shape.registers, 40);
				CHECK_INT(e->u.shape.shared_static, 1024);
				CHECK_INT(e->u.shape.shared_dynamic, 32768);
			} else if (e->type == EVENT_WAIT) {
				waits++;
				CHECK_INT(e->u.wait.op, 77);
				CHECK(e->u.wait.op_name != 0);
			}
		}
	CHECK_INT(devices, 1);
	CHECK_INT(queues, 2);
	CHECK_INT(shapes, 1);
	CHECK_INT(waits, 1);
	model_export_free(export);
	model_free(model);
}

static void run_with(struct model *model, uint32_t shape, uint32_t queue, int64_t at_ns,
		     int64_t dur_ns)
{
	struct event event = ev_kernel(5, queue, (uint32_t)at_ns, at_ns, dur_ns);

	event.u.command.shape = shape;
	apply_one(model, event);
}

static void define_shape(struct model *model, uint32_t id, uint64_t blocks, uint32_t registers)
{
	struct event event = shape();

	event.u.shape = (struct event_shape) {
		.id = id, .dims = 2, .global = { blocks * 32, 8 }, .local = { 32, 8 },
		.registers = registers,
	};
	apply_one(model, event);
}

/* Two launches of one kernel, on two streams: the full one takes three quarters of the time. */
TEST(model_gpu_launches)
{
	struct model *model = model_of_gpu();
	struct kernel_launch *launches;
	struct kernel_row *rows;
	struct event device = gpu();

	device.u.device.units = 132;
	apply_one(model, device);
	apply_one(model, ev_clock(1, BASE, TICKS));
	apply_one(model, ev_name(5, NAME_KERNEL, "scale"));
	define_shape(model, 10, 132 * 8, 32);
	define_shape(model, 11, 66, 128);
	run_with(model, 10, 1, 1000, 2000);
	run_with(model, 11, 1, 4000, 1000);
	run_with(model, 10, 2, 6000, 1000);
	model_lock(model);
	CHECK_INT(model_kernels(model, &rows), 1);
	CHECK_INT(rows[0].occupancy_milli, 812);
	CHECK_INT(rows[0].occupancy_limits, OCCUPANCY_WARPS | OCCUPANCY_REGISTERS);
	CHECK_INT(model_kernel_launches(model, "scale", rows[0].device, &launches), 2);
	CHECK_INT(launches[0].count, 2);
	CHECK_INT(launches[0].total_ns, 3000);
	CHECK_INT(launches[0].grid[0], 132 * 8);
	CHECK_INT(launches[0].grid[1], 1);
	CHECK_INT(launches[0].block[0], 32);
	CHECK_INT(launches[0].block[1], 8);
	CHECK_INT(occupancy_milli(&launches[0].occupancy), 1000);
	CHECK_INT(launches[0].occupancy.waves_milli, 1000);
	CHECK_INT(occupancy_milli(&launches[1].occupancy), 250);
	CHECK_INT(launches[1].occupancy.limits, OCCUPANCY_REGISTERS);
	CHECK_INT(launches[1].occupancy.waves_milli, 250);
	free(launches);
	CHECK_INT(model_kernel_launches(model, "scale", UINT32_MAX, &launches), 2);
	free(launches);
	CHECK_INT(model_kernel_launches(model, "scale", 7, &launches), 0);
	CHECK_INT(model_kernel_launches(model, "other", UINT32_MAX, &launches), 0);
	model_unlock(model);
	model_kernels_free(rows, 1);
	model_free(model);
}

/* What its API does not tell has no columns, and a line that says so. */
TEST(kernel_page_without_registers)
{
	struct model *model = model_with_device();
	char error[PAGE_ERROR], *text;

	apply_one(model, ev_clock(1, BASE, TICKS));
	apply_one(model, ev_name(5, NAME_KERNEL, "scale"));
	define_shape(model, 10, 132 * 8, 0);
	run_with(model, 10, 1, 1000, 2000);
	text = PAGE(page_kernel, "pk", "scale");
	CHECK(has(text, "\ngrid    block  runs    total\n  1056  32×8      1  2.00 µs\n"
		  "unknown: registers and shared memory of a block, occupancy, as the device has no "
		  "compute capability\n"));
	free(text);
	model_free(model);
	model = model_with_device();
	apply_one(model, ev_clock(1, BASE, TICKS));
	apply_one(model, ev_name(5, NAME_KERNEL, "scale"));
	run_with(model, 0, 1, 1000, 2000);
	text = PAGE(page_kernel, "pk", "scale");
	CHECK(!text || !strstr(text, "–"));
	free(text);
	model_free(model);
}

/* A graph's nodes have a geometry each, of which its launch knows nothing. */
TEST(model_gpu_nodes_have_launches)
{
	struct model *model = model_of_gpu();
	struct event launch = {
		.type = EVENT_LAUNCH, .pid = PID, .tid = PID, .time_ns = BASE + 500
	};
	struct event run = { .type = EVENT_RUN, .pid = PID, .tid = PID, .time_ns = BASE + 9000 };
	struct kernel_launch *launches;

	apply_one(model, ev_clock(1, BASE, TICKS));
	apply_one(model, ev_name(5, NAME_KERNEL, "scale"));
	define_shape(model, 10, 264, 32);
	define_shape(model, 11, 66, 128);
	launch.u.launch = (struct event_launch) {
		.tid = PID, .queue = 1, .correlation = 77, .call_ns = BASE + 400, .call_dur_ns = 50,
		.kind = COMMAND_GRAPH, .flags = CMD_MANY,
	};
	apply_one(model, launch);
	for (unsigned i = 0; i < 2; i++) {
		run.u.run = (struct event_run) {
			.queue = 1, .name = 5, .correlation = 77, .kind = COMMAND_KERNEL,
			.shape = 10 + i, .start_ticks = (uint64_t)(BASE + TICKS + 1000 + i * 2000),
			.end_ticks = (uint64_t)(BASE + TICKS + 2000 + i * 2000),
		};
		apply_one(model, run);
	}
	model_finish(model, false);
	model_lock(model);
	CHECK_INT(model_kernel_launches(model, "scale", UINT32_MAX, &launches), 2);
	CHECK_INT(launches[0].grid[0] + launches[1].grid[0], 264 + 66);
	free(launches);
	model_unlock(model);
	model_free(model);
}

static void copy_to(struct model *model, uint32_t peer, int64_t at_ns, uint8_t flags)
{
	struct event event = ev_copy(1, peer ? DIR_P2P : DIR_H2D, 4096, at_ns, 100);

	event.u.command.shape = peer;
	event.u.command.flags = flags;
	apply_one(model, event);
}

/* A row for each pair of devices; the other device may be told of later. */
TEST(model_gpu_copies_by_peer)
{
	struct model *model = model_of_gpu();
	struct event other = gpu();
	struct copy_row *rows;
	uint64_t to[3] = { 0 };

	apply_one(model, ev_clock(1, BASE, TICKS));
	copy_to(model, 2, 1000, 0);
	for (uint32_t id = 2; id < 4; id++) {
		other.u.device.id = other.u.device.index = id;
		other.u.device.address = id == 2 ? "GPU-2" : "GPU-3";
		apply_one(model, other);
	}
	copy_to(model, 2, 2000, 0);
	copy_to(model, 3, 3000, 0);
	copy_to(model, 0, 4000, CMD_PINNED);
	copy_to(model, 0, 5000, 0);
	model_lock(model);
	CHECK_INT(model_copies(model, &rows), 3);
	for (int i = 0; i < 3; i++) {
		if (rows[i].direction == DIR_P2P) {
			CHECK(rows[i].peer < 3 && rows[i].peer != rows[i].device);
			to[rows[i].peer] += rows[i].count;
			CHECK_INT(rows[i].pinned, 0);
		} else {
			CHECK(rows[i].peer == UINT32_MAX);
			CHECK_INT(rows[i].count, 2);
			CHECK_INT(rows[i].pinned, 1);
		}
	}
	CHECK_INT(to[1], 2);
	CHECK_INT(to[2], 1);
	model_unlock(model);
	free(rows);
	/* Of the device one row, whatever the other ends. */
	CHECK_INT(row_of(model, ROW_BANDWIDTH, 0).direction, DIR_H2D);
	CHECK_INT(row_of(model, ROW_BANDWIDTH, 1).direction, DIR_P2P);
	CHECK_INT(row_of(model, ROW_BANDWIDTH, 1).count, 3);
	model_free(model);
}

/* Which stream is urgent, and which is the default one, stands in the row. */
TEST(model_gpu_rows_say_priority)
{
	struct model *model = model_of_gpu();
	struct event named = stream(2, 0, -3);

	apply_one(model, ev_clock(1, BASE, TICKS));
	apply_one(model, ev_name(5, NAME_KERNEL, "scale"));
	run_with(model, 0, 1, 1000, 2000);
	run_with(model, 0, 2, 4000, 1000);
	CHECK_STR(row_of(model, ROW_QUEUE, 0).label, "default stream");
	CHECK_STR(row_of(model, ROW_QUEUE, 1).label, "queue 1 high");
	named.u.queue.name = "stream 7";
	named.u.queue.priority = 0;
	apply_one(model, named);
	CHECK_STR(row_of(model, ROW_QUEUE, 1).label, "stream 7");
	named.u.queue.priority = -1;
	apply_one(model, named);
	CHECK_STR(row_of(model, ROW_QUEUE, 1).label, "stream 7 high");
	model_free(model);
}

static void announced(struct model *model, uint32_t correlation, int64_t at_ns)
{
	struct event event = ev_kernel(5, 1, correlation, at_ns, 0);

	event.u.command.flags = CMD_OPEN;
	event.u.command.start_ticks = event.u.command.end_ticks = 0;
	event.u.command.call_ns = BASE + at_ns;
	apply_one(model, event);
}

/* CUPTI's correlations lie far above those of other probes and go round: an announcement that
 * comes after its command, of either, is not one of something that runs. */
TEST(model_gpu_counts_its_own_correlations)
{
	static const uint32_t high = 0x80000000u;
	const uint32_t numbers[] = { 900, high | 0x7ffffff0u, 901, high | 5, high | 70000, 902 };
	struct model *model = model_of_gpu();
	struct queue_row *queues;

	apply_one(model, ev_clock(1, BASE, TICKS));
	apply_one(model, ev_name(5, NAME_KERNEL, "scale"));
	for (int i = 0; i < 6; i++) {
		apply_one(model, ev_kernel(5, 1, numbers[i], 1000 + i * 1000, 500));
		announced(model, numbers[i], 900 + i * 1000);
		if (i == 1 || i == 2)
			announced(model, numbers[i - 1], i * 1000 - 100);
	}
	model_lock(model);
	model_queues(model, &queues);
	CHECK_INT(queues[0].kernels, 6);
	CHECK_INT(queues[0].in_flight, 0);
	model_unlock(model);
	free(queues);
	announced(model, high | 6, 9000);
	model_lock(model);
	model_queues(model, &queues);
	CHECK_INT(queues[0].in_flight, 1);
	model_unlock(model);
	free(queues);
	model_free(model);
}
