/* SPDX-License-Identifier: MIT */
/*
 * Decodes messages of babeltrace2 into batches of model events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/schema/records.h"
#include "probes/session/decode/decode.h"
#include "probes/session/decode/decode_class.h"
#include "probes/session/decode/decode_ops.h"
#include "probes/session/decode/seqs.h"

#define AFTER_OPS 64u	/* how many events may follow before the batch is handed on */
#define FUTURE_NS 1000000000		/* how far ahead of now an event may be */
#define SAID_MAX 16			/* how many different complaints are reported */

struct decode {
	uint16_t host;
	struct decode_batch *batch;	/* owned */
	struct decode_classes classes;
	struct seqs *seqs;		/* owned; NULL: this is one stream of several */
	int64_t time_ns, alive_ns;	/* time of the last message; of the last EVENT_ALIVE */
	int64_t gap_begin_ns, gap_end_ns;	/* see decode_gap(); 0: none, no end yet */
	int64_t anew_ns;		/* time of the last message before decode_reattached() */
	bool anew, renewed;	/* renewed: beats also count events that were recorded nowhere */
	int64_t (*now_ns)(void);	/* NULL: not live */
	int64_t believed_ns;		/* for now, later times are not believed */
	int said;
	bool schema_said, future_said;
	uint32_t (*outer)(void *arg, uint32_t inner);	/* NULL: pids are left as they are */
	void *outer_arg;
	struct decode_counts counts;
};

struct decode *decode_new_stream(uint16_t host, size_t room)
{
	struct decode *decode = calloc(1, sizeof(*decode));

	if (!decode)
		return NULL;
	decode->host = host;
	decode->batch = decode_batch_new(room);
	if (decode_classes_init(&decode->classes) && decode->batch)
		return decode;
	decode_free(decode);
	return NULL;
}

struct decode *decode_new(uint16_t host)
{
	struct decode *decode = decode_new_stream(host, DECODE_BATCH_MAX);

	if (!decode)
		return NULL;
	decode->seqs = seqs_new();
	if (decode->seqs)
		return decode;
	decode_free(decode);
	return NULL;
}

void decode_set_pids(struct decode *decode, uint32_t (*outer)(void *arg, uint32_t inner), void *arg)
{
	decode->outer = outer;
	decode->outer_arg = arg;
}

void decode_free(struct decode *decode)
{
	if (!decode)
		return;
	decode_classes_release(&decode->classes);
	seqs_free(decode->seqs);
	decode_batch_free(decode->batch);
	free(decode);
}

static struct event *add(struct decode *decode, uint8_t type)
{
	struct event *event = &decode->batch->events[decode->batch->count++];

	event->type = type;
	event->host = decode->host;
	event->pid = event->tid = event->seq = 0;
	event->time_ns = decode->time_ns;
	return event;
}

/* Adds a sentence to the messages; at most SAID_MAX in all. The batch has room for one per
 * message. */
static void say(struct decode *decode, const char *text)
{
	struct event *event;

	if (decode->said >= SAID_MAX || decode->batch->count > decode->batch->room)
		return;
	decode->said++;
	event = add(decode, EVENT_MESSAGE);
	event->u.message.level = 1;
	event->u.message.text = decode_batch_keep(decode->batch, text, strlen(text));
}

/* Problems of a class are reported when it is first met. */
static struct decode_class *find_class(struct decode *decode, const bt_event_class *event_class)
{
	char problem[160], text[256];
	struct decode_class *class = decode_classes_find(&decode->classes, event_class, problem,
							 sizeof(problem));

	if (class && problem[0]) {
		snprintf(text, sizeof(text), "%s: such events are skipped", problem);
		say(decode, text);
	}
	return class;
}

/* ---- time ---- */

static int64_t to_ns(uint64_t value, uint64_t frequency)
{
	if (frequency == 1000000000 || !frequency)
		return value > INT64_MAX ? INT64_MAX : (int64_t)value;
	return (int64_t)((unsigned __int128)value * 1000000000u / frequency);
}

static int64_t snapshot_ns(const bt_clock_snapshot *snapshot)
{
	const bt_clock_class *clock = bt_clock_snapshot_borrow_clock_class_const(snapshot);

	return to_ns(bt_clock_snapshot_get_value(snapshot), bt_clock_class_get_frequency(clock));
}

/* Nothing live can have been written later than now. */
static bool is_future(struct decode *decode, int64_t ns)
{
	if (!decode->now_ns || ns <= decode->believed_ns)
		return false;
	decode->believed_ns = decode->now_ns() + FUTURE_NS;
	return ns > decode->believed_ns;
}

/* A time in the future would end a drain, settle what has not arrived, and scroll the screen. */
static void take_time(struct decode *decode, int64_t ns)
{
	if (!is_future(decode, ns)) {
		decode->time_ns = ns;
		return;
	}
	if (!decode->future_said)
		say(decode, "the trace has times in the future: it is damaged, or uses another "
		    "clock; they are replaced by the last valid time");
	decode->future_said = true;
}

/* ---- losses ---- */

static void add_loss(struct decode *decode, const struct event *at, int64_t begin_ns,
		     int64_t end_ns, uint64_t count, bool packets)
{
	struct event *event = add(decode, EVENT_LOST);

	if (is_future(decode, begin_ns) || is_future(decode, end_ns))
		begin_ns = end_ns = decode->time_ns;
	if (at) {
		event->pid = at->pid;
		event->tid = at->tid;
	}
	event->u.lost = (struct event_lost){ begin_ns, end_ns, count, packets, 0 };
}

static void discarded_events(struct decode *decode, const bt_message *message)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(
		bt_message_discarded_events_borrow_stream_const(message));
	int64_t begin_ns = decode->time_ns, end_ns = decode->time_ns;
	uint64_t count = 0, news;

	if (bt_message_discarded_events_get_count(message, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 0;
	if (bt_stream_class_discarded_events_have_default_clock_snapshots(class)) {
		begin_ns = snapshot_ns(
			bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
				message));
		end_ns = snapshot_ns(
		    bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message));
	}
	news = decode->seqs ? seqs_report(decode->seqs, count) : count;
	if (count && !news)
		return;			/* all of them have been counted by their numbers */
	add_loss(decode, NULL, begin_ns, end_ns, news, false);
}

static void discarded_packets(struct decode *decode, const bt_message *message)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(
		bt_message_discarded_packets_borrow_stream_const(message));
	int64_t begin_ns = decode->time_ns, end_ns = decode->time_ns;
	uint64_t count = 0;

	if (bt_message_discarded_packets_get_count(message, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 0;
	if (bt_stream_class_discarded_packets_have_default_clock_snapshots(class)) {
		begin_ns = snapshot_ns(
			bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
				message));
		end_ns = snapshot_ns(
		    bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(message));
	}
	add_loss(decode, NULL, begin_ns, end_ns, count, true);
}

/* ---- events ---- */

static void store_array(const bt_field *field, void *to, bool wide)
{
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t value = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(field, i));

		if (wide)
			((uint64_t *)to)[i] = value;
		else
			((uint32_t *)to)[i] = (uint32_t)value;
	}
}

static uint64_t integer(const bt_field *field, bool is_signed)
{
	return is_signed ? (uint64_t)bt_field_integer_signed_get_value(field) :
			   bt_field_integer_unsigned_get_value(field);
}

/* The value of the field, which is an integer. */
static inline void store_integer(const struct decode_field *field, uint64_t from, void *to)
{
	uint64_t value = from << field->left;

	switch (field->store) {
	case STORE_U8:
		*(uint8_t *)to = (uint8_t)(value >> field->right);
		break;
	case STORE_U16:
		*(uint16_t *)to = (uint16_t)(value >> field->right);
		break;
	case STORE_U32:
		*(uint32_t *)to = (uint32_t)(value >> field->right);
		break;
	case STORE_U64:
		*(uint64_t *)to = value >> field->right;
		break;
	case STORE_I16:
		*(int16_t *)to = (int16_t)((int64_t)value >> field->right);
		break;
	case STORE_I32:
		*(int32_t *)to = (int32_t)((int64_t)value >> field->right);
		break;
	default:
		*(int64_t *)to = (int64_t)value >> field->right;
	}
}

static void store_fields(struct decode *decode, const struct decode_class *class,
			 const bt_field *payload, struct event *event)
{
	const struct decode_field *field = class->fields, *end = field + class->count;

	while (field < end) {
		unsigned int index = field->index;
		const bt_field *from =
			bt_field_structure_borrow_member_field_by_index_const(payload, index);
		char *to = (char *)event + field->offset;
		uint64_t value;

		if (field->store == STORE_TEXT) {
			*(const char **)to = decode_batch_keep(
				decode->batch, bt_field_string_get_value(from),
				bt_field_string_get_length(from));
			field++;
		} else if (field->store > STORE_TEXT) {
			store_array(from, to, field->store == STORE_U64X3);
			field++;
		} else {
			value = integer(from, field->is_signed);
			do {
				store_integer(field, value, (char *)event + field->offset);
			} while (++field < end && field->index == index);
		}
	}
}

static uint32_t as_id(const struct decode_field *field, uint64_t from)
{
	int32_t id = (int32_t)((int64_t)(from << field->left) >> field->right);

	return id > 0 ? (uint32_t)id : 0;
}

static void store_context(const struct decode *decode, const struct decode_class *class,
			  const bt_field *context, struct event *event)
{
	const struct decode_field *pid = &class->vpid, *tid = &class->vtid;
	uint64_t value = 0;

	if (!context)
		return;
	if (pid->index != DECODE_NONE) {
		value = integer(bt_field_structure_borrow_member_field_by_index_const(
				context, pid->index), pid->is_signed);
		event->pid = as_id(pid, value);
		if (decode->outer)
			event->pid = decode->outer(decode->outer_arg, event->pid);
	}
	if (tid->index == DECODE_NONE)
		return;
	if (tid->index != pid->index)
		value = integer(bt_field_structure_borrow_member_field_by_index_const(
				context, tid->index), tid->is_signed);
	event->tid = as_id(tid, value);
}

static void check_schema(struct decode *decode, uint32_t schema, uint32_t pid)
{
	char text[160];

	if (schema == TFT_SCHEMA_VERSION || decode->schema_said)
		return;
	decode->schema_said = true;
	snprintf(text, sizeof(text), "the probes in process %u use version %u of the event format, "
		 "and this tftop version %u: some events may be misread", pid, schema,
		 TFT_SCHEMA_VERSION);
	say(decode, text);
}

/* Checks the sequence number of the batch's newest event: keeps it or not, adds losses. */
static void follow_sequence(struct decode *decode, struct event *event)
{
	enum seqs_state state = SEQS_NEXT;
	struct event_lost loss;

	if (event->seq && decode->seqs)
		state = seqs_take(decode->seqs, event, &loss);
	if (state == SEQS_AGAIN) {
		decode->batch->count--;	/* it was read before decode_reattached() */
		return;
	}
	decode->counts.events++;
	if (decode->seqs)
		seqs_came(decode->seqs, event);
	/* definitions that are repeated come before any new event */
	if (decode->gap_begin_ns && !decode->gap_end_ns && event->type >= EVENT_OP &&
	    event->time_ns > decode->gap_begin_ns) {
		decode->gap_end_ns = event->time_ns;
		add_loss(decode, NULL, decode->gap_begin_ns, event->time_ns, 0, false);
	}
	if (state == SEQS_GAP)
		add_loss(decode, event, loss.begin_ns, loss.end_ns, loss.count, false);
}

/* false: the batch has no room for that many more. */
static bool make_words_room(struct decode *decode, size_t events)
{
	size_t capacity = decode->batch->count + events + AFTER_OPS;
	struct decode_batch *batch = decode->batch;

	if (capacity <= batch->capacity)
		return true;
	batch = realloc(batch, sizeof(*batch) + capacity * sizeof(batch->events[0]));
	if (!batch)
		return false;
	batch->capacity = capacity;
	decode->batch = batch;
	return true;
}

static size_t read_words(const bt_field *field, uint64_t *words)
{
	uint64_t n = bt_field_array_get_length(field);

	for (uint64_t i = 0; i < n && n <= TFT_OPS_WORDS; i++)
		words[i] = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(field, i));
	return n <= TFT_OPS_WORDS ? n : 0;
}

/* Splits an event with many ops and kernels as if each were an event of its own. */
static void take_ops(struct decode *decode, const struct decode_class *class,
		     const bt_event *from)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(from);
	struct event head = { .type = EVENT_OP, .host = decode->host, .time_ns = decode->time_ns };
	uint64_t words[TFT_OPS_WORDS];
	struct decode_ops ops;
	uint32_t count, i = 0;
	struct event *event;

	store_context(decode, class, bt_event_borrow_common_context_field_const(from), &head);
	store_fields(decode, class, payload, &head);
	count = head.u.op.name;
	decode_ops_begin(&ops, &head.u.op, words,
			 read_words(bt_field_structure_borrow_member_field_by_index_const(
					    payload, class->words),
				    words));
	if (count <= TFT_OPS_MAX && make_words_room(decode, count + 2))
		for (; i < count; i++) {
			event = &decode->batch->events[decode->batch->count];
			*event = head;
			if (!decode_ops_next(&ops, event))
				break;
			event->seq = head.seq + i;
			decode->batch->count++;
			follow_sequence(decode, event);
		}
	if (i < count || ops.at != ops.end)
		say(decode, "a record of several ops is damaged: some ops are missing");
}

/* What was not read while the reader attached again and no later number reveals. */
static uint64_t lost_by_beat(struct decode *decode, const struct event *event)
{
	if (event->type != EVENT_BEAT || !decode->anew || decode->renewed || !decode->seqs)
		return 0;
	if (!decode->anew_ns)		/* nothing had been read before */
		decode->anew_ns = event->time_ns;
	return seqs_written(decode->seqs, event->pid, event->u.beat.events);
}

static void take_event(struct decode *decode, const bt_message *message)
{
	const bt_event *from = bt_message_event_borrow_event_const(message);
	struct decode_class *class = find_class(decode, bt_event_borrow_class_const(from));
	struct event *event;
	uint64_t lost;

	if (class && class->frequency)
		take_time(decode, to_ns(bt_clock_snapshot_get_value(
			bt_message_event_borrow_default_clock_snapshot_const(message)),
			class->frequency));
	if (!class || class->type == EVENT_NONE) {
		decode->counts.skipped++;
		if (class)
			class->skipped++;
		return;
	}
	if (class->words != DECODE_NONE) {
		take_ops(decode, class, from);
		return;
	}
	event = add(decode, class->type);
	store_context(decode, class, bt_event_borrow_common_context_field_const(from), event);
	store_fields(decode, class, bt_event_borrow_payload_field_const(from), event);
	lost = lost_by_beat(decode, event);
	follow_sequence(decode, event);
	if (lost)
		add_loss(decode, NULL, decode->anew_ns, decode->anew_ns, lost, false);
	if (event->type == EVENT_PROCESS)
		check_schema(decode, event->u.process.schema, event->pid);
}

/* An idle program's packets have no events, but advance the time. */
static void packet_end(struct decode *decode, const bt_message *message)
{
	const bt_stream *stream = bt_packet_borrow_stream_const(
		bt_message_packet_end_borrow_packet_const(message));

	if (bt_stream_class_packets_have_end_default_clock_snapshot(
	    bt_stream_borrow_class_const(stream)))
		take_time(decode, snapshot_ns(
		    bt_message_packet_end_borrow_default_clock_snapshot_const(message)));
}

bool decode_message(struct decode *decode, const bt_message *message)
{
	decode->counts.messages++;
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		take_event(decode, message);
		break;
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		take_time(decode, snapshot_ns(
		    bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(message)));
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		discarded_events(decode, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		discarded_packets(decode, message);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		decode->counts.packets_begun++;
		break;
	case BT_MESSAGE_TYPE_PACKET_END:
		packet_end(decode, message);
		break;
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		decode->counts.streams_begun++;
		break;
	case BT_MESSAGE_TYPE_STREAM_END:
		decode->counts.streams_ended++;
		break;
	default:
		break;
	}
	/* A message adds at most six events: its own, three losses, two sentences. The batch has
	 * grown if it adds more. */
	return decode->batch->count + 6 <= decode->batch->room;
}

void decode_reattached(struct decode *decode)
{
	decode->counts.streams_ended = decode->counts.streams_begun;
	if (decode->counts.events)
		add_loss(decode, NULL, decode->time_ns, decode->time_ns, 0, false);
	decode->anew_ns = decode->time_ns;
	decode->anew = true;
}

void decode_renewed(struct decode *decode, int64_t begun_ns)
{
	decode->counts.streams_ended = decode->counts.streams_begun;
	if (decode->gap_end_ns || !decode->gap_begin_ns)
		decode->gap_begin_ns = decode->time_ns ? decode->time_ns : begun_ns;
	decode->gap_end_ns = 0;
	decode->renewed = true;
}

bool decode_gap(const struct decode *decode, int64_t *begin_ns, int64_t *end_ns)
{
	*begin_ns = decode->gap_begin_ns;
	*end_ns = decode->gap_end_ns;
	return decode->gap_end_ns != 0;
}

const struct event *decode_batch(struct decode *decode, size_t *count)
{
	if (decode->time_ns > decode->alive_ns) {
		decode->alive_ns = decode->time_ns;
		add(decode, EVENT_ALIVE);
	}
	*count = decode->batch->count;
	return decode->batch->events;
}

void decode_reset(struct decode *decode)
{
	decode_batch_reset(decode->batch);
}

void decode_lost(struct decode *decode, int64_t begin_ns, int64_t end_ns, uint64_t count,
		 bool packets)
{
	add_loss(decode, NULL, begin_ns, end_ns, count, packets);
}

size_t decode_count(const struct decode *decode)
{
	return decode->batch->count;
}

void decode_unknown(const struct decode *decode,
		    void (*fn)(void *arg, const char *name, uint64_t count), void *arg)
{
	for (size_t i = 0; i < decode->classes.slots; i++) {
		const struct decode_class *class = decode->classes.list[i];
		const char *name;

		if (!class || !class->skipped)
			continue;
		name = bt_event_class_get_name(class->event_class);
		fn(arg, name ? name : "without a name", class->skipped);
	}
}

void decode_set_live(struct decode *decode, int64_t (*now_ns)(void))
{
	decode->now_ns = now_ns;
}

struct decode_batch *decode_swap(struct decode *decode, struct decode_batch *fresh)
{
	struct decode_batch *full = decode->batch;

	decode->batch = fresh;
	return full;
}

int64_t decode_time_ns(const struct decode *decode)
{
	return decode->time_ns;
}

const struct decode_counts *decode_counts(const struct decode *decode)
{
	return &decode->counts;
}
