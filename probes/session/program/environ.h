/* SPDX-License-Identifier: MIT */
/*
 * What PROGRAM's environment gets: no more than the chosen probes need, and
 * chained to the user's own values.
 *
 *   TFTOP_CONTROL          the control page (probes/schema/control.h)
 *   LTTNG_HOME             this tftop's private LTTng
 *   LD_PRELOAD             libtftop-start.so, after the user's own
 *   OPENCL_LAYERS          ours FIRST: loaders cut the variable behind the
 *                          first entry while they read it
 *   CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH, INTEL_LIBITTNOTIFY64
 *                          ours; the user's own value goes to TFTOP_CHAIN_NAME
 *
 * A probe is offered only when its library is there. Threads: main only.
 */
#ifndef PROBES_SESSION_ENVIRON_H
#define PROBES_SESSION_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>

#define ENVIRON_PROBES_MAX 16

struct environ_choice {
	bool chosen[ENVIRON_PROBES_MAX];	/* by index of the table in environ.c */
	char lib_dir[1024];			/* "" : no probe libraries found */
};

/*
 * Reads --probe LIST ("auto", or names with + and -). 0, or -1 and a sentence
 * that lists the known names.
 */
int environ_choose(struct environ_choice *choice, const char *list,
		   const char *self_dir, char *error, size_t size);

/* A sentence when the probes' path cannot be put into the environment (blanks,
 * colons), everybody can write there, or nothing is there to load; "" when all is well. */
void environ_complaint(const struct environ_choice *choice, char *text, size_t size);

/* Whether that probe is among those chosen; false: there is none of that name. */
bool environ_wants(const struct environ_choice *choice, const char *probe);

struct environ_options {
	const char *dir;	/* private folder, as PROGRAM sees it */
	const char *lib_dir;	/* the probes' folder, as PROGRAM sees it; NULL: as tftop does */
	bool preload;		/* PROGRAM can take LD_PRELOAD */
	bool lossless;
	/* What PROGRAM has already of a variable; NULL: it gets tftop's environment. */
	const char *(*own)(void *arg, const char *name);
	void *arg;
};

/* The chosen probes' libraries that can come late, their paths with blanks between; bytes
 * used, 0 when there is none or they do not fit. seen: as options.lib_dir. */
size_t environ_libraries(const struct environ_choice *choice, const char *seen, char *buffer,
			 size_t size);

/* Calls fn for each library that the lines or the list may name, and what these need of ours,
 * until it says false; its last answer. */
bool environ_each_library(const struct environ_choice *choice,
			  bool (*fn)(void *arg, const char *name), void *arg);

/* NAME=value lines, NUL after each, into buffer; bytes used, 0 when they do
 * not fit. */
size_t environ_lines(const struct environ_choice *choice,
		     const struct environ_options *options, char *buffer, size_t size);

#endif
