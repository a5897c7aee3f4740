/* SPDX-License-Identifier: MIT */
/* Products of matrices without tensor cores, where there are some. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define STEP (1000 * US)

/* 12 steps of 1 ms, each with one kernel of that name for so long. */
static size_t played(uint16_t capability, const char *name, int64_t dur_ns, struct finding *out)
{
	struct event device = ev_device(1, "0000:65:00.0");
	static char key[64];
	struct bench bench;
	size_t found;

	bench_init(&bench, &analysis_tensor);
	device.u.device.capability = capability;
	apply_one(bench.model, device);
	for (int step = 0; step < 12; step++) {
		int64_t t = BASE + step * STEP;

		bench_kernel(&bench, bench_name(&bench, name), t, t + dur_ns);
		bench_kernel(&bench, bench_name(&bench, "relu"), t + dur_ns, t + dur_ns + 10 * US);
		bench_step(&bench, t, t + STEP);
	}
	found = bench_review(&bench, "no-tensor-cores", out);
	/* the model's own, which goes */
	if (found && out->evidence.key) {
		snprintf(key, sizeof(key), "%s", out->evidence.key);
		out->evidence.key = key;
	}
	bench_release(&bench);
	return found;
}

TEST(tensor_cores_unused)
{
	struct finding finding;

	CHECK_INT(played(80, "ampere_sgemm_128x64_nn", 400 * US, &finding), 1);
	CHECK_INT(finding.cost_ns, 350 * US);
	CHECK_STR(finding.title, "no tensor cores: matrix products that do not use them take 40 % "
		  "of each step (400 µs)");
	CHECK_STR(finding.lines[0], "ampere_sgemm_128x64_nn 400 µs per step");
	CHECK_STR(finding.evidence.key, "ampere_sgemm_128x64_nn");
	CHECK_INT(played(70, "volta_fp16_sgemm_fp16_128x32_sliced1x4_nn", 400 * US, &finding), 1);
}

TEST(tensor_cores_not_said)
{
	struct finding finding;

	/* little of a step */
	CHECK_INT(played(80, "ampere_sgemm_128x64_nn", 50 * US, &finding), 0);
	/* f32 has none before 8.0; no device of CUDA's; f64 is meant */
	CHECK_INT(played(75, "volta_sgemm_64x64_tn", 400 * US, &finding), 0);
	CHECK_INT(played(0, "ampere_sgemm_128x64_nn", 400 * US, &finding), 0);
	CHECK_INT(played(80, "volta_dgemm_64x64_nn", 400 * US, &finding), 0);
	/* they are used; the name does not tell; a vector; no product */
	CHECK_INT(played(80, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn",
			 400 * US, &finding),
		  0);
	CHECK_INT(played(80, "triton_tem_fused_mm_4", 400 * US, &finding), 0);
	CHECK_INT(played(80, "void gemv2T_kernel_val<int, int, float, float>(int)", 400 * US,
			 &finding), 0);
	CHECK_INT(played(80, "softmax_f32", 400 * US, &finding), 0);
}
