/* SPDX-License-Identifier: MIT */
/*
 * Activity records as CUPTI writes them, in declarations of our own: each struct is the longest
 * layout known (CUDA 13.5), with the fields that are read and the gaps between them. Kinds of which
 * nothing is read have only a number here.
 *
 * Always true: a record starts with its kind and grows only at its end. A library writes the layout
 * of its own version, whatever its user was compiled with. So a struct here is a prefix of what
 * future libraries write, and longer than what old ones write. A reader must consider how long the
 * record is (decode.h does); a writer of records of an older version writes cupti_record_size()
 * bytes. Records are 8-aligned in a buffer. Times are nanoseconds of the library's clock
 * (CLOCK_REALTIME unless another was set), 0: unknown. Names are pointers into the process, valid
 * as long as CUPTI keeps them.
 *
 * "since" names the CUDA release whose layout first has the field. tests/probes/cupti.sh compares
 * the offsets with the vendor's headers.
 */
#ifndef TFTOP_PROBES_CUDA_CUPTI_RECORDS_H
#define TFTOP_PROBES_CUDA_CUPTI_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/* Kinds of activities. */
enum {
	CUPTI_KIND_COPY = 1,
	CUPTI_KIND_FILL = 2,
	/* serialises kernels, so it must not be enabled; the record is the same */
	CUPTI_KIND_KERNEL = 3,
	CUPTI_KIND_DRIVER = 4,
	CUPTI_KIND_RUNTIME = 5,
	CUPTI_KIND_DEVICE = 8,
	CUPTI_KIND_CONTEXT = 9,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_KIND_NAME = 11,
	CUPTI_KIND_MARKER = 12,
	CUPTI_KIND_MARKER_DATA = 13,
	CUPTI_KIND_OVERHEAD = 17,
	CUPTI_KIND_ENVIRONMENT = 20,
	CUPTI_KIND_COPY_PEER = 22,
	CUPTI_KIND_UNIFIED = 25, /* page faults and migrations of managed memory */
	CUPTI_KIND_FUNCTION = 26,
	CUPTI_KIND_MODULE = 27,
	CUPTI_KIND_DEVICE_ATTRIBUTE = 28,
	CUPTI_KIND_EVENT = 36, /* cudaEventRecord */
	CUPTI_KIND_STREAM = 37,
	CUPTI_KIND_SYNC = 38,
	CUPTI_KIND_EXTERNAL = 39,
	CUPTI_KIND_INTERNAL_LAUNCH = 48,
	CUPTI_KIND_MEMORY = 49, /* the vendor's MEMORY2 */
	CUPTI_KIND_POOL = 50,
	CUPTI_KIND_GRAPH = 51, /* whole launches of graphs */
	CUPTI_KIND_JIT = 52,
	CUPTI_KIND_DEVICE_GRAPH = 53, /* since 12.8 */
	CUPTI_KIND_DECOMPRESS = 54, /* since 12.8 */
	CUPTI_KIND_GRAPH_HOST = 56, /* since 13.1: a host function of a graph */
	CUPTI_KIND_HOST_LAUNCH = 58, /* since 13.1: cudaLaunchHostFunc */
	CUPTI_KIND_GREEN_CONTEXT = 59, /* since 13.2 */
	CUPTI_KIND_LIMIT = 64, /* all kinds known today are below */
};

#define CUPTI_ID_NONE UINT32_MAX /* there is no device, stream, context, event or channel */
#define CUPTI_ID_NONE_132 0u /* the same for streams and contexts, which count from 1, since 13.2 */
#define CUPTI_FLAG_ASYNC 0x1u /* for copies and fills */

/* Kernels: sizes 144 (10.x), 160 (11.0), 168 (11.2), 176 (11.6), 200 (11.8), 208 (12.0), 216
 * (13.0), 224 (13.1), 232 (13.3), 248 (13.4). */
struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers; /* per thread */
	uint32_t cache_requested, cache_executed;
	uint64_t start, end, completed; /* completed: including all its children */
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t shared_static, shared_dynamic; /* bytes per block */
	uint32_t local_per_thread, local_total; /* bytes */
	uint32_t correlation;
	int64_t grid_id;
	const char *name; /* mangled */
	void *reserved;
	uint64_t queued, submitted; /* 0 unless latency timestamps are on */
	uint8_t launch_type; /* 1: cooperative on one device, 2: on several devices */
	uint8_t carveout_requested, carveout, pad;
	/* bytes of shared memory that the multiprocessor was configured for */
	uint32_t shared_executed;
	uint64_t graph_node; /* since 11.0; 0: not part of a graph */
	uint32_t shared_limit;
	uint32_t graph; /* since 11.2; 0: not part of a graph */
	void *policy;
	uint32_t channel, channel_type; /* since 11.6 */
	uint32_t cluster[3], cluster_policy; /* since 11.8; blocks per cluster, 0: none */
	uint64_t local_total_wide;
	uint32_t cluster_possible, cluster_active; /* since 12.0 */
	uint8_t from_device, pad_device[7]; /* since 13.0: launched by a kernel or a device graph */
	int32_t priority; /* since 13.1: priority of its stream */
	uint32_t pad_priority;
	uint32_t model, pad_model; /* since 13.3: execution model */
	/* since 13.4: the graph from which its graph was instantiated */
	uint32_t source_graph, pad_graph;
	uint64_t source_node;
};
#define CUPTI_KERNEL_MIN 144

/* Source and destination of a copy. */
enum {
	CUPTI_COPY_UNKNOWN = 0,
	CUPTI_COPY_H2D = 1,
	CUPTI_COPY_D2H = 2,
	CUPTI_COPY_H2A = 3, /* A: an array on the device */
	CUPTI_COPY_A2H = 4,
	CUPTI_COPY_A2A = 5,
	CUPTI_COPY_A2D = 6,
	CUPTI_COPY_D2A = 7,
	CUPTI_COPY_D2D = 8,
	CUPTI_COPY_H2H = 9,
	CUPTI_COPY_P2P = 10,
};

enum {
	CUPTI_MEM_UNKNOWN = 0,
	CUPTI_MEM_PAGEABLE = 1,
	CUPTI_MEM_PINNED = 2,
	CUPTI_MEM_DEVICE = 3,
	CUPTI_MEM_ARRAY = 4,
	CUPTI_MEM_MANAGED = 5,
	CUPTI_MEM_DEVICE_STATIC = 6,
	CUPTI_MEM_MANAGED_STATIC = 7,
};

/* Copies: 64, 72, 80 (11.1), 88 (11.6), 96 (12.8), 112 (13.4). */
struct cupti_copy {
	uint32_t kind;
	uint8_t way, from, to; /* CUPTI_COPY_*, CUPTI_MEM_* */
	uint8_t flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint32_t runtime_correlation, pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel, channel_type;
	uint8_t from_device, pad_device[3]; /* since 13.0; padding before */
	uint64_t count; /* since 12.8: how many copies of a batch this record stands for */
	uint32_t source_graph, pad_graph; /* since 13.4 */
	uint64_t source_node;
};

/* Copies between devices: 72, 80, 88 (11.1), 96 (11.6). */
struct cupti_copy_peer {
	uint32_t kind;
	uint8_t way, from, to;
	uint8_t flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t src_device, src_context, dst_device, dst_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel, channel_type, pad;
};

/* Memsets: 64, 72, 80 (11.1), 88 (11.6), 104 (13.4). */
struct cupti_fill {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory; /* CUPTI_MEM_* */
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel, channel_type;
	uint8_t from_device, pad_device[3]; /* since 13.0; padding before */
	uint32_t source_graph, pad_graph; /* since 13.4 */
	uint64_t source_node;
};

enum { CUPTI_MEMORY_ALLOC = 1, CUPTI_MEMORY_FREE = 2 };
enum { CUPTI_POOL_LOCAL = 1, CUPTI_POOL_IMPORTED = 2 };

/* Allocations and releases: 112 (11.2), 120 (11.7 at the latest), 128 (12.6). */
struct cupti_memory {
	uint32_t kind;
	uint32_t operation, memory; /* CUPTI_MEMORY_*, CUPTI_MEM_* */
	uint32_t correlation;
	uint64_t address, bytes, time;
	uint64_t pc; /* program counter of the caller, 0: unknown */
	uint32_t process, device, context, stream;
	const char *name; /* for static memory: name of the variable */
	uint32_t async, pad; /* async: from a pool, in the order of its stream */
	uint32_t pool_type, pad_pool; /* CUPTI_POOL_*; 0: from no pool */
	uint64_t pool, pool_threshold; /* address of the pool */
	uint64_t pool_size; /* bytes; for an imported pool the process that it belongs to */
	uint64_t pool_used; /* since 11.7 at the latest */
	const char *source; /* since 12.6: library of the caller, if that was requested */
};

/* Memory pools: 64 (11.2), 72 (11.7 at the latest), 80 (13.0). */
struct cupti_pool {
	uint32_t kind;
	uint32_t operation, type; /* 1 created, 2 destroyed, 3 trimmed; CUPTI_POOL_LOCAL.. */
	uint32_t correlation, process, device;
	uint64_t keep; /* bytes */
	uint64_t address, size, threshold;
	uint64_t time;
	uint64_t used; /* since 11.7 at the latest */
	uint8_t managed, pad[7]; /* since 13.0 */
};

enum {
	/* the driver compiles, which is a cost of the program itself */
	CUPTI_OVERHEAD_COMPILER = 1,
	/* the following are CUPTI's own costs, except for 4, 5 and 6 */
	CUPTI_OVERHEAD_FLUSH = 1 << 16,
	CUPTI_OVERHEAD_INSTRUMENTATION = 2 << 16,
	CUPTI_OVERHEAD_RESOURCE = 3 << 16,
	CUPTI_OVERHEAD_MODULE_LOADING = 4 << 16,
	CUPTI_OVERHEAD_LAZY_LOADING = 5 << 16,
	CUPTI_OVERHEAD_COMMAND_BUFFER = 6 << 16, /* the device's queue is full */
	CUPTI_OVERHEAD_BUFFER_REQUEST = 7 << 16,
	CUPTI_OVERHEAD_UNIFIED = 8 << 16,
};

/* The object that a name or an overhead belongs to. */
enum {
	CUPTI_OBJECT_PROCESS = 1,
	CUPTI_OBJECT_THREAD = 2,
	CUPTI_OBJECT_DEVICE = 3,
	CUPTI_OBJECT_CONTEXT = 4,
	CUPTI_OBJECT_STREAM = 5,
};

union cupti_object {
	struct {
		uint32_t process, thread;
	} of_host;
	struct {
		uint32_t device, context, stream;
	} of_device;
};

/* Overheads: 40, 48 (12.3), 56 (12.4). */
struct cupti_overhead {
	uint32_t kind;
	uint32_t what, object_kind;
	union cupti_object object;
	uint64_t start, end;
	uint32_t correlation, pad; /* since 12.3 */
	void *data; /* since 12.4 */
};

/* Whole launches of graphs: 48 (11.7), 56 (12.3). */
struct cupti_graph {
	uint32_t kind;
	uint32_t correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
	void *reserved;
	uint32_t end_device, end_context; /* since 12.3: where the last node ran */
};

/* Contexts: 16, 24 (12.4), 32 (12.5), 40 (13.1). */
struct cupti_context {
	uint32_t kind;
	uint32_t context, device;
	uint16_t api; /* 1: CUDA, 2: CUDA under MPS */
	uint16_t null_stream; /* id of the default stream */
	uint32_t parent; /* since 12.4 */
	uint8_t green, pad;
	uint16_t units; /* since 12.5, padding before: number of multiprocessors that it may use */
	uint32_t cig_mode, pad_mode; /* since 12.5 */
	uint64_t process; /* since 13.1 */
};

/* Devices: 176, 184 (12.4), 192 (13.2). */
struct cupti_device {
	uint32_t kind;
	uint32_t flags; /* 1: can run several kernels at once */
	uint64_t bandwidth; /* peak bandwidth of its memory in kB/s */
	uint64_t memory; /* bytes */
	uint32_t constant_memory, l2; /* bytes */
	uint32_t warp; /* in threads */
	uint32_t clock; /* kHz */
	uint32_t copy_engines, units, ipc;
	uint32_t warps_per_unit, blocks_per_unit;
	uint32_t shared_per_unit, registers_per_unit, registers_per_block, shared_per_block;
	uint32_t threads_per_block, block_max[3], grid_max[3];
	uint32_t major, minor; /* compute capability */
	uint32_t device; /* the number by which other records refer to it */
	uint32_t ecc;
	uint8_t uuid[16];
	const char *name;
	/* visible: CUDA can see it; mig: it is an instance of a GPU */
	uint8_t visible, mig, pad[6];
	uint32_t gpu_instance, compute_instance;
	uint8_t mig_uuid[16];
	uint32_t numa_node, numa; /* since 12.4 */
	uint32_t tpcs, reserved; /* since 13.2 */
};

/* Streams: 24. */
struct cupti_stream {
	uint32_t kind;
	uint32_t context, stream;
	int32_t priority; /* lower is more urgent */
	uint32_t flag; /* CUPTI_STREAM_* */
	uint32_t correlation;
};

enum { CUPTI_STREAM_DEFAULT = 1, CUPTI_STREAM_NON_BLOCKING = 2, CUPTI_STREAM_NULL = 3 };

enum { CUPTI_JIT_PTX = 1, CUPTI_JIT_NVVM = 2 }; /* from PTX to machine code, from NVVM to PTX */
enum { CUPTI_JIT_CACHE_LOAD = 1, CUPTI_JIT_CACHE_STORE = 2, CUPTI_JIT_COMPILE = 3 };

/* Compilations by the driver: 64 (11.8), 72 (12.4). */
struct cupti_jit {
	uint32_t kind;
	uint32_t entry, operation, device; /* CUPTI_JIT_* */
	uint64_t start, end;
	uint32_t correlation, pad;
	uint64_t operation_correlation;
	uint64_t cache_size; /* bytes */
	const char *cache_path;
	uint32_t process, thread; /* since 12.4 */
};

#define CUPTI_AT_(record, field, offset)                                                   \
	_Static_assert(offsetof(struct cupti_##record, field) == (offset), #record "." #field)
#define CUPTI_SIZE_(record, size)                                                          \
	_Static_assert(sizeof(struct cupti_##record) == (size), #record)

CUPTI_SIZE_(kernel, 248);
CUPTI_AT_(kernel, registers, 6);
CUPTI_AT_(kernel, start, 16);
CUPTI_AT_(kernel, device, 40);
CUPTI_AT_(kernel, grid, 52);
CUPTI_AT_(kernel, correlation, 92);
CUPTI_AT_(kernel, name, 104);
CUPTI_AT_(kernel, queued, 120);
CUPTI_AT_(kernel, graph_node, 144);
CUPTI_AT_(kernel, graph, 156);
CUPTI_AT_(kernel, channel, 168);
CUPTI_AT_(kernel, cluster, 176);
CUPTI_AT_(kernel, from_device, 208);
CUPTI_AT_(kernel, priority, 216);
CUPTI_AT_(kernel, model, 224);
CUPTI_AT_(kernel, source_graph, 232);
CUPTI_SIZE_(copy, 112);
CUPTI_AT_(copy, correlation, 44);
CUPTI_AT_(copy, graph_node, 64);
CUPTI_AT_(copy, from_device, 84);
CUPTI_AT_(copy, source_graph, 96);
CUPTI_SIZE_(copy_peer, 96);
CUPTI_AT_(copy_peer, correlation, 60);
CUPTI_AT_(copy_peer, graph, 80);
CUPTI_SIZE_(fill, 104);
CUPTI_AT_(fill, flags, 48);
CUPTI_AT_(fill, graph, 72);
CUPTI_AT_(fill, source_graph, 88);
CUPTI_SIZE_(memory, 128);
CUPTI_AT_(memory, time, 32);
CUPTI_AT_(memory, name, 64);
CUPTI_AT_(memory, pool_type, 80);
CUPTI_AT_(memory, pool_used, 112);
CUPTI_SIZE_(pool, 80);
CUPTI_AT_(pool, time, 56);
CUPTI_SIZE_(overhead, 56);
CUPTI_AT_(overhead, start, 24);
CUPTI_SIZE_(graph, 56);
CUPTI_SIZE_(context, 40);
CUPTI_SIZE_(device, 192);
CUPTI_AT_(device, uuid, 120);
CUPTI_AT_(device, mig_uuid, 160);
CUPTI_SIZE_(stream, 24);
CUPTI_SIZE_(jit, 72);

#undef CUPTI_AT_
#undef CUPTI_SIZE_

#endif
