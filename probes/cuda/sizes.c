/* SPDX-License-Identifier: MIT */
/*
 * The length of each release's records: the steps of the genuine cuptiActivityGetNextRecord of
 * 11.7, 11.8, 12.0 .. 12.6, 12.8, 12.9, 13.0 and 13.1, and the declarations in the headers of
 * 13.2 .. 13.5 (from there on the library does not answer without a driver). 11.4 to 11.6 are
 * derived from what later headers say about which layout replaced which.
 */
#include "probes/cuda/decode.h"

#define ROWS 9

struct record_layout {
	uint16_t since, size;
};

#define KERNELS                                                                             \
	{                                                                                   \
		{ 11020, 168 }, { 11060, 176 }, { 11080, 200 }, { 12000, 208 },             \
		{ 13000, 216 }, { 13010, 224 }, { 13030, 232 }, { 13040, 248 },             \
	}
#define ALWAYS(size) { { 11040, size } }
#define SINCE(release, size) { { release, size } }

static const struct record_layout layouts[CUPTI_KIND_LIMIT][ROWS] = {
	[CUPTI_KIND_COPY] = { { 11010, 80 }, { 11060, 88 }, { 12080, 96 }, { 13040, 112 } },
	[CUPTI_KIND_FILL] = { { 11010, 80 }, { 11060, 88 }, { 13040, 104 } },
	[CUPTI_KIND_KERNEL] = KERNELS,
	[CUPTI_KIND_DRIVER] = ALWAYS(40),
	[CUPTI_KIND_RUNTIME] = ALWAYS(40),
	[CUPTI_KIND_DEVICE] = { { 11040, 176 }, { 12020, 184 }, { 13020, 192 } },
	[CUPTI_KIND_CONTEXT] = { { 11040, 16 }, { 12040, 24 }, { 12050, 32 }, { 13010, 40 } },
	[CUPTI_KIND_CONCURRENT_KERNEL] = KERNELS,
	[CUPTI_KIND_NAME] = ALWAYS(32),
	[CUPTI_KIND_MARKER] = ALWAYS(56),
	[CUPTI_KIND_MARKER_DATA] = { { 11040, 32 }, { 13000, 40 } },
	[CUPTI_KIND_OVERHEAD] = { { 11040, 40 }, { 12030, 48 }, { 12040, 56 } },
	[CUPTI_KIND_ENVIRONMENT] = ALWAYS(40),
	[CUPTI_KIND_COPY_PEER] = { { 11010, 88 }, { 11060, 96 } },
	[CUPTI_KIND_UNIFIED] = { { 11040, 64 }, { 12080, 104 } },
	[CUPTI_KIND_FUNCTION] = ALWAYS(32),
	[CUPTI_KIND_MODULE] = ALWAYS(24),
	[CUPTI_KIND_DEVICE_ATTRIBUTE] = ALWAYS(24),
	[CUPTI_KIND_EVENT] = { { 11040, 24 }, { 12080, 56 }, { 13050, 80 } },
	[CUPTI_KIND_STREAM] = ALWAYS(24),
	[CUPTI_KIND_SYNC] = { { 11040, 40 }, { 12080, 56 } },
	[CUPTI_KIND_EXTERNAL] = ALWAYS(24),
	[CUPTI_KIND_INTERNAL_LAUNCH] = ALWAYS(40),
	[CUPTI_KIND_MEMORY] = { { 11040, 120 }, { 12060, 128 } },
	[CUPTI_KIND_POOL] = { { 11040, 72 }, { 13000, 80 } },
	[CUPTI_KIND_GRAPH] = { { 11070, 48 }, { 12030, 56 } },
	[CUPTI_KIND_JIT] = { { 11080, 64 }, { 12040, 72 } },
	[CUPTI_KIND_DEVICE_GRAPH] = SINCE(12080, 56),
	[CUPTI_KIND_DECOMPRESS] = SINCE(12080, 64),
	[CUPTI_KIND_GRAPH_HOST] = SINCE(13010, 56),
	[CUPTI_KIND_HOST_LAUNCH] = SINCE(13010, 48),
	[CUPTI_KIND_GREEN_CONTEXT] = { { 13020, 168 }, { 13040, 304 } },
};

size_t cupti_record_size(uint32_t kind, uint32_t release)
{
	size_t size = 0;

	if (kind >= CUPTI_KIND_LIMIT)
		return 0;
	for (int i = 0; i < ROWS && layouts[kind][i].since; i++) {
		if (layouts[kind][i].since > release)
			break;
		size = layouts[kind][i].size;
	}
	return size;
}

uint32_t cupti_kind_since(uint32_t kind)
{
	return kind < CUPTI_KIND_LIMIT ? layouts[kind][0].since : 0;
}
