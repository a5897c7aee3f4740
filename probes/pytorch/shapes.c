/* SPDX-License-Identifier: MIT */
/*
 * Sizes and types of an op's inputs: "[64, 3, 32, 32] f32, [16, 3, 3, 3] f32".
 *
 * PyTorch keeps inputs as IValues of 16 bytes. The sizes come from the function that PyTorch's own
 * profiler calls (torch::profiler::impl::inputSizes), which can handle tensors without sizes; the
 * types come from the function beside it, which makes strings of them. Only plain tensors are
 * asked: others answer by code of their own, which might throw or need the GIL.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/pytorch/probe.h"

#define INPUTS_MAX 64
#define TEXT_BYTES 1024
#define TRIED 64

/* std::string; before C++11 only a pointer to its text, after these members. */
struct string {
	char *text;
	size_t length;
	char own[16];
};
struct old_string {
	size_t length, room;
	int others;		/* number of others that have the same text */
};

/* The names of types in C++, and those used here. */
static const struct {
	const char *type, *name;
} short_types[] = {
	{ "float", "f32" }, { "c10::BFloat16", "bf16" }, { "c10::Half", "f16" },
	{ "double", "f64" }, { "long int", "i64" }, { "int", "i32" }, { "bool", "bool" },
	{ "unsigned char", "u8" }, { "signed char", "i8" }, { "short int", "i16" },
	{ "short unsigned int", "u16" }, { "unsigned int", "u32" }, { "long unsigned int", "u64" },
	{ "c10::complex<float>", "c64" }, { "c10::complex<double>", "c128" },
	{ "c10::complex<c10::Half>", "c32" }, { "c10::qint8", "qi8" }, { "c10::quint8", "qu8" },
	{ "c10::qint32", "qi32" }, { "c10::quint4x2", "qu4" }, { "c10::quint2x4", "qu2" },
	{ "c10::Float8_e5m2", "f8e5m2" }, { "c10::Float8_e4m3fn", "f8e4m3" },
	{ "c10::Float8_e5m2fnuz", "f8e5m2z" }, { "c10::Float8_e4m3fnuz", "f8e4m3z" },
	{ "c10::bits1x8", "b1" }, { "c10::bits2x4", "b2" }, { "c10::bits4x2", "b4" },
	{ "c10::bits8", "b8" }, { "c10::bits16", "b16" },
};

struct shapes_text {
	char at[TEXT_BYTES];
	size_t used;
};

__attribute__((format(printf, 2, 3)))
static void put(struct shapes_text *t, const char *format, ...)
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

/* Whether inputs are stored as in the known versions is seen only when there are some: until a few
 * plain tensors have been met, memory is read as if it might not be mapped. */
static _Atomic unsigned met;
static _Atomic bool strange;

static bool get(void *to, const void *from, size_t bytes)
{
	if (__builtin_expect(atomic_load_explicit(&met, memory_order_relaxed) >= TRIED, 1)) {
		memcpy(to, from, bytes);
		return true;
	}
	if (rt_peek(to, from, bytes) == bytes)
		return true;
	atomic_store(&strange, true);
	return false;
}

/* Whether each of the n inputs is a tensor with a shape; also a hash of all their forms, 0:
 * unknown. false: one has another kind. */
static bool are_plain(const void *at, size_t n, bool tensors[INPUTS_MAX], uint64_t *form)
{
	struct torch_value inputs[INPUTS_MAX];
	const void *table;

	if (!get(inputs, at, n * sizeof(inputs[0])))
		return false;
	*form = 1;
	for (size_t i = 0; i < n; i++) {
		tensors[i] = false;
		if (inputs[i].tag != TORCH_TENSOR)
			continue;
		if (!get(&table, inputs[i].payload, sizeof(table)))
			return false;
		tensors[i] = table == torch_api.tensor;
		if (!tensors[i] && (!torch_api.undefined || table != torch_api.undefined))
			return false;
		if (tensors[i] && *form)
			*form = torch_form(&inputs[i], *form);
	}
	return true;
}

void torch_shapes_tick(void)
{
	static bool told;

	if (told || !atomic_load_explicit(&strange, memory_order_relaxed))
		return;
	told = true;
	torch_blind("the layout of ops' inputs is unknown: no shapes");
}

static const char *short_type(const char *type)
{
	for (size_t i = 0; i < sizeof(short_types) / sizeof(short_types[0]); i++)
		if (!strcmp(short_types[i].type, type))
			return short_types[i].name;
	return type;
}

/* type: "" if unknown. */
static void put_tensor(struct shapes_text *t, const struct torch_vector *sizes, const char *type)
{
	const int64_t *size = sizes->begin, *end = sizes->end;

	put(t, "%s[", t->used ? ", " : "");
	for (const int64_t *p = size; p < end; p++)
		put(t, "%s%lld", p > size ? ", " : "", (long long)*p);
	put(t, "]");
	if (*type)
		put(t, " %s", short_type(type));
}

static void free_sizes(struct torch_vector *all)
{
	for (struct torch_vector *one = all->begin; one < (struct torch_vector *)all->end; one++)
		free(one->begin);
	free(all->begin);
}

/* The texts of n types; false: there are not that many. */
static bool types_of(const struct torch_vector *all, size_t n, const char **texts)
{
	size_t each = torch_api.old_strings ? sizeof(char *) : sizeof(struct string);

	if ((size_t)((const char *)all->end - (const char *)all->begin) != n * each)
		return false;
	for (size_t i = 0; i < n; i++)
		memcpy(&texts[i], (const char *)all->begin + i * each, sizeof(texts[i]));
	return true;
}

static void free_old(char *text)
{
	struct old_string *s = (struct old_string *)(void *)text - 1;

	/* an empty text belongs to nobody */
	if (s->room && __atomic_fetch_sub(&s->others, 1, __ATOMIC_ACQ_REL) <= 0)
		free(s);
}

static void free_types(struct torch_vector *all)
{
	if (torch_api.old_strings)
		for (char **one = all->begin; one < (char **)all->end; one++)
			free_old(*one);
	else
		for (struct string *one = all->begin; one < (struct string *)all->end; one++)
			if (one->text != one->own)
				free(one->text);
	free(all->begin);
}

/* Writes all inputs, with as many sizes as there are inputs. */
static void put_all(struct shapes_text *t, const void *rf, const bool tensors[INPUTS_MAX], size_t n)
{
	struct torch_vector sizes, types = { 0 };
	const struct torch_vector *size;
	const char *type[INPUTS_MAX];

	torch_api.sizes(&sizes, rf, false);
	if (torch_api.types)
		torch_api.types(&types, rf);
	if (!types_of(&types, n, type))
		memset(type, 0, sizeof(type));
	size = sizes.begin;
	if ((size_t)((struct torch_vector *)sizes.end - size) == n)
		for (size_t i = 0; i < n; i++)
			if (tensors[i])
				put_tensor(t, &size[i], type[i] ? type[i] : "");
	free_sizes(&sizes);
	free_types(&types);
}

/* The shapes of n plain inputs, as PyTorch returns them. */
static uint32_t asked(const void *rf, const bool tensors[INPUTS_MAX], size_t n)
{
	struct shapes_text text = { .used = 0 };
	int saved = errno;

	put_all(&text, rf, tensors, n);
	errno = saved;
	return text.used ? rt_name(TFT_NAME_SHAPES, text.at) : 0;
}

uint32_t torch_shapes(struct torch_thread *t, const void *rf)
{
	bool tensors[INPUTS_MAX], known;
	uint64_t form = 0;
	uint32_t shapes;
	size_t n, at;

	if (torch_layout.inputs < 0 || !torch_api.sizes || !torch_api.tensor || !torch_api.inputs ||
	    atomic_load_explicit(&strange, memory_order_relaxed))
		return 0;
	n = torch_api.inputs(rf);
	if (!n || n > INPUTS_MAX || torch_u64(rf, torch_layout.inputs + 8) != n ||
	    !are_plain((const void *)(uintptr_t)torch_u64(rf, torch_layout.inputs), n, tensors,
		       &form) || !memchr(tensors, true, n))
		return 0;
	if (atomic_load_explicit(&met, memory_order_relaxed) < TRIED)
		atomic_fetch_add_explicit(&met, 1, memory_order_relaxed);
	/* the tensors with which torch.compile makes its plans have their sizes elsewhere */
	known = form && !t->compile_depth;
	at = form >> 32 & (TORCH_FORMS - 1);
	if (known && t->forms[at].hash == form)
		return t->forms[at].shapes;
	shapes = asked(rf, tensors, n);
	if (known && shapes) {
		t->forms[at].hash = form;
		t->forms[at].shapes = shapes;
	}
	return shapes;
}
