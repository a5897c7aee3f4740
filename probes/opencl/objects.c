/* SPDX-License-Identifier: MIT */
/*
 * Devices and queues. Their properties are read once, sent when they are first used in a process,
 * and sent again on a dump from what is kept here, without calling OpenCL, because the objects may
 * be gone by then.
 *
 * Profiling is turned on for every queue that the program creates, because without it there are no
 * device times; info.c hides it. If a driver refuses such a queue, the queue is created exactly as
 * the program wanted it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/opencl/probe.h"

#define QUEUE_PROPERTIES_MAX 64

static struct ocl_map devices, queues, contexts;
static _Atomic(struct ocl_device *) device_list;
static _Atomic(struct ocl_queue *) queue_list;
static atomic_uint last_context;
atomic_bool masks_needed;

/* Two threads may discover the same thing at once: one of them adds it. The lock is held only while
 * our tables are accessed; OpenCL is queried before. */
static pthread_mutex_t enter_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- contexts, which are only numbered ---- */

static uint32_t context_id(cl_context context)
{
	uintptr_t id = ocl_map_get(&contexts, context);

	if (!id && context) {
		id = atomic_fetch_add(&last_context, 1) + 1;
		ocl_map_set(&contexts, context, id);
	}
	return (uint32_t)id;
}

void context_created(cl_context context)
{
	ocl_map_take(&contexts, context);
	context_id(context);
}

/* ---- devices ---- */

/* A string of a device, owned by the caller; "" if there is none. */
static char *device_text(const struct ocl_device *device, cl_device_info what)
{
	size_t bytes = 0;
	char *text;

	if (device->real->clGetDeviceInfo(device->handle, what, 0, NULL, &bytes))
		bytes = 0;
	text = calloc(1, bytes + 1);
	if (text && bytes &&
	    device->real->clGetDeviceInfo(device->handle, what, bytes, text, NULL))
		text[0] = '\0';
	return text;
}

/* Definitions never carry NULL. */
static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static char *platform_text(cl_platform_id platform)
{
	char text[256] = "";

	if (platform)
		real_of(platform)->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(text) - 1,
						     text, NULL);
	return strdup(text);
}

static void device_value(const struct ocl_device *device, cl_device_info what, void *value,
			 size_t bytes)
{
	if (device->real->clGetDeviceInfo(device->handle, what, bytes, value, NULL))
		memset(value, 0, bytes);
}

/* The PCI address if the driver returns it (cl_khr_pci_bus_info), else "". */
static char *device_address(const struct ocl_device *device)
{
	enum { PCI_BUS_INFO_KHR = 0x410f };
	cl_uint pci[4] = { 0, 0, 0, 0 };
	char text[32] = "";

	if (!device->real->clGetDeviceInfo(device->handle, PCI_BUS_INFO_KHR, sizeof(pci), pci,
					   NULL))
		snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", pci[0], pci[1], pci[2], pci[3]);
	return strdup(text);
}

/* The index among the platform's devices; a part of a device has the device's index. */
static uint32_t device_index(const struct ocl_device *device, cl_platform_id platform)
{
	cl_device_id all[64];
	cl_uint n = 0;

	if (!platform || real_of(platform)->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL,
							   ARRAY_LEN(all), all, &n))
		return 0;
	for (cl_uint i = 0; i < n && i < ARRAY_LEN(all); i++)
		if (all[i] == device->root)
			return i;
	return 0;
}

static cl_device_id root_of(const struct ocl_device *device)
{
	cl_device_id root = device->handle, parent = NULL;

	for (int depth = 0; device->version >= 120 && depth < 8; depth++) {
		if (device->real->clGetDeviceInfo(root, CL_DEVICE_PARENT_DEVICE, sizeof(parent),
						  &parent, NULL) ||
		    !parent)
			break;
		root = parent;
	}
	return root;
}

static void device_describe(struct ocl_device *device)
{
	struct tft_device *def = &device->def;
	cl_platform_id platform = NULL;
	cl_device_type type = 0;
	cl_uint value = 0;
	cl_ulong memory = 0;

	device_value(device, CL_DEVICE_PLATFORM, &platform, sizeof(platform));
	device_value(device, CL_DEVICE_TYPE, &type, sizeof(type));
	def->gpu = type & CL_DEVICE_TYPE_GPU ? 1 : type & CL_DEVICE_TYPE_CPU ? 0 : 2;
	device_value(device, CL_DEVICE_MAX_COMPUTE_UNITS, &value, sizeof(value));
	def->units = value;
	device_value(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, &value, sizeof(value));
	def->clock_mhz = value;
	device_value(device, CL_DEVICE_GLOBAL_MEM_SIZE, &memory, sizeof(memory));
	def->memory_bytes = memory;
	def->index = device_index(device, platform);
	def->api = "opencl";
	def->name = or_empty(device_text(device, CL_DEVICE_NAME));
	def->vendor = or_empty(device_text(device, CL_DEVICE_VENDOR));
	def->driver = or_empty(device_text(device, CL_DRIVER_VERSION));
	def->platform = or_empty(platform_text(platform));
	def->address = or_empty(device_address(device));
}

/* Sends the device unless this process has done so; any thread, the id is set once. */
static void device_announce(struct ocl_device *device)
{
	unsigned none = 0, id = rt_device_id();
	struct tft_device def = device->def;

	if (!atomic_compare_exchange_strong(&device->id, &none, id))
		return;
	def.id = id;
	rt_emit_device(&def);
}

/* The entry of a handle: `device`, or that of another thread, which was faster; then `device` stays
 * in the list, without an id. */
static struct ocl_device *device_enter(struct ocl_device *device)
{
	struct ocl_device *head = atomic_load(&device_list), *first;

	do
		device->next = head;
	while (!atomic_compare_exchange_weak(&device_list, &head, device));
	pthread_mutex_lock(&enter_lock);
	first = (struct ocl_device *)ocl_map_get(&devices, device->handle);
	if (!first)
		ocl_map_set(&devices, device->handle, (uintptr_t)device);
	pthread_mutex_unlock(&enter_lock);
	return first ? first : device;
}

static struct ocl_device *ocl_device_new(cl_device_id handle)
{
	struct ocl_device *device = calloc(1, sizeof(*device));

	if (!device) {
		rt_dropped(1);
		return NULL;
	}
	device->handle = handle;
	device->real = real_of(handle);
	device->version = version_of(handle);
	device->root = root_of(device);
	clock_forget(&device->clock);
	device_describe(device);
	return device_enter(device);
}

struct ocl_device *ocl_device_get(cl_device_id handle)
{
	struct ocl_device *device;

	if (!handle)
		return NULL;
	device = (struct ocl_device *)ocl_map_get(&devices, handle);
	if (!device)
		device = ocl_device_new(handle);
	if (device && !atomic_load_explicit(&device->id, memory_order_acquire))
		device_announce(device);
	return device;
}

struct ocl_device *device_first(void)
{
	return atomic_load(&device_list);
}

/* New parts of a device may have the addresses of parts that were freed. */
static void devices_forget(const cl_device_id *handles, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		ocl_map_take(&devices, handles[i]);
}

/* ---- queues ---- */

static void queue_announce(struct ocl_queue *queue, bool again)
{
	struct tft_queue def = {
		.id = atomic_load(&queue->id),
		.device = queue->device ? atomic_load(&queue->device->id) : 0,
		.context = queue->context,
		.flags = queue->flags,
		.name = "",
	};

	if (!again) {
		unsigned none = 0;

		def.id = rt_queue_id();
		if (!atomic_compare_exchange_strong(&queue->id, &none, def.id))
			return;
	}
	if (def.id)
		rt_emit_queue(&def);
}

/* A queue struct that nothing refers to any more, otherwise a new one. */
static struct ocl_queue *queue_struct(cl_command_queue handle)
{
	struct ocl_queue *queue = (struct ocl_queue *)ocl_map_get(&queues, handle), *head;

	if (queue && !atomic_load(&queue->inflight)) {
		ocl_map_take(&queues, handle);
		free(queue->array);
		queue->array = NULL;
		queue->masked_array = false;
		atomic_store(&queue->id, 0);
		return queue;
	}
	queue = calloc(1, sizeof(*queue));
	if (!queue) {
		rt_dropped(1);
		return NULL;
	}
	head = atomic_load(&queue_list);
	do
		queue->next = head;
	while (!atomic_compare_exchange_weak(&queue_list, &head, queue));
	return queue;
}

/* Adds a queue that the probe meets for the first time. `properties` are those in force. */
static struct ocl_queue *queue_meet(cl_command_queue handle, cl_context context,
				    struct ocl_device *device,
				    cl_command_queue_properties properties, bool forced)
{
	struct ocl_queue *queue = queue_struct(handle);

	if (!queue)
		return NULL;
	queue->handle = handle;
	queue->real = real_of(handle);
	queue->version = version_of(handle);
	queue->device = device;
	queue->context = context_id(context);
	atomic_store(&queue->forced, forced);
	atomic_store(&queue->profiled, (properties & CL_QUEUE_PROFILING_ENABLE) != 0);
	atomic_store(&queue->instant, 0);
	queue->flags = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE ?
			0 : TFT_QUEUE_IN_ORDER) |
		       (properties & CL_QUEUE_PROFILING_ENABLE ? TFT_QUEUE_PROFILED : 0) |
		       (forced ? TFT_QUEUE_FORCED : 0);
	queue_announce(queue, false);
	ocl_map_set(&queues, handle, (uintptr_t)queue);
	return queue;
}

struct ocl_queue *queue_peek(cl_command_queue handle)
{
	return (struct ocl_queue *)ocl_map_get(&queues, handle);
}

/* Finds out about a queue that was made before the probe came, or in another process before a
 * fork. */
static struct ocl_queue *queue_find_out(cl_command_queue handle)
{
	const struct _cl_icd_dispatch *real = real_of(handle);
	cl_command_queue_properties properties = 0;
	cl_device_id device = NULL;
	cl_context context = NULL;
	struct ocl_queue *queue = queue_peek(handle);
	struct ocl_device *on;

	if (queue) {
		ocl_device_get(queue->device ? queue->device->handle : NULL);
		queue_announce(queue, false);
		return queue;
	}
	if (real->clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof(device), &device, NULL) ||
	    real->clGetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, sizeof(context), &context,
					NULL) ||
	    real->clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof(properties),
					&properties, NULL))
		return NULL;	/* not a queue: the call itself will return an error */
	vendor_adopt(handle, device);
	on = ocl_device_get(device);
	pthread_mutex_lock(&enter_lock);
	queue = queue_peek(handle);
	if (!queue)
		queue = queue_meet(handle, context, on, properties, false);
	pthread_mutex_unlock(&enter_lock);
	return queue;
}

struct ocl_queue *ocl_queue_get(cl_command_queue handle)
{
	struct ocl_queue *queue = queue_peek(handle);

	if (likely(queue && atomic_load_explicit(&queue->id, memory_order_relaxed)))
		return queue;
	return queue_find_out(handle);
}

/* Called after a successful creation. `asked` are the program's own properties. */
static void queue_made(cl_command_queue handle, cl_context context, cl_device_id device,
		       cl_command_queue_properties asked, bool forced)
{
	cl_command_queue_properties properties = asked;

	if (!probe_armed()) {
		/* the previous object at this address has been destroyed */
		ocl_map_take(&queues, handle);
		return;
	}
	if (forced) {
		atomic_store(&masks_needed, true);
		properties |= CL_QUEUE_PROFILING_ENABLE;
	}
	vendor_adopt(handle, device);
	queue_meet(handle, context, ocl_device_get(device), properties, forced);
}

cl_command_queue CL_API_CALL hook_clCreateCommandQueue(cl_context context, cl_device_id device,
						       cl_command_queue_properties properties,
						       cl_int *errcode_ret)
{
	const struct _cl_icd_dispatch *real = real_of(context);
	bool force = probe_armed() && !(properties & CL_QUEUE_PROFILING_ENABLE);
	cl_command_queue queue = NULL;
	cl_int result = CL_SUCCESS;
	int64_t begin_ns = call_begin();

	if (force)
		queue = real->clCreateCommandQueue(context, device,
						   properties | CL_QUEUE_PROFILING_ENABLE, &result);
	if (!queue) {
		force = false;
		queue = real->clCreateCommandQueue(context, device, properties, &result);
	}
	if (errcode_ret)
		*errcode_ret = result;
	if (queue)
		queue_made(queue, context, device, properties, force);
	call_end(H_clCreateCommandQueue, begin_ns, result);
	return queue;
}

/* Copies the list with profiling enabled; false: it has profiling already, must not be changed, or
 * is too long. */
static bool with_profiling(const cl_queue_properties *in, cl_queue_properties *out,
			   cl_command_queue_properties *asked)
{
	size_t n = 0;
	bool seen = false;

	*asked = 0;
	for (; in && in[n]; n += 2) {
		if (n + 5 > QUEUE_PROPERTIES_MAX)
			return false;
		out[n] = in[n];
		out[n + 1] = in[n + 1];
		if (in[n] == CL_QUEUE_PROPERTIES) {
			*asked = (cl_command_queue_properties)in[n + 1];
			out[n + 1] |= CL_QUEUE_PROFILING_ENABLE;
			seen = true;
		}
	}
	if (!seen) {
		out[n++] = CL_QUEUE_PROPERTIES;
		out[n++] = CL_QUEUE_PROFILING_ENABLE;
	}
	out[n] = 0;
	return !(*asked & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE));
}

/* Keeps the program's properties, for CL_QUEUE_PROPERTIES_ARRAY. */
static void keep_array(struct ocl_queue *queue, const cl_queue_properties *properties)
{
	size_t n = 0;

	if (properties) {
		while (properties[n])
			n += 2;
		n++;
		queue->array = malloc(n * sizeof(*properties));
		if (!queue->array) {
			rt_dropped(1);
			return;
		}
		memcpy(queue->array, properties, n * sizeof(*properties));
	}
	queue->array_bytes = n * sizeof(*properties);
	queue->masked_array = true;
}

cl_command_queue queue_create(cl_api_clCreateCommandQueueWithProperties create,
			      cl_context context, cl_device_id device,
			      const cl_queue_properties *properties, cl_int *errcode_ret,
			      enum hook hook)
{
	cl_queue_properties changed[QUEUE_PROPERTIES_MAX];
	cl_command_queue_properties asked;
	bool force = with_profiling(properties, changed, &asked) && probe_armed();
	cl_command_queue handle = NULL;
	cl_int result = CL_SUCCESS;
	int64_t begin_ns = call_begin();

	if (force)
		handle = create(context, device, changed, &result);
	if (!handle) {
		force = false;
		handle = create(context, device, properties, &result);
	}
	if (errcode_ret)
		*errcode_ret = result;
	if (handle) {
		queue_made(handle, context, device, asked, force);
		struct ocl_queue *queue = queue_peek(handle);

		if (force && queue)
			keep_array(queue, properties);
	}
	call_end(hook, begin_ns, result);
	return handle;
}

cl_command_queue CL_API_CALL
hook_clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
					const cl_queue_properties *properties, cl_int *errcode_ret)
{
	return queue_create(real_of(context)->clCreateCommandQueueWithProperties, context, device,
			    properties, errcode_ret, H_clCreateCommandQueueWithProperties);
}

cl_int CL_API_CALL hook_clReleaseCommandQueue(cl_command_queue queue)
{
	struct ocl_queue *known = probe_armed() ? queue_peek(queue) : NULL;
	cl_int result;

	if (known)
		records_harvest(known);
	result = real_of(queue)->clReleaseCommandQueue(queue);
	if (rt_level() >= TFT_LEVEL_DEFAULT)
		rt_count(hook_name(H_clReleaseCommandQueue), result);
	return result;
}

cl_int CL_API_CALL hook_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint n,
				       cl_device_id *all, cl_uint *n_ret)
{
	cl_uint own = 0, *found = COUNT_RET(n_ret, all, own);
	cl_int result = real_of(platform)->clGetDeviceIDs(platform, type, n, all, found);

	for (cl_uint i = 0; result == CL_SUCCESS && all && i < *found && i < n; i++)
		vendor_adopt(all[i], platform);
	if (rt_level() >= TFT_LEVEL_DEFAULT)
		rt_count(hook_name(H_clGetDeviceIDs), result);
	return result;
}

/* If the properties name no platform, the loader chooses the vendor, so only the first vendor's
 * entry is wrapped (patch.c), and this is always its call. */
cl_context CL_API_CALL
hook_clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
			     void (CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
			     void *data, cl_int *errcode_ret)
{
	cl_int result = CL_SUCCESS;
	int64_t begin_ns = call_begin();
	cl_context context = vendor_list[0].saved.clCreateContextFromType(properties, type, notify,
									  data, &result);

	call_end(H_clCreateContextFromType, begin_ns, result);
	if (errcode_ret)
		*errcode_ret = result;
	if (context && probe_armed()) {
		if (*(void ***)(void *)context != vendor_list[0].live)
			vendor_adopt(context, NULL);
		context_created(context);
	}
	return context;
}

cl_int CL_API_CALL hook_clCreateSubDevices(cl_device_id device,
					   const cl_device_partition_property *properties,
					   cl_uint n, cl_device_id *parts, cl_uint *n_ret)
{
	int64_t begin_ns = call_begin();
	cl_uint own = 0, *made = COUNT_RET(n_ret, parts, own);
	cl_int result = real_of(device)->clCreateSubDevices(device, properties, n, parts, made);

	if (result == CL_SUCCESS && parts)
		devices_forget(parts, *made < n ? *made : n);
	call_end(H_clCreateSubDevices, begin_ns, result);
	return result;
}

/* ---- for the runtime ---- */

void objects_dump(void)
{
	for (struct ocl_device *device = atomic_load(&device_list); device; device = device->next)
		if (atomic_load(&device->id)) {
			struct tft_device def = device->def;

			def.id = atomic_load(&device->id);
			rt_emit_device(&def);
		}
	for (struct ocl_queue *queue = atomic_load(&queue_list); queue; queue = queue->next)
		queue_announce(queue, true);
}

void objects_fork_child(void)
{
	pthread_mutex_init(&enter_lock, NULL);
	for (struct ocl_device *device = atomic_load(&device_list); device; device = device->next) {
		atomic_store(&device->id, 0);
		clock_forget(&device->clock);
	}
	for (struct ocl_queue *queue = atomic_load(&queue_list); queue; queue = queue->next) {
		atomic_store(&queue->id, 0);
		atomic_store(&queue->inflight, 0);
		atomic_store(&queue->last, 0);
	}
	atomic_store(&last_context, 0);
	ocl_map_clear(&contexts);
}
