/* SPDX-License-Identifier: MIT */
/* Turns batches of model events into messages of babeltrace2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "probes/session/recording/ctf_source.h"
#include "probes/session/decode/fields.h"

/* ---- the trace's classes ---- */

static bt_field_class *integer_class(bt_trace_class *trace, bool is_signed, unsigned int bits)
{
	bt_field_class *class = is_signed ? bt_field_class_integer_signed_create(trace) :
					    bt_field_class_integer_unsigned_create(trace);

	if (class)
		bt_field_class_integer_set_field_value_range(class, bits);
	return class;
}

static bt_field_class *array_class(bt_trace_class *trace, unsigned int bits)
{
	bt_field_class *element = integer_class(trace, false, bits);
	bt_field_class *class = element ? bt_field_class_array_static_create(trace, element, 3) :
					  NULL;

	bt_field_class_put_ref(element);
	return class;
}

static bt_field_class *field_class(bt_trace_class *trace, const struct field_spec *field)
{
	switch (field->store) {
	case STORE_TEXT:
		return bt_field_class_string_create(trace);
	case STORE_U64X3:
	case STORE_U32X3:
		return array_class(trace, field->bits);
	case STORE_I16:
	case STORE_I32:
	case STORE_I64:
		return integer_class(trace, true, field->bits);
	default:
		return integer_class(trace, false, field->bits);
	}
}

/* Takes over the reference to `class`. */
static bool append(bt_field_class *structure, const char *name, bt_field_class *class)
{
	bool good = structure && class &&
		!bt_field_class_structure_append_member(structure, name, class);

	bt_field_class_put_ref(class);
	return good;
}

static bool make_stream_class(struct ctf_source *source, bt_trace_class *trace,
			      bt_clock_class *clock, int which)
{
	bt_stream_class *class = bt_stream_class_create(trace);
	bt_field_class *context = bt_field_class_structure_create(trace);
	bt_field_class *packet = bt_field_class_structure_create(trace);
	bool good = class && append(context, "vpid", integer_class(trace, true, 32)) &&
		append(context, "vtid", integer_class(trace, true, 32)) &&
		append(packet, "cpu_id", integer_class(trace, false, 32)) &&
		!bt_stream_class_set_default_clock_class(class, clock);

	source->stream_class[which] = class;
	if (good) {
		bt_stream_class_set_supports_packets(class, BT_TRUE, BT_TRUE, BT_TRUE);
		bt_stream_class_set_supports_discarded_events(class, BT_TRUE, BT_TRUE);
		bt_stream_class_set_supports_discarded_packets(class, BT_TRUE, BT_TRUE);
		good = !bt_stream_class_set_event_common_context_field_class(class, context) &&
			!bt_stream_class_set_packet_context_field_class(class, packet);
	}
	bt_field_class_put_ref(context);
	bt_field_class_put_ref(packet);
	return good;
}

static bool make_event_class(struct ctf_source *source, bt_trace_class *trace,
			     const struct event_spec *spec)
{
	bool meta = !strncmp(spec->name, "def_", 4);
	bt_event_class *class = bt_event_class_create(source->stream_class[meta]);
	bt_field_class *payload = bt_field_class_structure_create(trace);
	char name[64];
	bool good = class && payload;

	source->class[spec->type] = class;
	source->fields[spec->type] = spec->fields();
	snprintf(name, sizeof(name), "tftop:%s", spec->name);
	for (const struct field_spec *field = spec->fields(); good && field->name; field++)
		good = append(payload, field->name, field_class(trace, field));
	if (good) {
		bt_event_class_set_log_level(class, BT_EVENT_CLASS_LOG_LEVEL_DEBUG_LINE);
		good = !bt_event_class_set_name(class, name) &&
			!bt_event_class_set_payload_field_class(class, payload);
	}
	bt_field_class_put_ref(payload);
	return good;
}

static bt_clock_class *make_clock(bt_self_component *self, int64_t offset_ns)
{
	bt_clock_class *clock = bt_clock_class_create(self);

	if (!clock)
		return NULL;
	bt_clock_class_set_offset(clock, offset_ns / 1000000000,
				  (uint64_t)(offset_ns % 1000000000));
	if (!bt_clock_class_set_name(clock, "monotonic") &&
	    !bt_clock_class_set_description(clock, "Monotonic Clock"))
		return clock;
	bt_clock_class_put_ref(clock);
	return NULL;
}

static bool make_stream(struct ctf_source *source, unsigned int index)
{
	unsigned int each = source->n_streams / 2;
	bool meta = index >= each;
	struct ctf_out_stream *stream = &source->streams[index];
	char name[32];

	stream->stream = bt_stream_create(source->stream_class[meta], source->trace);
	snprintf(name, sizeof(name), "%s_%u", meta ? "meta" : "events", index % each);
	return stream->stream && !bt_stream_set_name(stream->stream, name);
}

static bool make_trace(struct ctf_source *source, bt_trace_class *class)
{
	bool good;

	source->trace = bt_trace_create(class);
	good = source->trace &&
		!bt_trace_set_environment_entry_string(source->trace, "domain", "ust") &&
		!bt_trace_set_environment_entry_string(source->trace, "tracer_name", "tftop") &&
		!bt_trace_set_environment_entry_string(source->trace, "hostname",
						       source->options.host);
	for (unsigned int i = 0; good && i < source->n_streams; i++)
		good = make_stream(source, i);
	return good;
}

static bool make_all(struct ctf_source *source, bt_self_component *self)
{
	bt_trace_class *trace = bt_trace_class_create(self);
	bt_clock_class *clock = make_clock(self, source->options.offset_ns);
	bool good = trace && clock && make_stream_class(source, trace, clock, 0) &&
		make_stream_class(source, trace, clock, 1);

	for (size_t i = 0; good && i < EVENT_SPECS; i++)
		good = make_event_class(source, trace, &event_specs[i]);
	good = good && make_trace(source, trace);
	bt_clock_class_put_ref(clock);
	bt_trace_class_put_ref(trace);
	return good;
}

/* ---- events ---- */

static bt_field *member(bt_field *structure, uint64_t index)
{
	return bt_field_structure_borrow_member_field_by_index(structure, index);
}

static bool set_field(bt_field *field, const struct field_spec *spec, const void *from)
{
	const char *text;

	switch (spec->store) {
	case STORE_U8:
		bt_field_integer_unsigned_set_value(field, *(const uint8_t *)from);
		break;
	case STORE_U16:
		bt_field_integer_unsigned_set_value(field, *(const uint16_t *)from);
		break;
	case STORE_U32:
		bt_field_integer_unsigned_set_value(field, *(const uint32_t *)from);
		break;
	case STORE_U64:
		bt_field_integer_unsigned_set_value(field, *(const uint64_t *)from);
		break;
	case STORE_I16:
		bt_field_integer_signed_set_value(field, *(const int16_t *)from);
		break;
	case STORE_I32:
		bt_field_integer_signed_set_value(field, *(const int32_t *)from);
		break;
	case STORE_I64:
		bt_field_integer_signed_set_value(field, *(const int64_t *)from);
		break;
	case STORE_TEXT:
		text = *(const char *const *)from;
		return !bt_field_string_set_value(field, text ? text : "");
	default:
		for (uint64_t i = 0; i < 3; i++)
			bt_field_integer_unsigned_set_value(
				bt_field_array_borrow_element_field_by_index(field, i),
				spec->store == STORE_U64X3 ? ((const uint64_t *)from)[i] :
				((const uint32_t *)from)[i]);
	}
	return true;
}

/* Which stream takes the event: an index into streams. */
static unsigned int ctf_source_stream(const struct ctf_source *source, const struct event *event)
{
	unsigned int each = source->n_streams / 2;

	return event->tid % each + (event->type < EVENT_OP ? each : 0);
}

static const bt_message *event_message(struct ctf_source *source, bt_self_message_iterator *it,
				       const struct event *event)
{
	unsigned int stream = ctf_source_stream(source, event);
	bt_message *message = bt_message_event_create_with_packet_and_default_clock_snapshot(
		it, source->class[event->type], source->streams[stream].packet,
		(uint64_t)event->time_ns);
	bt_field *context, *payload;
	uint64_t i = 0;

	if (!message)
		return NULL;
	context = bt_event_borrow_common_context_field(bt_message_event_borrow_event(message));
	payload = bt_event_borrow_payload_field(bt_message_event_borrow_event(message));
	bt_field_integer_signed_set_value(member(context, 0), (int32_t)event->pid);
	bt_field_integer_signed_set_value(member(context, 1), (int32_t)event->tid);
	for (const struct field_spec *field = source->fields[event->type]; field->name; field++)
		if (!set_field(member(payload, i++), field, (const char *)event + field->offset)) {
			bt_message_put_ref(message);
			return NULL;
		}
	return message;
}

/* ---- packets, losses ---- */

static const bt_message *begin_packet(struct ctf_source *source, bt_self_message_iterator *it,
				      unsigned int index)
{
	struct ctf_out_stream *stream = &source->streams[index];

	stream->packet = bt_packet_create(stream->stream);
	if (!stream->packet)
		return NULL;
	bt_field_integer_unsigned_set_value(member(bt_packet_borrow_context_field(stream->packet),
						   0), index % (source->n_streams / 2));
	return bt_message_packet_beginning_create_with_default_clock_snapshot(
		it, stream->packet, (uint64_t)source->begin_ns);
}

static const bt_message *end_packet(struct ctf_source *source, bt_self_message_iterator *it,
				    unsigned int index)
{
	struct ctf_out_stream *stream = &source->streams[index];
	const bt_message *message = bt_message_packet_end_create_with_default_clock_snapshot(
		it, stream->packet, (uint64_t)source->end_ns);

	BT_PACKET_PUT_REF_AND_RESET(stream->packet);
	return message;
}

/* Both kinds start at the previous packet. Lost events reach to the end of this packet, lost
 * packets to its start. *none: nothing was lost there. */
static const bt_message *lost_message(struct ctf_source *source, bt_self_message_iterator *it,
				      size_t which, bool *none)
{
	unsigned int each = source->n_streams / 2;
	struct ctf_out_stream *stream = &source->streams[which % each];
	uint64_t begin = (uint64_t)source->before_ns;
	bt_message *message;

	if (which < each) {
		*none = !stream->lost;
		if (*none)
			return NULL;
		message = bt_message_discarded_events_create_with_default_clock_snapshots(
			it, stream->stream, begin, (uint64_t)source->end_ns);
		if (message)
			bt_message_discarded_events_set_count(message, stream->lost);
		stream->lost = 0;
		return message;
	}
	*none = !source->lost_packets || which != each;
	if (*none)
		return NULL;
	message = bt_message_discarded_packets_create_with_default_clock_snapshots(
		it, stream->stream, begin, (uint64_t)source->begin_ns);
	if (message)
		bt_message_discarded_packets_set_count(message, source->lost_packets);
	source->lost_packets = 0;
	return message;
}

/* ---- messages in order ---- */

static size_t stage_size(const struct ctf_source *source)
{
	return source->stage == CTF_EVENTS ? source->count : source->n_streams;
}

/* NULL and true: there is no message at this place. NULL and false: no memory. */
static const bt_message *make_message(struct ctf_source *source, bt_self_message_iterator *it,
				      bool *none)
{
	unsigned int i = (unsigned int)source->next;

	*none = false;
	switch (source->stage) {
	case CTF_STREAMS:
		return bt_message_stream_beginning_create(it, source->streams[i].stream);
	case CTF_LOST:
		return lost_message(source, it, source->next, none);
	case CTF_PACKETS:
		return begin_packet(source, it, i);
	case CTF_EVENTS:
		return event_message(source, it, &source->events[source->next]);
	case CTF_PACKET_ENDS:
		return end_packet(source, it, i);
	default:
		return bt_message_stream_end_create(it, source->streams[i].stream);
	}
}

static void next_stage(struct ctf_source *source)
{
	static const enum ctf_stage after[] = {
		[CTF_STREAMS] = CTF_IDLE, [CTF_LOST] = CTF_PACKETS, [CTF_PACKETS] = CTF_EVENTS,
		[CTF_EVENTS] = CTF_PACKET_ENDS, [CTF_PACKET_ENDS] = CTF_IDLE,
		[CTF_STREAM_ENDS] = CTF_END,
	};

	source->stage = after[source->stage];
	source->next = 0;
}

static bt_message_iterator_class_next_method_status
source_next(bt_self_message_iterator *it, bt_message_array_const messages, uint64_t capacity,
	    uint64_t *count)
{
	struct ctf_source *source = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(it));
	bool none;

	*count = 0;
	while (*count < capacity && source->stage != CTF_IDLE && source->stage != CTF_END) {
		if (source->next >= stage_size(source)) {
			next_stage(source);
			continue;
		}
		messages[*count] = make_message(source, it, &none);
		source->next++;
		if (messages[*count]) {
			++*count;
		} else if (!none) {
			while (*count)
				bt_message_put_ref(messages[--*count]);
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
		}
	}
	if (*count)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	return source->stage == CTF_END ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END :
					  BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
}

/* ---- the component ---- */

static bt_component_class_initialize_method_status
source_init(bt_self_component_source *self, bt_self_component_source_configuration *configuration,
	    const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	struct ctf_source *source = data;

	(void)configuration, (void)params;
	bt_self_component_set_data(component, source);
	if (!make_all(source, component) ||
	    bt_self_component_source_add_output_port(self, "out", NULL, NULL))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

const bt_component_source *ctf_source_add(bt_graph *graph, struct ctf_source *source)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(source_next);
	bt_component_class_source *class = iterator ?
		bt_component_class_source_create("tftop", iterator) : NULL;
	const bt_component_source *component = NULL;

	source->n_streams = 2 * (source->options.streams ? source->options.streams : 1);
	source->streams = xcalloc(source->n_streams, sizeof(*source->streams));
	if (class && !bt_component_class_source_set_initialize_method(class, source_init))
		bt_graph_add_source_component_with_initialize_method_data(
			graph, class, "tftop", NULL, source, BT_LOGGING_LEVEL_NONE, &component);
	bt_component_class_source_put_ref(class);
	bt_message_iterator_class_put_ref(iterator);
	return component;
}

void ctf_source_release(struct ctf_source *source)
{
	for (unsigned int i = 0; source->streams && i < source->n_streams; i++) {
		bt_packet_put_ref(source->streams[i].packet);
		bt_stream_put_ref(source->streams[i].stream);
	}
	free(source->streams);
	for (size_t i = 0; i < EVENT_TYPE_COUNT; i++)
		bt_event_class_put_ref(source->class[i]);
	for (int i = 0; i < 2; i++)
		bt_stream_class_put_ref(source->stream_class[i]);
	bt_trace_put_ref(source->trace);
}
