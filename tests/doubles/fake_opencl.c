/* SPDX-License-Identifier: MIT */
/*
 * An OpenCL vendor that runs nothing, for what no installed runtime does.
 * A loader finds it through OCL_ICD_VENDORS. FAKE_CL is a list of words:
 *
 *	old		OpenCL 1.0; its table ends at the end of its mapping
 *	tables		another dispatch table for each kind of object
 *	readonly	tables in memory that is not writable
 *	own		the device has a clock of its own
 *	driver		clGetDeviceAndHostTimer works (own clock)
 *	zero		queued is not given
 *	silent		CL_COMPLETE callbacks never come
 *	late		CL_COMPLETE callbacks come at clFinish only
 *	refuse		no queue with profiling
 *	fail		every command ends with -9999
 *	usm		Intel's memory functions
 *	slow		a command takes 30 ms
 *
 * Otherwise a command is complete as soon as it is enqueued.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define OWN_OFFSET 123456789000000ll
#define QUEUE_EVENTS 4096

struct object {
	void *table;		/* must be first: the loader's rule */
	atomic_int refs;
};

struct _cl_platform_id { struct object o; };
struct _cl_device_id { struct object o; };
struct _cl_context { struct object o; };
struct _cl_program { struct object o; };
struct _cl_kernel { struct object o; };
struct _cl_mem { struct object o; size_t bytes; };
struct _cl_event {
	struct object o;
	cl_command_queue queue;
	cl_int status;
	uint64_t queued, start, end;
	void (CL_CALLBACK *call)(cl_event, cl_int, void *);
	void *data;
};
struct _cl_command_queue {
	struct object o;
	cl_context context;
	cl_command_queue_properties properties;
	cl_event pending[QUEUE_EVENTS];
	atomic_int n;
};

/* If set, called while a command is enqueued, its times are read, or a queue is queried. */
EXPORT void (*fake_in_command)(void);
EXPORT void (*fake_in_times)(void);
EXPORT void (*fake_in_queue_info)(void);

enum kind { PLATFORM, DEVICE, CONTEXT, QUEUE, PROGRAM, KERNEL, MEM, EVENT, KINDS };
static void *tables[KINDS];
static struct _cl_platform_id platform;
static struct _cl_device_id device;

static int mode(const char *word)
{
	const char *list = getenv("FAKE_CL");

	return list && strstr(list, word) != NULL;
}

static uint64_t ticks(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)(t.tv_sec * 1000000000ll + t.tv_nsec +
			  (mode("own") || mode("driver") ? OWN_OFFSET : 0));
}

static void *make(enum kind kind, size_t bytes)
{
	struct object *o = calloc(1, bytes);

	o->table = tables[kind];
	o->refs = 1;
	return o;
}

static cl_int text_info(const char *text, size_t bytes, void *value, size_t *ret)
{
	if (value && bytes < strlen(text) + 1)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, text, strlen(text) + 1);
	if (ret)
		*ret = strlen(text) + 1;
	return CL_SUCCESS;
}

static cl_int value_info(const void *from, size_t size, size_t bytes, void *value, size_t *ret)
{
	if (value && bytes < size)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, from, size);
	if (ret)
		*ret = size;
	return CL_SUCCESS;
}

static cl_int f_clGetPlatformIDs(cl_uint n, cl_platform_id *p, cl_uint *ret)
{
	if (p && n)
		p[0] = &platform;
	if (ret)
		*ret = 1;
	return CL_SUCCESS;
}

static cl_int f_clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t n, void *v,
				  size_t *r)
{
	(void)p;
	if (what == CL_PLATFORM_VERSION)
		return text_info(mode("old") ? "OpenCL 1.0 fake" : "OpenCL 3.0 fake", n, v, r);
	if (what == CL_PLATFORM_EXTENSIONS)
		return text_info("cl_khr_icd", n, v, r);
	return text_info("FAKE", n, v, r);
}

static cl_int f_clGetDeviceIDs(cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d,
			       cl_uint *r)
{
	(void)p;
	(void)t;
	if (d && n)
		d[0] = &device;
	if (r)
		*r = 1;
	return CL_SUCCESS;
}

static cl_int f_clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t n, void *v, size_t *r)
{
	cl_platform_id p = &platform;
	cl_device_type type = CL_DEVICE_TYPE_GPU;
	cl_device_id none = NULL;
	cl_ulong zero = 0;

	(void)d;
	switch (what) {
	case CL_DEVICE_PLATFORM:
		return value_info(&p, sizeof(p), n, v, r);
	case CL_DEVICE_TYPE:
		return value_info(&type, sizeof(type), n, v, r);
	case CL_DEVICE_PARENT_DEVICE:
		return value_info(&none, sizeof(none), n, v, r);
	case CL_DEVICE_NAME: case CL_DEVICE_VENDOR: case CL_DRIVER_VERSION:
		return text_info("fake", n, v, r);
	case 0x410f: {
		cl_uint pci[4] = { 0, 0x65, 0, 0 };

		return value_info(pci, sizeof(pci), n, v, r);
	}
	default:
		return value_info(&zero, n < sizeof(zero) ? n : sizeof(zero), n, v, r);
	}
}

static cl_context f_clCreateContext(const cl_context_properties *props, cl_uint n,
				    const cl_device_id *d,
				    void (CL_CALLBACK *f)(const char *, const void *, size_t,
							  void *),
				    void *data, cl_int *err)
{
	(void)props, (void)n, (void)d, (void)f, (void)data;
	if (err)
		*err = CL_SUCCESS;
	return make(CONTEXT, sizeof(struct _cl_context));
}

static cl_int f_clGetContextInfo(cl_context c, cl_context_info what, size_t n, void *v, size_t *r)
{
	cl_device_id d = &device;

	(void)c;
	return what == CL_CONTEXT_DEVICES ? value_info(&d, sizeof(d), n, v, r) : CL_INVALID_VALUE;
}

static cl_command_queue f_clCreateCommandQueue(cl_context c, cl_device_id d,
					       cl_command_queue_properties props, cl_int *err)
{
	cl_command_queue q;

	(void)d;
	if (err)
		*err = CL_SUCCESS;
	if (mode("refuse") && (props & CL_QUEUE_PROFILING_ENABLE)) {
		if (err)
			*err = CL_INVALID_QUEUE_PROPERTIES;
		return NULL;
	}
	q = make(QUEUE, sizeof(*q));
	q->context = c;
	q->properties = props;
	return q;
}

static cl_int f_clSetCommandQueueProperty(cl_command_queue q, cl_command_queue_properties props,
					  cl_bool enable, cl_command_queue_properties *old)
{
	if (old)
		*old = q->properties;
	if (enable)
		q->properties |= props;
	else
		q->properties &= ~props;
	return CL_SUCCESS;
}

static cl_int f_clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info what, size_t n,
				      void *v, size_t *r)
{
	cl_device_id d = &device;

	if (fake_in_queue_info)
		fake_in_queue_info();
	if (what == CL_QUEUE_PROPERTIES)
		return value_info(&q->properties, sizeof(q->properties), n, v, r);
	if (what == CL_QUEUE_DEVICE)
		return value_info(&d, sizeof(d), n, v, r);
	if (what == CL_QUEUE_CONTEXT)
		return value_info(&q->context, sizeof(q->context), n, v, r);
	return CL_INVALID_VALUE;
}

static cl_int f_clRetainEvent(cl_event e)
{
	e->o.refs++;
	return CL_SUCCESS;
}

static cl_int f_clReleaseEvent(cl_event e)
{
	if (--e->o.refs == 0)
		free(e);
	return CL_SUCCESS;
}

static int complete(const struct _cl_event *e)
{
	return ticks() >= e->end;
}

static cl_int f_clGetEventInfo(cl_event e, cl_event_info what, size_t n, void *v, size_t *r)
{
	cl_int status = !complete(e) ? CL_RUNNING : mode("fail") ? -9999 : CL_COMPLETE;
	cl_uint refs = (cl_uint)e->o.refs;

	if (what == CL_EVENT_COMMAND_EXECUTION_STATUS)
		return value_info(&status, sizeof(status), n, v, r);
	if (what == CL_EVENT_REFERENCE_COUNT)
		return value_info(&refs, sizeof(refs), n, v, r);
	if (what == CL_EVENT_COMMAND_QUEUE)
		return value_info(&e->queue, sizeof(e->queue), n, v, r);
	return CL_INVALID_VALUE;
}

static cl_int f_clGetEventProfilingInfo(cl_event e, cl_profiling_info what, size_t n, void *v,
					size_t *r)
{
	uint64_t t = what == CL_PROFILING_COMMAND_QUEUED ? (mode("zero") ? 0 : e->queued) :
		     what == CL_PROFILING_COMMAND_END ? e->end : e->start;

	if (fake_in_times)
		fake_in_times();
	if (!(e->queue->properties & CL_QUEUE_PROFILING_ENABLE) || !complete(e))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return value_info(&t, sizeof(t), n, v, r);
}

static cl_int f_clSetEventCallback(cl_event e, cl_int status,
				   void (CL_CALLBACK *f)(cl_event, cl_int, void *), void *data)
{
	if (status != CL_COMPLETE)
		return CL_SUCCESS;
	e->call = f;
	e->data = data;
	return CL_SUCCESS;
}

static cl_int f_clFinish(cl_command_queue q)
{
	for (int i = 0; i < q->n; i++) {
		cl_event e = q->pending[i];

		while (!complete(e))
			usleep(500);
		if (e->call && !mode("silent"))
			e->call(e, mode("fail") ? -9999 : CL_COMPLETE, e->data);
		f_clReleaseEvent(e);
	}
	q->n = 0;
	return CL_SUCCESS;
}

static cl_int f_clReleaseCommandQueue(cl_command_queue q)
{
	f_clFinish(q);		/* events point to the queue, so it is not freed */
	return CL_SUCCESS;
}

/* Handles any command: an event, for the queue and for the caller. */
static cl_int command(cl_command_queue q, cl_event *event)
{
	cl_event e;

	if (fake_in_command)
		fake_in_command();
	if (q->n == QUEUE_EVENTS)
		f_clFinish(q);
	e = make(EVENT, sizeof(*e));
	e->queue = q;
	e->queued = ticks();
	e->start = e->queued + 100;
	e->end = e->queued + (mode("slow") ? 30000000 : 200);
	q->pending[atomic_fetch_add(&q->n, 1)] = e;
	if (event) {
		f_clRetainEvent(e);
		*event = e;
	}
	return CL_SUCCESS;
}

static cl_int f_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims,
				       const size_t *o, const size_t *g, const size_t *l,
				       cl_uint n, const cl_event *w, cl_event *event)
{
	(void)k, (void)dims, (void)o, (void)g, (void)l, (void)n, (void)w;
	return command(q, event);
}

static cl_int f_clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool block, size_t o,
				     size_t b, const void *p, cl_uint n, const cl_event *w,
				     cl_event *event)
{
	cl_int result = command(q, event);

	(void)m, (void)o, (void)b, (void)p, (void)n, (void)w;
	return block ? f_clFinish(q) : result;
}

static cl_int f_clEnqueueWaitForEvents(cl_command_queue q, cl_uint n, const cl_event *w)
{
	(void)n, (void)w;
	return command(q, NULL);
}

static cl_int f_clEnqueueBarrier(cl_command_queue q)
{
	return command(q, NULL);
}

static cl_int f_clEnqueueMarker(cl_command_queue q, cl_event *event)
{
	return command(q, event);
}

static cl_program f_clCreateProgramWithSource(cl_context c, cl_uint n, const char **s,
					      const size_t *l, cl_int *err)
{
	(void)c, (void)n, (void)s, (void)l;
	if (err)
		*err = CL_SUCCESS;
	return make(PROGRAM, sizeof(struct _cl_program));
}

static cl_kernel f_clCreateKernel(cl_program p, const char *name, cl_int *err)
{
	(void)p, (void)name;
	if (err)
		*err = CL_SUCCESS;
	return make(KERNEL, sizeof(struct _cl_kernel));
}

static cl_int f_clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t n, void *v, size_t *r)
{
	(void)k, (void)what;
	return text_info("fake_kernel", n, v, r);
}

static cl_mem f_clCreateBuffer(cl_context c, cl_mem_flags f, size_t bytes, void *p, cl_int *err)
{
	cl_mem m = make(MEM, sizeof(*m));

	(void)c, (void)f, (void)p;
	m->bytes = bytes;
	if (err)
		*err = CL_SUCCESS;
	return m;
}

static cl_int f_clRetainMemObject(cl_mem m)
{
	m->o.refs++;
	return CL_SUCCESS;
}

static cl_int f_clReleaseMemObject(cl_mem m)
{
	if (--m->o.refs == 0)
		free(m);
	return CL_SUCCESS;
}

static cl_int f_clGetMemObjectInfo(cl_mem m, cl_mem_info what, size_t n, void *v, size_t *r)
{
	cl_uint refs = (cl_uint)m->o.refs;

	if (what == CL_MEM_REFERENCE_COUNT)
		return value_info(&refs, sizeof(refs), n, v, r);
	return value_info(&m->bytes, sizeof(m->bytes), n, v, r);
}

static cl_int f_clGetDeviceAndHostTimer(cl_device_id d, cl_ulong *t, cl_ulong *host)
{
	(void)d;
	if (!mode("driver"))
		return CL_INVALID_OPERATION;
	*t = ticks();
	*host = *t - OWN_OFFSET;
	return CL_SUCCESS;
}

static cl_int f_clEnqueueMemcpyINTEL(cl_command_queue q, cl_bool block, void *to,
				     const void *from, size_t bytes, cl_uint n,
				     const cl_event *w, cl_event *event)
{
	cl_int result = command(q, event);

	(void)n, (void)w;
	memcpy(to, from, bytes);
	return block ? f_clFinish(q) : result;
}

static void *f_clDeviceMemAllocINTEL(cl_context c, cl_device_id d, const void *props, size_t bytes,
				     cl_uint align, cl_int *err)
{
	(void)c, (void)d, (void)props, (void)align;
	if (err)
		*err = CL_SUCCESS;
	return malloc(bytes);
}

static cl_int f_clMemFreeINTEL(cl_context c, void *p)
{
	(void)c;
	free(p);
	return CL_SUCCESS;
}

static void *f_clGetExtensionFunctionAddressForPlatform(cl_platform_id p, const char *name)
{
	(void)p;
	if (!mode("usm"))
		return NULL;
	if (!strcmp(name, "clEnqueueMemcpyINTEL"))
		return (void *)f_clEnqueueMemcpyINTEL;
	if (!strcmp(name, "clDeviceMemAllocINTEL"))
		return (void *)f_clDeviceMemAllocINTEL;
	if (!strcmp(name, "clMemFreeINTEL"))
		return (void *)f_clMemFreeINTEL;
	return NULL;
}

static void fill(struct _cl_icd_dispatch *t)
{
#define F(fn) t->fn = f_##fn
	F(clGetPlatformIDs); F(clGetPlatformInfo); F(clGetDeviceIDs); F(clGetDeviceInfo);
	F(clCreateContext); F(clGetContextInfo); F(clCreateCommandQueue);
	F(clSetCommandQueueProperty); F(clGetCommandQueueInfo); F(clReleaseCommandQueue);
	F(clRetainEvent); F(clReleaseEvent); F(clGetEventInfo); F(clGetEventProfilingInfo);
	F(clFinish); F(clEnqueueNDRangeKernel); F(clEnqueueWriteBuffer);
	F(clEnqueueWaitForEvents); F(clEnqueueBarrier); F(clEnqueueMarker);
	F(clCreateProgramWithSource); F(clCreateKernel); F(clGetKernelInfo);
	F(clCreateBuffer); F(clRetainMemObject); F(clReleaseMemObject); F(clGetMemObjectInfo);
	if (mode("old"))
		return;
	F(clSetEventCallback); F(clGetDeviceAndHostTimer);
	F(clGetExtensionFunctionAddressForPlatform);
#undef F
}

/* A table at the very end of its memory, so that reading one entry too many crashes. */
static void *new_table(void)
{
	struct _cl_icd_dispatch full;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = mode("old") ? offsetof(struct _cl_icd_dispatch, clGetDeviceIDsFromD3D10KHR)
				   : sizeof(full);
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(&full, 0, sizeof(full));
	fill(&full);
	munmap(at + page, page);
	memcpy(at + page - bytes, &full, bytes);
	if (mode("readonly"))
		mprotect(at, page, PROT_READ);
	return at + page - bytes;
}

static void set_up(void)
{
	for (int i = 0; i < KINDS && !tables[KINDS - 1]; i++)
		tables[i] = i && !mode("tables") ? tables[0] : new_table();
	platform.o.table = tables[PLATFORM];
	device.o.table = tables[DEVICE];
}

EXPORT cl_int clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *p, cl_uint *r);
EXPORT cl_int clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *p, cl_uint *r)
{
	set_up();
	return f_clGetPlatformIDs(n, p, r);
}

EXPORT cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t n, void *v,
				size_t *r);
EXPORT cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t n, void *v,
				size_t *r)
{
	return f_clGetPlatformInfo(p, what, n, v, r);
}

EXPORT void *clGetExtensionFunctionAddress(const char *name);
EXPORT void *clGetExtensionFunctionAddress(const char *name)
{
	if (!strcmp(name, "clIcdGetPlatformIDsKHR"))
		return (void *)clIcdGetPlatformIDsKHR;
	return f_clGetExtensionFunctionAddressForPlatform(&platform, name);
}
