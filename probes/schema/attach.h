/* SPDX-License-Identifier: MIT */
/*
 * What a probe library exports for whoever brings it into a program that is already
 * running. Called after dlopen from a thread that is none of the program's, with
 * TFTOP_CONTROL and LTTNG_HOME set in the environment; it waits, bounded, for LTTng.
 * Again any number of times: for what came since, for another tftop.
 */
#ifndef PROBES_SCHEMA_ATTACH_H
#define PROBES_SCHEMA_ATTACH_H

enum tft_attached {
	TFT_ATTACHED = 0,		/* its hooks are in */
	TFT_ATTACH_UNUSED = 1,		/* what it would watch is not in use here, or not yet */
	TFT_ATTACH_FAILED = -1,		/* it cannot: tftop_attach_why() */
};

#define TFT_ATTACH_API __attribute__((visibility("default")))

TFT_ATTACH_API int tftop_probe_attach(void);

/* Of the runtime, which a process has where a probe is in it: the probes that are there
 * take up the tftop that TFTOP_CONTROL and LTTNG_HOME name now, the one before having gone.
 * Enough for probes that attached before; TFT_ATTACH_UNUSED: none has. */
TFT_ATTACH_API int tftop_runtime_attach(void);

/* One clause: why the last call returned something else. Of the runtime; found through
 * any probe's handle. *borrowed* for good, "" when there is nothing to say. */
TFT_ATTACH_API const char *tftop_attach_why(void);

#endif
