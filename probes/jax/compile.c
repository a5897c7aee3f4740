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

/* What this thread has compiled since the last program was ready. */
static _Thread_local struct {
	int64_t start_ns;	/* of the first pipeline of passes, 0 none */
	uint32_t passes;
} own;

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
	if (t->values_length > 7 && !memcmp(t->values, "module=", 7)) {
		if (!own.start_ns || t->start_ns < own.start_ns)
			own.start_ns = t->start_ns;
		return;
	}
	own.passes++;
}

void jax_built(const struct traceme *t)
{
	int64_t start_ns = own.start_ns && own.start_ns < t->start_ns ? own.start_ns : t->start_ns;
	char what[JAX_TEXT_BYTES], options[64];
	const char *name;
	size_t length;

	if (traceme_value(t, "name", &name, &length) || traceme_value(t, "module", &name, &length)) {
		snprintf(what, sizeof(what), "XLA %.*s",
			 (int)(length < sizeof(what) ? length : sizeof(what)), name);
		snprintf(options, sizeof(options), "%u passes", own.passes);
		send(what, options, start_ns, t->end_ns - start_ns);
	}
	own.start_ns = 0;
	own.passes = 0;
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
