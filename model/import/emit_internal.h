/* SPDX-License-Identifier: MIT */
/* What the files that hand out events share: the batch, and definitions before their first use. */
#ifndef MODEL_IMPORT_EMIT_INTERNAL_H
#define MODEL_IMPORT_EMIT_INTERNAL_H

#include "model/import/build.h"

#define EMIT_BATCH 512u

/* Hands out the batch. alive_ns: up to when everything has been handed out; 0: not known. */
void emit_flush(struct import_build *build, int64_t alive_ns);
/* A new event of the batch, to be filled in. */
struct event *emit_put(struct import_build *build, enum event_type type, uint32_t process,
		       uint32_t tid, int64_t time_ns);
/* These send the definition, unless the process has it, and return its id there; 0 for 0. */
uint32_t emit_name(struct import_build *build, uint32_t process, uint32_t name, int64_t at_ns);
uint32_t emit_device(struct import_build *build, uint32_t process, uint32_t device,
		     int64_t at_ns);
uint32_t emit_queue(struct import_build *build, uint32_t process, uint32_t track, int64_t at_ns);
uint32_t emit_shape(struct import_build *build, uint32_t process, uint32_t shape, int64_t at_ns);
void emit_process(struct import_build *build, uint32_t process, int64_t at_ns);
void emit_track(struct import_build *build, struct build_track *track, int64_t at_ns);

#endif
