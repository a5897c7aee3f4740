/* SPDX-License-Identifier: MIT */
/*
 * Kernels, launch shapes and memory objects.
 *
 * Kernel names are known from clCreateKernel; a kernel of unknown origin is queried once. The cache
 * uses the handle as its key. Whatever can give a handle a new meaning (create, clone) overwrites
 * its entry, so releases, which are frequent and mostly not the last, need not be observed.
 *
 * An allocation lasts from the creating call to the object's destruction, which
 * clSetMemObjectDestructorCallback reports. Callbacks run in reverse order of registration, so that
 * of the probe, registered before the program has the handle, comes after the program's own. With
 * 1.0 the last release is recognised by its count.
 */
#include <stdlib.h>

#include "probes/opencl/probe.h"

/* ---- launch shapes ---- */

struct image_shape {
	struct image_shape *next;
	atomic_uint id;		/* 0: not interned yet */
	struct tft_shape def;
};

#define SHAPE_BUCKETS 1024
#define SHAPE_MAX 16384

static _Atomic(struct image_shape *) shapes[SHAPE_BUCKETS];
static atomic_uint shape_count;

static uint32_t shape_hash(const struct tft_shape *s)
{
	uint64_t hash = s->dims;

	for (int i = 0; i < 3; i++)
		hash = (hash ^ s->global[i] ^ (uint64_t)s->local[i] << 40) * 0x9e3779b97f4a7c15ull;
	return (uint32_t)(hash >> 54);
}

static bool same_shape(const struct tft_shape *a, const struct tft_shape *b)
{
	return a->dims == b->dims && a->global[0] == b->global[0] &&
	       a->global[1] == b->global[1] && a->global[2] == b->global[2] &&
	       a->local[0] == b->local[0] && a->local[1] == b->local[1] &&
	       a->local[2] == b->local[2];
}

static uint32_t interned(struct image_shape *shape)
{
	uint32_t id = atomic_load_explicit(&shape->id, memory_order_relaxed);

	if (unlikely(!id)) {
		id = rt_shape(&shape->def);
		atomic_store_explicit(&shape->id, id, memory_order_relaxed);
	}
	return id;
}

uint32_t shape_id(cl_uint dims, const size_t *global, const size_t *local)
{
	struct tft_shape def = { .dims = dims < 3 ? dims : 3 };
	_Atomic(struct image_shape *) *bucket;
	struct image_shape *shape, *head;

	for (cl_uint i = 0; i < def.dims; i++) {
		def.global[i] = global ? global[i] : 0;
		def.local[i] = local ? (uint32_t)local[i] : 0;
	}
	bucket = &shapes[shape_hash(&def) % SHAPE_BUCKETS];
	head = atomic_load_explicit(bucket, memory_order_acquire);
	for (shape = head; shape; shape = shape->next)
		if (same_shape(&shape->def, &def))
			return interned(shape);
	if (atomic_load(&shape_count) >= SHAPE_MAX)
		return rt_shape(&def);
	shape = calloc(1, sizeof(*shape));
	if (!shape)
		return rt_shape(&def);
	atomic_fetch_add(&shape_count, 1);
	shape->def = def;
	shape->next = head;
	while (!atomic_compare_exchange_weak(bucket, &shape->next, shape))
		;
	return interned(shape);
}

/* ---- kernels ---- */

static struct ocl_map kernels;	/* handle -> name id */

uint32_t kernel_name_cached(cl_kernel kernel)
{
	return (uint32_t)ocl_map_get(&kernels, kernel);
}

/* Any length, because names of template instances exceed every fixed buffer. */
static uint32_t kernel_ask_name(cl_kernel kernel)
{
	const struct _cl_icd_dispatch *real = real_of(kernel);
	char small[256], *text = small;
	size_t bytes = 0;
	uint32_t id = 0;

	if (real->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, NULL, &bytes) || !bytes)
		return 0;
	if (bytes > sizeof(small))
		text = malloc(bytes);
	if (!text) {
		rt_dropped(1);
		return 0;
	}
	if (!real->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, bytes, text, NULL)) {
		text[bytes - 1] = '\0';
		id = rt_name(TFT_NAME_KERNEL, text);
	}
	if (text != small)
		free(text);
	return id;
}

uint32_t kernel_name(cl_kernel kernel)
{
	uint32_t id = kernel_name_cached(kernel);

	if (unlikely(!id && kernel)) {
		id = kernel_ask_name(kernel);
		if (id)
			ocl_map_set(&kernels, kernel, id);
	}
	return id;
}

void kernel_created(cl_kernel kernel, const char *name)
{
	ocl_map_take(&kernels, kernel);
	if (name)
		ocl_map_set(&kernels, kernel, rt_name(TFT_NAME_KERNEL, name));
}

cl_int CL_API_CALL hook_clCreateKernelsInProgram(cl_program program, cl_uint n, cl_kernel *made,
						 cl_uint *n_ret)
{
	int64_t begin_ns = call_begin();
	cl_uint own = 0, *found = COUNT_RET(n_ret, made, own);
	cl_int result = real_of(program)->clCreateKernelsInProgram(program, n, made, found);

	for (cl_uint i = 0; result == CL_SUCCESS && made && i < *found && i < n; i++) {
		vendor_adopt(made[i], program);
		kernel_created(made[i], NULL);
	}
	call_end(H_clCreateKernelsInProgram, begin_ns, result);
	return result;
}

/* ---- allocations ---- */

enum allocator {
	ALLOC_BUFFER, ALLOC_HOST_BUFFER, ALLOC_IMAGE, ALLOC_HOST_IMAGE, ALLOC_PIPE,
	ALLOC_SVM, ALLOC_USM_HOST, ALLOC_USM_DEVICE, ALLOC_USM_SHARED, ALLOC_COUNT
};

static const char *const allocator_names[ALLOC_COUNT] = {
	"opencl device:buffer", "opencl host:buffer", "opencl device:image", "opencl host:image",
	"opencl device:pipe", "opencl svm", "opencl usm:host", "opencl usm:device",
	"opencl usm:shared",
};

static atomic_uint allocator_ids[ALLOC_COUNT];
static struct ocl_map images;	/* handle -> bytes per element */
static struct ocl_map counted;	/* handle -> allocator + 1, where there is no callback */
static atomic_bool any_counted;

static uint32_t allocator_id(enum allocator which)
{
	uint32_t id = atomic_load_explicit(&allocator_ids[which], memory_order_relaxed);

	if (!id) {
		id = rt_name(TFT_NAME_ALLOCATOR, allocator_names[which]);
		atomic_store_explicit(&allocator_ids[which], id, memory_order_relaxed);
	}
	return id;
}

static uint32_t only_device(cl_context context)
{
	cl_device_id devices[2];
	size_t bytes = 0;
	const struct ocl_device *device;

	if (real_of(context)->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(devices),
					       devices, &bytes) ||
	    bytes != sizeof(devices[0]))
		return 0;
	device = ocl_device_get(devices[0]);
	return device ? atomic_load(&device->id) : 0;
}

static void write_alloc(enum allocator which, const void *address, uint64_t bytes,
			uint32_t device)
{
	struct rt_top op = rt_op_current();
	struct tft_alloc alloc = {
		.allocator = allocator_id(which),
		.device = device,
		.op = op.instance,
		.op_name = op.name,
		.address = (uint64_t)(uintptr_t)address,
		.bytes = bytes,
	};

	rt_emit_alloc(&alloc);
}

static void write_free(enum allocator which, const void *address)
{
	struct tft_free gone = {
		.allocator = allocator_id(which),
		.address = (uint64_t)(uintptr_t)address,
	};

	if (rt_level() >= TFT_LEVEL_DEFAULT && !atomic_load(&probe_dead))
		rt_emit_free(&gone);
}

/* ---- places that a copy moves ---- */

#define OFFSET_BITS 36			/* the other bits number the objects */
#define OFFSET_MASK ((UINT64_C(1) << OFFSET_BITS) - 1)

static struct ocl_map places;	/* handle -> object's number, offset in it */
static _Atomic uint64_t last_object;

uint32_t memory_place(cl_mem object, uint64_t offset)
{
	uint64_t base = object ? ocl_map_get(&places, object) : 0, hash;

	if (!base)
		return 0;
	hash = (base >> OFFSET_BITS) * 0x9e3779b97f4a7c15ull ^ ((base & OFFSET_MASK) + offset);
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(hash >> 32) | 1;
}

static void number_object(cl_mem object)
{
	uint64_t number = atomic_fetch_add(&last_object, 1) + 1;

	if (number < UINT64_C(1) << (64 - OFFSET_BITS))
		ocl_map_set(&places, object, number << OFFSET_BITS);
}

static void CL_CALLBACK part_gone(cl_mem part, void *data)
{
	ocl_map_take(&places, part);
}

void part_created(cl_mem part, cl_mem buffer, cl_buffer_create_type type, const void *info)
{
	const struct _cl_icd_dispatch *real = real_of(part);
	const cl_buffer_region *region = info;
	uint64_t base = ocl_map_get(&places, buffer);

	ocl_map_take(&places, part);
	if (!base || type != CL_BUFFER_CREATE_TYPE_REGION || !region ||
	    region->origin > OFFSET_MASK - (base & OFFSET_MASK))
		return;
	if (real->clSetMemObjectDestructorCallback &&
	    !real->clSetMemObjectDestructorCallback(part, part_gone, NULL))
		ocl_map_set(&places, part, base + region->origin);
}

/* ---- memory objects ---- */

static void CL_CALLBACK destroyed(cl_mem object, void *data)
{
	ocl_map_take(&places, object);
	ocl_map_take(&images, object);
	write_free((enum allocator)(uintptr_t)data, object);
}

static void memory_allocated(cl_mem object, cl_context context, enum allocator which,
			     uint64_t bytes)
{
	const struct _cl_icd_dispatch *real = real_of(object);

	if (rt_level() < TFT_LEVEL_DEFAULT)
		return;
	write_alloc(which, object, bytes, only_device(context));
	ocl_map_take(&counted, object);
	ocl_map_take(&places, object);
	if (version_of(object) < 110 || !real->clSetMemObjectDestructorCallback ||
	    real->clSetMemObjectDestructorCallback(object, destroyed, (void *)(uintptr_t)which)) {
		atomic_store(&any_counted, true);
		ocl_map_set(&counted, object, which + 1u);
		return;		/* its end may not be seen, so it gets no number */
	}
	number_object(object);
}

void buffer_created(cl_mem buffer, cl_context context, cl_mem_flags flags, size_t bytes)
{
	memory_allocated(buffer, context,
			 flags & CL_MEM_USE_HOST_PTR ? ALLOC_HOST_BUFFER : ALLOC_BUFFER, bytes);
}

static uint64_t object_bytes(cl_mem object)
{
	size_t bytes = 0;

	if (real_of(object)->clGetMemObjectInfo(object, CL_MEM_SIZE, sizeof(bytes), &bytes, NULL))
		bytes = 0;
	return bytes;
}

static size_t element_bytes(cl_mem image)
{
	size_t bytes = 0;

	if (real_of(image)->clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(bytes), &bytes,
					   NULL))
		bytes = 0;
	return bytes;
}

void image_created(cl_mem image, cl_context context, cl_mem_flags flags)
{
	ocl_map_take(&images, image);
	ocl_map_set(&images, image, element_bytes(image));
	memory_allocated(image, context,
			 flags & CL_MEM_USE_HOST_PTR ? ALLOC_HOST_IMAGE : ALLOC_IMAGE,
			 object_bytes(image));
}

void pipe_created(cl_mem pipe, cl_context context)
{
	memory_allocated(pipe, context, ALLOC_PIPE, object_bytes(pipe));
}

uint64_t image_bytes(cl_mem image, const size_t *region)
{
	uint64_t element;

	if (!image || !region)
		return 0;
	element = ocl_map_get(&images, image);
	if (!element)
		/* it belongs to another API, and its handle may be reused */
		element = element_bytes(image);
	return element * region[0] * region[1] * region[2];
}

uint64_t mem_bytes(cl_uint n, const cl_mem *objects)
{
	uint64_t sum = 0;

	for (cl_uint i = 0; objects && i < n; i++)
		sum += object_bytes(objects[i]);
	return sum;
}

cl_int CL_API_CALL hook_clReleaseMemObject(cl_mem object)
{
	const struct _cl_icd_dispatch *real = real_of(object);
	uintptr_t which = atomic_load_explicit(&any_counted, memory_order_relaxed) ?
		ocl_map_get(&counted, object) : 0;
	cl_uint left = 0;
	cl_int result;

	if (which && real->clGetMemObjectInfo(object, CL_MEM_REFERENCE_COUNT, sizeof(left), &left,
					      NULL))
		left = 0;
	result = real->clReleaseMemObject(object);
	if (which && left == 1 && result == CL_SUCCESS) {
		ocl_map_take(&counted, object);
		ocl_map_take(&images, object);
		write_free((enum allocator)(which - 1), object);
	}
	if (rt_level() >= TFT_LEVEL_DEFAULT)
		rt_count(hook_name(H_clReleaseMemObject), result);
	return result;
}

/* ---- shared virtual memory ---- */

#define SVM_MAX 4096

static struct {
	_Atomic uintptr_t base;		/* 0: unused; 1: being written */
	size_t bytes;
	enum allocator which;
} svm[SVM_MAX];
static atomic_uint svm_top, svm_hint;
static struct ocl_map svm_index;	/* pointer -> slot + 1 */

void svm_allocated(void *pointer, size_t bytes, enum svm_kind kind, cl_context context,
		   cl_device_id device)
{
	const struct ocl_device *on = ocl_device_get(device);
	unsigned start = atomic_load_explicit(&svm_hint, memory_order_relaxed);

	if (!pointer)
		return;
	for (unsigned i = 0; i < SVM_MAX; i++) {
		unsigned at = (start + i) % SVM_MAX, was = atomic_load(&svm_top);
		uintptr_t none = 0;

		if (atomic_load_explicit(&svm[at].base, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&svm[at].base, &none, 1))
			continue;
		svm[at].bytes = bytes;
		svm[at].which = ALLOC_SVM + (unsigned)kind;
		atomic_store(&svm[at].base, (uintptr_t)pointer);
		ocl_map_set(&svm_index, pointer, at + 1);
		while (was <= at && !atomic_compare_exchange_weak(&svm_top, &was, at + 1))
			;
		atomic_store_explicit(&svm_hint, at + 1, memory_order_relaxed);
		if (rt_level() >= TFT_LEVEL_DEFAULT)
			write_alloc(svm[at].which, pointer, bytes,
				    on ? atomic_load(&on->id) : only_device(context));
		return;
	}
	rt_dropped(1);
}

void svm_freed(void *pointer)
{
	uintptr_t slot = pointer ? ocl_map_take(&svm_index, pointer) : 0;

	if (!slot)
		return;
	write_free(svm[slot - 1].which, pointer);
	atomic_store(&svm[slot - 1].base, 0);
	atomic_store_explicit(&svm_hint, (unsigned)slot - 1, memory_order_relaxed);
}

/* What memory an address is in: -1: the host's own, else an allocator. */
static int memory_of(const void *pointer)
{
	unsigned end = atomic_load(&svm_top);
	uintptr_t at = (uintptr_t)pointer;

	for (unsigned i = 0; i < end; i++) {
		uintptr_t base = atomic_load_explicit(&svm[i].base, memory_order_acquire);

		if (base > 1 && at >= base && at - base < svm[i].bytes)
			return (int)svm[i].which;
	}
	return -1;
}

enum tft_direction svm_direction(const void *to, const void *from)
{
	int to_which = memory_of(to), from_which = memory_of(from);
	bool to_host = to_which < 0 || to_which == ALLOC_USM_HOST;
	bool from_host = from_which < 0 || from_which == ALLOC_USM_HOST;

	if (to_host)
		return from_host ? TFT_DIR_H2H : TFT_DIR_D2H;
	return from_host ? TFT_DIR_H2D : TFT_DIR_D2D;
}

void *CL_API_CALL hook_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes,
				  cl_uint alignment)
{
	int64_t begin_ns = call_begin();
	void *pointer = real_of(context)->clSVMAlloc(context, flags, bytes, alignment);

	call_end(H_clSVMAlloc, begin_ns, pointer ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE);
	if (!atomic_load_explicit(&probe_dead, memory_order_relaxed))
		svm_allocated(pointer, bytes, SVM_SHARED, context, NULL);
	return pointer;
}

void CL_API_CALL hook_clSVMFree(cl_context context, void *pointer)
{
	int64_t begin_ns = call_begin();

	svm_freed(pointer);	/* before another thread can get the address */
	real_of(context)->clSVMFree(context, pointer);
	call_end(H_clSVMFree, begin_ns, CL_SUCCESS);
}

/* ---- mappings: bytes of an unmap, and memory of the driver ---- */

#define RANGES_MAX 256		/* further ones are taken for the program's own memory */

static struct ocl_map mappings;	/* host address -> bytes */
static struct {
	_Atomic uintptr_t base;	/* 0: unused */
	_Atomic size_t bytes;
} ranges[RANGES_MAX];
static atomic_uint range_top;

static void range_set(uintptr_t base, size_t bytes)
{
	for (unsigned i = 0; base && i < RANGES_MAX; i++) {
		unsigned top = atomic_load(&range_top);
		uintptr_t none = 0;

		if (!atomic_compare_exchange_strong(&ranges[i].base, &none, base) && none != base)
			continue;
		atomic_store(&ranges[i].bytes, bytes);
		while (top <= i && !atomic_compare_exchange_weak(&range_top, &top, i + 1))
			;
		return;
	}
}

static void range_clear(uintptr_t base)
{
	unsigned top = atomic_load(&range_top);

	for (unsigned i = 0; base && i < top; i++) {
		uintptr_t was = base;

		atomic_compare_exchange_strong(&ranges[i].base, &was, 0);
	}
}

bool is_pinned(const void *host)
{
	unsigned top = atomic_load_explicit(&range_top, memory_order_relaxed);
	uintptr_t at = (uintptr_t)host;

	for (unsigned i = 0; i < top; i++) {
		uintptr_t base = atomic_load_explicit(&ranges[i].base, memory_order_relaxed);

		if (base && at >= base &&
		    at - base < atomic_load_explicit(&ranges[i].bytes, memory_order_relaxed))
			return true;
	}
	return memory_of(host) >= 0;
}

void mapped(void *pointer, size_t bytes)
{
	ocl_map_set(&mappings, pointer, bytes);
	range_set((uintptr_t)pointer, bytes);
}

uint64_t mapped_bytes(void *pointer)
{
	return ocl_map_get(&mappings, pointer);
}

void unmapped(void *pointer)
{
	ocl_map_take(&mappings, pointer);
	range_clear((uintptr_t)pointer);
}

/* Whatever had an address may have been destroyed, and another object may have it. */
void handles_forget(void)
{
	ocl_map_clear(&kernels);
	ocl_map_clear(&images);
	ocl_map_clear(&mappings);
	ocl_map_clear(&places);
	for (unsigned i = 0; i < RANGES_MAX; i++)
		atomic_store(&ranges[i].base, 0);
}
