/* SPDX-License-Identifier: MIT */
/*
 * Commands in flight.
 *
 * A record is opened before the enqueue call and written, as one event, when the command has
 * finished. The first thread that learns of the end writes the event: the thread that enqueued the
 * command (blocking calls, devices that run at once), the driver's CL_COMPLETE callback, a blocking
 * call or release of the same queue, the runtime's tick for commands without a callback (on PoCL, a
 * command whose wait list failed), or the end of the process.
 *
 * One word per record decides which thread that is: a generation in the upper half, bits below.
 *
 * 	USED	given out
 * 	FILL	its thread is still writing what it is: no other thread may look at it
 * 	CALL	the enqueue call is running, or its thread is not done with it
 * 	LOOK	a thread queries OpenCL about it, or announces it
 * 	DONE	the CL_COMPLETE callback came while CALL or LOOK was set
 * 	WRITE	its owner is writing its event: still pending, not accessible to others
 *
 * A thread that has set CALL or LOOK is a holder; only a holder may touch the record's event. If
 * there is no holder, the thread that swaps USED for WRITE with a new generation owns the record,
 * writes it and returns it. If there is one, the callback only sets DONE, and the last holder
 * writes it. No thread ever waits. A callback that comes after its record was written finds another
 * generation and returns.
 *
 * Records lie in slabs that are never freed; freed records form a stack of indices with a counter
 * against reuse (Treiber 1986). Scans walk through the dense array of words up to `top`, which is
 * lowered when the end is unused.
 */
#include <stdlib.h>

#include "probes/opencl/probe.h"
#include "probes/opencl/record.h"

#define SLAB_RECORDS 1024u
#define SLAB_MAX 128u
#define RECORD_MAX (SLAB_RECORDS * SLAB_MAX)
#define SWEEP_AGE_NS 100000000
#define ANNOUNCE_AGE_NS 10000000
#define SWEEP_EVERY_NS 100000000
#define SWEEP_COUNT 4096u
#define SCAN_MAX 8192u		/* how many records a blocking call of the program examines */

/* What scans read lies close together. */
struct slab {
	_Atomic uint64_t state[SLAB_RECORDS];
	_Atomic(cl_event) event[SLAB_RECORDS];		/* valid only with a reference */
	_Atomic int64_t pending_ns[SLAB_RECORDS];	/* start of the call; MAX: announced */
	_Atomic(struct ocl_queue *) queue[SLAB_RECORDS];
	atomic_bool silent[SLAB_RECORDS];		/* no callback will come */
	struct ocl_record record[SLAB_RECORDS];
};

static _Atomic(struct slab *) slabs[SLAB_MAX];
static atomic_uint fresh;		/* how many records were ever given out */
static atomic_uint top;			/* no used record is at or above this index */
static _Atomic uint64_t free_stack;	/* counter << 32 | index + 1 */
static _Atomic int64_t ticked_ns;
static unsigned sweep_at;		/* used by the runtime's thread */
static int64_t swept_ns;

static struct slab *slab_of(uint32_t index)
{
	return atomic_load_explicit(&slabs[index / SLAB_RECORDS], memory_order_acquire);
}

static _Atomic uint64_t *state_of(uint32_t index)
{
	return &slab_of(index)->state[index % SLAB_RECORDS];
}

static struct ocl_record *record_at(uint32_t index)
{
	return &slab_of(index)->record[index % SLAB_RECORDS];
}

static _Atomic(cl_event) *event_at(uint32_t index)
{
	return &slab_of(index)->event[index % SLAB_RECORDS];
}

static _Atomic int64_t *pending_at(uint32_t index)
{
	return &slab_of(index)->pending_ns[index % SLAB_RECORDS];
}

static _Atomic(struct ocl_queue *) *queue_at(uint32_t index)
{
	return &slab_of(index)->queue[index % SLAB_RECORDS];
}

static atomic_bool *silent_at(uint32_t index)
{
	return &slab_of(index)->silent[index % SLAB_RECORDS];
}

/* Whether it is out of the pool, so that its event is still to come. */
static bool taken(uint32_t index)
{
	return atomic_load(state_of(index)) & (STATE_USED | STATE_WRITE);
}

static bool used(uint32_t index)
{
	return atomic_load_explicit(state_of(index), memory_order_acquire) & STATE_USED;
}

/* ---- the pool ---- */

static bool record_stack_pop(uint32_t *index)
{
	uint64_t head = atomic_load_explicit(&free_stack, memory_order_acquire), next;

	do {
		if (!(uint32_t)head)
			return false;
		*index = (uint32_t)head - 1;
		next = ((head >> 32) + 1) << 32 |
		       atomic_load_explicit(&record_at(*index)->next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&free_stack, &head, next,
							memory_order_acquire,
							memory_order_acquire));
	return true;
}

static void stack_push(uint32_t index)
{
	struct ocl_record *record = record_at(index);
	uint64_t head = atomic_load_explicit(&free_stack, memory_order_relaxed);

	do
		atomic_store_explicit(&record->next, (uint32_t)head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&free_stack, &head,
						      ((head >> 32) + 1) << 32 | (index + 1),
						      memory_order_release, memory_order_relaxed));
}

/* A record that was never used; makes its slab. */
static bool take_fresh(uint32_t *index)
{
	uint32_t at = atomic_load(&fresh);

	do {
		struct slab *slab, *none = NULL;

		if (at >= RECORD_MAX)
			return false;
		if (!slab_of(at)) {
			slab = calloc(1, sizeof(*slab));
			if (!slab)
				return false;
			if (!atomic_compare_exchange_strong(&slabs[at / SLAB_RECORDS], &none, slab))
				free(slab);
		}
	} while (!atomic_compare_exchange_weak(&fresh, &at, at + 1));
	*index = at;
	return true;
}

struct ocl_record *record_open(struct ocl_queue *queue)
{
	int64_t ticked = atomic_load_explicit(&ticked_ns, memory_order_relaxed);
	struct ocl_record *record;
	uint32_t index;
	uint64_t state;

	if (!record_stack_pop(&index) && !take_fresh(&index)) {
		rt_dropped(1);
		return NULL;
	}
	record = record_at(index);
	record->index = index;
	/* A scan must not see a later start than the record will have: the last tick is earlier
	 * than whatever the clock returns next. */
	atomic_store_explicit(pending_at(index), ticked ? ticked : rt_now_ns(),
			      memory_order_relaxed);
	atomic_store_explicit(queue_at(index), queue, memory_order_relaxed);
	atomic_store_explicit(silent_at(index), false, memory_order_relaxed);
	atomic_store_explicit(&record->announced, false, memory_order_relaxed);
	record->queue = queue;
	atomic_fetch_add_explicit(&queue->inflight, 1, memory_order_relaxed);
	state = atomic_load_explicit(state_of(index), memory_order_relaxed);
	record->generation = (uint32_t)(state >> STATE_BITS);
	atomic_store(state_of(index),
		     (state & ~STATE_MASK) | STATE_USED | STATE_CALL | STATE_FILL);
	while (unlikely((state = atomic_load(&top)) <= index)) {
		unsigned old = (unsigned)state;

		atomic_compare_exchange_weak(&top, &old, index + 1);
	}
	return record;
}

void record_filled(struct ocl_record *record, int64_t call_ns)
{
	record->cmd.call_ns = call_ns;
	atomic_store_explicit(pending_at(record->index), call_ns, memory_order_relaxed);
	/* Nobody else writes the word while FILL is set. */
	atomic_store_explicit(state_of(record->index),
			      (uint64_t)record->generation << STATE_BITS | STATE_USED | STATE_CALL,
			      memory_order_release);
}

/* Returns a record to the pool; the caller owns it, and its event has been written. */
static void record_close(struct ocl_record *record)
{
	_Atomic uint64_t *word = state_of(record->index);

	atomic_fetch_sub_explicit(&record->queue->inflight, 1, memory_order_relaxed);
	atomic_store_explicit(event_at(record->index), NULL, memory_order_relaxed);
	/* Nobody else writes the word while WRITE is set. */
	atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) & ~STATE_MASK,
			      memory_order_release);
	stack_push(record->index);
}

/* Turns the bits into the owned state of the next generation (32 bits). */
static uint64_t owned(uint64_t state)
{
	return (uint64_t)(uint32_t)((state >> STATE_BITS) + 1) << STATE_BITS | STATE_WRITE;
}

void record_abandon(struct ocl_record *record, int16_t status)
{
	_Atomic uint64_t *word = state_of(record->index);
	uint64_t state = atomic_load(word);

	/* The tick may be announcing it: then it will find no event and return the record
	 * itself. */
	for (;;) {
		if (!(state & STATE_USED))
			return;		/* this is the child of a fork within the call */
		if (state & STATE_LOOK) {
			record->status = status;
			if (atomic_compare_exchange_weak(word, &state,
							 (state & ~STATE_CALL) | STATE_DONE))
				return;
		} else if (atomic_compare_exchange_weak(word, &state, owned(state))) {
			break;
		}
	}
	record->status = status;
	record_write(record, NULL, status);
	record_close(record);
}

/* ---- from finished to written ---- */

/* The caller owns the record. `event` is valid until this function returns. */
static void record_finish(struct ocl_record *record, cl_event event, cl_int status)
{
	cl_event held = record->holds ?
		atomic_load_explicit(event_at(record->index), memory_order_relaxed) : NULL;

	if (!event) {
		event = atomic_load_explicit(event_at(record->index), memory_order_relaxed);
		if (!event)
			status = record->status;
	}
	record_write(record, event, status);
	if (held)
		real_of(held)->clReleaseEvent(held);
	record_close(record);
}

static cl_int status_of(struct ocl_record *record)
{
	cl_event event = atomic_load_explicit(event_at(record->index), memory_order_relaxed);
	cl_int status = CL_QUEUED;

	if (!event)
		return CL_COMPLETE;
	if (real_of(event)->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
					   sizeof(status), &status, NULL))
		return CL_QUEUED;
	return status;
}

/*
 * Releases the `holder` bits. true: the caller has become the owner, because the command is known
 * to be complete (DONE, or `complete`) and there is no other holder.
 */
static bool record_let_go(struct ocl_record *record, uint64_t holder, bool complete)
{
	_Atomic uint64_t *word = state_of(record->index);
	uint64_t state = atomic_load(word), next;
	bool mine;

	do {
		if (!(state & STATE_USED))
			return false;	/* this is the child of a fork within the call */
		next = state & ~holder;
		if (complete)
			next |= STATE_DONE;
		mine = (next & STATE_DONE) && !(next & (STATE_CALL | STATE_LOOK));
		if (mine)
			next = owned(state);
	} while (!atomic_compare_exchange_weak(word, &state, next));
	return mine;
}

void CL_CALLBACK record_complete(cl_event event, cl_int status, void *data)
{
	uint64_t id = (uint64_t)(uintptr_t)data;
	uint32_t index = (uint32_t)id, generation = (uint32_t)(id >> 32);
	_Atomic uint64_t *word;
	uint64_t state;

	if (atomic_load(&probe_dead) || index >= RECORD_MAX || !slab_of(index))
		return;
	word = state_of(index);
	state = atomic_load(word);
	for (;;) {
		uint64_t next;

		if ((uint32_t)(state >> STATE_BITS) != generation || !(state & STATE_USED))
			return;
		next = state & (STATE_CALL | STATE_LOOK) ? state | STATE_DONE : owned(state);
		if (atomic_compare_exchange_weak(word, &state, next)) {
			if (!(state & (STATE_CALL | STATE_LOOK)))
				record_finish(record_at(index), event, status);
			return;
		}
	}
}

void CL_CALLBACK record_running(cl_event event, cl_int status, void *data)
{
	uint64_t id = (uint64_t)(uintptr_t)data;
	uint32_t index = (uint32_t)id;

	(void)event;
	(void)status;
	if (atomic_load(&probe_dead) || index >= RECORD_MAX || !slab_of(index))
		return;
	if ((uint32_t)(atomic_load(state_of(index)) >> STATE_BITS) == (uint32_t)(id >> 32))
		atomic_store(&record_at(index)->running_ns, rt_now_ns());
}

void *record_id(const struct ocl_record *record)
{
	return (void *)(uintptr_t)((uint64_t)record->generation << 32 | record->index);
}

void record_silent(struct ocl_record *record)
{
	atomic_store_explicit(silent_at(record->index), true, memory_order_relaxed);
}

void record_event(struct ocl_record *record, cl_event event)
{
	atomic_store_explicit(event_at(record->index), event, memory_order_relaxed);
}

void record_returned(struct ocl_record *record)
{
	if (record_let_go(record, STATE_CALL, false))
		record_finish(record, NULL, status_of(record));
}

void record_done(struct ocl_record *record, cl_event event, bool own, cl_int status)
{
	uint64_t state = (uint64_t)record->generation << STATE_BITS | STATE_USED | STATE_CALL;

	record->status = status < 0 ? (int16_t)status : 0;
	if (own) {
		record->holds = true;
		record_event(record, event);
	}
	if (atomic_compare_exchange_strong(state_of(record->index), &state, owned(state))) {
		record_finish(record, event, status);
		return;
	}
	/* The tick is looking at it, which may take longer than the program's reference lasts. */
	if (event && !own && real_of(event)->clRetainEvent(event) == CL_SUCCESS) {
		record->holds = true;
		record_event(record, event);
	}
	if (record_let_go(record, STATE_CALL, true))
		record_finish(record, NULL, status);
}

/* ---- scans ---- */

/* Takes the LOOK bit of a used record that nobody holds (or, with `busy`, that
 * only its enqueue call holds). */
static bool look(uint32_t index, bool busy)
{
	_Atomic uint64_t *word = state_of(index);
	uint64_t state = atomic_load_explicit(word, memory_order_acquire);

	if (!(state & STATE_USED) || (state & (STATE_LOOK | STATE_FILL)) ||
	    (!busy && (state & STATE_CALL)))
		return false;
	return atomic_compare_exchange_strong(word, &state, state | STATE_LOOK);
}

/* With LOOK set: queries the command, writes it if it is complete, otherwise releases it. */
static void look_and_write(struct ocl_record *record)
{
	cl_int status = status_of(record);

	if (record_let_go(record, STATE_LOOK, status <= CL_COMPLETE))
		record_finish(record, NULL, status <= CL_COMPLETE ? status : status_of(record));
}

void records_harvest(struct ocl_queue *queue)
{
	unsigned end = atomic_load(&top);

	if (atomic_load(&probe_dead) ||
	    (queue && !atomic_load_explicit(&queue->inflight, memory_order_acquire)))
		return;
	for (uint32_t i = 0; i < end; i++) {
		if (queue && atomic_load_explicit(queue_at(i), memory_order_relaxed) != queue)
			continue;
		if (used(i) && look(i, false))
			look_and_write(record_at(i));
		if (queue && !atomic_load_explicit(&queue->inflight, memory_order_relaxed))
			break;
	}
}

void harvest_events(cl_uint n, const cl_event *events)
{
	unsigned end = atomic_load(&top);

	/* Their callbacks do the same, and a deep backlog is not worth the scan. */
	if (end > SCAN_MAX)
		return;
	for (uint32_t i = 0; i < end && !atomic_load(&probe_dead); i++) {
		cl_event event = atomic_load_explicit(event_at(i), memory_order_relaxed);
		bool ours = false;

		for (cl_uint j = 0; event && j < n && !ours; j++)
			ours = events[j] == event;
		if (ours && look(i, false))
			look_and_write(record_at(i));
	}
}

static uint32_t find_event(cl_event event, unsigned limit)
{
	unsigned end = atomic_load(&top);

	for (uint32_t i = 0; event && i < end && i < limit; i++)
		if (atomic_load_explicit(event_at(i), memory_order_relaxed) == event && used(i))
			return i;
	return UINT32_MAX;
}

uint32_t record_of_event(cl_event event)
{
	uint32_t index = find_event(event, SCAN_MAX), correlation;

	if (index == UINT32_MAX)
		return 0;
	correlation = atomic_load(&record_at(index)->correlation);
	/* It may have been written and given out again meanwhile. */
	return atomic_load(event_at(index)) == event ? correlation : 0;
}

/* Events are only stored with a reference. */
bool record_holds(cl_event event)
{
	return find_event(event, RECORD_MAX) != UINT32_MAX;
}

/* ---- the runtime's thread ---- */

/* Announces a command that takes long. While its call is running, only what was known before may be
 * read. */
static void record_announce(uint32_t index)
{
	struct ocl_record *record = record_at(index);
	struct tft_command cmd;
	bool in_call;

	if (!look(index, true))
		return;
	in_call = atomic_load(state_of(index)) & STATE_CALL;
	if (!in_call && status_of(record) <= CL_COMPLETE) {
		look_and_write(record);
		return;
	}
	cmd = record->cmd;
	if (!in_call)
		record_late(record, &cmd);
	cmd.flags |= TFT_CMD_OPEN;
	rt_emit_command(&cmd);
	atomic_store_explicit(&record->announced, true, memory_order_relaxed);
	atomic_store_explicit(pending_at(index), INT64_MAX, memory_order_relaxed);
	if (record_let_go(record, STATE_LOOK, false))
		record_finish(record, NULL, status_of(record));
}

/* Lowers `top` to what is used; see record_open for the other side. */
static void lower_top(unsigned end, unsigned last)
{
	unsigned old = end;

	if (last >= end || !atomic_compare_exchange_strong(&top, &old, last))
		return;
	for (unsigned i = end; i > last; i--)
		if (taken(i - 1)) {
			old = atomic_load(&top);
			while (old < i && !atomic_compare_exchange_weak(&top, &old, i))
				;
			return;
		}
}

/* With LOOK set: queries the command if it is old enough. */
static void look_if_old(struct ocl_record *record, int64_t now_ns)
{
	if (now_ns - record->cmd.call_ns > SWEEP_AGE_NS)
		look_and_write(record);
	else if (record_let_go(record, STATE_LOOK, false))
		record_finish(record, NULL, status_of(record));
}

/* Queries commands without a callback at every tick, and every 100 ms those whose callback should
 * have come by now: a limited number each time, in turn. */
static void record_sweep(int64_t now_ns, unsigned end)
{
	unsigned asked = 0;

	for (uint32_t i = 0; i < end && asked < SWEEP_COUNT; i++)
		if (atomic_load_explicit(silent_at(i), memory_order_relaxed) && used(i) &&
		    look(i, false)) {
			look_and_write(record_at(i));
			asked++;
		}
	if (now_ns - swept_ns < SWEEP_EVERY_NS)
		return;
	swept_ns = now_ns;
	for (unsigned n = 0; n < end && n < SWEEP_COUNT; n++) {
		sweep_at = sweep_at < end ? sweep_at : 0;
		if (used(sweep_at) && look(sweep_at, false))
			look_if_old(record_at(sweep_at), now_ns);
		sweep_at++;
	}
}

void record_tick(int64_t now_ns)
{
	unsigned end = atomic_load(&top), last = 0;

	atomic_store_explicit(&ticked_ns, now_ns, memory_order_relaxed);
	for (uint32_t i = 0; i < end; i++) {
		int64_t at;

		if (!taken(i))
			continue;
		last = i + 1;
		at = atomic_load_explicit(pending_at(i), memory_order_relaxed);
		if (at != INT64_MAX && now_ns - at > ANNOUNCE_AGE_NS)
			record_announce(i);
	}
	record_sweep(now_ns, end);
	lower_top(end, last);
}

int64_t record_pending_ns(void)
{
	unsigned end = atomic_load(&top);
	int64_t oldest = INT64_MAX;

	if (atomic_load(&probe_dead))
		return oldest;
	for (uint32_t i = 0; i < end; i++) {
		int64_t at = atomic_load_explicit(pending_at(i), memory_order_relaxed);

		if (at < oldest && taken(i))
			oldest = at;
	}
	return oldest;
}

/* The child has the parent's records and none of its commands. */
void record_fork_child(void)
{
	unsigned n = atomic_load(&fresh);

	for (uint32_t i = 0; i < n; i++) {
		atomic_store(state_of(i), owned(atomic_load(state_of(i))) & ~STATE_MASK);
		atomic_store(event_at(i), NULL);
	}
	atomic_store(&free_stack, 0);
	atomic_store(&fresh, 0);
	atomic_store(&top, 0);
}
