/* SPDX-License-Identifier: MIT */
/*
 * The only way into the model: every source of events (live reader, recording, importer,
 * synthetic generator) hands it batches of struct event.
 *
 * Always true:
 *  - A process is a pair of host and pid. Ids inside an event (names, devices, queues, instances,
 *    correlations) belong to that process and count from 1; 0 is none.
 *  - Events may arrive in any order, within a source and across sources; a definition may arrive
 *    after its first use. Impossible values are counted, never fatal.
 *  - Host times are nanoseconds of the host's CLOCK_MONOTONIC; device times are raw ticks; 0
 *    means "not given".
 *  - Strings and arrays are *borrowed until model_apply() returns*; the model copies what it
 *    keeps.
 *
 * Each event, except those made by the reader, is a record of probes/schema/records_table.h, with
 * the values of values_table.h: from these tables the structs and enums below are made.
 * docs/schema.md shows them in one page.
 */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define ENUM(probe_tag, tag, values) enum tag { values };
#define VALUE(probe_name, name, value) name = (value),
#define PROBE_VALUE(probe_name, value)
#include "probes/schema/values_table.h"

enum event_type {
	EVENT_NONE = 0,
	/* definitions (EVENT_PROCESS and others), then data, from EVENT_OP on */
#define RECORD(event, name, type, fields) type,
#define PACKED_RECORD(...)
#include "probes/schema/records_table.h"
	/* made by the reader, not by a probe */
	EVENT_LOST,		/* the tracer dropped something */
	EVENT_ALIVE,		/* all sources have been read up to time_ns */
	EVENT_TYPE_COUNT
};

/* struct event_process, struct event_op and so on: the records with the fields that follow seq. */
#define RECORD(event, name, type, fields) struct event_##name { fields };
#define PACKED_RECORD(...)
#define SEQ()
#define SCHEMA() uint32_t schema;
#define FIELD(type, name) type name;
#define FIELD_AS(type, name, member) type member;
#define ARRAY(type, name) type name[3];
#define TEXT(name) const char *name;
#include "probes/schema/records_table.h"

/* Events were lost between begin_ns and end_ns; count 0: it is unknown how many. If the event has
 * a pid and tid, they name the thread that lost them, and count 0 gives the place of losses that
 * were counted before. */
struct event_lost {
	int64_t begin_ns, end_ns;
	uint64_t count;
	bool packets;			/* whole packets, not single events */
	uint64_t placed;		/* how many of the losses counted before happened here */
};

struct event {
	uint8_t type;			/* enum event_type */
	uint16_t host;			/* index of the source's host, 0 is this one */
	uint32_t pid;			/* 0: EVENT_ALIVE, or EVENT_LOST of an unknown thread */
	uint32_t tid;			/* thread that wrote it */
	uint32_t seq;			/* sequence number in that thread, 0: none */
	int64_t time_ns;		/* when it was written */
	union {
#define RECORD(event, name, type, fields) struct event_##name name;
#define PACKED_RECORD(...)
#include "probes/schema/records_table.h"
		struct event_lost lost;
	} u;
};

#endif
