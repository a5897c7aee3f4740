/* SPDX-License-Identifier: MIT */
/*
 * The libcupti of this process: which copy and which release it is, its functions, and our
 * subscription, which may use either of CUPTI's two families of functions.
 *
 * Always true: a process uses one copy. If a copy is mapped, it is used, and a second one is never
 * loaded. None of its functions is called before libcuda is mapped and cuInit runs or has run (13.2
 * and later crash or refuse otherwise). It is never closed. A function that the copy does not have
 * is NULL, and the feature that needs it is off; cupti_missing() names it. cupti_find() is called
 * once; cupti_subscribe(), cupti_share() and their opposites by one thread at a time, while nobody
 * calls anything else; everything else by any thread after them. Results are cupti_result unless
 * said otherwise. errno may change.
 *
 * The two families: up to 13.2, or with any driver before r610, a process can have one client of
 * CUPTI, which calls cuptiX(). From 13.3 on there is a second set, cuptiX_v2(subscriber, ...):
 * several clients, each with buffers and kinds of its own, if the first one allows it and all of
 * them use that set. If both sets are called in a process, the second caller gets CUPTI_BUSY or
 * CUPTI_NOT_COMPATIBLE, whoever it is.
 *
 * So cupti_subscribe() chooses, and every function below then uses that family:
 * - From 13.3 update 1 on (13.3 itself could crash with several clients), if the whole second set
 *   is there: cuptiSubscribe_v2, which allows other clients. Then a profiler of PyTorch, XLA or the
 *   user that uses this family continues to work beside tftop. If a timestamp can be taken, driver
 *   and library really support it; otherwise the subscription is undone.
 * - Otherwise, or if that fails: the plain cuptiSubscribe. If this returns CUPTI_BUSY, that is
 *   final; from 13.0 on the library is asked for the name of the other client (by a
 *   cuptiSubscribe_v2 that must fail). TFTOP_CUPTI_SHARED=0 disables the second set.
 *
 * What is different with several clients (lib->several):
 * - Whether graphs are recorded as a whole or by nodes is decided for all clients by the first one
 *   that enables them, and cannot be changed any more: whole_graphs of cupti_subscribe(); there is
 *   no switch during the run.
 * - flush_all() also flushes the buffers of other clients, with the same flag.
 * - Buffers have no context and stream (NULL, CUPTI_ID_NONE).
 * - Dropped records are those of the own buffers. None of this has been tested with a driver: it
 *   follows the vendor's documentation (CUPTI 13.5, "Multiple subscribers") and what XLA and Kineto
 *   do.
 *
 * Records are the same in both families: no fields are selected, so their layouts are those of
 * cupti_records.h.
 */
#ifndef TFTOP_PROBES_CUDA_LIBRARY_H
#define TFTOP_PROBES_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/cuda/cupti.h"

#define TFT_CUPTI_ENV "TFTOP_CUPTI" /* path of the library or of its folder */
#define TFT_CUPTI_SHARED_ENV "TFTOP_CUPTI_SHARED"

struct cupti_library {
	/* as the library reports it: 15 (11.4) .. 28 (12.9 update 1), 130000 .. */
	uint32_t version;
	uint32_t release; /* CUPTI_RELEASE */
	int driver; /* result of cuDriverGetVersion, such as 12060; 0: none */
	char version_text[24]; /* "12.6", "13.0 update 1" */
	char path[512];
	char note[640]; /* a sentence for the user: a second copy is mapped, and where; "": none */
	bool several; /* whether the second family is used; set by cupti_subscribe() */

	/* ---- functions that every library has ---- */
	int (*result_string)(int result, const char **text);
	int (*enable_callback)(uint32_t on, uint32_t domain, uint32_t id);
	int (*enable_domain)(uint32_t on, uint32_t domain);
	int (*register_buffers)(cupti_request_fn *request, cupti_complete_fn *complete);
	int (*enable)(uint32_t kind);
	int (*disable)(uint32_t kind);
	int (*next_record)(uint8_t *buffer, size_t valid, void **record);
	int (*num_dropped)(void *context, uint32_t stream, size_t *dropped);
	int (*flush_all)(uint32_t flags);
	int (*timestamp)(uint64_t *ns);
	int (*get_context_id)(void *context, uint32_t *id);
	int (*get_device_id)(void *context, uint32_t *id);
	int (*get_stream_id)(void *context, void *stream, uint8_t per_thread, uint32_t *id);

	/* ---- NULL if the library does not have them; "since" below ---- */
	int (*get_graph_node_id)(void *node, uint64_t *id);
	int (*get_graph_exec_id)(void *exec, uint32_t *id); /* 12.3 */
	int (*driver_records)(uint32_t number, uint8_t on); /* 12.5 */
};

/* Whether libcuda is mapped and cuInit has run. */
bool cupti_driver_runs(void);
/* Whether a libcupti is mapped. */
bool cupti_is_mapped(void);

/*
 * Finds the library of this process, in this order: a copy that is mapped (if there are two: the
 * first, and a note); TFTOP_CUPTI; beside the mapped libcudart; in the wheels beside mapped
 * frameworks (nvidia/cuNN/lib, nvidia/cuda_cupti/lib); by name, through the dynamic linker; in
 * /usr/local/cuda*, /opt/cuda. NULL: `why` is a sentence with the cause and with what would help.
 * To be called during or after cuInit.
 */
const struct cupti_library *cupti_find(char *why, size_t size);

/*
 * Subscribes with a callback. whole_graphs: see above, used with several clients only. Until then,
 * only the functions that cupti_find() calls may be called. CUPTI_BUSY: `other` has the name of the
 * other client as the library gives it, or "".
 */
int cupti_subscribe(cupti_callback_fn *callback, void *user, bool whole_graphs, char *other,
		    size_t size);
int cupti_unsubscribe(void);

/* Uses a client's subscription, of the first family, instead; and no longer. */
void cupti_share(struct cupti_subscriber *client);
void cupti_unshare(void);

/* The handle of the library that cupti_find() has found, as dlopen() gives it. */
void *cupti_handle(void);

/* The library's own text for a result; never NULL. */
const char *cupti_text(int result);

/* Names of the features that this copy lacks, separated by ", "; "": none. */
const char *cupti_missing(const struct cupti_library *lib);

/* ---- rules by version ---- */

/* Whether a request may be answered without a buffer: before 12.9 that crashes the library. */
bool cupti_null_buffer(const struct cupti_library *lib);
/* Whether long runs become slower and slower: 13.2 .. 13.4, whose update 1 fixed it and reports the
 * same version. */
bool cupti_slows_down(const struct cupti_library *lib);
/* Whether this release has that kind. */
bool cupti_has_kind(const struct cupti_library *lib, uint32_t kind);

#endif
