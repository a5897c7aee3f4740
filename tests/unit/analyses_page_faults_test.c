/* SPDX-License-Identifier: MIT */
/* Programs that touch new memory in every step, as far as counters of the process tell. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/findings.h"
#include "model/query/time.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define STEPS 80			/* of 100 ms */

struct faulting {
	int64_t fault_time, processor;	/* in 1/1000 */
	bool device;			/* ops launch to a device, for 60 ms of each step */
	bool no_steps, other_steps;	/* the steps are another process's */
	bool no_work;			/* there are counters and nothing else */
};

static struct event series_of(uint32_t id, const char *name, const char *unit)
{
	return (struct event) {
		.type = EVENT_SERIES, .pid = PID, .time_ns = BASE,
		.u.series = { .id = id, .device = EVENT_SERIES_USAGE, .name = name, .unit = unit },
	};
}

static void count(struct model *model, uint32_t series, int64_t at_ns, int64_t value)
{
	struct event event = {
		.type = EVENT_COUNTER, .pid = PID, .time_ns = BASE + at_ns,
		.u.counter = { .series = series, .at_ns = BASE + at_ns, .value = value },
	};

	apply_one(model, event);
}

/* An op of 60 ms that computes, or a kernel of that time; 40 ms of the host. */
static void step_of(struct model *model, const struct faulting *of, int number)
{
	int64_t at_ns = number * 100 * MS;
	struct event event = ev_op(22, (uint64_t)number * 2 + 2, 0, at_ns, 60 * MS, 0);

	event.u.op.framework = FW_PYTORCH;
	event.u.op.frame = 1;
	if (of->device)
		event = ev_launched((uint32_t)number + 1, at_ns + MS, 60 * MS, MS);
	apply_one(model, event);
	event = ev_op(21, (uint64_t)number * 2 + 3, 0, at_ns, 99 * MS, OP_RANGE);
	event.pid = of->other_steps ? PID + 1 : PID;
	if (!of->no_steps)
		apply_one(model, event);
}

static struct model *faulting_model(const struct faulting *of)
{
	struct model *model = model_with_device();
	struct event event;

	apply_one(model, ev_process(PID + 1, "other"));
	event = ev_name(21, NAME_RANGE, "step");
	apply_one(model, event);
	event.pid = PID + 1;
	apply_one(model, event);
	apply_one(model, ev_name(22, NAME_OP, "aten::mul"));
	apply_one(model, ev_name(23, NAME_SOURCE, "/src/train.py"));
	apply_one(model, ev_name(24, NAME_SOURCE, "step"));
	apply_one(model, ev_frame(1, 0, 23, 24, 12));
	apply_one(model, series_of(1, "processor", "1/1000"));
	apply_one(model, series_of(2, "fault time (est.)", "1/1000"));
	apply_one(model, series_of(3, "minor page faults", "/s"));
	for (int i = 0; i < STEPS; i++) {
		if (i % 10 == 0) {
			count(model, 1, i * 100 * MS, of->processor);
			/* the first one holds for the start of the program, too */
			count(model, 2, i * 100 * MS, i ? of->fault_time : 900);
			count(model, 3, i * 100 * MS, of->fault_time * 1000);
		}
		if (of->no_work)
			continue;
		step_of(model, of, i);
		apply_one(model, (struct event) {
			.type = EVENT_ALLOC, .pid = PID, .tid = PID,
			.time_ns = BASE + i * 100 * MS + MS,
			.u.alloc = { .allocator = 24, .address = 4096, .bytes = 64 << 20,
				     .at_ns = BASE + i * 100 * MS + MS,
				     .op = (uint64_t)i * 2 + 2, .op_name = 22 },
		});
	}
	model_finish(model, false);
	return model;
}

/* The finding, if it is told; its id is "" if not. */
static struct finding faults_found(const struct faulting *of)
{
	struct model *model = faulting_model(of);
	struct finding *list, *one = finding_of(model, "page-faults", &list);
	struct finding found = { .id = "" };

	if (one)
		found = *one;
	free(list);
	model_free(model);
	return found;
}

TEST(page_faults_are_told)
{
	struct faulting of = { .fault_time = 400, .processor = 950 };
	struct finding found = faults_found(&of);

	CHECK_STR(found.id, "page-faults");
	CHECK_INT(found.severity, SEVERITY_WARNING);
	CHECK_INT(found.cost_ns / MS, 40);
	CHECK(strstr(found.title, "about 40 % of each step maps and clears new memory"));
	CHECK(strstr(found.lines[0], "400 000 page faults per second; one takes about 1.00 µs"));
	CHECK_STR(found.lines[1], "most memory is allocated by mul at train.py:12");
	CHECK_INT(found.evidence.kind, EVIDENCE_TIME);
	CHECK(found.evidence.row);
	/* on four processors at once they take a quarter of the time; not more than a step */
	of.processor = 4000;
	found = faults_found(&of);
	CHECK_INT(found.cost_ns / MS, 10);
	CHECK_INT(found.severity, SEVERITY_NOTE);
	of.fault_time = 40000;
	CHECK_INT(faults_found(&of).cost_ns / MS, 99);
}

TEST(page_faults_that_cost_little_are_not)
{
	struct faulting of = { .fault_time = 30, .processor = 950 };

	CHECK_STR(faults_found(&of).id, "");
	of.fault_time = 0;
	CHECK_STR(faults_found(&of).id, "");
	/* those of a process that goes through no steps */
	of = (struct faulting) { .fault_time = 400, .processor = 950, .other_steps = true };
	CHECK_STR(faults_found(&of).id, "");
}

/* What the device hides costs nothing: the host has 39 ms of a step in which no device works. */
TEST(page_faults_beside_a_device)
{
	struct faulting of = { .fault_time = 900, .processor = 950, .device = true };
	struct finding found = faults_found(&of);

	CHECK_STR(found.id, "page-faults");
	CHECK(found.cost_ns >= 37 * MS && found.cost_ns <= 40 * MS);
	CHECK_STR(found.lines[1], "");
}

TEST(page_faults_without_steps)
{
	struct faulting of = { .fault_time = 400, .processor = 950, .no_steps = true };
	struct finding found = faults_found(&of);

	CHECK_STR(found.id, "page-faults");
	CHECK_INT(found.cost_ns / MS, 400);
	CHECK(strstr(found.title, "about 40 % of the time"));
	/* what a step would be, or a second of work, is unknown */
	of.no_work = true;
	CHECK_STR(faults_found(&of).id, "");
}
