/* SPDX-License-Identifier: MIT */
/* The helpers of model_events.h, and the smallest case that uses them. */
#include "model/query/findings.h"
#include "model/recording/export.h"
#include "tests/unit/model_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

static struct event ev(enum event_type type, int64_t written_ns)
{
	return (struct event) {
		.type = (uint8_t)type, .pid = PID, .tid = PID, .time_ns = written_ns,
	};
}

struct event ev_process(uint32_t pid, const char *command)
{
	struct event event = ev(EVENT_PROCESS, BASE);

	event.pid = event.tid = pid;
	event.u.process = (struct event_process) {
		.schema = EVENT_SCHEMA, .parent = 1, .start_ns = BASE, .rank = -1, .world = -1,
		.host = "here", .command = command,
	};
	return event;
}

struct event ev_name(uint32_t id, enum name_kind kind, const char *text)
{
	struct event event = ev(EVENT_NAME, BASE);

	event.u.name = (struct event_name) { .id = id, .kind = (uint8_t)kind, .text = text };
	return event;
}

struct event ev_device(uint32_t id, const char *address)
{
	struct event event = ev(EVENT_DEVICE, BASE);

	event.u.device = (struct event_device) {
		.id = id, .index = id, .gpu = 1, .api = "opencl", .name = "NVIDIA H200",
		.vendor = "NVIDIA", .platform = "CUDA", .driver = "1", .address = address,
	};
	return event;
}

struct event ev_queue(uint32_t id, uint32_t device)
{
	struct event event = ev(EVENT_QUEUE, BASE);

	event.u.queue = (struct event_queue) {
		.id = id, .device = device, .context = 1, .flags = QUEUE_IN_ORDER, .name = "",
	};
	return event;
}

struct event ev_clock(uint32_t device, int64_t host_ns, int64_t offset_ns)
{
	struct event event = ev(EVENT_CLOCK, host_ns);

	event.u.clock = (struct event_clock) {
		.device = device, .quality = CLOCK_DRIVER, .ticks = (uint64_t)(host_ns + offset_ns),
		.host_ns = host_ns, .error_ns = 10,
	};
	return event;
}

struct event ev_op(uint32_t name, uint64_t instance, uint64_t parent, int64_t start_ns,
		   int64_t dur_ns, unsigned flags)
{
	struct event event = ev(EVENT_OP, BASE + start_ns + (dur_ns < 0 ? 10000000 : dur_ns));

	event.u.op = (struct event_op) {
		.instance = instance, .parent = parent, .start_ns = BASE + start_ns,
		.dur_ns = dur_ns, .step = -1, .tid = PID, .name = name,
		.depth = parent ? 1 : 0, .framework = FW_NVTX, .flags = (uint8_t)flags,
	};
	return event;
}

struct event ev_kernel(uint32_t name, uint32_t queue, uint32_t correlation, int64_t start_ns,
		       int64_t dur_ns)
{
	struct event event = ev(EVENT_COMMAND, BASE + start_ns + dur_ns);
	uint64_t start = (uint64_t)(BASE + start_ns + TICKS);

	event.u.command = (struct event_command) {
		.tid = PID, .queue = queue, .name = name, .correlation = correlation,
		.call_dur_ns = 3, .call_ns = BASE + start_ns - 10, .queued_ticks = start - 8,
		.submit_ticks = start - 6, .start_ticks = start,
		.end_ticks = start + (uint64_t)dur_ns, .kind = COMMAND_KERNEL, .how = HOW_EVENT,
	};
	return event;
}

struct event ev_launched(uint32_t correlation, int64_t start_ns, int64_t dur_ns, int64_t call_ns)
{
	struct event event = ev_kernel(1, 1, correlation, start_ns, dur_ns);

	event.u.command.call_ns = BASE + start_ns - call_ns;
	event.u.command.call_dur_ns = call_ns;
	return event;
}

struct event ev_copy(uint32_t queue, enum direction direction, uint64_t bytes, int64_t start_ns,
		     int64_t dur_ns)
{
	struct event event = ev_kernel(0, queue, 0, start_ns, dur_ns);

	event.u.command.kind = COMMAND_COPY;
	event.u.command.direction = (uint8_t)direction;
	event.u.command.bytes = bytes;
	return event;
}

struct event ev_frame(uint32_t id, uint32_t parent, uint32_t file, uint32_t function,
		      uint32_t line)
{
	struct event event = { .type = EVENT_FRAME, .pid = PID, .tid = PID, .time_ns = BASE };

	event.u.frame = (struct event_frame) {
		.id = id, .parent = parent, .file = file, .function = function, .line = line,
	};
	return event;
}

struct event ev_doing(uint32_t tid, enum doing_kind doing, uint32_t frame, uint32_t stack,
		      int64_t start_ns, int64_t dur_ns)
{
	struct event event = {
		.type = EVENT_DOING, .pid = PID, .tid = PID + 9,
		.time_ns = BASE + start_ns + dur_ns,
	};

	event.u.doing = (struct event_doing) {
		.tid = tid, .looks = 3, .start_ns = BASE + start_ns, .dur_ns = dur_ns,
		.ns = dur_ns, .frame = frame, .stack = stack, .doing = (uint8_t)doing,
	};
	return event;
}

struct event ev_alive(int64_t ns)
{
	return (struct event) { .type = EVENT_ALIVE, .time_ns = ns };
}

void apply_one(struct model *model, struct event event)
{
	model_apply(model, &event, 1);
}

void feed_model(void *arg, const struct event *events, size_t count)
{
	model_apply(arg, events, count);
}

struct model *saved_again(struct model *model)
{
	struct model_export *export = model_export_new(model, INT64_MIN);
	struct model *copy = model_new(NULL);
	struct event events[64];
	size_t n;

	while ((n = model_export_next(export, events, 64)) > 0)
		model_apply(copy, events, n);
	model_export_free(export);
	model_finish(copy, false);
	return copy;
}

struct model *model_with_device(void)
{
	struct model *model = model_new(NULL);
	char text[16];

	apply_one(model, ev_process(PID, "/usr/bin/python train.py"));
	for (uint32_t i = 1; i <= 9; i++) {
		snprintf(text, sizeof(text), "kernel%u", i);
		apply_one(model, ev_name(i, NAME_KERNEL, text));
	}
	apply_one(model, ev_device(1, "0000:65:00.0"));
	apply_one(model, ev_queue(1, 1));
	apply_one(model, ev_queue(2, 1));
	apply_one(model, ev_clock(1, BASE, TICKS));
	return model;
}

void add_processor(struct model *model)
{
	struct event device = ev_device(2, "cpu");

	device.u.device.api = "cpu";
	apply_one(model, device);
	apply_one(model, ev_queue(9, 2));
	apply_one(model, ev_clock(2, BASE, TICKS));
}

struct model_status status_of(struct model *model)
{
	struct model_status status;

	model_lock(model);
	model_status(model, &status);
	model_unlock(model);
	return status;
}

struct model_row row_of(struct model *model, enum row_kind kind, int number)
{
	struct model_row *rows, found = { .id = 0 };
	size_t n;

	model_lock(model);
	n = model_rows(model, &rows);
	model_unlock(model);
	for (size_t i = 0; i < n; i++)
		if (rows[i].kind == kind && number-- == 0)
			found = rows[i];
	free(rows);
	return found;
}

struct kernel_row *kernel_named(struct kernel_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

struct finding *finding_of(struct model *model, const char *id, struct finding **list)
{
	struct findings_status status;
	size_t n;

	model_lock(model);
	n = model_findings(model, &status, list);
	model_unlock(model);
	for (size_t i = 0; i < n; i++)
		if (!strcmp((*list)[i].id, id))
			return &(*list)[i];
	return NULL;
}

struct op_row *op_named(struct op_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

TEST(model_one_kernel)
{
	struct model *model = model_with_device();
	struct kernel_row *rows;
	size_t n;

	apply_one(model, ev_kernel(3, 1, 1, 1000, 200));
	n = model_kernels(model, &rows);
	CHECK_INT(n, 1);
	CHECK_STR(rows[0].name, "kernel3");
	CHECK_INT(rows[0].total_ns, 200);
	CHECK_INT(status_of(model).first_ns, BASE + 1000);
	CHECK_INT(status_of(model).bad, 0);
	model_kernels_free(rows, n);
	model_free(model);
}

static void apply_series(struct model *model, uint32_t id, const char *name, int64_t value,
			 int64_t period_ns, int n)
{
	apply_one(model, (struct event) {
		.type = EVENT_SERIES, .pid = PID, .time_ns = BASE,
		.u.series = { .id = id, .device = EVENT_SERIES_USAGE, .name = name,
			      .unit = "1/1000" },
	});
	for (int i = 0; i < n; i++)
		apply_one(model, (struct event) {
			.type = EVENT_COUNTER, .pid = PID, .time_ns = BASE + i * period_ns,
			.u.counter = { .series = id, .at_ns = BASE + i * period_ns,
				       .value = value },
		});
}

void apply_use(struct model *model, const struct use *use, int64_t period_ns, int n)
{
	struct event device = ev_device(2, "");

	device.u.device.api = "cpu";
	device.u.device.gpu = 0;
	device.u.device.units = use->cores;
	if (use->cores)
		apply_one(model, device);
	if (use->own)
		apply_series(model, 1, "processor", use->own, period_ns, n);
	if (use->children)
		apply_series(model, 2, "processor of children", use->children, period_ns, n);
}
