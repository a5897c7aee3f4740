/* SPDX-License-Identifier: MIT */
/*
 * Launches and runs that come apart, with loss everywhere: what is called exact
 * or event is right, what is lost is shown, and nothing is drawn twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/commands/join.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

enum { OFFSET = 777777, RUNNER = 99, OPS_FROM = 100 };

enum way { BY_ID, BY_OBJECT, BY_ORDER, BY_NAME, BY_REUSED_ID, WAYS };

struct traffic {
	enum way way;
	struct event *events;		/* owned; as written */
	size_t n, cap;
	int64_t *starts;		/* owned; of run i, host time */
	uint32_t *ops;			/* owned; whose it is */
	size_t n_runs;
};

struct result {
	size_t drawn, how[HOW_COUNT], wrong[HOW_COUNT];
	struct model_status status;
};

static void add(struct traffic *traffic, const struct event *event)
{
	CHECK(traffic->n < traffic->cap);
	traffic->events[traffic->n++] = *event;
}

/* ---- a program: threads that launch, one device, syncs ---- */

struct shape {
	int launches, queues, threads;
	int per_sync;			/* launches between two waits, 0: never */
	int names;			/* different kernels */
	bool graphs;
};

static struct event event_of(enum event_type type, uint32_t tid, int64_t time_ns)
{
	return (struct event) { .type = (uint8_t)type, .pid = PID, .tid = tid, .time_ns = time_ns };
}

static void add_run(struct traffic *traffic, const struct event_launch *launch, int64_t *free_ns,
		    int64_t written_ns)
{
	struct event event = event_of(EVENT_RUN, RUNNER, 0);
	int64_t start = launch->call_ns + 1500 + (int64_t)test_below(3000);
	int64_t dur = 2000 + (int64_t)test_below(30000);

	if (start <= *free_ns)
		start = *free_ns + 1 + (int64_t)test_below(500);
	start += 8 - start % 8 + launch->queue;		/* no two are the same */
	*free_ns = start + dur;
	event.time_ns = *free_ns + written_ns;
	event.u.run = (struct event_run) {
		.queue = launch->queue, .name = launch->name, .correlation = launch->correlation,
		.object = launch->object, .kind = COMMAND_KERNEL,
		.start_ticks = (uint64_t)(start + OFFSET),
		.end_ticks = (uint64_t)(start + dur + OFFSET),
	};
	traffic->starts[traffic->n_runs] = start;
	traffic->ops[traffic->n_runs++] = launch->op_name;
	add(traffic, &event);
}

static void make_ids(const struct traffic *traffic, struct event_launch *launch, uint32_t number)
{
	if (traffic->way == BY_ID)
		/* The counter wraps, and leaves out 0. */
		launch->correlation = UINT32_MAX - 20 + number + (number > 20);
	if (traffic->way == BY_REUSED_ID)
		launch->correlation = 1 + number % 20;
	if (traffic->way == BY_OBJECT)
		launch->object = (UINT64_C(1) << 40) + number % 7 + ((uint64_t)number << 44);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void number(struct traffic *traffic)
{
	uint32_t seq[RUNNER + 1] = { 0 };

	qsort(traffic->events, traffic->n, sizeof(struct event), by_time);
	for (size_t i = 0; i < traffic->n; i++)
		traffic->events[i].seq = ++seq[traffic->events[i].tid];
}

static struct traffic make(enum way way, const struct shape *shape)
{
	size_t most = (size_t)shape->launches * (shape->graphs ? 4 : 1);
	struct traffic traffic = { .way = way, .cap = most * 6 + 16 };
	int64_t now = BASE + 1000000, free_ns[9] = { 0 }, last = 0;
	uint32_t correlation = 0;

	traffic.events = calloc(traffic.cap, sizeof(struct event));
	traffic.starts = calloc(most, sizeof(int64_t));
	traffic.ops = calloc(most, sizeof(uint32_t));
	for (int i = 0; i < shape->launches; i++) {
		uint32_t queue = 1 + (uint32_t)test_below((uint64_t)shape->queues);
		uint32_t tid = 1 + (uint32_t)test_below((uint64_t)shape->threads);
		struct event event = event_of(EVENT_LAUNCH, tid, 0);
		struct event_launch *launch = &event.u.launch;
		int runs = 1;

		*launch = (struct event_launch) {
			.tid = tid, .queue = queue, .op = (uint64_t)i + 1,
			.op_name = OPS_FROM + (uint32_t)i % 50,
			.name = 1 + (uint32_t)test_below((uint64_t)shape->names),
			.call_ns = now, .call_dur_ns = 800, .kind = COMMAND_KERNEL,
		};
		make_ids(&traffic, launch, correlation++);
		if (shape->graphs && i % 5 == 0) {
			launch->kind = COMMAND_GRAPH;
			runs = 1 + (int)test_below(4);
		}
		event.time_ns = now + 900;
		add(&traffic, &event);
		/* Records come in buffers: late, up to 200 us. */
		while (runs-- > 0)
			add_run(&traffic, launch, &free_ns[queue], (int64_t)test_below(200000));
		last = free_ns[queue] > last ? free_ns[queue] : last;
		now += 1000 + (int64_t)test_below(12000);
		/* The id's last use has long been told when it comes back. */
		if (way == BY_REUSED_ID)
			now += 40000;
		if (!shape->per_sync || i % shape->per_sync != shape->per_sync - 1)
			continue;
		for (uint32_t q = 1; q <= (uint32_t)shape->queues; q++) {
			event = event_of(EVENT_WAIT, 1, 0);
			event.u.wait.queue = q;
			event.u.wait.start_ns = now;
			now = (now > free_ns[q] ? now : free_ns[q]) + 2500;
			event.u.wait.dur_ns = now - event.u.wait.start_ns;
			event.time_ns = now + 50;
			add(&traffic, &event);
		}
	}
	number(&traffic);
	return traffic;
}

static void release(struct traffic *traffic)
{
	free(traffic->events);
	free(traffic->starts);
	free(traffic->ops);
}

/* ---- the way of the events, with loss ---- */

static struct model *prepare(enum way way)
{
	struct model *model = model_new(NULL);
	struct event clock = ev_clock(1, BASE, OFFSET), queue;
	char text[16];

	apply_one(model, ev_process(PID, "p"));
	for (uint32_t i = 1; i <= 9; i++) {
		snprintf(text, sizeof(text), "kernel%u", i);
		apply_one(model, ev_name(i, NAME_KERNEL, text));
	}
	for (uint32_t i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "op%u", i);
		apply_one(model, ev_name(OPS_FROM + i, NAME_OP, text));
	}
	apply_one(model, ev_device(1, ""));
	for (uint32_t i = 1; i <= 8; i++) {
		queue = ev_queue(i, 1);
		queue.u.queue.flags = way == BY_NAME ? 0 : QUEUE_IN_ORDER;
		apply_one(model, queue);
	}
	clock.u.clock.quality = CLOCK_KNOWN;
	apply_one(model, clock);
	return model;
}

static int64_t begin_of(const struct event *event)
{
	return event->type == EVENT_LAUNCH ? event->u.launch.call_ns :
	       event->type == EVENT_RUN ? (int64_t)event->u.run.start_ticks - OFFSET : INT64_MAX;
}

/*
 * Each thread's events in their order, but the threads among themselves up to
 * delay_ns apart, as their buffers come; losses told as the decoder tells them,
 * at the next event of the thread.
 */
static void send(struct model *model, const struct traffic *traffic, const bool *gone,
		 int64_t delay_ns)
{
	struct event *order = malloc(traffic->n * sizeof(*order)), lost;
	int64_t *least = malloc((traffic->n + 1) * sizeof(*least)), delays[RUNNER + 1], written = 0;
	uint32_t seq[RUNNER + 1] = { 0 };
	int64_t times[RUNNER + 1] = { 0 };
	size_t n = 0;

	for (int i = 0; i <= RUNNER; i++)
		delays[i] = delay_ns ? (int64_t)test_below((uint64_t)delay_ns) : 0;
	for (size_t i = 0; i < traffic->n; i++)
		if (!gone || !gone[i]) {
			order[n] = traffic->events[i];
			order[n++].time_ns += delays[traffic->events[i].tid];
		}
	qsort(order, n, sizeof(*order), by_time);
	least[n] = INT64_MAX;
	for (size_t i = n; i-- > 0; ) {
		int64_t begin = begin_of(&order[i]);

		least[i] = begin < least[i + 1] ? begin : least[i + 1];
		order[i].time_ns -= delays[order[i].tid];
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t tid = order[i].tid;

		if (order[i].seq != seq[tid] + 1) {
			lost = event_of(EVENT_LOST, tid, 0);
			lost.u.lost = (struct event_lost) {
				.begin_ns = seq[tid] ? times[tid] : order[i].time_ns,
				.end_ns = order[i].time_ns, .count = order[i].seq - seq[tid] - 1,
			};
			apply_one(model, lost);
		}
		seq[tid] = order[i].seq;
		times[tid] = order[i].time_ns;
		apply_one(model, order[i]);
		written = order[i].time_ns > written ? order[i].time_ns : written;
		if (i % 16 == 15 && least[i + 1] < INT64_MAX) {
			struct event settled = event_of(EVENT_SETTLED, 1, written);

			settled.u.settled.settled_ns = least[i + 1];
			apply_one(model, settled);
			apply_one(model, ev_alive(written));
		}
	}
	model_finish(model, false);
	free(least);
	free(order);
}

/* ---- what became of it ---- */

static size_t run_at(const struct traffic *traffic, const int64_t *sorted, const uint32_t *by,
		     int64_t start_ns)
{
	size_t low = 0, high = traffic->n_runs;

	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (sorted[middle] <= start_ns)
			low = middle;
		else
			high = middle;
	}
	CHECK_INT(sorted[low], start_ns);
	return by[low];
}

static const struct traffic *sorting;

static int by_start(const void *a, const void *b)
{
	int64_t x = sorting->starts[*(const uint32_t *)a];
	int64_t y = sorting->starts[*(const uint32_t *)b];
	return x < y ? -1 : x > y;
}

static void check_row(struct model *model, uint32_t row, const struct traffic *traffic,
		      const int64_t *sorted, const uint32_t *by, struct result *result)
{
	struct span_ref ref;
	struct span span;
	int64_t from = 0;
	char want[16];

	while (model_span_next(model, row, LANE_ALL, from, &ref)) {
		size_t run;

		CHECK(model_span(model, ref, &span));
		from = span.start_ns;
		if (span.open)
			continue;	/* launched, and nobody knows more */
		run = run_at(traffic, sorted, by, span.start_ns);
		snprintf(want, sizeof(want), "op%u", traffic->ops[run] - OPS_FROM);
		result->drawn++;
		result->how[span.how]++;
		if (span.how == HOW_NONE)
			CHECK(!span.op);
		else
			result->wrong[span.how] += !span.op || strcmp(span.op, want) != 0;
	}
}

static struct result play(const struct traffic *traffic, const bool *gone, int64_t delay_ns)
{
	struct model *model = prepare(traffic->way);
	struct result result = { .drawn = 0 };
	uint32_t *by = malloc(traffic->n_runs * sizeof(*by));
	int64_t *sorted = malloc(traffic->n_runs * sizeof(*sorted));
	size_t there = 0, lost = 0;

	send(model, traffic, gone, delay_ns);
	for (size_t i = 0; i < traffic->n_runs; i++)
		by[i] = (uint32_t)i;
	sorting = traffic;
	qsort(by, traffic->n_runs, sizeof(*by), by_start);
	for (size_t i = 0; i < traffic->n_runs; i++)
		sorted[i] = traffic->starts[by[i]];
	for (int q = 0; q < 8; q++) {
		uint32_t row = row_of(model, ROW_QUEUE, q).id;

		if (row)
			check_row(model, row, traffic, sorted, by, &result);
	}
	for (size_t i = 0; i < traffic->n; i++) {
		lost += gone && gone[i];
		there += traffic->events[i].type == EVENT_RUN && !(gone && gone[i]);
	}
	result.status = status_of(model);
	CHECK_INT(result.drawn, there);
	CHECK_INT(result.status.bad, 0);
	CHECK(result.status.lost_events <= lost);
	for (int how = 0; how < HOW_COUNT; how++)
		CHECK_INT(result.status.how[how], result.how[how]);
	CHECK_INT(result.wrong[HOW_EXACT], 0);
	CHECK_INT(result.wrong[HOW_EVENT], 0);
	free(sorted);
	free(by);
	model_free(model);
	return result;
}

static const enum how best[WAYS] = { HOW_EXACT, HOW_EVENT, HOW_FIFO, HOW_GUESS, HOW_EXACT };

TEST(model_join_nothing_lost)
{
	for (int round = 0; round < 100; round++) {
		enum way way = (enum way)(round % WAYS);
		struct shape shape = {
			.launches = 1 + (int)test_below(300), .queues = 1 + (int)test_below(3),
			.threads = 1 + (int)test_below(3), .per_sync = (int)test_below(20),
			.names = 1 + (int)test_below(3), .graphs = way == BY_ID && test_below(2),
		};
		struct traffic traffic = make(way, &shape);
		struct result result = play(&traffic, NULL, round % 2 ? 0 : 300000);

		CHECK_INT(result.status.unmet, 0);
		CHECK_INT(result.how[best[way]], result.drawn);
		CHECK_INT(result.wrong[HOW_FIFO], 0);
		CHECK_INT(result.status.launched_ns, result.status.device_ns);
		release(&traffic);
	}
}

/* ---- loss ---- */

struct sum { size_t drawn, how[HOW_COUNT], wrong[HOW_COUNT], plays; };

static void sum_up(struct sum *sum, const struct result *result)
{
	sum->plays++;
	sum->drawn += result->drawn;
	for (int how = 0; how < HOW_COUNT; how++) {
		sum->how[how] += result->how[how];
		sum->wrong[how] += result->wrong[how];
	}
}

static void tell(const char *what, enum way way, const struct sum *sum)
{
	static const char *const ways[] = { "id", "object", "order", "name", "reused id" };

	printf("# %s, by %s: %zu plays, %zu runs: none %zu, exact %zu, event %zu, fifo %zu "
	       "(wrong %zu), guess %zu (wrong %zu)\n", what, ways[way], sum->plays, sum->drawn,
	       sum->how[HOW_NONE], sum->how[HOW_EXACT], sum->how[HOW_EVENT], sum->how[HOW_FIFO],
	       sum->wrong[HOW_FIFO], sum->how[HOW_GUESS], sum->wrong[HOW_GUESS]);
}

/* Each event of a small stream in turn. */
TEST(model_join_any_one_lost)
{
	for (enum way way = 0; way < WAYS; way++) {
		struct sum sum = { .plays = 0 };

		for (int round = 0; round < 6; round++) {
			struct shape shape = {
				.launches = 20, .queues = 1 + round % 2,
				.threads = 1 + round / 2 % 2, .per_sync = round < 4 ? 5 : 0,
				.names = 1 + round % 3, .graphs = way == BY_ID && round % 2,
			};
			struct traffic traffic = make(way, &shape);
			bool *gone = calloc(traffic.n, sizeof(*gone));

			for (size_t i = 0; i < traffic.n; i++) {
				struct result result;

				gone[i] = true;
				result = play(&traffic, gone, round % 3 ? 0 : 300000);
				gone[i] = false;
				sum_up(&sum, &result);
			}
			free(gone);
			release(&traffic);
		}
		tell("one lost", way, &sum);
	}
}

/* All pairs of events of a tiny one. */
TEST(model_join_any_two_lost)
{
	for (enum way way = 0; way < WAYS; way++) {
		struct shape shape = { 9, .queues = 1, .threads = 2, .per_sync = 3, .names = 2 };
		struct traffic traffic = make(way, &shape);
		bool *gone = calloc(traffic.n, sizeof(*gone));
		struct sum sum = { .plays = 0 };

		for (size_t i = 0; i < traffic.n; i++)
			for (size_t k = 0; k < i; k++) {
				struct result result;

				gone[i] = gone[k] = true;
				result = play(&traffic, gone, 0);
				gone[i] = gone[k] = false;
				sum_up(&sum, &result);
			}
		tell("two lost", way, &sum);
		free(gone);
		release(&traffic);
	}
}

/* A share of all events is lost, at random. */
TEST(model_join_random_loss)
{
	static const int losses[] = { 1, 10, 100 };	/* per thousand */

	for (enum way way = 0; way < WAYS; way++)
		for (int l = 0; l < 3; l++) {
			struct shape shape = {
				.launches = 4000, .queues = 2, .threads = 2, .per_sync = 25,
				.names = 4, .graphs = way == BY_ID,
			};
			struct traffic traffic = make(way, &shape);
			bool *gone = calloc(traffic.n, sizeof(*gone));
			struct sum sum = { .plays = 0 };
			struct result result;
			char what[32];
			size_t lost = 0;

			for (size_t i = 0; i < traffic.n; i++)
				lost += gone[i] = test_below(1000) < (uint64_t)losses[l];
			result = play(&traffic, gone, 100000);
			sum_up(&sum, &result);
			CHECK(!lost || result.status.lost_events > 0);
			CHECK(result.status.launched_ns <= result.status.device_ns);
			CHECK((result.how[HOW_NONE] > 0) ==
			      (result.status.launched_ns < result.status.device_ns));
			snprintf(what, sizeof(what), "%d of 1000 lost", losses[l]);
			tell(what, way, &sum);
			free(gone);
			release(&traffic);
		}
}

/* Ids come back, a run is lost, the next one's comes before its launch: a guess for
 * the old one, and none is sure of the new one: its launch's loss may be untold. */
TEST(model_join_a_guess_leaves_doubt)
{
	struct model *model = prepare(BY_ID);
	struct event launch = event_of(EVENT_LAUNCH, 1, 0), run = event_of(EVENT_RUN, RUNNER, 0);
	struct event lost = event_of(EVENT_LOST, RUNNER, 0);

	launch.u.launch = (struct event_launch) {
		.tid = 1, .queue = 1, .correlation = 5, .name = 1, .kind = COMMAND_KERNEL,
	};
	run.u.run = (struct event_run) { .correlation = 5, .kind = COMMAND_KERNEL };
	/* launch, run; launch, lost; run before launch; lost and not told, run; launch, run */
	for (const char *c = "lrlxrlrlr", *at = c; *at; at++) {
		int64_t now = BASE + (at - c + 1) * 1000000;

		launch.time_ns = run.time_ns = now;
		launch.u.launch.call_ns = now - 500000 - (at - c == 5 ? 1000000 : 0);
		run.u.run.start_ticks = (uint64_t)(now - 400000 + OFFSET);
		run.u.run.end_ticks = run.u.run.start_ticks + 1000;
		if (*at == 'x') {
			lost.time_ns = now;
			lost.u.lost = (struct event_lost) {
				.begin_ns = now - 1000, .end_ns = now, .count = 1,
			};
		}
		apply_one(model, *at == 'l' ? launch : *at == 'r' ? run : lost);
	}
	model_finish(model, false);
	CHECK_INT(status_of(model).how[HOW_EXACT], 2);
	CHECK_INT(status_of(model).how[HOW_GUESS], 2);
	model_free(model);
}

/* A launch that does not run yet is on its way, and no longer when it has run. */
TEST(model_join_on_its_way)
{
	struct model *model = prepare(BY_ID);
	struct event launch = event_of(EVENT_LAUNCH, 1, BASE + 1000);
	struct event run = event_of(EVENT_RUN, RUNNER, BASE + 60000000);
	struct model_status status;

	launch.u.launch = (struct event_launch) {
		.tid = 1, .queue = 1, .correlation = 5, .name = 1, .kind = COMMAND_KERNEL,
		.call_ns = BASE, .op = 3, .op_name = OPS_FROM,
	};
	run.u.run = (struct event_run) {
		.correlation = 5, .start_ticks = BASE + 40000000 + OFFSET,
		.end_ticks = BASE + 50000000 + OFFSET, .kind = COMMAND_KERNEL,
	};
	apply_one(model, launch);
	apply_one(model, ev_alive(BASE + 5000000));
	CHECK_INT(status_of(model).in_flight, 0);
	apply_one(model, ev_alive(BASE + 20000000));
	apply_one(model, ev_alive(BASE + 30000000));
	CHECK_INT(status_of(model).in_flight, 1);
	apply_one(model, run);
	status = status_of(model);
	CHECK_INT(status.in_flight, 0);
	CHECK_INT(status.how[HOW_EXACT], 1);
	CHECK_INT(status.unmet, 0);
	/* Another one, whose record is lost: the next one's tells. */
	for (uint32_t id = 6; id <= 7; id++) {
		launch.u.launch.correlation = run.u.run.correlation = id;
		launch.u.launch.call_ns = BASE + id * 10000000;
		launch.time_ns = launch.u.launch.call_ns + 1000;
		apply_one(model, launch);
	}
	apply_one(model, ev_alive(BASE + 90000000));
	CHECK_INT(status_of(model).in_flight, 2);
	run.time_ns = BASE + 90000000;
	run.u.run.start_ticks += 50000000;
	run.u.run.end_ticks += 50000000;
	apply_one(model, run);
	CHECK_INT(status_of(model).in_flight, 1);
	apply_one(model, ev_alive(BASE + 91000000 + JOIN_WAIT_NS));
	status = status_of(model);
	CHECK_INT(status.in_flight, 0);
	CHECK_INT(status.unmet, 1);
	CHECK_INT(status.bad, 0);
	model_free(model);
}

/* More than there is room for: the oldest are given up, all is counted. */
TEST(model_join_is_bounded)
{
	enum { MANY = JOIN_MAX + 5000 };

	for (int what = 0; what < 4; what++) {
		struct model *model = prepare(BY_ID);
		bool launches = what % 2 == 0;
		struct model_status status;

		for (uint32_t i = 1; i <= MANY; i++) {
			enum event_type type = launches ? EVENT_LAUNCH : EVENT_RUN;
			struct event event = event_of(type, 1, BASE + i);
			uint32_t id = what < 2 ? i : 0;

			if (launches)
				event.u.launch = (struct event_launch) {
					.tid = 1, .queue = 1, .correlation = id,
					.kind = COMMAND_KERNEL, .call_ns = BASE + i,
				};
			else
				event.u.run = (struct event_run) {
					.queue = 1, .correlation = id, .kind = COMMAND_KERNEL,
					.start_ticks = BASE + i * 10ull + OFFSET,
					.end_ticks = BASE + i * 10ull + 5 + OFFSET,
				};
			apply_one(model, event);
		}
		status = status_of(model);
		CHECK((launches ? status.unmet : status.how[HOW_NONE]) >= 5000);
		model_finish(model, false);
		status = status_of(model);
		CHECK_INT(launches ? status.unmet : status.how[HOW_NONE], MANY);
		model_free(model);
	}
}
