/* SPDX-License-Identifier: MIT */
/*
 * A probe for libcode_double.so, made of what the JAX probe replaces code with: each function that
 * may be replaced then counts its calls in the file $CODE_COUNTS, one number for each, and calls
 * the original. Its reason names the functions that it left alone, and why nothing was replaced.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/jax/patch.h"
#include "tests/doubles/code_double.h"

static _Atomic uint64_t *counts;
static code_shape *originals[CODE_FUNCTIONS];
static char left[200], said[400];

#define X(name) \
	static uint64_t ours_##name(uint64_t x) \
	{ \
		counts[CODE_##name]++; \
		return originals[CODE_##name](x); \
	}
CODE_GOOD(X) CODE_BAD(X)
#undef X

/* Nothing of the original is used. */
static uint64_t ours_idle(uint64_t x)
{
	counts[CODE_idle]++;
	return code_result(x);
}

static code_shape *const ours[CODE_FUNCTIONS] = {
#define X(name) [CODE_##name] = ours_##name,
	CODE_GOOD(X) CODE_BAD(X) X(idle)
#undef X
};

static struct patch_symbol symbols[CODE_FUNCTIONS + 1] = {
#define X(what) [CODE_##what] = { .name = "code_shape_" #what },
	CODE_GOOD(X) CODE_BAD(X)
#undef X
	[CODE_idle] = { .name = "code_shape_idle", .idle = true },
	[CODE_FUNCTIONS] = { .name = "code_used", .data = true },
};

static tft_replace_code *replacer;

void tftop_probe_replacer(tft_replace_code *replace)
{
	replacer = replace;
}

const char *tftop_attach_why(void)
{
	return said;
}

static void leave(const char *what)
{
	size_t used = strlen(left);

	snprintf(left + used, sizeof(left) - used, " %s", what);
}

static bool map_counts(void)
{
	int fd = open(getenv("CODE_COUNTS"), O_RDWR | O_CLOEXEC);

	counts = mmap(NULL, CODE_FUNCTIONS * sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	close(fd);
	return counts != MAP_FAILED;
}

static void gather(void)
{
	patch_gather();
	for (int i = 0; i < CODE_FUNCTIONS; i++) {
		const struct patch_symbol *s = &symbols[i];

		if (s->at && !s->idle)
			*(void **)&originals[i] = patch_original(s);
		if (!s->at || (!s->idle && !originals[i]) || !patch_replace(s, (void *)ours[i]))
			leave(s->name + strlen("code_shape_"));
	}
}

/* What is left alone is said in `said`, so that the result is never TFT_ATTACHED. */
int tftop_probe_attach(void)
{
	static bool gathered;
	const char *why;

	if (gathered) {
		why = patch_again(replacer);
	} else {
		if (!map_counts() || patch_find("/libcode_double.so", symbols,
						CODE_FUNCTIONS + 1) < 0)
			return TFT_ATTACH_FAILED;
		gather();
		gathered = true;
		why = patch_gathered(replacer, &symbols[CODE_FUNCTIONS], -1);
	}
	snprintf(said, sizeof(said), "left%s; %s, %s", left, why ? why : "replaced",
		 patch_is_in() ? "in force" : "not in force");
	return TFT_ATTACH_READY;
}
