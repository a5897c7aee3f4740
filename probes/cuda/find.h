/* SPDX-License-Identifier: MIT */
/*
 * Where a libcupti may be: libraries that are mapped, and files that may exist. Used by library.c
 * only; library.h gives the order.
 *
 * Always true: only the loader's list and folders are read. Nothing is loaded, and no function of
 * the vendor is called (the caller calls cuDriverGetVersion).
 */
#ifndef TFTOP_PROBES_CUDA_FIND_H
#define TFTOP_PROBES_CUDA_FIND_H

#include <stdbool.h>
#include <stddef.h>

#define FIND_PATH_MAX 512
#define FIND_ROOTS_MAX 4

struct mapped {
	char cupti[FIND_PATH_MAX], second[FIND_PATH_MAX]; /* "": none */
	char cuda[FIND_PATH_MAX], cudart[FIND_PATH_MAX];
	int major; /* major release of CUDA of the mapped libcudart; 0: it is not mapped */
	char roots[FIND_ROOTS_MAX][FIND_PATH_MAX]; /* folders in which wheels are installed */
	int n_roots;
};

void find_mapped(struct mapped *out);

/*
 * Calls `try` for each file that could be a libcupti of this major release of CUDA, best first,
 * until it returns true; false: it never did. A name without a slash is meant for the dynamic
 * linker. release: that of the driver, so that toolkits that are not newer come first; 0: unknown.
 */
bool find_files(const struct mapped *mapped, int major, int release,
		bool (*try)(const char *path, void *arg), void *arg);

/* The file names of libcupti for that major release, newest first; NULL at the end. */
const char *const *find_names(int major);

#endif
