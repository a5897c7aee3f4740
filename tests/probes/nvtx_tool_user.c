/* SPDX-License-Identifier: MIT */
/* A program under the user's own NVTX tool; with an argument, the probe is loaded late. */
#include <stdio.h>

#include "tests/probes/nvtx_double.h"
#include "tests/programs/late.h"

int main(int argc, char **argv)
{
	nvtxInitialize(NULL);
	printf("push %d\n", nvtxRangePushA("x"));
	if (argc > 1)
		printf("%d push %d\n", late_attach(argv[1]), nvtxRangePushA("x"));
	return 0;
}
