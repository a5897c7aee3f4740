/* SPDX-License-Identifier: MIT */
/*
 * The way into JAX. How: probes/start/interpose.h. jaxlib/_jax.so is a stub whose
 * PyInit__jax calls Wrapped_PyInit__jax() of libjax_common.so through its PLT: by then
 * that library is loaded and initialised, nothing in it has run and the calling
 * thread has the GIL. That call loads the probe. All else in the library is hidden
 * (patch.h).
 */
#ifndef PROBES_JAX_SYMBOLS_H
#define PROBES_JAX_SYMBOLS_H

#include "probes/start/interpose.h"

#define TFT_JAX_ENV "TFTOP_JAX"

/* X(id, symbol, flags) */
#define TFT_JAX_FUNCTIONS(X) \
	/* PyObject *(void) */ \
	X(INIT, "Wrapped_PyInit__jax", TFT_TRIGGER_OWN)

enum tft_jax_function {
#define X(id, symbol, flags) TFT_JAX_##id,
	TFT_JAX_FUNCTIONS(X)
#undef X
	TFT_JAX_COUNT
};

#endif
