/* SPDX-License-Identifier: MIT */
/*
 * Runs of compiled programs. Each is an op from its first kernel to its end, on the thread that
 * waited for the end, inside of the call that requested the run. Its kernels may run on several
 * threads.
 *
 * A run gets its number during the call, so its caller is known (runs[]). Kernels are reported
 * when they have returned. A kernel that continues on other threads ends later, with an event
 * "end: " of the same number (halves[]).
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "probes/jax/probe.h"
#include "probes/runtime/cpu.h"

#define RUNS 1024u	/* how many at once; a power of two */
#define HALVES 256u
#define TRIES 4u
#define PENDING_NS 2000000000	/* after this long, the others do not wait for it any more */

static struct jax_run {
	_Atomic uint64_t key;		/* number | USED; 0: unused, or being written */
	_Atomic uint64_t instance, parent;
	_Atomic int64_t start_ns;	/* when it was requested */
	_Atomic int64_t first_ns;	/* when its first kernel started */
	_Atomic uint32_t module, tid, parent_name;
} runs[RUNS];
#define USED (UINT64_C(1) << 32)

static struct half {
	_Atomic uint32_t busy;
	_Atomic uint64_t id;		/* 0: unused */
	bool started;			/* it started; false: it ended */
	int64_t at_ns;
	struct rt_cpu_kernel kernel;
} halves[HALVES];

static uint32_t run_type, control_type;
static uint64_t (*original)(void *executable);	/* returns the number of its next run */

/* ---- runs ---- */

static struct jax_run *run_of(uint64_t number)
{
	return &runs[number & (RUNS - 1)];
}

static void jax_run_begun(uint32_t number)
{
	struct jax_run *r = run_of(number);
	struct rt_top top = rt_op_launch();

	atomic_store_explicit(&r->key, 0, memory_order_relaxed);
	rt_fence(memory_order_release);
	atomic_store_explicit(&r->instance, rt_op_instance(), memory_order_relaxed);
	atomic_store_explicit(&r->parent, top.instance, memory_order_relaxed);
	atomic_store_explicit(&r->parent_name, top.name, memory_order_relaxed);
	atomic_store_explicit(&r->start_ns, rt_now_ns(), memory_order_relaxed);
	atomic_store_explicit(&r->first_ns, INT64_MAX, memory_order_relaxed);
	atomic_store_explicit(&r->tid, rt_tid(), memory_order_relaxed);
	atomic_store_explicit(&r->module, 0, memory_order_relaxed);
	atomic_store_explicit(&r->key, number | USED, memory_order_release);
}

/* int32_t jax::PyLoadedExecutable::GetNextLaunchId(): the number that a program's next run has,
 * called when that run is requested. */
static uint64_t next_id(void *executable)
{
	uint64_t number = original(executable);
	int saved = errno;

	if (rt_level() >= TFT_LEVEL_DEFAULT)
		jax_run_begun((uint32_t)number);
	errno = saved;
	return number;
}

int64_t jax_runs_pending_ns(void)
{
	int64_t oldest = INT64_MAX, now = rt_now_ns();

	for (uint32_t i = 0; i < RUNS; i++) {
		int64_t start_ns = atomic_load_explicit(&runs[i].start_ns, memory_order_relaxed);

		if (atomic_load_explicit(&runs[i].key, memory_order_acquire) &&
		    start_ns < oldest && now - start_ns < PENDING_NS)
			oldest = start_ns;
	}
	return oldest;
}

void jax_runs_fork_child(void)
{
	struct jax_thread *own = jax_thread_own;

	memset(runs, 0, sizeof(runs));
	memset(halves, 0, sizeof(halves));
	if (own)
		own->in_op = 0;
}

/* ---- kernels ---- */

/* FNV-1a over words: for texts of a few hundred bytes, one for each kernel of a program. */
static uint64_t hash_of(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u ^ length, word;

	for (; length >= 8; text += 8, length -= 8) {
		memcpy(&word, text, 8);
		hash = (hash ^ word) * 0x100000001b3u;
		hash ^= hash >> 29;
	}
	word = 0;
	memcpy(&word, text, length);
	return (hash ^ word) * 0x9e3779b97f4a7c15u;
}

static void jax_learn_kernel(struct jax_kernel *k, const struct traceme *t)
{
	struct tft_shape shape = { .dims = 0 };
	const char *text;
	size_t length;

	k->name = k->module = 0;
	if (traceme_value(t, "hlo_op", &text, &length))
		k->name = jax_name(TFT_NAME_KERNEL, text, length);
	if (traceme_value(t, "hlo_module", &text, &length)) {
		k->module = jax_name(TFT_NAME_OP, text, length);
		shape.text = jax_name(TFT_NAME_OTHER, text, length);
	}
	k->shape = rt_shape(&shape);
}

static const struct jax_kernel *known_of(struct jax_thread *own, const struct traceme *t,
					 uint64_t hash)
{
	struct jax_known *k;

	for (uint32_t i = 0; i < TRIES; i++) {
		k = &own->known[((hash >> 48) + i) & (JAX_KNOWN - 1)];
		if (k->hash == hash)
			return &k->kernel;
		if (!k->hash)
			break;
	}
	jax_learn_kernel(&k->kernel, t);
	k->hash = hash;
	return &k->kernel;
}

/* Finds where "key=" starts; there are few commas, and values are long. */
static const char *key_at(const char *at, const char *end, const char *key, size_t length)
{
	for (; at; at = memchr(at, ',', (size_t)(end - at))) {
		at += *at == ',';
		if ((size_t)(end - at) > length && !memcmp(at, key, length))
			return at;
	}
	return NULL;
}

/* Reads the number after such a key; *at advances behind it. */
static bool number_after(const char **at, const char *end, const char *key, size_t length,
			 uint64_t *number)
{
	const char *p = key_at(*at, end, key, length);
	bool minus;

	if (!p)
		return false;
	p += length;
	minus = *p == '-';
	p += minus;
	for (*number = 0; p < end && *p >= '0' && *p <= '9'; p++)
		*number = *number * 10 + (uint64_t)(*p - '0');
	if (minus)
		*number = 0 - *number;
	*at = p;
	return true;
}
#define NUMBER_AFTER(at, end, key, number) number_after(at, end, key, sizeof(key) - 1, number)

static void find_run(struct jax_thread *t, const struct rt_cpu_kernel *kernel, uint64_t number,
		     uint32_t module)
{
	struct jax_run *r = run_of(number);
	int64_t first = atomic_load_explicit(&r->first_ns, memory_order_relaxed);
	uint64_t instance, call;
	uint32_t call_name;

	t->in_op = t->in_call = 0;

	if (atomic_load_explicit(&r->key, memory_order_acquire) != ((uint32_t)number | USED))
		return;
	instance = atomic_load_explicit(&r->instance, memory_order_relaxed);
	call = atomic_load_explicit(&r->parent, memory_order_relaxed);
	call_name = atomic_load_explicit(&r->parent_name, memory_order_relaxed);
	if (!atomic_load_explicit(&r->module, memory_order_relaxed))
		atomic_store_explicit(&r->module, module, memory_order_relaxed);
	rt_fence(memory_order_acquire);
	if (atomic_load_explicit(&r->key, memory_order_relaxed) != ((uint32_t)number | USED))
		return;
	while (kernel->start_ns < first &&
	       !atomic_compare_exchange_weak(&r->first_ns, &first, kernel->start_ns))
		;
	t->in_run = number;
	t->in_op = instance;
	t->in_call = call ? call : instance;
	t->in_call_name = call ? call_name : module;
}

/* The op of the kernel's run, and its name in the module. Later kernels on a thread did not start
 * before the first one, except for kernels that contain others. */
static inline void in_run(struct jax_thread *t, struct rt_cpu_kernel *kernel, uint64_t number,
			  uint32_t module, bool outer)
{
	if (t->in_run != number || !t->in_op || outer)
		find_run(t, kernel, number, module);
	if (t->blocks)
		jax_memory_for(t, t->in_call, t->in_call_name);
	kernel->op = t->in_op;
	kernel->op_name = t->in_op ? module : 0;
}

static struct half *half_of(uint64_t id)
{
	return &halves[(id ^ id >> 32) & (HALVES - 1)];
}

static struct half *half_lock(uint64_t id)
{
	struct half *h = half_of(id);
	uint32_t free = 0;

	return atomic_compare_exchange_strong(&h->busy, &free, 1) ? h : NULL;
}

static void half_unlock(struct half *h)
{
	atomic_store_explicit(&h->busy, 0, memory_order_release);
}

static void emit(struct rt_cpu_kernel *k, int64_t end_ns)
{
	bool later = end_ns > k->start_ns + k->dur_ns;

	if (later)
		k->dur_ns = end_ns - k->start_ns;
	rt_cpu_ran(later ? RT_LIBRARY_XLA_ASYNC : RT_LIBRARY_XLA, k);
}

/* The kernel has returned, and may continue on other threads. */
static void jax_half_started(const struct rt_cpu_kernel *kernel, uint64_t id)
{
	struct half *h = half_lock(id);
	struct rt_cpu_kernel k = *kernel;
	int64_t end_ns = 0;

	if (h && h->id == id && !h->started) {
		end_ns = h->at_ns;
		h->id = 0;
	} else if (h && (!h->id || !h->started)) {
		h->id = id;
		h->started = true;
		h->kernel = k;
		k.dur_ns = -1;
	}
	if (h)
		half_unlock(h);
	if (k.dur_ns >= 0)
		emit(&k, end_ns);
}

void jax_thunk_done(const struct traceme *t)
{
	const char *at = t->values, *end = at + t->values_length;
	struct rt_cpu_kernel k = { .dur_ns = -1 };
	struct jax_thread *own = jax_self();
	struct half *h;
	uint64_t id;

	if (!own || !at || !NUMBER_AFTER(&at, end, "_c=", &id) || !id)
		return;
	/* it belongs to a kernel of this thread that has not returned */
	if (id >> 32 == own->number &&
	    atomic_load_explicit(&half_of(id)->id, memory_order_relaxed) != id) {
		own->ended = id;
		return;
	}
	h = half_lock(id);
	if (!h)
		return;
	if (h->id == id && h->started) {
		k = h->kernel;
		h->id = 0;
	} else if (!h->id || !h->started) {
		h->id = id;
		h->started = false;
		h->at_ns = t->end_ns;
	}
	half_unlock(h);
	if (k.dur_ns >= 0)
		emit(&k, t->end_ns);
}

/* A loop or a call: its kernels were sent before it, so its time is not sent again. */
static void control(const struct rt_cpu_kernel *kernel)
{
	struct rt_op_args args = {
		.name = kernel->name, .type = control_type, .step = -1, .framework = TFT_FW_JAX,
	};
	struct rt_ran ran = {
		.parent = kernel->op, .start_ns = kernel->start_ns, .dur_ns = kernel->dur_ns,
	};

	rt_op_ran(&args, &ran);
}

void jax_thunk_ran(struct jax_thread *t, const struct jax_kernel *k, uint64_t run,
		   int64_t start_ns, int64_t end_ns, bool outer)
{
	struct rt_cpu_kernel kernel = {
		.name = k->name, .shape = k->shape, .start_ns = start_ns,
		.dur_ns = end_ns - start_ns,
	};

	in_run(t, &kernel, run, k->module, outer);
	t->kernels++;
	if (outer) {
		control(&kernel);
		return;
	}
	t->kernel_ns = start_ns;
	rt_cpu_ran(RT_LIBRARY_XLA, &kernel);
}

/* From now on the kernel may be timed without an event. */
static void tell_thunk(const struct traceme *t, const struct jax_kernel *k, uint64_t run,
		       bool later)
{
	struct jax_told told = { .kernel = *k, .run = run, .later = later };
	int64_t program;

	if (traceme_value(t, "hlo_op", &told.name, &told.name_length) &&
	    traceme_value(t, "hlo_module", &told.module, &told.module_length) &&
	    traceme_number(t, "program_id", &program)) {
		told.program = (uint64_t)program;
		jax_thunk_told(&told);
	}
}

void jax_thunk(const struct traceme *t)
{
	const char *at = t->values, *end = at + t->values_length, *run;
	struct rt_cpu_kernel kernel = {
		.start_ns = t->start_ns, .dur_ns = t->end_ns - t->start_ns,
	};
	struct jax_thread *own = jax_self();
	const struct jax_kernel *k;
	uint64_t number = 0, id = 0;
	bool later, outer;

	if (!own)
		return;
	outer = jax_thunk_outer(own, t->start_ns);
	run = key_at(at, end, "run_id=", 7);
	at = run ? run - 1 : end;
	k = known_of(own, t, hash_of(t->name, (size_t)(at - t->name)));
	if (!run || !NUMBER_AFTER(&at, end, "run_id=", &number)) {
		jax_thunk_ran(own, k, 0, t->start_ns, t->end_ns, outer);
		return;
	}
	later = NUMBER_AFTER(&at, end, "_p=", &id) && id && own->ended != id;
	if (jax_thunk_running(own))
		tell_thunk(t, k, number, later);
	if (id)
		own->number = (uint32_t)(id >> 32);
	if (!later || outer) {
		jax_thunk_ran(own, k, number, t->start_ns, t->end_ns, outer);
		return;
	}
	kernel.name = k->name;
	kernel.shape = k->shape;
	in_run(own, &kernel, number, k->module, false);
	own->kernel_ns = kernel.start_ns;
	own->kernels++;
	jax_half_started(&kernel, id);
}

/* ---- the end of a run ---- */

void jax_executed(const struct traceme *t)
{
	struct jax_thread *own = jax_self();

	if (!own)
		return;
	own->executed_ns = t->start_ns;
	if (own->blocks)
		jax_memory_for(own, 0, 0);
}

static void jax_run_tell(struct jax_run *r, int64_t start_ns, int64_t end_ns)
{
	struct rt_op_args args = { .step = -1, .framework = TFT_FW_JAX };
	struct rt_ran ran = { .start_ns = start_ns, .dur_ns = end_ns - start_ns };
	int64_t first_ns = atomic_load_explicit(&r->first_ns, memory_order_relaxed);

	if (first_ns < start_ns) {
		start_ns = ran.start_ns = first_ns;
		ran.dur_ns = end_ns - first_ns;
	}
	ran.instance = atomic_load_explicit(&r->instance, memory_order_relaxed);
	if (atomic_load_explicit(&r->tid, memory_order_relaxed) != rt_tid())
		ran.parent = atomic_load_explicit(&r->parent, memory_order_relaxed);
	args.name = atomic_load_explicit(&r->module, memory_order_relaxed);
	if (!args.name)
		args.name = rt_name(TFT_NAME_OP, "XLA program");
	args.type = run_type;
	rt_op_ran(&args, &ran);
}

/* If there are several devices, each ends the run: the first end counts. */
void jax_run_done(const struct traceme *t)
{
	const char *at = t->values, *end = at + t->values_length;
	struct jax_thread *own = jax_self();
	int64_t start_ns = t->start_ns;
	uint64_t number, key;
	struct jax_run *r;

	if (own && own->executed_ns)
		start_ns = own->executed_ns;
	if (own)
		own->executed_ns = 0;
	if (!at || !NUMBER_AFTER(&at, end, "run_id=", &number))
		return;
	r = run_of(number);
	key = (uint32_t)number | USED;
	if (atomic_load_explicit(&r->key, memory_order_acquire) != key)
		return;
	jax_run_tell(r, start_ns, t->end_ns);
	atomic_compare_exchange_strong(&r->key, &key, 0);
}

/* ---- hooks ---- */

void jax_runs_start(const struct patch_symbol *next)
{
	run_type = rt_name(TFT_NAME_OP_TYPE, "XLA run");
	control_type = rt_name(TFT_NAME_OP_TYPE, "XLA control flow");
	if (next->at)
		*(void **)&original = patch_original(next);
	if (!original || !patch_replace(next, (void *)next_id))
		jax_blind("how this jaxlib numbers the runs of programs is unknown: kernels have "
			  "no run");
}
