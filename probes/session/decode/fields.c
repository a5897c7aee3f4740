/* SPDX-License-Identifier: MIT */
/* The table of the schema's events and fields, generated from probes/schema/records_table.h. */
#include <stddef.h>

#include "probes/session/decode/fields.h"

/* How a member of an event is stored in memory. */
#define STORE_OF(record, member) _Generic(((const record *)NULL)->member, \
	uint8_t: STORE_U8, uint16_t: STORE_U16, uint32_t: STORE_U32, uint64_t: STORE_U64, \
	int16_t: STORE_I16, int32_t: STORE_I32, int64_t: STORE_I64, const char *: STORE_TEXT, \
	const uint64_t *: STORE_U64X3, const uint32_t *: STORE_U32X3)

#define BITS(type) (8 * (uint8_t)sizeof(type))
#define MEMBER(name, member, bits) \
	{ name, offsetof(struct event, u) + offsetof(here, member), STORE_OF(here, member), bits },
#define END { NULL, 0, 0, 0 }

/* The fields of each record: a function, so that "here" can stand for the record's struct. */
#define RECORD(event, name, type, fields) \
	static const struct field_spec *fields_of_##name(void) \
	{ \
		typedef struct event_##name here; \
		static const struct field_spec list[] = { fields END }; \
\
		return list; \
	}
#define PACKED_RECORD(...)
#define SEQ() { "seq", offsetof(struct event, seq), STORE_U32, 32 },
#define SCHEMA() FIELD(uint32_t, schema)
#define FIELD(type, name) FIELD_AS(type, name, name)
#define FIELD_AS(type, name, member) MEMBER(#name, member, BITS(type))
#define ARRAY(type, name) MEMBER(#name, name, BITS(type))
#define TEXT(name) MEMBER(#name, name, 0)
#define WORDS(name, count)
#include "probes/schema/records_table.h"

const struct event_spec event_specs[EVENT_SPECS] = {
#define RECORD(event, name, type, fields) { #event, type, fields_of_##name },
#define PACKED_RECORD(...)
#include "probes/schema/records_table.h"
};

/* Where the decoder stores the fields of an op: see fields.h. */
static const struct field_spec *fields_of_ops(void)
{
	typedef struct event_op here;
	static const struct field_spec list[] = {
		{ "seq", offsetof(struct event, seq), STORE_U32, 32 },
		MEMBER("tid", tid, 32)
		MEMBER("count", name, 32)
		MEMBER("base_ns", start_ns, 64)
		MEMBER("instance", instance, 64)
		{ "words", 0, STORE_WORDS, 64 },
		END
	};

	return list;
}

const struct event_spec ops_spec = { "ev_ops", EVENT_OP, fields_of_ops };
