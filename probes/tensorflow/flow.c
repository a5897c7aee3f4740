/* SPDX-License-Identifier: MIT */
/*
 * Tensors that go from one worker to another: the rendezvous of the sender, where a tensor is
 * stored under a key; its encoding for gRPC; and the rendezvous of the receiver, where it is asked
 * for by the same key.
 *
 * A key is "SOURCE;incarnation;DESTINATION;tensor;frame:iteration", as text in both processes, and
 * both know the same step id: the id of a message is a hash of the two.
 *
 * The functions that encode and decode do not know the key. A tensor is encoded from the memory
 * from which it was sent, so it is the tensor that was last sent from there. A decoded tensor is
 * the one that is received next on the same thread.
 *
 * Functions that return a C++ object get a hidden pointer to it. On x86-64 it is the first
 * argument, which is passed on; elsewhere it is in another register, so these hooks are for x86-64
 * only.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/runtime/slots.h"
#include "probes/tensorflow/probe.h"

#define TOTAL_BYTES "_ZNK10tensorflow6Tensor10TotalBytesEv"
#define TENSOR_DATA "_ZNK10tensorflow6Tensor4dataEv"
#define KEY_BYTES 1024
#define SENT 1024u		/* number of entries for what was sent; a power of two */
#define SENT_PROBES 4u

_Thread_local struct tf_recv *tf_recv_now;
static _Thread_local struct { int64_t at_ns, dur_ns; } decoded;

/* ---- keys ---- */

struct flow_key {
	uint64_t hash;			/* includes the step; 0: not understood */
	uint32_t name;
	bool remote;			/* it goes to another task */
};

static uint64_t flow_hash_of(const char *text, size_t length, int64_t step)
{
	uint64_t h = (uint64_t)step * 0x9e3779b97f4a7c15u + length, w;

	for (; length; text += 8) {
		size_t n = length < 8 ? length : 8;

		w = 0;
		memcpy(&w, text, n);
		length -= n;
		h = (h ^ w) * 0xd6e8feb86659fd93u;
		h ^= h >> 32;
	}
	return h ? h : 1;
}

/* Length of the part of a device's name that names its task. */
static size_t task_length(const char *device, size_t length)
{
	const char *end = memmem(device, length, "/device:", strlen("/device:"));

	return end ? (size_t)(end - device) : length;
}

/*
 * Parses "SOURCE;INCARNATION;DESTINATION;TENSOR;FRAME:ITERATION": the name is the text up to the
 * last part, which changes in loops. tftop parses the rest.
 */
static bool flow_parse_key(struct flow_key *key, const char *text)
{
	char name[KEY_BYTES];
	const char *part[5] = { text };
	size_t source, destination;

	for (int i = 1; i < 5; i++) {
		part[i] = strchr(part[i - 1], ';');
		if (!part[i]++)
			return false;
	}
	if ((size_t)(part[4] - text) >= sizeof(name))
		return false;
	memcpy(name, text, (size_t)(part[4] - text));
	name[part[4] - text] = '\0';
	source = task_length(text, (size_t)(part[1] - text - 1));
	destination = task_length(part[2], (size_t)(part[3] - part[2] - 1));
	key->remote = part[1] - text > 1 &&
		      (source != destination || memcmp(text, part[2], source) != 0);
	key->name = rt_name(TFT_NAME_KEY, name);
	return true;
}

/* A ParsedKey starts with a string_view of the key's first part: the text, which ends with a NUL,
 * and a length, in either order. */
static struct flow_key flow_key_of(const void *parsed, int64_t step)
{
	char text[KEY_BYTES];
	struct flow_key key = { .hash = 0 };
	uint64_t view[2];
	const char *at;
	size_t got;

	if (rt_peek(view, parsed, sizeof(view)) != sizeof(view))
		return key;
	at = (const char *)(uintptr_t)(view[0] > KEY_BYTES ? view[0] : view[1]);
	got = rt_peek(text, at, sizeof(text) - 1);
	/* it may end just before memory that is not mapped */
	for (size_t n = sizeof(text) / 2; !got && n; n /= 2)
		got = rt_peek(text, at, n);
	text[got] = '\0';
	if (flow_parse_key(&key, text))
		key.hash = flow_hash_of(text, strlen(text), step);
	return key;
}

static uint64_t bytes_of(const void *tensor)
{
	size_t (*total)(const void *);

	TF_FIND(size_t (*)(const void *), total, TOTAL_BYTES);
	return total ? total(tensor) : 0;
}

static const void *memory_of(const void *tensor)
{
	const void *(*data)(const void *);

	TF_FIND(const void *(*)(const void *), data, TENSOR_DATA);
	return data ? data(tensor) : NULL;
}

static void tell(const struct flow_key *key, enum tft_flow_phase phase, uint64_t bytes,
		 int64_t at_ns,
		 int64_t dur_ns, uint64_t op)
{
	struct tft_flow flow = {
		.name = key->name, .key = key->hash, .bytes = bytes, .op = op,
		.at_ns = at_ns, .dur_ns = dur_ns, .phase = (uint8_t)phase,
	};

	rt_emit_flow(&flow);
}

/* ---- what was sent from which memory ---- */

#define SENT_BUSY 1u		/* not an address: the entry is being written */

static struct {
	_Atomic uint64_t memory;	/* 0: unused */
	_Atomic uint64_t hash;
	_Atomic uint32_t name;
} sent[SENT];
static _Atomic uint32_t sent_next;

static uint32_t sent_at(uint64_t memory, uint32_t i)
{
	return (uint32_t)((memory * 0x9e3779b97f4a7c15u >> 32) + i) & (SENT - 1);
}

/* The entry of this memory, else an unused one, else each of its entries in turn. */
static uint32_t flow_place_for(uint64_t memory)
{
	uint32_t place = sent_at(memory, atomic_fetch_add_explicit(&sent_next, 1,
				 memory_order_relaxed) % SENT_PROBES);

	for (uint32_t i = 0; i < SENT_PROBES; i++) {
		uint64_t there = atomic_load_explicit(&sent[sent_at(memory, i)].memory,
						      memory_order_relaxed);

		if (there == memory)
			return sent_at(memory, i);
		if (!there)
			place = sent_at(memory, i);
	}
	return place;
}

/* An entry is taken by a mark of its own: two threads that send at once do not wait for each other,
 * and neither is forgotten. */
static void flow_remember(const void *at, const struct flow_key *key)
{
	uint64_t memory = (uintptr_t)at, there;
	uint32_t place;

	for (uint32_t i = 0; memory && i < 4 * SENT_PROBES; i++) {
		place = flow_place_for(memory);
		there = atomic_load_explicit(&sent[place].memory, memory_order_relaxed);
		if (there == SENT_BUSY ||
		    !atomic_compare_exchange_strong_explicit(&sent[place].memory, &there,
							     SENT_BUSY, memory_order_acquire,
							     memory_order_relaxed))
			continue;
		rt_fence(memory_order_release);
		atomic_store_explicit(&sent[place].hash, key->hash, memory_order_relaxed);
		atomic_store_explicit(&sent[place].name, key->name, memory_order_relaxed);
		atomic_store_explicit(&sent[place].memory, memory, memory_order_release);
		return;
	}
}

static struct flow_key flow_recall(const void *at)
{
	uint64_t memory = (uintptr_t)at;
	struct flow_key key = { .hash = 0 };

	for (uint32_t i = 0; memory && i < SENT_PROBES; i++) {
		uint32_t k = sent_at(memory, i);

		if (atomic_load_explicit(&sent[k].memory, memory_order_acquire) != memory)
			continue;
		key.hash = atomic_load_explicit(&sent[k].hash, memory_order_relaxed);
		key.name = atomic_load_explicit(&sent[k].name, memory_order_relaxed);
		rt_fence(memory_order_acquire);
		if (atomic_load_explicit(&sent[k].memory, memory_order_relaxed) == memory)
			return key;
	}
	return (struct flow_key){ .hash = 0 };
}

/* ---- sizes of ops' outputs ---- */

/*
 * Whether a tensor would better be sent one op later depends on the output of that op. So as soon
 * as a tensor was received, the sizes of outputs are sent: for each op once, and when the size
 * changes.
 */
#define OUTPUTS 4096u			/* a power of two */

static _Atomic bool received;
static struct {
	_Atomic uint32_t name;
	_Atomic uint64_t bytes;
} outputs[OUTPUTS];

typedef void *output(void *status, void *context, int index, const void *shape, void **tensor,
		     uint64_t attributes);

static inline void *flow_allocate_output(void *status, void *context, int index, const void *shape,
					 void **tensor, uint64_t attributes,
					 enum tft_tf_function function)
{
	void *result = ((output *)tf_original(function))(status, context, index, shape, tensor,
							 attributes);
	struct rt_top op;
	uint64_t bytes;
	uint32_t at;
	int saved = errno;

	/* OK is 0, or 1 in newer versions of absl */
	if (index || rt_level() < TFT_LEVEL_DEFAULT || *(const uint64_t *)status > 1 ||
	    !(op = rt_op_current()).name)
		return result;
	bytes = bytes_of(*tensor);
	at = op.name & (OUTPUTS - 1);
	if (atomic_load_explicit(&outputs[at].name, memory_order_relaxed) != op.name ||
	    atomic_load_explicit(&outputs[at].bytes, memory_order_relaxed) != bytes) {
		struct flow_key key = { .hash = 0, .name = op.name };

		atomic_store_explicit(&outputs[at].name, op.name, memory_order_relaxed);
		atomic_store_explicit(&outputs[at].bytes, bytes, memory_order_relaxed);
		tell(&key, TFT_FLOW_MADE, bytes, rt_now_ns(), -1, op.instance);
	}
	errno = saved;
	return result;
}

static void *allocate_plain(void *status, void *context, int index, const void *shape,
			    void **tensor, uint64_t attributes)
{
	return flow_allocate_output(status, context, index, shape, tensor, attributes,
				    TFT_TF_OUTPUT);
}

static void *allocate_tsl(void *status, void *context, int index, const void *shape,
			  void **tensor, uint64_t attributes)
{
	return flow_allocate_output(status, context, index, shape, tensor, attributes,
				    TFT_TF_OUTPUT_TSL);
}

static void *allocate_tf(void *status, void *context, int index, const void *shape,
			 void **tensor, uint64_t attributes)
{
	return flow_allocate_output(status, context, index, shape, tensor, attributes,
				    TFT_TF_OUTPUT_TF);
}

/* Not installed with the others, because these hooks would be in the path of every op of a program
 * that sends nothing. */
void tf_flow_tick(void)
{
	static const struct { enum tft_tf_function function; output *ours; } hooks[] = {
		{ TFT_TF_OUTPUT, allocate_plain }, { TFT_TF_OUTPUT_TSL, allocate_tsl },
		{ TFT_TF_OUTPUT_TF, allocate_tf },
	};
	static bool watched;

	if (watched || !atomic_load_explicit(&received, memory_order_relaxed))
		return;
	watched = true;
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		void *original = tf_lib->original(hooks[i].function);
		struct rt_slot slot = {
			.at = &tf_lib->slot[hooks[i].function], .ours = (void *)hooks[i].ours,
			.off = original,
		};

		if (!original)
			continue;
		__atomic_store_n(&tf_originals[hooks[i].function], original, __ATOMIC_RELEASE);
		rt_slots_add(&slot, 1);
	}
}

/* ---- the sender ---- */

void *tf_send(void *status, void *rendezvous, const void *parsed, void *args, const void *tensor,
	      uintptr_t dead)
{
	void *(*original)(void *, void *, const void *, void *, const void *, uintptr_t) =
		(void *(*)(void *, void *, const void *, void *, const void *, uintptr_t))
		tf_original(TFT_TF_SEND);
	int64_t now = rt_now_ns();
	int saved = errno;

	if (rt_level() != TFT_LEVEL_OFF) {
		struct rt_top op = rt_op_current();
		struct flow_key key = flow_key_of(parsed, op.step);

		if (key.hash) {
			tell(&key, TFT_FLOW_SENT, bytes_of(tensor), now, -1, op.instance);
			flow_remember(memory_of(tensor), &key);
		}
		errno = saved;
	}
	return original(status, rendezvous, parsed, args, tensor, dead);
}

/* (dead, tensor, ack, buffer), since 2.20 after a pointer to the status: then only the second is a
 * bool. */
void *tf_encode(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e)
{
	void *(*original)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t) =
		(void *(*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t))
		tf_original(TFT_TF_ENCODE);
	const void *tensor = (const void *)(b > 0xffff ? b : c);
	struct flow_key key;
	int64_t start;
	void *result;
	int saved;

	if (rt_level() == TFT_LEVEL_OFF)
		return original(a, b, c, d, e);
	saved = errno;
	key = flow_recall(memory_of(tensor));
	errno = saved;
	start = rt_now_ns();
	result = original(a, b, c, d, e);
	saved = errno;
	/* an empty tensor has no memory by which to recognise it */
	if (key.hash)
		tell(&key, TFT_FLOW_ENCODED, bytes_of(tensor), start, rt_now_ns() - start, 0);
	errno = saved;
	return result;
}

/* ---- the receiver ---- */

void *tf_parse(void *status, void *response, void *source)
{
	void *(*original)(void *, void *, void *) =
		(void *(*)(void *, void *, void *))tf_original(TFT_TF_PARSE);
	int64_t start = rt_now_ns();
	void *result = original(status, response, source);

	decoded.at_ns = start;
	decoded.dur_ns = rt_now_ns() - start;
	return result;
}

/* The original of the generation that is present. */
static void *recv_original(void)
{
	static void *found;
	void *original = __atomic_load_n(&found, __ATOMIC_RELAXED);

	for (int i = TFT_TF_RECV; !original && i <= TFT_TF_RECV_2025_3; i++)
		original = tf_original((enum tft_tf_function)i);
	__atomic_store_n(&found, original, __ATOMIC_RELAXED);
	return original;
}

void tf_recv_async(void *rendezvous, const void *parsed, void *args, void *done)
{
	struct tf_recv *recv = tf_recv_now;
	int saved = errno;

	if (recv && rt_level() != TFT_LEVEL_OFF) {
		struct flow_key key = flow_key_of(parsed, recv->step);

		tf_recv_now = NULL;
		recv->asked_ns = rt_now_ns();
		recv->key = key.hash;
		recv->name = key.name;
		recv->remote = key.remote;
		errno = saved;
	}
	((void (*)(void *, const void *, void *, void *))recv_original())(rendezvous, parsed, args,
									  done);
}

void tf_received(const struct tf_recv *recv, uint64_t instance)
{
	struct flow_key key = { .hash = recv->key, .name = recv->name };
	int64_t now = rt_now_ns();

	if (recv->remote)
		atomic_store_explicit(&received, true, memory_order_relaxed);
	if (recv->remote && decoded.at_ns >= recv->asked_ns)
		tell(&key, TFT_FLOW_DECODED, 0, decoded.at_ns, decoded.dur_ns, instance);
	decoded.at_ns = 0;
	tell(&key, TFT_FLOW_RECEIVED, 0, now, now - recv->asked_ns, instance);
}
