/* SPDX-License-Identifier: MIT */
/* The table of the schema's events and fields. */
#include <stddef.h>

#include "probes/schema/records.h"
#include "probes/session/decode/fields.h"

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
SAME(TFT_NAME_NODE, NAME_NODE);
SAME(TFT_NAME_SOURCE, NAME_SOURCE);
SAME(TFT_NAME_KEY, NAME_KEY);
SAME(TFT_NAME_SHAPES, NAME_SHAPES);
SAME(TFT_SCHEMA_VERSION, EVENT_SCHEMA);
SAME(TFT_ORIGIN_NONE, ORIGIN_NONE);
SAME(TFT_ORIGIN_EXACT, ORIGIN_EXACT);
SAME(TFT_ORIGIN_NAME, ORIGIN_NAME);
SAME(TFT_ORIGIN_CALL, ORIGIN_CALL);
SAME(TFT_ORIGIN_FIRST, ORIGIN_FIRST);
SAME(TFT_ORIGIN_COUNT, ORIGIN_COUNT);
SAME(TFT_NAME_COUNT, NAME_KIND_COUNT);
SAME(TFT_FLOW_SENT, FLOW_SENT);
SAME(TFT_FLOW_RECEIVED, FLOW_RECEIVED);
SAME(TFT_FLOW_ENCODED, FLOW_ENCODED);
SAME(TFT_FLOW_DECODED, FLOW_DECODED);
SAME(TFT_FLOW_COUNT, FLOW_PHASE_COUNT);
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
SAME(TFT_CMD_MANY, CMD_MANY);
SAME(TFT_QUEUE_IN_ORDER, QUEUE_IN_ORDER);
SAME(TFT_QUEUE_PROFILED, QUEUE_PROFILED);
SAME(TFT_QUEUE_FORCED, QUEUE_FORCED);
SAME(TFT_QUEUE_FOUND, QUEUE_FOUND);

#define AT(member) offsetof(struct event, u.member)
#define SEQ { "seq", offsetof(struct event, seq), STORE_U32, 0 }

static const struct field_spec process_spec[] = {
	{ "schema", AT(process.schema), STORE_U32, 0 },
	{ "parent", AT(process.parent), STORE_I32, 0 },
	{ "start_ns", AT(process.start_ns), STORE_I64, 0 },
	{ "mono_ns", AT(process.mono_ns), STORE_I64, 0 },
	{ "real_ns", AT(process.real_ns), STORE_I64, 0 },
	{ "raw_ns", AT(process.raw_ns), STORE_I64, 0 },
	{ "rank", AT(process.rank), STORE_I32, 0 },
	{ "world", AT(process.world), STORE_I32, 0 },
	{ "host", AT(process.host), STORE_TEXT, 0 },
	{ "command", AT(process.command), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec exit_spec[] = {
	{ "reason", AT(exit.reason), STORE_I32, 0 },
	{ "status", AT(exit.status), STORE_I32, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec probe_spec[] = {
	{ "name", AT(probe.name), STORE_TEXT, 0 },
	{ "version", AT(probe.version), STORE_TEXT, 0 },
	{ "blind", AT(probe.blind), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec name_spec[] = {
	{ "id", AT(name.id), STORE_U32, 0 },
	{ "kind", AT(name.kind), STORE_U8, 0 },
	{ "text", AT(name.text), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec thread_spec[] = {
	{ "tid", AT(thread.tid), STORE_U32, 0 },
	{ "name", AT(thread.name), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec device_spec[] = {
	{ "id", AT(device.id), STORE_U32, 0 },
	{ "gpu", AT(device.gpu), STORE_U8, 0 },
	{ "index", AT(device.index), STORE_U32, 0 },
	{ "units", AT(device.units), STORE_U32, 0 },
	{ "clock_mhz", AT(device.clock_mhz), STORE_U32, 0 },
	{ "memory_bytes", AT(device.memory_bytes), STORE_U64, 0 },
	{ "capability", AT(device.capability), STORE_U16, 0 },
	{ "threads_per_unit", AT(device.threads_per_unit), STORE_U16, 0 },
	{ "blocks_per_unit", AT(device.blocks_per_unit), STORE_U16, 0 },
	{ "registers_per_unit", AT(device.registers_per_unit), STORE_U32, 0 },
	{ "registers_per_block", AT(device.registers_per_block), STORE_U32, 0 },
	{ "shared_per_unit", AT(device.shared_per_unit), STORE_U32, 0 },
	{ "shared_per_block", AT(device.shared_per_block), STORE_U32, 0 },
	{ "bandwidth", AT(device.bandwidth), STORE_U64, 0 },
	{ "api", AT(device.api), STORE_TEXT, 0 },
	{ "name", AT(device.name), STORE_TEXT, 0 },
	{ "vendor", AT(device.vendor), STORE_TEXT, 0 },
	{ "platform", AT(device.platform), STORE_TEXT, 0 },
	{ "driver", AT(device.driver), STORE_TEXT, 0 },
	{ "address", AT(device.address), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec queue_spec[] = {
	{ "id", AT(queue.id), STORE_U32, 0 },
	{ "device", AT(queue.device), STORE_U32, 0 },
	{ "context", AT(queue.context), STORE_U32, 0 },
	{ "flags", AT(queue.flags), STORE_U32, 0 },
	{ "priority", AT(queue.priority), STORE_I32, 0 },
	{ "name", AT(queue.name), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec shape_spec[] = {
	{ "id", AT(shape.id), STORE_U32, 0 },
	{ "dims", AT(shape.dims), STORE_U32, 0 },
	{ "global", AT(shape.global), STORE_U64X3, 0 },
	{ "local", AT(shape.local), STORE_U32X3, 0 },
	{ "text", AT(shape.text), STORE_U32, 0 },
	{ "flop", AT(shape.flop), STORE_U64, 0 },
	{ "registers", AT(shape.registers), STORE_U32, 0 },
	{ "shared_static", AT(shape.shared_static), STORE_U32, 0 },
	{ "shared_dynamic", AT(shape.shared_dynamic), STORE_U32, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec frame_spec[] = {
	{ "id", AT(frame.id), STORE_U32, 0 },
	{ "parent", AT(frame.parent), STORE_U32, 0 },
	{ "file", AT(frame.file), STORE_U32, 0 },
	{ "function", AT(frame.function), STORE_U32, 0 },
	{ "line", AT(frame.line), STORE_U32, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec node_spec[] = {
	{ "id", AT(node.id), STORE_U32, 0 },
	{ "graph", AT(node.graph), STORE_U32, 0 },
	{ "name", AT(node.name), STORE_U32, 0 },
	{ "type", AT(node.op_type), STORE_U32, 0 },
	{ "device", AT(node.device), STORE_U32, 0 },
	{ "file", AT(node.file), STORE_U32, 0 },
	{ "line", AT(node.line), STORE_U32, 0 },
	{ "function", AT(node.function), STORE_U32, 0 },
	{ "origin", AT(node.origin), STORE_U32, 0 },
	{ "inputs", AT(node.inputs), STORE_TEXT, 0 },
	{ "attributes", AT(node.attributes), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec stage_spec[] = {
	{ "id", AT(stage.id), STORE_U32, 0 },
	{ "parent", AT(stage.parent), STORE_U32, 0 },
	{ "parallelism", AT(stage.parallelism), STORE_I32, 0 },
	{ "buffer", AT(stage.buffer), STORE_I32, 0 },
	{ "path", AT(stage.path), STORE_TEXT, 0 },
	{ "what", AT(stage.what), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec series_spec[] = {
	{ "id", AT(series.id), STORE_U32, 0 },
	{ "device", AT(series.device), STORE_U32, 0 },
	{ "name", AT(series.name), STORE_TEXT, 0 },
	{ "unit", AT(series.unit), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec info_spec[] = {
	{ "scope", AT(info.scope), STORE_TEXT, 0 },
	{ "key", AT(info.key), STORE_TEXT, 0 },
	{ "value", AT(info.value), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec message_spec[] = {
	{ "level", AT(message.level), STORE_U8, 0 },
	{ "text", AT(message.text), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec op_spec[] = {
	SEQ,
	{ "tid", AT(op.tid), STORE_U32, 0 },
	{ "instance", AT(op.instance), STORE_U64, 0 },
	{ "parent", AT(op.parent), STORE_U64, 0 },
	{ "name", AT(op.name), STORE_U32, 0 },
	{ "type", AT(op.op_type), STORE_U32, 0 },
	{ "domain", AT(op.domain), STORE_U32, 0 },
	{ "argb", AT(op.argb), STORE_U32, 0 },
	{ "start_ns", AT(op.start_ns), STORE_I64, 0 },
	{ "dur_ns", AT(op.dur_ns), STORE_I64, 0 },
	{ "step", AT(op.step), STORE_I64, 0 },
	{ "payload", AT(op.payload), STORE_U64, 0 },
	{ "forward", AT(op.forward), STORE_U64, 0 },
	{ "frame", AT(op.frame), STORE_U32, 0 },
	{ "shapes", AT(op.shapes), STORE_U32, 0 },
	{ "wait_ns", AT(op.wait_ns), STORE_I64, 0 },
	{ "waker", AT(op.waker), STORE_U32, 0 },
	{ "depth", AT(op.depth), STORE_U16, 0 },
	{ "framework", AT(op.framework), STORE_U8, 0 },
	{ "flags", AT(op.flags), STORE_U8, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec ops_fields[] = {
	SEQ,
	{ "tid", AT(op.tid), STORE_U32, 0 },
	{ "count", AT(op.name), STORE_U32, 0 },
	{ "base_ns", AT(op.start_ns), STORE_I64, 0 },
	{ "instance", AT(op.instance), STORE_U64, 0 },
	{ "words", 0, STORE_WORDS, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec step_spec[] = {
	SEQ,
	{ "name", AT(step.name), STORE_U32, 0 },
	{ "number", AT(step.number), STORE_I64, 0 },
	{ "start_ns", AT(step.start_ns), STORE_I64, 0 },
	{ "dur_ns", AT(step.dur_ns), STORE_I64, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec call_spec[] = {
	SEQ,
	{ "name", AT(call.name), STORE_U32, 0 },
	{ "start_ns", AT(call.start_ns), STORE_I64, 0 },
	{ "dur_ns", AT(call.dur_ns), STORE_I64, 0 },
	{ "correlation", AT(call.correlation), STORE_U32, 0 },
	{ "result", AT(call.result), STORE_I32, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec calls_spec[] = {
	{ "name", AT(calls.name), STORE_U32, 0 },
	{ "errors", AT(calls.errors), STORE_U32, 0 },
	{ "count", AT(calls.count), STORE_U64, 0 },
	{ "total_ns", AT(calls.total_ns), STORE_I64, 0 },
	{ "max_ns", AT(calls.max_ns), STORE_I64, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec command_spec[] = {
	SEQ,
	{ "tid", AT(command.tid), STORE_U32, 0 },
	{ "queue", AT(command.queue), STORE_U32, 0 },
	{ "name", AT(command.name), STORE_U32, 0 },
	{ "shape", AT(command.shape), STORE_U32, 0 },
	{ "correlation", AT(command.correlation), STORE_U32, 0 },
	{ "op", AT(command.op), STORE_U64, 0 },
	{ "op_name", AT(command.op_name), STORE_U32, 0 },
	{ "call_dur_ns", AT(command.call_dur_ns), STORE_U32, 0 },
	{ "call_ns", AT(command.call_ns), STORE_I64, 0 },
	{ "queued_ticks", AT(command.queued_ticks), STORE_U64, 0 },
	{ "submit_ticks", AT(command.submit_ticks), STORE_U64, 0 },
	{ "start_ticks", AT(command.start_ticks), STORE_U64, 0 },
	{ "end_ticks", AT(command.end_ticks), STORE_U64, 0 },
	{ "bytes", AT(command.bytes), STORE_U64, 0 },
	{ "status", AT(command.status), STORE_I32, 16 },
	{ "kind", AT(command.kind), STORE_U8, 0 },
	{ "direction", AT(command.direction), STORE_U8, 0 },
	{ "how", AT(command.how), STORE_U8, 0 },
	{ "flags", AT(command.flags), STORE_U8, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec launch_spec[] = {
	SEQ,
	{ "tid", AT(launch.tid), STORE_U32, 0 },
	{ "queue", AT(launch.queue), STORE_U32, 0 },
	{ "name", AT(launch.name), STORE_U32, 0 },
	{ "shape", AT(launch.shape), STORE_U32, 0 },
	{ "correlation", AT(launch.correlation), STORE_U32, 0 },
	{ "op_name", AT(launch.op_name), STORE_U32, 0 },
	{ "call_dur_ns", AT(launch.call_dur_ns), STORE_U32, 0 },
	{ "op", AT(launch.op), STORE_U64, 0 },
	{ "object", AT(launch.object), STORE_U64, 0 },
	{ "bytes", AT(launch.bytes), STORE_U64, 0 },
	{ "call_ns", AT(launch.call_ns), STORE_I64, 0 },
	{ "status", AT(launch.status), STORE_I32, 16 },
	{ "kind", AT(launch.kind), STORE_U8, 0 },
	{ "direction", AT(launch.direction), STORE_U8, 0 },
	{ "flags", AT(launch.flags), STORE_U8, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec run_spec[] = {
	SEQ,
	{ "queue", AT(run.queue), STORE_U32, 0 },
	{ "name", AT(run.name), STORE_U32, 0 },
	{ "correlation", AT(run.correlation), STORE_U32, 0 },
	{ "op_name", AT(run.op_name), STORE_U32, 0 },
	{ "shape", AT(run.shape), STORE_U32, 0 },
	{ "object", AT(run.object), STORE_U64, 0 },
	{ "bytes", AT(run.bytes), STORE_U64, 0 },
	{ "queued_ticks", AT(run.queued_ticks), STORE_U64, 0 },
	{ "submit_ticks", AT(run.submit_ticks), STORE_U64, 0 },
	{ "start_ticks", AT(run.start_ticks), STORE_U64, 0 },
	{ "end_ticks", AT(run.end_ticks), STORE_U64, 0 },
	{ "status", AT(run.status), STORE_I32, 16 },
	{ "kind", AT(run.kind), STORE_U8, 0 },
	{ "direction", AT(run.direction), STORE_U8, 0 },
	{ "flags", AT(run.flags), STORE_U8, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec alloc_spec[] = {
	SEQ,
	{ "allocator", AT(alloc.allocator), STORE_U32, 0 },
	{ "device", AT(alloc.device), STORE_U32, 0 },
	{ "op_name", AT(alloc.op_name), STORE_U32, 0 },
	{ "address", AT(alloc.address), STORE_U64, 0 },
	{ "bytes", AT(alloc.bytes), STORE_U64, 0 },
	{ "op", AT(alloc.op), STORE_U64, 0 },
	{ "at_ns", AT(alloc.at_ns), STORE_I64, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec free_spec[] = {
	SEQ,
	{ "allocator", AT(free.allocator), STORE_U32, 0 },
	{ "address", AT(free.address), STORE_U64, 0 },
	{ "at_ns", AT(free.at_ns), STORE_I64, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec region_spec[] = {
	SEQ,
	{ "allocator", AT(region.allocator), STORE_U32, 0 },
	{ "device", AT(region.device), STORE_U32, 0 },
	{ "address", AT(region.address), STORE_U64, 0 },
	{ "bytes", AT(region.bytes), STORE_U64, 0 },
	{ "joined", AT(region.joined), STORE_U8, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec wait_spec[] = {
	SEQ,
	{ "name", AT(wait.name), STORE_U32, 0 },
	{ "start_ns", AT(wait.start_ns), STORE_I64, 0 },
	{ "dur_ns", AT(wait.dur_ns), STORE_I64, 0 },
	{ "queue", AT(wait.queue), STORE_U32, 0 },
	{ "correlation", AT(wait.correlation), STORE_U32, 0 },
	{ "op_name", AT(wait.op_name), STORE_U32, 0 },
	{ "op", AT(wait.op), STORE_U64, 0 },
	{ "result", AT(wait.result), STORE_I32, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec compile_spec[] = {
	SEQ,
	{ "start_ns", AT(compile.start_ns), STORE_I64, 0 },
	{ "dur_ns", AT(compile.dur_ns), STORE_I64, 0 },
	{ "result", AT(compile.result), STORE_I32, 0 },
	{ "what", AT(compile.what), STORE_TEXT, 0 },
	{ "options", AT(compile.options), STORE_TEXT, 0 },
	{ "log", AT(compile.log), STORE_TEXT, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec flow_spec[] = {
	SEQ,
	{ "name", AT(flow.name), STORE_U32, 0 },
	{ "key", AT(flow.key), STORE_U64, 0 },
	{ "bytes", AT(flow.bytes), STORE_U64, 0 },
	{ "at_ns", AT(flow.at_ns), STORE_I64, 0 },
	{ "dur_ns", AT(flow.dur_ns), STORE_I64, 0 },
	{ "op", AT(flow.op), STORE_U64, 0 },
	{ "phase", AT(flow.phase), STORE_U8, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec edge_spec[] = {
	SEQ,
	{ "from", AT(edge.from), STORE_U64, 0 },
	{ "to", AT(edge.to), STORE_U64, 0 },
	{ "bytes", AT(edge.bytes), STORE_U64, 0 },
	{ "key", AT(edge.key), STORE_U32, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec stages_spec[] = {
	SEQ,
	{ "stage", AT(stages.stage), STORE_U32, 0 },
	{ "elements", AT(stages.elements), STORE_U64, 0 },
	{ "total_ns", AT(stages.total_ns), STORE_I64, 0 },
	{ "self_ns", AT(stages.self_ns), STORE_I64, 0 },
	{ "busy_ns", AT(stages.busy_ns), STORE_I64, 0 },
	{ "wait_ns", AT(stages.wait_ns), STORE_I64, 0 },
	{ "max_ns", AT(stages.max_ns), STORE_I64, 0 },
	{ "begin_ns", AT(stages.begin_ns), STORE_I64, 0 },
	{ "end_ns", AT(stages.end_ns), STORE_I64, 0 },
	{ "bytes", AT(stages.bytes), STORE_U64, 0 },
	{ "parallelism", AT(stages.parallelism), STORE_I32, 0 },
	{ "buffered", AT(stages.buffered), STORE_I32, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec pool_spec[] = {
	SEQ,
	{ "tid", AT(pool.tid), STORE_U32, 0 },
	{ "closures", AT(pool.closures), STORE_U64, 0 },
	{ "with_ops", AT(pool.with_ops), STORE_U64, 0 },
	{ "timed", AT(pool.timed), STORE_U64, 0 },
	{ "wait_ns", AT(pool.wait_ns), STORE_I64, 0 },
	{ "max_wait_ns", AT(pool.max_wait_ns), STORE_I64, 0 },
	{ "busy_ns", AT(pool.busy_ns), STORE_I64, 0 },
	{ "begin_ns", AT(pool.begin_ns), STORE_I64, 0 },
	{ "end_ns", AT(pool.end_ns), STORE_I64, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec counter_spec[] = {
	SEQ,
	{ "series", AT(counter.series), STORE_U32, 0 },
	{ "at_ns", AT(counter.at_ns), STORE_I64, 0 },
	{ "value", AT(counter.value), STORE_I64, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec clock_spec[] = {
	{ "device", AT(clock.device), STORE_U32, 0 },
	{ "quality", AT(clock.quality), STORE_U8, 0 },
	{ "ticks", AT(clock.ticks), STORE_U64, 0 },
	{ "host_ns", AT(clock.host_ns), STORE_I64, 0 },
	{ "error_ns", AT(clock.error_ns), STORE_I64, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec settled_spec[] = {
	{ "settled_ns", AT(settled_ns), STORE_I64, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec level_spec[] = {
	{ "at_ns", AT(level.at_ns), STORE_I64, 0 },
	{ "level", AT(level.level), STORE_U8, 0 },
	{ NULL, 0, 0, 0 }
};
static const struct field_spec beat_spec[] = {
	{ "events", AT(beat.events), STORE_U64, 0 },
	{ "calls", AT(beat.calls), STORE_U64, 0 },
	{ "dropped", AT(beat.dropped), STORE_U64, 0 },
	{ "vendor_dropped", AT(beat.vendor_dropped), STORE_U64, 0 },
	{ "own_ns", AT(beat.own_ns), STORE_I64, 0 },
	{ "mono_ns", AT(beat.mono_ns), STORE_I64, 0 },
	{ "real_ns", AT(beat.real_ns), STORE_I64, 0 },
	{ "raw_ns", AT(beat.raw_ns), STORE_I64, 0 },
	{ NULL, 0, 0, 0 }
};

const struct event_spec event_specs[EVENT_SPECS] = {
	{ "def_process", EVENT_PROCESS, process_spec },
	{ "def_exit", EVENT_EXIT, exit_spec },
	{ "def_probe", EVENT_PROBE, probe_spec },
	{ "def_name", EVENT_NAME, name_spec },
	{ "def_thread", EVENT_THREAD, thread_spec },
	{ "def_device", EVENT_DEVICE, device_spec },
	{ "def_queue", EVENT_QUEUE, queue_spec },
	{ "def_shape", EVENT_SHAPE, shape_spec },
	{ "def_frame", EVENT_FRAME, frame_spec },
	{ "def_node", EVENT_NODE, node_spec },
	{ "def_stage", EVENT_STAGE, stage_spec },
	{ "def_series", EVENT_SERIES, series_spec },
	{ "def_info", EVENT_INFO, info_spec },
	{ "def_message", EVENT_MESSAGE, message_spec },
	{ "ev_op", EVENT_OP, op_spec },
	{ "ev_step", EVENT_STEP, step_spec },
	{ "ev_call", EVENT_CALL, call_spec },
	{ "ev_calls", EVENT_CALLS, calls_spec },
	{ "ev_command", EVENT_COMMAND, command_spec },
	{ "ev_launch", EVENT_LAUNCH, launch_spec },
	{ "ev_run", EVENT_RUN, run_spec },
	{ "ev_alloc", EVENT_ALLOC, alloc_spec },
	{ "ev_free", EVENT_FREE, free_spec },
	{ "ev_region", EVENT_REGION, region_spec },
	{ "ev_wait", EVENT_WAIT, wait_spec },
	{ "ev_compile", EVENT_COMPILE, compile_spec },
	{ "ev_flow", EVENT_FLOW, flow_spec },
	{ "ev_edge", EVENT_EDGE, edge_spec },
	{ "ev_stages", EVENT_STAGES, stages_spec },
	{ "ev_pool", EVENT_POOL, pool_spec },
	{ "ev_counter", EVENT_COUNTER, counter_spec },
	{ "ev_clock", EVENT_CLOCK, clock_spec },
	{ "ev_settled", EVENT_SETTLED, settled_spec },
	{ "ev_level", EVENT_LEVEL, level_spec },
	{ "ev_beat", EVENT_BEAT, beat_spec },
};

const struct event_spec ops_spec = { "ev_ops", EVENT_OP, ops_fields };

unsigned int field_bits(const struct field_spec *field)
{
	static const uint8_t bits[] = {
		[STORE_U8] = 8, [STORE_U16] = 16, [STORE_U32] = 32, [STORE_U64] = 64,
		[STORE_I32] = 32, [STORE_I64] = 64, [STORE_TEXT] = 0,
		[STORE_U64X3] = 64, [STORE_U32X3] = 32, [STORE_WORDS] = 64,
	};

	return field->bits ? field->bits : bits[field->store];
}
