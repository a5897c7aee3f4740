/* SPDX-License-Identifier: MIT */
/*
 * Ranges and thread names of train_opencl, told to whatever tool listens.
 *
 * Two published load protocols, spoken here without their headers:
 *  NVTX  NVTX_INJECTION64_PATH names a library; it is loaded, its
 *        InitializeInjectionNvtx2(getExportTable) called, and it fills in the
 *        functions that it wants to have called.
 *  ITT   INTEL_LIBITTNOTIFY64 names a library; it is loaded, its
 *        __itt_api_init(global, groups) called, and it does the same.
 * With no tool a range costs a few instructions. A library that cannot be
 * loaded is the same as none, as both protocols have it.
 *
 * Always true: ranges nest per thread; marks_top() is the innermost one that
 * is open on the calling thread, whether or not a tool listens, and NULL with
 * MARKS_NONE. Any thread may call marks_push, marks_pop, marks_top and
 * marks_thread_name between marks_init and marks_release.
 */
#ifndef EXAMPLES_MARKS_H
#define EXAMPLES_MARKS_H

enum marks_kind {
	MARKS_NVTX,
	MARKS_ITT,
	MARKS_NONE,
};

/* Deeper ranges than this are a mistake of the program and abort it. */
#define MARKS_DEPTH 16
/* Longer names are cut, for the tool and for marks_top() alike. */
#define MARKS_NAME_BYTES 64

void marks_init(enum marks_kind kind);
void marks_release(void);

/* Opens a range with a name of printf's making. */
void marks_push(const char *format, ...) __attribute__((format(printf, 1, 2)));
void marks_pop(void);

/* Borrowed until that range is closed. */
const char *marks_top(void);

/* Names the calling thread. */
void marks_thread_name(const char *name);

#endif
