/* SPDX-License-Identifier: MIT */
/*
 * The functions that are called instead of BLAS's. They differ only in a number; the row with that
 * number says which function of BLAS each one replaces.
 *
 * All arguments of BLAS are integers or addresses. Only alpha and beta may be floating-point
 * numbers, in C's convention. So every replacement passes on the same words and registers,
 * whichever function it replaces, including words that the caller did not set.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "probes/blas/probe.h"
#include "probes/imports/alike.h"
#include "probes/runtime/cpu.h"

#define CALLS 256
#define CACHE 1024u		/* a power of two */
#define TEXT_BYTES 128
#define STACK_BYTES (1 << 20)	/* a call within a call is within this distance on the stack */

#define PARAMETERS \
	uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, \
	uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j, uintptr_t k, uintptr_t l, \
	uintptr_t m, uintptr_t n, uintptr_t o, uintptr_t p, uintptr_t q, uintptr_t r, \
	uintptr_t s, uintptr_t t, double x, double y
#define WORDS a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t

typedef uintptr_t blas_function(PARAMETERS);

/* Which function of BLAS a replacement stands for; written once, before a place leads to the
 * replacement. */
static struct blas_row {
	struct blas_name name;
	_Atomic(void *) original;
	void **at;		/* the only place, while the dynamic linker has not filled it in */
	uint32_t kernel;	/* a name id */
} rows[CALLS];
static _Atomic unsigned int row_count;
static atomic_bool full;

/* A call of the program, stored on its stack. */
struct blas_running {
	struct blas_running *self;	/* set while it runs */
	struct blas_row *row;
	int64_t start_ns;
	struct blas_work work;
	bool known;
};

static _Thread_local struct blas_running *outer __attribute__((tls_model("initial-exec")));

/* ---- sizes ---- */

/* The same few calls occur again and again: their shapes are cached by a hash. */
static struct {
	_Atomic uint64_t hash, shape;
} cache[CACHE];

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0xff51afd7ed558ccdu;
	return hash ^ hash >> 32;
}

static uint32_t blas_shape_of(const struct blas_work *w)
{
	uint64_t key, shape;
	struct tft_shape s = { .flop = w->flop };
	char text[TEXT_BYTES];
	uint32_t letters, at;

	memcpy(&letters, w->flags, sizeof(letters));
	key = mix(mix(mix(mix(mix(letters, w->m), w->n), w->k), w->batch), w->flop) | 1;
	at = (uint32_t)(key >> 20) & (CACHE - 1);
	if (atomic_load_explicit(&cache[at].hash, memory_order_acquire) == key) {
		shape = atomic_load_explicit(&cache[at].shape, memory_order_relaxed);
		rt_fence(memory_order_acquire);
		if (atomic_load_explicit(&cache[at].hash, memory_order_relaxed) == key)
			return (uint32_t)shape;
	}
	blas_text(w, text, sizeof(text));
	s.text = rt_name(TFT_NAME_OTHER, text);
	shape = rt_shape(&s);
	atomic_store_explicit(&cache[at].hash, 0, memory_order_relaxed);
	rt_fence(memory_order_release);
	atomic_store_explicit(&cache[at].shape, shape, memory_order_relaxed);
	atomic_store_explicit(&cache[at].hash, key, memory_order_release);
	return (uint32_t)shape;
}

/* ---- a call ---- */

/* A call that was left by longjmp() hides calls that are made deeper in the stack, until its place
 * on the stack is used for something else. */
static bool within_another(const struct blas_running *now)
{
	return outer && (uintptr_t)outer - (uintptr_t)now < STACK_BYTES && outer->self == outer;
}

static void set_within(bool within)
{
	struct rt_cpu_thread *thread = rt_cpu_thread();

	if (thread)
		thread->within = within;
}

__attribute__((noinline))
static void *begin(struct blas_row *row, const uintptr_t *words,
					     struct blas_running *call)
{
	call->self = NULL;
	if (rt_level() != TFT_LEVEL_OFF && !within_another(call)) {
		set_within(true);
		call->row = row;
		call->known = blas_read(&row->name, words, &call->work);
		outer = call->self = call;
		call->start_ns = rt_now_ns();
	}
	return atomic_load_explicit(&row->original, memory_order_acquire);
}

static void blas_tell_kernel(const struct blas_running *call, int64_t end_ns)
{
	struct rt_cpu_kernel kernel = {
		.name = call->row->kernel, .start_ns = call->start_ns,
		.dur_ns = end_ns - call->start_ns,
	};

	/* the value is the same, whichever thread is first */
	if (!kernel.name)
		kernel.name = call->row->kernel = rt_name(TFT_NAME_KERNEL, call->row->name.text);
	if (call->known)
		kernel.shape = blas_shape_of(&call->work);
	rt_cpu_ran(RT_LIBRARY_BLAS, &kernel);
}

static void bound(struct blas_row *row);

__attribute__((noinline))
static void blas_call_end(struct blas_row *row, struct blas_running *call)
{
	int saved = errno;
	int64_t now;

	if (row->at)
		bound(row);
	if (!call->self)
		return;
	now = rt_now_ns();
	set_within(false);
	call->self = NULL;
	outer = NULL;
	blas_tell_kernel(call, now);
	errno = saved;
}

#define CALL(number) \
static uintptr_t call_##number(PARAMETERS) \
{ \
	const uintptr_t words[BLAS_WORDS] = { WORDS }; \
	struct blas_row *row = &rows[0x##number]; \
	struct blas_running call; \
	blas_function *original = (blas_function *)begin(row, words, &call); \
	uintptr_t result = original(WORDS, x, y); \
\
	blas_call_end(row, &call); \
	return result; \
}
#define NAME(number) call_##number,

ALIKE_256(CALL)

static blas_function *const functions[CALLS] = { ALIKE_256(NAME) };

/* ---- replacements and originals ---- */

/* The first call has put BLAS's function into the place. Calls that other threads make through it
 * until that call has ended are not seen, and none is seen if that call was left by longjmp(). */
static void bound(struct blas_row *row)
{
	void *now = __atomic_load_n(row->at, __ATOMIC_ACQUIRE);
	void *ours = (void *)functions[row - rows];

	if (now == ours)
		return;
	atomic_store_explicit(&row->original, now, memory_order_release);
	__atomic_store_n(row->at, ours, __ATOMIC_RELEASE);
}

static bool is_ours(const void *function)
{
	for (unsigned int i = 0; i < row_count; i++)
		if ((const void *)functions[i] == function)
			return true;
	return false;
}

void *blas_call(const struct blas_name *name, const struct tft_import *import)
{
	unsigned int n = row_count;

	if (is_ours(import->now))
		return NULL;
	for (unsigned int i = 0; i < n && !import->unbound; i++)
		if (rows[i].original == import->now && !rows[i].at &&
		    !memcmp(&rows[i].name, name, sizeof(*name)))
			return (void *)functions[i];
	if (n == CALLS) {
		full = true;
		return NULL;
	}
	rows[n].name = *name;
	rows[n].original = import->now;
	rows[n].at = import->unbound ? import->at : NULL;
	row_count = n + 1;
	return (void *)functions[n];
}

bool blas_full(void)
{
	return full;
}
