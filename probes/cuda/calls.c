/* SPDX-License-Identifier: MIT */
/*
 * CUPTI's callbacks of API calls.
 *
 * A call of the runtime API makes a call of the driver API inside of it. The outermost call of a
 * thread is recorded. Its launch is stored under its own correlation id, and also under that of
 * the inner call where this one differs, because the record may carry either.
 */
#include <errno.h>
#include <string.h>

#include "probes/cuda/probe.h"

#define NUMBERS 1024u	/* numbers of calls per domain; calls with larger numbers are ignored */
#define SAMPLE 64u
#define SAMPLE_MAX_NS 20000	/* a longer time was not the probe's alone: the thread waited */

struct cuda_thread {
	uint32_t epoch, depth;
	uint32_t entry, twin;	/* correlations under which the running call is stored; 0: none */
	uint32_t entry_number;
	uint8_t entry_class, class;
	uint8_t entry_domain;
	bool captured;		/* its launch was captured into a graph */
	uint32_t turns;
	int64_t begin_ns, call_ns, own_ns;	/* begin_ns 0: this call is not measured */
	/* what is stored under `entry`: only this thread changes that, so it need not be read */
	struct cuda_call call;
};

static __thread void *own __attribute__((tls_model("initial-exec")));

static _Atomic uint32_t epoch = 1;

static struct {
	_Alignas(4) uint8_t class;	/* so that an index is a shift */
	int8_t stream;
	bool own_stream;
} about[2][NUMBERS];
static _Atomic uint32_t names[2][NUMBERS];

void calls_start(void)
{
#define CALL(domain, name, number, cls, at) \
	about[CUPTI_DOMAIN_##domain - 1][number].class = CUPTI_CLASS_##cls; \
	about[CUPTI_DOMAIN_##domain - 1][number].stream = at; \
	about[CUPTI_DOMAIN_##domain - 1][number].own_stream = \
		strstr(#name, "_ptsz") || strstr(#name, "_ptds");
	CUPTI_DRIVER_CALLS(CALL)
	CUPTI_RUNTIME_CALLS(CALL)
#undef CALL
	table_start();
}

static int calls_class(uint32_t domain, uint32_t number)
{
	if (domain < 1 || domain > 2 || number >= NUMBERS)
		return CUPTI_CLASS_NONE;
	return about[domain - 1][number].class;
}

void calls_epoch(void)
{
	atomic_fetch_add(&epoch, 1);
}

/* The name that a program uses: "cuMemcpyAsync_v2_ptsz" is called cuMemcpyAsync, and
 * "__cudaLaunchKernel" is what a launch is compiled to with 13.0. */
static uint32_t call_name(uint32_t domain, uint32_t number, const char *text)
{
	_Atomic uint32_t *kept = number < NUMBERS ? &names[domain - 1][number] : NULL;
	uint32_t id = kept ? atomic_load_explicit(kept, memory_order_relaxed) : 0;
	char name[128];
	size_t n;

	if (likely(id))
		return id;
	if (!text)
		text = domain == CUPTI_DOMAIN_DRIVER ? "a call of the driver" :
						       "a call of the runtime";
	text += strspn(text, "_");
	n = strlen(text);
	for (size_t i = 1; i + 1 < n; i++)
		if (text[i] == '_' && (text[i + 1] == 'v' || text[i + 1] == 'p'))
			n = i;
	n = n < sizeof(name) ? n : sizeof(name) - 1;
	memcpy(name, text, n);
	name[n] = '\0';
	id = rt_name(TFT_NAME_CALL, name);
	if (kept)
		atomic_store_explicit(kept, id, memory_order_relaxed);
	return id;
}

/* ---- start of a call ---- */

static struct cuda_thread *thread_own(void)
{
	struct cuda_thread *t = own ? own : rt_room(&own, sizeof(*t));
	uint32_t now = atomic_load_explicit(&epoch, memory_order_relaxed);

	/* the end of a call that started before would not be recognised */
	if (t && unlikely(t->epoch != now)) {
		t->depth = 0;
		t->epoch = now;
	}
	return t;
}

void calls_captured(void)
{
	struct cuda_thread *t = own;

	/* launching a graph may also create nodes */
	if (t && t->depth && t->entry_class != CUPTI_CLASS_GRAPH)
		t->captured = true;
}

static bool is_launch(unsigned class)
{
	return class == CUPTI_CLASS_LAUNCH || class == CUPTI_CLASS_LAUNCH_CONFIG;
}

/* Whether records will arrive for the call, which must be linked to an op. */
static bool is_filed(unsigned class)
{
	switch (class) {
	case CUPTI_CLASS_LAUNCH:
	case CUPTI_CLASS_LAUNCH_CONFIG:
	case CUPTI_CLASS_GRAPH:
	case CUPTI_CLASS_COPY:
	case CUPTI_CLASS_COPY_WAIT:
	case CUPTI_CLASS_SET:
	case CUPTI_CLASS_SET_WAIT:
	case CUPTI_CLASS_ALLOC:
		return true;
	default:
		return false;
	}
}

/* The handle of the stream; the two names of the legacy default stream are treated as one. */
static uint64_t stream_of(uint32_t domain, uint32_t number, const void *params)
{
	const struct cupti_launch_config *config;
	uint64_t stream = 0;
	int at = about[domain - 1][number].stream;

	if (!params)
		return 0;
	if (about[domain - 1][number].class == CUPTI_CLASS_LAUNCH_CONFIG) {
		memcpy(&config, params, sizeof(config));
		stream = config ? (uint64_t)(uintptr_t)config->stream : 0;
	} else if (at >= 0) {
		memcpy(&stream, (const char *)params + at, sizeof(stream));
	}
	return stream == 1 ? 0 : stream;
}

static void file_call(struct cuda_thread *t, uint32_t domain, uint32_t number,
		      const struct cupti_callback *cb)
{
	unsigned class = about[domain - 1][number].class;
	struct rt_top top = class == CUPTI_CLASS_ALLOC ? rt_op_current() : rt_op_launch();

	t->call = (struct cuda_call) {
		.op = top.instance, .op_name = top.name, .tid = rt_tid(),
		.stream = stream_of(domain, number, cb->params),
		.own_stream = about[domain - 1][number].own_stream,
		.context = cb->context_id, .class = (uint8_t)class,
		.call_ns = t->depth > 1 ? t->call_ns : 0,
		.symbol = is_launch(class) ? cb->symbol : NULL,
	};
	t->entry = cb->correlation;
	t->entry_class = (uint8_t)class;
	t->entry_domain = (uint8_t)domain;
	t->entry_number = number;
	t->call_ns = call_file(cb->correlation, &t->call);
	if (unlikely(!atomic_load_explicit(&collect_called, memory_order_relaxed)) &&
	    !atomic_exchange(&collect_called, true))
		collect_wake();
}

static uint32_t duration(int64_t ns)
{
	return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

/* For a driver call within a call that is stored: stores its number, and what only it knows. */
static void file_inner(struct cuda_thread *t, uint32_t domain, uint32_t number,
		       const struct cupti_callback *cb)
{
	struct cuda_call *c = &t->call, twin;

	if (!calls_state(t->entry))
		return;
	if (about[t->entry_domain - 1][t->entry_number].stream < 0 &&
	    c->class != CUPTI_CLASS_LAUNCH_CONFIG) {
		c->stream = stream_of(domain, number, cb->params);
		c->own_stream = about[domain - 1][number].own_stream;
	}
	if (!c->symbol && is_launch(about[domain - 1][number].class))
		c->symbol = cb->symbol;
	if (!c->context)
		c->context = cb->context_id;	/* it was created by this very call */
	if (cb->correlation != t->entry && cb->correlation != t->twin) {
		twin = *c;
		twin.twin = t->entry;
		if (t->twin) {
			twin.call_dur_ns = duration(rt_now_ns() - c->call_ns);
			call_write(t->twin, &twin);
			call_mark(t->twin, CALL_RUNNING, 0);
			twin.call_dur_ns = 0;
		}
		call_file(cb->correlation, &twin);
		c->twin = t->twin = cb->correlation;
	}
	call_write(t->entry, c);
}

static void calls_enter(uint32_t domain, uint32_t number, const struct cupti_callback *cb)
{
	struct cuda_thread *t = thread_own();
	unsigned class = number < NUMBERS ? about[domain - 1][number].class : CUPTI_CLASS_NONE;

	if (unlikely(!t || !table_there()))
		return;
	if (t->depth++) {
		if (is_filed(class) && cb->correlation) {
			if (t->entry)
				file_inner(t, domain, number, cb);
			else
				file_call(t, domain, number, cb);
		}
		return;
	}
	t->begin_ns = ++t->turns % SAMPLE ? 0 : rt_now_ns();
	t->class = (uint8_t)class;
	t->entry = t->twin = 0;
	t->captured = false;
	if (is_filed(class) && cb->correlation)
		file_call(t, domain, number, cb);
	else
		t->call_ns = rt_now_ns();
	if (unlikely(t->begin_ns))
		t->own_ns = t->call_ns - t->begin_ns;
}

/* ---- end of a call ---- */

static uint8_t command_kind_of(unsigned class)
{
	switch (class) {
	case CUPTI_CLASS_GRAPH:
		return TFT_KIND_GRAPH;
	case CUPTI_CLASS_COPY:
	case CUPTI_CLASS_COPY_WAIT:
		return TFT_KIND_COPY;
	case CUPTI_CLASS_SET:
	case CUPTI_CLASS_SET_WAIT:
		return TFT_KIND_FILL;
	default:
		return TFT_KIND_KERNEL;
	}
}

static void calls_tell_failed(const struct cuda_call *c, uint32_t correlation, void *context,
			      int result)
{
	struct cuda_queue *queue = cuda_queue_of_call(c, context);
	struct tft_command command = {
		.tid = c->tid, .queue = queue ? atomic_load(&queue->id) : 0,
		.name = call_kernel(c),
		.correlation = correlation | TFT_CORRELATION_CUPTI, .op = c->op,
		.op_name = c->op_name, .call_dur_ns = c->call_dur_ns, .call_ns = c->call_ns,
		.status = (int16_t)-(result < INT16_MAX ? result : INT16_MAX),
		.kind = command_kind_of(c->class), .how = TFT_HOW_EXACT,
	};

	if (c->class != CUPTI_CLASS_ALLOC && command.queue)
		rt_emit_command(&command);
}

/* A graph is launched node by node: the runs will carry its correlation. */
static void graph_launched(struct cuda_call *c, uint32_t correlation,
			   const struct cupti_callback *cb)
{
	const struct cupti_graph_launch *params = cb->params;
	struct cuda_queue *queue = cuda_queue_of_call(c, cb->context);
	struct tft_launch launch = {
		.tid = c->tid, .queue = queue ? atomic_load(&queue->id) : 0,
		.name = params ? graph_name(params->exec) : 0,
		.correlation = correlation | TFT_CORRELATION_CUPTI, .op_name = c->op_name,
		.call_dur_ns = c->call_dur_ns, .op = c->op, .call_ns = c->call_ns,
		.kind = TFT_KIND_GRAPH, .flags = TFT_CMD_MANY,
	};

	if (!launch.queue)
		return;
	rt_emit_launch(&launch);
	c->queue = launch.queue;
}

static void filed_leave(struct cuda_thread *t, const struct cupti_callback *cb, int64_t end_ns,
			int result)
{
	bool nothing = result != 0 || t->captured, whole;
	struct cuda_call *c = &t->call;
	uint32_t clear = CALL_RUNNING | (nothing ? CALL_AWAITED : 0), set;

	if (!calls_state(t->entry))
		return;		/* its place was reused: it took longer than 262144 calls */
	if (!nothing)
		objects_default_stream(c, cb->context);
	whole = c->class == CUPTI_CLASS_GRAPH && atomic_load(&graphs_whole);
	set = whole ? CALL_WHOLE : 0;
	c->call_dur_ns = duration(end_ns - t->call_ns);
	if (result && !t->captured)
		calls_tell_failed(c, t->entry, cb->context, result);
	else if (c->class == CUPTI_CLASS_GRAPH && !t->captured && !whole)
		graph_launched(c, t->entry, cb);
	if (t->twin) {
		struct cuda_call twin = *c;

		twin.twin = t->entry;
		call_write(t->twin, &twin);
		call_mark(t->twin, clear, set);
	}
	call_end(t->entry, c, clear, set | (nothing ? CALL_FAILED : 0));
}

/* Whether the call waits for everything that its context was given. */
static bool is_whole_wait(uint32_t domain, uint32_t number)
{
	if (domain == CUPTI_DOMAIN_DRIVER)
		return number == CUPTI_DRIVER_cuCtxSynchronize ||
		       number == CUPTI_DRIVER_cuCtxSynchronize_v2;
	return number == CUPTI_RUNTIME_cudaDeviceSynchronize_v3020 ||
	       number == CUPTI_RUNTIME_cudaThreadSynchronize_v3020;
}

static void calls_tell_wait(const struct cuda_thread *t, uint32_t domain, uint32_t number,
			    const struct cupti_callback *cb, uint32_t name, int64_t end_ns,
			    int result)
{
	struct rt_top top = rt_op_current();
	struct cuda_call at = {
		.stream = stream_of(domain, number, cb->params), .context = cb->context_id,
		.own_stream = about[domain - 1][number].own_stream, .tid = rt_tid(),
	};
	bool copied = t->class == CUPTI_CLASS_COPY_WAIT;
	struct cuda_queue *queue = copied || about[domain - 1][number].stream >= 0 ?
			      cuda_queue_of_call(&at, cb->context) : NULL;
	struct tft_wait wait = {
		.name = name, .start_ns = t->call_ns, .dur_ns = end_ns - t->call_ns,
		.queue = queue ? atomic_load(&queue->id) : 0, .result = result,
		.correlation = copied && t->entry ? t->entry | TFT_CORRELATION_CUPTI : 0,
		.op = top.instance, .op_name = top.name,
	};

	rt_emit_wait(&wait);
	if (result)
		return;
	if (queue)
		atomic_store_explicit(&queue->waited_ns, t->call_ns, memory_order_relaxed);
	else if (is_whole_wait(domain, number))
		atomic_store_explicit(&overdue_waited_ns, t->call_ns, memory_order_relaxed);
}

static void calls_leave(uint32_t domain, uint32_t number, const struct cupti_callback *cb)
{
	struct cuda_thread *t = own ? thread_own() : NULL;
	uint32_t name, correlation;
	int64_t end_ns;
	int result;

	if (unlikely(!t || !t->depth) || --t->depth)
		return;
	end_ns = rt_now_ns();
	result = cb->result ? *(const int *)cb->result : 0;
	correlation = t->entry ? t->entry | TFT_CORRELATION_CUPTI : 0;
	if (t->entry)
		filed_leave(t, cb, end_ns, result);
	name = call_name(domain, number, cb->function_name);
	rt_call(name, t->call_ns, end_ns, correlation, result);
	if (t->class == CUPTI_CLASS_WAIT || t->class == CUPTI_CLASS_COPY_WAIT)
		calls_tell_wait(t, domain, number, cb, name, end_ns, result);
	if (unlikely(t->begin_ns)) {
		int64_t own_ns = t->own_ns + rt_now_ns() - end_ns;

		rt_own_time((own_ns < SAMPLE_MAX_NS ? own_ns : SAMPLE_MAX_NS) * SAMPLE);
	}
}

static void state_told(uint32_t id, const struct cupti_state *state)
{
	const char *text = state && state->message ? state->message : "without a reason";

	if (id == CUPTI_STATE_FATAL)
		cuda_say(SAID_FATAL, 2, "CUPTI has given up: %s (%u); from here on nothing of the "
			 "device is seen", text, state ? state->result : 0);
	else if (id == CUPTI_STATE_ERROR)
		cuda_tell(1, "CUPTI: %s (%u)", text, state ? state->result : 0);
}

/* Both the runtime's call and the driver call within it report this. */
static void profiler(int class)
{
	if (class == CUPTI_CLASS_PROFILER_START || class == CUPTI_CLASS_PROFILER_STOP)
		rt_trigger_profiler(class == CUPTI_CLASS_PROFILER_START);
}

void calls_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
	int saved = errno;

	(void)user;
	if (unlikely(atomic_load_explicit(&cuda_dead, memory_order_relaxed) || !data))
		return;
	switch (domain) {
	case CUPTI_DOMAIN_DRIVER:
	case CUPTI_DOMAIN_RUNTIME:
		if (((const struct cupti_callback *)data)->site == CUPTI_ENTER) {
			calls_enter(domain, id, data);
		} else {
			calls_leave(domain, id, data);
			profiler(calls_class(domain, id));
		}
		break;
	case CUPTI_DOMAIN_RESOURCE:
		objects_resource(id, data);
		break;
	case CUPTI_DOMAIN_STATE:
		state_told(id, data);
		break;
	}
	errno = saved;
}
