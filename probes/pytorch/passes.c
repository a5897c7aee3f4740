/* SPDX-License-Identifier: MIT */
/*
 * Forward passes and requests of a program that does not train.
 *
 * A pass is the outermost call of a module of torch.nn, from its first op to the end of its last
 * one. A request is the outermost call of a function named "generate", or the outermost range that
 * is named like a request, in which passes run; where one is within the other, the outer one
 * counts. Calls are recognised by the frames that an op is called from (py_where). All begin with
 * the first op in them, and end when an op of the same thread is not in them any more. The same
 * frame may be the next call of the same function: it is when the first op comes back and the
 * locals look as they did then (probes/python/again.c).
 *
 * In a request, passes are counted for each module by itself, and those of the module that ran most
 * often are told: an encoder runs once, before the passes that make tokens.
 *
 * A thread keeps what is open in a place that outlives it, so that its last request is told when
 * the thread or the process ends. A call that was open when the probe began to look, or while it
 * did not look, is not told.
 */
#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "probes/pytorch/probe.h"

#define PLACES 256		/* threads that run passes at the same time */
#define MODELS 4		/* modules of a request whose passes are counted */

/* An open call. */
struct call {
	const void *frame;	/* NULL: none is open; of a range: range_id() */
	bool range;
	uint64_t chain;		/* of its first op */
	bool moved;		/* an op with another chain has begun since */
	bool partial;		/* its begin was not seen */
	int64_t start_ns;
	struct py_look first, last;
};

/* The passes of one module in a request. */
struct model_passes {
	const void *module;
	uint32_t passes, batch;
	int64_t first_ns, last_ns;	/* end of the first and of the last pass */
};

struct torch_calls {
	_Atomic bool used;
	atomic_flag busy;
	uint32_t epoch;
	struct call request, pass;
	uint32_t request_name, request_batch;
	struct model_passes models[MODELS];
	const void *module;	/* of the open pass */
	uint32_t name, batch;
	bool grad;		/* the pass may be one of training */
	_Atomic int64_t pass_ns, request_ns;	/* when their last op ended so far */
	struct tft_step held;	/* a pass that may turn out to be one of training; no start: none */
};

static struct torch_calls places[PLACES];
_Atomic uint32_t torch_passes_epoch = 1;
static _Atomic bool sees = true;		/* ops are recorded, or no call is */
/* Threads with a higher number began after the probe; INT_MAX: not known yet. */
static _Atomic int late_tid;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool made;

/* ---- telling ---- */

static void tell_pass(struct torch_calls *c)
{
	struct tft_step step = {
		.name = c->name, .number = TFT_STEP_PASS, .start_ns = c->pass.start_ns,
		.dur_ns = atomic_load(&c->pass_ns) - c->pass.start_ns,
	};

	if (torch_steps_train()) {
		c->held.start_ns = 0;
		return;
	}
	if (c->held.start_ns)
		rt_emit_step(&c->held);
	c->held.start_ns = 0;
	if (c->grad)
		c->held = step;
	else
		rt_emit_step(&step);
}

/* Adds the open pass to what the request knows of its module. */
static void count_pass(struct torch_calls *c)
{
	int64_t end_ns = atomic_load(&c->pass_ns);

	for (int i = 0; i < MODELS; i++) {
		struct model_passes *m = &c->models[i];

		if (m->passes && m->module != c->module)
			continue;
		m->module = c->module;
		if (!m->passes++) {
			m->first_ns = end_ns;
			m->batch = c->batch;
		}
		m->last_ns = end_ns;
		return;
	}
}

static void end_pass(struct torch_calls *c)
{
	if (!c->pass.frame)
		return;
	if (!c->pass.partial) {
		tell_pass(c);
		count_pass(c);
	}
	c->pass.frame = NULL;
}

static void end_request(struct torch_calls *c)
{
	const struct model_passes *most = &c->models[0];
	struct tft_request request;

	if (!c->request.frame)
		return;
	for (int i = 1; i < MODELS; i++)
		if (c->models[i].passes && c->models[i].passes >= most->passes)
			most = &c->models[i];
	request = (struct tft_request){
		.name = c->request_name, .start_ns = c->request.start_ns,
		.dur_ns = atomic_load(&c->request_ns) - c->request.start_ns,
		.passes = most->passes,
		.sequences = c->request_batch ? c->request_batch : most->batch,
		.first_ns = most->first_ns - c->request.start_ns,
		.rest_ns = most->last_ns - most->first_ns,
	};
	if (!c->request.partial && most->passes && !torch_steps_train())
		rt_emit_request(&request);
	c->request.frame = NULL;
}

/* ---- a thread's place ---- */

static void end_all(struct torch_calls *c)
{
	if (atomic_flag_test_and_set(&c->busy))
		return;
	if (c->epoch == atomic_load(&torch_passes_epoch)) {
		end_pass(c);
		end_request(c);
		if (c->held.start_ns && !torch_steps_train())
			rt_emit_step(&c->held);
	}
	c->held.start_ns = 0;
	c->pass.frame = c->request.frame = NULL;
	atomic_flag_clear(&c->busy);
}

static void calls_thread_ends(void *place)
{
	struct torch_calls *c = place;

	end_all(c);
	atomic_store(&c->used, false);
}

static void make_key(void)
{
	made = pthread_key_create(&key, calls_thread_ends) == 0;
}

static struct torch_calls *calls_of_thread(struct torch_thread *t)
{
	pthread_once(&once, make_key);
	for (int i = 0; made && !t->calls && i < PLACES; i++) {
		bool no = false;

		if (!atomic_compare_exchange_strong(&places[i].used, &no, true))
			continue;
		memset((char *)&places[i] + offsetof(struct torch_calls, epoch), 0,
		       sizeof(places[i]) - offsetof(struct torch_calls, epoch));
		t->calls = &places[i];
		pthread_setspecific(key, t->calls);
		/* a thread that began after the probe has been seen from its begin on */
		if (gettid() > atomic_load(&late_tid))
			t->calls->epoch = atomic_load(&torch_passes_epoch);
	}
	if (!t->calls)
		rt_dropped(1);
	return t->calls;
}

/* The word that a request's range begins with; 0: it is none. "request", "request 12",
 * "llm_request[3]" are some; "requests" and "generate_mask" are none. */
static size_t request_word(const char *range)
{
	static const char *const words[] = { "request", "llm_request", "generate" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);
		const char *rest = range + n;

		if (strncasecmp(range, words[i], n))
			continue;
		rest += strspn(rest, "_-");
		if (!*rest || strchr(" #:[(", *rest) || isdigit((unsigned char)*rest))
			return n;
	}
	return 0;
}

bool torch_is_request(const char *range)
{
	return request_word(range) != 0;
}

void torch_request_begins(struct torch_thread *t, int at, const char *name)
{
	char word[16];

	if (t->asked)
		return;
	/* without its number, or each request would be one of another name */
	snprintf(word, sizeof(word), "%.*s", (int)request_word(name), name);
	t->asked_name = rt_name(TFT_NAME_OTHER, word);
	t->asked_at = (uint32_t)at;
	t->asked = ++t->asks;
}

void torch_passes_late(void)
{
	atomic_store(&late_tid, INT_MAX);
}

void torch_passes_tick(void)
{
	/* this thread began when the probe was loaded */
	if (atomic_load(&late_tid) == INT_MAX)
		atomic_store(&late_tid, gettid());
}

void torch_passes_see(bool whether)
{
	if (atomic_exchange(&sees, whether) && !whether)
		atomic_fetch_add(&torch_passes_epoch, 1);
}

void torch_passes_end(void)
{
	for (int i = 0; i < PLACES; i++)
		if (atomic_load(&places[i].used))
			end_all(&places[i]);
}

void torch_passes_fork_child(struct torch_thread *t)
{
	memset(places, 0, sizeof(places));
	if (!t)
		return;
	/* what is open is the parent's */
	t->asked = 0;
	if (!t->calls)
		return;
	t->calls = NULL;
	if (made)
		pthread_setspecific(key, NULL);
}

/* ---- where an op begins ---- */

static bool take_size(const void *object, void *arg)
{
	int64_t n = torch_sequences(object);

	if (n > 0 && n <= UINT32_MAX)
		*(uint32_t *)arg = (uint32_t)n;
	return n > 0;
}

/* The first dimension of the first tensor that the call was given or has made; 0: unknown. */
static uint32_t sequences_of(const struct py_where *where, const void *frame)
{
	uint32_t n = 0;

	py_each_local(where, frame, "Tensor", take_size, &n);
	return n;
}

/* What stands for the range that is a request: no frame, whose address is even. NULL: none is
 * open. */
static const void *range_id(const struct torch_thread *t)
{
	return t->asked ? (const void *)((uintptr_t)t->asked << 1 | 1) : NULL;
}

/* The request that an op is in: the one that began first. */
static const void *request_of(const struct torch_calls *c, const struct torch_thread *t,
			      const struct py_where *where)
{
	bool within = c->request.frame && c->request.frame == where->request;

	return t->asked && !within ? range_id(t) : where->request;
}

static bool is_other_call(struct call *call, const void *frame, const struct py_where *where)
{
	struct py_look now;
	bool same;

	if (frame != call->frame)
		return true;
	if (call->range)
		return false;
	if (where->chain != call->chain)
		call->moved = true;
	if (!frame || where->chain != call->chain || !call->moved)
		return false;
	py_look(&now, where, frame);
	same = py_same_call(&call->first, &call->last, &now);
	call->last = now;
	call->moved = false;
	return !same;
}

static void begin(struct call *call, const void *frame, const struct py_where *where,
		  bool partial, int64_t now_ns)
{
	call->frame = frame;
	call->range = false;
	call->chain = where->chain;
	call->moved = false;
	call->partial = partial;
	call->start_ns = now_ns;
	py_look(&call->first, where, frame);
	call->last = call->first;
}

static void begin_request(struct torch_calls *c, const struct torch_thread *t,
			  const struct py_where *where, const void *request, bool partial,
			  int64_t now_ns)
{
	char text[512];

	memset(c->models, 0, sizeof(c->models));
	c->request_batch = 0;
	atomic_store(&c->request_ns, now_ns);
	if (request == range_id(t)) {
		c->request = (struct call){
			.frame = request, .range = true, .partial = partial, .start_ns = now_ns,
		};
		c->request_name = t->asked_name;
		return;
	}
	begin(&c->request, request, where, partial, now_ns);
	py_function(request, text, sizeof(text));
	c->request_name = rt_name(TFT_NAME_OTHER, text);
}

static void begin_pass(struct torch_calls *c, const struct py_where *where, bool partial,
		       int64_t now_ns)
{
	const char *class;

	begin(&c->pass, where->pass, where, partial, now_ns);
	c->module = py_module(where->pass, &class);
	c->name = rt_name(TFT_NAME_OTHER, class ? class : "torch.nn.Module");
	c->grad = false;
	c->batch = sequences_of(where, where->pass);
	if (c->request.frame && where->request && !c->request_batch)
		c->request_batch = sequences_of(where, where->request);
	atomic_store(&c->pass_ns, now_ns);
}

void torch_passes_change(struct torch_thread *t, const struct py_where *where)
{
	bool partial, other, asks = where->request || t->asked;
	const void *request;
	struct torch_calls *c;
	int64_t now_ns;

	/* there are no passes to tell, so that this is not called again for this one */
	if (torch_steps_train()) {
		t->in_pass = where->pass;
		t->in_request = where->request;
		t->in_asked = t->asked;
		t->pass_chain = t->request_chain = 0;
		return;
	}
	c = t->calls ? t->calls : where->pass || asks ? calls_of_thread(t) : NULL;
	if (!c || !atomic_load(&sees) || atomic_flag_test_and_set(&c->busy))
		return;
	c->pass.moved |= t->moved;
	c->request.moved |= t->moved;
	t->moved = false;
	partial = c->epoch != atomic_load(&torch_passes_epoch);
	if (partial) {
		partial = t->outside != atomic_load(&torch_passes_epoch);
		c->epoch = atomic_load(&torch_passes_epoch);
		c->pass.frame = c->request.frame = NULL;
		c->held.start_ns = 0;
	}
	request = request_of(c, t, where);
	other = is_other_call(&c->request, request, where);
	if (is_other_call(&c->pass, where->pass, where) || other) {
		now_ns = rt_now_ns();
		end_pass(c);
		if (other)
			end_request(c);
		if (other && request)
			begin_request(c, t, where, request, partial, now_ns);
		if (where->pass)
			begin_pass(c, where, partial, now_ns);
	}
	t->in_pass = c->pass.frame;
	t->in_request = where->request;
	t->in_asked = t->asked;
	t->pass_chain = c->pass.chain;
	t->request_chain = c->request.chain;
	atomic_flag_clear(&c->busy);
}

void torch_passes_ran(struct torch_thread *t, const struct torch_open *o)
{
	const struct py_where *where = &o->where;
	int64_t now_ns;

	if (!t->calls || torch_steps_train())
		return;
	now_ns = rt_now_ns();
	t->calls->grad |= o->grad;
	if (where->pass)
		atomic_store_explicit(&t->calls->pass_ns, now_ns, memory_order_relaxed);
	if (where->request || o->asked)
		atomic_store_explicit(&t->calls->request_ns, now_ns, memory_order_relaxed);
}
