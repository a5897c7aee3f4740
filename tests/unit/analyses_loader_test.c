/* SPDX-License-Identifier: MIT */
/* A DataLoader of PyTorch: what the wait for it costs, how many workers would keep up, and what the
 * workers do. */
#include <stdlib.h>
#include <string.h>

#include "model/query/findings.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define STEPS 8

static void loader_op(struct model *model, uint32_t name, uint64_t instance, uint32_t frame,
		      int64_t start_ns, int64_t dur_ns)
{
	struct event event = ev_op(name, instance, 0, start_ns, dur_ns, 0);

	event.u.op.step = -1;
	event.u.op.frame = frame;
	event.u.op.framework = FW_PYTORCH;
	apply_one(model, event);
}

static void loader_steps(struct model *model, const char *name, int64_t wait_us, int64_t rest_us)
{
	int64_t now = 0;
	uint64_t instance = 1;

	apply_one(model, ev_name(7, NAME_OP, "aten::linear"));
	apply_one(model, ev_name(9, NAME_OP, name));
	apply_one(model, ev_name(10, NAME_OP, "/home/me/train.py"));
	apply_one(model, ev_name(11, NAME_OP, "train"));
	apply_one(model, (struct event) {
		.type = EVENT_FRAME, .pid = PID, .tid = PID, .time_ns = BASE,
		.u.frame = { .id = 1, .file = 10, .function = 11, .line = 88 } });
	for (int i = 0; i < STEPS; i++, now += (wait_us + rest_us) * US) {
		/* aten::linear stands for whatever else the step runs */
		loader_op(model, 7, instance++, 0, now, wait_us * US);
		loader_op(model, 9, instance++, 1, now, wait_us * US);
		loader_op(model, 7, instance++, 0, now + wait_us * US, rest_us * US);
		apply_one(model, (struct event) {
			.type = EVENT_STEP, .pid = PID, .tid = PID,
			.time_ns = BASE + now + (wait_us + rest_us) * US,
			.u.step = { .name = 8, .number = -1, .start_ns = BASE + now,
				    .dur_ns = (wait_us + rest_us) * US } });
	}
}

static void worker_frames(struct model *model, uint32_t pid)
{
	static const struct { uint32_t parent, line; const char *file, *function; } of[] = {
		{ 0, 12, "/home/me/data.py", "load" },
		{ 0, 317, "/x/site-packages/torch/utils/data/_utils/worker.py", "_worker_loop" },
		{ 2, 103, "/usr/lib/python3.11/multiprocessing/queues.py", "Queue.get" },
		/* a queue of the program's own */
		{ 1, 103, "/usr/lib/python3.11/multiprocessing/queues.py", "Queue.get" },
	};

	for (uint32_t i = 0; i < 4; i++) {
		struct event events[] = {
			ev_name(30 + i * 2, NAME_SOURCE, of[i].file),
			ev_name(31 + i * 2, NAME_SOURCE, of[i].function),
			ev_frame(i + 1, of[i].parent, 30 + i * 2, 31 + i * 2, of[i].line),
		};

		for (int k = 0; k < 3; k++) {
			events[k].pid = events[k].tid = pid;
			apply_one(model, events[k]);
		}
	}
}

/* It sleeps in data.py:12 for 60 ms, 30 or 90 of 100, and waits for its next task else; a second
 * thread hands batches over all the time. queue: the stack in which it waits; 0: unknown. */
static void worker_does(struct model *model, uint32_t pid, int64_t sleep_ms, uint32_t queue)
{
	const struct {
		enum doing_kind kind;
		uint32_t tid, frame, stack;
		int64_t at, ms;
	} of[] = {
		{ DOING_SLEEP, 0, 1, 1, 0, sleep_ms },
		{ DOING_POLL, 0, 0, queue, sleep_ms, 100 - sleep_ms },
		{ DOING_LOCK, 1, 1, 0, 0, 100 },
	};
	struct event event = { .type = EVENT_DOING, .pid = pid, .tid = pid };

	worker_frames(model, pid);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		event.u.doing = (struct event_doing) {
			.tid = pid + of[i].tid * 1000, .looks = 20, .stack = of[i].stack,
			.start_ns = BASE + of[i].at * 1000 * US, .dur_ns = of[i].ms * 1000 * US,
			.ns = of[i].ms * 1000 * US, .frame = of[i].frame,
			.doing = (uint8_t)of[i].kind,
		};
		event.time_ns = event.u.doing.start_ns + event.u.doing.dur_ns;
		apply_one(model, event);
	}
}

enum { FORKED, SERVED, GONE, RESTING, HARDLY_RESTING, OWN_QUEUE, CROWDED };

/* how: the workers are children, or those of a fork server, which has the probe, too; they have
 * ended before the program takes its steps; they wait for what is to be loaded, for most of the
 * time or a part of it, or for a queue of the program's; they and the program have all
 * processors. */
static struct finding loader_finding_of(const char *name, int64_t wait_us, int64_t rest_us,
					int workers, int how)
{
	struct model *model = model_with_device();
	struct findings_status status;
	struct finding *list, found = { .id = "" };

	for (int i = how == SERVED ? -1 : 0; i < workers; i++) {
		struct event event = ev_process(PID + 2 + (uint32_t)i, "worker");

		event.u.process.parent = how == SERVED && i >= 0 ? PID + 1 : PID;
		event.u.process.starter = how != SERVED ? 0 : i < 0 ? -1 : (int32_t)PID;
		apply_one(model, event);
		event.type = EVENT_PROBE;
		event.u.probe = (struct event_probe) { "pytorch", "1", "" };
		apply_one(model, event);
		if (i >= 0 && how != GONE)
			worker_does(model, event.pid, how == RESTING ? 30 :
				    how == HARDLY_RESTING ? 90 : 60,
				    how == OWN_QUEUE ? 4 :
				    how == RESTING || how == HARDLY_RESTING ? 3 : 0);
		event.type = EVENT_EXIT;
		event.time_ns = BASE;
		event.u.exit = (struct event_exit) { .status = 0 };
		if (how == GONE)
			apply_one(model, event);
	}
	if (how == CROWDED)
		apply_use(model, &(struct use) { 2, 900, 1000 }, 100 * US, 20);
	loader_steps(model, name, wait_us, rest_us);
	model_finish(model, false);
	model_lock(model);
	for (size_t i = 0, n = model_findings(model, &status, &list); i < n; i++)
		if (!strcmp(list[i].id, "input-bound"))
			found = list[i];
	free(list);
	model_unlock(model);
	model_free(model);
	return found;
}

static struct finding loader_finding(const char *name, int64_t wait_us, int64_t rest_us,
				     int workers)
{
	return loader_finding_of(name, wait_us, rest_us, workers, FORKED);
}

TEST(loaders_and_their_workers)
{
	static const char single[] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
	static const char multi[] = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
	struct finding found = loader_finding(single, 2500, 1000, 0);

	CHECK_INT(found.cost_ns, 2500 * US);
	CHECK(strstr(found.title, "waits for DataLoader next at train.py:88"));
	CHECK(strstr(found.lines[0], "num_workers is 0"));
	CHECK(strstr(found.lines[0], "a batch in 2.50 ms"));
	CHECK(strstr(found.advice, "num_workers=3 would keep up"));
	/* what a worker hands over takes as long */
	found = loader_finding(single, 250, 100, 0);
	CHECK_INT(found.cost_ns, 250 * US);
	CHECK(strstr(found.advice, "less work per sample") && !strstr(found.advice, "would keep "
								      "up"));
	/* two that never rest: a batch in two steps of 200 us, a step's rest is 100 */
	found = loader_finding(multi, 100, 100, 2);
	CHECK(strstr(found.lines[0], "2 workers cannot keep up: a worker takes up to 400 µs"));
	CHECK(strstr(found.advice, "num_workers=4 would keep up"));
	CHECK_STR(found.lines[2], "60 % of the workers' time, data.py:12 in load sleeps");
	/* started before tftop came: how many they are is unknown */
	found = loader_finding(multi, 100, 100, 0);
	CHECK(strstr(found.lines[0], "its workers cannot keep up; tftop does not see them"));
	CHECK(strstr(found.lines[1], "would take 100 µs"));
	CHECK(!found.lines[2][0] && !strchr(found.advice, '='));
	found = loader_finding(multi, 1, 100, 2);
	CHECK_STR(found.id, "");
	/* those of a fork server, which is none */
	found = loader_finding_of(multi, 100, 100, 2, SERVED);
	CHECK(strstr(found.lines[0], "2 workers cannot keep up: a worker takes up to 400 µs"));
	CHECK_STR(found.lines[2], "60 % of the workers' time, data.py:12 in load sleeps");
	/* those that rest for most of the time, or for a tenth of it */
	found = loader_finding_of(multi, 100, 100, 2, RESTING);
	CHECK(strstr(found.lines[0], "2 workers rest for 70 % of the time"));
	CHECK(strstr(found.advice, "more workers would not help") && !found.lines[2][0]);
	found = loader_finding_of(multi, 100, 100, 2, HARDLY_RESTING);
	CHECK(strstr(found.lines[0], "2 workers cannot keep up: a worker takes up to 360 µs"));
	CHECK_STR(found.lines[2], "90 % of the workers' time, data.py:12 in load sleeps");
	found = loader_finding_of(multi, 100, 100, 2, OWN_QUEUE);
	CHECK(strstr(found.lines[0], "a worker takes up to 400 µs"));
	/* there is no processor for more of them */
	found = loader_finding_of(multi, 100, 100, 2, CROWDED);
	CHECK(strstr(found.lines[0], "a worker takes up to 400 µs"));
	CHECK_STR(found.advice, "the program and its workers keep all processors (2) busy: do less "
		  "work per sample; more workers would not help");
	/* those of an earlier epoch */
	found = loader_finding_of(multi, 100, 100, 2, GONE);
	CHECK(strstr(found.lines[0], "tftop does not see them"));
}
