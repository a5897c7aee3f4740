/* SPDX-License-Identifier: MIT */
/*
 * How the fields of one event class get into struct event: the schema (fields.h) resolved against
 * the metadata of a trace.
 *
 * Always true: a resolved class has only fields whose kind, sign and size fit their place, so
 * that copying a value needs no check. Parts of one packed integer (ctf_pack.h) follow one
 * another.
 */
#ifndef PROBES_SESSION_DECODE_CLASS_H
#define PROBES_SESSION_DECODE_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>

#include "model/event.h"
#include "probes/session/decode/fields.h"

struct decode_field {
	uint16_t index;	/* index in its structure; DECODE_NONE: there is no such field */
	uint16_t offset;		/* offset in struct event */
	uint8_t store;			/* enum field_store */
	bool is_signed;			/* its signedness in the trace */
	uint8_t left, right;		/* shifts that extract it from a packed integer */
};

#define DECODE_NONE UINT16_MAX

#define DECODE_FIELDS_MAX 24

struct decode_class {
	const bt_event_class *event_class;	/* owned, so that its address is not reused */
	uint8_t type;	/* enum event_type; EVENT_NONE: events of this class are skipped */
	struct decode_field vpid, vtid;	/* fields of the common context */
	uint16_t words;			/* the field with many ops; DECODE_NONE: one event */
	uint8_t count;
	uint64_t skipped;		/* events skipped so far; counted by the decoder */
	uint64_t frequency;		/* frequency of its clock in Hz; 0: it has no clock */
	struct decode_field fields[DECODE_FIELDS_MAX];
};

/* The classes that have been seen so far. */
struct decode_classes {
	struct decode_class **list;	/* owned; a hash table by address */
	size_t slots, count;
	struct decode_class *last;	/* borrowed from list */
};

bool decode_classes_init(struct decode_classes *classes);	/* false: memory is short */
void decode_classes_release(struct decode_classes *classes);
/* NULL: memory is short. problem: "" unless the class is new and is skipped. */
struct decode_class *decode_classes_find(struct decode_classes *classes,
					 const bt_event_class *event_class, char *problem,
					 size_t size);

#endif
