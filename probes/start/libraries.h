/* SPDX-License-Identifier: MIT */
/*
 * Which functions the libraries of the program call, for probes that look for calls by name in all
 * of them (BLAS, OpenMP). Each library has places that hold the addresses it calls
 * (probes/imports), and a probe may put the address of its own function there.
 *
 * No function is defined under these names. So every look-up of the program finds what it would
 * find without us, and two libraries that call different functions of one name keep calling their
 * own.
 *
 * Libraries are looked at when the program starts, before each dlsym() of the program (a library
 * that was opened is of no use before something in it is looked up), and in the ticks of probes,
 * which may therefore wait for a library's constructors. The first library that calls a function
 * which a chosen probe looks for loads that probe. If no such probe is chosen, nothing is done.
 */
#ifndef PROBES_START_LIBRARIES_H
#define PROBES_START_LIBRARIES_H

#include <stdbool.h>

/* A place from which a library calls; *borrowed for the call*. */
struct tft_import {
	const char *name;	/* name of the function */
	void *now;		/* the function that is called there */
	void **at;
	bool unbound;		/* `now` is the dynamic linker, which will put the function there */
	const char *library;	/* path of the library that calls; "": the program */
};

/* Returns what is to be called there from now on; NULL: leave it as it is. The loader's lock is
 * held: nothing may be opened or looked up. */
typedef void *tft_import_take(const struct tft_import *import);

/* A probe exports such a function under the name in the table (libraries.c). NULL: the probe does
 * nothing. `look` looks at all libraries again, on any thread. */
typedef tft_import_take *tft_imports_start(void (*look)(void));

/*
 * libtftop-start.so exports a function of this type for the probe of CUDA, which the driver loads:
 * from then on `take` is asked about all libraries, and also about what the program looks up by
 * dlsym() in a library that it has opened, under a name that begins with TFT_IMPORTS_JOINED. Then
 * there is no place (`at` is NULL), and what `take` returns is the answer. Returns `look`; NULL:
 * another thread has been looking for too long.
 */
typedef void (*tft_imports_join(tft_import_take *take))(void);
#define TFT_IMPORTS_JOIN "tftop_imports_join"
#define TFT_IMPORTS_JOINED "cupti"

#endif
