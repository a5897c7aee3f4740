/* SPDX-License-Identifier: MIT */
/*
 * The records that may cross the wire, as the structs that probes fill in: struct tft_process,
 * struct tft_op, ... with the fields of records_table.h, which documents them, and the values of
 * values_table.h (TFT_...). docs/schema.md shows both in one page.
 */
#ifndef PROBES_SCHEMA_RECORDS_H
#define PROBES_SCHEMA_RECORDS_H

#include <stdint.h>

#define TFT_TEXT_MAX 4096

/* Used in place of a frame's file: the frame is not a line but a module that was called
 * (def_frame). */
#define TFT_FRAME_MODULE "nn.Module"
/* Likewise: it is a task of asyncio, called by the frame of the event loop and calling that of its
 * coroutine; the function is "task " and the name that the program gave it (ev_doing). */
#define TFT_FRAME_TASK "asyncio"
/* Likewise: it stands for calls that changed while they were read (ev_doing). */
#define TFT_FRAME_CHANGED "changed"

/* Names of series of TFT_SERIES_USAGE that the model computes with, in 1/1000 of a processor and in
 * faults per second. */
#define TFT_USAGE_PROCESSOR "processor"
#define TFT_USAGE_OF_CHILDREN "processor of children"
#define TFT_USAGE_FAULT_TIME "fault time (est.)"
#define TFT_USAGE_FAULTS "minor page faults"

/* Correlations that come from a vendor have this bit set; those of the runtime count from 1. */
#define TFT_CORRELATION_CUPTI 0x80000000u

#define ENUM(tag, model_tag, values) enum tag { values };
#define VALUE(name, model_name, value) name = (value),
#define PROBE_VALUE(name, value) name = (value),
#include "probes/schema/values_table.h"

#define RECORD(event, name, type, fields) struct tft_##name { fields };
#define PACKED_RECORD RECORD
#define SEQ() uint32_t seq;
#define SCHEMA() uint32_t schema;
#define FIELD(type, name) type name;
#define FIELD_AS(type, name, model_name) type name;
#define ARRAY(type, name) type name[3];
#define TEXT(name) const char *name;
#define WORDS(name, count) uint32_t count; const uint64_t *name;
#include "probes/schema/records_table.h"

/*
 * Finished ops of one thread, kernels that the processor ran on it and its memory, in one event:
 * what one costs the program goes by the fields that the tracer writes, each by a call
 * of its own. seq is the first one's, the others' follow. Each op is in 3 to 9 words,
 * lowest bits first:
 *
 *	has:8 flags:8 name:24 type:24
 *	start:32 dur:32			start_ns - base_ns, signed; dur_ns
 *	framework:8 depth:8 parent:28 instance:20
 *					instance - parent, 0: none;
 *					instance - that of the op before, signed
 *	TFT_OPS_STEP: step
 *	TFT_OPS_LOOK: domain:32 argb:32
 *	TFT_OPS_PAYLOAD: payload
 *	TFT_OPS_PLACE: frame:32 shapes:32
 *	TFT_OPS_FORWARD: forward
 *	TFT_OPS_HANDED: wait_ns:40 waker:24
 *
 * Without TFT_OPS_STEP, _LOOK or _PLACE they are those of the op before; before the
 * first come instance `instance`, step -1, and 0 for the others. An op with a value
 * that does not fit there is in 12 words, whose has is TFT_OPS_WHOLE alone:
 *
 *	has:8 flags:8 depth:16 name:32, instance, parent, start_ns, dur_ns, step,
 *	payload, domain:32 argb:32, type:32 framework:8 0:24, frame:32 shapes:32,
 *	forward, wait_ns:40 waker:24
 *
 * A kernel is a tft_command of that thread which has no call, and times in ns: in 2 to
 * 4 words, of which has TFT_OPS_KERNEL. Without TFT_OPS_RAN_IN or _RAN_ON they are
 * those of the kernel before, 0 before the first:
 *
 *	has:8 0:8 name:24 shape:24
 *	start:32 dur:32			as an op's
 *	TFT_OPS_RAN_IN: op		HOW_EXACT, 0: none
 *	TFT_OPS_RAN_ON: queue:32 op_name:32
 *
 * What that thread allocated (a tft_alloc) or gave back (a tft_free) is in 3 to 5
 * words, of which has all of TFT_OPS_MEMORY; of what is given back only the allocator
 * and the address are told. Its time, to have these of all threads in order, is its own.
 *
 *	has:8 0:8 allocator:24 op_name:24
 *	at:32 bytes:32			at_ns - base_ns, signed
 *	address
 *	TFT_OPS_RAN_IN: op		that of the kernel or the allocation before
 *	TFT_OPS_DEVICE: device		that of the allocation before
 */
#define TFT_OPS_MAX 32
#define TFT_OPS_WORDS 192	/* at most 255, because their number is a byte on the wire */
#define TFT_OPS_STEP	0x01u
#define TFT_OPS_LOOK	0x02u
#define TFT_OPS_PAYLOAD	0x04u
#define TFT_OPS_PLACE	0x08u
#define TFT_OPS_FORWARD	0x10u
#define TFT_OPS_HANDED	0x20u
#define TFT_OPS_KERNEL	0x40u
#define TFT_OPS_RAN_IN	0x01u	/* together with TFT_OPS_KERNEL only */
#define TFT_OPS_RAN_ON	0x02u
#define TFT_OPS_WHOLE	0x80u
#define TFT_OPS_MEMORY	0xc0u
#define TFT_OPS_FREE	0x02u	/* together with TFT_OPS_MEMORY only, as the next one */
#define TFT_OPS_DEVICE	0x04u
#define TFT_OPS_WHOLE_WORDS 12

/* wait_ns and waker are packed as one word; a tid of Linux has 22 bits. */
#define TFT_WAIT_MAX ((INT64_C(1) << 40) - 1)
#define TFT_WAKER_SHIFT 40

#endif
