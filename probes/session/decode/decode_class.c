/* SPDX-License-Identifier: MIT */
/*
 * Resolves the schema's fields against a trace, once per event class.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/session/decode/ctf_pack.h"
#include "probes/session/decode/decode_class.h"

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

static bool is_words(const bt_field_class *class)
{
	return bt_field_class_type_is(bt_field_class_get_type(class),
				      BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY) &&
	       is_integer(bt_field_class_array_borrow_element_field_class_const(class), false, 64);
}

static bool field_fits(const bt_field_class *class, enum field_store store)
{
	switch (store) {
	case STORE_U8: return is_integer(class, false, 8);
	case STORE_U16: return is_integer(class, false, 16);
	case STORE_U32: return is_integer(class, false, 32);
	case STORE_U64: return is_integer(class, false, 64);
	case STORE_I16: return is_integer(class, true, 16);
	case STORE_I32: return is_integer(class, true, 32);
	case STORE_I64: return is_integer(class, true, 64);
	case STORE_TEXT:
		return bt_field_class_get_type(class) == BT_FIELD_CLASS_TYPE_STRING;
	case STORE_U64X3: return is_array3(class, 64);
	case STORE_U32X3: return is_array3(class, 32);
	case STORE_WORDS: return is_words(class);
	}
	return false;
}

static bool packed_field_fits(const bt_field_class *class, const struct ctf_part *part,
			      enum field_store store)
{
	static const struct { uint8_t bits; bool is_signed; } room[] = {
		[STORE_U8] = { 8, false }, [STORE_U16] = { 16, false },
		[STORE_U32] = { 32, false }, [STORE_U64] = { 64, false },
		[STORE_I16] = { 16, true }, [STORE_I32] = { 32, true },
		[STORE_I64] = { 64, true },
	};

	return store <= STORE_I64 && part->is_signed == room[store].is_signed &&
	       part->bits <= room[store].bits && is_integer(class, false, 64) &&
	       part->shift + part->bits <= bt_field_class_integer_get_field_value_range(class);
}

/* Finds a member by its name, or as a part of a packed one. */
static bool find_field(const bt_field_class *structure, const char *name,
		       struct decode_field *out, bool *fit)
{
	uint64_t count = bt_field_class_structure_get_member_count(structure);
	struct ctf_part part;

	for (uint64_t i = 0; i < count && i < DECODE_NONE; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(structure, i);
		const bt_field_class *class =
			bt_field_class_structure_member_borrow_field_class_const(member);
		const char *called = bt_field_class_structure_member_get_name(member);

		out->index = (uint16_t)i;
		if (!strcmp(called, name)) {
			*fit = field_fits(class, out->store);
			out->is_signed = out->store >= STORE_I16 && out->store <= STORE_I64;
			return true;
		}
		if (ctf_pack_find(called, name, &part)) {
			*fit = packed_field_fits(class, &part, out->store);
			out->left = (uint8_t)(64 - part.shift - part.bits);
			out->right = (uint8_t)(64 - part.bits);
			return true;
		}
	}
	return false;
}

static void resolve_id(const bt_field_class *context, const char *name, struct decode_field *out)
{
	bool fit;

	out->store = STORE_I32;
	if (!context || !find_field(context, name, out, &fit) || !fit)
		out->index = DECODE_NONE;
}

static void resolve_context(const bt_stream_class *stream_class, struct decode_class *out)
{
	const bt_field_class *context =
		bt_stream_class_borrow_event_common_context_field_class_const(stream_class);
	const bt_clock_class *clock =
		bt_stream_class_borrow_default_clock_class_const(stream_class);

	out->frequency = clock ? bt_clock_class_get_frequency(clock) : 0;
	resolve_id(context, "vpid", &out->vpid);
	resolve_id(context, "vtid", &out->vtid);
}

static bool resolve_payload(const bt_field_class *payload, const struct field_spec *spec,
			    const char *name, struct decode_class *out, char *problem, size_t size)
{
	for (; spec->name; spec++) {
		struct decode_field field = { .offset = spec->offset, .store = spec->store };
		bool fit = false, found = payload && find_field(payload, spec->name, &field, &fit);

		if (!found || !fit) {
			snprintf(problem, size, "field '%s' of event '%s' is %s", spec->name, name,
				 found ? "of an unexpected type" : "missing");
			return false;
		}
		if (spec->store == STORE_WORDS)
			out->words = field.index;
		else
			out->fields[out->count++] = field;
	}
	return true;
}

/*
 * Fills *out for event_class (taking a reference). problem: "", or why it is skipped although it
 * belongs to tftop.
 */
static void decode_class_resolve(const bt_event_class *event_class, struct decode_class *out,
				 char *problem, size_t size)
{
	const char *name = bt_event_class_get_name(event_class);
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(event_class);

	memset(out, 0, sizeof(*out));
	out->words = DECODE_NONE;
	out->event_class = event_class;
	bt_event_class_get_ref(event_class);
	problem[0] = '\0';
	resolve_context(bt_event_class_borrow_stream_class_const(event_class), out);
	if (!name || strncmp(name, "tftop:", 6))
		return;
	name += 6;
	for (size_t i = 0; i <= EVENT_SPECS; i++) {
		const struct event_spec *spec = i < EVENT_SPECS ? &event_specs[i] : &ops_spec;

		if (strcmp(spec->name, name))
			continue;
		if (resolve_payload(payload, spec->fields(), name, out, problem, size))
			out->type = spec->type;
		return;
	}
	snprintf(problem, size, "event '%.64s' is not known to this version", name);
}

/* ---- the classes that have been met ---- */

#define SLOTS 256			/* initial size: 32 classes per trace class */

bool decode_classes_init(struct decode_classes *classes)
{
	classes->slots = SLOTS;
	classes->list = calloc(classes->slots, sizeof(*classes->list));
	return classes->list != NULL;
}

void decode_classes_release(struct decode_classes *classes)
{
	for (size_t i = 0; classes->list && i < classes->slots; i++) {
		if (classes->list[i])
			bt_event_class_put_ref(classes->list[i]->event_class);
		free(classes->list[i]);
	}
	free(classes->list);
}

static size_t class_slot(const struct decode_classes *classes, const bt_event_class *event_class)
{
	size_t i = (size_t)(((uintptr_t)event_class >> 4) * 0x9e3779b97f4a7c15ull >> 32);

	for (i &= classes->slots - 1; classes->list[i] &&
	     classes->list[i]->event_class != event_class; )
		i = (i + 1) & (classes->slots - 1);
	return i;
}

static bool grow_classes(struct decode_classes *classes)
{
	struct decode_class **old = classes->list;
	size_t old_slots = classes->slots;
	struct decode_class **new = calloc(old_slots * 2, sizeof(*new));

	if (!new)
		return false;
	classes->list = new;
	classes->slots = old_slots * 2;
	for (size_t i = 0; i < old_slots; i++)
		if (old[i])
			new[class_slot(classes, old[i]->event_class)] = old[i];
	free(old);
	return true;
}

struct decode_class *decode_classes_find(struct decode_classes *classes,
					 const bt_event_class *event_class, char *problem,
					 size_t size)
{
	struct decode_class *class;
	size_t slot;

	problem[0] = '\0';
	if (classes->last && classes->last->event_class == event_class)
		return classes->last;
	slot = class_slot(classes, event_class);
	if (classes->list[slot])
		return classes->last = classes->list[slot];
	if (classes->count * 2 >= classes->slots) {
		if (!grow_classes(classes))
			return NULL;
		slot = class_slot(classes, event_class);
	}
	class = malloc(sizeof(*class));
	if (!class)
		return NULL;
	decode_class_resolve(event_class, class, problem, size);
	classes->list[slot] = class;
	classes->count++;
	return classes->last = class;
}
