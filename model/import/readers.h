/* SPDX-License-Identifier: MIT */
/*
 * The readers of the formats. Each adds what it finds to the build and reports what it cannot
 * read (build_problem()). They end early when asked to.
 */
#ifndef MODEL_IMPORT_READERS_H
#define MODEL_IMPORT_READERS_H

#include <stddef.h>
#include <stdint.h>

#include "model/import/build.h"
#include "model/import/bytes.h"

/* name: of the file, which is shown as the program's name. */
void xspace_read(struct import_build *build, const uint8_t *data, size_t size, const char *name);
void step_stats_read(struct import_build *build, const uint8_t *data, size_t size,
		     const char *name);
/* Reads the StepStats in a RunMetadata. */
void run_metadata_read(struct import_build *build, const uint8_t *data, size_t size,
		       const char *name);
void chrome_read(struct import_build *build, struct bytes *source, const char *name);

static inline void build_reading(struct import_build *build, size_t done, size_t size)
{
	atomic_store_explicit(build->progress, size ? (int)(done * (__int128)500 / size) : 500,
			      memory_order_relaxed);
}

#endif
