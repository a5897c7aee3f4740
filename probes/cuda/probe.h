/* SPDX-License-Identifier: MIT */
/*
 * The CUDA probe: what its files share.
 *
 *   cuda.c     the driver's and the runtime's entry points; levels; what is told once
 *   enable.c   CUPTI: subscribed, kinds and calls enabled as the level asks
 *   collect.c  buffers of records and the thread that empties them
 *   calls.c    callbacks of the API's calls
 *   table.c    calls that records will come of, by correlation
 *   overdue.c  launches that nothing came of: announced, given up, explained
 *   objects.c  devices, contexts, streams; graphs.c nodes and names of graphs
 *   emit.c     a record as the event that tells it
 *   nvml.c     a device's sensors
 *   library.c  which libcupti; decode.c its records; cupti.h all of its interface
 *
 * Always true:
 *  - Nothing of the program is changed: no context is made, no call of CUPTI is made
 *    from a callback but those that tell an id, and nothing is ever unloaded.
 *  - In callbacks and when a buffer is asked for or given back there is no lock, no
 *    waiting, and, but for what is seen for the first time, no allocation.
 *  - CUPTI is called to enable, to disable and to flush by one thread, the flusher's;
 *    before it runs by the one that cuInit runs on, after it has ended by the one that
 *    ends the process.
 *  - Host times are CLOCK_MONOTONIC; device ticks are CUPTI's timestamps as they are.
 *  - Correlations are CUPTI's; on the wire with TFT_CORRELATION_CUPTI.
 *
 * Threads: callbacks on any thread of the program; what is "the flusher's" on that one.
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
/* Past the last flush, or the child of a fork: callbacks and buffers pass by. */
extern atomic_bool cuda_dead;

/* A message, each of them once; level as tft_message's. */
enum cuda_said {
	SAID_LOST, SAID_DROPPED, SAID_UNKNOWN, SAID_BROKEN, SAID_ZERO, SAID_GRAPHS, SAID_SILENT,
	SAID_FATAL, SAID_FLUSH, SAID_STREAMS, SAID_BUFFERS, SAID_NOTHING, SAID_CALLS,
	SAID_RESOURCES, SAID_STATE, SAID_DISABLE, SAID_HANDLES, SAID_NODES, SAID_EXECS,
	SAID_CLOCK, SAID_DROPS, SAID_UNFINISHED, SAID_UNCORRELATED, SAID_COUNT
};
__attribute__((format(printf, 3, 4)))
void cuda_say(enum cuda_said what, uint8_t level, const char *format, ...);
/* What CUPTI answered, given back; when it is a refusal, what is missing for it is told once. */
int cuda_asked(int result, enum cuda_said what, uint8_t level, const char *missing);
/* The same as cuda_say(), as often as it is called. */
__attribute__((format(printf, 2, 3)))
void cuda_tell(uint8_t level, const char *format, ...);

/* ---- enable.c ---- */

/* Subscribes and enables for the level. 0, or what CUPTI said, and a sentence of it. */
int enable_start(enum tft_level level, char *why, size_t size);
/* The level changed: the flusher's. */
void enable_level(enum tft_level level);
/* Graphs as a whole instead of node by node: the flusher's. False: refused. */
bool enable_whole_graphs(void);
/* A record came without its correlation: the flusher's. */
void enable_correlations(void);
/* Records of this kind come. */
bool enable_has(uint32_t kind);

/* ---- collect.c ---- */

bool collect_start(void);		/* buffers, before the first kind is enabled */
bool collect_run(void);			/* the thread */
void collect_wake(void);
extern atomic_bool collect_called;	/* something was launched: whether records have
					 * correlations is seen soon */
/* The last flush, bounded in time. */
void collect_end(void);
/* The level is taken up; waits for that, a short time at most. */
void collect_apply(void);
void collect_leave(void);		/* the process may end without a word: write what there
					 * is */
void collect_fork_child(void);
void collect_request(uint8_t **buffer, size_t *size, size_t *max_records);
void collect_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
extern atomic_bool graphs_whole;	/* launches from now on are told as a whole */
extern unsigned graphs_nodes_s;		/* from so many nodes a second on; UINT_MAX: never.
					 * Before the thread runs */
extern _Atomic int64_t collect_flush_ns;	/* the last flush that has ended began then */
extern uint64_t collect_dropped;	/* records, by CUPTI, so far: the flusher's */

/* ---- table.c ---- */

#define CALLS (1u << 18)	/* a power of two */

/* Of a call's word, below its correlation. */
enum {
	CALL_FILLING = 1,	/* its thread still writes what it is */
	CALL_RUNNING = 2,	/* the call has not returned */
	CALL_AWAITED = 4,	/* nothing came of it from the device yet */
	CALL_TOLD = 8,		/* was announced as open */
	CALL_WHOLE = 16,	/* a graph's launch that is told as a whole */
	CALL_FAILED = 32,
	CALL_SEEN = 64,		/* a record of it came */
	CALL_GIVEN_UP = 128,	/* is awaited no more, though none came */
	CALL_LEFT = 256,	/* is awaited no more: nobody knows whether one came */
};

/* What a record cannot say of the call it is of. Of whole words: it is copied by them. */
struct cuda_call {
	_Alignas(8) uint64_t op;
	uint64_t stream;		/* its handle, 0 the default one */
	int64_t call_ns;
	const char *symbol;		/* a kernel's name, NULL not known: see call_kernel() */
	uint32_t op_name, tid, call_dur_ns;
	uint32_t context;
	uint32_t twin;			/* the same call under another correlation, 0 none */
	uint32_t queue;			/* of a graph's launch that was told */
	uint8_t class;			/* enum cupti_class */
	bool own_stream;		/* the null stream is the thread's own */
};

enum call_found { CALL_NONE, CALL_BUSY, CALL_THERE };

void table_start(void);			/* before anything is enabled */
bool table_there(void);
void table_forget(void);		/* correlations went on unseen: which is the newest */
/* A call's word and itself, as they are now. */
enum call_found call_find(uint32_t correlation, struct cuda_call *out, uint64_t *state);
/* The name of the kernel it launches, 0 not known: for the few that are told before their
 * record comes. The text is the library's and may be gone: what is no text is no name. */
uint32_t call_kernel(const struct cuda_call *call);
/* A record of it came: it is awaited no more. */
void call_seen(uint32_t correlation, const struct cuda_call *call);
/* Changes of its word what `clear` and `set` say, if it is still that call's. */
void call_mark(uint32_t correlation, uint32_t clear, uint32_t set);
/* Calls between the oldest that may be awaited and the newest: `newest` included. */
void calls_range(uint32_t *oldest, uint32_t *newest);
void calls_low(uint32_t oldest);	/* below is nothing awaited: the flusher's */
uint64_t calls_state(uint32_t correlation);	/* 0: the place is another call's */
uint64_t calls_overwritten(void);	/* awaited calls whose place another took */
/* The thread that makes the call files it, now if it has no time; the time is returned. It
 * reads it and writes it as long as it has its place. */
int64_t call_file(uint32_t correlation, struct cuda_call *call);
bool call_read(uint32_t correlation, struct cuda_call *out);
void call_write(uint32_t correlation, const struct cuda_call *call);

/* ---- calls.c ---- */

void calls_start(void);			/* before anything is enabled */
cupti_callback_fn calls_callback;
void calls_epoch(void);			/* what is enabled changed */
void calls_captured(void);		/* it went into a graph: nothing will run */

/* ---- overdue.c ---- */

/* The oldest that was launched and is neither written nor announced, or INT64_MAX. */
int64_t overdue_pending_ns(void);
/* After a flush that gave `records`; last: none will come any more. */
void overdue_look(int64_t now_ns, uint64_t records, bool last);
/* A command's record: has it a correlation? */
void overdue_correlation(const struct cuda_record *record);
extern bool overdue_met;		/* there was one */
/* A record came of a call in this state. */
void overdue_came(const struct cuda_call *call, uint64_t state);
/* As a queue's waited_ns, of all of the calling thread's device. */
extern _Atomic int64_t overdue_waited_ns;

/* ---- objects.c ---- */

#define NAME_BYTES 64u		/* of what the user calls things */

struct cuda_device {
	uint32_t number;		/* CUPTI's */
	atomic_uint id;			/* 0: not sent */
	atomic_bool told;		/* with its properties, in def; else in plain */
	atomic_bool used;		/* something ran on it */
	struct tft_device plain, def;	/* strings owned, never freed */
	char user[NAME_BYTES];		/* what the user calls it, "" nothing */
};

struct cuda_queue {
	uint32_t context, stream;	/* CUPTI's */
	_Atomic uint64_t handle;	/* 0 where it is not known */
	struct cuda_device *device;		/* never NULL */
	atomic_uint id;
	_Atomic uint32_t flags;
	_Atomic int32_t priority;
	char name[NAME_BYTES];		/* the user's, "" none */
	int64_t done_call_ns;		/* the latest call that a record came of; the flusher's */
	_Atomic int64_t waited_ns;	/* what was launched until then had ended when its wait
					 * did */
};

#define DEVICES_MAX 64u
#define QUEUES_MAX 4096u

struct cuda_device *cuda_device_get(uint32_t number);
struct cuda_device *device_at(unsigned index);	/* NULL: there are no more */
/* The queue of a stream, made when it is met for the first time; that of further streams
 * when there are too many. NULL: no room for its device. */
struct cuda_queue *cuda_queue_get(uint32_t context, uint32_t stream, uint32_t device);
/* Of a handle, if that is known; the second one asks CUPTI, in a callback. */
struct cuda_queue *cuda_queue_of(uint32_t context, uint64_t handle);
struct cuda_queue *cuda_queue_of_call(const struct cuda_call *call, void *context);
void objects_resource(uint32_t id, const struct cupti_resource *resource);
static inline uint32_t objects_hash(uint64_t a, uint64_t b)
{
	return (uint32_t)(((a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu) >> 40);
}

void objects_record(const struct cuda_record *record);	/* devices, contexts, streams */
void objects_names(void);		/* what the user called streams: the flusher's */
void objects_dump(void);

/* ---- graphs.c ---- */

void graphs_resource(uint32_t id, const struct cupti_graph_resource *graph);
/* What a graph that can be launched is called: a name id. In a callback. */
uint32_t graph_name(const void *exec);
uint32_t graph_name_of(uint32_t number);
/* The op on top when a node was captured, 0 not known. */
uint32_t node_op(uint64_t node);

/* ---- emit.c: the flusher's ---- */

/* What has no times has not ended: from the last flush of all on. */
extern bool emit_unfinished;
void emit_clock(void);			/* before records are emitted */
void emit_record(const struct cuda_record *record);
void emit_waiting(bool all);		/* records of calls that had not returned */
void emit_dump(void);			/* series of pools */
uint64_t emit_graph_nodes(void);	/* of graphs, since the last time */

/* ---- nvml.c ---- */

void nvml_wish(void);			/* what the environment says; before the next one */
void nvml_start(void);			/* once a device was used */
void nvml_dump(void);
void nvml_end(void);

#endif
