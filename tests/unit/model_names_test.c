/* SPDX-License-Identifier: MIT */
/* Names: cleaning, demangling, shortening, classes of work, interning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/names.h"
#include "tests/unit/test.h"

static const char *cleaned(const char *text)
{
	static char out[64];

	name_clean(text, out, sizeof(out));
	return out;
}

TEST(model_names_are_cleaned)
{
	CHECK_STR(cleaned("plain"), "plain");
	CHECK_STR(cleaned("a\x1b[31mb\x7f"), "a?[31mb?");
	CHECK_STR(cleaned("tab\tnew\n"), "tab new ");
	CHECK_STR(cleaned("größe → 日本"), "größe → 日本");
	CHECK_STR(cleaned("bad\xff\xc3(\xe2\x82"), "bad?" "?(?" "?");
	CHECK_STR(cleaned("\xc0\xaf\xed\xa0\x80"), "?????");
	CHECK_STR(cleaned("\xc2\x9b" "c1"), "?c1");
	CHECK_STR(cleaned("\xe2\x80\xae" "rtl"), "?rtl");
	/* Cut at a character, never inside one. */
	CHECK_STR(cleaned("0123456789012345678901234567890123456789012345678901234567890é"),
		  "0123456789012345678901234567890123456789012345678901234567890é");
	CHECK_STR(cleaned("01234567890123456789012345678901234567890123456789012345678901é"),
		  "01234567890123456789012345678901234567890123456789012345678901");
}

static const char *shortened(const char *text)
{
	static char out[NAME_SHORT_MAX];

	name_shorten(text, out, sizeof(out));
	return out;
}

TEST(model_names_are_shortened_from_the_inside)
{
	CHECK_STR(shortened("void cudnn::ops::conv2d_fprop_128x64<float, 3, 3, 1>(float*, int)"),
		  "conv2d_fprop_128x64<float>");
	CHECK_STR(shortened("gemm<float>(float const*, float*)"), "gemm<float>");
	CHECK_STR(shortened("gemm<float>(float const*, float*), part"), "gemm<float>, part");
	CHECK_STR(shortened("convolution, part"), "convolution, part");
	CHECK_STR(shortened(", part"), ", part");
	CHECK_STR(
		shortened("void at::internal::invoke_parallel<at::parallel_for<at::native::"
			  "(anonymous namespace)::sum_rows(at::Tensor&)::{lambda(long)#1}>(long)> "
			  "(long) [clone ._omp_fn.0], part"),
		"sum_rows, part");
	CHECK_STR(shortened("void at::native::(anonymous namespace)::reduce_kernel<512, 1>(int)"),
		  "reduce_kernel");
	CHECK_STR(shortened("ns::Functor<int>::operator()(int) const"), "Functor<int>");
	CHECK_STR(shortened("void f<g(int)>(int)"), "f · g");
	CHECK_STR(shortened("std::pair<int, int> a::b<c::d>::e(int) const"), "e");
	/* No C++: left alone. */
	CHECK_STR(shortened("gradients/conv2d_1/Conv2DBackpropFilter"),
		  "gradients/conv2d_1/Conv2DBackpropFilter");
	CHECK_STR(shortened("load batch (12)"), "load batch (12)");
	CHECK_STR(shortened("E_16_4n1"), "E_16_4n1");
	CHECK_STR(shortened("a<b"), "a<b");
	CHECK_STR(shortened("x::<>"), "x");
	CHECK_STR(shortened("::"), "::");
	CHECK_STR(shortened(""), "");
	CHECK_STR(shortened("operator()"), "operator()");
	CHECK_STR(shortened("cooperator::run(int)"), "run");
}

TEST(model_names_of_python_frameworks)
{
	static const char node[] = "autograd::engine::evaluate_function: ";
	char text[300];

	CHECK_STR(shortened("aten::conv2d"), "conv2d");
	CHECK_STR(shortened("aten::empty.memory_format"), "empty.memory_format");
	CHECK_STR(shortened("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
		  "DataLoader next");
	CHECK_STR(shortened("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
		  "DataLoader next (workers)");
	CHECK_STR(shortened("Optimizer.step#SGD.step"), "SGD.step");
	CHECK_STR(shortened("Optimizer.zero_grad#AdamW.zero_grad"), "AdamW.zero_grad");
	CHECK_STR(shortened("Optimizer.step"), "Optimizer.step");
	CHECK_STR(shortened("Optimizer.step#"), "Optimizer.step#");
	/* The engine's op and the node in it are two rows of a table. */
	CHECK_STR(shortened("ReluBackward0"), "ReluBackward0");
	CHECK_STR(shortened("autograd::engine::evaluate_function: ReluBackward0"),
		  "autograd: ReluBackward0");
	CHECK_STR(shortened("torch::autograd::AccumulateGrad"), "AccumulateGrad");
	CHECK_STR(shortened("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"),
		  "autograd: AccumulateGrad");
	CHECK_STR(shortened("autograd::engine::evaluate_function: "),
		  "autograd::engine::evaluate_function: ");
	CHECK_STR(shortened("Torch-Compiled Region: 0/1"), "Torch-Compiled Region: 0/1");
	/* JAX: the functions are told apart, and running from waiting. */
	CHECK_STR(shortened("PjitFunction(step)"), "PjitFunction(step)");
	CHECK_STR(shortened("ThunkExecutor::Execute (wait for completion)"),
		  "ThunkExecutor::Execute (wait for completion)");
	CHECK_STR(shortened("CommonPjRtBuffer::Await"), "Await");
	/* Long ones are cut, at a character. */
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, node, sizeof(node) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK(strlen(shortened(text)) == NAME_SHORT_MAX - 1);
}

TEST(model_names_shortening_never_breaks)
{
	static const char pieces[] = "a:<>()[] &*,{}#~_voidconst operator::";
	char text[80], out[40];

	for (int round = 0; round < 200000; round++) {
		size_t n = test_below(sizeof(text));

		for (size_t i = 0; i < n; i++)
			text[i] = pieces[test_below(sizeof(pieces) - 1)];
		text[n] = '\0';
		name_shorten(text, out, sizeof(out));
		CHECK(memchr(out, '\0', sizeof(out)));
		CHECK(!n || *out);
	}
}

TEST(model_names_are_demangled)
{
	char *text = NULL;

	if (!name_demangle("_Z4gemmIfEvPKT_PS0_i", &text))
		test_skip("libiberty");
	CHECK_STR(text, "void gemm<float>(float const*, float*, int)");
	free(text);
	CHECK(name_demangle("_ZTSN6dpcpp6kernel3addIfEE", &text) ||
	      name_demangle("_ZTSN2ns3addIfEE", &text));
	CHECK(strstr(text, "add"));
	free(text);
	CHECK(!name_demangle("conv_forward", &text));
	CHECK(!name_demangle("_Z", &text));
	CHECK(!name_demangle("_Znonsense", &text));
}

/* Functions of C++, with the class or the namespace, or without. */
TEST(model_names_of_functions)
{
	static const struct { const char *raw, *bare, *scoped; } names[] = {
		{ "_ZN5torch8autograd6Engine11thread_mainERKi", "thread_main",
		  "Engine::thread_main" },
		{ "_ZN2at4_ops11sort_stable4callEi", "call", "sort_stable::call" },
		{ "_ZN12_GLOBAL__N_14loadEv", "load", "load" },
		{ "_Z4loadi in libmine.so", "load in libmine.so", "load in libmine.so" },
		{ "_ZZN2at4workEvENKUlvE_clEv", "work", "work" },	/* a lambda */
		{ "_Zwrong", "_Zwrong", "_Zwrong" },
		{ "conv_forward", "conv_forward", "conv_forward" },
	};
	struct names table;
	char *full;

	if (!name_demangle("_Z4loadi", &full))
		test_skip("libiberty");
	free(full);
	names_init(&table);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t name = names_intern(&table, names[i].raw);

		CHECK_STR(names_raw(&table, names_function(&table, name, NAME_BARE)),
			  names[i].bare);
		CHECK_STR(names_raw(&table, names_function(&table, name, NAME_SCOPED)),
			  names[i].scoped);
	}
	CHECK_INT(names_function(&table, 0, NAME_BARE), 0);
	names_release(&table);
}

TEST(model_work_of_names)
{
	static const struct { const char *name; enum work work;
	} cases[] = {
		{ "conv_forward", WORK_MATMUL },
		{ "conv2d_fprop_128x64", WORK_MATMUL },
		{ "dense_weight_gradient", WORK_MATMUL },
		{ "XgemmDirectTN", WORK_MATMUL },
		{ "ampere_sgemm_128x64_nn", WORK_MATMUL },
		{ "batched_dot", WORK_MATMUL },
		{ "Conv2DBackpropFilter", WORK_MATMUL },
		{ "matmul_16", WORK_MATMUL },
		{ "relu_forward", WORK_ELEMENTWISE },
		{ "sgd_update", WORK_ELEMENTWISE },
		{ "vectorized_elementwise_kernel", WORK_ELEMENTWISE },
		{ "vec_add", WORK_ELEMENTWISE },
		{ "E_16_4n1", WORK_ELEMENTWISE },
		{ "vectorAdd", WORK_ELEMENTWISE },
		{ "softmax_loss", WORK_REDUCE },
		{ "reduce_kernel", WORK_REDUCE },
		{ "r_64_32", WORK_REDUCE },
		{ "pool_backward", WORK_REDUCE },
		{ "layer_norm", WORK_REDUCE },
		{ "sum", WORK_REDUCE },
		{ "normalize", WORK_INPUT },
		{ "transpose_2d", WORK_COPY },
		{ "ncclDevKernel_AllReduce_Sum", WORK_COMM },
		{ "touch", WORK_OTHER },
		{ "mmap_thing", WORK_OTHER },
		{ "summit", WORK_OTHER },
		{ "address_fix", WORK_OTHER },
		{ "login", WORK_OTHER },
		{ "", WORK_OTHER },
		{ "raddle", WORK_OTHER },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (work_of_name(cases[i].name) != cases[i].work)
			test_fail(__FILE__, __LINE__, "'%s' is %s, not %s", cases[i].name,
				  work_name(work_of_name(cases[i].name)), work_name(cases[i].work));
	CHECK_INT(work_of_name(NULL), WORK_OTHER);
}

TEST(model_names_intern)
{
	static uint32_t ids[20000];
	struct names names;
	char text[32];
	uint32_t late, real;

	names_init(&names);
	CHECK_INT(names_intern(&names, NULL), 0);
	CHECK_INT(names_intern(&names, ""), 0);
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		ids[i] = names_intern(&names, text);
		CHECK(ids[i]);
	}
	for (int i = 0; i < 20000; i += 3) {
		snprintf(text, sizeof(text), "name %d", i);
		CHECK_INT(names_intern(&names, text), ids[i]);
		CHECK_STR(names_raw(&names, ids[i]), text);
	}
	late = names_placeholder(&names);
	CHECK_STR(names_short(&names, late), "?");
	CHECK(!names_defined(&names, late));
	real = names_intern(&names, "void a::gemm<int>(int)");
	names_alias(&names, late, real);
	CHECK_STR(names_short(&names, late), "gemm<int>");
	CHECK_STR(names_raw(&names, late), "void a::gemm<int>(int)");
	CHECK_INT(names_work(&names, late), WORK_MATMUL);
	CHECK(names_short(&names, 0) == NULL);
	CHECK(names_raw(&names, 0xffffffff) == NULL);
	names_release(&names);
}

TEST(model_words)
{
	CHECK_STR(work_name(WORK_MATMUL), "matmul");
	CHECK_STR(direction_name(DIR_H2D), "h2d");
	CHECK_STR(direction_name(DIR_RECV), "recv");
	CHECK_STR(direction_name(DIR_NONE), "");
	CHECK_STR(how_name(HOW_EVENT), "event");
	CHECK_STR(framework_name(FW_ONEDNN), "onednn");
	CHECK_STR(clock_quality_name(CLOCK_DRIVER), "driver");
	CHECK_STR(work_name((enum work)-1), "");
	CHECK_STR(how_name((enum how)99), "");
}
