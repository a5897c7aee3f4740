/* SPDX-License-Identifier: MIT */
/* The decoder on messages of a babeltrace source of our own: fields, classes
 * that do not fit, losses counted once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <babeltrace2/babeltrace.h>

#include "probes/session/decode/decode.h"
#include "tests/unit/test.h"

/* What a script does not say is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* ---- what the source says ---- */

enum say_kind { SAY_FREE, SAY_NAME, SAY_OTHER, SAY_UNKNOWN, SAY_MISFIT, SAY_OPS, SAY_DISCARDED,
		SAY_ALIVE };

struct say {
	enum say_kind kind;
	int64_t time_ns;
	int32_t pid, tid;
	uint32_t seq;			/* SAY_DISCARDED: how many */
	uint32_t count, words;		/* SAY_OPS: ops it claims, words it has */
};

static const struct say *script;
static size_t script_count, script_at;
static int stage;			/* of the source: begin, script, end */

static bt_trace *trace;
static bt_stream *stream;
static bt_stream_class *stream_class;
static bt_clock_class *clock_class;
static bt_event_class *classes[SAY_DISCARDED];

/* ---- the source's trace ---- */

static void add_field(bt_trace_class *tc, bt_field_class *in, const char *name, int bits)
{
	bt_field_class *field;

	if (!bits)
		field = bt_field_class_string_create(tc);
	else if (bits < 0)
		field = bt_field_class_integer_signed_create(tc);
	else
		field = bt_field_class_integer_unsigned_create(tc);
	if (bits)
		bt_field_class_integer_set_field_value_range(field, (uint64_t)abs(bits));
	CHECK(!bt_field_class_structure_append_member(in, name, field));
	bt_field_class_put_ref(field);
}

static bt_event_class *add_class(const char *name, bt_field_class *payload)
{
	bt_event_class *class = bt_event_class_create(stream_class);

	bt_event_class_set_name(class, name);
	bt_event_class_set_payload_field_class(class, payload);
	bt_field_class_put_ref(payload);
	return class;
}

/* As LTTng writes it. */
static void add_ops_class(bt_trace_class *tc)
{
	bt_field_class *payload = bt_field_class_structure_create(tc);
	bt_field_class *word = bt_field_class_integer_unsigned_create(tc);
	bt_field_class *words = bt_field_class_array_dynamic_create(tc, word, NULL);

	add_field(tc, payload, "seq", 32);
	add_field(tc, payload, "tid", 32);
	add_field(tc, payload, "count", 32);
	add_field(tc, payload, "base_ns", -64);
	add_field(tc, payload, "instance", 64);
	add_field(tc, payload, "_words_length", 32);
	CHECK(!bt_field_class_structure_append_member(payload, "words", words));
	bt_field_class_put_ref(word);
	bt_field_class_put_ref(words);
	classes[SAY_OPS] = add_class("tftop:ev_ops", payload);
}

static void add_classes(bt_trace_class *tc)
{
	bt_field_class *payload = bt_field_class_structure_create(tc);

	/* In another order than the schema's, with one more field between. */
	add_field(tc, payload, "address", 64);
	add_field(tc, payload, "more", 8);
	add_field(tc, payload, "seq", 32);
	add_field(tc, payload, "allocator", 32);
	add_field(tc, payload, "at_ns", -64);
	classes[SAY_FREE] = add_class("tftop:ev_free", payload);
	payload = bt_field_class_structure_create(tc);
	add_field(tc, payload, "id", 32);
	add_field(tc, payload, "kind", 8);
	add_field(tc, payload, "text", 0);
	classes[SAY_NAME] = add_class("tftop:def_name", payload);
	payload = bt_field_class_structure_create(tc);
	add_field(tc, payload, "seq", 32);
	classes[SAY_OTHER] = add_class("lttng_ust_statedump:start", payload);
	payload = bt_field_class_structure_create(tc);
	add_field(tc, payload, "seq", 32);
	classes[SAY_UNKNOWN] = add_class("tftop:ev_of_tomorrow", payload);
	payload = bt_field_class_structure_create(tc);
	add_field(tc, payload, "settled_ns", 64);	/* unsigned */
	classes[SAY_MISFIT] = add_class("tftop:ev_settled", payload);
	add_ops_class(tc);
}

static bt_component_class_initialize_method_status
source_init(bt_self_component_source *self, bt_self_component_source_configuration *configuration,
	    const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	bt_trace_class *tc = bt_trace_class_create(component);
	bt_field_class *context = bt_field_class_structure_create(tc);

	(void)configuration, (void)params, (void)data;
	clock_class = bt_clock_class_create(component);
	stream_class = bt_stream_class_create(tc);
	bt_stream_class_set_default_clock_class(stream_class, clock_class);
	bt_stream_class_set_supports_discarded_events(stream_class, BT_TRUE, BT_TRUE);
	add_field(tc, context, "vpid", -32);
	add_field(tc, context, "vtid", -32);
	bt_stream_class_set_event_common_context_field_class(stream_class, context);
	bt_field_class_put_ref(context);
	add_classes(tc);
	trace = bt_trace_create(tc);
	stream = bt_stream_create(stream_class, trace);
	bt_trace_class_put_ref(tc);
	bt_self_component_source_add_output_port(self, "out", NULL, NULL);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_field *member(bt_field *structure, uint64_t index)
{
	return bt_field_structure_borrow_member_field_by_index(structure, index);
}

/* Ops 10, 11, ... of 5 ns each, one every 100 ns. */
static void fill_ops(bt_field *payload, const struct say *say)
{
	bt_field *words = member(payload, 6);

	bt_field_integer_unsigned_set_value(member(payload, 0), say->seq);
	bt_field_integer_unsigned_set_value(member(payload, 1), 42);
	bt_field_integer_unsigned_set_value(member(payload, 2), say->count);
	bt_field_integer_signed_set_value(member(payload, 3), 5000);
	bt_field_integer_unsigned_set_value(member(payload, 4), 10);
	bt_field_integer_unsigned_set_value(member(payload, 5), say->words);
	CHECK(!bt_field_array_dynamic_set_length(words, say->words));
	for (uint64_t i = 0; i < say->words; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(words, i),
			i % 3 == 0 ? (uint64_t)(7 + i / 3) << 16 :
			i % 3 == 1 ? (i / 3 * 100) | UINT64_C(5) << 32 :
			(uint64_t)(i > 2) << 44);
}

static void fill(bt_event *event, const struct say *say)
{
	bt_field *context = bt_event_borrow_common_context_field(event);
	bt_field *payload = bt_event_borrow_payload_field(event);

	bt_field_integer_signed_set_value(member(context, 0), say->pid);
	bt_field_integer_signed_set_value(member(context, 1), say->tid);
	switch (say->kind) {
	case SAY_FREE:
		bt_field_integer_unsigned_set_value(member(payload, 0), UINT64_MAX - 1);
		bt_field_integer_unsigned_set_value(member(payload, 1), 9);
		bt_field_integer_unsigned_set_value(member(payload, 2), say->seq);
		bt_field_integer_unsigned_set_value(member(payload, 3), 77);
		bt_field_integer_signed_set_value(member(payload, 4), 0);
		break;
	case SAY_NAME:
		bt_field_integer_unsigned_set_value(member(payload, 0), 5);
		bt_field_integer_unsigned_set_value(member(payload, 1), NAME_KERNEL);
		bt_field_string_set_value(member(payload, 2), "a name");
		break;
	case SAY_OPS:
		fill_ops(payload, say);
		break;
	default:
		bt_field_integer_unsigned_set_value(member(payload, 0), say->seq);
		break;
	}
}

static bt_message *make(bt_self_message_iterator *self, const struct say *say)
{
	bt_message *message;

	if (say->kind == SAY_ALIVE)
		return bt_message_message_iterator_inactivity_create(self, clock_class,
								     (uint64_t)say->time_ns);
	if (say->kind == SAY_DISCARDED) {
		message = bt_message_discarded_events_create_with_default_clock_snapshots(
			self, stream, (uint64_t)say->time_ns - 10, (uint64_t)say->time_ns);
		if (say->seq)
			bt_message_discarded_events_set_count(message, say->seq);
		return message;
	}
	message = bt_message_event_create_with_default_clock_snapshot(
		self, classes[say->kind], stream, (uint64_t)say->time_ns);
	fill(bt_message_event_borrow_event(message), say);
	return message;
}

static bt_message_iterator_class_next_method_status
source_next(bt_self_message_iterator *self, bt_message_array_const messages, uint64_t capacity,
	    uint64_t *count)
{
	*count = 0;
	if (stage == 2 && script_at == script_count)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	if (!stage++) {
		messages[(*count)++] = bt_message_stream_beginning_create(self, stream);
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	}
	while (script_at < script_count && *count + 1 < capacity)
		messages[(*count)++] = make(self, &script[script_at++]);
	if (script_at < script_count)
		stage--;
	else
		messages[(*count)++] = bt_message_stream_end_create(self, stream);
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

/* ---- the sink ---- */

#define KEPT_MAX 4096

static struct decode *decode;
static struct event kept[KEPT_MAX];
static char kept_text[KEPT_MAX][96];
static size_t kept_count, batches, largest;

static void keep(void)
{
	size_t count;
	const struct event *events = decode_batch(decode, &count);

	batches += count > 0;
	largest = count > largest ? count : largest;
	for (size_t i = 0; i < count && kept_count < KEPT_MAX; i++) {
		const char *text = events[i].type == EVENT_NAME ? events[i].u.name.text :
				   events[i].type == EVENT_MESSAGE ? events[i].u.message.text : "";

		kept[kept_count] = events[i];
		snprintf(kept_text[kept_count], sizeof(kept_text[0]), "%s", text);
		kept_count++;
	}
	decode_reset(decode);
}

static bt_graph_simple_sink_component_consume_func_status
consume(bt_message_iterator *iterator, void *arg)
{
	bt_message_array_const messages;
	uint64_t count;

	(void)arg;
	switch (bt_message_iterator_next(iterator, &messages, &count)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	default:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (!decode_message(decode, messages[i]))
			keep();
		bt_message_put_ref(messages[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

static void run_graph(void)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(source_next);
	bt_component_class_source *class = bt_component_class_source_create("script", iterator);
	const bt_component_source *source;
	const bt_component_sink *sink;
	bt_graph *graph = bt_graph_create(0);
	bt_graph_run_once_status status;

	bt_component_class_source_set_initialize_method(class, source_init);
	CHECK(!bt_graph_add_source_component(graph, class, "source", NULL, BT_LOGGING_LEVEL_NONE,
					     &source));
	CHECK(!bt_graph_add_simple_sink_component(graph, "sink", NULL, consume, NULL, NULL, &sink));
	CHECK(!bt_graph_connect_ports(graph,
		bt_component_source_borrow_output_port_by_index_const(source, 0),
		bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL));
	do
		status = bt_graph_run_once(graph);
	while (status == BT_GRAPH_RUN_ONCE_STATUS_OK);
	CHECK_INT(status, BT_GRAPH_RUN_ONCE_STATUS_END);
	keep();
	bt_stream_put_ref(stream);
	bt_trace_put_ref(trace);
	bt_graph_put_ref(graph);
	for (size_t i = 0; i < SAY_DISCARDED; i++)
		bt_event_class_put_ref(classes[i]);
	bt_stream_class_put_ref(stream_class);
	bt_clock_class_put_ref(clock_class);
	bt_component_class_source_put_ref(class);
	bt_message_iterator_class_put_ref(iterator);
}

static int64_t (*clock_now)(void);	/* NULL: not live */

static void play(const struct say *says, size_t count)
{
	script = says;
	script_count = count;
	decode = decode_new(3);
	CHECK(decode);
	decode_set_live(decode, clock_now);
	run_graph();
}

#define PLAY(...) do { \
	static const struct say says_[] = { __VA_ARGS__ }; \
	play(says_, sizeof(says_) / sizeof(says_[0])); \
} while (0)

/* The nth kept event of a type, from 0. */
static const struct event *nth(uint8_t type, size_t n)
{
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].type == type && !n--)
			return &kept[i];
	return NULL;
}

static uint64_t lost(void)
{
	const struct event *event;
	uint64_t total = 0;

	for (size_t n = 0; (event = nth(EVENT_LOST, n)); n++)
		total += event->u.lost.count;
	return total;
}

/* ---- cases ---- */

TEST(decode_reads_fields_by_name)
{
	const struct event *event;

	PLAY({ SAY_FREE, 1000, 41, 42, 1 }, { SAY_NAME, 2000, 41, 41, 0 });
	event = nth(EVENT_FREE, 0);
	CHECK(event);
	CHECK_INT(event->host, 3);
	CHECK_INT(event->pid, 41);
	CHECK_INT(event->tid, 42);
	CHECK_INT(event->seq, 1);
	CHECK_INT(event->time_ns, 1000);
	CHECK(event->u.free.address == UINT64_MAX - 1);
	CHECK_INT(event->u.free.allocator, 77);
	event = nth(EVENT_NAME, 0);
	CHECK(event);
	CHECK_INT(event->u.name.id, 5);
	CHECK_INT(event->u.name.kind, NAME_KERNEL);
	CHECK_STR(kept_text[event - kept], "a name");
	CHECK_INT(decode_counts(decode)->events, 2);
	CHECK_INT(decode_counts(decode)->streams_begun, 1);
	CHECK_INT(decode_counts(decode)->streams_ended, 1);
	decode_free(decode);
}

TEST(decode_skips_what_does_not_fit_and_says_so_once)
{
	PLAY({ SAY_OTHER, 1, 1, 1, 0 }, { SAY_UNKNOWN, 2, 1, 1, 0 }, { SAY_UNKNOWN, 3, 1, 1, 0 },
	     { SAY_MISFIT, 4, 1, 1, 0 }, { SAY_MISFIT, 5, 1, 1, 0 }, { SAY_FREE, 6, 1, 1, 1 });
	CHECK(nth(EVENT_MESSAGE, 1) && !nth(EVENT_MESSAGE, 2));
	CHECK(strstr(kept_text[nth(EVENT_MESSAGE, 0) - kept], "ev_of_tomorrow"));
	CHECK(strstr(kept_text[nth(EVENT_MESSAGE, 1) - kept], "'settled_ns'"));
	CHECK(!nth(EVENT_SETTLED, 0));
	CHECK_INT(decode_counts(decode)->events, 1);
	CHECK_INT(decode_counts(decode)->skipped, 5);
	decode_free(decode);
}

TEST(decode_says_how_far_it_has_read)
{
	const struct event *event;

	PLAY({ SAY_FREE, 1000, 1, 1, 1 }, { SAY_ALIVE, 5000, 0, 0, 0 });
	event = nth(EVENT_ALIVE, 0);
	CHECK(event && !nth(EVENT_ALIVE, 1));
	CHECK_INT(event->time_ns, 5000);
	CHECK_INT(decode_time_ns(decode), 5000);
	decode_free(decode);
}

static int64_t second_now(void)
{
	return 1000000000;
}

/* Live, what was written after now is of no time that could be believed. */
TEST(decode_live_believes_no_time_to_come)
{
	const struct event *event;

	clock_now = second_now;
	PLAY({ SAY_FREE, 1000, 1, 1, 1 }, { SAY_FREE, 1900000000, 1, 1, 2 },
	     { SAY_FREE, 5000000000, 1, 1, 3 }, { SAY_ALIVE, 6000000000, 0, 0, 0 });
	clock_now = NULL;
	CHECK_INT(nth(EVENT_FREE, 1)->time_ns, 1900000000);
	event = nth(EVENT_FREE, 2);
	CHECK(event);
	CHECK_INT(event->time_ns, 1900000000);
	CHECK_INT(decode_time_ns(decode), 1900000000);
	event = nth(EVENT_MESSAGE, 0);
	CHECK(event && !nth(EVENT_MESSAGE, 1));
	CHECK(strstr(kept_text[event - kept], "times in the future"));
	decode_free(decode);
}

TEST(decode_numbers_show_a_loss_and_its_place)
{
	const struct event *event;

	PLAY({ SAY_FREE, 100, 1, 1, 1 }, { SAY_FREE, 150, 1, 2, 1 }, { SAY_FREE, 900, 1, 1, 5 });
	event = nth(EVENT_LOST, 0);
	CHECK(event && !nth(EVENT_LOST, 1));
	CHECK_INT(event->u.lost.count, 3);
	CHECK_INT(event->u.lost.begin_ns, 100);
	CHECK_INT(event->u.lost.end_ns, 900);
	CHECK_INT(event->pid, 1);
	CHECK_INT(event->tid, 1);
	decode_free(decode);
}

TEST(decode_counts_a_loss_once)
{
	/* Told before it is seen, by two threads, and told with one more. */
	PLAY({ SAY_FREE, 100, 1, 1, 1 }, { SAY_FREE, 110, 1, 2, 1 },
	     { SAY_DISCARDED, 500, 0, 0, 8 },
	     { SAY_FREE, 600, 1, 1, 6 }, { SAY_FREE, 610, 1, 2, 5 });
	CHECK_INT(lost(), 8);
	decode_free(decode);
}

TEST(decode_counts_a_loss_once_when_seen_first)
{
	PLAY({ SAY_FREE, 100, 1, 1, 1 }, { SAY_FREE, 200, 1, 1, 5 },
	     { SAY_DISCARDED, 300, 0, 0, 5 });
	CHECK_INT(lost(), 5);
	decode_free(decode);
}

TEST(decode_takes_the_first_number_as_a_place)
{
	PLAY({ SAY_FREE, 100, 1, 1, 4 });
	CHECK_INT(lost(), 3);
	decode_free(decode);
}

TEST(decode_a_thread_that_starts_anew_lost_nothing)
{
	PLAY({ SAY_FREE, 100, 1, 1, 1 }, { SAY_FREE, 200, 1, 1, 2 }, { SAY_FREE, 300, 1, 1, 1 },
	     { SAY_FREE, 400, 1, 1, 2 }, { SAY_FREE, 500, 2, 1, 1 });
	CHECK_INT(lost(), 0);
	CHECK(!nth(EVENT_LOST, 0));
	decode_free(decode);
}

TEST(decode_takes_ops_apart)
{
	PLAY({ SAY_OPS, 9000, 41, 43, 1, 3, 9 }, { SAY_FREE, 9100, 41, 43, 4 });
	for (uint32_t i = 0; i < 3; i++) {
		const struct event *event = nth(EVENT_OP, i);

		CHECK(event);
		CHECK_INT(event->seq, 1 + i);
		CHECK_INT(event->pid, 41);
		CHECK_INT(event->tid, 43);
		CHECK_INT(event->time_ns, 9000);
		CHECK_INT(event->u.op.tid, 42);
		CHECK_INT(event->u.op.instance, 10 + i);
		CHECK_INT(event->u.op.name, 7 + i);
		CHECK_INT(event->u.op.start_ns, 5000 + 100 * i);
		CHECK_INT(event->u.op.dur_ns, 5);
		CHECK_INT(event->u.op.step, -1);
	}
	CHECK(!nth(EVENT_OP, 3) && !nth(EVENT_LOST, 0) && !nth(EVENT_MESSAGE, 0));
	CHECK_INT(decode_counts(decode)->events, 4);
	decode_free(decode);
}

TEST(decode_counts_each_op_of_an_event_that_is_lost)
{
	/* 20 ops in one event that the tracer discarded, told before and after. */
	PLAY({ SAY_OPS, 100, 1, 1, 1, 2, 6 }, { SAY_DISCARDED, 150, 0, 0, 1 },
	     { SAY_OPS, 200, 1, 1, 23, 2, 6 }, { SAY_OPS, 300, 1, 1, 45, 1, 3 },
	     { SAY_DISCARDED, 350, 0, 0, 1 }, { SAY_OPS, 300, 1, 1, 45, 1, 3 });
	CHECK_INT(lost(), 40);
	CHECK_INT(nth(EVENT_LOST, 1)->u.lost.count, 19);
	CHECK_INT(nth(EVENT_LOST, 1)->u.lost.begin_ns, 100);
	CHECK_INT(nth(EVENT_OP, 2)->seq, 23);
	CHECK(nth(EVENT_OP, 4) && !nth(EVENT_OP, 5));
	decode_free(decode);
}

TEST(decode_damaged_ops_are_told_and_skipped)
{
	/* Too few words, too many, no op at all, more than there may be. */
	PLAY({ SAY_OPS, 100, 1, 1, 1, 3, 8 }, { SAY_OPS, 200, 1, 1, 4, 1, 6 },
	     { SAY_OPS, 300, 1, 1, 5, 0, 3 }, { SAY_OPS, 400, 1, 1, 5, UINT32_MAX, 9 },
	     { SAY_OPS, 500, 1, 1, 5, 32, 3000 }, { SAY_OPS, 600, 1, 1, 5, 32, 96 });
	CHECK(nth(EVENT_OP, 34) && !nth(EVENT_OP, 35));
	CHECK(nth(EVENT_MESSAGE, 4) && !nth(EVENT_MESSAGE, 5));
	CHECK(strstr(kept_text[nth(EVENT_MESSAGE, 0) - kept], "damaged"));
	CHECK_INT(lost(), 1);
	decode_free(decode);
}

TEST(decode_an_unknown_count_is_told_as_such)
{
	PLAY({ SAY_FREE, 100, 1, 1, 1 }, { SAY_DISCARDED, 200, 0, 0, 0 });
	CHECK(nth(EVENT_LOST, 0));
	CHECK_INT(nth(EVENT_LOST, 0)->u.lost.count, 0);
	CHECK_INT(nth(EVENT_LOST, 0)->pid, 0);
	decode_free(decode);
}

TEST(decode_gives_nothing_out_twice)
{
	PLAY({ SAY_FREE, 100, 1, 1, 1 }, { SAY_FREE, 200, 1, 1, 2 }, { SAY_FREE, 200, 1, 2, 1 },
	     { SAY_FREE, 200, 1, 1, 2 }, { SAY_FREE, 200, 1, 2, 1 }, { SAY_FREE, 300, 1, 1, 3 },
	     { SAY_FREE, 400, 1, 1, 1 });
	CHECK_INT(decode_counts(decode)->events, 5);
	CHECK(nth(EVENT_FREE, 4) && !nth(EVENT_FREE, 5));
	CHECK(!nth(EVENT_LOST, 0));
	/* The same number later is another thread's. */
	CHECK_INT(nth(EVENT_FREE, 4)->time_ns, 400);
	decode_free(decode);
}

TEST(decode_marks_where_it_was_attached_anew)
{
	size_t count;

	PLAY({ SAY_FREE, 100, 1, 1, 1 });
	decode_reset(decode);
	decode_reattached(decode);
	CHECK_INT(decode_batch(decode, &count)[0].type, EVENT_LOST);
	CHECK_INT(decode_batch(decode, &count)[0].u.lost.begin_ns, 100);
	CHECK_INT(decode_counts(decode)->streams_ended, decode_counts(decode)->streams_begun);
	decode_free(decode);
}

/* Many ops for one message, however they come: none is left out. */
TEST(decode_batches_grow_for_ops)
{
	static struct say says[100];

	for (uint32_t i = 0; i < 100; i++)
		says[i] = (struct say){ SAY_OPS, 1000 + i, 1, 1, 1 + 32 * i, 32, 96 };
	play(says, 100);
	CHECK_INT(decode_counts(decode)->events, 3200);
	CHECK_INT(nth(EVENT_OP, 3199)->seq, 3200);
	CHECK(largest <= DECODE_BATCH_MAX + 34);
	CHECK(!nth(EVENT_LOST, 0));
	decode_free(decode);
}

TEST(decode_batches_are_bounded)
{
	static struct say says[3000];

	for (uint32_t i = 0; i < 3000; i++)
		says[i] = (struct say){ i % 3 ? SAY_FREE : SAY_NAME, 1000 + i, 1,
					1 + (int32_t)(i % 700), 1 + 2 * (i / 700) };
	play(says, 3000);
	CHECK(largest <= DECODE_BATCH_MAX + 1);
	CHECK(batches >= 3);
	CHECK_INT(decode_counts(decode)->events, 3000);
	decode_free(decode);
}
