/* SPDX-License-Identifier: MIT */
/*
 * The program's own client of CUPTI: torch.profiler, the profilers of JAX and TensorFlow, a library
 * of the user's.
 *
 * CUPTI serves one client. So the functions by which a client takes CUPTI are replaced by ours, in
 * the tables of all libraries and in what dlsym() returns (probes/start/libraries.h). Each of them
 * makes tftop let go of CUPTI first, does what the client asked for, and notes what the client has
 * from then on. When it has nothing any more, and has been quiet for BESIDE_QUIET_NS, tftop takes
 * CUPTI again.
 *
 * A client may keep its subscription for ever, as PyTorch's does. So what it subscribes with is a
 * callback of ours that passes everything on. While the client rests (no kind of record, no
 * callback of calls), tftop uses that subscription for itself, and the client's callback gets only
 * what the client has asked for.
 *
 * Buffers are handed to the side that they came from. A buffer of ours that comes back while the
 * client has CUPTI holds records of the client's: it gets a copy of them in a buffer of its own.
 *
 * Always true: no lock is held around a call of CUPTI. Nothing is replaced that is not the function
 * of that name in the libcupti that tftop uses, so a second copy of libcupti, or one that is linked
 * into the client, is not seen. Several clients with the second family of functions (library.h) do
 * not disturb each other, and their calls are passed on.
 */
#ifndef TFTOP_PROBES_CUDA_BESIDE_H
#define TFTOP_PROBES_CUDA_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/cuda/cupti.h"

#define BESIDE_QUIET_NS 200000000	/* a client may be about to go on */
#define BESIDE_BUFFERS_NS 1000000000	/* a client that does not fetch its buffers: not longer */

/* Looks at the tables of all libraries, once cupti is set. Where libtftop-start.so is not there,
 * clients are not seen. */
void beside_start(void *libcupti);
/* The same for libraries that were loaded since. Not in a callback. */
void beside_look(void);

/* Whether a client is in a call of CUPTI, or has something of it. */
bool beside_wants(void);
/* Whether tftop may take CUPTI: no client wants it, and it has been quiet. */
bool beside_free(void);
/* CUPTI was refused because of a client that has not been seen: until one unsubscribes. */
void beside_unseen(void);

/* ---- the flusher's, while no client wants CUPTI ---- */

/* The subscription of a client that rests, which from now on also serves tftop; NULL: there is
 * none. false: tftop must not take CUPTI, because somebody uses that subscription unseen. */
bool beside_share(struct cupti_subscriber **handle);
/* Makes what the client has asked for what it was before. */
void beside_unshare(void);
/* The clock of CUPTI's timestamps: CLOCK_REALTIME for tftop if the client has set one of its own,
 * which it gets back. */
void beside_clock(bool ours);

/* ---- buffers, on any thread ---- */

/* What is registered with CUPTI, for tftop and for a client alike. */
cupti_request_fn beside_request;
cupti_complete_fn beside_complete;
/* What the client has registered. */
void beside_buffers_of(cupti_request_fn *request, cupti_complete_fn *complete);
bool beside_buffers_out(void);		/* whether CUPTI holds buffers of the client's */
void beside_buffers_forget(void);	/* it has been finalized */

#endif
