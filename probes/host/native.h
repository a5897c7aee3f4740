/* SPDX-License-Identifier: MIT */
/*
 * What the sampler knows of native code: where a thread is (native.c), which function that is
 * (functions.c) and who called it (native_calls.c). All functions are for the sampler's thread.
 */
#ifndef PROBES_HOST_NATIVE_H
#define PROBES_HOST_NATIVE_H

#include "probes/host/host.h"
#include "probes/host/unwind.h"
#include "probes/imports/file.h"

#define NATIVE_STACK 16384u		/* bytes of a stack that are looked at */

/* ---- native.c ---- */

/* A thread at one moment; its stack from the inner end on. */
struct native_moment {
	struct unwind_registers registers;	/* at least UNWIND_IP is known */
	struct unwind_stack stack;		/* n 0: there is no copy */
};

void native_events_begin(void);
/* Asks a thread that runs where it is. Waits for at most 0.3 ms. false: no answer came. */
bool native_take(uint32_t slot, uint32_t tid, struct native_moment *out);

/* ---- functions.c ---- */

/* An instruction of native code. */
struct native_place {
	uintptr_t ip;
	uint32_t round;			/* of functions.c */
	uint32_t function;		/* its name, as of a frame; 0: it has none in its file */
	uint32_t library;		/* likewise the path of the file, or what it is instead */
	uint32_t name;			/* both, as of what a thread does; 0: unknown */
	bool python, libc;		/* the library is Python's or the C library */
	bool loop;			/* the function runs functions of Python */
	bool mutex;			/* it locks a mutex of the C library */
	bool begins;			/* the kernel begins a program there */
	bool doubtful;			/* it has no name, and might be a part of that function */
	bool has_row;			/* `row` says how to find the caller */
	bool measured;			/* row.below was asked for */
	struct unwind_row row;
};

void native_functions_begin(void);
/* Forgets what it knows if libraries came. */
void native_functions_renew(int64_t now_ns);
/* Whether the file is the one that was loaded there, and not another one in its place. */
bool native_is_loaded(const struct elf_file *file, uintptr_t base);
/* The function of an instruction; valid until the next call. NULL: it cannot be said now, or only
 * by reading a file, which is not begun after until_ns. measured: with row.below
 * (unwind_measure()), if it can be known. */
const struct native_place *native_place_at(uintptr_t ip, int64_t until_ns, bool measured);

#endif
