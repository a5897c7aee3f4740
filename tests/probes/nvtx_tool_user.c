/* SPDX-License-Identifier: MIT */
/* A program under the user's own NVTX tool. */
#include <stdio.h>

#include "tests/probes/nvtx_double.h"

int main(void)
{
	nvtxInitialize(NULL);
	printf("push %d\n", nvtxRangePushA("x"));
	return 0;
}
