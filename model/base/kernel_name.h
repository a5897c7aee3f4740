/* SPDX-License-Identifier: MIT */
/*
 * Short names of kernels that are C++ templates. What users know a kernel by is among its
 * arguments: PyTorch's reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::
 * MeanOps<float, …>, …>> is "reduce · mean<float>". A lambda is called after the function that it
 * is in. Pure; any thread.
 */
#ifndef MODEL_KERNEL_NAME_H
#define MODEL_KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much of a name is kept, from what a person says to all that names differ in. */
enum name_detail {
	NAME_SHORT = 0,		/* the template, what it applies, the type of its numbers */
	NAME_NUMBERS,		/* also the template's sizes and all its types */
	NAME_ARGUMENTS,		/* all arguments, without the namespaces */
	NAME_DETAILS,
	NAME_BARE = NAME_DETAILS,	/* the template's own name alone, which says its class */
	NAME_SCOPED			/* the same with its class or namespace: "Engine::run" */
};

/* Writes the short form of a demangled C++ name. false: it has no plain name. */
bool kernel_name_of_cxx(const char *full, enum name_detail detail, char *out, size_t size);
/* The same for a name that is no C++, such as those that Tensile and hipBLASLt make. false: the
 * name is short as it is. */
bool kernel_name_of_c(const char *full, enum name_detail detail, char *out, size_t size);
/* The types of a name of Tensile or hipBLASLt, "BBS_BH_…" in "Cijk_Ailk_Bljk_BBS_BH_MT64x64x32_…".
 * NULL: another name. */
const char *kernel_name_tensile(const char *full);

#endif
