/* SPDX-License-Identifier: MIT */
/*
 * The variables that PROGRAM gets: no more than the chosen probes need, and combined with the
 * user's own values.
 *
 *   TFTOP_CONTROL          the control page (probes/schema/control.h)
 *   LTTNG_HOME             this tftop's private LTTng
 *   LD_PRELOAD             libtftop-start.so, after the user's own libraries
 *   OPENCL_LAYERS          tftop's layer comes first: loaders cut the variable after
 *                          the first entry while they read it
 *   CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH, INTEL_LIBITTNOTIFY64
 *                          tftop's; the user's own value goes to TFTOP_CHAIN_NAME
 *
 * A probe is set only if its library exists. Threads: main only.
 */
#ifndef PROBES_SESSION_ENVIRON_H
#define PROBES_SESSION_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>

#define ENVIRON_PROBES_MAX 16
/* What lists of paths in variables are divided by: none may be in a path. */
#define ENVIRON_FORBIDDEN " \t\n:;"

struct environ_choice {
	bool chosen[ENVIRON_PROBES_MAX];	/* indexed as the table of environ.c */
	char lib_dir[1024];			/* "": no probe libraries were found */
	bool passing;				/* lib_dir goes with tftop: not for LD_PRELOAD */
};

/*
 * Reads --probe LIST ("auto", or names with + and -). 0, or -1 and a sentence that lists the known
 * names.
 */
int environ_choose(struct environ_choice *choice, const char *list,
		   const char *self_dir, char *error, size_t size);

/* Why no probe can be loaded: the path cannot be put into the environment (spaces, colons), every
 * user can write there, or there are no libraries. "": there is no problem. */
void environ_complaint(const struct environ_choice *choice, char *text, size_t size);

/* Whether a probe was chosen; false also if there is no probe with that name. */
bool environ_wants(const struct environ_choice *choice, const char *probe);

struct environ_options {
	const char *dir;	/* private folder, as PROGRAM sees it */
	const char *lib_dir;	/* the probes' folder, as PROGRAM sees it; NULL: as tftop does */
	bool preload;		/* PROGRAM accepts LD_PRELOAD */
	bool lossless;
	/* PROGRAM's own value of a variable; NULL: PROGRAM inherits tftop's variables. */
	const char *(*own)(void *arg, const char *name);
	void *arg;
};

/* The paths of the chosen probes that can be loaded into a running process, separated by spaces.
 * Returns the bytes used; 0: there is none, or they do not fit. seen: as options.lib_dir. */
size_t environ_libraries(const struct environ_choice *choice, const char *seen, char *buffer,
			 size_t size);

/* Calls fn for each library that the variables or that list may name, and for those that they need,
 * until fn returns false. Returns fn's last result. */
bool environ_each_library(const struct environ_choice *choice,
			  bool (*fn)(void *arg, const char *name), void *arg);

/* Writes NAME=value lines, each with a NUL. Returns the bytes used; 0: they do not fit. */
size_t environ_lines(const struct environ_choice *choice,
		     const struct environ_options *options, char *buffer, size_t size);

#endif
