/* SPDX-License-Identifier: MIT */
/*
 * The class of a kernel by words in its name, and the words for enums. A word
 * of the table counts where it begins a word of the name: after a character
 * that is no letter, or at a capital after a small letter. The first row that
 * is found wins, so the more telling words come first ("softmax_grad_add" is
 * a reduction).
 */
#include "model/base/names.h"

#include <string.h>
#include <strings.h>

static const struct {
	const char *word;
	enum work work;
} words[] = {
	{ "gemm", WORK_MATMUL }, { "gemv", WORK_MATMUL }, { "matmul", WORK_MATMUL },
	{ "sgemm", WORK_MATMUL }, { "hgemm", WORK_MATMUL }, { "dgemm", WORK_MATMUL },
	{ "xgemm", WORK_MATMUL }, { "mm", WORK_MATMUL }, { "bmm", WORK_MATMUL },
	{ "conv", WORK_MATMUL }, { "convolution", WORK_MATMUL }, { "winograd", WORK_MATMUL },
	{ "wgrad", WORK_MATMUL }, { "dgrad", WORK_MATMUL }, { "fprop", WORK_MATMUL },
	{ "dense", WORK_MATMUL }, { "dot", WORK_MATMUL }, { "cutlass", WORK_MATMUL },
	{ "attention", WORK_MATMUL }, { "flash", WORK_MATMUL }, { "wmma", WORK_MATMUL },
	{ "linear", WORK_MATMUL }, { "einsum", WORK_MATMUL },

	{ "nccl", WORK_COMM }, { "rccl", WORK_COMM }, { "allreduce", WORK_COMM },
	{ "all_reduce", WORK_COMM }, { "allgather", WORK_COMM }, { "all_gather", WORK_COMM },
	{ "reducescatter", WORK_COMM }, { "reduce_scatter", WORK_COMM },
	{ "broadcast_comm", WORK_COMM }, { "sendrecv", WORK_COMM },

	{ "normalize", WORK_INPUT }, { "softmax", WORK_REDUCE }, { "reduce", WORK_REDUCE }, { "reduction", WORK_REDUCE },
	{ "norm", WORK_REDUCE }, { "batchnorm", WORK_REDUCE }, { "layernorm", WORK_REDUCE },
	{ "rmsnorm", WORK_REDUCE }, { "batch_norm", WORK_REDUCE }, { "sum", WORK_REDUCE },
	{ "mean", WORK_REDUCE }, { "argmax", WORK_REDUCE }, { "argmin", WORK_REDUCE },
	{ "maxpool", WORK_REDUCE }, { "avgpool", WORK_REDUCE }, { "pool", WORK_REDUCE },
	{ "pooling", WORK_REDUCE }, { "loss", WORK_REDUCE }, { "scan", WORK_REDUCE },
	{ "cumsum", WORK_REDUCE }, { "histogram", WORK_REDUCE }, { "sort", WORK_REDUCE },
	{ "topk", WORK_REDUCE },

	{ "copy", WORK_COPY }, { "memcpy", WORK_COPY }, { "memset", WORK_COPY },
	{ "fill", WORK_COPY }, { "transpose", WORK_COPY }, { "permute", WORK_COPY },
	{ "concat", WORK_COPY }, { "cat", WORK_COPY }, { "gather", WORK_COPY },
	{ "scatter", WORK_COPY }, { "slice", WORK_COPY }, { "pad", WORK_COPY },
	{ "im2col", WORK_COPY }, { "col2im", WORK_COPY }, { "reorder", WORK_COPY },

	{ "decode", WORK_INPUT }, { "augment", WORK_INPUT }, { "resize", WORK_INPUT },
	{ "crop", WORK_INPUT },

	{ "elementwise", WORK_ELEMENTWISE }, { "vectorized", WORK_ELEMENTWISE },
	{ "add", WORK_ELEMENTWISE }, { "sub", WORK_ELEMENTWISE }, { "mul", WORK_ELEMENTWISE },
	{ "div", WORK_ELEMENTWISE }, { "axpy", WORK_ELEMENTWISE }, { "saxpy", WORK_ELEMENTWISE },
	{ "scale", WORK_ELEMENTWISE }, { "relu", WORK_ELEMENTWISE }, { "gelu", WORK_ELEMENTWISE },
	{ "silu", WORK_ELEMENTWISE }, { "sigmoid", WORK_ELEMENTWISE },
	{ "tanh", WORK_ELEMENTWISE }, { "exp", WORK_ELEMENTWISE }, { "log", WORK_ELEMENTWISE },
	{ "sqrt", WORK_ELEMENTWISE }, { "bias", WORK_ELEMENTWISE },
	{ "activation", WORK_ELEMENTWISE }, { "dropout", WORK_ELEMENTWISE },
	{ "sgd", WORK_ELEMENTWISE }, { "adam", WORK_ELEMENTWISE }, { "update", WORK_ELEMENTWISE },
	{ "optimizer", WORK_ELEMENTWISE }, { "cast", WORK_ELEMENTWISE },
	{ "convert", WORK_ELEMENTWISE }, { "square", WORK_ELEMENTWISE },
	{ "pow", WORK_ELEMENTWISE }, { "clip", WORK_ELEMENTWISE }, { "clamp", WORK_ELEMENTWISE },
	{ "pointwise", WORK_ELEMENTWISE }, { "triad", WORK_ELEMENTWISE },
};

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool word_begins(const char *name, size_t i)
{
	if (i == 0)
		return true;
	if (is_upper(name[i]))
		return !is_upper(name[i - 1]);
	return is_lower(name[i]) && !is_lower(name[i - 1]) && !is_upper(name[i - 1]);
}

/* Short words must also end there: "mm", but not "mmap"; "log", not "login". */
static bool word_ends(const char *name, size_t i, size_t length)
{
	return length > 3 || !is_lower(name[i + length]);
}

bool name_has_word(const char *name, const char *word)
{
	size_t length = strlen(word);

	for (size_t i = 0; name[i]; i++)
		if (word_begins(name, i) && strncasecmp(name + i, word, length) == 0 &&
		    word_ends(name, i, length))
			return true;
	return false;
}

/* tinygrad's generated names: E_, r_ and a shape ("r_16_32", "E_4n2"). */
static enum work of_generated_name(const char *name)
{
	if ((name[0] == 'E' || name[0] == 'r') && name[1] == '_' &&
	    (name[2] >= '0' && name[2] <= '9'))
		return name[0] == 'E' ? WORK_ELEMENTWISE : WORK_REDUCE;
	return WORK_NONE;
}

enum work work_of_name(const char *name)
{
	enum work generated;

	if (!name || !*name)
		return WORK_OTHER;
	generated = of_generated_name(name);
	if (generated != WORK_NONE)
		return generated;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (name_has_word(name, words[i].word))
			return words[i].work;
	return WORK_OTHER;
}

#define WORD_OF(table, i) ((unsigned)(i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : "")

const char *work_name(enum work work)
{
	static const char *const table[WORK_COUNT] = {
		"", "matmul", "elementwise", "reduce", "copy", "comm", "input", "other", "op",
		"range",
	};

	return WORD_OF(table, work);
}

const char *direction_name(enum direction direction)
{
	static const char *const table[DIR_COUNT] = {
		"", "h2d", "d2h", "d2d", "p2p", "h2h", "fill", "map", "unmap", "send", "recv",
	};

	return WORD_OF(table, direction);
}

const char *how_name(enum how how)
{
	static const char *const table[HOW_COUNT] = { "none", "exact", "event", "fifo", "guess" };

	return WORD_OF(table, how);
}

const char *framework_name(enum framework framework)
{
	static const char *const table[FW_COUNT] = {
		"", "nvtx", "itt", "opencl", "tensorflow", "pytorch", "jax", "onednn",
	};

	return WORD_OF(table, framework);
}

const char *clock_quality_name(enum clock_quality quality)
{
	static const char *const table[] = { "estimate", "known", "driver" };

	return WORD_OF(table, quality);
}
