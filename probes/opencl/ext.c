/* SPDX-License-Identifier: MIT */
/*
 * Extension functions. They are in no table: a program looks them up by name and keeps the pointer,
 * one per platform. So a wrapper exists in EXT_SLOTS copies, each bound to one original for good;
 * the function of a further platform is returned unwrapped. The program keeps the wrappers when the
 * level goes to off; they only forward then.
 */
#include <string.h>

#include "probes/opencl/probe.h"

#define EXT_SLOTS 4

/* Not in every cl_ext.h. */
#define EXT_TAIL cl_uint n_waits, const cl_event *waits, cl_event *event

static _Atomic(void *) originals[HOOK_COUNT][EXT_SLOTS];

static void *original(enum hook hook, int slot)
{
	return atomic_load_explicit(&originals[hook][slot], memory_order_acquire);
}

/* A command: the body of every copy. */
#define EXT_ENQUEUE(slot, fn, kind, direction, bytes, blocking, params, types, args) \
static cl_int CL_API_CALL fn##_##slot params \
{ \
	cl_int (CL_API_CALL *real) types = \
		(cl_int (CL_API_CALL *) types)original(H_##fn, slot); \
	struct enqueue e; \
	cl_int result; \
	\
	if (!queue || !enqueue_begin(&e, queue, H_##fn, event)) \
		return real(UNWRAP args, n_waits, waits, event); \
	enqueue_what(&e, TFT_KIND_##kind, direction, 0, bytes, blocking); \
	result = real(UNWRAP args, n_waits, waits, e.out); \
	enqueue_returned(&e); \
	return enqueue_end(&e, result); \
}

/* The queue for which a command buffer was made. */
static struct ocl_map buffer_queue;

static bool command_buffer_begin(struct enqueue *e, const void *buffer, cl_uint n,
				 cl_command_queue *queues, cl_event *event)
{
	cl_command_queue queue = n && queues ? queues[0] :
		(cl_command_queue)ocl_map_get(&buffer_queue, buffer);

	return queue && enqueue_begin(e, queue, H_clEnqueueCommandBufferKHR, event);
}

static cl_int free_usm(enum hook hook, int slot, cl_context context, void *pointer)
{
	cl_int (CL_API_CALL *real)(cl_context, void *) =
		(cl_int (CL_API_CALL *)(cl_context, void *))original(hook, slot);
	int64_t begin_ns = call_begin();
	cl_int result;

	svm_freed(pointer);
	result = real(context, pointer);
	call_end(hook, begin_ns, result);
	return result;
}

static void usm_allocated(enum hook hook, int64_t begin_ns, void *pointer, size_t bytes,
			  enum svm_kind kind, cl_context context, cl_device_id device)
{
	call_end(hook, begin_ns, pointer ? CL_SUCCESS : CL_OUT_OF_RESOURCES);
	if (probe_armed())
		svm_allocated(pointer, bytes, kind, context, device);
}

#define WAIT_TYPES cl_uint, const cl_event *, cl_event *

#define SLOT_FUNCTIONS(slot) \
EXT_ENQUEUE(slot, clEnqueueMemcpyINTEL, COPY, \
	    svm_direction(to, from), bytes, blocking, \
	    (cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t bytes, \
	     EXT_TAIL), \
	    (cl_command_queue, cl_bool, void *, const void *, size_t, WAIT_TYPES), \
	    (queue, blocking, to, from, bytes)) \
EXT_ENQUEUE(slot, clEnqueueMemFillINTEL, FILL, TFT_DIR_FILL, bytes, false, \
	    (cl_command_queue queue, void *to, const void *pattern, size_t pattern_bytes, \
	     size_t bytes, EXT_TAIL), \
	    (cl_command_queue, void *, const void *, size_t, size_t, WAIT_TYPES), \
	    (queue, to, pattern, pattern_bytes, bytes)) \
EXT_ENQUEUE(slot, clEnqueueMemsetINTEL, FILL, TFT_DIR_FILL, bytes, false, \
	    (cl_command_queue queue, void *to, cl_int value, size_t bytes, EXT_TAIL), \
	    (cl_command_queue, void *, cl_int, size_t, WAIT_TYPES), \
	    (queue, to, value, bytes)) \
EXT_ENQUEUE(slot, clEnqueueMigrateMemINTEL, MIGRATE, \
	    flags & CL_MIGRATE_MEM_OBJECT_HOST ? TFT_DIR_D2H : TFT_DIR_H2D, bytes, false, \
	    (cl_command_queue queue, const void *at, size_t bytes, \
	     cl_mem_migration_flags flags, EXT_TAIL), \
	    (cl_command_queue, const void *, size_t, cl_mem_migration_flags, WAIT_TYPES), \
	    (queue, at, bytes, flags)) \
EXT_ENQUEUE(slot, clEnqueueMemAdviseINTEL, OTHER, TFT_DIR_NONE, bytes, false, \
	    (cl_command_queue queue, const void *at, size_t bytes, cl_uint advice, EXT_TAIL), \
	    (cl_command_queue, const void *, size_t, cl_uint, WAIT_TYPES), \
	    (queue, at, bytes, advice)) \
static cl_int CL_API_CALL \
	clEnqueueCommandBufferKHR_##slot(cl_uint n, cl_command_queue *queues, void *buffer, \
					 EXT_TAIL) \
{ \
	cl_int (CL_API_CALL *real)(cl_uint, cl_command_queue *, void *, WAIT_TYPES) = \
		(cl_int (CL_API_CALL *)(cl_uint, cl_command_queue *, void *, WAIT_TYPES)) \
			original(H_clEnqueueCommandBufferKHR, slot); \
	struct enqueue e; \
	cl_int result; \
	\
	if (!command_buffer_begin(&e, buffer, n, queues, event)) \
		return real(n, queues, buffer, n_waits, waits, event); \
	enqueue_what(&e, TFT_KIND_GRAPH, TFT_DIR_NONE, 0, 0, false); \
	result = real(n, queues, buffer, n_waits, waits, e.out); \
	enqueue_returned(&e); \
	return enqueue_end(&e, result); \
} \
static void *CL_API_CALL clCreateCommandBufferKHR_##slot(cl_uint n, \
							 const cl_command_queue *queues, \
							 const cl_properties *properties, \
							 cl_int *errcode_ret) \
{ \
	void *(CL_API_CALL *real)(cl_uint, const cl_command_queue *, const cl_properties *, \
				  cl_int *) = \
		(void *(CL_API_CALL *)(cl_uint, const cl_command_queue *, const cl_properties *, \
				       cl_int *))original(H_clCreateCommandBufferKHR, slot); \
	void *buffer = real(n, queues, properties, errcode_ret); \
	\
	if (buffer && n && queues) \
		ocl_map_set(&buffer_queue, buffer, (uintptr_t)queues[0]); \
	return buffer; \
} \
static void *CL_API_CALL clHostMemAllocINTEL_##slot(cl_context context, const void *properties, \
						    size_t bytes, cl_uint alignment, \
						    cl_int *errcode_ret) \
{ \
	void *(CL_API_CALL *real)(cl_context, const void *, size_t, cl_uint, cl_int *) = \
		(void *(CL_API_CALL *)(cl_context, const void *, size_t, cl_uint, cl_int *)) \
			original(H_clHostMemAllocINTEL, slot); \
	int64_t begin_ns = call_begin(); \
	void *at = real(context, properties, bytes, alignment, errcode_ret); \
	\
	usm_allocated(H_clHostMemAllocINTEL, begin_ns, at, bytes, USM_HOST, context, NULL); \
	return at; \
} \
DEVICE_ALLOC(slot, clDeviceMemAllocINTEL, USM_DEVICE) \
DEVICE_ALLOC(slot, clSharedMemAllocINTEL, USM_SHARED) \
static cl_int CL_API_CALL clMemFreeINTEL_##slot(cl_context context, void *pointer) \
{ \
	return free_usm(H_clMemFreeINTEL, slot, context, pointer); \
} \
static cl_int CL_API_CALL clMemBlockingFreeINTEL_##slot(cl_context context, void *pointer) \
{ \
	return free_usm(H_clMemBlockingFreeINTEL, slot, context, pointer); \
} \
static cl_command_queue CL_API_CALL \
clCreateCommandQueueWithPropertiesKHR_##slot(cl_context context, cl_device_id device, \
					     const cl_queue_properties *properties, \
					     cl_int *errcode_ret) \
{ \
	return queue_create((cl_api_clCreateCommandQueueWithProperties) \
				original(H_clCreateCommandQueueWithPropertiesKHR, slot), \
			    context, device, properties, errcode_ret, \
			    H_clCreateCommandQueueWithPropertiesKHR); \
}

#define DEVICE_ALLOC(slot, fn, kind) \
static void *CL_API_CALL fn##_##slot(cl_context context, cl_device_id device, \
				     const void *properties, size_t bytes, cl_uint alignment, \
				     cl_int *errcode_ret) \
{ \
	void *(CL_API_CALL *real)(cl_context, cl_device_id, const void *, size_t, cl_uint, \
				  cl_int *) = \
		(void *(CL_API_CALL *)(cl_context, cl_device_id, const void *, size_t, cl_uint, \
				       cl_int *))original(H_##fn, slot); \
	int64_t begin_ns = call_begin(); \
	void *at = real(context, device, properties, bytes, alignment, errcode_ret); \
	\
	usm_allocated(H_##fn, begin_ns, at, bytes, kind, context, device); \
	return at; \
}

SLOT_FUNCTIONS(0)
SLOT_FUNCTIONS(1)
SLOT_FUNCTIONS(2)
SLOT_FUNCTIONS(3)

static const struct {
	const char *name;
	enum hook hook;
	void *wrapper[EXT_SLOTS];
} table[] = {
#define HOOK(fn, set) { #fn, H_##fn, \
	{ (void *)fn##_0, (void *)fn##_1, (void *)fn##_2, (void *)fn##_3 } },
	EXT_ALL(HOOK)
#undef HOOK
};

void *ext_wrap(const char *name, void *real)
{
	for (size_t i = 0; real && name && i < ARRAY_LEN(table); i++) {
		if (strcmp(name, table[i].name))
			continue;
		for (int slot = 0; slot < EXT_SLOTS; slot++) {
			void *none = NULL;

			if (real == table[i].wrapper[slot])
				/* another copy of the loader has wrapped it already */
				return real;
			if (original(table[i].hook, slot) == real ||
			    atomic_compare_exchange_strong(&originals[table[i].hook][slot], &none,
							   real))
				return table[i].wrapper[slot];
		}
	}
	return real;
}
