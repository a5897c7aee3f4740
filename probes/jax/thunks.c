/* SPDX-License-Identifier: MIT */
/*
 * Kernels ("thunks") that are timed without a trace event.
 *
 * For the trace event of a kernel XLA writes two texts of 100 to 200 bytes, which are the same each
 * time except for the number of the run. So ThunkExecutor::TracedExecute(), which runs one kernel,
 * is replaced. The first time it calls XLA's, and the kernel's name is learnt from the event
 * (runs.c); from then on the kernel is only timed.
 *
 * Where XLA keeps what this needs is determined at run time, and checked with each kernel that is
 * learnt:
 *  - Thunk::Execute() among the virtual functions: by the tables of two classes;
 *  - the name and the program's number in a kernel, and the run's number in the arguments: the
 *    places that, in several kernels and runs, hold the values of their events;
 *  - whether the result is ready: XLA's own test for that is looked for in its code.
 * If one of these is not found, XLA's events stay in use, and a message says so. A kernel whose
 * result was not ready when it returned, because it continues on other threads, keeps its events
 * until its result has been ready at its return for a while.
 *
 * A kernel may be freed and another one get its address, so name and number are compared.
 */
#include <stdatomic.h>
#include <string.h>

#include "probes/jax/probe.h"

#define ENTRIES 16384u		/* the oldest are replaced; a power of two */
#define PLACES (2 * ENTRIES)
#define TRIES 4u
#define WORDS 16u		/* words of a kernel and of its parameters that are searched */
#define KERNELS_MIN 4u		/* how many kernels must agree ... */
#define RUNS_MIN 3u		/* ... of how many runs */
#define LEARNT_MAX 2000u	/* after this many kernels without that, learning is given up */
#define LATER_RUNS 64u

/* AsyncValueRef *(AsyncValueRef *result, Thunk *, const ExecuteParams *) */
typedef void *execute(void *result, void *thunk, const void *params);

static execute *original;
static size_t slot;		/* index of Thunk::Execute() in the table of virtual functions */

struct identity {		/* what identifies a kernel */
	const void *thunk;
	uint64_t program, name;
	uint32_t length;
};

/* Entries in the order in which kernels are learnt, which is the order in which they run:
 * neighbours are close to each other. */
static struct thunk_entry {
	_Atomic uint32_t version;	/* odd: it is being written */
	/* for how many further runs it may continue after it has returned */
	_Atomic uint32_t later;
	_Atomic(const void *) thunk;
	_Atomic uint64_t program, name;
	_Atomic uint32_t length, kernel_name, shape, module;
} entries[ENTRIES];
static uint32_t learnt;
static _Atomic uint16_t places[PLACES];	/* hash of an address -> index of the entry */

#define GET(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define SET(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

/* ---- where members are ---- */

static _Atomic uint32_t writing;	/* held by the thread that learns */
static _Atomic bool ready, given_up;

/* Words that have held the expected value each time. */
static struct {
	uint32_t name, program, run;	/* bit i: word i may be it */
	uint64_t last_run;
	uint32_t kernels, runs;
} may = { .name = UINT32_MAX, .program = UINT32_MAX, .run = UINT32_MAX };
static uint32_t name_at, program_at, run_at;

static void give_up(void)
{
	atomic_store(&ready, false);
	if (!atomic_exchange(&given_up, true))
		rt_emit_message(0,
				"jax: how this jaxlib stores its kernels is unknown: each kernel "
				"costs two trace events");
}

static uint32_t equal(const uint64_t *words, uint64_t value)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < WORDS; i++)
		mask |= (uint32_t)(words[i] == value) << i;
	return mask;
}

/* The words that may be a std::string, whose text is elsewhere or in its last two words. */
static uint32_t strings(const uint64_t *words, const char *text, size_t length)
{
	char there[JAX_TEXT_BYTES];
	uint32_t mask = 0;

	for (uint32_t i = 0; i + 4 <= WORDS && length <= sizeof(there); i++)
		if (words[i + 1] == length &&
		    rt_peek(there, (const void *)(uintptr_t)words[i], length) == length &&
		    !memcmp(there, text, length))
			mask |= 1u << i;
	return mask;
}

/* `writing` must be held. */
static void jax_thunk_look(const uint64_t *thunk, const uint64_t *params,
			   const struct jax_told *told)
{
	uint32_t names = strings(thunk, told->name, told->name_length);
	uint32_t modules = strings(thunk, told->module, told->module_length), texts;

	texts = names | modules;
	texts |= texts << 1 | texts << 2 | texts << 3;
	may.name &= names;
	may.program &= equal(thunk, told->program) & ~texts;
	may.run &= equal(params, told->run);
	may.runs += !may.runs || told->run != may.last_run;
	may.last_run = told->run;
	may.kernels++;
	if (!may.name || !may.program || !may.run || may.kernels > LEARNT_MAX) {
		give_up();
		return;
	}
	if (may.kernels < KERNELS_MIN || may.runs < RUNS_MIN ||
	    (may.program & (may.program - 1)) || (may.run & (may.run - 1)))
		return;
	name_at = (uint32_t)__builtin_ctz(may.name);
	program_at = (uint32_t)__builtin_ctz(may.program);
	run_at = (uint32_t)__builtin_ctz(may.run);
	atomic_store_explicit(&ready, true, memory_order_release);
}

static struct identity identity_of(const void *thunk)
{
	const uint64_t *words = thunk;

	return (struct identity){
		.thunk = thunk, .program = words[program_at], .name = words[name_at],
		.length = (uint32_t)words[name_at + 1],
	};
}

/* ---- known kernels ---- */

/* The first of the TRIES places of a kernel. */
static inline uint32_t place_of(const void *thunk)
{
	uint64_t mixed = (uint64_t)(uintptr_t)thunk * 0x9e3779b97f4a7c15u;

	return (uint32_t)(mixed >> 48) & (PLACES - TRIES);
}

static inline bool is(const struct thunk_entry *e, const struct identity *id)
{
	return GET(e->thunk) == id->thunk && GET(e->program) == id->program &&
	       GET(e->name) == id->name && GET(e->length) == id->length;
}

/* Whether the entry is that of this kernel. */
static inline bool taken(const struct thunk_entry *e, const struct identity *id,
			 struct jax_kernel *k)
{
	uint32_t version = atomic_load_explicit(&e->version, memory_order_acquire);

	if (!is(e, id))
		return false;
	k->name = GET(e->kernel_name);
	k->shape = GET(e->shape);
	k->module = GET(e->module);
	rt_fence(memory_order_acquire);
	return !(version & 1) && GET(e->version) == version;
}

/* Finds a kernel. Kernels mostly run in the same order; *next is the index of the one after this
 * one. */
static inline struct thunk_entry *jax_thunk_find(const struct identity *id, struct jax_kernel *k,
						 uint32_t *next)
{
	uint32_t number = *next & (ENTRIES - 1), place;

	if (__builtin_expect(!taken(&entries[number], id, k), 0)) {
		place = place_of(id->thunk);
		for (uint32_t i = 0; i < TRIES; i++) {
			number = GET(places[place + i]);
			if (taken(&entries[number], id, k))
				break;
			if (i == TRIES - 1)
				return NULL;
		}
	}
	*next = number + 1;
	return &entries[number];
}

/* The previous entry of the kernel, else one that is unused, else the next one to be replaced. */
static struct thunk_entry *entry_for(const void *thunk)
{
	uint32_t place = place_of(thunk), number;

	for (uint32_t i = 0; i < TRIES; i++) {
		struct thunk_entry *e = &entries[GET(places[place + i])];

		if (GET(e->thunk) == thunk)
			return e;
	}
	number = learnt++ & (ENTRIES - 1);
	for (uint32_t i = 0; i < TRIES; i++) {
		const void *other = GET(entries[GET(places[place + i])].thunk);

		if (!other || place_of(other) != place) {
			place += i;
			break;
		}
	}
	SET(places[place], (uint16_t)number);
	return &entries[number];
}

/* `writing` must be held. */
static void jax_thunk_keep(const struct identity *id, const struct jax_kernel *k, bool later)
{
	struct thunk_entry *e = entry_for(id->thunk);

	SET(e->version, GET(e->version) + 1);
	rt_fence(memory_order_release);
	SET(e->later, later ? LATER_RUNS : 0);
	SET(e->thunk, id->thunk);
	SET(e->program, id->program);
	SET(e->name, id->name);
	SET(e->length, id->length);
	SET(e->kernel_name, k->name);
	SET(e->shape, k->shape);
	SET(e->module, k->module);
	atomic_store_explicit(&e->version, GET(e->version) + 1, memory_order_release);
}

static const struct jax_running *innermost(const struct jax_thread *t)
{
	return t && t->running > 0 && t->running <= JAX_RUNNING_MAX ?
	       &t->run[t->running - 1] : NULL;
}

const struct jax_running *jax_thunk_running(const struct jax_thread *t)
{
	const struct jax_running *running = innermost(t);

	return running && !running->known ? running : NULL;
}

/* Uses times only where it was not observed how kernels are nested: XLA's clock and ours may differ
 * by more than a small kernel takes, so that a kernel would seem to contain the previous one. */
bool jax_thunk_outer(const struct jax_thread *t, int64_t start_ns)
{
	const struct jax_running *running = innermost(t);

	return running ? t->kernels != running->before : start_ns < t->kernel_ns;
}

void jax_thunk_told(const struct jax_told *told)
{
	const struct jax_running *running = jax_thunk_running(jax_self());
	uint64_t thunk[WORDS], params[WORDS];
	struct identity id;
	uint32_t free = 0;

	if (!running || atomic_load(&given_up) ||
	    !atomic_compare_exchange_strong(&writing, &free, 1))
		return;
	if (rt_peek(thunk, running->thunk, sizeof(thunk)) == sizeof(thunk) &&
	    rt_peek(params, running->params, sizeof(params)) == sizeof(params)) {
		jax_thunk_look(thunk, params, told);
		if (atomic_load(&ready)) {
			id = identity_of(running->thunk);
			jax_thunk_keep(&id, &told->kernel, told->later);
		}
	}
	atomic_store_explicit(&writing, 0, memory_order_release);
}

/* ---- running a kernel ---- */

/* tsl::AsyncValueRef: a pointer to a value with its state in the second word. */
static inline bool is_there(void *const *result)
{
	return GET(((_Atomic uint64_t *)*result)[1]) & 2;
}

static void *with_events(struct jax_thread *t, struct thunk_entry *e, void *result, void *thunk,
			 const void *params)
{
	int depth = t->running;

	if (depth < JAX_RUNNING_MAX)
		t->run[depth] = (struct jax_running){ thunk, params, t->kernels, e != NULL };
	t->running = depth + 1;
	original(result, thunk, params);
	t->running = depth;
	if (e && !is_there(result))
		SET(e->later, LATER_RUNS);
	else if (e && GET(e->later))
		SET(e->later, GET(e->later) - 1);
	return result;
}

static void *jax_thunk_traced(void *result, void *thunk, const void *params)
{
	struct jax_thread *t = rt_level() == TFT_LEVEL_OFF ? NULL : jax_self();
	struct jax_kernel kernel;
	struct identity id;
	struct thunk_entry *e = NULL;
	int64_t start_ns, end_ns;
	uint32_t before;

	if (!t)
		return original(result, thunk, params);
	if (atomic_load_explicit(&ready, memory_order_acquire)) {
		id = identity_of(thunk);
		e = jax_thunk_find(&id, &kernel, &t->next);
	}
	if (!e || GET(e->later) || jax_session())
		return with_events(t, e, result, thunk, params);
	before = t->kernels;
	start_ns = rt_quick_ns(t->clock);
	(*(execute *const **)thunk)[slot](result, thunk, params);
	end_ns = rt_quick_ns(t->clock);
	if (__builtin_expect(!is_there(result), 0))
		SET(e->later, LATER_RUNS);
	jax_thunk_ran(t, &kernel, ((const uint64_t *)params)[run_at], start_ns, end_ns,
		      t->kernels != before);
	return result;
}

/* ---- hooks ---- */

/* Finds the slot in the table of one class: it starts with two words that are not functions. */
static size_t slot_of(const struct patch_symbol *table, const struct patch_symbol *function)
{
	const void *const *words = table->at;

	for (size_t i = 2; words && function->at && i < table->size / sizeof(*words); i++)
		if (words[i] == function->at)
			return i - 2;
	return 0;
}

/* mov 8(value), state; test $2, state: whether XLA waits for a result that is not ready. */
static bool tests_state(const struct patch_symbol *function)
{
	const uint8_t *code = function->at;

	for (size_t i = 0; code && i + 6 <= function->size && i < 64; i++)
		if (code[i] == 0x8b && code[i + 1] >> 6 == 1 && code[i + 2] == 8 &&
		    code[i + 3] == 0xf6 && code[i + 5] == 2)
			return true;
	return false;
}

void jax_thunks_start(const struct patch_symbol *s)
{
	slot = slot_of(&s[JAX_CALL_TABLE], &s[JAX_CALL_EXECUTE]);
	if (slot && slot == slot_of(&s[JAX_WHILE_TABLE], &s[JAX_WHILE_EXECUTE]) &&
	    tests_state(&s[JAX_AND_THEN]) && s[JAX_TRACED].at)
		*(void **)&original = patch_original(&s[JAX_TRACED]);
	if (!original || !patch_replace(&s[JAX_TRACED], (void *)jax_thunk_traced))
		give_up();
}
