/* SPDX-License-Identifier: MIT */
/*
 * The LTTng provider "tftop": one tracepoint for each record of records_table.h, which takes a
 * pointer to its struct. Included by probes/runtime/emit.c only, which learns by
 * TFT_PROCESS_WRITTEN that the record of a process was written.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tftop
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "probes/schema/tftop_tp.h"

#if !defined(PROBES_SCHEMA_TFTOP_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PROBES_SCHEMA_TFTOP_TP_H

#include <lttng/tracepoint.h>

#include "probes/schema/records.h"

#define RECORD(event, name, type, fields) \
	LTTNG_UST_TRACEPOINT_EVENT(tftop, event, LTTNG_UST_TP_ARGS(const struct tft_##name *, r), \
				   LTTNG_UST_TP_FIELDS(fields))
#define PACKED_RECORD RECORD
#define SEQ() lttng_ust_field_integer(uint32_t, seq, r->seq)
#define SCHEMA() lttng_ust_field_integer(uint32_t, schema, TFT_PROCESS_WRITTEN(r->schema))
#define FIELD(type, name) lttng_ust_field_integer(type, name, r->name)
#define FIELD_AS(type, name, model_name) FIELD(type, name)
#define ARRAY(type, name) lttng_ust_field_array(type, name, r->name, 3)
#define TEXT(name) lttng_ust_field_string(name, r->name ? r->name : "")
#define WORDS(name, count) lttng_ust_field_sequence(uint64_t, name, r->name, uint8_t, r->count)
#include "probes/schema/records_table.h"

#endif

#include <lttng/tracepoint-event.h>
