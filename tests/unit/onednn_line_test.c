/* SPDX-License-Identifier: MIT */
/* Lines of oneDNN's verbose output, as versions 2 and 3 write them. */
#include <string.h>

#include "probes/onednn/onednn.h"
#include "tests/unit/test.h"

static bool is(struct onednn_part part, const char *text)
{
	return (size_t)part.length == strlen(text) && !strncmp(part.text, text, strlen(text));
}

TEST(onednn_line_run)
{
	struct onednn_line l;

	CHECK(onednn_parse("onednn_verbose,v1,primitive,exec,cpu,convolution,"
			   "brg_conv_fwd:avx512_core,forward_training,src:f32 wei:f32,"
			   "attr-scratchpad:user,alg:convolution_direct,mb32_ic1oc16,0.928955\n",
			   &l));
	CHECK(!l.created && is(l.kind, "convolution"));
	CHECK(is(l.implementation, "brg_conv_fwd:avx512_core"));
	CHECK(is(l.direction, "forward_training") && is(l.shape, "mb32_ic1oc16"));
	CHECK_INT(l.dur_ns, 928955);
	CHECK(onednn_parse("onednn_verbose,exec,cpu", &l) == false);
	CHECK(onednn_parse("onednn_verbose,primitive,exec,cpu,gemm_api,,undef,a,,,32x10:10x800,12",
			   &l));
	CHECK(is(l.kind, "gemm_api") && !l.implementation.length && !l.direction.length);
	CHECK_INT(l.dur_ns, 12000000);
	CHECK(onednn_parse("onednn_verbose,v1,12.5,primitive,create:cache_miss,cpu,reorder,jit:uni,"
			   "undef,a,,,2x2,3.9e-05", &l));
	CHECK(l.created && is(l.kind, "reorder"));
	CHECK_INT(l.dur_ns, 39);
}

TEST(onednn_line_primitive)
{
	struct onednn_line l;

	CHECK(onednn_parse_primitive(
		"cpu,convolution,jit:uni,forward_training,src:f32,,alg:a,mb32_ic1", &l));
	CHECK(!l.created && is(l.kind, "convolution") && is(l.implementation, "jit:uni"));
	CHECK(is(l.direction, "forward_training") && is(l.shape, "mb32_ic1"));
	CHECK(onednn_parse_primitive("cpu,gemm_api,,undef,src_f32::blocked:ab:f0,,,10x64:64x32",
				     &l));
	CHECK(is(l.kind, "gemm_api") && !l.implementation.length && !l.direction.length);
	CHECK(!onednn_parse_primitive("", &l));
	CHECK(!onednn_parse_primitive("cpu,convolution,jit:uni,undef", &l));
	CHECK(!onednn_parse_primitive("cpu,,jit:uni,undef,a,,,2x2", &l));
}

TEST(onednn_line_others)
{
	static const char *const lines[] = {
		"",
		"\n",
		",",
		"onednn_verbose,v1,info,cpu,runtime:threadpool,nthr:2",
		"onednn_verbose,v1,primitive,create:cache_hit,cpu,reorder,jit:uni,undef,a,,,2x2,0."
		"1",
		"onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,a,,,2x2,",
		"onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,a,,,2x2,1e99",
		"onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,a,,,2x2,9999999999e6",
		"onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,a,,,2x2,-1",
		"onednn_verbose,v1,primitive,exec,cpu,,jit:uni,undef,a,,,2x2,1",
		"onednn_verbose,v1,primitive,exec,cpu,reorder",
	};
	struct onednn_line l;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CHECK(!onednn_parse(lines[i], &l));
}
