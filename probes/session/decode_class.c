/* SPDX-License-Identifier: MIT */
/*
 * The table of the schema's fields and its resolution, once per event class.
 */
#include <stdio.h>
#include <string.h>

#include "probes/schema/records.h"
#include "probes/session/decode_class.h"

/* model/event.h repeats the schema's values; they must never drift apart. */
#define SAME(a, b) _Static_assert((int)(a) == (int)(b), #a " is not " #b)

SAME(TFT_KIND_NONE, COMMAND_NONE);
SAME(TFT_KIND_KERNEL, COMMAND_KERNEL);
SAME(TFT_KIND_COPY, COMMAND_COPY);
SAME(TFT_KIND_FILL, COMMAND_FILL);
SAME(TFT_KIND_MAP, COMMAND_MAP);
SAME(TFT_KIND_UNMAP, COMMAND_UNMAP);
SAME(TFT_KIND_MARKER, COMMAND_MARKER);
SAME(TFT_KIND_BARRIER, COMMAND_BARRIER);
SAME(TFT_KIND_NATIVE, COMMAND_NATIVE);
SAME(TFT_KIND_MIGRATE, COMMAND_MIGRATE);
SAME(TFT_KIND_GRAPH, COMMAND_GRAPH);
SAME(TFT_KIND_OTHER, COMMAND_OTHER);
SAME(TFT_KIND_COUNT, COMMAND_KIND_COUNT);
SAME(TFT_DIR_NONE, DIR_NONE);
SAME(TFT_DIR_H2D, DIR_H2D);
SAME(TFT_DIR_D2H, DIR_D2H);
SAME(TFT_DIR_D2D, DIR_D2D);
SAME(TFT_DIR_P2P, DIR_P2P);
SAME(TFT_DIR_H2H, DIR_H2H);
SAME(TFT_DIR_FILL, DIR_FILL);
SAME(TFT_DIR_MAP, DIR_MAP);
SAME(TFT_DIR_UNMAP, DIR_UNMAP);
SAME(TFT_DIR_SEND, DIR_SEND);
SAME(TFT_DIR_RECV, DIR_RECV);
SAME(TFT_DIR_COUNT, DIR_COUNT);
SAME(TFT_HOW_NONE, HOW_NONE);
SAME(TFT_HOW_EXACT, HOW_EXACT);
SAME(TFT_HOW_EVENT, HOW_EVENT);
SAME(TFT_HOW_FIFO, HOW_FIFO);
SAME(TFT_HOW_GUESS, HOW_GUESS);
SAME(TFT_HOW_COUNT, HOW_COUNT);
SAME(TFT_NAME_OTHER, NAME_OTHER);
SAME(TFT_NAME_KERNEL, NAME_KERNEL);
SAME(TFT_NAME_OP, NAME_OP);
SAME(TFT_NAME_OP_TYPE, NAME_OP_TYPE);
SAME(TFT_NAME_RANGE, NAME_RANGE);
SAME(TFT_NAME_DOMAIN, NAME_DOMAIN);
SAME(TFT_NAME_CALL, NAME_CALL);
SAME(TFT_NAME_ALLOCATOR, NAME_ALLOCATOR);
SAME(TFT_NAME_COUNT, NAME_KIND_COUNT);
SAME(TFT_FW_NONE, FW_NONE);
SAME(TFT_FW_NVTX, FW_NVTX);
SAME(TFT_FW_ITT, FW_ITT);
SAME(TFT_FW_OPENCL, FW_OPENCL);
SAME(TFT_FW_TENSORFLOW, FW_TENSORFLOW);
SAME(TFT_FW_PYTORCH, FW_PYTORCH);
SAME(TFT_FW_JAX, FW_JAX);
SAME(TFT_FW_ONEDNN, FW_ONEDNN);
SAME(TFT_FW_COUNT, FW_COUNT);
SAME(TFT_OP_RANGE, OP_RANGE);
SAME(TFT_OP_INNER, OP_INNER);
SAME(TFT_OP_ASYNC, OP_ASYNC);
SAME(TFT_OP_COLOUR, OP_COLOUR);
SAME(TFT_OP_MARK, OP_MARK);
SAME(TFT_CMD_APPROX, CMD_APPROX);
SAME(TFT_CMD_OPEN, CMD_OPEN);
SAME(TFT_CMD_PINNED, CMD_PINNED);
SAME(TFT_CMD_BLOCKING, CMD_BLOCKING);
SAME(TFT_CMD_NOTIMES, CMD_NOTIMES);
SAME(TFT_QUEUE_IN_ORDER, QUEUE_IN_ORDER);
SAME(TFT_QUEUE_PROFILED, QUEUE_PROFILED);
SAME(TFT_QUEUE_FORCED, QUEUE_FORCED);

struct spec {
	const char *name;
	uint16_t offset;
	uint8_t store;
};

#define AT(member) offsetof(struct event, u.member)
#define SEQ { "seq", offsetof(struct event, seq), STORE_U32 }

static const struct spec process_spec[] = {
	{ "schema", AT(process.schema), STORE_U32 },
	{ "parent", AT(process.parent), STORE_I32 },
	{ "start_ns", AT(process.start_ns), STORE_I64 },
	{ "mono_ns", AT(process.mono_ns), STORE_I64 },
	{ "real_ns", AT(process.real_ns), STORE_I64 },
	{ "raw_ns", AT(process.raw_ns), STORE_I64 },
	{ "rank", AT(process.rank), STORE_I32 },
	{ "world", AT(process.world), STORE_I32 },
	{ "host", AT(process.host), STORE_TEXT },
	{ "command", AT(process.command), STORE_TEXT },
	{ NULL, 0, 0 }
};
static const struct spec exit_spec[] = {
	{ "reason", AT(exit.reason), STORE_I32 },
	{ "status", AT(exit.status), STORE_I32 },
	{ NULL, 0, 0 }
};
static const struct spec probe_spec[] = {
	{ "name", AT(probe.name), STORE_TEXT },
	{ "version", AT(probe.version), STORE_TEXT },
	{ "blind", AT(probe.blind), STORE_TEXT },
	{ NULL, 0, 0 }
};
static const struct spec name_spec[] = {
	{ "id", AT(name.id), STORE_U32 },
	{ "kind", AT(name.kind), STORE_U8 },
	{ "text", AT(name.text), STORE_TEXT },
	{ NULL, 0, 0 }
};
static const struct spec thread_spec[] = {
	{ "tid", AT(thread.tid), STORE_U32 },
	{ "name", AT(thread.name), STORE_TEXT },
	{ NULL, 0, 0 }
};
static const struct spec device_spec[] = {
	{ "id", AT(device.id), STORE_U32 },
	{ "gpu", AT(device.gpu), STORE_U8 },
	{ "index", AT(device.index), STORE_U32 },
	{ "units", AT(device.units), STORE_U32 },
	{ "clock_mhz", AT(device.clock_mhz), STORE_U32 },
	{ "memory_bytes", AT(device.memory_bytes), STORE_U64 },
	{ "api", AT(device.api), STORE_TEXT },
	{ "name", AT(device.name), STORE_TEXT },
	{ "vendor", AT(device.vendor), STORE_TEXT },
	{ "platform", AT(device.platform), STORE_TEXT },
	{ "driver", AT(device.driver), STORE_TEXT },
	{ "address", AT(device.address), STORE_TEXT },
	{ NULL, 0, 0 }
};
static const struct spec queue_spec[] = {
	{ "id", AT(queue.id), STORE_U32 },
	{ "device", AT(queue.device), STORE_U32 },
	{ "context", AT(queue.context), STORE_U32 },
	{ "flags", AT(queue.flags), STORE_U32 },
	{ "name", AT(queue.name), STORE_TEXT },
	{ NULL, 0, 0 }
};
static const struct spec shape_spec[] = {
	{ "id", AT(shape.id), STORE_U32 },
	{ "dims", AT(shape.dims), STORE_U32 },
	{ "global", AT(shape.global), STORE_U64X3 },
	{ "local", AT(shape.local), STORE_U32X3 },
	{ NULL, 0, 0 }
};
static const struct spec message_spec[] = {
	{ "level", AT(message.level), STORE_U8 },
	{ "text", AT(message.text), STORE_TEXT },
	{ NULL, 0, 0 }
};
static const struct spec op_spec[] = {
	SEQ,
	{ "tid", AT(op.tid), STORE_U32 },
	{ "instance", AT(op.instance), STORE_U64 },
	{ "parent", AT(op.parent), STORE_U64 },
	{ "name", AT(op.name), STORE_U32 },
	{ "type", AT(op.op_type), STORE_U32 },
	{ "domain", AT(op.domain), STORE_U32 },
	{ "argb", AT(op.argb), STORE_U32 },
	{ "start_ns", AT(op.start_ns), STORE_I64 },
	{ "dur_ns", AT(op.dur_ns), STORE_I64 },
	{ "step", AT(op.step), STORE_I64 },
	{ "payload", AT(op.payload), STORE_U64 },
	{ "depth", AT(op.depth), STORE_U16 },
	{ "framework", AT(op.framework), STORE_U8 },
	{ "flags", AT(op.flags), STORE_U8 },
	{ NULL, 0, 0 }
};
static const struct spec step_spec[] = {
	SEQ,
	{ "name", AT(step.name), STORE_U32 },
	{ "number", AT(step.number), STORE_I64 },
	{ "start_ns", AT(step.start_ns), STORE_I64 },
	{ "dur_ns", AT(step.dur_ns), STORE_I64 },
	{ NULL, 0, 0 }
};
static const struct spec call_spec[] = {
	SEQ,
	{ "name", AT(call.name), STORE_U32 },
	{ "start_ns", AT(call.start_ns), STORE_I64 },
	{ "dur_ns", AT(call.dur_ns), STORE_I64 },
	{ "correlation", AT(call.correlation), STORE_U32 },
	{ "result", AT(call.result), STORE_I32 },
	{ NULL, 0, 0 }
};
static const struct spec calls_spec[] = {
	{ "name", AT(calls.name), STORE_U32 },
	{ "errors", AT(calls.errors), STORE_U32 },
	{ "count", AT(calls.count), STORE_U64 },
	{ "total_ns", AT(calls.total_ns), STORE_I64 },
	{ "max_ns", AT(calls.max_ns), STORE_I64 },
	{ NULL, 0, 0 }
};
static const struct spec command_spec[] = {
	SEQ,
	{ "tid", AT(command.tid), STORE_U32 },
	{ "queue", AT(command.queue), STORE_U32 },
	{ "name", AT(command.name), STORE_U32 },
	{ "shape", AT(command.shape), STORE_U32 },
	{ "correlation", AT(command.correlation), STORE_U32 },
	{ "op", AT(command.op), STORE_U64 },
	{ "op_name", AT(command.op_name), STORE_U32 },
	{ "call_dur_ns", AT(command.call_dur_ns), STORE_U32 },
	{ "call_ns", AT(command.call_ns), STORE_I64 },
	{ "queued_ticks", AT(command.queued_ticks), STORE_U64 },
	{ "submit_ticks", AT(command.submit_ticks), STORE_U64 },
	{ "start_ticks", AT(command.start_ticks), STORE_U64 },
	{ "end_ticks", AT(command.end_ticks), STORE_U64 },
	{ "bytes", AT(command.bytes), STORE_U64 },
	{ "status", AT(command.status), STORE_I32 },
	{ "kind", AT(command.kind), STORE_U8 },
	{ "direction", AT(command.direction), STORE_U8 },
	{ "how", AT(command.how), STORE_U8 },
	{ "flags", AT(command.flags), STORE_U8 },
	{ NULL, 0, 0 }
};
static const struct spec alloc_spec[] = {
	SEQ,
	{ "allocator", AT(alloc.allocator), STORE_U32 },
	{ "device", AT(alloc.device), STORE_U32 },
	{ "op_name", AT(alloc.op_name), STORE_U32 },
	{ "address", AT(alloc.address), STORE_U64 },
	{ "bytes", AT(alloc.bytes), STORE_U64 },
	{ "op", AT(alloc.op), STORE_U64 },
	{ NULL, 0, 0 }
};
static const struct spec free_spec[] = {
	SEQ,
	{ "allocator", AT(free.allocator), STORE_U32 },
	{ "address", AT(free.address), STORE_U64 },
	{ NULL, 0, 0 }
};
static const struct spec wait_spec[] = {
	SEQ,
	{ "name", AT(wait.name), STORE_U32 },
	{ "start_ns", AT(wait.start_ns), STORE_I64 },
	{ "dur_ns", AT(wait.dur_ns), STORE_I64 },
	{ "queue", AT(wait.queue), STORE_U32 },
	{ "correlation", AT(wait.correlation), STORE_U32 },
	{ "result", AT(wait.result), STORE_I32 },
	{ NULL, 0, 0 }
};
static const struct spec compile_spec[] = {
	SEQ,
	{ "start_ns", AT(compile.start_ns), STORE_I64 },
	{ "dur_ns", AT(compile.dur_ns), STORE_I64 },
	{ "result", AT(compile.result), STORE_I32 },
	{ "what", AT(compile.what), STORE_TEXT },
	{ "options", AT(compile.options), STORE_TEXT },
	{ "log", AT(compile.log), STORE_TEXT },
	{ NULL, 0, 0 }
};
static const struct spec clock_spec[] = {
	{ "device", AT(clock.device), STORE_U32 },
	{ "quality", AT(clock.quality), STORE_U8 },
	{ "ticks", AT(clock.ticks), STORE_U64 },
	{ "host_ns", AT(clock.host_ns), STORE_I64 },
	{ "error_ns", AT(clock.error_ns), STORE_I64 },
	{ NULL, 0, 0 }
};
static const struct spec settled_spec[] = {
	{ "settled_ns", AT(settled_ns), STORE_I64 },
	{ NULL, 0, 0 }
};
static const struct spec beat_spec[] = {
	{ "events", AT(beat.events), STORE_U64 },
	{ "calls", AT(beat.calls), STORE_U64 },
	{ "dropped", AT(beat.dropped), STORE_U64 },
	{ "vendor_dropped", AT(beat.vendor_dropped), STORE_U64 },
	{ "own_ns", AT(beat.own_ns), STORE_I64 },
	{ "mono_ns", AT(beat.mono_ns), STORE_I64 },
	{ "real_ns", AT(beat.real_ns), STORE_I64 },
	{ "raw_ns", AT(beat.raw_ns), STORE_I64 },
	{ NULL, 0, 0 }
};

static const struct {
	const char *name;		/* after "tftop:" */
	uint8_t type;
	const struct spec *spec;
} known[] = {
	{ "def_process", EVENT_PROCESS, process_spec },
	{ "def_exit", EVENT_EXIT, exit_spec },
	{ "def_probe", EVENT_PROBE, probe_spec },
	{ "def_name", EVENT_NAME, name_spec },
	{ "def_thread", EVENT_THREAD, thread_spec },
	{ "def_device", EVENT_DEVICE, device_spec },
	{ "def_queue", EVENT_QUEUE, queue_spec },
	{ "def_shape", EVENT_SHAPE, shape_spec },
	{ "def_message", EVENT_MESSAGE, message_spec },
	{ "ev_op", EVENT_OP, op_spec },
	{ "ev_step", EVENT_STEP, step_spec },
	{ "ev_call", EVENT_CALL, call_spec },
	{ "ev_calls", EVENT_CALLS, calls_spec },
	{ "ev_command", EVENT_COMMAND, command_spec },
	{ "ev_alloc", EVENT_ALLOC, alloc_spec },
	{ "ev_free", EVENT_FREE, free_spec },
	{ "ev_wait", EVENT_WAIT, wait_spec },
	{ "ev_compile", EVENT_COMPILE, compile_spec },
	{ "ev_clock", EVENT_CLOCK, clock_spec },
	{ "ev_settled", EVENT_SETTLED, settled_spec },
	{ "ev_beat", EVENT_BEAT, beat_spec },
};

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

static bool fits(const bt_field_class *class, enum decode_store store)
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

static bool resolve_payload(const bt_field_class *payload, const struct spec *spec,
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
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name))
			continue;
		if (resolve_payload(payload, known[i].spec, name, out, problem, size))
			out->type = known[i].type;
		return;
	}
	snprintf(problem, size, "event '%.64s' is not known to this version", name);
}
