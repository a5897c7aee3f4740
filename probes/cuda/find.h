/* SPDX-License-Identifier: MIT */
/*
 * find.h - where a libcupti may be: libraries that are mapped, and files that may exist. Used by
 * library.c only; library.h says in which order.
 *
 * Always true: looks at the loader's list and at folders. Loads nothing, and calls nothing of the
 * vendor's (cuDriverGetVersion is called by the caller).
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
	int major; /* of CUDA: libcudart's, 0 when it is not mapped */
	char roots[FIND_ROOTS_MAX][FIND_PATH_MAX]; /* folders that wheels are installed in */
	int n_roots;
};

void find_mapped(struct mapped *out);

/*
 * Each file that could be a libcupti of CUDA major (release: the driver's, 0 when not
 * known: a toolkit that is not newer goes first), best first; a name without a slash is
 * for the dynamic linker. Until try says true; false: nobody did.
 */
bool find_files(const struct mapped *mapped, int major, int release,
		bool (*try)(const char *path, void *arg), void *arg);

/* The names that a libcupti of that major is called by, newest first, NULL at the end. */
const char *const *find_names(int major);

#endif
