/* SPDX-License-Identifier: MIT */
/*
 * What the files of the CUDA probe share:
 *
 *   cuda.c     the driver's and the runtime's entry points; levels; what is reported once
 *   enable.c   subscribes to CUPTI and enables the kinds and calls that the level requires
 *   collect.c  the thread that empties the buffers of records; buffers.c these buffers
 *   calls.c    callbacks of the API's calls
 *   table.c    calls for which records will arrive, by correlation
 *   overdue.c  launches without a record: announced, given up, explained
 *   objects.c  devices, contexts, streams; graphs.c nodes and names of graphs
 *   emit.c     turns a record into events
 *   nvml.c     a device's sensors
 *   beside.c   the program's own client of CUPTI, for which tftop lets go of it (beside.h);
 *              beside_buffers.c its buffers
 *   library.c  which libcupti is used; decode.c its records; cupti.h its whole interface
 *
 * Always true:
 *  - Nothing in the program is changed: no context is created, callbacks call no function of CUPTI
 *    except those that return an id, and nothing is ever unloaded.
 *  - Callbacks, and functions that provide or take back a buffer, take no lock, do not wait, and
 *    allocate only when they see something for the first time.
 *  - One thread, the flusher, calls CUPTI to enable, to disable and to flush. Before it runs, the
 *    thread that runs cuInit does that; after it has ended, the thread that ends the process.
 *  - Host times are CLOCK_MONOTONIC; device ticks are CUPTI's timestamps, unchanged.
 *  - Correlations are CUPTI's; in events they carry TFT_CORRELATION_CUPTI.
 *
 * Threads: callbacks run on any thread of the program; functions marked "the flusher's" only on
 * that thread.
 */
#ifndef PROBES_CUDA_PROBE_H
#define PROBES_CUDA_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/cuda/cupti.h"
#include "probes/cuda/decode.h"
#include "probes/cuda/library.h"
#include "probes/runtime/runtime.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define FLUSH_EVERY_NS 50000000
#define ANNOUNCE_AGE_NS 10000000
#define OVERDUE_AGE_NS 2000000000

/* ---- cuda.c ---- */

extern const struct cupti_library *cupti;	/* set once, before anything else runs */
/* After the last flush, or in the child of a fork: callbacks and buffers are ignored. */
extern atomic_bool cuda_dead;

/* Sends a message, each kind once; level: as in tft_message. */
enum cuda_said {
	SAID_LOST, SAID_DROPPED, SAID_UNKNOWN, SAID_BROKEN, SAID_ZERO, SAID_GRAPHS, SAID_SILENT,
	SAID_FATAL, SAID_FLUSH, SAID_STREAMS, SAID_BUFFERS, SAID_NOTHING, SAID_CALLS,
	SAID_RESOURCES, SAID_STATE, SAID_DISABLE, SAID_HANDLES, SAID_NODES, SAID_EXECS,
	SAID_CLOCK, SAID_DROPS, SAID_BESIDE, SAID_BLINDLY, SAID_UNFINISHED, SAID_UNCORRELATED,
	SAID_COUNT
};
__attribute__((format(printf, 3, 4)))
void cuda_say(enum cuda_said what, uint8_t level, const char *format, ...);
/* Returns CUPTI's result unchanged. If it is an error, a message says once what is missing. */
int cuda_asked(int result, enum cuda_said what, uint8_t level, const char *missing);
/* Like cuda_say(), but sends a message at every call. */
__attribute__((format(printf, 2, 3)))
void cuda_tell(uint8_t level, const char *format, ...);

/* ---- enable.c ---- */

/* Subscribes and enables what the level asks for. Returns 0, or CUPTI's error with a sentence. */
int enable_start(enum tft_level level, char *why, size_t size);
/* Disables everything and ends the subscription: the flusher's. */
void enable_end(void);
/* The level changed: the flusher's. */
void enable_level(enum tft_level level);
/* Records graphs as a whole instead of node by node: the flusher's. false: refused. */
bool enable_whole_graphs(void);
/* Called when a record came without its correlation id: the flusher's. */
void enable_correlations(void);
/* Whether records of this kind are enabled. */
bool enable_has(uint32_t kind);

/* ---- buffers.c ---- */

bool buffers_start(void);	/* allocates them; before the first kind is enabled */
void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records);
void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
bool buffers_are_ours(const uint8_t *buffer);
/* Hands each buffer that has come back to `each`, oldest first, and returns the sum of what that
 * returns: the flusher's, as what follows. */
uint64_t buffers_drain(uint64_t (*each)(uint8_t *data, size_t valid));
uint64_t buffers_thrown(void);	/* how many bytes of records were thrown away since the last call */
uint32_t buffers_out(void);	/* how many CUPTI holds */
void buffers_flushed(void);

/* ---- collect.c ---- */

/* Starts the thread. has: whether tftop has CUPTI; otherwise a client has it (beside.h). */
bool collect_run(bool has);
/* Whether tftop has CUPTI, with all that is recorded. */
bool collect_has(void);
/* Waits until tftop has let go of CUPTI; for a short time at most, and not on the flusher. */
void collect_let_go(void);
void collect_say_taken(void);
void collect_dump(void);		/* whether tftop has CUPTI, and since when */
void collect_wake(void);
extern atomic_bool collect_called;	/* something was launched, so a record will soon
					 * show whether records have correlation ids */
/* The last flush, bounded in time. */
void collect_end(void);
/* Applies the level; waits until that is done, for a short time at most. */
void collect_apply(void);
void collect_leave(void);		/* the process may end at once: writes what is there */
void collect_fork_child(void);
extern atomic_bool graphs_whole;	/* launches from now on are recorded as a whole */
extern unsigned graphs_nodes_s;		/* above so many nodes a second; UINT_MAX: never. Set
					 * before the thread runs */
extern _Atomic int64_t collect_flush_ns;	/* when the last finished flush began */
extern uint64_t collect_dropped;	/* records that CUPTI dropped so far: the flusher's */

/* ---- table.c ---- */

#define CALLS (1u << 18)	/* a power of two */

/* The state of a call, stored in its word below the correlation id. */
enum {
	CALL_FILLING = 1,	/* its thread is still filling in the entry */
	CALL_RUNNING = 2,	/* the call has not returned */
	CALL_AWAITED = 4,	/* its record has not come yet */
	CALL_TOLD = 8,		/* was announced as open */
	CALL_WHOLE = 16,	/* a graph's launch that is recorded as a whole */
	CALL_FAILED = 32,
	CALL_SEEN = 64,		/* a record of it has come */
	CALL_GIVEN_UP = 128,	/* not awaited any more, although no record came */
	CALL_LEFT = 256,	/* not awaited any more: whether a record came is unknown */
};

/* What a record does not say about its call. Consists of whole words, because it is copied by
 * words. */
struct cuda_call {
	_Alignas(8) uint64_t op;
	uint64_t stream;		/* its handle; 0: the default stream */
	int64_t call_ns;
	const char *symbol;		/* name of a kernel; NULL: unknown, see call_kernel() */
	uint32_t op_name, tid, call_dur_ns;
	uint32_t context;
	uint32_t twin;			/* the other correlation id of the same call; 0: none */
	uint32_t queue;	/* for the launch of a graph: the queue with which it was sent */
	uint8_t class;			/* enum cupti_class */
	bool own_stream;		/* the null stream stands for the thread's own stream */
};

enum call_found { CALL_NONE, CALL_BUSY, CALL_THERE };

void table_start(void);			/* before anything is enabled */
bool table_there(void);
void table_forget(void);		/* correlation ids have advanced unseen; finds the newest */
/* Copies a call and its word, as they are now. */
enum call_found call_find(uint32_t correlation, struct cuda_call *out, uint64_t *state);
/* The name of the launched kernel, 0: unknown. Used for the few launches that are sent before their
 * record arrives. The text belongs to the library and may have been freed; if it is not text, the
 * result is 0. */
uint32_t call_kernel(const struct cuda_call *call);
/* A record of the call has come: the call is not awaited any more. */
void call_seen(uint32_t correlation, const struct cuda_call *call);
/* Clears and sets bits of the call's word, if the place is still that call's. */
void call_mark(uint32_t correlation, uint32_t clear, uint32_t set);
/* The range of calls from the oldest that may be awaited to the newest, inclusive. */
void calls_range(uint32_t *oldest, uint32_t *newest);
void calls_low(uint32_t oldest);	/* no older call is awaited: the flusher's */
uint64_t calls_state(uint32_t correlation);	/* 0: the place belongs to another call */
uint64_t calls_overwritten(void);	/* awaited calls whose place was overwritten */
/* Called by the thread that makes the call: stores it, with the current time if it has none, and
 * returns that time. The entry can be written as long as the call has its place. */
int64_t call_file(uint32_t correlation, struct cuda_call *call);
void call_write(uint32_t correlation, const struct cuda_call *call);
/* Of a call that has its place: stores what its end tells, the duration and the queue, and then
 * does as call_mark(). */
void call_end(uint32_t correlation, const struct cuda_call *call, uint32_t clear, uint32_t set);

/* ---- calls.c ---- */

void calls_start(void);			/* before anything is enabled */
cupti_callback_fn calls_callback;
void calls_epoch(void);			/* what is enabled has changed */
void calls_captured(void);		/* the call was captured into a graph: nothing will run */

/* ---- overdue.c ---- */

/* When the oldest launch began that is neither written nor announced, or INT64_MAX. */
int64_t overdue_pending_ns(void);
/* After a flush that returned `records`; last: no more will come. */
void overdue_look(int64_t now_ns, uint64_t records, bool last);
/* Whether records of kernels will come whose launch had returned before that time. */
bool overdue_waits(int64_t before_ns);
/* No more records will come, because CUPTI is another client's: those that were awaited since
 * before that time are counted as lost. */
void overdue_left(int64_t before_ns);
/* Notes whether the record of a command has a correlation id. */
void overdue_correlation(const struct cuda_record *record);
extern bool overdue_met;		/* a record had a correlation id */
/* A record has come for a call in this state. */
void overdue_came(const struct cuda_call *call, uint64_t state);
/* Like waited_ns of a queue, for all queues of the calling thread's device. */
extern _Atomic int64_t overdue_waited_ns;

/* ---- objects.c ---- */

#define NAME_BYTES 64u		/* size of names that the user gives */

struct cuda_device {
	uint32_t number;		/* CUPTI's number */
	atomic_uint id;			/* 0: not sent */
	/* it was sent with its properties from `def`; otherwise from `plain` */
	atomic_bool told;
	atomic_bool used;		/* something ran on it */
	struct tft_device plain, def;	/* strings owned, never freed */
	char user[NAME_BYTES];		/* the name that the user gave; "": none */
};

struct cuda_queue {
	uint32_t context, stream;	/* CUPTI's ids */
	_Atomic uint64_t handle;	/* 0: unknown */
	struct cuda_device *device;		/* never NULL */
	atomic_uint id;
	atomic_bool own_stream;		/* the default stream of one thread */
	_Atomic uint32_t flags;
	_Atomic int32_t priority;
	char name[NAME_BYTES];		/* the name that the user gave; "": none */
	int64_t done_call_ns;		/* the latest call whose record has come; the flusher's */
	_Atomic int64_t waited_ns;	/* everything launched until then had ended when its wait
					 * ended */
};

#define DEVICES_MAX 64u
#define QUEUES_MAX 4096u

struct cuda_device *cuda_device_get(uint32_t number);
struct cuda_device *device_at(unsigned index);	/* NULL: there are no more */
/* The queue of a stream, created at its first use; the queue "further streams" when there are too
 * many. NULL: no room for its device. */
struct cuda_queue *cuda_queue_get(uint32_t context, uint32_t stream, uint32_t device);
/* The queue of a handle, if it is known; the second function asks CUPTI, in a callback. */
struct cuda_queue *cuda_queue_of(uint32_t context, uint64_t handle);
struct cuda_queue *cuda_queue_of_call(const struct cuda_call *call, void *context);
void objects_resource(uint32_t id, const struct cupti_resource *resource);
static inline uint32_t objects_hash(uint64_t a, uint64_t b)
{
	return (uint32_t)(((a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu) >> 40);
}

void objects_record(const struct cuda_record *record);	/* devices, contexts, streams */
void objects_names(void);		/* names that the user gave to streams: the flusher's */
void objects_dump(void);

/* A record came of work on a device that no record has described: the flusher's. */
void objects_unknown(struct cuda_device *device);
/* A call on a default stream, in its callback: makes the stream known as what it is. */
void objects_default_stream(const struct cuda_call *call, void *context);

/* ---- before.c ---- */

/* What the driver says about a device, as if it were CUPTI's record; its name is written to `name`.
 * false: nothing. The driver must have started. */
bool before_device(uint32_t number, struct cuda_record *record, char *name, size_t size);

/* ---- graphs.c ---- */

void graphs_resource(uint32_t id, const struct cupti_graph_resource *graph);
/* The name id of an executable graph. In a callback. */
uint32_t graph_name(const void *exec);
uint32_t graph_name_of(uint32_t number);
/* The op on top of the stack when a node was captured, and its line (rt_source()); 0: unknown. */
uint32_t node_op(const struct cuda_record *r, uint32_t *source);

/* ---- emit.c: the flusher's ---- */

/* In a final flush: a record without times belongs to a command that has not ended. */
extern bool emit_unfinished;
void emit_clock(void);			/* before records are emitted */
void emit_clock_anew(void);		/* CUPTI's clock may be another one */
void emit_record(const struct cuda_record *record);
void emit_waiting(bool all);		/* records of calls that had not returned */
void emit_dump(void);			/* series of pools */
uint64_t emit_graph_nodes(void);	/* of graphs, since the last call */

/* ---- nvml.c ---- */

void nvml_wish(void);			/* reads the environment; before nvml_start() */
void nvml_start(void);			/* when a device has been used */
void nvml_dump(void);
void nvml_end(void);

#endif
