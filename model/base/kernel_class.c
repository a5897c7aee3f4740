/* SPDX-License-Identifier: MIT */
#include "model/base/kernel_class.h"

#include <string.h>

#include "model/base/names.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct class_row { const char *text; uint8_t is; };

/*
 * A kernel template that applies any function element by element: the function is among its
 * arguments. Otherwise ELEMENTWISE.
 */
static const char *const by_element[] = {
	"elementwise_kernel", "multi_tensor_apply", "EigenMetaKernel", "for_each",
	"parallel_for",
};

static const struct class_row in_element[] = {
	{ "elementwise_kernel_with_index", KERNEL_ELEMENTWISE },
	{ "copy_kernel", KERNEL_COPY }, { "CopyFunctor", KERNEL_COPY },
	{ "FillFunctor", KERNEL_COPY }, { "gpu_index", KERNEL_COPY },
	{ "index_elementwise", KERNEL_COPY }, { "scatter_gather", KERNEL_COPY },
	{ "index_put", KERNEL_COPY }, { "LpNormFunctor", KERNEL_REDUCE },
	{ "TensorShufflingOp", KERNEL_COPY }, { "TensorStridingSlicingOp", KERNEL_COPY },
	{ "TensorSlicingOp", KERNEL_COPY }, { "TensorPaddingOp", KERNEL_COPY },
	{ "TensorConcatenationOp", KERNEL_COPY }, { "TensorReductionOp", KERNEL_REDUCE },
};

/* Matches anywhere in the whole name, with case. */
static const struct class_row parts[] = {
	{ "nccl", KERNEL_COMM }, { "rccl", KERNEL_COMM }, { "nvshmem", KERNEL_COMM },
	{ "cross_device_reduce", KERNEL_COMM }, { "multimem_", KERNEL_COMM },
	{ "_shot_all_reduce", KERNEL_COMM },

	{ "reshape_and_cache", KERNEL_COPY }, { "fmha_", KERNEL_ATTENTION },
	{ "flash_fwd", KERNEL_ATTENTION }, { "flash_bwd", KERNEL_ATTENTION },
	{ "FlashAttn", KERNEL_ATTENTION }, { "flashinfer::Batch", KERNEL_ATTENTION },
	{ "PagedKVCache", KERNEL_ATTENTION }, { "_sdpa_", KERNEL_ATTENTION },
	{ "_attn_", KERNEL_ATTENTION }, { "AttentionKernel", KERNEL_ATTENTION },
	{ "attention_kernel", KERNEL_ATTENTION }, { "compute_dot_do_o", KERNEL_ATTENTION },
	{ "convert_dq_to", KERNEL_ATTENTION }, { "kernel_mha", KERNEL_ATTENTION },

	{ "implicit_gemm", KERNEL_CONV }, { "convolve_", KERNEL_CONV },
	{ "scudnn", KERNEL_CONV }, { "hcudnn", KERNEL_CONV }, { "84cudnn", KERNEL_CONV },
	{ "88cudnn", KERNEL_CONV }, { "16cudnn", KERNEL_CONV }, { "fprop", KERNEL_CONV },
	{ "dgrad", KERNEL_CONV }, { "wgrad", KERNEL_CONV }, { "winograd", KERNEL_CONV },
	{ "fft2d_", KERNEL_CONV },

	{ "ToNhwc", KERNEL_COPY }, { "ToNchw", KERNEL_COPY }, { "SwapDimension", KERNEL_COPY },
	{ "ShuffleInTensor", KERNEL_COPY }, { "im2col", KERNEL_COPY }, { "col2im", KERNEL_COPY },
	{ "splitKreduce", KERNEL_MATMUL }, { "gemm", KERNEL_MATMUL }, { "gemv", KERNEL_MATMUL },
	{ "nvjet_", KERNEL_MATMUL }, { "marlin::", KERNEL_MATMUL }, { "Marlin<", KERNEL_MATMUL },
	{ "gemmk1_", KERNEL_MATMUL }, { "trsm", KERNEL_MATMUL },

	{ "dot_kernel", KERNEL_REDUCE }, { "reduce_1Block_kernel", KERNEL_REDUCE },
	{ "bn_fw_", KERNEL_NORM }, { "bn_bw_", KERNEL_NORM }, { "InstanceNorm", KERNEL_NORM },
	{ "GammaBeta", KERNEL_NORM }, { "SoftMax", KERNEL_NORM },
	{ "DeviceSelect", KERNEL_SORT }, { "DevicePartition", KERNEL_SORT },
	{ "TopK", KERNEL_SORT }, { "op_tensor_kernel", KERNEL_ELEMENTWISE },
	{ "op_generic_tensor", KERNEL_ELEMENTWISE }, { "triton_poi_", KERNEL_ELEMENTWISE },
	{ "indexSelect", KERNEL_COPY }, { "indexFunc", KERNEL_COPY },
};

/* Matches the start of a word of the name, ignoring case: name_has_word(). */
static const struct class_row words[] = {
	{ "convert", KERNEL_ELEMENTWISE },

	{ "attention", KERNEL_ATTENTION }, { "flash", KERNEL_ATTENTION },
	{ "mha", KERNEL_ATTENTION },
	{ "conv", KERNEL_CONV }, { "convolution", KERNEL_CONV },
	{ "matmul", KERNEL_MATMUL }, { "sgemm", KERNEL_MATMUL }, { "hgemm", KERNEL_MATMUL },
	{ "dgemm", KERNEL_MATMUL }, { "xgemm", KERNEL_MATMUL }, { "brgemm", KERNEL_MATMUL },
	{ "mm", KERNEL_MATMUL }, { "bmm", KERNEL_MATMUL }, { "addmm", KERNEL_MATMUL },
	{ "dense", KERNEL_MATMUL }, { "dot", KERNEL_MATMUL }, { "cutlass", KERNEL_MATMUL },
	{ "wmma", KERNEL_MATMUL }, { "linear", KERNEL_MATMUL }, { "einsum", KERNEL_MATMUL },
	{ "inner_product", KERNEL_MATMUL },

	{ "allreduce", KERNEL_COMM }, { "all_reduce", KERNEL_COMM }, { "allgather", KERNEL_COMM },
	{ "all_gather", KERNEL_COMM }, { "reducescatter", KERNEL_COMM },
	{ "reduce_scatter", KERNEL_COMM }, { "broadcast_comm", KERNEL_COMM },
	{ "sendrecv", KERNEL_COMM },
	/* HLO */
	{ "all-reduce", KERNEL_COMM }, { "all-gather", KERNEL_COMM }, { "all-to-all", KERNEL_COMM },
	{ "reduce-scatter", KERNEL_COMM }, { "collective-permute", KERNEL_COMM },
	{ "collective-broadcast", KERNEL_COMM },

	{ "normalize", KERNEL_INPUT }, { "softmax", KERNEL_NORM },
	{ "normalization", KERNEL_NORM }, { "batchnorm", KERNEL_NORM },
	{ "layernorm", KERNEL_NORM }, { "rmsnorm", KERNEL_NORM }, { "batch_norm", KERNEL_NORM },
	{ "normal", KERNEL_ELEMENTWISE }, { "norm", KERNEL_NORM }, { "lrn", KERNEL_NORM },
	{ "scan", KERNEL_SORT }, { "cumsum", KERNEL_SORT }, { "cumprod", KERNEL_SORT },
	{ "sort", KERNEL_SORT }, { "topk", KERNEL_SORT },
	{ "reduce", KERNEL_REDUCE }, { "reduction", KERNEL_REDUCE }, { "sum", KERNEL_REDUCE },
	{ "mean", KERNEL_REDUCE }, { "argmax", KERNEL_REDUCE }, { "argmin", KERNEL_REDUCE },
	{ "maxpool", KERNEL_REDUCE }, { "avgpool", KERNEL_REDUCE }, { "pool", KERNEL_REDUCE },
	{ "pooling", KERNEL_REDUCE }, { "loss", KERNEL_REDUCE }, { "histogram", KERNEL_REDUCE },

	{ "copy", KERNEL_COPY }, { "memcpy", KERNEL_COPY }, { "memset", KERNEL_COPY },
	{ "fill", KERNEL_COPY }, { "transpose", KERNEL_COPY }, { "permute", KERNEL_COPY },
	{ "concat", KERNEL_COPY }, { "cat", KERNEL_COPY }, { "gather", KERNEL_COPY },
	{ "scatter", KERNEL_COPY }, { "slice", KERNEL_COPY }, { "pad", KERNEL_COPY },
	{ "reorder", KERNEL_COPY },

	{ "decode", KERNEL_INPUT }, { "augment", KERNEL_INPUT }, { "resize", KERNEL_INPUT },
	{ "crop", KERNEL_INPUT },

	{ "elementwise", KERNEL_ELEMENTWISE }, { "vectorized", KERNEL_ELEMENTWISE },
	{ "add", KERNEL_ELEMENTWISE }, { "sub", KERNEL_ELEMENTWISE },
	{ "mul", KERNEL_ELEMENTWISE }, { "div", KERNEL_ELEMENTWISE },
	{ "axpy", KERNEL_ELEMENTWISE }, { "saxpy", KERNEL_ELEMENTWISE },
	{ "xaxpy", KERNEL_ELEMENTWISE }, { "scale", KERNEL_ELEMENTWISE },
	{ "relu", KERNEL_ELEMENTWISE }, { "gelu", KERNEL_ELEMENTWISE },
	{ "silu", KERNEL_ELEMENTWISE }, { "sigmoid", KERNEL_ELEMENTWISE },
	{ "tanh", KERNEL_ELEMENTWISE }, { "exp", KERNEL_ELEMENTWISE },
	{ "log", KERNEL_ELEMENTWISE }, { "sqrt", KERNEL_ELEMENTWISE },
	{ "rsqrt", KERNEL_ELEMENTWISE }, { "bias", KERNEL_ELEMENTWISE },
	{ "activation", KERNEL_ELEMENTWISE }, { "dropout", KERNEL_ELEMENTWISE },
	{ "sgd", KERNEL_ELEMENTWISE }, { "adam", KERNEL_ELEMENTWISE },
	{ "update", KERNEL_ELEMENTWISE }, { "optimizer", KERNEL_ELEMENTWISE },
	{ "cast", KERNEL_ELEMENTWISE }, { "square", KERNEL_ELEMENTWISE },
	{ "pow", KERNEL_ELEMENTWISE }, { "clip", KERNEL_ELEMENTWISE },
	{ "clamp", KERNEL_ELEMENTWISE }, { "pointwise", KERNEL_ELEMENTWISE },
	{ "triad", KERNEL_ELEMENTWISE }, { "eltwise", KERNEL_ELEMENTWISE },
	{ "act_and_mul", KERNEL_ELEMENTWISE }, { "rotary", KERNEL_ELEMENTWISE },
	{ "rope", KERNEL_ELEMENTWISE }, { "upsample", KERNEL_ELEMENTWISE },
	{ "select", KERNEL_ELEMENTWISE }, { "compare", KERNEL_ELEMENTWISE },
	{ "tril", KERNEL_ELEMENTWISE }, { "triu", KERNEL_ELEMENTWISE },
	{ "arange", KERNEL_ELEMENTWISE }, { "iota", KERNEL_ELEMENTWISE },
	{ "random", KERNEL_ELEMENTWISE }, { "philox", KERNEL_ELEMENTWISE },
	{ "maximum", KERNEL_ELEMENTWISE }, { "minimum", KERNEL_ELEMENTWISE },
	{ "foreach", KERNEL_ELEMENTWISE }, { "binary", KERNEL_ELEMENTWISE },
	{ "unary", KERNEL_ELEMENTWISE },

	{ "index", KERNEL_COPY }, { "embedding", KERNEL_COPY },
	{ "dynamic_update_slice", KERNEL_COPY },
	{ "broadcast", KERNEL_COPY }, { "clone", KERNEL_COPY },
};

/* Narrow types first. Matched in a name in lower case; a row without a type ends the search. */
static const struct class_row types[] = {
	/* cuDNN: "f16" stands for bfloat16 as well, and its helpers have only pointers to f32 */
	{ "cudnn_generated_", NUMBER_UNKNOWN }, { "cudnn::fusion::", NUMBER_UNKNOWN },
	{ "e4m3", NUMBER_FP8 }, { "e5m2", NUMBER_FP8 }, { "fp8", NUMBER_FP8 },
	{ "float8", NUMBER_FP8 },
	{ "_s8_", NUMBER_INT8 }, { "s8s8", NUMBER_INT8 }, { "i8i8", NUMBER_INT8 },
	{ "imma", NUMBER_INT8 },
	{ "i16832", NUMBER_INT8 }, { "i8816", NUMBER_INT8 }, { "int8", NUMBER_INT8 },
	{ "bf16", NUMBER_BF16 }, { "bfloat16", NUMBER_BF16 },
	{ "fp16", NUMBER_F16 }, { "f16", NUMBER_F16 },
	{ "__half", NUMBER_F16 }, { "half_t", NUMBER_F16 }, { "c10::half", NUMBER_F16 },
	{ "dt_half", NUMBER_F16 }, { "hgemm", NUMBER_F16 }, { "h884", NUMBER_F16 },
	{ "h1688", NUMBER_F16 }, { "h16816", NUMBER_F16 }, { "hcudnn", NUMBER_F16 },
	{ "tf32", NUMBER_TF32 }, { "tensorop_s1688", NUMBER_TF32 },
	{ "dgemm", NUMBER_F64 }, { "d884", NUMBER_F64 }, { "<double", NUMBER_F64 },
	{ " double", NUMBER_F64 },
	{ "f64", NUMBER_F64 },
	{ "sgemm", NUMBER_F32 }, { "scudnn", NUMBER_F32 }, { "f32", NUMBER_F32 },
	{ "fp32", NUMBER_F32 },
	{ "float", NUMBER_F32 },
};

/* The same, for matrix products, convolutions and attention. */
static const struct class_row tensor[] = {
	{ "simt", TENSOR_UNUSED }, { "ffma", TENSOR_UNUSED },
	{ "xmma_gemm_bf16", TENSOR_USED }, { "xmma_gemm_f16f16", TENSOR_USED },
	{ "xmma_gemm_e4m3", TENSOR_USED }, { "xmma_gemm_tf32", TENSOR_USED },
	{ "tensorop", TENSOR_USED }, { "wgmma", TENSOR_USED }, { "gmma", TENSOR_USED },
	{ "hmma", TENSOR_USED }, { "imma", TENSOR_USED }, { "wmma", TENSOR_USED },
	{ "s884", TENSOR_USED }, { "h884", TENSOR_USED }, { "d884", TENSOR_USED },
	{ "i8816", TENSOR_USED }, { "1688", TENSOR_USED }, { "16816", TENSOR_USED },
	{ "16832", TENSOR_USED }, { "161616", TENSOR_USED }, { "tensor16x8", TENSOR_USED },
	{ "tensor8x8", TENSOR_USED }, { "warpgroupsize", TENSOR_USED }, { "nvjet_", TENSOR_USED },
	{ "tcgen05", TENSOR_USED }, { "mma_atom", TENSOR_USED }, { "sm90_64x", TENSOR_USED },
	{ "deep_gemm", TENSOR_USED }, { "marlin", TENSOR_USED },
	{ "flash_fwd", TENSOR_USED }, { "flash_bwd_dq_dk_dv", TENSOR_USED },
	{ "flashattnfwd", TENSOR_USED }, { "flashattnbwd", TENSOR_USED },
	{ "fmha_cutlassf_bf16", TENSOR_USED }, { "fmha_cutlassf_f16", TENSOR_USED },
	{ "fmha_cutlassb_bf16", TENSOR_USED }, { "fmha_cutlassb_f16", TENSOR_USED },
	{ "sgemm", TENSOR_UNUSED }, { "dgemm", TENSOR_UNUSED }, { "hgemm", TENSOR_UNUSED },
	{ "scudnn", TENSOR_UNUSED }, { "hcudnn", TENSOR_UNUSED }, { "gemv", TENSOR_UNUSED },
	{ "gemmsn_", TENSOR_UNUSED }, { "gemmk1_", TENSOR_UNUSED },
};

static uint8_t find_part(const struct class_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(name, rows[i].text))
			return rows[i].is;
	return 0;
}

static uint8_t find_word(const char *name)
{
	for (size_t i = 0; i < COUNT(words); i++)
		if (name_has_word(name, words[i].text))
			return words[i].is;
	return KERNEL_OTHER;
}

/* tinygrad's generated names: E_, r_ and a shape ("r_16_32", "E_4n2"). */
static uint8_t of_generated(const char *name)
{
	if ((name[0] == 'E' || name[0] == 'r') && name[1] == '_' &&
	    (name[2] >= '0' && name[2] <= '9'))
		return name[0] == 'E' ? KERNEL_ELEMENTWISE : KERNEL_REDUCE;
	return KERNEL_OTHER;
}

static uint8_t kernel_class_kind(const char *name, const char *full)
{
	uint8_t kind = of_generated(name);

	for (size_t i = 0; !kind && i < COUNT(by_element); i++) {
		if (!strstr(name, by_element[i]))
			continue;
		kind = find_part(in_element, COUNT(in_element), full);
		return kind ? kind : KERNEL_ELEMENTWISE;
	}
	if (!kind)
		kind = find_part(parts, COUNT(parts), full);
	if (!kind)
		kind = find_word(name);
	if (!kind && full != name)
		kind = find_word(full);
	/* XLA: elementwise, unless the name says more. */
	if (!kind && !strncmp(name, "loop_", 5))
		kind = KERNEL_ELEMENTWISE;
	return kind;
}

/*
 * cuBLASLt's own names: nvjet_[smNN_] and letters for the factors, the sums and the product: "hsh"
 * is half, f32, half; t is bfloat16, q an 8-bit number. A factor "s" is computed with as TF32
 * only where the name says so. Returns NULL for other names.
 */
static const char *nvjet_letters(const char *lower)
{
	const char *at = strstr(lower, "nvjet_");

	if (!at)
		return NULL;
	at += 6;
	return strncmp(at, "sm", 2) || !strchr(at, '_') ? at : strchr(at, '_') + 1;
}

static uint8_t type_of_nvjet(const char *letters)
{
	switch (letters[0]) {
	case 'h':
		return NUMBER_F16;
	case 't':
		return NUMBER_BF16;
	case 'q':
		return NUMBER_FP8;
	case 'd':
		return NUMBER_F64;
	default:
		return strstr(letters, "_tf32_") ? NUMBER_TF32 : NUMBER_UNKNOWN;
	}
}

/*
 * Tensile's: letters for the factors, the product and what is computed with (rocBLAS and hipBLASLt
 * name them alike). MX after the letters is XF32, which has the numbers of TF32.
 */
static uint8_t type_of_tensile(const char *letters)
{
	if (!strncmp(letters, "F8", 2) || !strncmp(letters, "B8", 2))
		return NUMBER_FP8;
	if (!strncmp(letters, "I8", 2) || !strncmp(letters, "4xi8", 4))
		return NUMBER_INT8;
	switch (letters[0]) {
	case 'H':
		return NUMBER_F16;
	case 'B':
		return NUMBER_BF16;
	case 'S':
		return strstr(letters, "_MX_") ? NUMBER_TF32 : NUMBER_F32;
	case 'D':
		return NUMBER_F64;
	default:
		return NUMBER_UNKNOWN;
	}
}

/* "_MI16x16x1_" names a matrix instruction; "_MI1x1" and none are ordinary ones. */
static uint8_t tensor_of_tensile(const char *letters)
{
	const char *at = strstr(letters, "_MI");

	return at && at[3] >= '1' && at[3] <= '9' && at[4] >= '0' && at[4] <= '9' ? TENSOR_USED :
									 TENSOR_UNKNOWN;
}

/* The type that a template's functor computes with, "add<float>"; false: none is known. What else
 * stands in the name are types of constants and of accumulators. */
static bool type_of_functor(const char *full, unsigned *type)
{
	static const struct class_row known[] = {
		{ "<float>", NUMBER_F32 }, { "<double>", NUMBER_F64 }, { "<bf16>", NUMBER_BF16 },
		{ "<half>", NUMBER_F16 }, { "<e4m3", NUMBER_FP8 }, { "<e5m2", NUMBER_FP8 },
	};
	char text[NAME_SHORT_MAX];
	const char *at;

	if (!strstr(full, "at::native::"))
		return false;
	name_shorten_to(full, NAME_SHORT, text, sizeof(text));
	/* a copy's name says both types, of which the narrower counts */
	at = strstr(text, "_copy<") ? NULL : strstr(text, " · ");
	at = at ? strrchr(at, '<') : NULL;
	if (at)
		*type = find_part(known, COUNT(known), at);
	return at;
}

struct kernel_class kernel_class_of(const char *full)
{
	struct kernel_class class = { .kind = KERNEL_OTHER };
	const char *tensile, *letters;
	char lower[1024], bare[NAME_SHORT_MAX];
	unsigned type;
	size_t n = 0;

	if (!full || !*full)
		return class;
	tensile = kernel_name_tensile(full);
	if (tensile) {
		class.kind = KERNEL_MATMUL;
		class.type = type_of_tensile(tensile) & 63;
		class.tensor = tensor_of_tensile(tensile) & 15;
		return class;
	}
	name_shorten_to(full, NAME_BARE, bare, sizeof(bare));
	class.kind = kernel_class_kind(bare, full);
	for (; full[n] && n + 1 < sizeof(lower); n++)
		lower[n] = (char)(full[n] >= 'A' && full[n] <= 'Z' ? full[n] + 32 : full[n]);
	lower[n] = '\0';
	letters = nvjet_letters(lower);
	if (!type_of_functor(full, &type))
		type = letters ? type_of_nvjet(letters) : find_part(types, COUNT(types), lower);
	class.type = type & 63;
	if (class.kind == KERNEL_MATMUL || class.kind == KERNEL_CONV ||
	    class.kind == KERNEL_ATTENTION)
		class.tensor = find_part(tensor, COUNT(tensor), lower) & 15;
	if (letters && (class.type == NUMBER_UNKNOWN || class.type == NUMBER_F64))
		class.tensor = TENSOR_UNKNOWN;
	return class;
}

enum work kernel_kind_work(enum kernel_kind kind)
{
	static const uint8_t works[KERNEL_KINDS] = {
		[KERNEL_OTHER] = WORK_OTHER, [KERNEL_MATMUL] = WORK_MATMUL,
		[KERNEL_CONV] = WORK_MATMUL, [KERNEL_ATTENTION] = WORK_MATMUL,
		[KERNEL_NORM] = WORK_REDUCE, [KERNEL_ELEMENTWISE] = WORK_ELEMENTWISE,
		[KERNEL_REDUCE] = WORK_REDUCE, [KERNEL_SORT] = WORK_REDUCE,
		[KERNEL_COPY] = WORK_COPY, [KERNEL_COMM] = WORK_COMM, [KERNEL_INPUT] = WORK_INPUT,
	};

	return kind < KERNEL_KINDS ? (enum work)works[kind] : WORK_OTHER;
}

const char *kernel_kind_name(enum kernel_kind kind)
{
	static const char *const names[KERNEL_KINDS] = {
		"other", "matmul", "convolution", "attention", "norm", "elementwise", "reduction",
		"sort", "copy", "comm", "input",
	};

	return kind < KERNEL_KINDS ? names[kind] : "";
}

const char *kernel_type_name(enum kernel_type type)
{
	static const char *const names[KERNEL_TYPES] = {
		"", "f64", "f32", "tf32", "bf16", "f16", "fp8", "int8",
	};

	return type < KERNEL_TYPES ? names[type] : "";
}
