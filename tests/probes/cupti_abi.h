/* SPDX-License-Identifier: MIT */
/*
 * Compares the vendor's headers with ours, for cupti_abi*.c. cupti.sh generates cupti_names.h from
 * the headers that are present: RELEASE, and the newest struct of each record as V_kernel and so
 * on.
 */
#ifndef TESTS_PROBES_CUPTI_ABI_H
#define TESTS_PROBES_CUPTI_ABI_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
/* what 32-bit entries take; they are in the header of parameters and nowhere else */
typedef unsigned int CUdeviceptr_v1;
typedef void *CUDA_ARRAY_DESCRIPTOR_v1, *CUDA_ARRAY3D_DESCRIPTOR_v1, *CUDA_MEMCPY2D_v1,
	*CUDA_MEMCPY3D_v1;
#include <generated_cuda_meta.h>
#include <generated_cuda_runtime_api_meta.h>

#include "probes/cuda/decode.h"
#include "tests/doubles/cuda/cupti_records.h"

#include "cupti_names.h"

#define MEMBER(type, field) (((type *)0)->field)
/* Same offset and same size. */
#define IS(theirs, their, ours, our)                                                        \
	_Static_assert(offsetof(theirs, their) == offsetof(struct ours, our) &&             \
		       sizeof(MEMBER(theirs, their)) == sizeof(MEMBER(struct ours, our)),   \
		       #ours "." #our " is not " #their)
/* Same offset; an array in ours. */
#define BEGINS(theirs, their, ours, our)                                                    \
	_Static_assert(offsetof(theirs, their) == offsetof(struct ours, our),               \
		       #ours "." #our " is not " #their)
#define EQ(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours " is not " #theirs)
#define SIZE(theirs, ours) _Static_assert(sizeof(theirs) == sizeof(struct ours), #ours)

#endif
