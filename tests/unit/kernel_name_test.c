/* SPDX-License-Identifier: MIT */
/* Short names of real kernels: of a recording, and of the libraries of frameworks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/kernel_class.h"
#include "model/base/names.h"
#include "tests/unit/test.h"

#define NAMES_READ 1000

/* A line: short name, class, type, tensor cores, name. */
struct known { char *line, *words[5]; uint32_t id; };

static size_t read_known(const char *path, struct known *known)
{
	FILE *file = fopen(path, "r");
	char *line = NULL, *rest;
	size_t room = 0, n = 0;

	if (!file)
		test_fail(__FILE__, __LINE__, "cannot open '%s'", path);
	while (n < NAMES_READ && getline(&line, &room, file) > 0) {
		if (*line == '#')
			continue;
		rest = known[n].line = strdup(line);
		for (int i = 0; i < 5; i++)
			known[n].words[i] = strsep(&rest, "\t\n");
		CHECK(known[n].words[4] && *known[n].words[4]);
		n++;
	}
	free(line);
	fclose(file);
	return n;
}

static const char *dash(const char *text)
{
	return *text ? text : "-";
}

static void check_known(struct names *names, const struct known *k)
{
	static const char *const tensor[] = { "-", "no", "yes" };
	struct kernel_class class = names_class(names, k->id);
	const char *text = names_short(names, k->id);

	if (strcmp(text, k->words[0]) != 0)
		test_fail(__FILE__, __LINE__, "'%s' is '%s', not '%s'", k->words[4], text,
			  k->words[0]);
	if (strcmp(kernel_kind_name((enum kernel_kind)class.kind), k->words[1]) != 0 ||
	    strcmp(dash(kernel_type_name((enum kernel_type)class.type)), k->words[2]) != 0 ||
	    strcmp(tensor[class.tensor], k->words[3]) != 0)
		test_fail(__FILE__, __LINE__, "'%s' is %s %s %s, not %s %s %s", k->words[4],
			  kernel_kind_name((enum kernel_kind)class.kind),
			  kernel_type_name((enum kernel_type)class.type), tensor[class.tensor],
			  k->words[1], k->words[2], k->words[3]);
}

static size_t intern_known(struct names *names, struct known *known, size_t n, bool backwards)
{
	for (size_t i = 0; i < n; i++) {
		struct known *k = &known[backwards ? n - 1 - i : i];

		k->id = names_intern(names, k->words[4]);
		names_class(names, k->id);
	}
	return n;
}

static void need_demangler(void)
{
	char *text;

	if (!name_demangle("_Z4gemmIfEvPKT_PS0_i", &text))
		test_skip("libiberty");
	free(text);
}

static void check_file(const char *path, size_t least)
{
	static struct known known[NAMES_READ];
	struct names names;
	size_t n = read_known(path, known);

	need_demangler();
	CHECK(n >= least);
	for (int backwards = 0; backwards < 2; backwards++) {
		names_init(&names);
		intern_known(&names, known, n, backwards);
		for (size_t i = 0; i < n; i++) {
			const char *text = names_short(&names, known[i].id);

			check_known(&names, &known[i]);
			CHECK(!strstr(text, "void ") && !strstr(text, "at::native"));
			for (size_t j = 0; j < i; j++)
				if (!strcmp(text, names_short(&names, known[j].id)))
					test_fail(__FILE__, __LINE__, "two are '%s'", text);
		}
		names_release(&names);
	}
	for (size_t i = 0; i < n; i++)
		free(known[i].line);
}

TEST(kernel_names_of_a_recording)
{
	check_file("tests/data/names/gpt-h200.txt", 61);
}

TEST(kernel_names_of_libraries)
{
	check_file("tests/data/names/libraries.txt", 300);
}

TEST(kernel_names_that_were_made_up)
{
	static const struct { const char *full, *is; } names[] = {
#define VECTORIZED "void at::native::vectorized_elementwise_kernel<4, at::native::"
#define APPLY "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::" \
	      "(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::" \
	      "(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)"
		{ VECTORIZED "CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)",
		  "vectorized_elementwise · add<float>" },
		{ APPLY "1, false> >(int)", "multi_tensor_apply · adamw<float>" },
		{ APPLY "0, false> >(int)", "multi_tensor_apply · adam<float>" },
		{ "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_"
		  "tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8::"
		  "Params)",
		  "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8" },
		/* cut, so that no demangler reads them */
		{ "_ZN7cutlass13device_kernelINS_4gemm6kern", "device_kernel" },
		{ "_ZN2at6native39_GLOBAL__N__5cd812b1_7_Loss_cu_5b0651e13fooIf", "foo" },
		{ "_ZN", "_ZN" }, { "_ZN99999999999999999999a", "_ZN99999999999999999999a" },
	};
	char text[NAME_SHORT_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		name_shorten(names[i].full, text, sizeof(text));
		CHECK_STR(text, names[i].is);
	}
}

TEST(kernel_names_are_told_apart)
{
	static const struct { const char *full, *is; } kernels[] = {
		{ "void k<float, 2, n::mul<float> >(int)", "k<float, 2> · mul<float>" },
		{ "void k<float, 4, n::mul<float> >(int)", "k<float, 4> · mul<float>" },
		{ "void a::g<b::X<3> >(int)", "g<X<3> >" },
		{ "void a::g<b::X<4> >(int)", "g<X<4> >" },
		{ "void alone<double>(int)", "alone<double>" },
	};
	const size_t n = sizeof(kernels) / sizeof(kernels[0]);
	uint32_t ids[sizeof(kernels) / sizeof(kernels[0])], one, other;
	struct names names;

	for (size_t first = 0; first < n; first++) {
		names_init(&names);
		for (size_t i = 0; i < n; i++) {
			size_t at = (first + i) % n;

			ids[at] = names_intern(&names, kernels[at].full);
			names_work(&names, ids[at]);
		}
		for (size_t i = 0; i < n; i++)
			CHECK_STR(names_short(&names, ids[i]), kernels[i].is);
		names_release(&names);
	}
	/* An op may be called like a kernel; the mangled form is another name than the other. */
	names_init(&names);
	one = names_intern(&names, "aten::add");
	CHECK_STR(names_short(&names, one), "add");
	other = names_intern(&names, "void add(int)");
	names_work(&names, other);
	CHECK_STR(names_short(&names, other), "add");
	names_release(&names);
}

TEST(kernel_names_survive_anything)
{
	static const char *const pieces[] = {
		"<", ">", "(", ")", "{", "}", "[", "]", ",", " ", "::", "operator", "operator()",
		"{lambda(float)#1}", "'lambda'(int)", "(anonymous namespace)", "void ", "&",
		"const",
		"*", "float", "4", "at::native::", "reduce_kernel", "ReduceOp", "cub::", "thrust::",
		"cutlass::", "MMA_Atom<", "SM90_", "__nv_hdl_wrapper_t<", "__nv_dl_tag<", "_ZN",
		"_ZN2at6native", "Cijk_Ailk_Bljk_", "_MT", "OpaqueType<", "\xff", "\xe2\x82", "ß",
		"#", "-", "->", "complex<", "FusedAdamMathFunctor", "raits<", "nvjet_", "sm",
	};
	static char text[11000];
	uint32_t ids[200];
	struct names names;

	names_init(&names);
	for (int round = 0; round < 20000; round++) {
		size_t length = 0, most = test_below(round % 100 ? 300 : sizeof(text) - 100) + 1;
		const char *name;
		uint32_t id;

		while (length < most) {
			const char *piece = pieces[test_below(sizeof(pieces) / sizeof(*pieces))];

			memcpy(text + length, piece, strlen(piece));
			length += strlen(piece);
		}
		text[length] = '\0';
		id = ids[round % 200] = names_intern(&names, text);
		names_class(&names, id);
		name = names_short(&names, id);
		CHECK(*name && strlen(name) < NAME_SHORT_MAX + 16);
	}
	for (int i = 0; i < 200; i++)
		for (int j = 0; j < i; j++)
			CHECK(ids[i] == ids[j] || strcmp(names_short(&names, ids[i]),
							 names_short(&names, ids[j])) != 0);
	names_release(&names);
}
