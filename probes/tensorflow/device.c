/* SPDX-License-Identifier: MIT */
/*
 * Ops, from the function by which every device runs a kernel.
 *
 * Name, type and step id lie in C++ objects whose layout differs between versions, so it is
 * determined at run time. OpKernel::TraceString returns "name:type" of a kernel. The two adjacent
 * string_views with these texts are looked for in the kernel's memory. In the context's memory, a
 * pointer is looked for that leads to its parameters, which begin with the step id and contain the
 * kernel soon after. Other pointers there may lead to the kernel by chance, so what was found is
 * tested with the next few kernels, and what does not hold for all of them is dropped. If nothing
 * holds, ops are not recorded, and a message says so; nothing is ever read on a guess.
 *
 * An asynchronous kernel ends when it calls the callback that it was given. That is replaced by a
 * function object of ours, which ends the op and then calls the callback.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probes/tensorflow/probe.h"

#define OPERATOR_DELETE "_ZdlPv"
#define KERNEL_BYTES 512
#define CONTEXT_BYTES 256
#define PARAMS_WORDS 8
#define NAME_MAX_BYTES 4096
#define LEARN_WAIT_NS 500000000
#define TRIES 4		/* on how many kernels the layout must hold */

enum layout_state { UNKNOWN, BUSY, TRIED, KNOWN, FAILED };

/* Written while the state is BUSY, read from TRIED on. */
static struct {
	uint32_t name;		/* bytes into OpKernel, of the first string_view */
	uint32_t text, length;	/* of a string_view: words from its start */
	_Atomic uint32_t params;	/* bytes into OpKernelContext */
} layout;
/* Bit i of element k: if the kernel is k words into the parameters, these may be at word i of the
 * context. */
static uint32_t params_may[PARAMS_WORDS];
static _Atomic int state;
static _Atomic int tries;

struct tf_view {
	const char *text;
	size_t length;
};

static inline struct tf_view view_at(const void *kernel, uint32_t at)
{
	const uint64_t *w = (const uint64_t *)(const void *)((const char *)kernel + at);

	return (struct tf_view){ (const char *)(uintptr_t)w[layout.text], w[layout.length] };
}

/* ---- finding the layout ---- */

/* Reads "name:type" of a kernel, split in two; false: TensorFlow does not return it. */
static bool kernel_ask_names(const void *kernel, const void *context, struct tf_string *s,
			     struct tf_view *name, struct tf_view *type)
{
	void *trace_string = tf_lib->original(TFT_TF_TRACE_STRING);
	char *colon;

	if (!trace_string)
		return false;
#if defined(__x86_64__)
	((void (*)(struct tf_string *, const void *, const void *, bool))trace_string)(
		s, kernel, context, false);
#else
	/* the result is passed in a register of its own; a short text has moved with it */
	*s = ((struct tf_string (*)(const void *, const void *, bool))trace_string)(
		kernel, context, false);
	if (s->length < sizeof(s->inside))
		s->text = s->inside;
#endif
	colon = s->length < NAME_MAX_BYTES ? memrchr(s->text, ':', s->length) : NULL;
	if (!colon || colon == s->text || colon + 1 == s->text + s->length)
		return false;
	*name = (struct tf_view){ s->text, (size_t)(colon - s->text) };
	*type = (struct tf_view){ colon + 1, s->length - name->length - 1 };
	return true;
}

void tf_string_free(struct tf_string *s)
{
	static void (*delete)(void *);

	if (!s->text || s->text == s->inside)
		return;
	if (!delete)
		delete = (void (*)(void *))tf_lib->find(OPERATOR_DELETE);
	if (delete)
		delete(s->text);
}

/* Whether the two words at w are a string_view of this text, in either order. */
static bool is_view(const uint64_t *w, int text, const struct tf_view *want)
{
	char buf[NAME_MAX_BYTES];

	return w[!text] == want->length && want->length <= sizeof(buf) &&
	       rt_peek(buf, (const void *)(uintptr_t)w[text], want->length) == want->length &&
	       !memcmp(buf, want->text, want->length);
}

static bool kernel_find_names(const void *kernel, const struct tf_view *name,
			      const struct tf_view *type)
{
	uint64_t w[KERNEL_BYTES / 8];
	size_t words = rt_peek(w, kernel, sizeof(w)) / 8;

	for (size_t i = 1; i + 4 <= words; i++)
		for (int text = 0; text < 2; text++)
			if (is_view(w + i, text, name) && is_view(w + i + 2, text, type)) {
				layout.name = (uint32_t)(i * 8);
				layout.text = (uint32_t)text;
				layout.length = (uint32_t)!text;
				return true;
			}
	return false;
}

/* Narrows down where the parameters may be: only where they may be for this kernel, too. The kernel
 * is followed by its device; what lies in front of another kernel has that one's. */
static bool find_params(const void *device, const void *kernel, const void *context, bool first)
{
	uint64_t w[CONTEXT_BYTES / 8], p[PARAMS_WORDS];
	size_t words = rt_peek(w, context, sizeof(w)) / 8;
	uint32_t here[PARAMS_WORDS] = { 0 }, sure[PARAMS_WORDS] = { 0 };
	bool found = false, any_sure = false;

	for (size_t i = 0; i < words; i++) {
		if (rt_peek(p, (const void *)(uintptr_t)w[i], sizeof(p)) != sizeof(p))
			continue;
		for (size_t k = 1; k < PARAMS_WORDS; k++) {
			if (p[k] != (uintptr_t)kernel)
				continue;
			here[k] |= 1u << i;
			if (k + 1 < PARAMS_WORDS && p[k + 1] == (uintptr_t)device)
				sure[k] |= 1u << i;
			any_sure = any_sure || sure[k];
		}
	}
	/* the step id comes first, the kernel a few words later; a struct that contains the
	 * parameters is farther away */
	for (size_t k = PARAMS_WORDS; k-- > 1; ) {
		params_may[k] = !first ? params_may[k] & here[k] : any_sure ? sure[k] : here[k];
		if (!params_may[k])
			continue;
		layout.params = (uint32_t)__builtin_ctz(params_may[k]) * 8;
		found = true;
	}
	return found;
}

static bool equal(struct tf_view a, const struct tf_view *b)
{
	return a.length == b->length && !memcmp(a.text, b->text, b->length);
}

/* Whether the layout holds for this kernel, too. Its memory is read with care once more, because a
 * wrong layout may point anywhere. */
static bool holds(const void *device, const void *kernel, const void *context,
		  const struct tf_view *name, const struct tf_view *type)
{
	uint64_t w[4];

	return rt_peek(w, (const char *)kernel + layout.name, sizeof(w)) == sizeof(w) &&
	       is_view(w, (int)layout.text, name) && is_view(w + 2, (int)layout.text, type) &&
	       equal(view_at(kernel, layout.name), name) &&
	       find_params(device, kernel, context, false);
}

static int kernel_learn(const void *device, const void *kernel, const void *context, int was)
{
	struct tf_string s = { 0 };
	struct tf_view name, type;
	bool ok = kernel_ask_names(kernel, context, &s, &name, &type);

	if (ok && was == UNKNOWN)
		ok = kernel_find_names(kernel, &name, &type) &&
		     find_params(device, kernel, context, true);
	else if (ok)
		ok = holds(device, kernel, context, &name, &type);
	tf_string_free(&s);
	if (!ok)
		return FAILED;
	return atomic_fetch_add(&tries, 1) + 1 < TRIES ? TRIED : KNOWN;
}

/* Another thread is learning, which takes microseconds, or milliseconds if a symbol must be looked
 * up; that thread may also have lost its processor. */
static int wait_known(void)
{
	static atomic_bool in_vain;	/* learning hangs, so ops do not wait for it any more */
	int64_t until = rt_now_ns() + LEARN_WAIT_NS;
	struct timespec nap = { 0, 20000 };
	int now = BUSY;

	while (now == BUSY && rt_now_ns() < until && !atomic_load(&in_vain)) {
		/* not nanosleep(), in which a thread of the program could be cancelled */
		syscall(SYS_nanosleep, &nap, NULL);
		now = atomic_load_explicit(&state, memory_order_acquire);
	}
	if (now == BUSY)
		atomic_store(&in_vain, true);
	return now;
}

void tf_device_fork_child(void)
{
	int busy = BUSY;

	/* the thread that was learning belongs to the parent */
	if (atomic_compare_exchange_strong(&state, &busy, UNKNOWN))
		atomic_store(&tries, 0);
}

static bool known_slow(const void *device, const void *kernel, const void *context, int now)
{
	int saved = errno;

	while (now != KNOWN && now != FAILED) {
		int was = now;

		if (now == BUSY) {
			/* what was found on another kernel is tested on this one, too */
			now = wait_known();
			if (now != BUSY)
				continue;
			rt_dropped(1);
			break;
		}
		if (!atomic_compare_exchange_strong(&state, &now, BUSY))
			continue;
		now = kernel_learn(device, kernel, context, was);
		if (now == FAILED)
			tf_blind("ops are not seen: the layout of OpKernel in this build "
				 "is unknown");
		atomic_store_explicit(&state, now, memory_order_release);
		break;
	}
	errno = saved;
	return now == TRIED || now == KNOWN;
}

/* Whether names and step ids can be read. */
static inline bool known(const void *device, const void *kernel, const void *context)
{
	int now = atomic_load_explicit(&state, memory_order_acquire);

	return __builtin_expect(now == KNOWN, 1) || known_slow(device, kernel, context, now);
}

/* ---- names of kernels ---- */

/*
 * A kernel's name, type and views lie in four places of memory that its run does not touch
 * otherwise, and fetching them costs more than everything else. So the ids are cached by the
 * kernel's address until its destructor runs. An entry is added once and removed only by the
 * destructor: whoever finds a kernel that is running finds its ids, without a lock. One run in
 * CHECKED compares the names nevertheless: in a build whose destructors are not seen, nothing is
 * cached any more.
 */
#define KEPT_SETS 4096u
#define KEPT_WAYS 4u
#define KEPT_BUSY 1u		/* not the address of a kernel */
#define CHECKED 128u		/* a power of two */
#define FOLLOWED 13u		/* a prime number, so that each kernel of a step is met */

/* ids: those of the name and of the type, and the set of the kernel that last ran after this one on
 * its thread. Steps are alike, so while a kernel runs, that set is fetched from memory. */
#define ID_BITS 21		/* of rt_name() */
#define ID_MASK ((1u << ID_BITS) - 1)
#define NEXT (2 * ID_BITS)

static _Alignas(64) struct {
	_Atomic uint64_t kernel;	/* 0: unused */
	_Atomic uint64_t ids;
} kept[KEPT_SETS][KEPT_WAYS];
static _Atomic bool unkept;
static _Thread_local struct {
	/* ids of the kernel that ran before; may be any kernel's by now */
	_Atomic uint64_t *before;
	uint32_t runs;
} thread;

static inline uint32_t set_of(const void *kernel)
{
	return (uint32_t)(((uintptr_t)kernel >> 4) * 0x9e3779b97f4a7c15u >> 52);
}

static void kernel_keep_ids(const void *kernel, struct tf_ids ids)
{
	uint32_t set = set_of(kernel);

	if ((ids.name | ids.type) > ID_MASK)
		return;
	for (uint32_t i = 0; i < KEPT_WAYS; i++) {
		uint64_t none = 0;

		if (!atomic_compare_exchange_strong(&kept[set][i].kernel, &none, KEPT_BUSY))
			continue;
		atomic_store_explicit(&kept[set][i].ids, ids.name | (uint64_t)ids.type << ID_BITS,
				      memory_order_relaxed);
		atomic_store_explicit(&kept[set][i].kernel, (uintptr_t)kernel,
				      memory_order_release);
		return;
	}
}

/* Several threads may have cached it at once. */
static void forget(const void *kernel)
{
	uint32_t set = set_of(kernel);

	for (uint32_t i = 0; i < KEPT_WAYS; i++)
		if (atomic_load_explicit(&kept[set][i].kernel, memory_order_relaxed) ==
		    (uintptr_t)kernel)
			atomic_store_explicit(&kept[set][i].kernel, 0, memory_order_relaxed);
}

void tf_kernel_gone(void *kernel)
{
	forget(kernel);
	((void (*)(void *))tf_original(TFT_TF_KERNEL_GONE))(kernel);
}

static struct tf_ids read_ids(const void *kernel)
{
	struct tf_view name = view_at(kernel, layout.name), type = view_at(kernel,
									   layout.name + 16);

	return tf_ids(name.text, name.length, type.text, type.length);
}

static inline void follow(_Atomic uint64_t *ids, uint64_t have, uint32_t set)
{
	uint64_t before, now;

	__builtin_prefetch(&kept[have >> NEXT & (KEPT_SETS - 1)]);
	if (thread.before && thread.runs++ % FOLLOWED == 0) {
		before = atomic_load_explicit(thread.before, memory_order_relaxed);
		now = (before & (((uint64_t)1 << NEXT) - 1)) | (uint64_t)set << NEXT;
		if (now != before)
			atomic_compare_exchange_strong(thread.before, &before, now);
	}
	thread.before = ids;
}

static struct tf_ids kernel_ids_of(const void *kernel)
{
	uint32_t set = set_of(kernel);
	struct tf_ids ids;
	uint64_t have;

	if (__builtin_expect(atomic_load_explicit(&unkept, memory_order_relaxed), 0))
		return read_ids(kernel);
	for (uint32_t i = 0; i < KEPT_WAYS; i++) {
		if (atomic_load_explicit(&kept[set][i].kernel, memory_order_acquire) !=
		    (uintptr_t)kernel)
			continue;
		have = atomic_load_explicit(&kept[set][i].ids, memory_order_relaxed);
		follow(&kept[set][i].ids, have, set);
		return (struct tf_ids){ have & ID_MASK, have >> ID_BITS & ID_MASK };
	}
	ids = read_ids(kernel);
	if (ids.name && ids.type && tf_original(TFT_TF_KERNEL_GONE))
		kernel_keep_ids(kernel, ids);
	return ids;
}

/* Checks whether the cached ids are right. */
static void check(const void *kernel, const struct rt_op_args *args)
{
	struct tf_ids ids = read_ids(kernel);

	if ((ids.name != args->name || ids.type != args->type) && !atomic_exchange(&unkept, true))
		tf_blind("some ops may have the name of another op: this build destroys kernels "
			 "unseen");
}

/* ---- ops ---- */

static inline void describe(struct rt_op_args *args, const void *kernel, const void *context)
{
	uint32_t params = atomic_load_explicit(&layout.params, memory_order_relaxed);
	int64_t step = **(int64_t *const *)(const void *)((const char *)context + params);
	struct tf_ids ids = kernel_ids_of(kernel);

	*args = (struct rt_op_args){
		.name = ids.name, .type = ids.type, .domain = tf_run_graph(step), .step = step,
		.framework = TFT_FW_TENSORFLOW,
	};
}

static inline void device_compute(void *device, void *kernel, void *context,
				  enum tft_tf_function function)
{
	void (*original)(void *, void *, void *) =
		(void (*)(void *, void *, void *))tf_original(function);
	struct rt_op_args args;

	if (rt_level() == TFT_LEVEL_OFF || !known(device, kernel, context)) {
		original(device, kernel, context);
		return;
	}
	describe(&args, kernel, context);
	if (__builtin_expect(rt_op_push(&args) % CHECKED == 0, 0))
		check(kernel, &args);
	original(device, kernel, context);
	rt_op_pop(args.domain);
}

void tf_cpu_compute(void *device, void *kernel, void *context)
{
	device_compute(device, kernel, context, TFT_TF_CPU_COMPUTE);
}

void tf_gpu_compute(void *device, void *kernel, void *context)
{
	device_compute(device, kernel, context, TFT_TF_GPU_COMPUTE);
}

/* ---- asynchronous ops ---- */

/* std::function<void()> of libstdc++, which the mangled names of the hooks confirm. */
struct cxx_function {
	uint64_t storage[2];
	bool (*manage)(void *to, const void *from, int what);
	void (*invoke)(const void *storage);
};

enum { TYPE_INFO, FUNCTOR, CLONE, DESTROY };	/* the operations of its manager */

/* Stands for the caller's function; copies of our object share it. */
struct done {
	struct cxx_function function;
	uint64_t instance;
	struct tf_recv recv;
	_Atomic uint32_t users;
};

static struct done *done_of(const void *storage)
{
	return (struct done *)(uintptr_t)*(const uint64_t *)storage;
}

static void done_invoke(const void *storage)
{
	struct done *d = done_of(storage);
	int saved = errno;

	if (d->recv.key)
		tf_received(&d->recv, d->instance);
	rt_async_end(d->instance);
	errno = saved;
	d->function.invoke(d->function.storage);
}

static bool done_manage(void *to, const void *from, int what)
{
	struct done *d;

	switch (what) {
	case TYPE_INFO:
		*(const void **)to = NULL;
		break;
	case FUNCTOR:
		*(const void **)to = from;
		break;
	case CLONE:
		d = done_of(from);
		atomic_fetch_add_explicit(&d->users, 1, memory_order_relaxed);
		*(uint64_t *)to = (uintptr_t)d;
		break;
	case DESTROY:
		d = done_of(to);
		if (atomic_fetch_sub_explicit(&d->users, 1, memory_order_acq_rel) != 1)
			break;
		if (d->function.manage)
			d->function.manage(d->function.storage, d->function.storage, DESTROY);
		free(d);
		break;
	}
	return false;
}

/* Moves *function into an object of ours; NULL when memory is short. */
static struct done *device_wrap_done(struct cxx_function *ours, struct cxx_function *function,
				     uint64_t instance, int64_t step)
{
	struct done *d = malloc(sizeof(*d));

	if (!d) {
		rt_dropped(1);
		return NULL;
	}
	d->function = *function;
	d->instance = instance;
	d->recv = (struct tf_recv){ .step = step };
	atomic_init(&d->users, 1);
	/* the function that was moved from is empty, as after any move */
	function->manage = NULL;
	*ours = (struct cxx_function){
		.storage = { (uintptr_t)d }, .manage = done_manage, .invoke = done_invoke,
	};
	return d;
}

static void compute_async(void *device, void *kernel, void *context, struct cxx_function *done,
			  enum tft_tf_function function)
{
	void (*original)(void *, void *, void *, void *) =
		(void (*)(void *, void *, void *, void *))tf_original(function);
	struct tf_recv *outer = tf_recv_now;
	struct cxx_function ours;
	struct rt_op_args args;
	struct done *d = NULL;
	uint64_t instance = 0;
	int saved = errno;

	if (rt_level() != TFT_LEVEL_OFF && done->manage && known(device, kernel, context)) {
		describe(&args, kernel, context);
		instance = rt_async_start(&args);
	}
	if (instance)
		d = device_wrap_done(&ours, done, instance, args.step);
	if (!d) {
		rt_async_end(instance);
		errno = saved;
		original(device, kernel, context, done);
		return;
	}
	tf_recv_now = &d->recv;
	errno = saved;
	original(device, kernel, context, &ours);
	tf_recv_now = outer;
	if (ours.manage)
		ours.manage(&ours, &ours, DESTROY);
}

void tf_cpu_compute_async(void *device, void *kernel, void *context, void *done)
{
	compute_async(device, kernel, context, done, TFT_TF_CPU_COMPUTE_ASYNC);
}

void tf_gpu_compute_async(void *device, void *kernel, void *context, void *done)
{
	compute_async(device, kernel, context, done, TFT_TF_GPU_COMPUTE_ASYNC);
}
