/* SPDX-License-Identifier: MIT */
/*
 * NVTX ranges, marks and names as ops, ranges and names of the runtime.
 *
 * A handle that is given out (domain, registered string) is not an address but the name's id,
 * shifted and tagged. So nothing needs to be allocated or freed, and a handle stays valid for as
 * long as the program keeps it. The lowest bit says that a handle is ours, the next three are the
 * tag of a range of XLA (probe.h).
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probes/nvtx/probe.h"
#include "probes/runtime/text.h"
#include "probes/runtime/idmap.h"
#include "probes/runtime/slots.h"

#define HANDLE_OURS 1u

struct rt_probe nvtx_probe = {
	.name = "nvtx",
	.version = TFTOP_VERSION,
	.blind = "payload schemas, counters and resource names are not read",
	.tick = nvtx_late_tick,
};

/* ---- handles and texts ---- */

static void *handle_of(uint32_t name, unsigned tag)
{
	return (void *)((uintptr_t)name << 4 | tag << 1 | HANDLE_OURS);
}

static unsigned handle_tag(const void *handle)
{
	return (uintptr_t)handle >> 1 & 7;
}

/* 0 for NULL and for handles of others. */
static uint32_t handle_name(const void *handle)
{
	uintptr_t h = (uintptr_t)handle;

	if (!(h & HANDLE_OURS) || h >> 4 > UINT32_MAX)
		return 0;
	return (uint32_t)(h >> 4);
}

/* After an attach: names for handles that were made before. 0: none was seen. */
static _Atomic uint32_t unknown_domain, unknown_string;

void nvtx_handles_unknown(void)
{
	atomic_store(&unknown_domain, rt_name(TFT_NAME_DOMAIN, "(unknown domain)"));
	atomic_store(&unknown_string, rt_name(TFT_NAME_RANGE, "(unknown string)"));
}

static uint32_t domain_name(const void *domain)
{
	return domain ? handle_name(domain) :
			atomic_load_explicit(&unknown_domain, memory_order_relaxed);
}

static uint32_t string_name(const void *string)
{
	return string ? handle_name(string) :
			atomic_load_explicit(&unknown_string, memory_order_relaxed);
}

static uint32_t name_a(enum tft_name_kind kind, const char *text)
{
	return rt_name(kind, text);
}

static uint32_t name_w(enum tft_name_kind kind, const wchar_t *text)
{
	char buf[TFT_TEXT_MAX + 1];

	return rt_name(kind, rt_text_from_wide(buf, sizeof(buf), text));
}

/* The text of a range; nothing is interned while the level is off. */
static uint32_t range_a(const char *text)
{
	return rt_ranges_off() ? 0 : name_a(TFT_NAME_RANGE, text);
}

static uint32_t range_w(const wchar_t *text)
{
	return rt_ranges_off() ? 0 : name_w(TFT_NAME_RANGE, text);
}

/* Categories: domain in the high half, number + 1 in the low one. */
static struct rt_idmap categories;

static uint64_t category_key(uint32_t domain, uint32_t number)
{
	return (uint64_t)domain << 32 | (uint64_t)(number == UINT32_MAX ? number : number + 1);
}

static void category_name(uint32_t domain, uint32_t number, uint32_t name)
{
	rt_idmap_set(&categories, category_key(domain, number), name);
}

static void args_plain(struct rt_op_args *args, uint32_t domain, uint32_t name)
{
	*args = (struct rt_op_args){
		.name = name, .domain = domain, .step = -1,
		.framework = TFT_FW_NVTX, .flags = TFT_OP_RANGE,
	};
}

static void nvtx_set_payload(struct rt_op_args *args, const struct nvtx_attributes *a)
{
	double real;

	switch (a->payload_type) {
	case NVTX_PAYLOAD_U64:
		args->payload = a->payload.u64;
		return;
	case NVTX_PAYLOAD_U32:
		args->payload = a->payload.u32;
		return;
	case NVTX_PAYLOAD_I64:
		args->payload = (uint64_t)a->payload.i64;
		args->flags |= TFT_OP_SIGNED;
		return;
	case NVTX_PAYLOAD_I32:
		args->payload = (uint64_t)(int64_t)a->payload.i32;
		args->flags |= TFT_OP_SIGNED;
		return;
	case NVTX_PAYLOAD_DOUBLE:
	case NVTX_PAYLOAD_FLOAT:
		real = a->payload_type == NVTX_PAYLOAD_DOUBLE ? a->payload.f64 :
								(double)a->payload.f32;
		memcpy(&args->payload, &real, sizeof(real));
		args->flags |= TFT_OP_REAL;
		return;
	}
}

static void args_ex(struct rt_op_args *args, uint32_t domain, const struct nvtx_attributes *a)
{
	unsigned tag;

	args_plain(args, domain, 0);
	if (!a || a->size < sizeof(*a))
		return;
	switch (a->message_type) {
	case NVTX_MESSAGE_CHAR:
		if (tsl_is_domain(domain) && !rt_ranges_off()) {
			args->name = tsl_name(a->message.text, &tag);
			tsl_args(args, tag);
		} else {
			args->name = range_a(a->message.text);
		}
		break;
	case NVTX_MESSAGE_WCHAR:
		args->name = range_w(a->message.wide);
		break;
	case NVTX_MESSAGE_HANDLE:
		args->name = string_name(a->message.handle);
		tsl_args(args, handle_tag(a->message.handle));
		break;
	}
	if (a->colour_type == NVTX_COLOUR_ARGB) {
		args->argb = a->colour;
		args->flags |= TFT_OP_COLOUR;
	}
	if (a->category)
		args->type = rt_idmap_get(&categories, category_key(domain, a->category));
	nvtx_set_payload(args, a);
}

/* ---- push and pop: they return the level of the range, from 0 ---- */

static int push(const struct rt_op_args *args)
{
	if (rt_ranges_off())
		return NVTX_NO_TRACKING;
	rt_op_push(args);
	return rt_level() == TFT_LEVEL_OFF ? NVTX_NO_TRACKING : rt_op_depth(args->domain) - 1;
}

static int pop(uint32_t domain)
{
	int depth;

	if (rt_ranges_off())
		return NVTX_NO_TRACKING;
	depth = rt_level() == TFT_LEVEL_OFF ? NVTX_NO_TRACKING : rt_op_depth(domain) - 1;
	rt_op_pop(domain);
	return depth;
}

static int push_ex(const struct nvtx_attributes *a)
{
	struct rt_op_args args;

	args_ex(&args, 0, a);
	return push(&args);
}

static int push_a(const char *text)
{
	struct rt_op_args args;

	args_plain(&args, 0, range_a(text));
	return push(&args);
}

static int push_w(const wchar_t *text)
{
	struct rt_op_args args;

	args_plain(&args, 0, range_w(text));
	return push(&args);
}

static int pop_default(void)
{
	return pop(0);
}

static int domain_push_ex(const void *domain, const struct nvtx_attributes *a)
{
	struct rt_op_args args;

	args_ex(&args, domain_name(domain), a);
	return push(&args);
}

static int domain_pop(const void *domain)
{
	return pop(domain_name(domain));
}

/* ---- start and end ---- */

static uint64_t start_ex(const struct nvtx_attributes *a)
{
	struct rt_op_args args;

	args_ex(&args, 0, a);
	return rt_async_start(&args);
}

static uint64_t start_a(const char *text)
{
	struct rt_op_args args;

	args_plain(&args, 0, range_a(text));
	return rt_async_start(&args);
}

static uint64_t start_w(const wchar_t *text)
{
	struct rt_op_args args;

	args_plain(&args, 0, range_w(text));
	return rt_async_start(&args);
}

static void end(uint64_t id)
{
	rt_async_end(id);
}

static uint64_t domain_start_ex(const void *domain, const struct nvtx_attributes *a)
{
	struct rt_op_args args;

	args_ex(&args, domain_name(domain), a);
	return rt_async_start(&args);
}

static void domain_end(const void *domain, uint64_t id)
{
	(void)domain;
	rt_async_end(id);
}

/* ---- marks ---- */

static void mark_ex(const struct nvtx_attributes *a)
{
	struct rt_op_args args;

	args_ex(&args, 0, a);
	rt_mark(&args);
}

static void mark_a(const char *text)
{
	struct rt_op_args args;

	args_plain(&args, 0, range_a(text));
	rt_mark(&args);
}

static void mark_w(const wchar_t *text)
{
	struct rt_op_args args;

	args_plain(&args, 0, range_w(text));
	rt_mark(&args);
}

static void domain_mark_ex(const void *domain, const struct nvtx_attributes *a)
{
	struct rt_op_args args;

	args_ex(&args, domain_name(domain), a);
	rt_mark(&args);
}

/* ---- names ---- */

static void category_a(uint32_t number, const char *text)
{
	category_name(0, number, name_a(TFT_NAME_OP_TYPE, text));
}

static void category_w(uint32_t number, const wchar_t *text)
{
	category_name(0, number, name_w(TFT_NAME_OP_TYPE, text));
}

static void domain_category_a(const void *domain, uint32_t number, const char *text)
{
	category_name(domain_name(domain), number, name_a(TFT_NAME_OP_TYPE, text));
}

static void domain_category_w(const void *domain, uint32_t number, const wchar_t *text)
{
	category_name(domain_name(domain), number, name_w(TFT_NAME_OP_TYPE, text));
}

static void thread_a(uint32_t tid, const char *text)
{
	rt_thread_name(tid, text);
}

static void thread_w(uint32_t tid, const wchar_t *text)
{
	char buf[TFT_TEXT_MAX + 1];

	rt_thread_name(tid, rt_text_from_wide(buf, sizeof(buf), text));
}

/* Streams are pointers and devices are numbers; both are passed in one register. The CUDA probe
 * knows what they mean. */
static void stream_a(uintptr_t stream, const char *text)
{
	rt_thing_name(RT_THING_CUDA_STREAM, stream, text);
}

static void stream_w(uintptr_t stream, const wchar_t *text)
{
	char buf[TFT_TEXT_MAX + 1];

	stream_a(stream, rt_text_from_wide(buf, sizeof(buf), text));
}

static void device_a(int device, const char *text)
{
	if (!tsl_is_number(text))
		rt_thing_name(RT_THING_CUDA_DEVICE, (uint64_t)(uint32_t)device, text);
}

static void device_w(int device, const wchar_t *text)
{
	char buf[TFT_TEXT_MAX + 1];

	device_a(device, rt_text_from_wide(buf, sizeof(buf), text));
}

static void *domain_a(const char *text)
{
	uint32_t name = name_a(TFT_NAME_DOMAIN, text);

	tsl_domain(text, name);
	return handle_of(name, 0);
}

static void *domain_w(const wchar_t *text)
{
	return handle_of(name_w(TFT_NAME_DOMAIN, text), 0);
}

static void domain_destroy(void *domain)
{
	(void)domain;
}

static void *string_a(const void *domain, const char *text)
{
	unsigned tag = 0;
	uint32_t name = tsl_is_domain(domain_name(domain)) ? tsl_name(text, &tag) :
							     name_a(TFT_NAME_RANGE, text);

	return handle_of(name, tag);
}

static void *string_w(const void *domain, const wchar_t *text)
{
	(void)domain;
	return handle_of(name_w(TFT_NAME_RANGE, text), 0);
}

static void *resource_create(const void *domain, void *attributes)
{
	(void)domain;
	(void)attributes;
	return handle_of(0, 0);
}

static void resource_destroy(void *resource)
{
	(void)resource;
}

/* ---- attaching to a module's tables ---- */

struct nvtx_hook {
	unsigned int index;
	nvtx_function ours;
	bool keep;	/* needed also at level off, because it returns handles or names */
};

#define HOOK(index, function, keep) { index, (nvtx_function)(function), keep }

static const struct nvtx_hook core[] = {
	HOOK(NVTX_CORE_MARK_EX, mark_ex, false),
	HOOK(NVTX_CORE_MARK_A, mark_a, false),
	HOOK(NVTX_CORE_MARK_W, mark_w, false),
	HOOK(NVTX_CORE_START_EX, start_ex, false),
	HOOK(NVTX_CORE_START_A, start_a, false),
	HOOK(NVTX_CORE_START_W, start_w, false),
	HOOK(NVTX_CORE_END, end, false),
	HOOK(NVTX_CORE_PUSH_EX, push_ex, false),
	HOOK(NVTX_CORE_PUSH_A, push_a, false),
	HOOK(NVTX_CORE_PUSH_W, push_w, false),
	HOOK(NVTX_CORE_POP, pop_default, false),
	HOOK(NVTX_CORE_CATEGORY_A, category_a, true),
	HOOK(NVTX_CORE_CATEGORY_W, category_w, true),
	HOOK(NVTX_CORE_THREAD_A, thread_a, true),
	HOOK(NVTX_CORE_THREAD_W, thread_w, true),
};

static const struct nvtx_hook core2[] = {
	HOOK(NVTX_CORE2_MARK_EX, domain_mark_ex, false),
	HOOK(NVTX_CORE2_START_EX, domain_start_ex, false),
	HOOK(NVTX_CORE2_END, domain_end, false),
	HOOK(NVTX_CORE2_PUSH_EX, domain_push_ex, false),
	HOOK(NVTX_CORE2_POP, domain_pop, false),
	HOOK(NVTX_CORE2_RESOURCE_CREATE, resource_create, true),
	HOOK(NVTX_CORE2_RESOURCE_DESTROY, resource_destroy, true),
	HOOK(NVTX_CORE2_CATEGORY_A, domain_category_a, true),
	HOOK(NVTX_CORE2_CATEGORY_W, domain_category_w, true),
	HOOK(NVTX_CORE2_STRING_A, string_a, true),
	HOOK(NVTX_CORE2_STRING_W, string_w, true),
	HOOK(NVTX_CORE2_DOMAIN_A, domain_a, true),
	HOOK(NVTX_CORE2_DOMAIN_W, domain_w, true),
	HOOK(NVTX_CORE2_DOMAIN_DESTROY, domain_destroy, true),
};

static const struct nvtx_hook cuda[] = {
	HOOK(NVTX_CUDA_DEVICE_A, device_a, true),
	HOOK(NVTX_CUDA_DEVICE_W, device_w, true),
	HOOK(NVTX_CUDA_STREAM_A, stream_a, true),
	HOOK(NVTX_CUDA_STREAM_W, stream_w, true),
};

static const struct nvtx_hook cudart[] = {
	HOOK(NVTX_CUDART_DEVICE_A, device_a, true),
	HOOK(NVTX_CUDART_DEVICE_W, device_w, true),
	HOOK(NVTX_CUDART_STREAM_A, stream_a, true),
	HOOK(NVTX_CUDART_STREAM_W, stream_w, true),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static enum nvtx_took nvtx_hook_module(const struct nvtx_callbacks *callbacks, int module,
				       const struct nvtx_hook *hooks, size_t n, bool late)
{
	struct rt_slot slots[COUNT(core) + COUNT(core2)];
	nvtx_function **table = NULL;
	unsigned int size = 0;
	bool others = false;
	int count = 0;

	if (!callbacks->table(module, &table, &size) || !table)
		return NVTX_TOOK_NOTHING;
	for (size_t i = 0; i < n; i++) {
		void *ours = (void *)hooks[i].ours, *now;

		if (hooks[i].index >= size || !table[hooks[i].index])
			continue;
		now = (void *)__atomic_load_n(table[hooks[i].index], __ATOMIC_ACQUIRE);
		if (late && now && now != ours) {
			others = true;
			continue;
		}
		slots[count++] = (struct rt_slot){
			.at = (void **)table[hooks[i].index],
			.ours = ours,
			.off = hooks[i].keep ? ours : NULL,
		};
	}
	if (others)
		/* handles belong to one tool, so either all functions are replaced or none */
		return NVTX_TAKEN;
	rt_slots_add(slots, count);
	return count > 0 ? NVTX_TOOK : NVTX_TOOK_NOTHING;
}

enum nvtx_took nvtx_take(const struct nvtx_callbacks *callbacks, bool late)
{
	enum nvtx_took first = nvtx_hook_module(callbacks, NVTX_MODULE_CORE, core, COUNT(core),
						late), second;

	if (first == NVTX_TAKEN)
		return first;
	second = nvtx_hook_module(callbacks, NVTX_MODULE_CORE2, core2, COUNT(core2), late);
	/* not all modules of a program have these */
	nvtx_hook_module(callbacks, NVTX_MODULE_CUDA, cuda, COUNT(cuda), late);
	nvtx_hook_module(callbacks, NVTX_MODULE_CUDART, cudart, COUNT(cudart), late);
	return first == NVTX_TOOK_NOTHING ? second : first;
}

void nvtx_begin(const struct nvtx_callbacks *callbacks)
{
	nvtx_function **table = NULL, begin;
	unsigned int size = 0;

	if (!callbacks->table(NVTX_MODULE_CORE2, &table, &size) || !table ||
	    size <= NVTX_CORE2_INITIALIZE || !table[NVTX_CORE2_INITIALIZE])
		return;
	begin = __atomic_load_n(table[NVTX_CORE2_INITIALIZE], __ATOMIC_ACQUIRE);
	if (begin)
		((void (*)(const void *))begin)(NULL);
}
