/* SPDX-License-Identifier: MIT */
/*
 * Copies of host arrays to JAX, by device_put() or because a NumPy array is passed to a function.
 * LinearizeHostBufferInto() of PjRtCpuClient (since 0.12 of CommonPjRtClient) is called for each
 * array that is not used in place. It copies by itself, or lets a thread of XLA copy, which then
 * reports the event "H2D Dispatch" without saying which copy it was; it is taken to be the oldest
 * one.
 *
 * A fingerprint of the copied bytes goes with the op (for the finding same-data). Two copies of
 * equal bytes from the same place are copies of the same data, so the place that is sent combines
 * the address and the fingerprint. Of large arrays some pieces are read, spread over all of it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "probes/jax/probe.h"
#include "probes/runtime/cpu.h"
#include "probes/runtime/spin.h"

#define WAITING 64u		/* how many copies may be requested at once */
#define PENDING_NS 2000000000	/* after this long, the other copies do not wait for it any more */
/* for smaller copies the time is spent around the copy, not in it */
#define CONTENT_MIN 4096u
#define LINES 256u
#define LINE 64u

struct strides {		/* std::optional<absl::Span<const int64_t>> */
	const int64_t *of;
	uint64_t count;
	uint8_t there;
};

/* StatusOr<PjRtDeviceEventRef> *(result, client, data, type, dims, strides, semantics, done,
 * shape, buffer) */
typedef void *copy_function(void *result, void *client, const void *data, int type,
			    const int64_t *dims, size_t n_dims, struct strides strides,
			    int semantics, void *done, const void *shape, void *buffer);

static copy_function *original;
static uint32_t op_name, op_type, copy_name;

static _Atomic uint32_t busy;
/* LATER: the call has returned, the copy is not done. TELLING: the thread that set this frees the
 * entry, without the lock. */
enum { FREE, TELLING, CALLING, LATER };
static struct copy_waiting {		/* protected by `busy` */
	_Atomic uint32_t state;
	_Atomic int64_t start_ns;
	struct rt_cpu_copy copy;
} waiting[WAITING];

/* ---- what is copied ---- */

/* Size of an element of an xla::PrimitiveType; 0: its elements have no whole bytes, or it is
 * unknown. */
static size_t element_bytes(int type)
{
	static const uint8_t bytes[] = {
		[1] = 1, [2] = 1, [3] = 2, [4] = 4, [5] = 8, [6] = 1, [7] = 2, [8] = 4, [9] = 8,
		[10] = 2, [11] = 4, [12] = 8, [15] = 8, [16] = 2, [18] = 16, [19] = 1, [20] = 1,
		[23] = 1, [24] = 1, [25] = 1, [28] = 1, [29] = 1,
	};

	return type > 0 && (size_t)type < sizeof(bytes) ? bytes[type] : 0;
}

/* 0: unknown. *whole: the elements follow each other without gaps. */
static uint64_t size_of(int type, const int64_t *dims, size_t n, const struct strides *strides,
			bool *whole)
{
	uint64_t bytes = element_bytes(type);

	*whole = !strides->there || strides->count == n;
	for (size_t i = n; i-- > 0;) {
		if (*whole && strides->there && dims[i] > 1)
			*whole = (uint64_t)strides->of[i] == bytes;
		if (dims[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)dims[i], &bytes))
			return 0;
	}
	return bytes;
}

static uint64_t content_of(const char *data, uint64_t bytes)
{
	uint64_t hash = bytes * 0x9e3779b97f4a7c15u, word;
	uint64_t step = bytes / LINES < LINE ? LINE : bytes / LINES;

	for (uint64_t at = 0; at < bytes; at += step)
		for (uint64_t i = 0; i < LINE && at + i < bytes; i += sizeof(word)) {
			uint64_t left = bytes - at - i;

			word = 0;
			memcpy(&word, data + at + i, left < sizeof(word) ? left : sizeof(word));
			hash = (hash ^ word) * 0x100000001b3u;
			hash ^= hash >> 29;
		}
	return hash;
}

static uint32_t place_of(const char *data, uint64_t content)
{
	uint64_t place = (content ^ (uint64_t)(uintptr_t)data) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(place >> 32) | 1;
}

/* ---- times ---- */

/* Whether another thread will make the copy: then result holds an event that has not happened. */
static bool later(const void *result)
{
	uint64_t words[3], value[2];

	return rt_peek(words, result, sizeof(words)) == sizeof(words) && words[0] == 1 &&
	       rt_peek(value, (const void *)(uintptr_t)words[2], sizeof(value)) == sizeof(value) &&
	       !(value[1] & 2);
}

/* The call starts; another thread may finish the copy before the call ends. NULL: there is no
 * room. */
static struct copy_waiting *jax_copy_begin(const struct rt_cpu_copy *copy)
{
	struct copy_waiting *w = NULL;

	if (!rt_spin_lock(&busy))
		return NULL;
	for (uint32_t i = 0; i < WAITING && !w; i++)
		if (waiting[i].state == FREE)
			w = &waiting[i];
	if (w) {
		w->copy = *copy;
		w->start_ns = copy->start_ns;
		w->state = CALLING;
	}
	rt_spin_unlock(&busy);
	return w;
}

static void tell(struct copy_waiting *w, const struct rt_cpu_copy *copy)
{
	rt_cpu_copied(RT_LIBRARY_XLA, copy);
	if (w)
		atomic_store(&w->state, FREE);
}

/* The call has ended, and the copy has, too, or comes `later`. It is sent, unless an event was
 * taken for it, and another call may use its place. */
static void end(struct copy_waiting *w, const struct rt_cpu_copy *copy, bool later)
{
	bool ours = true;

	if (w && rt_spin_lock(&busy)) {
		ours = w->state == CALLING && w->start_ns == copy->start_ns;
		if (ours)
			w->state = later ? LATER : TELLING;
		rt_spin_unlock(&busy);
	}
	if (ours && !(w && later))
		tell(w, copy);
}

void jax_copy_done(const struct traceme *t)
{
	struct copy_waiting *oldest = NULL;
	struct rt_cpu_copy copy;

	if (!rt_spin_lock(&busy))
		return;
	for (uint32_t i = 0; i < WAITING; i++)
		if (waiting[i].state >= CALLING && waiting[i].start_ns <= t->end_ns &&
		    (!oldest || waiting[i].state > oldest->state ||
		     (waiting[i].state == oldest->state &&
		      waiting[i].start_ns < oldest->start_ns)))
			oldest = &waiting[i];
	if (oldest)
		oldest->state = TELLING;
	rt_spin_unlock(&busy);
	if (!oldest)
		return;
	copy = oldest->copy;
	copy.start_ns = t->start_ns;
	copy.dur_ns = t->end_ns - t->start_ns;
	tell(oldest, &copy);
}

int64_t jax_copies_pending_ns(void)
{
	int64_t oldest = INT64_MAX, now = rt_now_ns();

	for (uint32_t i = 0; i < WAITING; i++) {
		int64_t start_ns = atomic_load(&waiting[i].start_ns);

		if (atomic_load(&waiting[i].state) != FREE && start_ns < oldest &&
		    now - start_ns < PENDING_NS)
			oldest = start_ns;
	}
	return oldest;
}

/* No events will come for the waiting copies. */
void jax_copies_off(void)
{
	if (!rt_spin_lock(&busy))
		return;
	for (uint32_t i = 0; i < WAITING; i++)
		if (waiting[i].state == LATER)
			waiting[i].state = FREE;
	rt_spin_unlock(&busy);
}

void jax_copies_fork_child(void)
{
	rt_spin_unlock(&busy);
	memset(waiting, 0, sizeof(waiting));
}

/* ---- hooks ---- */

static void *jax_copy_from_host(void *result, void *client, const void *data, int type,
				const int64_t *dims,
				size_t n_dims, struct strides strides, int semantics, void *done,
				const void *shape, void *buffer)
{
	bool seen = rt_level() != TFT_LEVEL_OFF, op = rt_level() >= TFT_LEVEL_DEFAULT, whole;
	struct rt_op_args args = {
		.step = -1, .framework = TFT_FW_JAX, .name = op_name, .type = op_type,
	};
	struct rt_cpu_copy copy = { .name = copy_name, .direction = TFT_DIR_H2D };
	struct copy_waiting *w = NULL;
	struct py_where where;
	struct rt_top top;
	uint64_t content;
	int saved = errno;

	if (!seen)
		return original(result, client, data, type, dims, n_dims, strides, semantics, done,
				shape, buffer);
	copy.bytes = size_of(type, dims, n_dims, &strides, &whole);
	if (whole) {
		content = content_of(data, copy.bytes);
		copy.place = place_of(data, content);
		args.payload = copy.bytes < CONTENT_MIN ? 0 : content;
	}
	if (op) {
		py_where(&where, NULL);
		args.source = where.source;
		rt_op_push(&args);
	}
	top = rt_op_launch();
	if (jax_thread_own && ((struct jax_thread *)jax_thread_own)->blocks)
		jax_memory_for(jax_thread_own, top.instance, top.name);
	copy.op = top.instance;
	copy.op_name = top.name;
	copy.start_ns = rt_now_ns();
	if (copy.bytes)
		w = jax_copy_begin(&copy);
	errno = saved;
	original(result, client, data, type, dims, n_dims, strides, semantics, done, shape, buffer);
	saved = errno;
	copy.dur_ns = rt_now_ns() - copy.start_ns;
	if (copy.bytes)
		end(w, &copy, w && later(result));
	if (op)
		rt_op_pop(0);
	errno = saved;
	return result;
}

void jax_copies_start(const struct patch_symbol *linearize)
{
	op_name = rt_name(TFT_NAME_OP, "device_put");
	op_type = rt_name(TFT_NAME_OP_TYPE, "transfer");
	copy_name = rt_name(TFT_NAME_CALL, "host array to device");
	if (linearize->at)
		*(void **)&original = patch_original(linearize);
	if (!original || !patch_replace(linearize, (void *)jax_copy_from_host))
		jax_blind("copies of host arrays to the device: how this jaxlib makes them is "
			  "unknown");
}
