/* SPDX-License-Identifier: MIT */
/* The simulated device: settings, contexts, streams, time. See sim.h. */
#include "tests/doubles/cuda/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FAULTS 8
#define SPIN_NS 80000

__thread struct sim_thread sim_thread;
const struct sim_tool *_Atomic sim_tool;
atomic_int sim_state;
struct sim_settings sim_settings = {
	.devices = 1, .version = 13000, .depth = SIM_DEPTH, .latency_ns = 3000, .bandwidth = 12000,
};
struct sim_device sim_devices[SIM_DEVICES];

static struct fault {
	char function[48];
	int at, result;
	atomic_int calls;
} faults[FAULTS];
static int n_faults;

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_context *contexts;
static uint32_t next_context = 1;
static atomic_uint next_correlation = 1, next_stream = 13;

int64_t sim_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

void sim_sleep_until(int64_t at_ns)
{
	int64_t left;

	while ((left = at_ns - sim_now()) > 0) {
		struct timespec t = { at_ns / 1000000000, at_ns % 1000000000 };

		if (left > SPIN_NS)
			clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
	}
}

static void setting(const char *word)
{
	struct sim_settings *s = &sim_settings;
	struct fault *f = &faults[n_faults];
	long long v;

	if (sscanf(word, "devices=%lld", &v) == 1)
		s->devices = v < 1 ? 1 : v > SIM_DEVICES ? SIM_DEVICES : (int)v;
	else if (sscanf(word, "version=%lld", &v) == 1)
		s->version = (int)v;
	else if (sscanf(word, "latency=%lld", &v) == 1)
		s->latency_ns = v;
	else if (sscanf(word, "depth=%lld", &v) == 1)
		s->depth = v < 1 ? 1 : v > SIM_DEPTH ? SIM_DEPTH : (int)v;
	else if (sscanf(word, "bandwidth=%lld", &v) == 1 && v > 0)
		s->bandwidth = (uint64_t)v;
	else if (sscanf(word, "correlation=%lld", &v) == 1)
		atomic_store(&next_correlation, (uint32_t)v);
	else if (!strcmp(word, "lazy"))
		s->lazy = true;
	else if (!strcmp(word, "split"))
		s->split = true;
	else if (n_faults < FAULTS &&
		 sscanf(word, "fail=%47[^:]:%d:%d", f->function, &f->at, &f->result) == 3)
		n_faults++;
	else
		fprintf(stderr, "libcuda double: CUDA_DOUBLE has '%s', which is no setting\n",
			word);
}

void sim_configure(void)
{
	const char *given = getenv("CUDA_DOUBLE");
	char *text = strdup(given ? given : ""), *rest = text, *word;

	while ((word = strsep(&rest, " ,")))
		if (*word)
			setting(word);
	free(text);
	for (int i = 0; i < sim_settings.devices; i++) {
		struct sim_device *d = &sim_devices[i];

		d->ordinal = i;
		d->memory = 80ull << 30;
		snprintf(d->name, sizeof(d->name), "Double GPU %d", i);
		for (int k = 0; k < 16; k++)
			d->uuid[k] = (uint8_t)(0xd0 + i + k * 7);
	}
}

static int faulty(const char *name)
{
	for (int i = 0; i < n_faults; i++)
		if (!strcmp(faults[i].function, name) &&
		    atomic_fetch_add(&faults[i].calls, 1) + 1 == faults[i].at)
			return faults[i].result;
	return 0;
}

int sim_enter(struct sim_call *call)
{
	const struct sim_tool *tool = atomic_load_explicit(&sim_tool, memory_order_acquire);
	struct sim_thread *t = &sim_thread;

	call->outer = t->call;
	t->call = call;
	call->context = t->current;
	call->correlation = call->outer && !sim_settings.split ? call->outer->correlation :
		atomic_fetch_add_explicit(&next_correlation, 1, memory_order_relaxed);
	if (!call->correlation)
		call->correlation = atomic_fetch_add(&next_correlation, 1);
	if (tool)
		tool->enter(call);
	if (n_faults) {
		int result = faulty(call->name);

		if (result)
			return result;
	}
	return call->domain == SIM_RUNTIME || atomic_load_explicit(&sim_state,
								   memory_order_relaxed) ?
		0 : SIM_NOT_INITIALIZED;
}

int sim_leave(struct sim_call *call, int result)
{
	const struct sim_tool *tool = atomic_load_explicit(&sim_tool, memory_order_acquire);

	call->result = result;
	if (!call->context)
		call->context = sim_thread.current;
	if (tool)
		tool->leave(call);
	sim_thread.call = call->outer;
	return result;
}

/* The correlation id of the runtime's call, if that called the driver: most of CUPTI's records
 * contain it. Records of copies contain both ids. */
uint32_t sim_correlation(void)
{
	const struct sim_call *call = sim_thread.call;

	while (call && call->outer)
		call = call->outer;
	return call ? call->correlation : 0;
}

/* --- contexts and streams --------------------------------------------------- */

struct sim_stream *sim_stream_make(struct sim_context *context, bool non_blocking, int priority)
{
	struct sim_stream *s = calloc(1, sizeof(*s));

	s->magic = SIM_MAGIC_STREAM;
	s->context = context;
	s->non_blocking = non_blocking;
	s->priority = priority;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_lock(&context->lock);
	/* The default stream of the first context has number 7, as in real traces. */
	s->legacy = !context->streams;
	s->id = s->legacy && context->uid == 1 ? 7 : atomic_fetch_add(&next_stream, 1);
	s->next = context->streams;
	context->streams = s;
	pthread_mutex_unlock(&context->lock);
	truth_stream(s);
	return s;
}

struct sim_context *sim_context_make(struct sim_device *device)
{
	struct sim_context *c = calloc(1, sizeof(*c));

	c->magic = SIM_MAGIC_CONTEXT;
	c->device = device;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_lock(&contexts_lock);
	c->uid = next_context++;
	c->next = contexts;
	contexts = c;
	pthread_mutex_unlock(&contexts_lock);
	c->null_stream = sim_stream_make(c, false, 0);
	return c;
}

bool sim_context_of(void *handle)
{
	struct sim_context *c = handle;

	return c && c->magic == SIM_MAGIC_CONTEXT;
}

struct sim_stream *sim_stream(void *handle)
{
	struct sim_context *c = sim_thread.current;
	struct sim_stream *s = handle;

	if ((uintptr_t)handle > 2)
		return s->magic == SIM_MAGIC_STREAM && !s->destroyed ? s : NULL;
	if (!c)
		return NULL;
	if ((uintptr_t)handle != 2)
		return c->null_stream;
	if (!sim_thread.per_thread || sim_thread.per_thread->context != c) {
		sim_thread.per_thread = sim_stream_make(c, false, 0);
		sim_thread.per_thread->per_thread = true;
		SIM_TELL(object, SIM_STREAM, sim_thread.per_thread, false);
	}
	return sim_thread.per_thread;
}

uint32_t sim_stream_id(void *handle, bool per_thread)
{
	struct sim_stream *s = sim_stream(!handle && per_thread ? (void *)2 : handle);

	return s ? s->id : 0;
}

/* --- time ------------------------------------------------------------------- */

static void raise_to(_Atomic int64_t *at, int64_t value)
{
	int64_t old = atomic_load_explicit(at, memory_order_relaxed);

	while (old < value && !atomic_compare_exchange_weak(at, &old, value))
		;
}

/* Places work after the earlier work of its stream and, because of the default stream, after that
 * of blocking streams. */
static void place(struct sim_op *op, struct sim_stream *s)
{
	struct sim_context *c = s->context;

	op->start_ns = op->queued_ns + sim_settings.latency_ns;
	if (op->start_ns < s->last_end)
		op->start_ns = s->last_end;
	if (op->start_ns < op->after_ns)
		op->start_ns = op->after_ns;
	if (!s->non_blocking) {
		int64_t other = atomic_load(s->legacy ? &c->blocking_end : &c->legacy_end);

		if (op->start_ns < other)
			op->start_ns = other;
	}
	op->end_ns = op->start_ns + op->duration_ns;
	s->last_end = op->end_ns;
	if (!s->non_blocking)
		raise_to(s->legacy ? &c->legacy_end : &c->blocking_end, op->end_ns);
}

const struct sim_range *sim_range_now(void)
{
	const struct sim_thread *t = &sim_thread;

	if (!t->n_ranges)
		return NULL;
	return t->ranges[(t->n_ranges < SIM_NESTED ? t->n_ranges : SIM_NESTED) - 1];
}

int sim_submit(struct sim_op *op)
{
	struct sim_stream *s = op->stream;
	struct sim_thread *t = &sim_thread;
	int64_t before;

	op->range = sim_range_now();
	op->correlation = sim_correlation();
	op->runtime_correlation = t->call && t->call->outer ? op->correlation : 0;
	if (t->call && (op->kind == SIM_COPY || op->kind == SIM_PEER))
		op->correlation = t->call->correlation;
	if (!op->duration_ns)
		op->duration_ns = t->next_ns ? t->next_ns : op->kind == SIM_KERNEL ? 5000 :
			1500 + (int64_t)(op->bytes * 1000 / sim_settings.bandwidth);
	t->next_ns = 0;
	pthread_mutex_lock(&s->lock);
	before = s->ends[(s->submitted + SIM_DEPTH - (uint32_t)sim_settings.depth) % SIM_DEPTH];
	if (s->submitted >= (uint32_t)sim_settings.depth)
		sim_sleep_until(before);
	op->queued_ns = sim_now();
	place(op, s);
	s->ends[s->submitted++ % SIM_DEPTH] = op->end_ns;
	truth_op(op);
	pthread_mutex_unlock(&s->lock);
	SIM_TELL(op, op);
	return SIM_OK;
}

void sim_drain(struct sim_stream *s)
{
	int64_t end;

	pthread_mutex_lock(&s->lock);
	end = s->last_end;
	pthread_mutex_unlock(&s->lock);
	sim_sleep_until(end);
}

/* --- for programs ----------------------------------------------------------- */

struct sim_range *sim_range(const char *name)
{
	static struct sim_range *ranges;
	struct sim_range *r;

	pthread_mutex_lock(&contexts_lock);
	for (r = ranges; r && strcmp(r->name, name); r = r->next)
		;
	if (!r) {
		r = calloc(1, sizeof(*r));
		r->name = strdup(name);
		r->next = ranges;
		ranges = r;
	}
	pthread_mutex_unlock(&contexts_lock);
	return r;
}

void sim_range_push(struct sim_range *range)
{
	struct sim_thread *t = &sim_thread;

	if (t->n_ranges < SIM_NESTED)
		t->ranges[t->n_ranges] = range;
	t->n_ranges++;
	atomic_fetch_add_explicit(&range->count, 1, memory_order_relaxed);
}

void sim_range_pop(void)
{
	if (sim_thread.n_ranges)
		sim_thread.n_ranges--;
}

void sim_next(int64_t duration_ns)
{
	sim_thread.next_ns = duration_ns;
}

void sim_function_set(void *function, int registers, int shared_static)
{
	struct sim_function *f = function;

	f->registers = registers;
	f->shared_static = shared_static;
}
