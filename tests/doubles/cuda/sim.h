/* SPDX-License-Identifier: MIT */
/*
 * A CUDA device that is not there: what the double of the driver (libcuda.so.1) is made of,
 * and the doors that the doubles of CUPTI and of the CUDA runtime take into it.
 *
 * A stream runs its work in order: it starts when it was launched (plus the latency) and what
 * is before it has ended, and ends its duration later. Both times are known at the launch, in
 * CLOCK_REALTIME ns as CUPTI's; it has ended when the clock says so, so no thread runs it.
 * Copies are done by the call, so that their data is right when they are waited for.
 * What the device did is counted here, in truth.c, and nowhere else.
 *
 * Settings, words of CUDA_DOUBLE (blanks or commas between), read in cuInit:
 *	devices=N	1..8, default 1
 *	version=V	of the driver, as cuDriverGetVersion says it, default 13000
 *	latency=NS	from a launch to its start on an idle stream, default 3000
 *	depth=N		commands of a stream in flight before a launch waits, default 1024
 *	bandwidth=B	bytes per us of a copy, default 12000
 *	correlation=N	of the first call, default 1; after 2^32 - 1 comes 1
 *	lazy		the first launch of a kernel loads it (20 us, told to tools)
 *	split		a driver call inside of a runtime call has a correlation of its own
 *	fail=F:N:E	the N-th call of function F ends with E (several may be given)
 * CUDA_DOUBLE_TRUTH names the file that is written at exit.
 */
#ifndef TESTS_DOUBLES_CUDA_SIM_H
#define TESTS_DOUBLES_CUDA_SIM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_API __attribute__((visibility("default")))
#define SIM_DEVICES 8
#define SIM_DEPTH 1024
#define SIM_NESTED 32	/* maximum depth of ranges on a thread; deeper ones are not counted */
#define SIM_AWAITS 4

/* The driver's result codes that are used. */
enum {
	SIM_OK = 0, SIM_INVALID_VALUE = 1, SIM_OUT_OF_MEMORY = 2, SIM_NOT_INITIALIZED = 3,
	SIM_INVALID_DEVICE = 101, SIM_INVALID_CONTEXT = 201, SIM_INVALID_HANDLE = 400,
	SIM_NOT_FOUND = 500, SIM_NOT_READY = 600, SIM_LAUNCH_FAILED = 719,
	SIM_NOT_SUPPORTED = 801,
};

enum sim_kind { SIM_KERNEL, SIM_COPY, SIM_PEER, SIM_FILL, SIM_HOST };
enum sim_domain { SIM_DRIVER = 1, SIM_RUNTIME = 2 };
enum sim_object {
	SIM_CONTEXT, SIM_STREAM, SIM_MODULE, SIM_GRAPH, SIM_NODE, SIM_CLONE, SIM_EXEC
};

/* Where memory is; the numbers are those of CUPTI. */
enum sim_place { SIM_PAGEABLE = 1, SIM_PINNED = 2, SIM_ON_DEVICE = 3, SIM_MANAGED = 5 };

struct sim_stream;
struct sim_truth;

/* An op of the program, which owns everything that it launches. */
struct sim_range {
	char *name;
	atomic_ullong count;
	struct sim_range *next;
};

struct sim_device {
	int ordinal;
	char name[64];
	uint8_t uuid[16];
	uint64_t memory;
	_Atomic uint64_t used;
	struct sim_context *primary;
	int primary_refs;
};

struct sim_context {
	uint32_t magic, uid;
	struct sim_device *device;
	struct sim_stream *null_stream, *streams;
	pthread_mutex_t lock;	/* streams */
	_Atomic int64_t legacy_end, blocking_end;
	struct sim_context *next;
};

struct sim_stream {
	uint32_t magic, id;
	struct sim_context *context;
	int priority;
	bool legacy, non_blocking, per_thread, destroyed;
	pthread_mutex_t lock;
	int64_t last_end;
	struct sim_graph *capture;
	/* While captured: its last node, and the nodes of other streams that its next node waits
	 * for. */
	struct sim_node *noted, *awaits[SIM_AWAITS];
	struct sim_truth *truth;
	uint32_t submitted;
	int64_t ends[SIM_DEPTH];
	struct sim_stream *next;
};

struct sim_function {
	uint32_t magic;
	char *name;
	int registers, shared_static;
	bool loaded;
	struct sim_function *next;
};

/* One piece of device work. start and end are set by sim_submit(). */
struct sim_op {
	enum sim_kind kind;
	struct sim_stream *stream;
	struct sim_function *function;
	const char *name;	/* name of a kernel; never freed */
	const struct sim_range *range;	/* innermost range on the launching thread; NULL: none */
	/* for a node of a graph: the range in which it was captured */
	const struct sim_range *captured;
	/* the second one is 0 if no call of the runtime launched it */
	uint32_t correlation, runtime_correlation;
	uint32_t grid[3], block[3];
	uint32_t shared_dynamic;
	uint64_t bytes;
	uint32_t value;		/* of a fill */
	enum sim_place from, to;
	int from_device, to_device;
	bool async;
	uint32_t graph;		/* id of the graph that ran it; 0: none */
	uint64_t node;
	int64_t duration_ns;	/* 0: the default duration */
	int64_t after_ns;	/* it does not start before this time */
	int64_t queued_ns, start_ns, end_ns;
};

struct sim_call {
	enum sim_domain domain;
	uint32_t cbid;
	const char *name;
	const void *params;	/* a struct of the arguments, in their order */
	const char *symbol;	/* name of the launched kernel */
	struct sim_context *context;
	uint32_t correlation;
	int result;
	int64_t start_ns;	/* used by the tool */
	uint64_t data;		/* used by the tool */
	bool told;		/* used by the tool */
	struct sim_call *outer;
};

struct sim_memory {
	bool release, async;
	enum sim_place place;
	uint64_t address, bytes;
	int64_t at_ns;
	int device;
	struct sim_context *context;
	struct sim_stream *stream;	/* NULL: none */
	uint32_t correlation;
	struct sim_pool *pool;		/* NULL: none */
};

struct sim_pool {
	uint32_t magic;
	int device;
	uint64_t address, reserved, used, threshold;
	pthread_mutex_t lock;
	struct sim_pool *next;
};

enum sim_sync { SIM_SYNC_EVENT = 1, SIM_SYNC_STREAM_EVENT, SIM_SYNC_STREAM, SIM_SYNC_CONTEXT };
struct sim_wait {
	enum sim_sync type;	/* numbers are those of CUPTI */
	struct sim_context *context;
	struct sim_stream *stream;
	uint32_t event, correlation;
	int64_t start_ns, end_ns;
};

struct sim_node {
	uint32_t magic;
	uint64_t id;
	struct sim_op op;
	void *destination;	/* of a copy, with its source; of a fill */
	const void *source;
	struct sim_node *original;
	/* nodes of other streams: it starts when they have ended */
	struct sim_node *awaits[SIM_AWAITS];
	int64_t end_ns;			/* end of the last launch */
	struct sim_node *next;
};

/*
 * A graph, or an executable graph (exec). Nodes that were captured on the stream where the capture
 * began run on the stream of the launch; those captured on other streams run on these,
 * concurrently.
 */
struct sim_graph {
	uint32_t magic, id;
	bool exec;
	struct sim_context *context;
	struct sim_graph *original;
	struct sim_stream *origin;	/* NULL: it was not captured */
	struct sim_node *first, *last;
	uint32_t nodes;
};

/* Functions by which a tool (the double of CUPTI) is informed, on the calling thread. */
struct sim_tool {
	void (*enter)(struct sim_call *call);
	void (*leave)(struct sim_call *call);
	/* An op was submitted; graph is set for the last one of a graph's launch, with the time of
	 * the whole launch. */
	void (*op)(const struct sim_op *op);
	void (*launched)(const struct sim_graph *graph, const struct sim_stream *stream,
			 uint32_t correlation, int64_t start_ns, int64_t end_ns);
	void (*memory)(const struct sim_memory *memory);
	void (*pool)(const struct sim_pool *pool, int operation, uint32_t correlation);
	void (*wait)(const struct sim_wait *wait);
	void (*event)(const struct sim_stream *stream, uint32_t event, uint32_t correlation);
	/* An object was created, or is about to be destroyed. */
	void (*object)(enum sim_object kind, const void *object, bool gone);
	/* Time spent on loading, as CUPTI's kind of overhead. */
	void (*overhead)(uint32_t kind, int64_t start_ns, int64_t end_ns, uint32_t correlation);
	void (*compiled)(int device, int64_t start_ns, int64_t end_ns, uint32_t correlation);
};

/* The threads of the program, and what they are doing. */
struct sim_thread {
	struct sim_context *current;
	struct sim_call *call;
	struct sim_stream *per_thread;
	struct sim_range *ranges[SIM_NESTED];
	int n_ranges;
	int64_t next_ns;
	struct sim_context *stack[8];
	int depth;
};
extern SIM_API __thread struct sim_thread sim_thread;

extern SIM_API const struct sim_tool *_Atomic sim_tool;
/* 0: cuInit has not been called, 1: it is running, 2: it has returned */
extern SIM_API atomic_int sim_state;

struct sim_settings {
	int devices, version, depth;
	int64_t latency_ns;
	uint64_t bandwidth;
	bool lazy, split;
};
extern SIM_API struct sim_settings sim_settings;
extern SIM_API struct sim_device sim_devices[SIM_DEVICES];

#define SIM_MAGIC_CONTEXT 0x63747874u
#define SIM_MAGIC_STREAM 0x7374726du
#define SIM_MAGIC_FUNCTION 0x66756e63u
#define SIM_MAGIC_POOL 0x706f6f6cu
#define SIM_MAGIC_GRAPH 0x67726670u
#define SIM_MAGIC_NODE 0x6e6f6465u
#define SIM_MAGIC_EVENT 0x65766e74u

/* --- sim.c --- */

SIM_API int64_t sim_now(void);
SIM_API void sim_sleep_until(int64_t at_ns);
void sim_configure(void);

/* A call starts (a result other than 0: the call must fail with it) and ends. */
SIM_API int sim_enter(struct sim_call *call);
SIM_API int sim_leave(struct sim_call *call, int result);

uint32_t sim_correlation(void);		/* of the outermost call that runs on this thread */
int sim_submit(struct sim_op *op);
/* The same; in a stream that is being captured, it becomes a node of the graph. */
int sim_do(struct sim_op *op, void *to, const void *from);
void sim_copy(const struct sim_op *op, void *to, const void *from);
int graph_note(struct sim_graph *graph, const struct sim_op *op, void *to, const void *from,
	       struct sim_node **node);
void sim_drain(struct sim_stream *stream);
struct sim_stream *sim_stream(void *handle);	/* NULL: there is no such stream, or no context */
struct sim_stream *sim_stream_make(struct sim_context *context, bool non_blocking, int priority);
/* Makes op the launch of a kernel; SIM_OK, or why it cannot be launched (launch.c). */
int sim_set_kernel(struct sim_op *op, void *function, const unsigned int *grid,
		   const unsigned int *block, unsigned int shared);
/* Where memory is, and of which device (memory.c). */
enum sim_place sim_place(uint64_t address, int *device);
/* Whether memory of a device is mapped at the address (virtual.c). */
bool sim_mapped(uint64_t address, int *device);
struct sim_context *sim_context_make(struct sim_device *device);
bool sim_context_of(void *handle);

#define SIM_TELL(what, ...) do { \
	const struct sim_tool *tool_ = atomic_load_explicit(&sim_tool, memory_order_acquire); \
	if (tool_) \
		tool_->what(__VA_ARGS__); \
} while (0)

/* --- for programs on the double, and tests --- */

/* A range with this name, made at the first call. On this thread: sim_begin() starts it, sim_end()
 * ends the innermost one. */
SIM_API struct sim_range *sim_range(const char *name);
SIM_API void sim_range_push(struct sim_range *range);
SIM_API void sim_range_pop(void);
const struct sim_range *sim_range_now(void);	/* NULL: none */
/* Sets how long the next command of this thread takes. */
SIM_API void sim_next(int64_t duration_ns);
SIM_API void sim_function_set(void *function, int registers, int shared_static);
/* Writes what the device did (see truth.c); 0, or errno. */
SIM_API int sim_write_truth(const char *path);
/* CUPTI's id for a stream; and the object behind a handle of a graph. */
SIM_API uint32_t sim_stream_id(void *handle, bool per_thread);

/* --- truth.c --- */

void truth_op(const struct sim_op *op);		/* under its stream's lock */
void truth_stream(struct sim_stream *stream);	/* a new one */
void truth_memory(const struct sim_memory *memory);
void truth_launch(const struct sim_graph *graph);
void truth_blocked(void);	/* the call that runs on this thread waited */
void truth_compile(void);
void truth_failed(void);	/* a launch was refused */
/* Records that the double of CUPTI dropped. */
SIM_API void sim_count_dropped(uint64_t records);

#endif
