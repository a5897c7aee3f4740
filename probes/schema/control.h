/* SPDX-License-Identifier: MIT */
/*
 * The control page: how tftop steers the probes in a running program.
 *
 * tftop creates DIR/control in its private directory, maps it read-write and
 * hands its path to PROGRAM in TFTOP_CONTROL. Every probe runtime maps the
 * same file read-only. The page is never truncated, so a mapping stays valid
 * after the file was unlinked and after tftop died.
 *
 * Writers: tftop only. Readers: any thread of the program, plain relaxed
 * loads. A reader must accept every value (the file could be anyone's).
 */
#ifndef PROBES_SCHEMA_CONTROL_H
#define PROBES_SCHEMA_CONTROL_H

#include <stdint.h>

#define TFT_CONTROL_ENV "TFTOP_CONTROL"
/* "1": oneDNN inside of a framework is to be asked for its primitives. */
#define TFT_ONEDNN_ENV "TFTOP_ONEDNN"
#define TFT_CONTROL_MAGIC 0x70746674u	/* "tftp" */
#define TFT_CONTROL_VERSION 2u
#define TFT_CONTROL_BYTES 4096

/* How much is collected. Ordered: more is larger. */
enum tft_level {
	TFT_LEVEL_OFF = 0,	/* original pointers are back, nothing in the path */
	TFT_LEVEL_MIN = 1,	/* launches, runs, copies, steps */
	TFT_LEVEL_DEFAULT = 2,	/* plus ops, ranges, allocations, builds, waits, calls >= 10 us */
	TFT_LEVEL_FULL = 3,	/* an event for every call */
};

/* What in the program raises the level from off to the page's, and lowers it again. */
enum tft_trigger {
	TFT_TRIGGER_NONE = 0,		/* nothing: the level is always the page's */
	TFT_TRIGGER_PROFILER = 1,	/* cudaProfilerStart() and -Stop() */
	TFT_TRIGGER_RANGE = 2,		/* a range's begin and end: NVTX's, ITT's, PyTorch's */
};
#define TFT_TRIGGER_TEXT 256
struct tft_trigger_range {
	char name[TFT_TRIGGER_TEXT], domain[TFT_TRIGGER_TEXT];	/* domain "": of any, or none */
};
/* How often the range began, in decimal, is sent as an info of this scope and key. */
#define TFT_TRIGGER_SCOPE "trigger"
#define TFT_TRIGGER_BEGUN "begun"

#define TFT_CONTROL_LOSSLESS 1u	/* flags: block rather than lose */

struct tft_control {
	uint32_t magic;			/* TFT_CONTROL_MAGIC, written last */
	uint32_t version;		/* TFT_CONTROL_VERSION */
	uint32_t level;			/* enum tft_level */
	uint32_t flags;			/* TFT_CONTROL_* */
	uint32_t dump_generation;	/* changed: probes send all definitions again */
	uint32_t closed;		/* 1: tftop has detached, probes disarm */
	int64_t alive_ns;		/* tftop's last sign of life, CLOCK_MONOTONIC; 0: not yet */
	uint32_t trigger;		/* enum tft_trigger; cleared when somebody chooses a
					 * level */
	struct tft_trigger_range range;	/* of TFT_TRIGGER_RANGE; as magic, written once */
};

#endif
