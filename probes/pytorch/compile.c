/* SPDX-License-Identifier: MIT */
/*
 * torch.compile: separates its own work from that of the program.
 *
 * Dynamo first looks whether it has compiled the function already ("TorchDynamo Cache Lookup").
 * What it has compiled runs as "Torch-Compiled Region: FUNCTION/VERSION". Otherwise it traces and
 * compiles in between, and runs thousands of ops on tensors without data: these go under an op of
 * ours, "torch.compile". Python's stack shows whether an op belongs to it. The op begins at the end
 * of the lookup or, where there was none (at a function's first call), with the first op. The
 * backward pass of a region is compiled at its first call, inside of CompiledFunctionBackward.
 */
#include <stdio.h>
#include <string.h>

#include "probes/pytorch/probe.h"

#define TEXT_BYTES 1024

static void open_compile(struct torch_thread *t, const struct py_where *where)
{
	int at = t->depth;

	if (at >= TORCH_DEPTH_MAX)
		return;
	torch_open_own(t, TORCH_COMPILE, rt_name(TFT_NAME_OP, "torch.compile"), where);
	t->open[at].start_ns = t->lookup_ns ? t->lookup_ns : rt_now_ns();
	t->compile_depth = at + 1;
}

/* Reports what was compiled: the name of a region, "": a backward pass, NULL: unknown. */
static void tell(const struct torch_open *o, const char *region)
{
	char what[TEXT_BYTES], where[TEXT_BYTES];
	struct tft_compile c = { .start_ns = o->start_ns, .what = what, .options = where };
	const char *number = region ? strchr(region, ':') : NULL;

	snprintf(what, sizeof(what), "torch.compile%s", number ? number + 1 :
		 region ? " backward" : "");
	py_text(where, sizeof(where));
	c.dur_ns = rt_now_ns() - o->start_ns;
	rt_emit_compile(&c);
}

void torch_compile_before(struct torch_thread *t, enum torch_kind kind, const char *name,
			  const struct py_where *where)
{
	if (t->compile_depth && t->depth == t->compile_depth &&
	    (kind == TORCH_REGION || !where->compiling)) {
		struct torch_open *o = &t->open[t->compile_depth - 1];

		if (kind == TORCH_REGION) {
			tell(o, name);
			o->start_ns = 0;
		}
		torch_close_to(t, t->compile_depth - 1);
	}
	if (where->compiling && kind != TORCH_REGION && !t->compile_depth)
		open_compile(t, where);
	t->lookup_ns = 0;
}

void torch_compile_closed(struct torch_thread *t, const struct torch_open *o)
{
	if (o->kind == TORCH_LOOKUP)
		t->lookup_ns = rt_now_ns();
	if (o->kind != TORCH_COMPILE)
		return;
	t->compile_depth = 0;
	/* not for a region */
	if (o->start_ns)
		tell(o, o > t->open && o[-1].kind == TORCH_LAZY ? "" : NULL);
}
