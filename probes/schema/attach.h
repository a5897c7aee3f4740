/* SPDX-License-Identifier: MIT */
/*
 * What a probe library exports for an attach to a program that is already running. It is called
 * after dlopen from a thread that does not belong to the program, with TFTOP_CONTROL and LTTNG_HOME
 * set in the environment; it waits for LTTng for a limited time. It may be called any number of
 * times: for libraries that were loaded since, or for another tftop.
 */
#ifndef PROBES_SCHEMA_ATTACH_H
#define PROBES_SCHEMA_ATTACH_H

#include <stddef.h>
#include <stdint.h>

enum tft_attached {
	TFT_ATTACHED = 0,		/* its hooks are in */
	TFT_ATTACH_UNUSED = 1,		/* what it would watch is not in use here, or not yet */
	TFT_ATTACH_READY = 2,		/* nothing yet; what comes later will be found */
	TFT_ATTACH_FAILED = -1,		/* it cannot: tftop_attach_why() */
};

#define TFT_ATTACH_API __attribute__((visibility("default")))

TFT_ATTACH_API int tftop_probe_attach(void);

/*
 * Code of the program, which threads of it may be in. It is replaced by tftop while all of them
 * stand and none is where it matters: all of the pieces or none.
 */
#define TFT_CODE_BYTES 16
#define TFT_CODES_MAX 24

struct tft_code {
	uint64_t at;		/* all bytes of a piece are in one page */
	uint32_t length;	/* of before and after, TFT_CODE_BYTES at most */
	uint32_t idle;		/* from `at` on, at least `length`: no thread may be between the
				 * first and the last of these bytes; at the first it may be */
	uint8_t before[TFT_CODE_BYTES], after[TFT_CODE_BYTES];
};

/* And while this int has that value; at 0: whatever it has. */
struct tft_code_if {
	uint64_t at;
	int32_t value;
};

/* Blocks for a few seconds at most; only on the thread that calls tftop_probe_attach().
 * NULL: they are replaced; else why none is, one clause, *borrowed* until the next call. */
typedef const char *tft_replace_code(const struct tft_code *codes, size_t count,
				     const struct tft_code_if *only);

/* A library that has code to be replaced exports this one too; it is called before each
 * tftop_probe_attach(), and `replace` is there until that returns. */
TFT_ATTACH_API void tftop_probe_replacer(tft_replace_code *replace);

/* Of the runtime, which a process has where a probe is in it: the probes that are there
 * take up the tftop that TFTOP_CONTROL and LTTNG_HOME name now, the one before having gone.
 * Enough for probes that attached before; TFT_ATTACH_UNUSED: none has. */
TFT_ATTACH_API int tftop_runtime_attach(void);

/* One clause: why the last call returned something else. Of the runtime; found through
 * any probe's handle. *borrowed* for good, "" when there is nothing to say. */
TFT_ATTACH_API const char *tftop_attach_why(void);

#endif
