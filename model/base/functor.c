/* SPDX-License-Identifier: MIT */
#include "model/base/functor.h"

#include <stdio.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define FUNCTOR_DEPTH_MAX 12		/* functors within functors */
#define FUNCTOR_WORDS_MAX 3		/* functors that are named */

static const struct type_row { const char *text, *is; unsigned rank; } functor_types[] = {
	{ "float", "float", TYPE_REAL }, { "double", "double", TYPE_REAL },
	{ "int", "int", TYPE_INTEGER }, { "unsigned int", "uint", TYPE_INTEGER },
	{ "long", "long", TYPE_INTEGER }, { "unsigned long", "ulong", TYPE_INTEGER },
	{ "long long", "int64", TYPE_INTEGER }, { "unsigned long long", "uint64", TYPE_INTEGER },
	{ "short", "short", TYPE_INTEGER }, { "unsigned short", "ushort", TYPE_INTEGER },
	{ "char", "char", TYPE_INTEGER }, { "signed char", "int8", TYPE_INTEGER },
	{ "unsigned char", "uint8", TYPE_INTEGER }, { "bool", "bool", TYPE_BOOL },
	{ "BFloat16", "bf16", TYPE_REAL }, { "__nv_bfloat16", "bf16", TYPE_REAL },
	{ "bfloat16_t", "bf16", TYPE_REAL }, { "bfloat16", "bf16", TYPE_REAL },
	{ "__hip_bfloat16", "bf16", TYPE_REAL }, { "hip_bfloat16", "bf16", TYPE_REAL },
	{ "__nv_bfloat162", "bf16", TYPE_REAL },
	{ "Half", "half", TYPE_REAL }, { "__half", "half", TYPE_REAL },
	{ "half_t", "half", TYPE_REAL }, { "half", "half", TYPE_REAL },
	{ "__half2", "half", TYPE_REAL }, { "_Float16", "half", TYPE_REAL },
	{ "tfloat32_t", "tf32", TYPE_REAL },
	{ "float_e4m3_t", "e4m3", TYPE_REAL }, { "float_e5m2_t", "e5m2", TYPE_REAL },
	{ "__nv_fp8_e4m3", "e4m3", TYPE_REAL }, { "__nv_fp8_e5m2", "e5m2", TYPE_REAL },
	{ "Float8_e4m3fn", "e4m3fn", TYPE_REAL }, { "Float8_e5m2", "e5m2", TYPE_REAL },
	{ "Float8_e4m3fnuz", "e4m3fnuz", TYPE_REAL },
	{ "Float8_e5m2fnuz", "e5m2fnuz", TYPE_REAL },
	{ "Float8_e8m0fnu", "e8m0fnu", TYPE_REAL },
	{ "Float4_e2m1fn_x2", "e2m1", TYPE_REAL },
	{ "cuComplex", "complex<float>", TYPE_REAL },
	{ "cuDoubleComplex", "complex<double>", TYPE_REAL },
	{ "float2", "float2", TYPE_REAL }, { "double2", "double2", TYPE_REAL },
};

/* How functions and classes that are functors end; what is before it is what people say. */
static const char *const endings[] = {
	"_cuda_out", "_out_cuda", "_cuda_template", "_cuda", "_kernel", "_impl", "_functor", "_out",
	"_gpu", "CUDAKernelImpl", "KernelImpl", "CUDAKernel", "Kernel", "Impl", "Functor",
	"MathFunctor", "Ops", "_op", "Op",
	"Epilogue",
};
static const char *const beginnings[] = { "CUDAFunctor_", "CUDAFunctor", "launch_", "scalar_" };

/* The names of C++'s own functors. */
static const struct type_row renamed[] = {
	{ "multiplies", "mul", 0 }, { "plus", "add", 0 }, { "minus", "sub", 0 },
	{ "divides", "div", 0 }, { "negate", "neg", 0 }, { "modulus", "mod", 0 },
};

/* Arguments that say how a kernel reaches its data, and not what it computes. */
static const char *const layouts[] = {
	"Calculator", "Metadata", "array", "Array", "tuple", "Tuple", "WithCast", "WithoutCast",
	"State", "terator", "vsmem_t", "VSMemHelper", "InputValue", "Params", "params", "Generator",
	"GeneratorImpl", "NullType", "identity_decomposer_t", "use_default", "integral_constant",
	"OpaqueType", "raits", "Info", "Accessor", "Accessor64", "Accessor32", "List", "Addresses",
	"Args", "Arguments", "Shape", "Stride", "Layout", "layout", "Desc", "pointer", "ptr",
	"tag", "cuda_cub", "Tensor", "TensorBase", "Coord", "TensorMap", "Size", "DSizes",
	"GemvTensor", "TensorBatched", "TensorStridedBatched", "vector", "pair", "uint4", "float4",
	"float2", "dim3", "Policy", "basic_string", "optional", "wrapper_base", "char_traits",
	"Dim", "Dims",
};

/* Templates that only hold a functor. */
static const char *const holders[] = {
	"ReduceOp", "func_wrapper_t", "TensorEvaluator", "TensorAssignOp", "TensorCwiseUnaryOp",
	"TensorCwiseBinaryOp", "TensorReductionOp", "agent_launcher", "ParallelForAgent",
	"static_kernel", "bulk_kernel", "ThreadBlockwise", "always_true_predicate",
};

static bool in_list(const struct cxx *cxx, struct cxx_range name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (cxx_is(cxx, name, list[i]))
			return true;
	return false;
}

static bool functor_is_layout(const struct cxx *cxx, struct cxx_range name)
{
	for (size_t i = 0; i < COUNT(layouts); i++)
		if (cxx_ends(cxx, name, layouts[i]))
			return true;
	return cxx_has(cxx, name, "olicy");
}

/* "const" and pointers do not matter for the type of the numbers. */
static struct cxx_range functor_plain_type(const struct cxx *cxx, struct cxx_range type)
{
	for (bool again = true; again; ) {
		again = false;
		while (!cxx_empty(type) && strchr("*& ", cxx->text[type.to - 1]))
			type.to--;
		if (cxx_ends(cxx, type, " const") || cxx_ends(cxx, type, "*const")) {
			type.to = (uint16_t)(type.to - 5);
			again = true;
		}
		if (cxx_begins(cxx, type, "const ")) {
			type.from = (uint16_t)(type.from + 6);
			again = true;
		}
		if (cxx_ends(cxx, type, "__restrict__")) {
			type.to = (uint16_t)(type.to - 12);
			again = true;
		}
	}
	return type;
}

unsigned functor_number_type(const struct cxx *cxx, struct cxx_range type, char *out, size_t size)
{
	struct cxx_range plain = functor_plain_type(cxx, type), outer, rest, item;
	struct cxx_part part;
	char inner[FUNCTOR_TYPE_MAX - 10];

	if (cxx_empty(plain) || cxx->text[plain.from] == '(')
		return TYPE_NONE;
	for (size_t i = 0; i < COUNT(functor_types); i++)
		if (cxx_is(cxx, plain, functor_types[i].text)) {
			snprintf(out, size, "%s", functor_types[i].is);
			return functor_types[i].rank;
		}
	if (!cxx_last_part(cxx, plain, &part, &outer) || part.lambda)
		return TYPE_NONE;
	if (cxx_is(cxx, part.name, "complex") && !cxx_empty(part.arguments) &&
	    functor_number_type(cxx, part.arguments, inner, sizeof(inner)) == TYPE_REAL) {
		snprintf(out, size, "complex<%s>", inner);
		return TYPE_REAL;
	}
	if (cxx_is(cxx, part.name, "OpaqueType") && !cxx_empty(part.arguments)) {
		rest = part.arguments;
		cxx_next_item(cxx, &rest, &item);
		snprintf(out, size, "%.*s bytes",
			 (int)strspn(cxx->text + item.from, "0123456789") % FUNCTOR_TYPE_MAX,
			 cxx->text + item.from);
		return TYPE_INTEGER;
	}
	if (!cxx_empty(part.arguments) || part.name.to != plain.to)
		return TYPE_NONE;
	for (size_t i = 0; i < COUNT(functor_types); i++)
		if (cxx_is(cxx, part.name, functor_types[i].text)) {
			snprintf(out, size, "%s", functor_types[i].is);
			return functor_types[i].rank;
		}
	return TYPE_NONE;
}

void functor_take_types(const struct cxx *cxx, struct cxx_range list, struct functor_text *text)
{
	char type[FUNCTOR_TYPE_MAX];
	struct cxx_range item;

	while (cxx_next_item(cxx, &list, &item)) {
		unsigned rank = functor_number_type(cxx, item, type, sizeof(type));

		if (rank > text->rank) {
			text->rank = rank;
			memcpy(text->type, type, sizeof(type));
		}
	}
}

static void functor_add_word(struct functor_text *text, const char *word, size_t length)
{
	/* the word, a blank before it and the end; nothing more fits once the text is full */
	if (!length || text->length + length + 2 > sizeof(text->words))
		return;
	if (text->length)
		text->words[text->length++] = ' ';
	memcpy(text->words + text->length, word, length);
	text->length += length;
	text->words[text->length] = '\0';
	text->n_words++;
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Names a functor or function by what is left without the words that all such names have. */
static void functor_name(const struct cxx *cxx, struct cxx_range name, struct functor_text *text)
{
	char word[80];
	size_t length;
	bool again = true;

	for (size_t i = 0; i < COUNT(renamed); i++)
		if (cxx_is(cxx, name, renamed[i].text)) {
			functor_add_word(text, renamed[i].is, strlen(renamed[i].is));
			return;
		}
	for (size_t i = 0; i < COUNT(beginnings); i++)
		if (cxx_begins(cxx, name, beginnings[i]) &&
		    (size_t)(name.to - name.from) > strlen(beginnings[i])) {
			name.from = (uint16_t)(name.from + strlen(beginnings[i]));
			break;
		}
	while (again) {
		again = false;
		for (size_t i = 0; i < COUNT(endings); i++) {
			length = strlen(endings[i]);
			if (!cxx_ends(cxx, name, endings[i]) ||
			    (size_t)(name.to - name.from) < length + 2)
				continue;
			name.to = (uint16_t)(name.to - length);
			again = true;
		}
	}
	length = (size_t)(name.to - name.from);
	if (length >= sizeof(word)) {
		functor_add_word(text, cxx->text + name.from, length);
		return;
	}
	memcpy(word, cxx->text + name.from, length);
	word[length] = '\0';
	/* "Fill" is a word, "LogSoftMax" a name */
	if (is_upper(word[0]) && !strpbrk(word + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		word[0] = (char)(word[0] + 32);
	functor_add_word(text, word, length);
}

/* Adds the numbers that the compiler gave to the lambdas in a range, as "#1#3". */
static void functor_number_lambdas(const struct cxx *cxx, struct cxx_range range,
				   struct functor_text *text)
{
	struct cxx_range rest = cxx_function(cxx, range);
	struct cxx_part part;

	while (text->numbered && cxx_next_part(cxx, &rest, &part)) {
		const char *at = part.lambda ? memrchr(cxx->text + part.name.from, '#',
						       (size_t)(part.name.to - part.name.from)) :
					       NULL;
		size_t length = at ? 1 + strspn(at + 1, "0123456789") : 0;

		if (!length || text->length + length + 1 >= sizeof(text->words))
			continue;
		memcpy(text->words + text->length, at, length);
		text->length += length;
		text->words[text->length] = '\0';
	}
}

static bool functor_take(const struct cxx *cxx, struct cxx_range range, struct functor_text *text,
			 int depth);

bool functor_take_all(const struct cxx *cxx, struct cxx_range list, struct functor_text *text,
			  int depth)
{
	struct cxx_range item;
	unsigned before = text->n_words;

	while (text->n_words < FUNCTOR_WORDS_MAX && cxx_next_item(cxx, &list, &item))
		functor_take(cxx, item, text, depth);
	return text->n_words > before;
}

/* "bool (short)", the type of a lambda: its parameters' type is that of what it computes with. */
static void functor_take_signature(const struct cxx *cxx, struct cxx_range item,
				   struct functor_text *own)
{
	struct cxx_range inside = item, result = item;

	while (!cxx_empty(inside) && cxx->text[inside.from] != '(')
		inside.from++;
	if (cxx_empty(inside))
		return;
	result.to = inside.from++;
	inside.to--;
	functor_take_types(cxx, inside, own);
	functor_take_types(cxx, result, own);
}

/* "&FUNCTION" or "&(void FUNCTION<…>(…))", in which nvcc found a lambda. */
static void functor_take_address(const struct cxx *cxx, struct cxx_range item,
				 struct functor_text *text, struct functor_text *own, int depth)
{
	struct cxx_range outer;
	struct cxx_part part;

	if (cxx_begins(cxx, item, "&"))
		item.from++;
	if (cxx_begins(cxx, item, "(") && cxx->match[item.from] == item.to - 1) {
		item.from++;
		item.to--;
	}
	if (!cxx_last_part(cxx, item, &part, &outer))
		return;
	if (cxx_begins(cxx, part.name, "operator") && !cxx_empty(outer)) {
		outer.to = (uint16_t)(outer.to - 2);
		if (!cxx_last_part(cxx, outer, &part, &outer))
			return;
	}
	if (!functor_take_all(cxx, part.arguments, text, depth + 1) && !cxx_empty(part.name))
		functor_name(cxx, part.name, text);
	functor_take_types(cxx, part.arguments, own);
}

/*
 * What nvcc makes of a lambda of the host: __nv_hdl_wrapper_t<…, __nv_dl_tag<TYPE, &FUNCTION, N>,
 * RESULT (PARAMETERS)>.
 */
static bool functor_take_wrapped(const struct cxx *cxx, const struct cxx_part *part,
			 struct functor_text *text, struct functor_text *own, int depth)
{
	struct cxx_range rest = part->arguments, item, tag, outer, type;
	struct cxx_part inner;

	if (!cxx_is(cxx, part->name, "__nv_hdl_wrapper_t") &&
	    !cxx_is(cxx, part->name, "__nv_dl_wrapper_t"))
		return false;
	while (cxx_next_item(cxx, &rest, &item)) {
		if (!cxx_last_part(cxx, item, &inner, &outer) ||
		    !cxx_is(cxx, inner.name, "__nv_dl_tag")) {
			functor_take_signature(cxx, item, own);
			continue;
		}
		tag = inner.arguments;
		if (!cxx_next_item(cxx, &tag, &type) || !cxx_next_item(cxx, &tag, &item))
			continue;
		functor_take_address(cxx, item, text, own, depth);
		if (text->numbered && cxx_next_item(cxx, &tag, &item)) {
			char number[16];

			snprintf(number, sizeof(number), "#%.*s",
				 (int)strspn(cxx->text + item.from, "0123456789") % 10,
				 cxx->text + item.from);
			functor_add_word(text, number, strlen(number));
		}
	}
	return true;
}

/* AdamW is a value of a template's argument, as PyTorch's FusedAdamMathFunctor has it. */
static bool functor_take_adam(const struct cxx *cxx, const struct cxx_part *part,
			      struct functor_text *text)
{
	if (!cxx_is(cxx, part->name, "FusedAdamMathFunctor"))
		return false;
	if (cxx_has(cxx, part->arguments, "ADAM_MODE)1"))
		functor_add_word(text, "adamw", 5);
	else
		functor_add_word(text, "adam", 4);
	return true;
}

/* Adds the words of an argument that is a functor, and its type; false: it is none. */
static bool functor_take(const struct cxx *cxx, struct cxx_range range, struct functor_text *text,
			 int depth)
{
	struct functor_text own = { .rank = text->rank, .numbered = false };
	struct cxx_part part, lambda;
	struct cxx_range outer;
	char type[FUNCTOR_TYPE_MAX], c;
	bool holds;

	if (depth >= FUNCTOR_DEPTH_MAX || cxx_empty(range))
		return false;
	c = cxx->text[range.from];
	if (c == '(' ? !cxx_begins(cxx, range, "(anonymous") : (c >= '0' && c <= '9') || c == '-')
		return false;
	if (strchr("*&", cxx->text[range.to - 1]) ||
	    functor_number_type(cxx, range, type, sizeof(type)) != TYPE_NONE)
		return false;
	range = functor_plain_type(cxx, range);
	if (cxx_function_of_lambda(cxx, range, &part, &lambda)) {
		if (!functor_take_all(cxx, part.arguments, text, depth + 1)) {
			functor_name(cxx, part.name, text);
			functor_number_lambdas(cxx, range, text);
		}
		functor_take_types(cxx, part.arguments, &own);
		if (own.rank < TYPE_REAL)
			functor_take_types(cxx, lambda.parameters, &own);
	} else {
		if (!cxx_last_part(cxx, range, &part, &outer) || cxx_empty(part.name) ||
		    cxx_is(cxx, part.name, "true") || cxx_is(cxx, part.name, "false") ||
		    cxx_is(cxx, part.name, "void") || functor_is_layout(cxx, part.name) ||
		    cxx_has(cxx, outer, "olicy"))
			return false;
		holds = in_list(cxx, part.name, holders, COUNT(holders));
		if (!functor_take_wrapped(cxx, &part, text, &own, depth)) {
			if (!holds && !functor_take_adam(cxx, &part, text))
				functor_name(cxx, part.name, text);
			functor_take_all(cxx, part.arguments, text, depth + 1);
			functor_take_types(cxx, part.arguments, &own);
		}
	}
	if (own.rank > text->rank) {
		text->rank = own.rank;
		memcpy(text->type, own.type, sizeof(own.type));
	}
	return true;
}

