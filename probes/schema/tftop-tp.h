/* SPDX-License-Identifier: MIT */
/*
 * The LTTng provider "tftop": one event per struct of records.h, each taking a
 * pointer to it. No meaning is added here; records.h documents every field.
 * Included by probes/runtime/emit.c only, which sees by TFT_PROCESS_WRITTEN that one was written.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tftop
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "probes/schema/tftop-tp.h"

#if !defined(PROBES_SCHEMA_TFTOP_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PROBES_SCHEMA_TFTOP_TP_H

#include <lttng/tracepoint.h>

#include "probes/schema/records.h"

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_process,
	LTTNG_UST_TP_ARGS(const struct tft_process *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, schema, TFT_PROCESS_WRITTEN(r->schema))
		lttng_ust_field_integer(int32_t, parent, r->parent)
		lttng_ust_field_integer(int64_t, start_ns, r->start_ns)
		lttng_ust_field_integer(int64_t, mono_ns, r->mono_ns)
		lttng_ust_field_integer(int64_t, real_ns, r->real_ns)
		lttng_ust_field_integer(int64_t, raw_ns, r->raw_ns)
		lttng_ust_field_integer(int32_t, rank, r->rank)
		lttng_ust_field_integer(int32_t, world, r->world)
		lttng_ust_field_string(host, r->host)
		lttng_ust_field_string(command, r->command)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_exit,
	LTTNG_UST_TP_ARGS(const struct tft_exit *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int32_t, reason, r->reason)
		lttng_ust_field_integer(int32_t, status, r->status)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_probe,
	LTTNG_UST_TP_ARGS(const struct tft_probe *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(name, r->name)
		lttng_ust_field_string(version, r->version)
		lttng_ust_field_string(blind, r->blind)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_name,
	LTTNG_UST_TP_ARGS(const struct tft_name *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, id, r->id)
		lttng_ust_field_integer(uint8_t, kind, r->kind)
		lttng_ust_field_string(text, r->text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_thread,
	LTTNG_UST_TP_ARGS(const struct tft_thread *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, tid, r->tid)
		lttng_ust_field_string(name, r->name)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_device,
	LTTNG_UST_TP_ARGS(const struct tft_device *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, id, r->id)
		lttng_ust_field_integer(uint8_t, gpu, r->gpu)
		lttng_ust_field_integer(uint32_t, index, r->index)
		lttng_ust_field_integer(uint32_t, units, r->units)
		lttng_ust_field_integer(uint32_t, clock_mhz, r->clock_mhz)
		lttng_ust_field_integer(uint64_t, memory_bytes, r->memory_bytes)
		lttng_ust_field_integer(uint16_t, capability, r->capability)
		lttng_ust_field_integer(uint16_t, threads_per_unit, r->threads_per_unit)
		lttng_ust_field_integer(uint16_t, blocks_per_unit, r->blocks_per_unit)
		lttng_ust_field_integer(uint32_t, registers_per_unit, r->registers_per_unit)
		lttng_ust_field_integer(uint32_t, registers_per_block, r->registers_per_block)
		lttng_ust_field_integer(uint32_t, shared_per_unit, r->shared_per_unit)
		lttng_ust_field_integer(uint32_t, shared_per_block, r->shared_per_block)
		lttng_ust_field_integer(uint64_t, bandwidth, r->bandwidth)
		lttng_ust_field_string(api, r->api)
		lttng_ust_field_string(name, r->name)
		lttng_ust_field_string(vendor, r->vendor)
		lttng_ust_field_string(platform, r->platform)
		lttng_ust_field_string(driver, r->driver)
		lttng_ust_field_string(address, r->address)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_queue,
	LTTNG_UST_TP_ARGS(const struct tft_queue *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, id, r->id)
		lttng_ust_field_integer(uint32_t, device, r->device)
		lttng_ust_field_integer(uint32_t, context, r->context)
		lttng_ust_field_integer(uint32_t, flags, r->flags)
		lttng_ust_field_integer(int32_t, priority, r->priority)
		lttng_ust_field_string(name, r->name)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_shape,
	LTTNG_UST_TP_ARGS(const struct tft_shape *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, id, r->id)
		lttng_ust_field_integer(uint32_t, dims, r->dims)
		lttng_ust_field_array(uint64_t, global, r->global, 3)
		lttng_ust_field_array(uint32_t, local, r->local, 3)
		lttng_ust_field_integer(uint32_t, text, r->text)
		lttng_ust_field_integer(uint64_t, flop, r->flop)
		lttng_ust_field_integer(uint32_t, registers, r->registers)
		lttng_ust_field_integer(uint32_t, shared_static, r->shared_static)
		lttng_ust_field_integer(uint32_t, shared_dynamic, r->shared_dynamic)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_frame,
	LTTNG_UST_TP_ARGS(const struct tft_frame *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, id, r->id)
		lttng_ust_field_integer(uint32_t, parent, r->parent)
		lttng_ust_field_integer(uint32_t, file, r->file)
		lttng_ust_field_integer(uint32_t, function, r->function)
		lttng_ust_field_integer(uint32_t, line, r->line)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_node,
	LTTNG_UST_TP_ARGS(const struct tft_node *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, id, r->id)
		lttng_ust_field_integer(uint32_t, graph, r->graph)
		lttng_ust_field_integer(uint32_t, name, r->name)
		lttng_ust_field_integer(uint32_t, type, r->type)
		lttng_ust_field_integer(uint32_t, device, r->device)
		lttng_ust_field_integer(uint32_t, file, r->file)
		lttng_ust_field_integer(uint32_t, line, r->line)
		lttng_ust_field_integer(uint32_t, function, r->function)
		lttng_ust_field_integer(uint32_t, origin, r->origin)
		lttng_ust_field_string(inputs, r->inputs)
		lttng_ust_field_string(attributes, r->attributes)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_stage,
	LTTNG_UST_TP_ARGS(const struct tft_stage *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, id, r->id)
		lttng_ust_field_integer(uint32_t, parent, r->parent)
		lttng_ust_field_integer(int32_t, parallelism, r->parallelism)
		lttng_ust_field_integer(int32_t, buffer, r->buffer)
		lttng_ust_field_string(path, r->path)
		lttng_ust_field_string(what, r->what)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_series,
	LTTNG_UST_TP_ARGS(const struct tft_series *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, id, r->id)
		lttng_ust_field_integer(uint32_t, device, r->device)
		lttng_ust_field_string(name, r->name)
		lttng_ust_field_string(unit, r->unit)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_info,
	LTTNG_UST_TP_ARGS(const struct tft_info *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(scope, r->scope)
		lttng_ust_field_string(key, r->key)
		lttng_ust_field_string(value, r->value)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, def_message,
	LTTNG_UST_TP_ARGS(const struct tft_message *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, level, r->level)
		lttng_ust_field_string(text, r->text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_op,
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
		lttng_ust_field_integer(uint64_t, forward, r->forward)
		lttng_ust_field_integer(uint32_t, frame, r->frame)
		lttng_ust_field_integer(uint32_t, shapes, r->shapes)
		lttng_ust_field_integer(int64_t, wait_ns, r->wait_ns)
		lttng_ust_field_integer(uint32_t, waker, r->waker)
		lttng_ust_field_integer(uint16_t, depth, r->depth)
		lttng_ust_field_integer(uint8_t, framework, r->framework)
		lttng_ust_field_integer(uint8_t, flags, r->flags)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_step,
	LTTNG_UST_TP_ARGS(const struct tft_step *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, name, r->name)
		lttng_ust_field_integer(int64_t, number, r->number)
		lttng_ust_field_integer(int64_t, start_ns, r->start_ns)
		lttng_ust_field_integer(int64_t, dur_ns, r->dur_ns)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_call,
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

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_calls,
	LTTNG_UST_TP_ARGS(const struct tft_calls *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, name, r->name)
		lttng_ust_field_integer(uint32_t, errors, r->errors)
		lttng_ust_field_integer(uint64_t, count, r->count)
		lttng_ust_field_integer(int64_t, total_ns, r->total_ns)
		lttng_ust_field_integer(int64_t, max_ns, r->max_ns)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_command,
	LTTNG_UST_TP_ARGS(const struct tft_command *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, tid, r->tid)
		lttng_ust_field_integer(uint32_t, queue, r->queue)
		lttng_ust_field_integer(uint32_t, name, r->name)
		lttng_ust_field_integer(uint32_t, shape, r->shape)
		lttng_ust_field_integer(uint32_t, correlation, r->correlation)
		lttng_ust_field_integer(uint64_t, op, r->op)
		lttng_ust_field_integer(uint32_t, op_name, r->op_name)
		lttng_ust_field_integer(uint32_t, call_dur_ns, r->call_dur_ns)
		lttng_ust_field_integer(int64_t, call_ns, r->call_ns)
		lttng_ust_field_integer(uint64_t, queued_ticks, r->queued_ticks)
		lttng_ust_field_integer(uint64_t, submit_ticks, r->submit_ticks)
		lttng_ust_field_integer(uint64_t, start_ticks, r->start_ticks)
		lttng_ust_field_integer(uint64_t, end_ticks, r->end_ticks)
		lttng_ust_field_integer(uint64_t, bytes, r->bytes)
		lttng_ust_field_integer(int16_t, status, r->status)
		lttng_ust_field_integer(uint8_t, kind, r->kind)
		lttng_ust_field_integer(uint8_t, direction, r->direction)
		lttng_ust_field_integer(uint8_t, how, r->how)
		lttng_ust_field_integer(uint8_t, flags, r->flags)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_launch,
	LTTNG_UST_TP_ARGS(const struct tft_launch *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, tid, r->tid)
		lttng_ust_field_integer(uint32_t, queue, r->queue)
		lttng_ust_field_integer(uint32_t, name, r->name)
		lttng_ust_field_integer(uint32_t, shape, r->shape)
		lttng_ust_field_integer(uint32_t, correlation, r->correlation)
		lttng_ust_field_integer(uint32_t, op_name, r->op_name)
		lttng_ust_field_integer(uint32_t, call_dur_ns, r->call_dur_ns)
		lttng_ust_field_integer(uint64_t, op, r->op)
		lttng_ust_field_integer(uint64_t, object, r->object)
		lttng_ust_field_integer(uint64_t, bytes, r->bytes)
		lttng_ust_field_integer(int64_t, call_ns, r->call_ns)
		lttng_ust_field_integer(int16_t, status, r->status)
		lttng_ust_field_integer(uint8_t, kind, r->kind)
		lttng_ust_field_integer(uint8_t, direction, r->direction)
		lttng_ust_field_integer(uint8_t, flags, r->flags)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_run,
	LTTNG_UST_TP_ARGS(const struct tft_run *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, queue, r->queue)
		lttng_ust_field_integer(uint32_t, name, r->name)
		lttng_ust_field_integer(uint32_t, correlation, r->correlation)
		lttng_ust_field_integer(uint32_t, op_name, r->op_name)
		lttng_ust_field_integer(uint32_t, shape, r->shape)
		lttng_ust_field_integer(uint64_t, object, r->object)
		lttng_ust_field_integer(uint64_t, bytes, r->bytes)
		lttng_ust_field_integer(uint64_t, queued_ticks, r->queued_ticks)
		lttng_ust_field_integer(uint64_t, submit_ticks, r->submit_ticks)
		lttng_ust_field_integer(uint64_t, start_ticks, r->start_ticks)
		lttng_ust_field_integer(uint64_t, end_ticks, r->end_ticks)
		lttng_ust_field_integer(int16_t, status, r->status)
		lttng_ust_field_integer(uint8_t, kind, r->kind)
		lttng_ust_field_integer(uint8_t, direction, r->direction)
		lttng_ust_field_integer(uint8_t, flags, r->flags)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_alloc,
	LTTNG_UST_TP_ARGS(const struct tft_alloc *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, allocator, r->allocator)
		lttng_ust_field_integer(uint32_t, device, r->device)
		lttng_ust_field_integer(uint32_t, op_name, r->op_name)
		lttng_ust_field_integer(uint64_t, address, r->address)
		lttng_ust_field_integer(uint64_t, bytes, r->bytes)
		lttng_ust_field_integer(uint64_t, op, r->op)
		lttng_ust_field_integer(int64_t, at_ns, r->at_ns)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_free,
	LTTNG_UST_TP_ARGS(const struct tft_free *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, allocator, r->allocator)
		lttng_ust_field_integer(uint64_t, address, r->address)
		lttng_ust_field_integer(int64_t, at_ns, r->at_ns)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_region,
	LTTNG_UST_TP_ARGS(const struct tft_region *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, allocator, r->allocator)
		lttng_ust_field_integer(uint32_t, device, r->device)
		lttng_ust_field_integer(uint64_t, address, r->address)
		lttng_ust_field_integer(uint64_t, bytes, r->bytes)
		lttng_ust_field_integer(uint8_t, joined, r->joined)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_wait,
	LTTNG_UST_TP_ARGS(const struct tft_wait *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, name, r->name)
		lttng_ust_field_integer(int64_t, start_ns, r->start_ns)
		lttng_ust_field_integer(int64_t, dur_ns, r->dur_ns)
		lttng_ust_field_integer(uint32_t, queue, r->queue)
		lttng_ust_field_integer(uint32_t, correlation, r->correlation)
		lttng_ust_field_integer(uint32_t, op_name, r->op_name)
		lttng_ust_field_integer(uint64_t, op, r->op)
		lttng_ust_field_integer(int32_t, result, r->result)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_compile,
	LTTNG_UST_TP_ARGS(const struct tft_compile *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(int64_t, start_ns, r->start_ns)
		lttng_ust_field_integer(int64_t, dur_ns, r->dur_ns)
		lttng_ust_field_integer(int32_t, result, r->result)
		lttng_ust_field_string(what, r->what)
		lttng_ust_field_string(options, r->options)
		lttng_ust_field_string(log, r->log)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_flow,
	LTTNG_UST_TP_ARGS(const struct tft_flow *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, name, r->name)
		lttng_ust_field_integer(uint64_t, key, r->key)
		lttng_ust_field_integer(uint64_t, bytes, r->bytes)
		lttng_ust_field_integer(int64_t, at_ns, r->at_ns)
		lttng_ust_field_integer(int64_t, dur_ns, r->dur_ns)
		lttng_ust_field_integer(uint64_t, op, r->op)
		lttng_ust_field_integer(uint8_t, phase, r->phase)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_edge,
	LTTNG_UST_TP_ARGS(const struct tft_edge *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint64_t, from, r->from)
		lttng_ust_field_integer(uint64_t, to, r->to)
		lttng_ust_field_integer(uint64_t, bytes, r->bytes)
		lttng_ust_field_integer(uint32_t, key, r->key)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_stages,
	LTTNG_UST_TP_ARGS(const struct tft_stages *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, stage, r->stage)
		lttng_ust_field_integer(uint64_t, elements, r->elements)
		lttng_ust_field_integer(int64_t, total_ns, r->total_ns)
		lttng_ust_field_integer(int64_t, self_ns, r->self_ns)
		lttng_ust_field_integer(int64_t, busy_ns, r->busy_ns)
		lttng_ust_field_integer(int64_t, wait_ns, r->wait_ns)
		lttng_ust_field_integer(int64_t, max_ns, r->max_ns)
		lttng_ust_field_integer(int64_t, begin_ns, r->begin_ns)
		lttng_ust_field_integer(int64_t, end_ns, r->end_ns)
		lttng_ust_field_integer(uint64_t, bytes, r->bytes)
		lttng_ust_field_integer(int32_t, parallelism, r->parallelism)
		lttng_ust_field_integer(int32_t, buffered, r->buffered)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_pool,
	LTTNG_UST_TP_ARGS(const struct tft_pool *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, tid, r->tid)
		lttng_ust_field_integer(uint64_t, closures, r->closures)
		lttng_ust_field_integer(uint64_t, with_ops, r->with_ops)
		lttng_ust_field_integer(uint64_t, timed, r->timed)
		lttng_ust_field_integer(int64_t, wait_ns, r->wait_ns)
		lttng_ust_field_integer(int64_t, max_wait_ns, r->max_wait_ns)
		lttng_ust_field_integer(int64_t, busy_ns, r->busy_ns)
		lttng_ust_field_integer(int64_t, begin_ns, r->begin_ns)
		lttng_ust_field_integer(int64_t, end_ns, r->end_ns)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_counter,
	LTTNG_UST_TP_ARGS(const struct tft_counter *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, series, r->series)
		lttng_ust_field_integer(int64_t, at_ns, r->at_ns)
		lttng_ust_field_integer(int64_t, value, r->value)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_clock,
	LTTNG_UST_TP_ARGS(const struct tft_clock *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, device, r->device)
		lttng_ust_field_integer(uint8_t, quality, r->quality)
		lttng_ust_field_integer(uint64_t, ticks, r->ticks)
		lttng_ust_field_integer(int64_t, host_ns, r->host_ns)
		lttng_ust_field_integer(int64_t, error_ns, r->error_ns)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_settled,
	LTTNG_UST_TP_ARGS(const struct tft_settled *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int64_t, settled_ns, r->settled_ns)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_level,
	LTTNG_UST_TP_ARGS(const struct tft_level_now *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int64_t, at_ns, r->at_ns)
		lttng_ust_field_integer(uint8_t, level, r->level)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_beat,
	LTTNG_UST_TP_ARGS(const struct tft_beat *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, events, r->events)
		lttng_ust_field_integer(uint64_t, calls, r->calls)
		lttng_ust_field_integer(uint64_t, dropped, r->dropped)
		lttng_ust_field_integer(uint64_t, vendor_dropped, r->vendor_dropped)
		lttng_ust_field_integer(int64_t, own_ns, r->own_ns)
		lttng_ust_field_integer(int64_t, mono_ns, r->mono_ns)
		lttng_ust_field_integer(int64_t, real_ns, r->real_ns)
		lttng_ust_field_integer(int64_t, raw_ns, r->raw_ns)
	)
)

/* The last one: ops_spec in probes/session/decode/fields.c. A byte for how many: damaged, it must not
 * ask babeltrace for billions, for which it crashes. */
LTTNG_UST_TRACEPOINT_EVENT(tftop, ev_ops,
	LTTNG_UST_TP_ARGS(const struct tft_ops *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, seq, r->seq)
		lttng_ust_field_integer(uint32_t, tid, r->tid)
		lttng_ust_field_integer(uint32_t, count, r->count)
		lttng_ust_field_integer(int64_t, base_ns, r->base_ns)
		lttng_ust_field_integer(uint64_t, instance, r->instance)
		lttng_ust_field_sequence(uint64_t, words, r->words, uint8_t, r->n_words)
	)
)

#endif

#include <lttng/tracepoint-event.h>
