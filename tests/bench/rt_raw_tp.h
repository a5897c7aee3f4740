/* SPDX-License-Identifier: MIT */
/*
 * The reference for rt_bench: bare LTTng tracepoints with the same fields as ev_call and ev_op,
 * without any code of tftop around them.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tftop_raw
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/rt_raw_tp.h"

#if !defined(TESTS_BENCH_RT_RAW_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TESTS_BENCH_RT_RAW_TP_H

#include <lttng/tracepoint.h>

#include "probes/schema/records.h"

LTTNG_UST_TRACEPOINT_EVENT(tftop_raw, call,
	LTTNG_UST_TP_ARGS(const struct tft_call *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, name, r->name)
		lttng_ust_field_integer(int64_t, start_ns, r->start_ns)
		lttng_ust_field_integer(int64_t, dur_ns, r->dur_ns)
		lttng_ust_field_integer(uint32_t, correlation, r->correlation)
		lttng_ust_field_integer(int32_t, result, r->result)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop_raw, op,
	LTTNG_UST_TP_ARGS(const struct tft_op *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, tid, r->tid)
		lttng_ust_field_integer(uint64_t, instance, r->instance)
		lttng_ust_field_integer(uint64_t, parent, r->parent)
		lttng_ust_field_integer(uint32_t, name, r->name)
		lttng_ust_field_integer(uint32_t, type, r->type)
		lttng_ust_field_integer(uint32_t, domain, r->domain)
		lttng_ust_field_integer(uint32_t, argb, r->argb)
		lttng_ust_field_integer(int64_t, start_ns, r->start_ns)
		lttng_ust_field_integer(int64_t, dur_ns, r->dur_ns)
		lttng_ust_field_integer(int64_t, step, r->step)
		lttng_ust_field_integer(uint64_t, payload, r->payload)
		lttng_ust_field_integer(uint16_t, depth, r->depth)
		lttng_ust_field_integer(uint8_t, framework, r->framework)
		lttng_ust_field_integer(uint8_t, flags, r->flags)
	)
)

#endif

#include <lttng/tracepoint-event.h>
