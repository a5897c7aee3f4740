/* SPDX-License-Identifier: MIT */
/*
 * library.h - the libcupti of this process: which copy, which release, its functions, and
 * the subscription of ours, whichever of CUPTI's two families of functions it is made by.
 *
 * Always true: one copy a process. A copy that is mapped is taken, never a second loaded;
 * nothing of it is called before libcuda is mapped and cuInit runs or has run (13.2 and
 * later crash or refuse without). It is never closed. What a copy does not have is a
 * NULL function here and a feature off, by name in cupti_missing(). cupti_find() and
 * cupti_subscribe() are for one thread, once; everything else for any thread after
 * them. Results are cupti_result unless said otherwise. errno may change.
 *
 * ---- the two families ----
 *
 * Until 13.2, or with any driver before r610, CUPTI has one client a process: cuptiX().
 * From 13.3 on there is a second set, cuptiX_v2(subscriber, ...): several clients, each
 * with buffers and kinds of its own, if the first one allows it and all use that set.
 * A process in which both sets are called gets CUPTI_BUSY or CUPTI_NOT_COMPATIBLE for
 * who comes second, whoever that is.
 *
 * So cupti_subscribe() chooses once, and every function below then goes to that family:
 * - from 13.3 update 1 on (13.3 itself could crash with several clients) and with all of
 *   the second set there: cuptiSubscribe_v2 with others allowed. Then PyTorch's, XLA's or
 *   a user's own profiler of that family goes on beside tftop. A timestamp is taken as
 *   the proof that driver and library really do it; else it is undone.
 * - otherwise, or when that fails: the plain cuptiSubscribe. CUPTI_BUSY from it is final;
 *   who holds it is asked from 13.0 on (a cuptiSubscribe_v2 that must fail).
 * TFTOP_CUPTI_SHARED=0 leaves the second set alone.
 *
 * What differs with several clients (lib->several), and its user has to know:
 * - whole graphs or nodes is decided for all clients by whoever enables first and cannot
 *   be changed any more: whole_graphs of cupti_subscribe(); no switch while it runs;
 * - flush_all() flushes the others' buffers too, with the same flag;
 * - buffers are told without context and stream (NULL, CUPTI_ID_NONE);
 * - dropped records are one's own.
 * None of this has met a driver: it is the vendor's documentation (CUPTI 13.5, "Multiple
 * subscribers") and what XLA and Kineto do.
 *
 * Records are the same in both: no field selection is made, so their layouts are those
 * of cupti_records.h.
 */
#ifndef TFTOP_PROBES_CUDA_LIBRARY_H
#define TFTOP_PROBES_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/cuda/cupti.h"

#define TFT_CUPTI_ENV "TFTOP_CUPTI" /* the library's file, or its folder */
#define TFT_CUPTI_SHARED_ENV "TFTOP_CUPTI_SHARED"

struct cupti_library {
	uint32_t version; /* as it says: 15 (11.4) .. 28 (12.9 update 1), 130000 .. */
	uint32_t release; /* CUPTI_RELEASE */
	int driver; /* what cuDriverGetVersion says (12060); 0: nothing */
	char version_text[24]; /* "12.6", "13.0 update 1" */
	char path[512];
	char note[640]; /* "", or what to tell: a second copy is mapped, and where */
	bool several; /* which family; set by cupti_subscribe() */

	/* ---- always there ---- */
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

	/* ---- NULL where the library has none; since ---- */
	int (*get_graph_node_id)(void *node, uint64_t *id);
	int (*get_graph_exec_id)(void *exec, uint32_t *id); /* 12.3 */
	int (*driver_records)(uint32_t number, uint8_t on); /* 12.5 */
};

/* Whether libcuda is mapped here and cuInit has run. */
bool cupti_driver_runs(void);

/*
 * cupti_find() - the library of this process, found in this order: a copy that is mapped
 * (two: the first, and a note); TFTOP_CUPTI; beside the mapped libcudart; in the wheels
 * beside mapped frameworks (nvidia/cuNN/lib, nvidia/cuda_cupti/lib); by name, as the
 * dynamic linker looks; in /usr/local/cuda*, /opt/cuda. NULL: why has the cause in one
 * sentence, with what would be right. Call in or after cuInit.
 */
const struct cupti_library *cupti_find(char *why, size_t size);

/*
 * cupti_subscribe() - ours, with a callback. whole_graphs: see above, of several clients
 * only. Before it nothing of the library but what cupti_find() calls has been called.
 * CUPTI_BUSY: other has who holds it, as the library calls it, "" when it does not say.
 */
int cupti_subscribe(cupti_callback_fn *callback, void *user, bool whole_graphs, char *other,
		    size_t size);
int cupti_unsubscribe(void);

/* The library's word for a result; never NULL, the library's own text. */
const char *cupti_text(int result);

/* Features that this copy lacks, ", " between them; "" for none. */
const char *cupti_missing(const struct cupti_library *lib);

/* ---- rules by version ---- */

/* A request may be answered with no buffer: before 12.9 that crashes the library. */
bool cupti_null_buffer(const struct cupti_library *lib);
/* Long runs become slower and slower (13.2 .. 13.4, whose update 1 repaired it and says
 * the same version). */
bool cupti_slows_down(const struct cupti_library *lib);
/* That kind exists in this release. */
bool cupti_has_kind(const struct cupti_library *lib, uint32_t kind);

#endif
