/* SPDX-License-Identifier: MIT */
/*
 * Functions that are traced and programs that XLA compiles: one event for each. The compiler's
 * passes are only counted.
 *
 * A thread of XLA compiles while a Python thread waits. A finished compilation is kept until the
 * waiting thread sees it, because that thread knows the source line that asked for it. When two
 * threads wait at once, either of them may report both compilations.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/jax/probe.h"

#define FUNCTIONS 1024u		/* a power of two */
#define READY 32u
#define JAX_WHERE_BYTES 1024
#define ASKED_NS 1000000000	/* after this long nobody will ask for it */

static struct {
	_Atomic uint32_t name, count;
} functions[FUNCTIONS];

static struct jax_ready {
	_Atomic uint32_t state;		/* READY_*, or a thread is working on it */
	int64_t start_ns, end_ns;
	char what[JAX_TEXT_BYTES], passes[32];
} ready[READY];
enum { READY_FREE, READY_BUSY, READY_FULL };

static void send(const char *what, const char *options, int64_t start_ns, int64_t dur_ns)
{
	struct tft_compile c = {
		.start_ns = start_ns, .dur_ns = dur_ns, .what = what, .options = options,
		.log = "",
	};

	rt_emit_compile(&c);
}

/* A pass of XLA or MLIR; a pipeline of passes names the module, "...#module=..." */
void jax_pass(const struct traceme *t)
{
	struct jax_thread *own = jax_self();

	if (!own)
		return;
	if (t->values_length > 7 && !memcmp(t->values, "module=", 7)) {
		if (!own->compile_ns || t->start_ns < own->compile_ns)
			own->compile_ns = t->start_ns;
		return;
	}
	own->passes++;
}

static bool claim(struct jax_ready *r, uint32_t state)
{
	return atomic_compare_exchange_strong(&r->state, &state, READY_BUSY);
}

static void jax_compile_keep(const char *what, const char *passes, int64_t start_ns, int64_t end_ns)
{
	for (uint32_t i = 0; i < READY; i++) {
		struct jax_ready *r = &ready[i];

		if (!claim(r, READY_FREE))
			continue;
		r->start_ns = start_ns;
		r->end_ns = end_ns;
		snprintf(r->what, sizeof(r->what), "%s", what);
		snprintf(r->passes, sizeof(r->passes), "%s", passes);
		atomic_store_explicit(&r->state, READY_FULL, memory_order_release);
		return;
	}
	send(what, passes, start_ns, end_ns - start_ns);
}

/* Sends the compilations of that time; where: what requested them, "": unknown. Returns whether
 * there were any. */
static bool send_ready(int64_t from_ns, int64_t to_ns, const char *where)
{
	bool any = false;

	for (uint32_t i = 0; i < READY; i++) {
		struct jax_ready *r = &ready[i];
		bool ours;

		if (!claim(r, READY_FULL))
			continue;
		ours = r->start_ns >= from_ns && r->end_ns <= to_ns;
		if (ours)
			send(r->what, *where ? where : r->passes, r->start_ns,
			     r->end_ns - r->start_ns);
		any |= ours;
		atomic_store_explicit(&r->state, ours ? READY_FREE : READY_FULL,
				      memory_order_release);
	}
	return any;
}

void jax_built(const struct traceme *t)
{
	struct jax_thread *own = jax_self();
	char what[JAX_TEXT_BYTES], passes[32];
	int64_t start_ns = t->start_ns;
	const char *name;
	size_t length;

	if (!own)
		return;
	if (own->compile_ns && own->compile_ns < start_ns)
		start_ns = own->compile_ns;
	if (traceme_value(t, "name", &name, &length) ||
	    traceme_value(t, "module", &name, &length)) {
		snprintf(what, sizeof(what), "XLA %.*s",
			 (int)(length < sizeof(what) ? length : sizeof(what)), name);
		snprintf(passes, sizeof(passes), "%u passes", own->passes);
		jax_compile_keep(what, passes, start_ns, t->end_ns);
	}
	own->compile_ns = 0;
	own->passes = 0;
}

bool jax_compiled(const struct traceme *t)
{
	char where[JAX_WHERE_BYTES];

	py_text(where, sizeof(where));
	return send_ready(t->start_ns, t->end_ns, where);
}

void jax_built_unseen(const char *function, size_t length, int64_t start_ns, int64_t end_ns)
{
	char what[JAX_TEXT_BYTES], where[JAX_WHERE_BYTES];

	py_text(where, sizeof(where));
	snprintf(what, sizeof(what), "XLA jit_%.*s",
		 (int)(length < sizeof(what) ? length : sizeof(what)), function);
	send(what, where, start_ns, end_ns - start_ns);
}

void jax_compile_tick(int64_t now_ns, bool all)
{
	send_ready(INT64_MIN, all ? INT64_MAX : now_ns - ASKED_NS, "");
}

void jax_retraced(uint32_t name, const char *text, size_t length, int64_t start_ns,
		  int64_t dur_ns)
{
	char what[JAX_TEXT_BYTES + 16], options[64];
	uint32_t count = 0;

	for (uint32_t i = 0; i < 16; i++) {
		uint32_t k = (name + i) & (FUNCTIONS - 1), none = 0;

		if (!atomic_compare_exchange_strong(&functions[k].name, &none, name) &&
		    none != name)
			continue;
		count = atomic_fetch_add(&functions[k].count, 1) + 1;
		break;
	}
	snprintf(what, sizeof(what), "trace %.*s()", (int)length, text);
	snprintf(options, sizeof(options), "trace %u", count);
	send(what, options, start_ns, dur_ns);
}
