/* SPDX-License-Identifier: MIT */
#include "model/analyses/op_class.h"

#include <string.h>

#include "model/base/names.h"

static const struct {
	const char *word;
	enum op_class op_class;		/* NONE: not in a class, although a later row would match */
} words[] = {
	{ "threadpool", OP_CLASS_NONE }, { "thread_pool", OP_CLASS_NONE },
	{ "memorypool", OP_CLASS_NONE }, { "memory_pool", OP_CLASS_NONE },
	{ "mempool", OP_CLASS_NONE },
	{ "biasaddgrad", OP_CLASS_NONE },
	/* new weights must be written */
	{ "assign", OP_CLASS_NONE }, { "apply", OP_CLASS_NONE },
	{ "sgd", OP_CLASS_NONE }, { "adam", OP_CLASS_NONE },
	{ "maxpool", OP_CLASS_POOLING }, { "avgpool", OP_CLASS_POOLING },
	{ "pool", OP_CLASS_POOLING }, { "pooling", OP_CLASS_POOLING },
	{ "transpose", OP_CLASS_LAYOUT }, { "permute", OP_CLASS_LAYOUT },
	{ "reorder", OP_CLASS_LAYOUT }, { "mkltotf", OP_CLASS_LAYOUT },
	{ "nchwtonhwc", OP_CLASS_LAYOUT }, { "nhwctonchw", OP_CLASS_LAYOUT },
	{ "nchw_to_nhwc", OP_CLASS_LAYOUT }, { "nhwc_to_nchw", OP_CLASS_LAYOUT },
	{ "cast", OP_CLASS_CAST }, { "convert", OP_CLASS_CAST },
	{ "dequantize", OP_CLASS_CAST }, { "quantize", OP_CLASS_CAST },
	{ "to_copy", OP_CLASS_CAST },	/* aten::_to_copy: to another type or device */
	{ "copy", OP_CLASS_COPY }, { "clone", OP_CLASS_COPY }, { "contiguous", OP_CLASS_COPY },
	{ "snapshot", OP_CLASS_COPY }, { "concat", OP_CLASS_COPY },
};

static const struct {
	const char *word, *advice;
} classes[OP_CLASSES] = {
	[OP_CLASS_POOLING] = { "pooling",
		"a stride of 2 in the convolution before it halves the image, too; with "
		"max-pooling, move bias and ReLU behind it, where they have a quarter of the "
		"elements" },
	[OP_CLASS_LAYOUT] = { "changing the layout",
		"keep one layout (NHWC or NCHW) from end to end, or tell the next matrix product "
		"to take its input transposed" },
	[OP_CLASS_CAST] = { "casting",
		"keep the data in the type that is needed, so that no step has to cast it" },
	[OP_CLASS_COPY] = { "copying",
		"write the data where it is needed, so that it need not be copied" },
	[OP_CLASS_CHAIN] = { "a chain of elementwise ops",
		"fuse them (with a compiler such as XLA, or by hand), so that they go through "
		"memory once" },
};

enum op_class op_class_of(const char *name)
{
	enum work work = work_of_name(name);

	if (!name || work == WORK_MATMUL || work == WORK_COMM)
		return OP_CLASS_NONE;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (name_has_word(name, words[i].word))
			return words[i].op_class;
	return work == WORK_ELEMENTWISE ? OP_CLASS_CHAIN : OP_CLASS_NONE;
}

const char *op_class_word(enum op_class op_class)
{
	return op_class < OP_CLASSES && classes[op_class].word ? classes[op_class].word : "";
}

const char *op_class_advice(enum op_class op_class)
{
	return op_class < OP_CLASSES && classes[op_class].advice ? classes[op_class].advice : "";
}

const char *op_type_plain(const char *type)
{
	static const char *const before[] = { "_MklNative", "_Mkl" };

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		if (!strncmp(type, before[i], strlen(before[i])) && type[strlen(before[i])])
			return type + strlen(before[i]);
	return type;
}
