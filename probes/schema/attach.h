/* SPDX-License-Identifier: MIT */
/*
 * What a probe library exports for an attach to a program that is already running. It is called
 * after dlopen from a thread that does not belong to the program, with TFTOP_CONTROL and LTTNG_HOME
 * set in the environment; it waits for LTTng for a limited time. It may be called any number of
 * times: for libraries that were loaded since, or for another tftop.
 */
#ifndef PROBES_SCHEMA_ATTACH_H
#define PROBES_SCHEMA_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum tft_attached {
	TFT_ATTACHED = 0,		/* its hooks are in place */
	TFT_ATTACH_UNUSED = 1,		/* what it would watch is not used here, or not yet */
	TFT_ATTACH_READY = 2,	/* there is nothing to hook yet; later libraries will be found */
	TFT_ATTACH_FAILED = -1,		/* it cannot attach, see tftop_attach_why() */
};

#define TFT_ATTACH_API __attribute__((visibility("default")))

/*
 * A JAX program that computed on a GPU ended with SIGSEGV when tftop attached to it, and the cause
 * is not proven (docs/attach.md). So probes that could be the cause do not come into a running
 * process that has two libraries whose names begin so. This variable of the program names the
 * probes that come nevertheless, separated by commas: for finding the cause.
 */
#define TFT_XLA_GPU "xla_cuda_plugin"
#define TFT_XLA_DRIVER "libcuda.so"
#define TFT_XLA_LATE_ENV "TFTOP_ATTACH_XLA"
#define TFT_XLA_LATE_WHY \
	"XLA computes on a GPU here: a program of this kind ended when tftop attached"

/* Whether that variable, which may be NULL, names the probe. */
static inline bool tft_xla_late_has(const char *list, const char *probe)
{
	size_t length = strlen(probe), item;

	for (; list && *list; list += item + (list[item] != '\0')) {
		item = strcspn(list, ",");
		if (item == length && !strncmp(list, probe, length))
			return true;
	}
	return false;
}

TFT_ATTACH_API int tftop_probe_attach(void);

/*
 * A piece of the program's code, in which its threads may be. tftop replaces such pieces while all
 * threads are stopped and none is inside of a piece; it replaces all pieces or none.
 */
#define TFT_CODE_BYTES 16
#define TFT_CODES_MAX 24

struct tft_code {
	uint64_t at;		/* all bytes of a piece are in one page */
	uint32_t length;	/* size of before and after, TFT_CODE_BYTES at most */
	/* size of the area from `at` on, at least `length`, in which no thread may be; a thread at
	 * its first byte is allowed */
	uint32_t idle;
	uint8_t before[TFT_CODE_BYTES], after[TFT_CODE_BYTES];
};

/* A condition: replace only while the int at this address has this value; at 0: always. */
struct tft_code_if {
	uint64_t at;
	int32_t value;
};

/* Blocks for a few seconds at most; to be called only on the thread that calls
 * tftop_probe_attach(). NULL: all pieces have been replaced. Otherwise none has, and the result is
 * the reason as a clause, *borrowed* until the next call. */
typedef const char *tft_replace_code(const struct tft_code *codes, size_t count,
				     const struct tft_code_if *only);

/* A library that needs code to be replaced exports this function too. It is called before each
 * tftop_probe_attach(), and `replace` is valid until that returns. */
TFT_ATTACH_API void tftop_probe_replacer(tft_replace_code *replace);

/* Exported by the runtime, which is in every process that has a probe. The probes in the process
 * connect to the tftop that TFTOP_CONTROL and LTTNG_HOME name now, after the previous tftop has
 * gone. Probes that attached before need nothing else. TFT_ATTACH_UNUSED: there is no such
 * probe. */
TFT_ATTACH_API int tftop_runtime_attach(void);

/* Why the last call did not return TFT_ATTACHED, as a clause. Exported by the runtime, and found
 * through any probe's handle. *borrowed* for good; "" if there is no reason. */
TFT_ATTACH_API const char *tftop_attach_why(void);

#endif
