/* SPDX-License-Identifier: MIT */
/*
 * The values of the fields of records_table.h that are enumerations or flags: the only place
 * where they are written down. Whoever includes this table defines ENUM and VALUE before:
 * records.h makes the enums of the probes (TFT_...) of it, model/event.h those of the model,
 * and tests/schema_page.py makes docs/schema.md of it. There is no include guard, and the table
 * undefines its macros at its end.
 *
 *	ENUM(tag in the probes, tag in the model, values)
 *	VALUE(name in the probes, name in the model, value)
 *	PROBE_VALUE(name in the probes, value): the model has no name for it
 *
 * A value is part of the wire format: never change one, add new ones before the count.
 */

/* The version of the schema: raise it when a record that exists changes. */
ENUM(tft_schema, event_schema,
	VALUE(TFT_SCHEMA_VERSION, EVENT_SCHEMA, 15)
)

/* What stands for the number of a step that is a forward pass of a model. */
ENUM(tft_step_number, step_number,
	VALUE(TFT_STEP_PASS, STEP_PASS, -2)
)

/* What a command on a queue does. */
ENUM(tft_kind, command_kind,
	VALUE(TFT_KIND_NONE, COMMAND_NONE, 0)
	VALUE(TFT_KIND_KERNEL, COMMAND_KERNEL, 1)	/* an NDRange kernel or a task */
	VALUE(TFT_KIND_COPY, COMMAND_COPY, 2)	/* a read, write or copy of buffers, rectangles,
						 * images or shared virtual memory */
	VALUE(TFT_KIND_FILL, COMMAND_FILL, 3)
	VALUE(TFT_KIND_MAP, COMMAND_MAP, 4)
	VALUE(TFT_KIND_UNMAP, COMMAND_UNMAP, 5)
	VALUE(TFT_KIND_MARKER, COMMAND_MARKER, 6)
	VALUE(TFT_KIND_BARRIER, COMMAND_BARRIER, 7)
	VALUE(TFT_KIND_NATIVE, COMMAND_NATIVE, 8)	/* a native kernel: a host function */
	VALUE(TFT_KIND_MIGRATE, COMMAND_MIGRATE, 9)
	VALUE(TFT_KIND_GRAPH, COMMAND_GRAPH, 10)	/* a whole command buffer or graph */
	VALUE(TFT_KIND_OTHER, COMMAND_OTHER, 11)
	VALUE(TFT_KIND_COUNT, COMMAND_KIND_COUNT, 12)
)

/* Where bytes went; only of a copy, fill, map, unmap or migration. */
ENUM(tft_direction, direction,
	VALUE(TFT_DIR_NONE, DIR_NONE, 0)
	VALUE(TFT_DIR_H2D, DIR_H2D, 1)		/* host to device */
	VALUE(TFT_DIR_D2H, DIR_D2H, 2)		/* device to host */
	VALUE(TFT_DIR_D2D, DIR_D2D, 3)		/* within a device */
	VALUE(TFT_DIR_P2P, DIR_P2P, 4)		/* between two devices */
	VALUE(TFT_DIR_H2H, DIR_H2H, 5)		/* host to host */
	VALUE(TFT_DIR_FILL, DIR_FILL, 6)
	VALUE(TFT_DIR_MAP, DIR_MAP, 7)
	VALUE(TFT_DIR_UNMAP, DIR_UNMAP, 8)
	VALUE(TFT_DIR_SEND, DIR_SEND, 9)
	VALUE(TFT_DIR_RECV, DIR_RECV, 10)
	VALUE(TFT_DIR_COUNT, DIR_COUNT, 11)
)

/* How a run was joined to its launch, and so to its op. */
ENUM(tft_how, how,
	VALUE(TFT_HOW_NONE, HOW_NONE, 0)
	VALUE(TFT_HOW_EXACT, HOW_EXACT, 1)	/* by an id that the device record carries */
	VALUE(TFT_HOW_EVENT, HOW_EVENT, 2)	/* by an event object */
	VALUE(TFT_HOW_FIFO, HOW_FIFO, 3)	/* by the order on an in-order queue */
	VALUE(TFT_HOW_GUESS, HOW_GUESS, 4)
	VALUE(TFT_HOW_COUNT, HOW_COUNT, 5)
)

/* What a name names. */
ENUM(tft_name_kind, name_kind,
	VALUE(TFT_NAME_OTHER, NAME_OTHER, 0)
	VALUE(TFT_NAME_KERNEL, NAME_KERNEL, 1)
	VALUE(TFT_NAME_OP, NAME_OP, 2)
	VALUE(TFT_NAME_OP_TYPE, NAME_OP_TYPE, 3)
	VALUE(TFT_NAME_RANGE, NAME_RANGE, 4)
	VALUE(TFT_NAME_DOMAIN, NAME_DOMAIN, 5)
	VALUE(TFT_NAME_CALL, NAME_CALL, 6)
	VALUE(TFT_NAME_ALLOCATOR, NAME_ALLOCATOR, 7)
	VALUE(TFT_NAME_NODE, NAME_NODE, 8)	/* a node of a graph, as written there */
	VALUE(TFT_NAME_SOURCE, NAME_SOURCE, 9)	/* a file or a function of the program's source */
	VALUE(TFT_NAME_KEY, NAME_KEY, 10)	/* of data that moves: a tensor, a rendezvous key */
	VALUE(TFT_NAME_SHAPES, NAME_SHAPES, 11)	/* the shapes of an op's inputs: "[64, 3, 32, 32]
						 * f32, [16, 3, 3, 3] f32" */
	VALUE(TFT_NAME_COUNT, NAME_KIND_COUNT, 12)
)

/* What a thread does while it runs no op and launches nothing. */
ENUM(tft_doing_kind, doing_kind,
	VALUE(TFT_DOING_OTHER, DOING_OTHER, 0)	/* waits in another call of the kernel */
	VALUE(TFT_DOING_PYTHON, DOING_PYTHON, 1)	/* runs Python */
	VALUE(TFT_DOING_NATIVE, DOING_NATIVE, 2)	/* runs other code */
	VALUE(TFT_DOING_SLEEP, DOING_SLEEP, 3)	/* for a time that it chose */
	VALUE(TFT_DOING_FILE, DOING_FILE, 4)	/* waits for a file or a device */
	VALUE(TFT_DOING_SOCKET, DOING_SOCKET, 5)
	VALUE(TFT_DOING_PIPE, DOING_PIPE, 6)
	VALUE(TFT_DOING_POLL, DOING_POLL, 7)	/* for any of several */
	VALUE(TFT_DOING_LOCK, DOING_LOCK, 8)	/* for another thread */
	VALUE(TFT_DOING_GIL, DOING_GIL, 9)	/* for Python's global lock */
	VALUE(TFT_DOING_CHILD, DOING_CHILD, 10)	/* for a child process to end */
	VALUE(TFT_DOING_FAULT, DOING_FAULT, 11)	/* for a page of memory */
	VALUE(TFT_DOING_CPU, DOING_CPU, 12)	/* could run, but has no processor */
	VALUE(TFT_DOING_GC, DOING_GC, 13)	/* collects Python's garbage */
	VALUE(TFT_DOING_IMPORT, DOING_IMPORT, 14)	/* loads a module of Python */
	VALUE(TFT_DOING_STOPPED, DOING_STOPPED, 15)	/* the whole process was stopped */
	VALUE(TFT_DOING_THROTTLED, DOING_THROTTLED, 16)	/* could run, but a limit had stopped it */
	VALUE(TFT_DOING_COMPILE, DOING_COMPILE, 17)	/* compiles or traces, or waits for that */
	VALUE(TFT_DOING_COUNT, DOING_COUNT, 18)
)

/* Who told an op or a range. */
ENUM(tft_framework, framework,
	VALUE(TFT_FW_NONE, FW_NONE, 0)
	VALUE(TFT_FW_NVTX, FW_NVTX, 1)
	VALUE(TFT_FW_ITT, FW_ITT, 2)
	VALUE(TFT_FW_OPENCL, FW_OPENCL, 3)
	VALUE(TFT_FW_TENSORFLOW, FW_TENSORFLOW, 4)
	VALUE(TFT_FW_PYTORCH, FW_PYTORCH, 5)
	VALUE(TFT_FW_JAX, FW_JAX, 6)
	VALUE(TFT_FW_ONEDNN, FW_ONEDNN, 7)
	VALUE(TFT_FW_COUNT, FW_COUNT, 8)
)

/* Which part of a message a flow record tells. Both ends of a message tell what they know. */
ENUM(tft_flow_phase, flow_phase,
	VALUE(TFT_FLOW_SENT, FLOW_SENT, 0)	/* at_ns: when sending began */
	VALUE(TFT_FLOW_RECEIVED, FLOW_RECEIVED, 1)	/* at_ns: when it had been received;
							 * dur_ns: how long the receiver had
							 * waited */
	VALUE(TFT_FLOW_ENCODED, FLOW_ENCODED, 2)	/* by the sender, from at_ns for dur_ns */
	VALUE(TFT_FLOW_DECODED, FLOW_DECODED, 3)	/* by the receiver, likewise */
	VALUE(TFT_FLOW_MADE, FLOW_MADE, 4)	/* no message: name is an op, whose output has so
						 * many bytes */
	VALUE(TFT_FLOW_COUNT, FLOW_PHASE_COUNT, 5)
)

/* How the source line of a graph's node was found. */
ENUM(tft_origin, node_origin,
	VALUE(TFT_ORIGIN_NONE, ORIGIN_NONE, 0)	/* it was not found */
	VALUE(TFT_ORIGIN_EXACT, ORIGIN_EXACT, 1)	/* where this node was made */
	VALUE(TFT_ORIGIN_NAME, ORIGIN_NAME, 2)	/* where the node was made that this one, by its
						 * name, was made of or is a part of */
	VALUE(TFT_ORIGIN_CALL, ORIGIN_CALL, 3)	/* an argument or result of a function: where the
						 * function is called first */
	VALUE(TFT_ORIGIN_FIRST, ORIGIN_FIRST, 4)	/* an eager op: where the first of its
							 * type ran */
	VALUE(TFT_ORIGIN_COUNT, ORIGIN_COUNT, 5)
)

/* How a device's clock was matched to the host's. */
ENUM(tft_clock_quality, clock_quality,
	VALUE(TFT_CLOCK_ESTIMATE, CLOCK_ESTIMATE, 0)	/* from the times around enqueue calls */
	VALUE(TFT_CLOCK_KNOWN, CLOCK_KNOWN, 1)	/* it is a clock of the host */
	VALUE(TFT_CLOCK_DRIVER, CLOCK_DRIVER, 2)	/* the driver read both clocks together */
)

/* Flags of an op. */
ENUM(tft_op_flag, op_flag,
	VALUE(TFT_OP_RANGE, OP_RANGE, 0x01)	/* the user's own range (NVTX, ITT, ...) */
	VALUE(TFT_OP_INNER, OP_INNER, 0x02)	/* a launch or an op happened inside */
	VALUE(TFT_OP_ASYNC, OP_ASYNC, 0x04)	/* begun and ended by an id, not on the stack of
						 * a thread */
	VALUE(TFT_OP_COLOUR, OP_COLOUR, 0x08)	/* argb is set */
	VALUE(TFT_OP_MARK, OP_MARK, 0x10)	/* an instant: dur_ns is 0 and means nothing */
	PROBE_VALUE(TFT_OP_SIGNED, 0x20)	/* payload is an int64_t */
	PROBE_VALUE(TFT_OP_REAL, 0x40)		/* payload holds the bits of a double */
	PROBE_VALUE(TFT_OP_CUT, 0x80)		/* its end was not seen: dur_ns reaches to when
						 * the level went off or its thread ended */
)

/* Flags of a command, a launch and a run. */
ENUM(tft_command_flag, command_flag,
	VALUE(TFT_CMD_APPROX, CMD_APPROX, 0x01)	/* start and end are times of host callbacks, in
						 * ns, not ticks */
	VALUE(TFT_CMD_OPEN, CMD_OPEN, 0x02)	/* an announcement: enqueued, not finished yet,
						 * no device times */
	VALUE(TFT_CMD_PINNED, CMD_PINNED, 0x04)	/* the host memory of the copy is the driver's:
						 * pinned or mapped */
	VALUE(TFT_CMD_BLOCKING, CMD_BLOCKING, 0x08)	/* the call waited for the command */
	VALUE(TFT_CMD_NOTIMES, CMD_NOTIMES, 0x10)	/* finished, but the driver gave no times */
	VALUE(TFT_CMD_MANY, CMD_MANY, 0x20)	/* a launch whose correlation several runs carry,
						 * as a graph's; in the model: a command that was
						 * launched together with others */
)

/* Flags of a queue. */
ENUM(tft_queue_flag, queue_flag,
	VALUE(TFT_QUEUE_IN_ORDER, QUEUE_IN_ORDER, 0x01)
	VALUE(TFT_QUEUE_PROFILED, QUEUE_PROFILED, 0x02)	/* the driver gives device times ... */
	VALUE(TFT_QUEUE_FORCED, QUEUE_FORCED, 0x04)	/* ... because the probe asked for them */
	VALUE(TFT_QUEUE_FOUND, QUEUE_FOUND, 0x08)	/* older than its probe: its first
							 * launches were not seen */
	VALUE(TFT_QUEUE_DEFAULT, QUEUE_DEFAULT, 0x10)	/* where work goes for which the program
							 * names no queue */
)

/* Ids of devices and queues that the runtime defines for the processor count from here, the
 * device first: far from those of the probes. */
ENUM(tft_own_ids, event_own_ids,
	VALUE(TFT_OWN_IDS, EVENT_OWN_IDS, 0x40000000)
)

/* Instead of the device of a series: it says what the process takes of its machine, such as
 * processor time or memory. The first one of a process stands for the others. */
ENUM(tft_series_of, event_series_of,
	VALUE(TFT_SERIES_USAGE, EVENT_SERIES_USAGE, 0x7fffffff)
)

#undef ENUM
#undef VALUE
#undef PROBE_VALUE
