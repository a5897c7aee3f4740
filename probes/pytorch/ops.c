/* SPDX-License-Identifier: MIT */
/*
 * Turns PyTorch's ops into ops of the runtime: one callback at the begin of each op, one at its
 * end.
 *
 * An end is matched to its begin by the op's own number, because TorchScript's fork and wait end
 * some ops on another thread. Such an op is closed here when its own thread runs the next one.
 */
#include <stdatomic.h>
#include <string.h>

#include "probes/pytorch/probe.h"
#include "probes/runtime/hash.h"

#define NAMES 8192u		/* a power of two */
#define STRAYS 64
#define SHAPED 8		/* for how many runs of an operator its inputs are sent */
#define BLOCK 256		/* how many ops of a thread are counted together */
#define OWN_NUMBER (UINT64_C(1) << 63)	/* a number that no op of PyTorch has */

__attribute__((tls_model("initial-exec")))
static _Thread_local void *thread_own;

/* NULL: memory is short. */
static inline struct torch_thread *torch_self(void)
{
	struct torch_thread *t = thread_own;

	return __builtin_expect(t != NULL, 1) ? t : rt_room(&thread_own, sizeof(*t));
}

static _Atomic bool fresh;		/* an operator was seen for the first time */
static _Atomic int unshaped;		/* operators that ran fewer than SHAPED times with inputs */

/* ---- names ---- */

/* Names of operators, whose schemas are never freed: by address. */
static struct operator {
	_Atomic(const void *) schema;
	_Atomic uint32_t name;
	_Atomic uint32_t shaped;
	_Atomic bool copies;
	_Atomic(struct py_slowest *) slowest;
} names[NAMES];

static struct operator *operator_of(const void *schema)
{
	uint32_t at = (uint32_t)(((uintptr_t)schema >> 4) * 0x9e3779b97f4a7c15u >> 51);
	const void *none = NULL;

	for (uint32_t i = 0; i < 16; i++, none = NULL) {
		struct operator *p = &names[(at + i) & (NAMES - 1)];
		const void *have = atomic_load_explicit(&p->schema, memory_order_acquire);

		if (have == schema)
			return p;
		if (!have && (atomic_compare_exchange_strong(&p->schema, &none, schema) ||
			      none == schema))
			return p;
	}
	return NULL;
}

static uint32_t operator_name(const void *rf, struct operator *p)
{
	uint32_t name = p ? atomic_load_explicit(&p->name, memory_order_relaxed) : 0;

	if (__builtin_expect(name != 0, 1))
		return name;
	name = rt_name(TFT_NAME_OP, torch_api.name(rf));
	if (p) {
		atomic_store_explicit(&p->copies, torch_is_copy(torch_api.name(rf)),
				      memory_order_relaxed);
		atomic_store_explicit(&p->slowest, py_slowest(name), memory_order_relaxed);
		if (!atomic_exchange_explicit(&p->name, name, memory_order_relaxed))
			atomic_fetch_add_explicit(&unshaped, 1, memory_order_relaxed);
		atomic_store_explicit(&fresh, true, memory_order_relaxed);
	}
	return name;
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The kind of something that is not an operator, by its name. */
static enum torch_kind torch_kind_of(const char *text, uint8_t scope)
{
	switch (*text) {
	case 'O':
		if (starts(text, "Optimizer.step#"))
			return TORCH_STEP;
		if (starts(text, "Optimizer.zero_grad#"))
			return TORCH_OP;
		break;
	case 'e':
		if (starts(text, "enumerate(DataLoader)#"))
			return TORCH_INPUT;
		break;
	case 'T':
		if (starts(text, "TorchDynamo Cache Lookup"))
			return TORCH_LOOKUP;
		if (starts(text, "Torch-Compiled Region: "))
			return TORCH_REGION;
		break;
	case 'C':
		if (starts(text, "CompiledFunctionBackward"))
			return TORCH_LAZY;
		break;
	}
	if (scope != TORCH_USER)
		return TORCH_OP;
	return torch_is_request(text) ? TORCH_REQUEST : TORCH_RANGE;
}

static inline bool is_range(enum torch_kind kind)
{
	return kind == TORCH_RANGE || kind == TORCH_REQUEST;
}

/* What is not an operator has its name in an object that is freed. The same names occur again and
 * again: a thread caches what they mean by a hash of the text. */
static const struct torch_text *torch_text_of(struct torch_thread *t, const char *text,
					      uint8_t scope)
{
	uint64_t hash = rt_hash_bytes(text, strlen(text), scope) | 1;
	struct torch_text *p = &t->texts[hash >> 32 & (TORCH_TEXTS - 1)];
	enum torch_kind kind;

	if (__builtin_expect(p->hash == hash, 1))
		return p;
	kind = torch_kind_of(text, scope);
	p->kind = (uint8_t)kind;
	p->name = rt_name(is_range(kind) ? TFT_NAME_RANGE : TFT_NAME_OP, text);
	p->slowest = py_slowest(p->name);
	p->hash = p->name ? hash : 0;
	return p;
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

/* Ops that started while the level was off never end here. */
void torch_strays_clear(void)
{
	for (int i = 0; i < STRAYS; i++)
		atomic_store(&strays[i], 0);
	atomic_store(&stray_count, 0);
}

static uint32_t whole_stack(int64_t dur_ns, const void *open)
{
	const struct torch_open *o = open;

	return py_slow_stack(o->slowest, dur_ns, &o->where);
}

/* Removes the innermost op. */
static inline void torch_pop(struct torch_thread *t)
{
	struct torch_open *o = --t->depth < TORCH_DEPTH_MAX ? &t->open[t->depth] : NULL;
	struct rt_ask ask = { py_slow_ns(o ? o->slowest : NULL), whole_stack, o };

	if (o && o->kind == TORCH_SKIPPED)
		return;
	if (o && __builtin_expect(o->kind >= TORCH_LOOKUP, 0))
		torch_compile_closed(t, o);
	if (o && __builtin_expect(o->kind == TORCH_REQUEST, 0))
		torch_request_ends(t, t->depth);
	rt_op_pop_asking(0, &ask);
	t->told--;
}

void torch_close_to(struct torch_thread *t, int at)
{
	while (t->depth > at)
		torch_pop(t);
}

void torch_open_own(struct torch_thread *t, enum torch_kind kind, uint32_t name,
		    const struct py_where *where)
{
	struct rt_op_args args = {
		.name = name, .source = where->source, .step = -1, .framework = TFT_FW_PYTORCH,
	};

	t->open[t->depth] = (struct torch_open){
		.number = OWN_NUMBER, .name = name, .kind = (uint8_t)kind, .where = *where,
		.slowest = py_slowest(name),
	};
	rt_op_push(&args);
	t->depth++;
	t->told++;
}

/* Closes ops that this thread has open and another thread has ended. */
static void close_strays(struct torch_thread *t)
{
	while (t->depth > 0 && t->depth <= TORCH_DEPTH_MAX &&
	       stray_take(t->open[t->depth - 1].number))
		torch_pop(t);
}

/* ---- the callbacks ---- */

static inline void count(struct torch_thread *t)
{
	if (__builtin_expect(++t->begun == BLOCK, 0)) {
		torch_rate_add(t->begun, t->pushed);
		t->begun = t->pushed = 0;
	}
}

/* Inputs are sent as long as the operator has run few times; at level full, always. */
static uint32_t shapes_of(struct torch_thread *t, const void *rf, struct operator *p)
{
	if (rt_level() < TFT_LEVEL_FULL &&
	    (!p || atomic_load_explicit(&p->shaped, memory_order_relaxed) >= SHAPED))
		return 0;
	if (p && atomic_fetch_add_explicit(&p->shaped, 1, memory_order_relaxed) == SHAPED - 1)
		atomic_fetch_sub_explicit(&unshaped, 1, memory_order_relaxed);
	return torch_shapes(t, rf);
}

static inline void begin_special(struct torch_thread *t, struct torch_open *o)
{
	if (o->kind == TORCH_STEP || o->kind == TORCH_INPUT)
		o->start_ns = rt_now_ns();
	if (o->kind == TORCH_STEP)
		torch_step_begins(t);
	else if (o->kind == TORCH_INPUT)
		torch_input_begins(t, o);
}

/* Determines what is about to start: puts its kind and slowest runs into *o. NULL: it is not an
 * operator, and *text is its name. */
static inline struct operator *torch_op_named(struct torch_thread *t, const void *rf, uint8_t scope,
					      struct torch_open *o, const char **text)
{
	const struct torch_text *kept;
	struct operator *op = NULL;

	o->scope = scope;
	o->kind = TORCH_OP;
	*text = NULL;
	if (torch_layout.is_schema >= 0 && torch_u8(rf, torch_layout.is_schema) == 1) {
		op = operator_of((const void *)(uintptr_t)torch_u64(rf, torch_layout.schema));
		o->name = operator_name(rf, op);
		o->slowest = op ? atomic_load_explicit(&op->slowest, memory_order_relaxed) :
				  py_slowest(o->name);
		return op;
	}
	*text = torch_api.name(rf);
	kept = torch_text_of(t, *text, scope);
	o->kind = kept->kind;
	o->name = kept->name;
	o->slowest = kept->slowest;
	return NULL;
}

/* Whether the op is left out because there are too many. */
static inline bool left_out(const struct torch_open *o, const struct torch_open *top)
{
	return __builtin_expect(torch_mode_now() != TORCH_ALL,
				0) &&
	       o->scope == TORCH_FUNCTION && top &&
	       (top->scope == TORCH_FUNCTION || top->kind == TORCH_SKIPPED);
}

static inline void torch_op_push(struct torch_thread *t, const void *rf, struct torch_open *o,
				 struct operator *op, bool inputs)
{
	struct rt_op_args args = {
		.name = o->name, .source = o->where.source, .step = -1,
		.framework = TFT_FW_PYTORCH, .flags = is_range(o->kind) ? TFT_OP_RANGE : 0,
	};
	int64_t sequence = torch_layout.sequence < 0 ? -1 :
			   (int64_t)torch_u64(rf, torch_layout.sequence);
	uint64_t instance;

	o->grad = sequence >= 0;
	if (o->scope == TORCH_BACKWARD) {
		torch_steps_backward();
		if (sequence >= 0 && torch_layout.forward_thread >= 0)
			args.forward = torch_forward_of(torch_u64(rf, torch_layout.forward_thread),
							(uint64_t)sequence);
	}
	if (inputs && op) {
		args.shapes = shapes_of(t, rf, op);
		if (atomic_load_explicit(&op->copies, memory_order_relaxed) && !t->compile_depth)
			args.payload = torch_source(rf);
	}
	if (__builtin_expect(o->kind >= TORCH_STEP, 0))
		begin_special(t, o);
	else if (!t->fetching)
		t->worked = true;
	instance = rt_op_push(&args);
	if (o->scope == TORCH_FUNCTION && sequence >= 0 && instance)
		torch_remember(t, (uint64_t)sequence, instance);
	t->pushed++;
	t->told++;
}

static inline struct torch_open *top_of(struct torch_thread *t)
{
	return t->depth && t->depth <= TORCH_DEPTH_MAX ? &t->open[t->depth - 1] : NULL;
}

static inline void torch_op_begin(const void *rf, bool inputs)
{
	struct torch_thread *t = torch_self();
	uint8_t scope = torch_layout.scope < 0 ? TORCH_FUNCTION : torch_u8(rf, torch_layout.scope);
	uint64_t number = torch_layout.handle < 0 ? 0 : torch_u64(rf, torch_layout.handle);
	struct torch_open *o, new, *top;
	struct operator *op;
	const char *text;

	if (!t)
		return;
	if (__builtin_expect(atomic_load_explicit(&stray_count, memory_order_relaxed) != 0, 0))
		close_strays(t);
	top = top_of(t);
	if (top && number && top->number == number) {
		top->twice = true;
		return;
	}
	count(t);
	op = torch_op_named(t, rf, scope, &new, &text);
	py_where(&new.where, top ? &top->where : NULL);
	if (__builtin_expect(new.where.compiling || t->compile_depth || t->lookup_ns, 0)) {
		torch_compile_before(t, new.kind, text, &new.where);
		top = top_of(t);
	}
	/* what torch.compile runs while it works is no pass of the program's */
	if (!t->compile_depth)
		torch_passes_at(t, &new.where);
	new.number = number;
	new.twice = new.grad = false;
	new.start_ns = 0;
	new.asked = t->asked;
	o = &new;
	if (t->depth < TORCH_DEPTH_MAX) {
		o = &t->open[t->depth];
		*o = new;
		if (left_out(o, top))
			o->kind = TORCH_SKIPPED;
		if (__builtin_expect(o->kind == TORCH_REQUEST, 0))
			torch_request_begins(t, t->depth, text);
	}
	if (o->kind != TORCH_SKIPPED)
		torch_op_push(t, rf, o, op, inputs);
	t->depth++;
}

/* Whether the op is an outermost one of a pass or of a request. */
static inline bool ends_call(const struct torch_open *o, const struct torch_open *outer)
{
	return (o->where.pass || o->where.request || o->asked) &&
	       (!outer || outer->where.pass != o->where.pass || outer->asked != o->asked ||
		outer->where.request != o->where.request);
}

/* Pops down to the op that ends; it is on top, except for ops that ended on other threads. */
static void torch_op_end(const void *rf)
{
	struct torch_thread *t = torch_self();
	uint64_t number = torch_layout.handle < 0 ? 0 : torch_u64(rf, torch_layout.handle);
	int at = t ? t->depth - 1 : -1;
	struct torch_open *o;

	if (!t)
		return;
	if (at >= TORCH_DEPTH_MAX) {
		torch_pop(t);
		return;
	}
	while (at >= 0 && t->open[at].number != number)
		at--;
	if (at < 0) {
		if (rt_level() != TFT_LEVEL_OFF)
			stray_add(number);
		return;
	}
	o = &t->open[at];
	if (__builtin_expect(o->twice, 0)) {
		o->twice = false;
		return;
	}
	torch_close_to(t, at);
	if (ends_call(o, at ? o - 1 : NULL))
		torch_passes_ran(t, o);
	if (o->kind == TORCH_STEP)
		torch_step_ends(t, o, rt_now_ns());
	else if (o->kind == TORCH_INPUT)
		torch_input_ends(t, o, torch_api.name(rf), rt_now_ns());
}

void *torch_on_start(void **context, const void *rf)
{
	*context = NULL;
	if (!rt_ranges_off())
		torch_op_begin(rf, false);
	return context;
}

void *torch_on_start_inputs(void **context, const void *rf)
{
	*context = NULL;
	if (rt_level() != TFT_LEVEL_OFF)
		torch_op_begin(rf, true);
	return context;
}

/* Called also at level off, for ops that started before. */
void torch_on_end(const void *rf, void *context)
{
	(void)context;
	torch_op_end(rf);
}

bool torch_ops_fresh(void)
{
	return atomic_exchange(&fresh, false);
}

bool torch_ops_unshaped(void)
{
	return atomic_load_explicit(&unshaped, memory_order_relaxed) > 0;
}

/* What was open belongs to the parent. */
void torch_ops_fork_child(void)
{
	struct torch_thread *t = torch_self();

	torch_steps_fork_child(t);
	torch_register_fork_child();
	torch_cost_fork_child();
	torch_passes_fork_child(t);
}
