/* SPDX-License-Identifier: MIT */
/*
 * What the files of the OpenCL probe share:
 *
 *   layer.c    the entry points of the loader and of the runtime
 *   late.c     how the probe gets into a program that is already running
 *   patch.c    dispatch tables of vendors: found, saved, patched, restored
 *   table.h    every wrapped function, one per row
 *   enqueue.c  commands; calls.c all other plain calls
 *   objects.c  devices, queues; create.c what creates and frees memory and kernels
 *   build.c    builds of programs
 *   info.c     what the program must not see: forced profiling, our references
 *   record.c   commands in flight, from enqueueing to the written event
 *   clock.c    device time to host time
 *   ext.c      extension functions that are looked up by name
 *   map.c      object -> value, without locks
 *
 * Always true:
 *  - A wrapper calls the saved original once, with the program's own arguments, and returns its
 *    result unchanged. Exceptions: the event pointer and queue properties; a queue that a driver
 *    refuses to create with profiling is requested again without; and the info queries of info.c.
 *  - The probe holds no lock during a call of OpenCL or of the program.
 *  - OpenCL is called through the saved tables only, never through a loader, so that the probe
 *    never sees its own calls.
 *  - Nothing is freed that another thread might still read: queues, devices and records live in
 *    pools that only grow, up to a limit.
 *
 * Threads: every hook_* runs on any thread of the program; record_tick, clock_tick, objects_dump
 * and vendors_apply run on the runtime's thread.
 */
#ifndef PROBES_OPENCL_PROBE_H
#define PROBES_OPENCL_PROBE_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/runtime/runtime.h"
#include "probes/opencl/table.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define EXPORT __attribute__((visibility("default")))
#define PLATFORM_MAX 32		/* maximum number of platforms of one loader or vendor */
#define UNWRAP(...) __VA_ARGS__
/* Where a call that fills `array` returns the count: in the program's variable, else in one of
 * ours. If the program gave neither, it is NULL, so that the program gets its error. */
#define COUNT_RET(n_ret, array, own) ((n_ret) ? (n_ret) : (array) ? &(own) : NULL)

/* ---- hooks: one number per function, in the order of table.h ---- */

/* From which level on a function is wrapped. MASK functions stay wrapped at level off once there
 * was a queue whose profiling the probe forced: they hide that, or record what could not be
 * asked for later (to which object the memory at an address belongs). */
enum hook_set { SET_MASK = 0, SET_MIN = TFT_LEVEL_MIN, SET_DEFAULT = TFT_LEVEL_DEFAULT };

enum hook {
#define HOOK(fn, set) H_##fn,
	TABLE_ALL
	EXT_ALL(HOOK)
#undef HOOK
	HOOK_COUNT
};

/* The name id of a function, interned at first use. */
uint32_t hook_name(enum hook hook);

#define HOOK(fn, set) extern __typeof__(*(cl_api_##fn)0) hook_##fn;
TABLE_ALL
#undef HOOK

/* Set when the process has collected for the last time: every wrapper only forwards. */
extern atomic_bool probe_dead;

static inline bool probe_armed(void)
{
	return rt_level() != TFT_LEVEL_OFF &&
	       !atomic_load_explicit(&probe_dead, memory_order_relaxed);
}

/* ---- layer.c, late.c ---- */

extern struct rt_probe opencl_probe;
/* A copy of the loader, or an attach, begins. After all others have ended, everything starts
 * anew. */
void layer_begin(void);
void late_tick(int64_t now_ns);

/* ---- patch.c: vendors ---- */

#define VENDOR_MAX 32

struct vendor {
	void **live;	/* the vendor's table; borrowed, checked before each write */
	struct _cl_icd_dispatch saved;	/* what it held before the probe; NULL past entries */
	size_t entries;			/* how many entries of it may be changed */
	int version;			/* 100, 110, 120, ... of the platform */
	/* its mapping has disappeared or has changed, so it is not touched any more */
	bool lost;
};

extern struct vendor vendor_list[VENDOR_MAX];
extern atomic_uint vendor_count;	/* increased after the entry is complete */

/* The original functions for an object: the saved copy of its vendor's table,
 * or, for a table the probe never touched, that table itself. */
static inline const struct _cl_icd_dispatch *real_of(const void *object)
{
	void **live = *(void **const *)object;
	unsigned n = atomic_load_explicit(&vendor_count, memory_order_acquire);

	for (unsigned i = 0; i < n; i++)
		if (vendor_list[i].live == live)
			return &vendor_list[i].saved;
	return (const struct _cl_icd_dispatch *)(const void *)live;
}

/* The version of an object's platform; 100 when it is unknown. */
int version_of(const void *object);

/* Adds a platform that the program can see: saves and patches its table once. */
void vendor_add(cl_platform_id platform);
/* Adds an object that the program got, because a vendor may have one table per kind of object.
 * `parent` is of the same vendor (NULL: of the first). */
void vendor_adopt(const void *object, const void *parent);
/* Brings every table in line with the level. */
void vendors_apply(enum tft_level level);
/* Whether there is a table that can be written. */
bool vendors_watched(void);
/* Restores the entries of every table and forgets the tables. */
void vendors_forget(void);
void vendors_fork_child(void);

/* ---- map.c: object -> value; values of deleted keys are kept for reuse ---- */

struct map_node {
	struct map_node *next;
	_Atomic(const void *) key;	/* NULL: free to reuse */
	_Atomic uintptr_t value;
};

#define MAP_BUCKETS 1024

struct ocl_map {
	_Atomic(struct map_node *) bucket[MAP_BUCKETS];
};

static inline unsigned ocl_map_hash(const void *key)
{
	return (unsigned)(((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15ull >> 54);
}

/* 0 when there is none. Wait-free. */
static inline uintptr_t ocl_map_get(struct ocl_map *map, const void *key)
{
	struct map_node *node = atomic_load_explicit(&map->bucket[ocl_map_hash(key)],
						     memory_order_acquire);

	for (; node; node = node->next)
		if (atomic_load_explicit(&node->key, memory_order_acquire) == key)
			return atomic_load_explicit(&node->value, memory_order_acquire);
	return 0;
}

/* False (and one drop counted) when memory is short. */
bool ocl_map_set(struct ocl_map *map, const void *key, uintptr_t value);
/* Returns the value it had, 0 for none. */
uintptr_t ocl_map_take(struct ocl_map *map, const void *key);
void ocl_map_clear(struct ocl_map *map);

/* ---- clock.c ---- */

enum clock_domain {
	CLOCK_UNKNOWN = 0, CLOCK_MONO, CLOCK_RAW, CLOCK_REAL, CLOCK_DRIVER, CLOCK_OWN
};

/* All host times are CLOCK_MONOTONIC. */
struct device_clock {
	atomic_int domain;		/* enum clock_domain */
	atomic_flag deciding;
	atomic_bool weak;		/* the domain was determined without a queued time */
	atomic_int misses;	/* how many commands in a row were outside of their bracket */
	_Atomic int64_t low_ns, high_ns; /* bounds of device - host in the current second */
	int64_t offset_ns, error_ns;	/* for a clock of its own: as last sent */
	/* when the last pair was sent; used by the runtime's thread, after the first pair */
	int64_t sent_ns;
};

struct ocl_device;
struct ocl_record;

/* Called for each finished command before it is written; ticks may be 0. */
void clock_command(struct ocl_device *device, int64_t before_ns, int64_t after_ns,
		   const uint64_t ticks[4]);
void clock_tick(int64_t now_ns);
void clock_forget(struct device_clock *clock);

/* ---- objects.c: devices and queues ---- */

struct ocl_device {
	struct ocl_device *next;		/* newest first, never removed */
	cl_device_id handle;		/* borrowed */
	cl_device_id root;		/* the device itself, or the device that it is a part of */
	const struct _cl_icd_dispatch *real;
	int version;
	atomic_uint id;			/* 0: not sent in this process */
	struct tft_device def;		/* strings owned */
	struct device_clock clock;
};

struct ocl_queue {
	struct ocl_queue *next;		/* newest first, never removed */
	cl_command_queue handle;	/* borrowed */
	const struct _cl_icd_dispatch *real;
	struct ocl_device *device;		/* NULL: unknown */
	atomic_uint id;			/* 0: not sent in this process */
	uint32_t context;
	uint32_t flags;			/* TFT_QUEUE_* */
	int version;
	/* the device times are for tftop, the program did not request them */
	atomic_bool forced;
	atomic_bool profiled;
	bool masked_array;		/* the properties below replace the vendor's answer */
	/* as the program gave them; owned, not freed while the queue is live */
	cl_queue_properties *array;
	size_t array_bytes;
	atomic_uint inflight;		/* how many records refer to it */
	atomic_uint last;		/* correlation of the last command */
	atomic_int instant;	/* > 0: commands tend to be complete when their call returns */
};

struct ocl_device *ocl_device_get(cl_device_id handle);
/* Known queues; NULL for one the probe never saw. */
struct ocl_queue *queue_peek(cl_command_queue handle);
/* A known queue, or one whose properties are read now. NULL when memory is short. */
struct ocl_queue *ocl_queue_get(cl_command_queue handle);
struct ocl_device *device_first(void);
void objects_dump(void);
void objects_fork_child(void);
void context_created(cl_context context);
/* Some queue's profiling was forced: the masks must stay. */
extern atomic_bool masks_needed;
/* Used by hook_* of 1.0, 2.0 and the KHR extension alike. */
cl_command_queue queue_create(cl_api_clCreateCommandQueueWithProperties create,
			      cl_context context, cl_device_id device,
			      const cl_queue_properties *properties, cl_int *errcode_ret,
			      enum hook hook);

/* ---- create.c: kernels, memory ---- */

void kernel_created(cl_kernel kernel, const char *name);
/* New objects: the memory pane's allocations, until the object is destroyed. */
void buffer_created(cl_mem buffer, cl_context context, cl_mem_flags flags, size_t bytes);
void image_created(cl_mem image, cl_context context, cl_mem_flags flags);
void pipe_created(cl_mem pipe, cl_context context);
/* The kernel's name id if it is known already, else 0. No OpenCL call. */
uint32_t kernel_name_cached(cl_kernel kernel);
uint32_t kernel_name(cl_kernel kernel);
uint32_t shape_id(cl_uint dims, const size_t *global, const size_t *local);
/* Bytes of a region of an image; asks the runtime once per image. */
uint64_t image_bytes(cl_mem image, const size_t *region);
uint64_t mem_bytes(cl_uint n, const cl_mem *objects);
enum tft_direction svm_direction(const void *to, const void *from);
enum svm_kind { SVM_SHARED, USM_HOST, USM_DEVICE, USM_SHARED };
void svm_allocated(void *pointer, size_t bytes, enum svm_kind kind, cl_context context,
		   cl_device_id device);
void svm_freed(void *pointer);
/* Notes that a part of a buffer is a place in that buffer. */
void part_created(cl_mem part, cl_mem buffer, cl_buffer_create_type type, const void *info);
/*
 * A number for a place in a memory object: the same one for the same offset of the same object (the
 * offset of a part counts in its buffer), and a different one for any other place, except in one
 * case of four thousand million, also when a handle is used again. 0: the object was created
 * unseen.
 */
uint32_t memory_place(cl_mem object, uint64_t offset);
/* Whether this host memory belongs to the driver: mapped, or allocated by it. */
bool is_pinned(const void *host);
void mapped(void *pointer, size_t bytes);
uint64_t mapped_bytes(void *pointer);
void unmapped(void *pointer);
/* Forgets everything that is known by address, because objects may have been created and destroyed
 * unseen. */
void handles_forget(void);

/* ---- record.c: commands in flight ---- */

struct ocl_record;

struct enqueue {
	struct ocl_queue *queue;
	const struct _cl_icd_dispatch *real;
	struct ocl_record *record;	/* NULL: the pool is full, and the call is only passed on */
	cl_event *out;			/* what to pass to the wrapped call */
	cl_event own;
	int64_t begin_ns;		/* just before the call */
	int64_t sample_ns;		/* set for the calls whose own cost is measured */
	enum hook hook;
	bool blocking;
	bool full;
};

/*
 * enqueue_begin opens a record; false: only call the original. enqueue_what says what the command
 * is and reads the clock. Then comes the call, and enqueue_returned reads the clock again.
 * enqueue_late adds what is known only after a successful call. enqueue_end takes the result and
 * returns it, and follows the command to its end.
 */
bool enqueue_begin(struct enqueue *e, cl_command_queue queue, enum hook hook, cl_event *event);
void enqueue_what(struct enqueue *e, enum tft_kind kind, enum tft_direction direction,
		  uint32_t name, uint64_t bytes, bool blocking);
void enqueue_returned(struct enqueue *e);
cl_int enqueue_end(struct enqueue *e, cl_int result);

/* Writes the complete commands of a queue (NULL: of all). */
void records_harvest(struct ocl_queue *queue);
/* The same for the commands of some events. */
void harvest_events(cl_uint n, const cl_event *events);
/* Correlation id of the command to which an event belongs, 0 unknown. */
uint32_t record_of_event(cl_event event);
/* Whether the probe itself holds a reference to this event. */
bool record_holds(cl_event event);
void record_tick(int64_t now_ns);
int64_t record_pending_ns(void);
void record_fork_child(void);

/* ---- ext.c ---- */

/* The wrapper to hand out for an extension function, or the function itself. */
void *ext_wrap(const char *name, void *real);

/* ---- calls.c ---- */

static inline int64_t call_begin(void)
{
	return rt_level() >= TFT_LEVEL_DEFAULT ? rt_now_ns() : 0;
}

/* A blocking call that lasted from begin_ns to end_ns. */
void wait_end(enum hook hook, uint32_t queue, uint32_t correlation, int64_t begin_ns,
	      int64_t end_ns, cl_int result);

/* Ends what call_begin() began; nothing if that returned 0. Returns the end. */
static inline int64_t call_end(enum hook hook, int64_t begin_ns, cl_int result)
{
	int64_t end_ns;

	if (!begin_ns)
		return 0;
	end_ns = rt_now_ns();
	rt_call(hook_name(hook), begin_ns, end_ns, 0, result);
	return end_ns;
}

#endif
