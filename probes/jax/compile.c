/* SPDX-License-Identifier: MIT */
/* Functions that are traced, programs that XLA compiles: one event each, the compiler's
 * passes are only counted. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/jax/probe.h"

#define FUNCTIONS 1024u		/* a power of two */

static struct {
	_Atomic uint32_t name, count;
} functions[FUNCTIONS];

static void send(const char *what, const char *options, int64_t start_ns, int64_t dur_ns)
{
	struct tft_compile c = {
		.start_ns = start_ns, .dur_ns = dur_ns, .what = what, .options = options,
		.log = "",
	};

	rt_emit_compile(&c);
}

/* Passes of XLA's and of MLIR; a pipeline of them names the module, "...#module=..." */
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

void jax_built(const struct traceme *t)
{
	struct jax_thread *own = jax_self();
	char what[JAX_TEXT_BYTES], options[64];
	int64_t start_ns = t->start_ns;
	const char *name;
	size_t length;

	if (!own)
		return;
	if (own->compile_ns && own->compile_ns < start_ns)
		start_ns = own->compile_ns;
	if (traceme_value(t, "name", &name, &length) || traceme_value(t, "module", &name, &length)) {
		snprintf(what, sizeof(what), "XLA %.*s",
			 (int)(length < sizeof(what) ? length : sizeof(what)), name);
		snprintf(options, sizeof(options), "%u passes", own->passes);
		send(what, options, start_ns, t->end_ns - start_ns);
	}
	own->compile_ns = 0;
	own->passes = 0;
}

void jax_retraced(uint32_t name, const char *text, size_t length, int64_t start_ns,
		  int64_t dur_ns)
{
	char what[JAX_TEXT_BYTES + 16], options[64];
	uint32_t count = 0;

	for (uint32_t i = 0; i < 16; i++) {
		uint32_t k = (name + i) & (FUNCTIONS - 1), none = 0;

		if (!atomic_compare_exchange_strong(&functions[k].name, &none, name) && none != name)
			continue;
		count = atomic_fetch_add(&functions[k].count, 1) + 1;
		break;
	}
	snprintf(what, sizeof(what), "trace %.*s()", (int)length, text);
	snprintf(options, sizeof(options), "trace %u", count);
	send(what, options, start_ns, dur_ns);
}
