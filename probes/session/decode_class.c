/* SPDX-License-Identifier: MIT */
/*
 * The schema's fields resolved against a trace, once per event class.
 */
#include <stdio.h>
#include <string.h>

#include "probes/session/decode_class.h"

static bool is_integer(const bt_field_class *class, bool is_signed, uint64_t max_bits)
{
	bt_field_class_type want = is_signed ? BT_FIELD_CLASS_TYPE_SIGNED_INTEGER :
					       BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER;

	return bt_field_class_type_is(bt_field_class_get_type(class), want) &&
	       bt_field_class_integer_get_field_value_range(class) <= max_bits;
}

static bool is_array3(const bt_field_class *class, uint64_t max_bits)
{
	if (bt_field_class_get_type(class) != BT_FIELD_CLASS_TYPE_STATIC_ARRAY ||
	    bt_field_class_array_static_get_length(class) != 3)
		return false;
	return is_integer(bt_field_class_array_borrow_element_field_class_const(class), false,
			  max_bits);
}

static bool fits(const bt_field_class *class, enum field_store store)
{
	switch (store) {
	case STORE_U8: return is_integer(class, false, 8);
	case STORE_U16: return is_integer(class, false, 16);
	case STORE_U32: return is_integer(class, false, 32);
	case STORE_U64: return is_integer(class, false, 64);
	case STORE_I32: return is_integer(class, true, 32);
	case STORE_I64: return is_integer(class, true, 64);
	case STORE_TEXT:
		return bt_field_class_get_type(class) == BT_FIELD_CLASS_TYPE_STRING;
	case STORE_U64X3: return is_array3(class, 64);
	case STORE_U32X3: return is_array3(class, 32);
	}
	return false;
}

/* Index of a member by name, -1: none. */
static int member_index(const bt_field_class *structure, const char *name,
			const bt_field_class **class)
{
	uint64_t count = bt_field_class_structure_get_member_count(structure);

	for (uint64_t i = 0; i < count && i < INT16_MAX; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(structure, i);

		if (!strcmp(bt_field_class_structure_member_get_name(member), name)) {
			*class = bt_field_class_structure_member_borrow_field_class_const(member);
			return (int)i;
		}
	}
	return -1;
}

static void resolve_context(const bt_stream_class *stream_class, struct decode_class *out)
{
	const bt_field_class *context =
		bt_stream_class_borrow_event_common_context_field_class_const(stream_class);
	const bt_field_class *class;
	const bt_clock_class *clock =
		bt_stream_class_borrow_default_clock_class_const(stream_class);

	out->frequency = clock ? bt_clock_class_get_frequency(clock) : 0;
	out->vpid = out->vtid = -1;
	if (!context)
		return;
	out->vpid = (int16_t)member_index(context, "vpid", &class);
	if (out->vpid >= 0 && !is_integer(class, true, 32))
		out->vpid = -1;
	out->vtid = (int16_t)member_index(context, "vtid", &class);
	if (out->vtid >= 0 && !is_integer(class, true, 32))
		out->vtid = -1;
}

static bool resolve_payload(const bt_field_class *payload, const struct field_spec *spec,
			    const char *name, struct decode_class *out, char *problem, size_t size)
{
	for (; spec->name; spec++) {
		const bt_field_class *class = NULL;
		int index = payload ? member_index(payload, spec->name, &class) : -1;

		if (index < 0 || !fits(class, spec->store)) {
			snprintf(problem, size, "field '%s' of event '%s' is %s", spec->name, name,
				 index < 0 ? "missing" : "of another type");
			return false;
		}
		out->fields[out->count++] = (struct decode_field){
			.index = (uint16_t)index, .offset = spec->offset, .store = spec->store
		};
	}
	return true;
}

void decode_class_resolve(const bt_event_class *event_class, struct decode_class *out,
			  char *problem, size_t size)
{
	const char *name = bt_event_class_get_name(event_class);
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(event_class);

	memset(out, 0, sizeof(*out));
	out->event_class = event_class;
	bt_event_class_get_ref(event_class);
	problem[0] = '\0';
	resolve_context(bt_event_class_borrow_stream_class_const(event_class), out);
	if (!name || strncmp(name, "tftop:", 6))
		return;
	name += 6;
	for (size_t i = 0; i < EVENT_SPECS; i++) {
		if (strcmp(event_specs[i].name, name))
			continue;
		if (resolve_payload(payload, event_specs[i].fields, name, out, problem, size))
			out->type = event_specs[i].type;
		return;
	}
	snprintf(problem, size, "event '%.64s' is not known to this version", name);
}
