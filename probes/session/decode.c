/* SPDX-License-Identifier: MIT */
/*
 * Messages of babeltrace2 into batches of model events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/schema/records.h"
#include "probes/session/decode.h"
#include "probes/session/decode_class.h"

/* Longest text taken over; the schema cuts at TFT_TEXT_MAX already. */
#define TEXT_MAX 65536
#define CHUNK_BYTES 65536
#define MAP_SLOTS 256			/* event classes: 21 per trace class */
#define SAID_MAX 16			/* different complaints, then silence */

struct chunk {
	struct chunk *next;		/* owned */
	size_t used, size;
	char data[];
};

/* Last sequence number of a writing thread. */
struct thread_seq {
	uint64_t key;			/* pid << 32 | tid, 0: free */
	uint32_t seq;
	int64_t time_ns;
};

struct decode {
	uint16_t host;
	struct event batch[DECODE_BATCH_MAX + 2];	/* + a loss, + alive */
	size_t count;
	struct chunk *chunks;		/* owned; the first is the one in use */
	struct decode_class **classes;	/* owned, open addressing by address */
	size_t class_slots, class_count;
	const struct decode_class *last;	/* borrowed from classes */
	struct thread_seq *threads;	/* owned, open addressing */
	size_t thread_slots, thread_count;
	uint64_t credit;		/* reported lost, place not seen yet */
	uint64_t ahead;			/* seen lost by numbers, not reported yet */
	int64_t time_ns, alive_ns;	/* last message's; last EVENT_ALIVE's */
	int said;
	bool schema_said;
	struct decode_counts counts;
};

struct decode *decode_new(uint16_t host)
{
	struct decode *decode = calloc(1, sizeof(*decode));

	if (!decode)
		return NULL;
	decode->host = host;
	decode->class_slots = MAP_SLOTS;
	decode->thread_slots = MAP_SLOTS;
	decode->classes = calloc(decode->class_slots, sizeof(*decode->classes));
	decode->threads = calloc(decode->thread_slots, sizeof(*decode->threads));
	if (!decode->classes || !decode->threads) {
		decode_free(decode);
		return NULL;
	}
	return decode;
}

static void free_chunks(struct chunk *chunk)
{
	while (chunk) {
		struct chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
}

void decode_free(struct decode *decode)
{
	if (!decode)
		return;
	for (size_t i = 0; decode->classes && i < decode->class_slots; i++) {
		if (decode->classes[i])
			bt_event_class_put_ref(decode->classes[i]->event_class);
		free(decode->classes[i]);
	}
	free(decode->classes);
	free(decode->threads);
	free_chunks(decode->chunks);
	free(decode);
}

/* A copy that lives until decode_reset(); short of memory: "". */
static const char *keep_text(struct decode *decode, const char *text, size_t length)
{
	struct chunk *chunk = decode->chunks;
	char *copy;

	if (length > TEXT_MAX)
		length = TEXT_MAX;
	if (!length)
		return "";
	if (!chunk || chunk->size - chunk->used < length + 1) {
		size_t size = length + 1 > CHUNK_BYTES ? length + 1 : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return "";
		chunk->next = decode->chunks;
		chunk->used = 0;
		chunk->size = size;
		decode->chunks = chunk;
	}
	copy = chunk->data + chunk->used;
	memcpy(copy, text, length);
	copy[length] = '\0';
	chunk->used += length + 1;
	return copy;
}

static struct event *add(struct decode *decode, uint8_t type)
{
	struct event *event = &decode->batch[decode->count++];

	event->type = type;
	event->host = decode->host;
	event->pid = event->tid = event->seq = 0;
	event->time_ns = decode->time_ns;
	return event;
}

/* One sentence for the messages; at most SAID_MAX in all. Room is left in the
 * batch for one of them per message. */
static void say(struct decode *decode, const char *text)
{
	struct event *event;

	if (decode->said >= SAID_MAX || decode->count > DECODE_BATCH_MAX)
		return;
	decode->said++;
	event = add(decode, EVENT_MESSAGE);
	event->u.message.level = 1;
	event->u.message.text = keep_text(decode, text, strlen(text));
}

/* ---- event classes ---- */

static size_t class_slot(const struct decode *decode, const bt_event_class *event_class)
{
	size_t i = (size_t)(((uintptr_t)event_class >> 4) * 0x9e3779b97f4a7c15ull >> 32);

	for (i &= decode->class_slots - 1; decode->classes[i] &&
	     decode->classes[i]->event_class != event_class; )
		i = (i + 1) & (decode->class_slots - 1);
	return i;
}

static bool grow_classes(struct decode *decode)
{
	struct decode_class **old = decode->classes;
	size_t old_slots = decode->class_slots;
	struct decode_class **new = calloc(old_slots * 2, sizeof(*new));

	if (!new)
		return false;
	decode->classes = new;
	decode->class_slots = old_slots * 2;
	for (size_t i = 0; i < old_slots; i++)
		if (old[i])
			new[class_slot(decode, old[i]->event_class)] = old[i];
	free(old);
	return true;
}

static const struct decode_class *find_class(struct decode *decode,
					     const bt_event_class *event_class)
{
	char problem[160], text[256];
	struct decode_class *class;
	size_t slot;

	if (decode->last && decode->last->event_class == event_class)
		return decode->last;
	slot = class_slot(decode, event_class);
	if (decode->classes[slot])
		return decode->last = decode->classes[slot];
	if (decode->class_count * 2 >= decode->class_slots) {
		if (!grow_classes(decode))
			return NULL;
		slot = class_slot(decode, event_class);
	}
	class = malloc(sizeof(*class));
	if (!class)
		return NULL;
	decode_class_resolve(event_class, class, problem, sizeof(problem));
	if (problem[0]) {
		snprintf(text, sizeof(text), "%s: such events are skipped", problem);
		say(decode, text);
	}
	decode->classes[slot] = class;
	decode->class_count++;
	return decode->last = class;
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

/* ---- losses ---- */

static void add_loss(struct decode *decode, const struct event *at, int64_t begin_ns,
		     int64_t end_ns, uint64_t count, bool packets)
{
	struct event *event = add(decode, EVENT_LOST);

	if (at) {
		event->pid = at->pid;
		event->tid = at->tid;
	}
	event->u.lost = (struct event_lost){ begin_ns, end_ns, count, packets };
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static struct thread_seq *find_thread(struct decode *decode, uint64_t key)
{
	size_t mask = decode->thread_slots - 1;
	size_t i = (size_t)(key * 0x9e3779b97f4a7c15ull >> 32) & mask;

	while (decode->threads[i].key && decode->threads[i].key != key)
		i = (i + 1) & mask;
	return &decode->threads[i];
}

/* NULL: short of memory, or the event says not which. */
static struct thread_seq *get_thread(struct decode *decode, const struct event *event)
{
	uint64_t key = (uint64_t)event->pid << 32 | event->tid;
	struct thread_seq *thread;

	if (!key)
		return NULL;
	thread = find_thread(decode, key);
	if (thread->key)
		return thread;
	if (decode->thread_count * 2 >= decode->thread_slots) {
		struct thread_seq *old = decode->threads;
		size_t old_slots = decode->thread_slots;
		struct thread_seq *new = calloc(old_slots * 2, sizeof(*new));

		if (!new)
			return NULL;
		decode->threads = new;
		decode->thread_slots = old_slots * 2;
		for (size_t i = 0; i < old_slots; i++)
			if (old[i].key)
				*find_thread(decode, old[i].key) = old[i];
		free(old);
		thread = find_thread(decode, key);
	}
	thread->key = key;
	decode->thread_count++;
	return thread;
}

/*
 * A thread numbers its events from 1, and the reader is there before the
 * program is. A number that is not larger starts anew (exec, a reused id).
 */
static void check_seq(struct decode *decode, struct thread_seq *thread,
		      const struct event *event)
{
	uint32_t missing = event->seq - thread->seq - 1;

	if (missing && missing < UINT32_MAX / 2) {
		uint64_t known = smaller(missing, decode->credit);

		decode->credit -= known;
		decode->ahead += missing - known;
		add_loss(decode, event, thread->seq ? thread->time_ns : event->time_ns,
			 event->time_ns, missing - known, false);
	}
	thread->seq = event->seq;
	thread->time_ns = event->time_ns;
}

static void discarded_events(struct decode *decode, const bt_message *message)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(
		bt_message_discarded_events_borrow_stream_const(message));
	int64_t begin_ns = decode->time_ns, end_ns = decode->time_ns;
	uint64_t count = 0, known;

	if (bt_message_discarded_events_get_count(message, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 0;
	if (bt_stream_class_discarded_events_have_default_clock_snapshots(class)) {
		begin_ns = snapshot_ns(
		    bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(message));
		end_ns = snapshot_ns(
		    bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message));
	}
	known = smaller(count, decode->ahead);
	decode->ahead -= known;
	decode->credit += count - known;
	if (count && known == count)
		return;			/* all of them have been counted by their numbers */
	add_loss(decode, NULL, begin_ns, end_ns, count - known, false);
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
		    bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(message));
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

static void store_field(struct decode *decode, const bt_field *field, uint8_t store, void *to)
{
	switch (store) {
	case STORE_U8:
		*(uint8_t *)to = (uint8_t)bt_field_integer_unsigned_get_value(field);
		break;
	case STORE_U16:
		*(uint16_t *)to = (uint16_t)bt_field_integer_unsigned_get_value(field);
		break;
	case STORE_U32:
		*(uint32_t *)to = (uint32_t)bt_field_integer_unsigned_get_value(field);
		break;
	case STORE_U64:
		*(uint64_t *)to = bt_field_integer_unsigned_get_value(field);
		break;
	case STORE_I32:
		*(int32_t *)to = (int32_t)bt_field_integer_signed_get_value(field);
		break;
	case STORE_I64:
		*(int64_t *)to = bt_field_integer_signed_get_value(field);
		break;
	case STORE_TEXT:
		*(const char **)to = keep_text(decode, bt_field_string_get_value(field),
					       bt_field_string_get_length(field));
		break;
	case STORE_U64X3:
	case STORE_U32X3:
		store_array(field, to, store == STORE_U64X3);
		break;
	}
}

static uint32_t context_id(const bt_field *context, int index)
{
	int64_t value;

	if (!context || index < 0)
		return 0;
	value = bt_field_integer_signed_get_value(
		bt_field_structure_borrow_member_field_by_index_const(context, (uint64_t)index));
	return value > 0 && value <= INT32_MAX ? (uint32_t)value : 0;
}

static void check_schema(struct decode *decode, uint32_t schema, uint32_t pid)
{
	char text[160];

	if (schema == TFT_SCHEMA_VERSION || decode->schema_said)
		return;
	decode->schema_said = true;
	snprintf(text, sizeof(text), "the probes in process %u speak version %u of the schema, "
		 "this tftop version %u: some of it may be misread", pid, schema,
		 TFT_SCHEMA_VERSION);
	say(decode, text);
}

static void take_event(struct decode *decode, const bt_message *message)
{
	const bt_event *from = bt_message_event_borrow_event_const(message);
	const struct decode_class *class = find_class(decode, bt_event_borrow_class_const(from));
	const bt_field *payload, *context;
	struct thread_seq *thread;
	struct event *event;

	if (class && class->frequency)
		decode->time_ns = to_ns(bt_clock_snapshot_get_value(
			bt_message_event_borrow_default_clock_snapshot_const(message)),
			class->frequency);
	if (!class || class->type == EVENT_NONE) {
		decode->counts.skipped++;
		return;
	}
	payload = bt_event_borrow_payload_field_const(from);
	context = bt_event_borrow_common_context_field_const(from);
	event = add(decode, class->type);
	event->pid = context_id(context, class->vpid);
	event->tid = context_id(context, class->vtid);
	for (unsigned int i = 0; i < class->count; i++) {
		const struct decode_field *field = &class->fields[i];

		store_field(decode,
			    bt_field_structure_borrow_member_field_by_index_const(payload,
										  field->index),
			    field->store, (char *)event + field->offset);
	}
	thread = event->seq ? get_thread(decode, event) : NULL;
	if (thread && event->seq <= thread->seq && event->time_ns <= thread->time_ns) {
		decode->count--;	/* read before decode_reattached() */
		return;
	}
	decode->counts.events++;
	if (thread)
		check_seq(decode, thread, event);
	else if (event->type == EVENT_PROCESS)
		check_schema(decode, event->u.process.schema, event->pid);
}

/* An idle program's last packets have no events, but bring time on. */
static void packet_end(struct decode *decode, const bt_message *message)
{
	const bt_stream *stream = bt_packet_borrow_stream_const(
		bt_message_packet_end_borrow_packet_const(message));

	if (bt_stream_class_packets_have_end_default_clock_snapshot(
	    bt_stream_borrow_class_const(stream)))
		decode->time_ns = snapshot_ns(
		    bt_message_packet_end_borrow_default_clock_snapshot_const(message));
}

bool decode_message(struct decode *decode, const bt_message *message)
{
	decode->counts.messages++;
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		take_event(decode, message);
		break;
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		decode->time_ns = snapshot_ns(
		    bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(message));
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		discarded_events(decode, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		discarded_packets(decode, message);
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
	/* One message adds at most three events: its own, a loss, a sentence. */
	return decode->count + 3 <= DECODE_BATCH_MAX;
}

void decode_reattached(struct decode *decode)
{
	decode->counts.streams_ended = decode->counts.streams_begun;
	if (decode->counts.events)
		add_loss(decode, NULL, decode->time_ns, decode->time_ns, 0, false);
}

const struct event *decode_batch(struct decode *decode, size_t *count)
{
	if (decode->time_ns > decode->alive_ns) {
		decode->alive_ns = decode->time_ns;
		add(decode, EVENT_ALIVE);
	}
	*count = decode->count;
	return decode->batch;
}

void decode_reset(struct decode *decode)
{
	decode->count = 0;
	if (decode->chunks) {
		/* The last one in the list is the oldest; keep the newest. */
		free_chunks(decode->chunks->next);
		decode->chunks->next = NULL;
		decode->chunks->used = 0;
	}
}

int64_t decode_time_ns(const struct decode *decode)
{
	return decode->time_ns;
}

const struct decode_counts *decode_counts(const struct decode *decode)
{
	return &decode->counts;
}
