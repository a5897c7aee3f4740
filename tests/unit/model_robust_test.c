/* SPDX-License-Identifier: MIT */
/* Impossible and hostile events; memory limits; two threads; a whole program. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "model/synth/synth.h"
#include "model/query/input.h"
#include "model/query/memory.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

/* Detail is being folded: places are approximate. */
static bool model_is_tight;

/* ---- every question there is ---- */

static void ask_spans(struct model *model, const struct model_row *row, int64_t t0, int64_t t1)
{
	struct column columns[20];
	struct span_edge edges[10];
	struct span_ref ref, peer;
	struct span span;
	size_t n;

	model_columns(model, row->id, LANE_ALL, t0, t1, 20, columns);
	for (int c = 0; c < 20; c++)
		CHECK(columns[c].busy_ns >= 0 && columns[c].busy_ns <= (t1 - t0) / 20 + 1);
	model_columns(model, row->id, row->lanes - 1, t0, t1, 20, columns);
	n = model_spans(model, row->id, LANE_ALL, t0, t1, 10, edges);
	for (size_t i = 0; i < n; i++) {
		CHECK(edges[i].name && *edges[i].name);
		CHECK(model_span(model, edges[i].ref, &span));
		CHECK_INT(span.start_ns, edges[i].start_ns);
		model_span_peer(model, edges[i].ref, &peer);
	}
	if (model_span_at(model, row->id, LANE_ALL, t0 + (t1 - t0) / 2, &ref))
		CHECK(model_span(model, ref, &span));
	if (model_span_next(model, row->id, LANE_ALL, t0, &ref))
		CHECK(model_span(model, ref, &span));
	if (model_span_prev(model, row->id, LANE_ALL, t1, &ref))
		CHECK(model_span(model, ref, &span));
	if (model_span_longest(model, row->id, LANE_ALL, t0, t1, &ref))
		CHECK(model_span(model, ref, &span) || row->kind == ROW_BANDWIDTH);
}

static void ask_tables(struct model *model)
{
	struct process_row *processes;
	struct device_row *devices, window;
	struct queue_row *queues;
	struct kernel_row *kernels;
	struct copy_row *copies;
	struct op_row *ops;
	struct call_row *calls;
	struct step_row *steps;
	struct step_stats stats;
	struct memory_row *memory;
	struct compile_row *compiles;
	struct message_row *messages;
	struct model_loss *losses;
	struct input_row *stages;
	size_t n;

	model_processes(model, &processes);
	n = model_devices(model, &devices);
	for (size_t i = 0; i < n; i++) {
		CHECK(devices[i].busy_ns <= devices[i].kernel_ns + devices[i].copy_ns ||
		      model_is_tight);
		model_device_window(model, devices[i].id, BASE, BASE + 1000000000, &window);
	}
	model_queues(model, &queues);
	n = model_kernels(model, &kernels);
	for (size_t i = 0; i < n; i++)
		CHECK(kernels[i].total_ns >= 0 && kernels[i].min_ns <= kernels[i].max_ns);
	model_kernels_free(kernels, n);
	model_copies(model, &copies);
	n = model_ops(model, &ops);
	for (size_t i = 0; i < n; i++)
		CHECK(ops[i].self_ns >= 0 && ops[i].self_ns <= ops[i].total_ns);
	model_calls(model, &calls);
	model_steps(model, &stats, &steps);
	model_memory(model, &memory);
	model_compiles(model, &compiles);
	model_messages(model, &messages);
	model_losses(model, 0, INT64_MAX, &losses);
	free(processes), free(devices);
	free(queues), free(copies);
	free(ops);
	free(calls);
	free(steps);
	free(memory);
	free(compiles);
	ask_graphs(model);
	n = model_input_stages(model, &stages);
	for (size_t i = 0; i < n; i++)
		CHECK(stages[i].held_ns >= 0 && stages[i].path);
	free(stages);
	free(messages);
	free(losses);
}

static void ask_everything(struct model *model)
{
	struct model_status status;
	struct model_row *rows;
	size_t n;

	model_lock(model);
	model_status(model, &status);
	n = model_rows(model, &rows);
	for (size_t i = 0; i < n && i < 60; i++) {
		CHECK(rows[i].label && *rows[i].label);
		ask_spans(model, &rows[i], BASE, BASE + 1000000);
		ask_spans(model, &rows[i], 0, INT64_MAX / 4);
	}
	free(rows);
	ask_tables(model);
	model_unlock(model);
}

TEST(model_empty_answers)
{
	struct model *model = model_new(NULL);
	struct model_status status = status_of(model);
	struct column column;
	struct span_ref ref = { 1, 0, 1 };
	struct span span;

	CHECK(status.first_ns > status.last_ns);
	ask_everything(model);
	model_columns(model, 7, 0, 0, 100, 1, &column);
	CHECK_INT(column.count, 0);
	CHECK(!model_span(model, ref, &span) && !model_span_peer(model, ref, &ref));
	model_apply(model, NULL, 0);
	model_finish(model, true);
	ask_everything(model);
	model_free(model);
	model_free(NULL);
}

/* ---- random events ---- */

static int64_t odd_time(void)
{
	switch (test_below(12)) {
	case 0:
		return 0;
	case 1:
		return -1;
	case 2:
		return INT64_MIN;
	case 3:
		return INT64_MAX;
	case 4:
		return (int64_t)test_random();
	default:
		return BASE + (int64_t)test_below(2000000);
	}
}

static uint32_t odd_id(void)
{
	return test_below(20) ? (uint32_t)test_below(6) : (uint32_t)test_random();
}

static const char *odd_text(void)
{
	static const char *const texts[] = {
		"", "step 3", "a\xff\x01", "_Z4gemmIfEvPT_i", "void a<b>(c)", NULL, "conv", "step",
	};

	return texts[test_below(8)];
}

static void odd_command(struct event_command *c)
{
	c->queue = odd_id();
	c->name = odd_id();
	c->op_name = odd_id();
	c->op = odd_id();
	c->correlation = odd_id();
	c->call_ns = odd_time();
	c->queued_ticks = (uint64_t)odd_time();
	c->start_ticks = (uint64_t)odd_time();
	c->end_ticks = test_below(3) ? c->start_ticks + test_below(5000) : (uint64_t)odd_time();
	c->status = test_below(5) ? 0 : (int32_t)test_random();
	if (test_below(4)) {
		c->kind = (uint8_t)test_below(COMMAND_KIND_COUNT);
		c->direction = (uint8_t)test_below(DIR_COUNT);
		c->how = (uint8_t)test_below(HOW_COUNT);
		c->flags = (uint8_t)(test_below(3) ? 0 : test_below(32));
	}
}

static void odd_op(struct event_op *op)
{
	op->instance = odd_id();
	op->parent = odd_id();
	op->name = odd_id();
	op->op_type = odd_id();
	op->tid = odd_id();
	op->start_ns = odd_time();
	op->dur_ns = test_below(4) ? (int64_t)test_below(10000) : test_below(2) ? -1 : odd_time();
	if (test_below(3)) {
		op->depth = (uint16_t)test_below(4);
		op->flags = (uint8_t)test_below(32);
	}
}

static void odd_definition(struct event *event)
{
	switch ((enum event_type)event->type) {
	case EVENT_PROCESS:
		event->u.process.host = odd_text();
		event->u.process.command = odd_text();
		break;
	case EVENT_PROBE:
		event->u.probe = (struct event_probe) { odd_text(), odd_text(), odd_text() };
		break;
	case EVENT_NAME:
		event->u.name.id = odd_id();
		event->u.name.text = odd_text();
		break;
	case EVENT_THREAD:
		event->u.thread = (struct event_thread) { odd_id(), odd_text() };
		break;
	case EVENT_DEVICE:
		event->u.device = (struct event_device) {
			.id = odd_id(), .index = odd_id(), .gpu = (uint8_t)test_random(),
			.api = odd_text(), .name = odd_text(), .address = odd_text(),
		};
		break;
	case EVENT_QUEUE:
		event->u.queue = (struct event_queue) { odd_id(), odd_id(), 0, 0, 0, odd_text() };
		break;
	case EVENT_MESSAGE:
		event->u.message.text = odd_text();
		break;
	case EVENT_NODE:
		event->u.node.id = odd_id();
		event->u.node.graph = (uint32_t)test_below(3);
		event->u.node.name = odd_id();
		event->u.node.inputs = odd_text();
		event->u.node.attributes = odd_text();
		break;
	case EVENT_STAGE:
		event->u.stage.id = odd_id();
		event->u.stage.parent = (uint32_t)test_below(3);
		event->u.stage.path = odd_text();
		event->u.stage.what = odd_text();
		break;
	case EVENT_COUNTER:
		event->u.counter.series = odd_id();
		break;
	case EVENT_SERIES:
		event->u.series.id = odd_id();
		event->u.series.name = odd_text();
		event->u.series.unit = odd_text();
		break;
	case EVENT_INFO:
		event->u.info = (struct event_info) { odd_text(), odd_text(), odd_text() };
		break;
	default:
		break;
	}
}

static void odd_stages(struct event_stages *did)
{
	did->stage = odd_id();
	did->total_ns = odd_time();
	did->self_ns = test_below(2) ? 0 : odd_time();
	did->busy_ns = test_below(2) ? 0 : odd_time();
	did->wait_ns = test_below(2) ? 0 : odd_time();
	did->max_ns = test_below(2) ? 0 : odd_time();
	did->begin_ns = did->end_ns = odd_time();
}

static struct event odd_event(void)
{
	struct event event;
	unsigned char *bytes = (unsigned char *)&event;

	for (size_t i = 0; i < sizeof(event); i++)
		bytes[i] = (unsigned char)test_random();
	event.type = (uint8_t)test_below(EVENT_TYPE_COUNT + 1);
	event.pid = odd_id();
	event.host = (uint16_t)test_below(2);
	event.time_ns = odd_time();
	odd_definition(&event);
	switch ((enum event_type)event.type) {
	case EVENT_OP:
		odd_op(&event.u.op);
		break;
	case EVENT_STEP:
		event.u.step.start_ns = odd_time();
		event.u.step.dur_ns = odd_time();
		break;
	case EVENT_COMMAND:
		odd_command(&event.u.command);
		break;
	case EVENT_ALLOC:
		event.u.alloc.allocator = odd_id();
		event.u.alloc.address = test_below(9);
		event.u.alloc.bytes = test_below(2) ? 100 : test_random();
		break;
	case EVENT_FREE:
		event.u.free = (struct event_free) { odd_id(), test_below(9), odd_time() };
		break;
	case EVENT_COMPILE:
		event.u.compile.start_ns = odd_time();
		event.u.compile.dur_ns = odd_time();
		event.u.compile.what = odd_text();
		event.u.compile.options = odd_text();
		event.u.compile.log = odd_text();
		break;
	case EVENT_STAGES:
		odd_stages(&event.u.stages);
		break;
	case EVENT_CLOCK:
		event.u.clock.device = odd_id();
		event.u.clock.host_ns = odd_time();
		event.u.clock.ticks = (uint64_t)odd_time();
		event.u.clock.quality = (uint8_t)test_below(4);
		break;
	case EVENT_LOST:
		event.u.lost = (struct event_lost) { odd_time(), odd_time(), test_below(9), 0, 0 };
		break;
	default:
		break;
	}
	return event;
}

TEST(model_random_events_do_no_harm)
{
	for (int round = 0; round < 12; round++) {
		struct model_options options = { .memory_limit = round % 2 ? 300000 : 0 };
		struct model *model = model_new(&options);
		static struct event batch[64];

		model_is_tight = options.memory_limit > 0;
		for (int i = 0; i < 200; i++) {
			for (int k = 0; k < 64; k++)
				batch[k] = odd_event();
			model_apply(model, batch, 64);
			if (i % 50 == 49)
				ask_everything(model);
		}
		model_finish(model, round % 3 == 0);
		ask_everything(model);
		CHECK(status_of(model).bad > 0);
		model_free(model);
	}
}

/* Plausible ones in any order, twice, with pieces missing. */
static struct event *kept;
static size_t n_kept, cap_kept;

static void keep(void *arg, const struct event *events, size_t count)
{
	(void)arg;
	for (size_t i = 0; i < count; i++) {
		if (n_kept == cap_kept) {
			cap_kept = cap_kept ? cap_kept * 2 : 1024;
			kept = realloc(kept, cap_kept * sizeof(*kept));
		}
		kept[n_kept] = events[i];
		if (events[i].type == EVENT_NAME)
			kept[n_kept].u.name.text = strdup(events[i].u.name.text);
		n_kept++;
	}
}

static void free_kept(void)
{
	for (size_t i = 0; i < n_kept; i++)
		if (kept[i].type == EVENT_NAME)
			free((char *)kept[i].u.name.text);
	free(kept);
}

TEST(model_shuffled_program)
{
	struct model_synth_profile profile = model_synth_default;
	struct model_synth *synth;
	struct model *straight = model_new(NULL), *shuffled = model_new(NULL);
	struct op_row *a, *b;
	struct device_row *c, *d;
	size_t n;

	profile.opens = true;
	profile.fail_permille = 10;
	synth = model_synth_new(test_random(), &profile, BASE);
	model_synth_advance(synth, BASE + 300000000, keep, NULL);
	model_synth_end(synth, keep, NULL);
	model_apply(straight, kept, n_kept);
	for (size_t i = n_kept - 1; i > 0; i--) {
		size_t k = test_below(i + 1);
		struct event swap = kept[i];

		kept[i] = kept[k];
		kept[k] = swap;
	}
	model_apply(shuffled, kept, n_kept);
	model_finish(straight, false);
	model_finish(shuffled, false);
	ask_everything(shuffled);
	CHECK_INT(status_of(shuffled).kernels, model_synth_truth(synth)->kernels);
	CHECK_INT(status_of(shuffled).last_ns, status_of(straight).last_ns);
	n = model_ops(straight, &a);
	CHECK_INT(model_ops(shuffled, &b), n);
	for (size_t i = 0; i < n; i++) {
		struct op_row *same = op_named(b, n, a[i].name);

		CHECK(same && same->count == a[i].count && same->self_ns == a[i].self_ns &&
		      same->device_ns == a[i].device_ns && same->kernels == a[i].kernels &&
		      same->copy_bytes == a[i].copy_bytes && same->is_range == a[i].is_range);
	}
	CHECK_INT(model_devices(straight, &c), 1);
	CHECK_INT(model_devices(shuffled, &d), 1);
	CHECK_INT(d[0].busy_ns, c[0].busy_ns);
	CHECK_INT(d[0].overlap_ns, c[0].overlap_ns);
	/* All of it once more: nothing may break. */
	model_apply(shuffled, kept, n_kept);
	ask_everything(shuffled);
	free(a);
	free(b);
	free(c);
	free(d);
	model_free(straight);
	model_free(shuffled);
	model_synth_free(synth);
	free_kept();
}

/* ---- a whole program ---- */

static void compare_truth(struct model *model, const struct model_synth_truth *truth,
			  unsigned processes)
{
	struct model_status status = status_of(model);
	struct kernel_row *kernels;
	struct copy_row *copies;
	struct op_row *ops;
	uint64_t failed = 0, n_ops = 0, direct = 0, bytes = 0, n_copies = 0;
	int64_t total = 0, device = 0, copy_ns = 0;
	size_t n = model_kernels(model, &kernels);

	for (size_t i = 0; i < n; i++) {
		uint64_t by_queue = 0, by_op = 0;

		for (size_t k = 0; k < kernels[i].n_queues; k++)
			by_queue += kernels[i].queues[k].count;
		for (size_t k = 0; k < kernels[i].n_ops; k++)
			by_op += kernels[i].ops[k].count;
		CHECK(by_queue == kernels[i].count && by_op == kernels[i].count);
		failed += kernels[i].failed;
		total += kernels[i].total_ns;
	}
	model_kernels_free(kernels, n);
	n = model_ops(model, &ops);
	for (size_t i = 0; i < n; i++) {
		n_ops += ops[i].count;
		direct += ops[i].kernels + ops[i].copies;
		device += ops[i].device_ns;
	}
	free(ops);
	n = model_copies(model, &copies);
	for (size_t i = 0; i < n; i++) {
		n_copies += copies[i].count;
		bytes += copies[i].bytes;
		copy_ns += copies[i].total_ns;
	}
	free(copies);
	CHECK_INT(status.kernels, truth->kernels);
	/* Steps are those of one process. */
	CHECK(processes == 1 ? status.steps == truth->steps : status.steps > truth->steps / 4);
	CHECK_INT(status.lost_events, truth->losses);
	CHECK_INT(status.how[HOW_EVENT], truth->kernels + truth->copies);
	CHECK_INT(status.bad, 0);
	CHECK_INT(failed, truth->failed);
	CHECK_INT(total, truth->kernel_ns);
	CHECK_INT(n_ops, truth->ops);
	CHECK_INT(direct, truth->kernels + truth->copies);
	CHECK_INT(device, truth->kernel_ns + truth->copy_ns);
	CHECK_INT(n_copies, truth->copies);
	CHECK_INT(bytes, truth->bytes);
	CHECK_INT(copy_ns, truth->copy_ns);
}

static void whole_program(const struct model_synth_profile *profile, size_t memory_limit)
{
	struct model_options options = { .memory_limit = memory_limit };
	struct model *model = model_new(&options);
	struct model_synth *synth = model_synth_new(test_random(), profile, BASE);

	model_is_tight = memory_limit > 0;

	for (int i = 1; i <= 30; i++) {
		model_synth_advance(synth, BASE + i * INT64_C(20000000), feed_model, model);
		if (i % 10 == 0)
			ask_everything(model);
	}
	model_synth_end(synth, feed_model, model);
	model_finish(model, false);
	compare_truth(model, model_synth_truth(synth), profile->processes);
	ask_everything(model);
	if (memory_limit)
		CHECK(status_of(model).memory_bytes <= memory_limit);
	model_free(model);
	model_synth_free(synth);
}

TEST(model_whole_program)
{
	whole_program(&model_synth_default, 0);
}

TEST(model_whole_program_late_lost_failed_open)
{
	struct model_synth_profile profile = model_synth_default;

	profile.processes = 3;
	profile.devices = 2;
	profile.queues = 4;
	profile.late_permille = 100;
	profile.lose_every = 5;
	profile.fail_permille = 20;
	profile.opens = true;
	profile.layers = 4;
	profile.kernel_ns = 100000;
	whole_program(&profile, 0);
}

/* Totals do not depend on what detail is still there. */
TEST(model_memory_limit_folds_detail_not_totals)
{
	struct model_synth_profile profile = model_synth_default;

	profile.kernel_ns = 2000;
	profile.late_permille = 5;
	whole_program(&profile, 12 << 20);
}

/* ---- two threads ---- */

struct feeding {
	struct model *model;
	atomic_bool done;
	atomic_int questions;
	uint64_t kernels;
};

static void *feed_all(void *arg)
{
	struct feeding *feeding = arg;
	struct model_synth_profile profile = model_synth_default;
	struct model_synth *synth;
	int asked = 0;

	profile.kernel_ns = 5000;
	synth = model_synth_new(1, &profile, BASE);
	/* Without a pause, until the other thread got its turn often enough; what
	 * it asked before there was anything does not count. */
	for (int i = 1; i <= 5 || atomic_load(&feeding->questions) < asked + 20; i++) {
		model_synth_advance(synth, BASE + i * 10000000LL, feed_model, feeding->model);
		if (i == 1)
			asked = atomic_load(&feeding->questions);
	}
	model_synth_end(synth, feed_model, feeding->model);
	feeding->kernels = model_synth_truth(synth)->kernels;
	model_synth_free(synth);
	atomic_store(&feeding->done, true);
	return NULL;
}

TEST(model_asked_while_fed)
{
	struct feeding feeding = { .model = model_new(NULL) };
	uint64_t generation = 0, changes = 0;
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, feed_all, &feeding), 0);
	while (!atomic_load(&feeding.done)) {
		if (model_generation(feeding.model) != generation) {
			generation = model_generation(feeding.model);
			changes++;
		}
		ask_everything(feeding.model);
		atomic_fetch_add(&feeding.questions, 1);
	}
	pthread_join(thread, NULL);
	CHECK_INT(status_of(feeding.model).kernels, feeding.kernels);
	CHECK(changes > 0);
	model_free(feeding.model);
}
