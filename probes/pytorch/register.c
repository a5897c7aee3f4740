/* SPDX-License-Identifier: MIT */
/*
 * Which callbacks are registered with PyTorch: by level, by what is read of an op, and by whether
 * steps are bare.
 *
 * What a callback receives is fixed when it is registered. To read inputs for a while, callbacks
 * are registered anew, the new ones before the old ones go, so that no op is missed; an op that
 * meets both is recorded once. PyTorch boxes the inputs of every op for that, which costs more than
 * all the rest. So they are read only for the first runs of each operator: until the first one
 * runs, for a moment or a few steps after each operator that was not seen before, no longer than
 * an operator has few runs, and always at level full.
 *
 * While steps are bare (cost.c), only the functions of optimizers and data loaders, and ranges,
 * have callbacks.
 *
 * Level min records no ops. It needs the functions of optimizers and data loaders, and until the
 * program is known to train also the nodes of a backward pass; ops cost nothing then.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "probes/pytorch/probe.h"

/* inputs are read for this long, and for this many steps if there are any ... */
#define INPUTS_NS 100000000
#define INPUTS_STEPS 16
#define INPUTS_MAX_NS (10 * INT64_C(1000000000))	/* ... but no longer */

_Atomic uint8_t torch_mode;
static _Atomic bool ready;		/* PyTorch's functions and fields are known */
static _Atomic uint64_t callback;	/* 0: none is registered */
static _Atomic bool with_inputs;	/* of the registered callback */
static _Atomic uint16_t scopes;	/* of the registered callback, a bit for each torch_scope */
static _Atomic bool bare;		/* steps run without callbacks around ops */
static _Atomic uint32_t registered = 1;
static int64_t inputs_since_ns;
static uint32_t inputs_since_step;
static bool any;		/* an op has run; importing torch may take long */
/* since when steps are bare, on which thread and how many; protected by `registering` */
static struct tft_bare bare_now;
/* Held while PyTorch's own list of callbacks is changed, under its lock: no child of a fork may
 * find that lock taken. */
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void)
{
	pthread_mutex_lock(&registering);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&registering);
}

/* Which scopes have to be seen: a bit for each torch_scope. */
static uint16_t scopes_of(enum torch_mode new_mode)
{
	const uint16_t user = 1u << TORCH_USER, backward = 1u << TORCH_BACKWARD;

	switch (rt_level()) {
	case TFT_LEVEL_OFF:
		return user;
	case TFT_LEVEL_MIN:
		return torch_steps_train() ? user : user | backward;
	default:
		return atomic_load(&bare) ? user :
		       new_mode == TORCH_FEW ? user | backward : UINT16_MAX;
	}
}

/* Tells for how long steps have been bare. With `registering`. */
static void bare_tell(int64_t now_ns)
{
	bare_now.dur_ns = now_ns - bare_now.start_ns;
	if (bare_now.dur_ns > 0)
		rt_emit_bare(&bare_now);
	bare_now.start_ns = now_ns;
	bare_now.steps = 0;
}

/* With `registering`. */
static void torch_register(enum torch_mode new_mode, bool inputs)
{
	struct torch_callback c = {
		.start = inputs ? torch_on_start_inputs : torch_on_start, .end = torch_on_end,
		.probability = 1, .needs_inputs = inputs, .needs_ids = 1,
	};
	uint64_t old = atomic_load(&callback);
	uint16_t which = scopes_of(new_mode);

	atomic_store(&scopes, which);
	for (size_t i = 0; i < sizeof(c.scopes); i++)
		c.scopes[i] = which >> i & 1;
	torch_passes_see(rt_level() >= TFT_LEVEL_DEFAULT && new_mode != TORCH_FEW);
	atomic_store(&torch_mode, (uint8_t)new_mode);
	atomic_store(&with_inputs, inputs);
	/* without numbers an op that meets both callbacks would be recorded twice */
	if (old && torch_layout.handle < 0)
		torch_api.remove(old);
	atomic_store(&callback, torch_api.add(c));
	if (old && torch_layout.handle >= 0)
		torch_api.remove(old);
}

/* Steps are not bare any more. With `registering`. */
static void bare_end(int64_t now_ns)
{
	if (atomic_exchange(&bare, false))
		bare_tell(now_ns);
}

/* level: the level has changed. */
static void torch_reregister(enum torch_mode new_mode, bool inputs, bool level)
{
	pthread_mutex_lock(&registering);
	if (level)
		bare_end(rt_now_ns());
	torch_register(new_mode, inputs);
	if (atomic_fetch_add(&registered, 1) == UINT32_MAX)
		atomic_store(&registered, 1);
	pthread_mutex_unlock(&registering);
}

void torch_ops_bare_ends(int64_t now_ns)
{
	if (!atomic_load(&bare) || pthread_mutex_trylock(&registering))
		return;
	if (atomic_load(&bare) && bare_now.tid == rt_tid()) {
		bare_now.steps++;
		bare_tell(now_ns);
	}
	pthread_mutex_unlock(&registering);
}

void torch_ops_set_bare(bool now_bare, int64_t now_ns)
{
	if (now_bare == atomic_load(&bare) || pthread_mutex_trylock(&registering))
		return;
	if (now_bare != atomic_load(&bare) && atomic_load(&callback)) {
		if (now_bare)
			bare_now = (struct tft_bare){ .start_ns = now_ns, .tid = rt_tid() };
		atomic_store(&bare, now_bare);
		if (!now_bare)
			bare_tell(now_ns);
		torch_register(torch_mode_now(), atomic_load(&with_inputs));
	}
	pthread_mutex_unlock(&registering);
}

bool torch_ops_bare(void)
{
	return atomic_load(&bare);
}

uint32_t torch_ops_registered(void)
{
	return atomic_load(&registered);
}

bool torch_ops_reading(void)
{
	return atomic_load(&with_inputs) && rt_level() != TFT_LEVEL_FULL;
}

static bool can_inputs(void)
{
	return torch_layout.inputs >= 0 && torch_api.inputs && torch_api.sizes && torch_api.tensor;
}

/* Whether operators were seen for the first time a short while ago, and have run few times. */
static bool are_new(int64_t now_ns)
{
	int64_t ns = now_ns - inputs_since_ns;

	if (!torch_ops_unshaped())
		return false;
	return torch_steps_expected() ?
	       ns < INPUTS_MAX_NS && torch_steps_ended() - inputs_since_step < INPUTS_STEPS :
	       ns < INPUTS_NS;
}

static bool wants_inputs(int64_t now_ns)
{
	if (!can_inputs() || rt_level() < TFT_LEVEL_DEFAULT)
		return false;
	return rt_level() == TFT_LEVEL_FULL || !any || are_new(now_ns);
}

void torch_ops_level(enum tft_level level)
{
	if (!atomic_load(&ready))
		return;
	if (level == TFT_LEVEL_OFF && !rt_watching()) {
		uint64_t id;

		torch_passes_see(false);
		pthread_mutex_lock(&registering);
		bare_end(rt_now_ns());
		id = atomic_exchange(&callback, 0);
		if (id)
			torch_api.remove(id);
		pthread_mutex_unlock(&registering);
		return;
	}
	if (level != TFT_LEVEL_OFF)
		torch_strays_clear();
	torch_reregister(atomic_load(&callback) ? torch_mode_now() : TORCH_ALL,
			 wants_inputs(rt_now_ns()), true);
}

void torch_ops_start(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
	py_want_calls(!torch_steps_train());
	atomic_store(&ready, true);
	torch_ops_level(rt_level());
}

void torch_ops_tick(int64_t now_ns)
{
	enum torch_mode old = torch_mode_now(), next;
	bool inputs;

	torch_steps_tell(false);
	torch_shapes_tick();
	torch_passes_tick();
	if (!atomic_load(&callback) || rt_level() == TFT_LEVEL_OFF)
		return;
	next = rt_level() == TFT_LEVEL_MIN ? old : torch_rate_tick(now_ns, old);
	if (torch_ops_fresh()) {
		inputs_since_ns = now_ns;
		inputs_since_step = torch_steps_ended();
		any = true;
	}
	inputs = next == TORCH_ALL && wants_inputs(now_ns);
	if (inputs != with_inputs || next != old || scopes_of(next) != scopes)
		torch_reregister(next, inputs, false);
}

/* The next tick registers anew, if the parent's step was bare. */
void torch_register_fork_child(void)
{
	atomic_store(&bare, false);
}
