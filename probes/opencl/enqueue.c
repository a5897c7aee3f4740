/* SPDX-License-Identifier: MIT */
/*
 * Commands: what each is, from which call, in which op; and the event that is written for it.
 *
 * If a program passes no event, the probe passes one, which the program does not see; the record
 * owns that reference. For the program's own event the record takes a second reference, unless the
 * command is complete when the call returns (blocking calls, devices that run at once), which is
 * checked first: then there is neither a reference nor a callback.
 */
#include "probes/opencl/probe.h"
#include "probes/opencl/record.h"

#define SAMPLE 64		/* one of this many commands measures what the probe costs */
#define INSTANT_MAX 8

static bool sampled(uint32_t correlation)
{
	return correlation % SAMPLE == 0;
}

bool enqueue_begin(struct enqueue *e, cl_command_queue handle, enum hook hook, cl_event *event)
{
	struct ocl_record *record;
	struct tft_command *cmd;
	struct rt_top op;

	if (!probe_armed()) {
		/* a handler or destructor ran after the last harvest */
		if (rt_level() != TFT_LEVEL_OFF)
			rt_dropped(1);
		return false;
	}
	e->queue = ocl_queue_get(handle);
	if (unlikely(!e->queue))
		return false;
	e->record = record = record_open(e->queue);
	if (unlikely(!record))
		return false;
	e->real = e->queue->real;
	e->hook = hook;
	e->own = NULL;
	e->out = event ? event : &e->own;
	e->blocking = false;
	record->holds = record->at_return = false;
	record->status = 0;
	record->late_name = record->late_shape = 0;
	record->late_bytes = 0;
	atomic_store_explicit(&record->running_ns, 0, memory_order_relaxed);
	op = rt_op_launch();
	cmd = &record->cmd;
	*cmd = (struct tft_command) {
		.tid = rt_tid(),
		.queue = atomic_load_explicit(&e->queue->id, memory_order_relaxed),
		.correlation = rt_correlation(),
		.op = op.instance,
		.op_name = op.name,
		.how = TFT_HOW_EVENT,
	};
	e->sample_ns = sampled(cmd->correlation) ? rt_now_ns() : 0;
	atomic_store_explicit(&record->correlation, cmd->correlation, memory_order_relaxed);
	atomic_store_explicit(&e->queue->last, cmd->correlation, memory_order_relaxed);
	return true;
}

/* Called before enqueue_what(): the place in memory, and the host's side of the transfer (NULL: it
 * has none). */
static void enqueue_moves(struct enqueue *e, uint32_t place, const void *host)
{
	e->record->cmd.shape = place;
	if (host && is_pinned(host))
		e->record->cmd.flags |= TFT_CMD_PINNED;
}

void enqueue_what(struct enqueue *e, enum tft_kind kind, enum tft_direction direction,
		  uint32_t name, uint64_t bytes, bool blocking)
{
	struct tft_command *cmd = &e->record->cmd;

	cmd->kind = (uint8_t)kind;
	cmd->direction = (uint8_t)direction;
	cmd->name = name;
	if (!name && kind != TFT_KIND_KERNEL)
		cmd->name = hook_name(e->hook);
	cmd->bytes = bytes;
	e->blocking = blocking;
	if (blocking)
		cmd->flags |= TFT_CMD_BLOCKING;
	e->begin_ns = rt_now_ns();
	record_filled(e->record, e->begin_ns);
}

void enqueue_returned(struct enqueue *e)
{
	e->record->return_ns = rt_now_ns();
}

static void enqueue_late(struct enqueue *e, uint32_t name, uint32_t shape, uint64_t bytes)
{
	e->record->late_name = name;
	e->record->late_shape = shape;
	e->record->late_bytes = bytes;
}

void record_late(const struct ocl_record *record, struct tft_command *cmd)
{
	int64_t dur_ns = record->return_ns - cmd->call_ns;

	if (record->late_name)
		cmd->name = record->late_name;
	if (record->late_shape)
		cmd->shape = record->late_shape;
	if (record->late_bytes)
		cmd->bytes = record->late_bytes;
	cmd->call_dur_ns = dur_ns < 0 ? 0 : dur_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)dur_ns;
}

/* Reads queued, submitted, start and end; the driver returns 0 for "unknown". false: it returns
 * none at all. */
static bool read_ticks(cl_event event, uint64_t ticks[4])
{
	static const cl_profiling_info what[4] = {
		CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
		CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END,
	};
	const struct _cl_icd_dispatch *real = real_of(event);
	bool any = false;

	for (int i = 0; i < 4; i++) {
		cl_ulong tick = 0;

		if (real->clGetEventProfilingInfo(event, what[i], sizeof(tick), &tick, NULL))
			tick = 0;
		ticks[i] = tick;
		any |= tick != 0;
	}
	return any;
}

/* Reads the device times; on a queue without them, those of the host: from the callbacks, or from
 * the call in which the command ran. */
static void read_times(struct ocl_record *record, struct tft_command *cmd, cl_event event)
{
	struct ocl_queue *queue = record->queue;
	int64_t running_ns = atomic_load_explicit(&record->running_ns, memory_order_relaxed);
	uint64_t ticks[4];

	if (atomic_load_explicit(&queue->profiled, memory_order_relaxed) &&
	    read_ticks(event, ticks)) {
		if (queue->device)
			clock_command(queue->device, cmd->call_ns, record->return_ns, ticks);
		cmd->queued_ticks = ticks[0];
		cmd->submit_ticks = ticks[1];
		cmd->start_ticks = ticks[2];
		cmd->end_ticks = ticks[3];
	} else if (record->at_return) {
		cmd->start_ticks = (uint64_t)cmd->call_ns;
		cmd->end_ticks = (uint64_t)record->return_ns;
		cmd->flags |= TFT_CMD_APPROX;
	} else if (running_ns) {
		cmd->start_ticks = (uint64_t)running_ns;
		cmd->end_ticks = (uint64_t)rt_now_ns();
		cmd->flags |= TFT_CMD_APPROX;
	} else {
		cmd->flags |= TFT_CMD_NOTIMES;
	}
}

void record_write(struct ocl_record *record, cl_event event, cl_int status)
{
	struct tft_command *cmd = &record->cmd;

	/* A failed call left no command; only an announcement must be revoked. */
	if (!event && status < 0 && !atomic_load(&record->announced))
		return;
	record_late(record, cmd);
	if (status < 0)
		cmd->status = status < INT16_MIN ? INT16_MIN : (int16_t)status;
	else if (event)
		read_times(record, cmd, event);
	else
		cmd->flags |= TFT_CMD_NOTIMES;
	rt_emit_command(cmd);
}

/* Whether the command is complete already. Queried where that is likely, and now and then
 * elsewhere. */
static bool complete_at_once(struct enqueue *e, uint32_t correlation, cl_event event,
			     cl_int *status)
{
	struct ocl_queue *queue = e->queue;
	int instant = atomic_load_explicit(&queue->instant, memory_order_relaxed);

	if (!e->blocking && instant <= 0 && correlation % 16)
		return false;
	if (real_of(event)->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
					   sizeof(*status), status, NULL))
		return false;
	if (*status > CL_COMPLETE) {
		if (instant > 0)
			atomic_store_explicit(&queue->instant, instant - 1, memory_order_relaxed);
		return false;
	}
	if (!e->blocking && instant < INSTANT_MAX)
		atomic_store_explicit(&queue->instant, instant + 1, memory_order_relaxed);
	return true;
}

/* The command runs: the first thread that learns of its end writes the record. */
static void enqueue_follow(struct enqueue *e, cl_event event)
{
	const struct _cl_icd_dispatch *real = real_of(event);
	struct ocl_record *record = e->record;
	void *id = record_id(record);

	if (event == e->own || real->clRetainEvent(event) == CL_SUCCESS) {
		record->holds = true;
		record_event(record, event);
	}
	if (e->queue->version < 110 || !real->clSetEventCallback) {
		record_silent(record);
	} else {
		if (!atomic_load_explicit(&e->queue->profiled, memory_order_relaxed))
			real->clSetEventCallback(event, CL_RUNNING, record_running, id);
		if (real->clSetEventCallback(event, CL_COMPLETE, record_complete, id))
			record_silent(record);
	}
	record_returned(record);
}

cl_int enqueue_end(struct enqueue *e, cl_int result)
{
	struct ocl_record *record = e->record;
	uint32_t correlation = record->cmd.correlation, queue = record->cmd.queue;
	int64_t end_ns = record->return_ns;
	cl_event event = result == CL_SUCCESS ? *e->out : NULL;
	cl_int status = CL_QUEUED;

	if (rt_level() >= TFT_LEVEL_DEFAULT)
		rt_call(hook_name(e->hook), e->begin_ns, end_ns, correlation, result);
	if (event && unlikely(*(void **)(void *)event != *(void **)(void *)e->queue->handle))
		vendor_adopt(event, e->queue->handle);
	if (unlikely(!event)) {
		record_abandon(record, result < 0 ? (int16_t)result : (int16_t)-1);
	} else if (complete_at_once(e, correlation, event, &status)) {
		/* a blocking call may have waited for others first */
		record->at_return = !e->blocking ||
			atomic_load_explicit(&e->queue->instant, memory_order_relaxed) > 0;
		record_done(record, event, event == e->own, status);
	} else {
		enqueue_follow(e, event);
	}
	if (e->blocking && event && rt_level() >= TFT_LEVEL_DEFAULT)
		wait_end(e->hook, queue, correlation, e->begin_ns, end_ns, result);
	if (e->sample_ns)
		rt_own_time((rt_now_ns() - end_ns + e->begin_ns - e->sample_ns) * SAMPLE);
	return result;
}

/* ---- the rows of the table ---- */

#define NONE TFT_DIR_NONE
#define H2D TFT_DIR_H2D
#define D2H TFT_DIR_D2H
#define D2D TFT_DIR_D2D
#define FILL TFT_DIR_FILL
#define MAP TFT_DIR_MAP
#define UNMAP TFT_DIR_UNMAP
#define HOST_OR(to_host) ((to_host) ? TFT_DIR_D2H : TFT_DIR_H2D)
#define SVM(to, from) svm_direction(to, from)
#define LATE(name, shape, bytes) enqueue_late(&e, name, shape, bytes)
#define LATE_DO(what) (what)

/* The offset at which a rectangle starts in its buffer. */
static uint64_t rect_offset(const size_t *origin, const size_t *region, size_t row, size_t slice)
{
	if (!origin || !region)
		return 0;
	if (!row)
		row = region[0];
	if (!slice)
		slice = region[1] * row;
	return origin[0] + origin[1] * row + origin[2] * slice;
}

/* A number for a place in an image. */
static uint64_t image_offset(const size_t *origin)
{
	return origin ? origin[0] | (uint64_t)origin[1] << 20 | (uint64_t)origin[2] << 40 : 0;
}

static uint64_t sum_sizes(cl_uint n, const size_t *sizes)
{
	uint64_t sum = 0;

	for (cl_uint i = 0; sizes && i < n; i++)
		sum += sizes[i];
	return sum;
}

/* Memory that a command will free; with a function, the program frees it. */
static void svm_queue_free(cl_uint n, void **pointers, const void *function)
{
	for (cl_uint i = 0; !function && pointers && i < n; i++)
		svm_freed(pointers[i]);
}

#define ENQUEUE(fn, kind, direction, name, bytes, blocking, moves, late, params, args) \
cl_int CL_API_CALL hook_##fn params \
{ \
	struct enqueue e; \
	cl_int result; \
	\
	if (!enqueue_begin(&e, queue, H_##fn, event)) \
		return real_of(queue)->fn(UNWRAP args, n_waits, waits, event); \
	moves; \
	enqueue_what(&e, TFT_KIND_##kind, direction, name, bytes, blocking); \
	result = e.real->fn(UNWRAP args, n_waits, waits, e.out); \
	enqueue_returned(&e); \
	if (result == CL_SUCCESS) { \
		late; \
	} \
	return enqueue_end(&e, result); \
}
TABLE_ENQUEUE(ENQUEUE)

/* ---- functions written by hand ---- */

void *CL_API_CALL hook_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
					  cl_map_flags flags, size_t offset, size_t bytes,
					  TAIL, cl_int *errcode_ret)
{
	struct enqueue e;
	cl_int result = CL_SUCCESS;
	void *at;

	if (!enqueue_begin(&e, queue, H_clEnqueueMapBuffer, event))
		return real_of(queue)->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset,
							  bytes, n_waits, waits, event,
							  errcode_ret);
	enqueue_moves(&e, memory_place(buffer, offset), NULL);
	enqueue_what(&e, TFT_KIND_MAP, TFT_DIR_MAP, SELF, bytes, blocking);
	at = e.real->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, n_waits,
					waits, e.out, &result);
	enqueue_returned(&e);
	if (errcode_ret)
		*errcode_ret = result;
	if (result == CL_SUCCESS)
		mapped(at, bytes);
	enqueue_end(&e, result);
	return at;
}

void *CL_API_CALL hook_clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
					 cl_map_flags flags, const size_t *origin,
					 const size_t *region, size_t *row, size_t *slice,
					 TAIL, cl_int *errcode_ret)
{
	struct enqueue e;
	cl_int result = CL_SUCCESS;
	void *at;

	if (!enqueue_begin(&e, queue, H_clEnqueueMapImage, event))
		return real_of(queue)->clEnqueueMapImage(queue, image, blocking, flags, origin,
							 region, row, slice, n_waits, waits,
							 event, errcode_ret);
	enqueue_moves(&e, memory_place(image, image_offset(origin)), NULL);
	enqueue_what(&e, TFT_KIND_MAP, TFT_DIR_MAP, SELF, 0, blocking);
	at = e.real->clEnqueueMapImage(queue, image, blocking, flags, origin, region, row, slice,
				       n_waits, waits, e.out, &result);
	enqueue_returned(&e);
	if (errcode_ret)
		*errcode_ret = result;
	if (result == CL_SUCCESS) {
		uint64_t bytes = image_bytes(image, region);

		enqueue_late(&e, 0, 0, bytes);
		mapped(at, bytes);
	}
	enqueue_end(&e, result);
	return at;
}

/* The forms of 1.0. A marker always has the program's event; the other two
 * have none, and asking for one would make them another command. */

cl_int CL_API_CALL hook_clEnqueueMarker(cl_command_queue queue, cl_event *event)
{
	struct enqueue e;
	cl_int result;

	if (!event || !enqueue_begin(&e, queue, H_clEnqueueMarker, event))
		return real_of(queue)->clEnqueueMarker(queue, event);
	enqueue_what(&e, TFT_KIND_MARKER, NONE, SELF, 0, false);
	result = e.real->clEnqueueMarker(queue, event);
	enqueue_returned(&e);
	return enqueue_end(&e, result);
}

static cl_int without_event(struct enqueue *e, cl_int result)
{
	struct ocl_record *record = e->record;

	enqueue_returned(e);
	if (rt_level() >= TFT_LEVEL_DEFAULT)
		rt_call(hook_name(e->hook), e->begin_ns, record->return_ns,
			record->cmd.correlation, result);
	if (result == CL_SUCCESS)
		record_done(record, NULL, false, CL_COMPLETE);
	else
		record_abandon(record, (int16_t)result);
	return result;
}

cl_int CL_API_CALL hook_clEnqueueBarrier(cl_command_queue queue)
{
	struct enqueue e;

	if (!enqueue_begin(&e, queue, H_clEnqueueBarrier, NULL))
		return real_of(queue)->clEnqueueBarrier(queue);
	enqueue_what(&e, TFT_KIND_BARRIER, NONE, SELF, 0, false);
	return without_event(&e, e.real->clEnqueueBarrier(queue));
}

cl_int CL_API_CALL hook_clEnqueueWaitForEvents(cl_command_queue queue, cl_uint n,
					       const cl_event *events)
{
	struct enqueue e;

	if (!enqueue_begin(&e, queue, H_clEnqueueWaitForEvents, NULL))
		return real_of(queue)->clEnqueueWaitForEvents(queue, n, events);
	enqueue_what(&e, TFT_KIND_BARRIER, NONE, SELF, 0, false);
	return without_event(&e, e.real->clEnqueueWaitForEvents(queue, n, events));
}
