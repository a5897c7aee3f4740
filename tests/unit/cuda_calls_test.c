/* SPDX-License-Identifier: MIT */
/* The table of CUDA's calls: what two of its readers rely on. What its numbers are is
 * tests/probes/cupti.sh's. */
#include <string.h>

#include "tests/unit/test.h"

#include "probes/cuda/cupti.h"

#define ROW(domain, name, number, cls, stream) \
	{ #name, number, CUPTI_DOMAIN_##domain, CUPTI_CLASS_##cls, stream },

static const struct {
	const char *name;
	int number;
	enum cupti_domain domain;
	enum cupti_class class;
	int stream;
} calls[] = { CUPTI_DRIVER_CALLS(ROW) CUPTI_RUNTIME_CALLS(ROW) };

#define N (sizeof(calls) / sizeof(calls[0]))

/* Numbers grow, so that a bit or a byte for each fits a table of 1024. */
TEST(cuda_calls_order)
{
	for (size_t i = 0; i < N; i++) {
		CHECK(calls[i].number > 0 && calls[i].number < 1024);
		CHECK(calls[i].stream >= -1 &&
		      calls[i].stream % 8 == (calls[i].stream < 0 ? -1 : 0));
		if (i && calls[i].domain == calls[i - 1].domain)
			CHECK(calls[i].number > calls[i - 1].number);
	}
}

/* Who launches has a stream that is found without the vendor's structs. */
TEST(cuda_calls_streams)
{
	size_t launches = 0;

	for (size_t i = 0; i < N; i++) {
		if (calls[i].class == CUPTI_CLASS_GRAPH)
			CHECK(calls[i].stream == offsetof(struct cupti_graph_launch, stream));
		if (calls[i].class != CUPTI_CLASS_LAUNCH)
			continue;
		launches++;
		if (strstr(calls[i].name, "MultiDevice") || !strncmp(calls[i].name, "__", 2) ||
		    !strcmp(calls[i].name, "cuLaunch") || strstr(calls[i].name, "LaunchGrid"))
			continue;
		CHECK(calls[i].stream == (calls[i].domain == CUPTI_DOMAIN_DRIVER ?
			(int)offsetof(struct cupti_driver_launch, stream) :
			(int)offsetof(struct cupti_runtime_launch, stream)));
	}
	CHECK(launches > 10);
}
