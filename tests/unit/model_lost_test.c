/* SPDX-License-Identifier: MIT */
/*
 * A small program of which each event is lost once, then each two: definitions,
 * names, clocks, ops, whole commands. What is left is told as it was or not at
 * all, and that something is missing is said.
 */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/synth/synth.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define EVENTS_MAX 256

struct stream {
	struct event events[EVENTS_MAX];
	char *texts[EVENTS_MAX];	/* owned; of names */
	size_t n;
	const char *names[EVENTS_MAX];	/* by id, borrowed from texts */
};

static void keep(void *arg, const struct event *events, size_t count)
{
	struct stream *stream = arg;

	for (size_t i = 0; i < count; i++) {
		struct event *event = &stream->events[stream->n];

		CHECK(stream->n < EVENTS_MAX);
		*event = events[i];
		if (event->type == EVENT_NAME) {
			stream->texts[stream->n] = xstrdup(event->u.name.text);
			event->u.name.text = stream->texts[stream->n];
			CHECK(event->u.name.id < EVENTS_MAX);
			stream->names[event->u.name.id] = event->u.name.text;
		}
		stream->n++;
	}
}

static struct stream *small_program(unsigned steps, unsigned layers)
{
	struct model_synth_profile profile = {
		.processes = 1, .devices = 1, .queues = 2, .input_threads = 1, .layers = layers,
		.kernels = 1, .kernel_ns = 200000, .spans = steps * (2 * layers + 2),
		.steps = steps, .ops = steps * (2 * layers + 4), .period_ns = 1000000,
	};
	struct model_synth *synth = model_synth_new(test_below(1000000), &profile, BASE);
	struct stream *stream = xcalloc(1, sizeof(*stream));

	for (int64_t now = BASE; !model_synth_over(synth); now += 1000000)
		model_synth_advance(synth, now, keep, stream);
	model_synth_end(synth, keep, stream);
	model_synth_free(synth);
	return stream;
}

static void stream_free(struct stream *stream)
{
	for (size_t i = 0; i < stream->n; i++)
		free(stream->texts[i]);
	free(stream);
}

static bool is_gone(size_t i, const size_t gone[2])
{
	return i == gone[0] || i == gone[1];
}

/* As the reader tells it: in its place. */
static struct model *play(const struct stream *stream, const size_t gone[2])
{
	struct model *model = model_new(NULL);

	for (size_t i = 0; i < stream->n; i++) {
		struct event event = stream->events[i];

		if (is_gone(i, gone)) {
			event.type = EVENT_LOST;
			event.u.lost = (struct event_lost) {
				.begin_ns = event.time_ns, .end_ns = event.time_ns, .count = 1,
			};
		}
		apply_one(model, event);
	}
	model_finish(model, false);
	return model;
}

/* What was seen of device work; what the clock says of it needs no match. */
static int64_t length_of(const struct event_command *command)
{
	return (int64_t)(command->end_ticks - command->start_ticks);
}

static bool is_work(const struct event *event)
{
	return event->type == EVENT_COMMAND && !(event->u.command.flags & CMD_OPEN);
}

/* Was there a command of that length with that name and op? A lost name is
 * nothing that was ever called so. */
static bool happened(const struct stream *stream, const size_t gone[2], const struct span *span)
{
	for (size_t i = 0; i < stream->n; i++) {
		const struct event_command *command = &stream->events[i].u.command;
		const char *name, *op;

		if (!is_work(&stream->events[i]) || is_gone(i, gone) ||
		    length_of(command) != span->end_ns - span->start_ns)
			continue;
		name = stream->names[command->name];
		op = command->op_name ? stream->names[command->op_name] : NULL;
		if (span->how != (enum how)command->how)
			continue;
		for (size_t k = 0; k < stream->n; k++) {
			if (stream->events[k].type != EVENT_NAME || !is_gone(k, gone))
				continue;
			if (stream->events[k].u.name.id == command->name)
				name = NULL;
			if (stream->events[k].u.name.id == command->op_name)
				op = "";
		}
		if ((name && strcmp(span->raw_name, name)) ||
		    (!op != !span->op) || (op && *op && strcmp(span->op, op)))
			continue;
		return true;
	}
	return false;
}

static void check_spans(struct model *model, const struct stream *stream, const size_t gone[2])
{
	struct model_row *rows;
	size_t n = model_rows(model, &rows);

	for (size_t i = 0; i < n; i++) {
		int64_t from = INT64_MIN;
		struct span_ref ref;
		struct span span;

		if (rows[i].kind != ROW_QUEUE && rows[i].kind != ROW_COPY)
			continue;
		while (model_span_next(model, rows[i].id, LANE_ALL, from, &ref)) {
			CHECK(model_span(model, ref, &span));
			from = span.start_ns;
			CHECK(happened(stream, gone, &span));
		}
	}
	free(rows);
}

/* Sums are those of what is there, no more and no less. */
static void check_sums(struct model *model, const struct stream *stream, const size_t gone[2])
{
	struct model_status status = status_of(model);
	int64_t device_ns = 0, op_ns = 0, true_ns = 0, ops_ns = 0;
	uint64_t kernels = 0, how[HOW_COUNT] = { 0 }, lost = 0;
	struct op_row *ops;
	size_t n = model_ops(model, &ops);

	for (size_t i = 0; i < stream->n; i++) {
		const struct event_command *command = &stream->events[i].u.command;

		lost += is_gone(i, gone);
		if (is_gone(i, gone))
			continue;
		if (stream->events[i].type == EVENT_OP && stream->events[i].u.op.dur_ns >= 0)
			true_ns += stream->events[i].u.op.dur_ns;
		if (!is_work(&stream->events[i]))
			continue;
		kernels += command->kind == COMMAND_KERNEL;
		how[command->how]++;
		device_ns += length_of(command);
		op_ns += command->op ? length_of(command) : 0;
	}
	for (size_t i = 0; i < n; i++)
		ops_ns += ops[i].total_ns;
	free(ops);
	CHECK_INT(status.lost_events, lost);
	CHECK_INT(status.kernels, kernels);
	CHECK_INT(status.device_ns, device_ns);
	CHECK_INT(status.launched_ns, device_ns);
	CHECK_INT(status.op_ns, op_ns);
	CHECK_INT(ops_ns, true_ns);
	for (int i = 0; i < HOW_COUNT; i++)
		CHECK_INT(status.how[i], how[i]);
}

static bool is_used(const struct stream *stream, const size_t gone[2], uint32_t queue)
{
	for (size_t i = 0; i < stream->n; i++)
		if (stream->events[i].type == EVENT_COMMAND && !is_gone(i, gone) &&
		    stream->events[i].u.command.queue == queue)
			return true;
	return false;
}

/* A queue that is used and that nobody defined is said to be one. */
static void check_said(struct model *model, const struct stream *stream, const size_t gone[2])
{
	bool queue_gone = false, said = false;
	struct message_row *messages;
	size_t n = model_messages(model, &messages);

	for (size_t i = 0; i < stream->n; i++)
		queue_gone |= is_gone(i, gone) && stream->events[i].type == EVENT_QUEUE &&
			      is_used(stream, gone, stream->events[i].u.queue.id);
	for (size_t i = 0; i < n; i++)
		said |= strstr(messages[i].text, "a queue that was never defined") != NULL;
	free(messages);
	CHECK(said == queue_gone);
}

static void lose(const struct stream *stream, size_t a, size_t b)
{
	const size_t gone[2] = { a, b };
	struct model *model = play(stream, gone);

	check_spans(model, stream, gone);
	check_sums(model, stream, gone);
	check_said(model, stream, gone);
	model_free(model);
}

static bool can_be_lost(const struct stream *stream, size_t i)
{
	return stream->events[i].type != EVENT_ALIVE;
}

TEST(model_lost_any_one)
{
	for (int round = 0; round < 5; round++) {
		struct stream *stream = small_program(4, 3);

		lose(stream, SIZE_MAX, SIZE_MAX);
		for (size_t i = 0; i < stream->n; i++)
			if (can_be_lost(stream, i))
				lose(stream, i, SIZE_MAX);
		stream_free(stream);
	}
}

TEST(model_lost_any_two)
{
	struct stream *stream = small_program(2, 1);

	for (size_t i = 0; i < stream->n; i++)
		for (size_t k = i + 1; k < stream->n && can_be_lost(stream, i); k++)
			if (can_be_lost(stream, k))
				lose(stream, i, k);
	stream_free(stream);
}
