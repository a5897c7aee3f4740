/* SPDX-License-Identifier: MIT */
/* A user's own NVTX tool, which replaces one function. */
#include <stdio.h>

#include "probes/nvtx/abi.h"

static int push(const char *text)
{
	(void)text;
	return 77;
}

int InitializeInjectionNvtx2(nvtx_get_table get_table);
int InitializeInjectionNvtx2(nvtx_get_table get_table)
{
	const struct nvtx_callbacks *c = get_table(NVTX_TABLE_CALLBACKS);
	nvtx_function **slots;
	unsigned int n;

	if (!c->table(NVTX_MODULE_CORE, &slots, &n))
		return 0;
	*slots[NVTX_CORE_PUSH_A] = (nvtx_function)push;
	return 1;
}
