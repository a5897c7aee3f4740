/* SPDX-License-Identifier: MIT */
/*
 * How the JAX probe is loaded; probes/start/interpose.h says how interposing works.
 * jaxlib/_jax.so is a stub whose PyInit__jax calls Wrapped_PyInit__jax() of libjax_common.so
 * through its PLT. At that moment the library is loaded and initialised, nothing of it has run,
 * and the calling thread has the GIL. That call loads the probe. All other functions of the
 * library are hidden (patch.h).
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
