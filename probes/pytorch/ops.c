/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's ops as ops of ours: one callback at the begin of each, one at its end.
 *
 * An end is matched to its begin by the op's own number, as TorchScript's fork and
 * wait end some on another thread: such a one is closed here when its thread comes
 * by again.
 *
 * A node of the backward pass names the sequence number and the thread of the
 * forward op that made it. Each thread's last ops are kept by their sequence numbers;
 * of several with one number it is the last that began, the innermost, that asked
 * autograd for it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/python/python.h"
#include "probes/pytorch/probe.h"

#define DEPTH_MAX 128
#define THREADS_MAX 256		/* of PyTorch's numbers */
#define RING (1u << 16)		/* forward ops of a thread that backward may ask for */
#define NAMES 8192u		/* a power of two */
#define STRAYS 64

enum kind { KIND_OP, KIND_RANGE, KIND_STEP, KIND_INPUT };

struct open {
	uint64_t number;	/* the op's own */
	int64_t start_ns;	/* of KIND_STEP, KIND_INPUT */
	uint32_t name;
	uint8_t kind;
	struct py_where where;
};

static _Thread_local struct {
	struct open open[DEPTH_MAX];
	int depth;		/* may be more than there is room for */
	int64_t step_ns;	/* when the step began; 0: none did */
} own;

static _Atomic uint64_t callback;	/* 0: none registered */
static bool with_inputs;

/* ---- names ---- */

/* Of operators, whose schemas stay: by address. */
static struct {
	_Atomic(const void *) schema;
	_Atomic uint32_t name;
} names[NAMES];

static uint32_t schema_name(const void *rf, const void *schema)
{
	uint32_t at = (uint32_t)(((uintptr_t)schema >> 4) * 0x9e3779b97f4a7c15u >> 51), name;
	const void *none = NULL;

	for (uint32_t i = 0; i < 16; i++) {
		uint32_t k = (at + i) & (NAMES - 1);
		const void *have = atomic_load_explicit(&names[k].schema, memory_order_acquire);

		if (!have && atomic_compare_exchange_strong(&names[k].schema, &none, schema))
			have = schema;
		none = NULL;
		if (have != schema)
			continue;
		name = atomic_load_explicit(&names[k].name, memory_order_relaxed);
		if (!name) {
			name = rt_name(TFT_NAME_OP, torch_api.name(rf));
			atomic_store_explicit(&names[k].name, name, memory_order_relaxed);
		}
		return name;
	}
	return rt_name(TFT_NAME_OP, torch_api.name(rf));
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static uint32_t name_of(const void *rf, uint8_t scope, enum kind *kind)
{
	const char *text;

	*kind = scope == TORCH_USER ? KIND_RANGE : KIND_OP;
	if (torch_layout.is_schema >= 0 && torch_u8(rf, torch_layout.is_schema) == 1)
		return schema_name(rf, (const void *)(uintptr_t)torch_u64(rf, torch_layout.schema));
	text = torch_api.name(rf);
	if (starts(text, "Optimizer.step#"))
		*kind = KIND_STEP;
	else if (starts(text, "enumerate(DataLoader)#"))
		*kind = KIND_INPUT;
	else if (starts(text, "Optimizer.zero_grad#"))
		*kind = KIND_OP;
	return rt_name(*kind == KIND_RANGE ? TFT_NAME_RANGE : TFT_NAME_OP, text);
}

/* ---- forward and backward ---- */

struct ring {
	struct {
		_Atomic uint64_t sequence;	/* and one; 0: free, or being written */
		_Atomic uint64_t instance;
	} at[RING];
};

static _Atomic(struct ring *) rings[THREADS_MAX];

static struct ring *ring_of(uint64_t thread, bool make)
{
	struct ring *ring, *none = NULL;

	if (!thread || thread >= THREADS_MAX)
		return NULL;
	ring = atomic_load_explicit(&rings[thread], memory_order_acquire);
	if (ring || !make)
		return ring;
	ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ring == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong(&rings[thread], &none, ring))
		return ring;
	munmap(ring, sizeof(*ring));
	return none;
}

static void remember(uint64_t sequence, uint64_t instance)
{
	static _Thread_local struct ring *mine;
	uint64_t i = sequence & (RING - 1);

	if (!mine && !(mine = ring_of(torch_api.thread(), true)))
		return;
	atomic_store_explicit(&mine->at[i].sequence, 0, memory_order_relaxed);
	rt_fence(memory_order_release);
	atomic_store_explicit(&mine->at[i].instance, instance, memory_order_relaxed);
	atomic_store_explicit(&mine->at[i].sequence, sequence + 1, memory_order_release);
}

static uint64_t forward_of(uint64_t thread, uint64_t sequence)
{
	struct ring *ring = ring_of(thread, false);
	uint64_t i = sequence & (RING - 1), instance;

	if (!ring ||
	    atomic_load_explicit(&ring->at[i].sequence, memory_order_acquire) != sequence + 1)
		return 0;
	instance = atomic_load_explicit(&ring->at[i].instance, memory_order_relaxed);
	rt_fence(memory_order_acquire);
	return atomic_load_explicit(&ring->at[i].sequence, memory_order_relaxed) == sequence + 1 ?
	       instance : 0;
}

/* ---- steps and input ---- */

/* The optimizer has stepped: from the end of the step before, or the first batch. */
static void step_done(const struct open *o, int64_t now_ns)
{
	struct tft_step step = { .name = o->name, .number = -1 };

	step.start_ns = own.step_ns ? own.step_ns : o->start_ns;
	step.dur_ns = now_ns - step.start_ns;
	own.step_ns = now_ns;
	rt_emit_step(&step);
}

/* ---- ops that end on another thread ---- */

static _Atomic uint64_t strays[STRAYS];
static _Atomic uint32_t stray_count;

static void stray_add(uint64_t number)
{
	uint64_t none = 0;

	for (int i = 0; i < STRAYS; i++, none = 0) {
		if (!atomic_compare_exchange_strong(&strays[i], &none, number))
			continue;
		atomic_fetch_add(&stray_count, 1);
		return;
	}
	rt_dropped(1);
}

static bool stray_take(uint64_t number)
{
	for (int i = 0; i < STRAYS; i++) {
		uint64_t have = number;

		if (atomic_compare_exchange_strong(&strays[i], &have, 0)) {
			atomic_fetch_sub(&stray_count, 1);
			return true;
		}
	}
	return false;
}

static void pop(void)
{
	rt_op_pop(0);
	own.depth--;
}

/* What this thread has open and another one has ended. */
static void close_strays(void)
{
	while (own.depth > 0 && own.depth <= DEPTH_MAX &&
	       stray_take(own.open[own.depth - 1].number))
		pop();
}

/* ---- the callbacks ---- */

static void begin(const void *rf)
{
	struct rt_op_args args = { .step = -1, .framework = TFT_FW_PYTORCH };
	uint8_t scope = torch_layout.scope < 0 ? TORCH_FUNCTION : torch_u8(rf, torch_layout.scope);
	int64_t sequence = torch_layout.sequence < 0 ? -1 :
			   (int64_t)torch_u64(rf, torch_layout.sequence);
	struct open *o = own.depth < DEPTH_MAX ? &own.open[own.depth] : NULL, none;
	uint64_t instance;
	enum kind kind;

	if (__builtin_expect(atomic_load_explicit(&stray_count, memory_order_relaxed) != 0, 0))
		close_strays();
	if (!o)
		o = &none;
	args.name = name_of(rf, scope, &kind);
	if (kind == KIND_RANGE)
		args.flags = TFT_OP_RANGE;
	py_where(&o->where, own.depth && own.depth <= DEPTH_MAX ?
		 &own.open[own.depth - 1].where : NULL);
	args.source = o->where.source;
	if (scope == TORCH_BACKWARD && sequence >= 0 && torch_layout.forward_thread >= 0)
		args.forward = forward_of(torch_u64(rf, torch_layout.forward_thread),
					  (uint64_t)sequence);
	instance = rt_op_push(&args);
	if (scope == TORCH_FUNCTION && sequence >= 0 && instance && torch_api.thread)
		remember((uint64_t)sequence, instance);
	o->number = torch_layout.handle < 0 ? 0 : torch_u64(rf, torch_layout.handle);
	o->name = args.name;
	o->kind = (uint8_t)kind;
	o->start_ns = kind == KIND_STEP || kind == KIND_INPUT ? rt_now_ns() : 0;
	if (kind == KIND_INPUT && !own.step_ns)
		own.step_ns = o->start_ns;
	own.depth++;
}

/* Down to the one that ends; it is the top but for what ended elsewhere. */
static void end(const void *rf)
{
	uint64_t number = torch_layout.handle < 0 ? 0 : torch_u64(rf, torch_layout.handle);
	int at = own.depth - 1;
	struct open *o;

	if (at >= DEPTH_MAX) {
		pop();
		return;
	}
	while (at >= 0 && own.open[at].number != number)
		at--;
	if (at < 0) {
		stray_add(number);
		return;
	}
	while (own.depth - 1 > at)
		pop();
	o = &own.open[at];
	pop();
	if (o->kind == KIND_STEP)
		step_done(o, rt_now_ns());
}

static void *on_start(void **context, const void *rf)
{
	int saved = errno;

	*context = NULL;
	if (rt_level() != TFT_LEVEL_OFF)
		begin(rf);
	errno = saved;
	return context;
}

static void on_end(const void *rf, void *context)
{
	int saved = errno;

	(void)context;
	if (rt_level() != TFT_LEVEL_OFF)
		end(rf);
	errno = saved;
}

/* ---- levels ---- */

void torch_ops_level(enum tft_level level)
{
	uint64_t id = atomic_exchange(&callback, 0);
	struct torch_callback c = {
		.start = on_start, .end = on_end, .probability = 1,
		.scopes = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 }, .needs_inputs = with_inputs,
		.needs_ids = 1,
	};

	if (id)
		torch_api.remove(id);
	if (level != TFT_LEVEL_OFF)
		atomic_store(&callback, torch_api.add(c));
}

void torch_ops_tick(int64_t now_ns)
{
	(void)now_ns;
}

/* What was open is the parent's. */
void torch_ops_fork_child(void)
{
	own.step_ns = 0;
}
