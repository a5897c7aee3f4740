/* SPDX-License-Identifier: MIT */
/*
 * The schema as a table that is made from probes/schema/records_table.h: which event of the
 * provider "tftop" becomes which event of the model, where each of its fields lies in that, and how
 * wide it is on the wire. The decoder reads by it, the writer (ctf_writer.h) writes by it;
 * tests/live/gen.sh compares it with the metadata that LTTng writes.
 *
 * Always true: fields are in their order on the wire; lists end with a NULL name. Constant; any
 * thread.
 */
#ifndef PROBES_SESSION_FIELDS_H
#define PROBES_SESSION_FIELDS_H

#include <stdint.h>

#include "model/event.h"

/* How a value is stored in struct event. */
enum field_store {
	STORE_U8, STORE_U16, STORE_U32, STORE_U64,
	STORE_I16, STORE_I32, STORE_I64,
	STORE_TEXT,
	STORE_U64X3, STORE_U32X3,
	STORE_WORDS,	/* any number of words; not stored in an event, see decode_ops.h */
};

struct field_spec {
	const char *name;
	uint16_t offset;		/* in struct event */
	uint8_t store;			/* enum field_store */
	uint8_t bits;	/* bits on the wire, of one element if it is an array; 0: a text */
};

struct event_spec {
	const char *name;		/* the name after "tftop:"; "def_...": in channel meta */
	uint8_t type;			/* enum event_type */
	const struct field_spec *(*fields)(void);
};

enum {
#define RECORD(event, name, type, fields) SPEC_##name,
#define PACKED_RECORD(...)
#include "probes/schema/records_table.h"
	EVENT_SPECS
};
extern const struct event_spec event_specs[EVENT_SPECS];

/* The record with many ops (tft_ops). It is only read: the writer writes each op alone. Its
 * start, instance and tid are stored where those of an op are; the number of ops where its name
 * would be. */
extern const struct event_spec ops_spec;

#endif
