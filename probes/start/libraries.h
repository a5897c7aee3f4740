/* SPDX-License-Identifier: MIT */
/*
 * What libraries of the program call, for the probes of calls that are looked for by
 * name wherever they are: each library keeps the places where it calls others
 * (probes/imports), and a probe may have one lead to a function of its own.
 *
 * No name is defined for that, so that every lookup of the program finds what it
 * would find without us, and two libraries that call different functions of one name
 * go on calling their own.
 *
 * Libraries are looked at when the program starts and, since a library that was
 * opened is of use to nobody before something in it was looked up, before each
 * dlsym() of the program, and in the ticks of probes, which so may wait for a library's
 * constructors. The first one that calls what a chosen probe looks for loads that probe.
 * Without such a probe chosen nothing is done.
 */
#ifndef PROBES_START_LIBRARIES_H
#define PROBES_START_LIBRARIES_H

#include <stdbool.h>

/* A place from which a library calls; *borrowed for the call*. */
struct tft_import {
	const char *name;	/* of the function */
	void *now;		/* what is called there */
	void **at;
	bool unbound;		/* it is the dynamic linker, which puts another there then */
	const char *library;	/* path of the library that calls; "": the program */
};

/* What is to be called there from now on; NULL: leave it. The loader's lock is held:
 * nothing may be opened or looked up. */
typedef void *tft_import_take(const struct tft_import *import);

/* A probe exports one under the name in the table (libraries.c). NULL: the probe stays
 * out. `look` looks for libraries anew, on any thread. */
typedef tft_import_take *tft_imports_start(void (*look)(void));

#endif
