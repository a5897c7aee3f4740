/* SPDX-License-Identifier: MIT */
/*
 * Everything that may cross the wire, record by record and field by field: the only place where
 * this is written down. Each record is one event of the LTTng provider "tftop". Whoever includes
 * this table defines the macros that it uses before, and makes of it
 *
 *	records.h				the structs that probes fill in (struct tft_...)
 *	model/event.h				the structs of the model (struct event_...)
 *	tftop-tp.h				the tracepoints
 *	probes/session/decode/fields.c		the table by which tftop reads and writes recordings
 *	tests/schema_page.py			docs/schema.md
 *
 * There is no include guard, and the table undefines its macros at its end.
 *
 *	RECORD(event, name, EVENT_TYPE, fields)	struct tft_NAME in a probe, struct event_NAME in the
 *						model. Events def_... are definitions and go to the
 *						channel "meta", the others are data for "events".
 *	FIELD(type, name)			an integer
 *	FIELD_AS(type, name, member)		an integer that the model calls MEMBER
 *	ARRAY(type, name)			three integers
 *	TEXT(name)				a string that ends with NUL
 *	SEQ()					the number of the event on its thread
 *	SCHEMA()				the version of the schema
 *	PACKED_RECORD, WORDS(name, count)	of the one record that holds many ops: records.h
 *
 * The order of the fields is their order on the wire. Raise TFT_SCHEMA_VERSION (values_table.h)
 * when a record that exists changes. Always true:
 *
 *  - Host times (_ns) are CLOCK_MONOTONIC nanoseconds of the program's host. Device times (_ticks)
 *    are as the driver gave them; 0 means "not given".
 *  - Ids (of names, devices, queues, shapes, instances, correlations) are counted per process from
 *    1; 0 means none. A forked child counts anew, except for names and shapes, and sends its
 *    definitions again. The process is the vpid context of the event, the thread that wrote it the
 *    vtid context.
 *  - seq counts the events of the thread that writes them from 1, so that a loss has an exact
 *    place. Each op and each kernel of an ev_ops counts.
 *  - The two channels are not ordered to each other: an id may be used before its definition
 *    arrives. A flood of data cannot starve the definitions.
 *  - Strings are cut to TFT_TEXT_MAX bytes; control characters are kept as they are.
 */

/* ---- definitions: channel "meta" ---- */

/* A process. Sent when the first probe of the process arms, and again after fork and when tftop
 * asks for all definitions. The three clocks were read back to back. */
RECORD(def_process, process, EVENT_PROCESS,
	SCHEMA()			/* TFT_SCHEMA_VERSION */
	FIELD(int32_t, parent)		/* pid of the parent, as the process sees it */
	FIELD(int32_t, starter)		/* pid of whom a fork server of Python started it for; -1:
					 * it is such a server; 0: neither, or not known */
	FIELD(int64_t, start_ns)	/* when the process started (from /proc/self/stat) */
	FIELD(int64_t, mono_ns)		/* CLOCK_MONOTONIC */
	FIELD(int64_t, real_ns)		/* CLOCK_REALTIME */
	FIELD(int64_t, raw_ns)		/* CLOCK_MONOTONIC_RAW */
	FIELD(int32_t, rank)		/* in a distributed job; -1 unknown */
	FIELD(int32_t, world)		/* how many ranks the job has; -1 unknown */
	TEXT(host)			/* name of the host */
	TEXT(command)			/* command line, arguments joined by spaces */
)

/* The process is about to end or to call exec. Best effort: one that is killed sends none. */
RECORD(def_exit, exit, EVENT_EXIT,
	FIELD(int32_t, reason)		/* 0 exit, 1 _exit, 2 exec */
	FIELD(int32_t, status)		/* exit status where known, else -1 */
)

/* A probe has armed in the process. */
RECORD(def_probe, probe, EVENT_PROBE,
	TEXT(name)			/* "opencl", "nvtx", ... */
	TEXT(version)
	TEXT(blind)			/* one sentence: what it cannot see; "" when nothing */
)

/* A name, told once; all other records use its id. */
RECORD(def_name, name, EVENT_NAME,
	FIELD(uint32_t, id)
	FIELD(uint8_t, kind)		/* enum tft_name_kind */
	TEXT(text)
)

/* The name of a thread. */
RECORD(def_thread, thread, EVENT_THREAD,
	FIELD(uint32_t, tid)
	TEXT(name)
)

/* A device. Limits: what a kernel can have of it; "unit" is a multiprocessor; 0 means unknown. */
RECORD(def_device, device, EVENT_DEVICE,
	FIELD(uint32_t, id)
	FIELD(uint32_t, index)		/* within its platform */
	FIELD(uint32_t, units)		/* compute units or multiprocessors; 0 unknown */
	FIELD(uint32_t, clock_mhz)
	FIELD(uint64_t, memory_bytes)
	FIELD(uint16_t, capability)	/* CUDA's compute capability: 10 * major + minor */
	FIELD(uint16_t, threads_per_unit)
	FIELD(uint16_t, blocks_per_unit)
	FIELD(uint8_t, gpu)		/* 0 processor, 1 GPU, 2 accelerator or other */
	FIELD(uint32_t, registers_per_unit)
	FIELD(uint32_t, registers_per_block)
	FIELD(uint32_t, shared_per_unit)	/* bytes of shared memory */
	FIELD(uint32_t, shared_per_block)	/* bytes, for a kernel that does not opt in to
						 * more */
	FIELD(uint64_t, bandwidth)	/* of its memory, at most: bytes per second */
	TEXT(api)			/* "opencl", "cuda" */
	TEXT(name)
	TEXT(vendor)
	TEXT(platform)
	TEXT(driver)
	TEXT(address)			/* PCI address or UUID; "" unknown */
)

/* A queue or stream. */
RECORD(def_queue, queue, EVENT_QUEUE,
	FIELD(uint32_t, id)		/* in the order in which the process created them, from
					 * 1; queues of the processor count from TFT_OWN_IDS + 1 */
	FIELD(uint32_t, device)
	FIELD(uint32_t, context)
	FIELD(uint32_t, flags)		/* enum tft_queue_flag */
	FIELD(int32_t, priority)	/* CUDA's: lower is more urgent, 0 is the usual one */
	TEXT(name)			/* given by the user; "" none */
)

/* The geometry of a launch. Most programs use few different ones: each is told once. */
RECORD(def_shape, shape, EVENT_SHAPE,
	FIELD(uint32_t, id)
	FIELD(uint32_t, dims)		/* 1 to 3; 0: there is only text */
	ARRAY(uint64_t, global)		/* work items (OpenCL), or grid blocks times block
					 * threads (CUDA) */
	ARRAY(uint32_t, local)		/* size of the work-group or block; 0: the driver chose
					 * it */
	FIELD(uint32_t, text)		/* name id: a problem size in the library's own words; 0
					 * none */
	FIELD(uint64_t, flop)		/* floating-point operations of one launch; 0 unknown */
	FIELD(uint32_t, registers)	/* per thread (work item); 0 unknown */
	FIELD(uint32_t, shared_static)	/* bytes of shared memory per block, fixed by the
					 * compiler */
	FIELD(uint32_t, shared_dynamic)	/* bytes of shared memory per block, asked for by the
					 * launch */
)

/* A line of the program's source, in its function, and who called that. A torch.nn.Module that
 * was called stands between two such frames, without a line, with TFT_FRAME_MODULE as its file
 * and its class as the function. Where only the line is told, the modules that it ran in and
 * those that it called are told with it. */
RECORD(def_frame, frame, EVENT_FRAME,
	FIELD(uint32_t, id)
	FIELD(uint32_t, parent)		/* the caller's frame, a lower id; 0: only the line is
					 * told */
	FIELD(uint32_t, file)		/* name id */
	FIELD(uint32_t, function)	/* name id */
	FIELD(uint32_t, line)
)

/* A node of a graph as it runs, after optimisation. A node that is sent again replaces the one
 * of the same id. */
RECORD(def_node, node, EVENT_NODE,
	FIELD(uint32_t, id)
	FIELD(uint32_t, graph)		/* name id: of a function or a session */
	FIELD(uint32_t, name)		/* name id */
	FIELD_AS(uint32_t, type, op_type)	/* name id */
	FIELD(uint32_t, device)		/* name id */
	FIELD(uint32_t, file)		/* name id: of the user's source; 0 unknown */
	FIELD(uint32_t, line)		/* 0 unknown */
	FIELD(uint32_t, function)	/* name id; 0 unknown */
	FIELD(uint32_t, origin)		/* enum tft_origin: how file, line and function were
					 * found */
	TEXT(inputs)			/* as GraphDef writes them, separated by blanks: "a b:1
					 * ^c" */
	TEXT(attributes)		/* lines "key=value" */
)

/* A stage of an input pipeline. */
RECORD(def_stage, stage, EVENT_STAGE,
	FIELD(uint32_t, id)
	FIELD(uint32_t, parent)		/* the stage that takes its elements, a lower id; 0: the
					 * program takes them */
	FIELD(int32_t, parallelism)	/* calls at once as configured; 0 not parallel, -1 chosen
					 * at run time */
	FIELD(int32_t, buffer)		/* elements it may hold; 0 none, -1 chosen at run time */
	TEXT(path)			/* "Prefetch::ParallelMap::TensorSlice", the outermost
					 * first */
	TEXT(what)			/* kind and name in the graph: "ParallelMapDatasetV2:2" */
)

/* What a series of counters counts. */
RECORD(def_series, series, EVENT_SERIES,
	FIELD(uint32_t, id)
	FIELD(uint32_t, device)		/* 0: of the process; or TFT_SERIES_USAGE */
	TEXT(name)			/* "fragmentation", "queued ops" */
	TEXT(unit)			/* of ev_counter.value: "bytes", "1/1000"; "" a count */
)

/* A setting of the program, a framework or a library: shown by the command ri. One of the same
 * scope and key that is sent again replaces it. */
RECORD(def_info, info, EVENT_INFO,
	TEXT(scope)			/* "tensorflow" */
	TEXT(key)
	TEXT(value)
)

/* A message of a probe to the user. */
RECORD(def_message, message, EVENT_MESSAGE,
	FIELD(uint8_t, level)		/* 0 info, 1 warning, 2 error */
	TEXT(text)
)

/* ---- data: channel "events" ---- */

/* A finished op, range or mark that is written alone (ev_ops holds most of them). An op that
 * has been open for 10 ms is announced by one whose dur_ns is -1; the finished one follows with
 * the same instance, in either event. */
RECORD(ev_op, op, EVENT_OP,
	SEQ()
	FIELD(uint32_t, tid)		/* the thread on which it began */
	FIELD(uint64_t, instance)
	FIELD(uint64_t, parent)		/* instance of the op that it ran in; 0 none */
	FIELD(uint32_t, name)		/* name id */
	FIELD_AS(uint32_t, type, op_type)	/* name id; 0 none */
	FIELD(uint32_t, domain)		/* name id: of a range its domain, of a framework's op
					 * the graph whose node it is; 0 none */
	FIELD(uint32_t, argb)		/* colour of a range: TFT_OP_COLOUR */
	FIELD(int64_t, start_ns)
	FIELD(int64_t, dur_ns)		/* -1: it is still open */
	FIELD(int64_t, step)		/* number of the step; -1 none */
	FIELD(uint64_t, payload)	/* of a range: the user's; of a framework's op: a
					 * fingerprint of the data that it copies; 0 none */
	FIELD(uint64_t, forward)	/* instance of the op whose gradient this is; 0 none */
	FIELD(uint32_t, frame)		/* where in the program it was called (def_frame); 0
					 * unknown */
	FIELD(uint32_t, shapes)		/* name id: the shapes of its inputs; 0 not told */
	FIELD(int64_t, wait_ns)		/* how long it waited for a thread of the thread pool
					 * that it was handed to, at most TFT_WAIT_MAX; 0: it was
					 * not handed over */
	FIELD(uint32_t, waker)		/* tid of the thread that handed it over; 0 unknown */
	FIELD(uint16_t, depth)		/* on the stack of its thread; 0 outermost */
	FIELD(uint8_t, framework)	/* enum tft_framework */
	FIELD(uint8_t, flags)		/* enum tft_op_flag */
)

/* A step that the program declared, or one run of a framework's function or one forward pass of a
 * model, which have no number of their own. */
RECORD(ev_step, step, EVENT_STEP,
	SEQ()
	FIELD(uint32_t, name)		/* name id */
	FIELD(int64_t, number)		/* -1: a run; TFT_STEP_PASS: a pass of the model `name` */
	FIELD(int64_t, start_ns)
	FIELD(int64_t, dur_ns)
)

/* A request that a program has answered by forward passes of a model, of which each makes one token
 * for each sequence. */
RECORD(ev_request, request, EVENT_REQUEST,
	SEQ()
	FIELD(uint32_t, name)		/* name id: the function that answered it */
	FIELD(uint32_t, passes)		/* 1 or more */
	FIELD(uint32_t, sequences)	/* that it asked for at once; 0 unknown */
	FIELD(int64_t, start_ns)
	FIELD(int64_t, dur_ns)
	FIELD(int64_t, first_ns)	/* from its start to the end of the first pass */
	FIELD(int64_t, rest_ns)		/* from there to the end of the last pass */
)

/* A finished call of the API: at the level full each, at the level default those of 10 us and
 * more. */
RECORD(ev_call, call, EVENT_CALL,
	SEQ()
	FIELD(uint32_t, name)		/* name id: the function */
	FIELD(int64_t, start_ns)
	FIELD(int64_t, dur_ns)
	FIELD(uint32_t, correlation)
	FIELD(int32_t, result)		/* the API's own code; 0 is success */
)

/* Calls of one function that had no event of their own, since the last ev_beat. */
RECORD(ev_calls, calls, EVENT_CALLS,
	FIELD(uint32_t, name)		/* name id: the function */
	FIELD(uint32_t, errors)
	FIELD(uint64_t, count)
	FIELD(int64_t, total_ns)	/* -1: they were counted, not timed */
	FIELD(int64_t, max_ns)		/* -1: likewise */
)

/* A command of a queue: its launch and its device record in one, in 93 bytes. Written when it
 * is finished; with TFT_CMD_OPEN when it has been in flight for 10 ms: then the finished one
 * follows with the same correlation. */
RECORD(ev_command, command, EVENT_COMMAND,
	SEQ()
	FIELD(uint32_t, tid)		/* the thread that enqueued it */
	FIELD(uint32_t, queue)
	FIELD(uint32_t, name)		/* name id */
	FIELD(uint32_t, shape)		/* of a kernel: def_shape; of a copy between two devices:
					 * the id of the other device; else a number for the
					 * place in memory, equal for the same offset of the same
					 * object; 0 unknown */
	FIELD(uint32_t, correlation)
	FIELD(uint64_t, op)		/* instance on top of the stack of the launching thread;
					 * 0 none */
	FIELD(uint32_t, op_name)	/* name id: of that op */
	FIELD(uint32_t, call_dur_ns)	/* of the enqueue call; cut to 4.29 s, its ev_call is
					 * exact */
	FIELD(int64_t, call_ns)		/* when the enqueue call began */
	FIELD(uint64_t, queued_ticks)
	FIELD(uint64_t, submit_ticks)
	FIELD(uint64_t, start_ticks)
	FIELD(uint64_t, end_ticks)
	FIELD(uint64_t, bytes)
	FIELD(int16_t, status)		/* 0 done; < 0 the API's error: it never ran */
	FIELD(uint8_t, kind)		/* enum tft_kind */
	FIELD(uint8_t, direction)	/* enum tft_direction */
	FIELD(uint8_t, how)		/* enum tft_how */
	FIELD(uint8_t, flags)		/* enum tft_command_flag */
)

/* The launch of a command whose device record comes apart (ev_run), in any order. The two meet by
 * correlation, else by object, else by their order on the queue (enum tft_how). A correlation
 * belongs to one launch until its last run has come or is lost; of a graph, or with TFT_CMD_MANY,
 * it belongs to many runs. An object is an event object with its generation. */
RECORD(ev_launch, launch, EVENT_LAUNCH,
	SEQ()
	FIELD(uint32_t, tid)		/* the thread that called */
	FIELD(uint32_t, queue)
	FIELD(uint32_t, name)		/* name id */
	FIELD(uint32_t, shape)		/* as in ev_command */
	FIELD(uint32_t, correlation)	/* 0 none */
	FIELD(uint32_t, op_name)	/* name id: of the op on top of the stack */
	FIELD(uint32_t, call_dur_ns)
	FIELD(uint64_t, op)		/* its instance; 0 none */
	FIELD(uint64_t, object)		/* 0 none */
	FIELD(uint64_t, bytes)
	FIELD(int64_t, call_ns)
	FIELD(int16_t, status)		/* < 0: the call failed, nothing will run */
	FIELD(uint8_t, kind)		/* enum tft_kind */
	FIELD(uint8_t, direction)	/* enum tft_direction */
	FIELD(uint8_t, flags)		/* TFT_CMD_PINNED, TFT_CMD_BLOCKING, TFT_CMD_MANY */
)

/* What a device did, without its launch (ev_launch). */
RECORD(ev_run, run, EVENT_RUN,
	SEQ()
	FIELD(uint32_t, queue)
	FIELD(uint32_t, name)		/* name id; 0: the device record has none */
	FIELD(uint32_t, correlation)	/* 0 none */
	FIELD(uint32_t, op_name)	/* name id: of a graph's node the op that was on top of
					 * the stack when the node was captured; 0 unknown */
	FIELD(uint32_t, source)		/* of a graph's node: the line of source that it comes
					 * from (def_frame); 0: that of its launch's op */
	FIELD(uint32_t, shape)		/* as in ev_command; 0: that of the launch */
	FIELD(uint64_t, object)		/* 0 none */
	FIELD(uint64_t, bytes)
	FIELD(uint64_t, queued_ticks)
	FIELD(uint64_t, submit_ticks)
	FIELD(uint64_t, start_ticks)
	FIELD(uint64_t, end_ticks)
	FIELD(int16_t, status)		/* as in ev_command */
	FIELD(uint8_t, kind)		/* enum tft_kind */
	FIELD(uint8_t, direction)	/* enum tft_direction */
	FIELD(uint8_t, flags)		/* TFT_CMD_APPROX, TFT_CMD_NOTIMES, TFT_CMD_PINNED */
)

/* Memory was allocated. */
RECORD(ev_alloc, alloc, EVENT_ALLOC,
	SEQ()
	FIELD(uint32_t, allocator)	/* name id */
	FIELD(uint32_t, device)
	FIELD(uint32_t, op_name)	/* name id: of the op on top of the stack; 0 none */
	FIELD(uint64_t, address)
	FIELD(uint64_t, bytes)
	FIELD(uint64_t, op)		/* its instance; 0 none */
	FIELD(int64_t, at_ns)		/* 0: when the event was written */
)

/* Memory was freed. */
RECORD(ev_free, free, EVENT_FREE,
	SEQ()
	FIELD(uint32_t, allocator)	/* name id */
	FIELD(uint64_t, address)
	FIELD(int64_t, at_ns)		/* 0: when the event was written */
)

/* Memory that an allocator has got from elsewhere to hand out in pieces (ev_alloc). What of it
 * is in no piece is free, and free neighbours are one. */
RECORD(ev_region, region, EVENT_REGION,
	SEQ()
	FIELD(uint32_t, allocator)	/* name id */
	FIELD(uint32_t, device)
	FIELD(uint64_t, address)
	FIELD(uint64_t, bytes)		/* 0: from now on it is unknown which regions there are,
					 * or which pieces are allocated */
	FIELD(uint8_t, joined)		/* 1: one with the region that ends at its address */
)

/* A blocking call, and what it waited for. */
RECORD(ev_wait, wait, EVENT_WAIT,
	SEQ()
	FIELD(uint32_t, name)		/* name id: the function of the API */
	FIELD(int64_t, start_ns)
	FIELD(int64_t, dur_ns)
	FIELD(uint32_t, queue)		/* 0: it waited for events */
	FIELD(uint32_t, correlation)	/* of the last command that it waited for; 0 unknown */
	FIELD(uint32_t, op_name)	/* name id: who waits, the op on top of the stack; 0 none */
	FIELD(uint64_t, op)		/* its instance; 0 none */
	FIELD(int32_t, result)		/* the API's own code */
)

/* A program was built, or something was traced or compiled. */
RECORD(ev_compile, compile, EVENT_COMPILE,
	SEQ()
	FIELD(int64_t, start_ns)
	FIELD(int64_t, dur_ns)
	FIELD(int32_t, result)		/* the API's own code; 0 is success */
	TEXT(what)
	TEXT(options)
	TEXT(log)			/* only when it failed */
)

/* One part (phase) of a message between threads, processes or hosts. key is the same at both
 * ends and is not used again while the message is on its way: it is a hash of the message's
 * text, and of the step where the text comes back in each step. */
RECORD(ev_flow, flow, EVENT_FLOW,
	SEQ()
	FIELD(uint32_t, name)		/* name id of "SOURCE -> DESTINATION: what", of a
					 * rendezvous key of TensorFlow
					 * (model/flows/rendezvous.h) or of other text; 0 none */
	FIELD(uint64_t, key)
	FIELD(uint64_t, bytes)		/* 0: not known at this end */
	FIELD(int64_t, at_ns)		/* by the clock of the host that wrote it */
	FIELD(int64_t, dur_ns)		/* -1 unknown */
	FIELD(uint64_t, op)		/* instance that sent or received it; 0 none */
	FIELD(uint8_t, phase)		/* enum tft_flow_phase */
)

/* Data that one op takes from another one, told at the latest when the op that takes it ends. No
 * probe writes it: it is in recordings of what tftop has imported from other profilers. */
RECORD(ev_edge, edge, EVENT_EDGE,
	SEQ()
	FIELD(uint64_t, from)		/* instance */
	FIELD(uint64_t, to)		/* instance */
	FIELD(uint64_t, bytes)
	FIELD(uint32_t, key)		/* name id: the tensor or channel; 0 none */
)

/* What a stage (def_stage) did since it was told last, at most once a second. */
RECORD(ev_stages, stages, EVENT_STAGES,
	SEQ()
	FIELD(uint32_t, stage)
	FIELD(uint64_t, elements)	/* asked for; the end of the data counts as one more */
	FIELD(int64_t, total_ns)	/* in its calls, including the stages below */
	FIELD(int64_t, self_ns)		/* of total_ns: not in stages below on the same thread */
	FIELD(int64_t, busy_ns)		/* of its own threads and functions that work ahead,
					 * without the stages below; several at once add up */
	FIELD(int64_t, wait_ns)		/* of self_ns: the caller stood still for what was worked
					 * on ahead; of the outermost stage: the program stood
					 * still, for anything */
	FIELD(int64_t, max_ns)		/* the longest call */
	FIELD(int64_t, begin_ns)	/* this record is about the time from here ... */
	FIELD(int64_t, end_ns)		/* ... to here */
	FIELD(uint64_t, bytes)		/* given out; 0 unknown */
	FIELD(int32_t, parallelism)	/* in force at the end; -1 unknown; of the outermost
					 * stage: for how many calls there are threads */
	FIELD(int32_t, buffered)	/* elements held at the end; -1 unknown */
)

/* What a thread of a thread pool did since it was told last, at most once a second. A closure
 * is what is handed to a pool: a run of ops, a part of a parallel loop. */
RECORD(ev_pool, pool, EVENT_POOL,
	SEQ()
	FIELD(uint32_t, tid)		/* the thread, whose name tells its pool */
	FIELD(uint64_t, closures)
	FIELD(uint64_t, with_ops)	/* of the closures: those in which an op began */
	FIELD(uint64_t, timed)		/* of the closures: those whose wait is known */
	FIELD(int64_t, wait_ns)		/* from when they were handed over until a thread took
					 * them */
	FIELD(int64_t, max_wait_ns)	/* the longest such wait since the thread began */
	FIELD(int64_t, busy_ns)		/* in closures */
	FIELD(int64_t, begin_ns)	/* this record is about the time from here ... */
	FIELD(int64_t, end_ns)		/* ... to here */
)

/* A value of a series (def_series). */
RECORD(ev_counter, counter, EVENT_COUNTER,
	SEQ()
	FIELD(uint32_t, series)
	FIELD(int64_t, at_ns)
	FIELD(int64_t, value)
)

/* A tick of a device's clock in host time. */
RECORD(ev_clock, clock, EVENT_CLOCK,
	FIELD(uint32_t, device)
	FIELD(uint8_t, quality)		/* enum tft_clock_quality */
	FIELD(uint64_t, ticks)
	FIELD(int64_t, host_ns)		/* when the device's clock stood at `ticks` */
	FIELD(int64_t, error_ns)	/* give or take so much */
)

/* Nothing that began before settled_ns will still arrive from this process, except for what was
 * announced as open, for steps, waits, calls and builds, which arrive when they end, and for rates
 * of TFT_SERIES_USAGE, which hold for the second before. Sent about every 50 ms while active. */
RECORD(ev_settled, settled, EVENT_SETTLED,
	FIELD(int64_t, settled_ns)
)

/* The level since at_ns: sent when a session begins to hear the process, and with each change.
 * At TFT_LEVEL_OFF nothing is recorded, so that what is missing is not idle time. */
RECORD(ev_level, level_now, EVENT_LEVEL,
	FIELD(int64_t, at_ns)
	FIELD(uint8_t, level)		/* enum tft_level (control.h) */
)

/* Another client of the vendor's tracer has the devices since at_ns, or no longer: the program's
 * own profiler, which alone gets what they do. Sent with each change, and when a session begins to
 * hear a process in which there was one. What is missing until then is not idle time. */
RECORD(ev_taken, taken, EVENT_TAKEN,
	FIELD(int64_t, at_ns)
	FIELD(uint8_t, taken)		/* 1: it has them; 0: they are tftop's again */
)

/* A time in which the probe of PyTorch had no callbacks around ops, to compare what steps take
 * with and without them, or to keep --budget. Ops are missing then; steps, ranges, kernels, copies
 * and memory are not. */
RECORD(ev_bare, bare, EVENT_BARE,
	FIELD(uint32_t, tid)		/* the thread whose steps they are */
	FIELD(uint32_t, steps)		/* how many of them ended in that time */
	FIELD(int64_t, start_ns)
	FIELD(int64_t, dur_ns)
)

/* What the callbacks around ops cost a step, by the steps that have them and those that do not:
 * medians of paired differences, with the ends of their 95 % confidence intervals. */
RECORD(ev_cost, cost, EVENT_COST,
	FIELD(uint32_t, pairs)		/* how many differences; 0: not measured yet, and the times
					 * below are 0 */
	FIELD(uint32_t, every)		/* ops are looked at in one of so many steps; 1: in all */
	FIELD(uint32_t, budget)		/* in percent (--budget); 0 none */
	FIELD(uint64_t, steps)		/* of the thread that trains, since the probe is there */
	FIELD(uint64_t, bare)		/* of these, without callbacks, or for a part of it */
	FIELD(int64_t, step_ns)		/* median of the steps without callbacks */
	FIELD(int64_t, wall_ns)		/* what a step takes longer with them */
	FIELD(int64_t, wall_low_ns)
	FIELD(int64_t, wall_high_ns)
	FIELD(int64_t, cpu_ns)		/* the same in the processor time of the process */
	FIELD(int64_t, cpu_low_ns)
	FIELD(int64_t, cpu_high_ns)
)

/* What a thread did while it ran no op and launched nothing, by looking at it now and then
 * (probes/host). The records of one time (same tid, start_ns, dur_ns) say how much of it each state
 * and line had; together at most all of it. The times of a thread do not overlap otherwise. */
RECORD(ev_doing, doing, EVENT_DOING,
	FIELD(uint32_t, tid)
	FIELD(uint32_t, looks)		/* how many looks found it so */
	FIELD(int64_t, start_ns)	/* of the time that was looked at */
	FIELD(int64_t, dur_ns)
	FIELD(int64_t, ns)		/* how much of it was spent so */
	FIELD(int64_t, at_ns)		/* not 0: it was seen at this moment only, which stands for
					 * that time */
	FIELD(uint32_t, frame)		/* the user's line (def_frame) */
	FIELD(uint32_t, stack)		/* the innermost frame, with all its callers (def_frame),
					 * some without a line: one of TFT_FRAME_TASK is a task, of
					 * TFT_FRAME_CHANGED calls that changed; 0: unknown */
	FIELD(uint32_t, what)		/* name of what is waited for: a file, a call; 0: unknown */
	FIELD(uint8_t, doing)		/* enum tft_doing_kind */
)

/* Once a second: totals of the process since its start. */
RECORD(ev_beat, beat, EVENT_BEAT,
	FIELD(uint64_t, events)		/* written before this one, since this tftop is there */
	FIELD(uint64_t, calls)		/* of the API, seen by probes */
	FIELD(uint64_t, dropped)	/* by tftop: no memory, tables full */
	FIELD(uint64_t, vendor_dropped)	/* by the vendor's library */
	FIELD(int64_t, own_ns)		/* time spent in probes, estimated from sampled calls */
	FIELD(int64_t, mono_ns)		/* CLOCK_MONOTONIC */
	FIELD(int64_t, real_ns)		/* CLOCK_REALTIME */
	FIELD(int64_t, raw_ns)		/* CLOCK_MONOTONIC_RAW */
)

/* Finished ops of one thread, kernels that the processor ran on it and memory that it
 * allocated, many in one event, since each field costs a call of the tracer. Only read: in
 * recordings that tftop writes each op stands alone. seq is the first one's, the others follow.
 * How they are packed: records.h. */
PACKED_RECORD(ev_ops, ops, EVENT_OP,
	SEQ()
	FIELD(uint32_t, tid)		/* the thread on which they began */
	FIELD(uint32_t, count)		/* of all, 1 to TFT_OPS_MAX */
	FIELD(int64_t, base_ns)		/* what start times count from */
	FIELD(uint64_t, instance)	/* what the first instance counts from */
	WORDS(words, n_words)		/* up to TFT_OPS_WORDS; their number is one byte on the
					 * wire, so that a damaged one cannot ask babeltrace for
					 * billions, for which it crashes */
)

#undef RECORD
#undef PACKED_RECORD
#undef SEQ
#undef SCHEMA
#undef FIELD
#undef FIELD_AS
#undef ARRAY
#undef TEXT
#undef WORDS
