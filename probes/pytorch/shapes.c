/* SPDX-License-Identifier: MIT */
/*
 * Sizes and types of an op's inputs: "[64, 3, 32, 32] f32, [16, 3, 3, 3] f32".
 *
 * PyTorch keeps them as IValues, 16 bytes each; the sizes are asked of the function
 * that its own profiler asks (torch::profiler::impl::inputSizes), which knows those
 * that have none yet, and the types of its stable C interface. Only of plain tensors:
 * others answer by code of their own, which might throw or want the GIL.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/pytorch/probe.h"

#define INPUTS_MAX 64
#define TEXT_BYTES 1024

struct ivalue {
	const void *payload;
	uint32_t tag;		/* 1: a tensor, of 1.13 to 2.13 */
};
#define TAG_TENSOR 1

/* c10::ScalarType, by number (torch/headeronly/core/ScalarType.h). */
static const char *const types[] = {
	"u8", "i8", "i16", "i32", "i64", "f16", "f32", "f64", "c32", "c64", "c128", "bool",
	"qi8", "qu8", "qi32", "bf16", "qu4", "qu2", "b1", "b2", "b4", "b8", "b16",
	"f8e5m2", "f8e4m3", "f8e5m2z", "f8e4m3z", "u16", "u32", "u64",
};

struct text {
	char at[TEXT_BYTES];
	size_t used;
};

__attribute__((format(printf, 2, 3)))
static void put(struct text *t, const char *format, ...)
{
	size_t room = sizeof(t->at) - t->used;
	__builtin_va_list args;
	int n;

	__builtin_va_start(args, format);
	n = vsnprintf(t->at + t->used, room, format, args);
	__builtin_va_end(args);
	if (n > 0)
		t->used += (size_t)n < room ? (size_t)n : room - 1;
}

static bool is_plain(const struct ivalue *v)
{
	const void *table = *(const void *const *)v->payload;

	return table == torch_api.tensor || (torch_api.undefined && table == torch_api.undefined);
}

static void put_tensor(struct text *t, const struct ivalue *v, const struct torch_vector *sizes)
{
	const int64_t *size = sizes->begin, *end = sizes->end;
	int32_t type = -1;

	put(t, "%s[", t->used ? ", " : "");
	for (const int64_t *p = size; p < end; p++)
		put(t, "%s%lld", p > size ? ", " : "", (long long)*p);
	put(t, "]");
	/* the address of an IValue is a tensor's handle */
	if (torch_api.dtype && torch_api.dtype(v, &type) == 0 && type >= 0 &&
	    (size_t)type < sizeof(types) / sizeof(types[0]))
		put(t, " %s", types[type]);
}

uint32_t torch_shapes(const void *rf)
{
	const struct ivalue *inputs;
	struct torch_vector all, *one;
	struct text text = { .used = 0 };
	int saved = errno;
	bool any = false;
	size_t n;

	if (torch_layout.inputs < 0 || !torch_api.sizes || !torch_api.tensor || !torch_api.inputs)
		return 0;
	n = torch_api.inputs(rf);
	if (!n || n > INPUTS_MAX || torch_u64(rf, torch_layout.inputs + 8) != n)
		return 0;
	inputs = (const struct ivalue *)(uintptr_t)torch_u64(rf, torch_layout.inputs);
	for (size_t i = 0; i < n; i++) {
		if (inputs[i].tag != TAG_TENSOR)
			continue;
		if (!is_plain(&inputs[i]))
			return 0;
		any = any || *(const void *const *)inputs[i].payload == torch_api.tensor;
	}
	if (!any)
		return 0;
	torch_api.sizes(&all, rf, false);
	one = all.begin;
	if ((size_t)((struct torch_vector *)all.end - one) == n)
		for (size_t i = 0; i < n; i++)
			if (inputs[i].tag == TAG_TENSOR &&
			    *(const void *const *)inputs[i].payload == torch_api.tensor)
				put_tensor(&text, &inputs[i], &one[i]);
	for (; one < (struct torch_vector *)all.end; one++)
		free(one->begin);
	free(all.begin);
	errno = saved;
	return text.used ? rt_name(TFT_NAME_SHAPES, text.at) : 0;
}
