/* SPDX-License-Identifier: MIT */
/*
 * The control page, by which tftop controls the probes in a running program.
 *
 * tftop creates DIR/control in its private folder, maps it for reading and writing, and passes its
 * path to PROGRAM in TFTOP_CONTROL. Every probe runtime maps the same file read-only. The page is
 * never truncated, so a mapping stays valid after the file was unlinked and after tftop died.
 *
 * Only tftop writes to the page. Any thread of the program reads it with plain relaxed loads. A
 * reader must accept every value, because the file could be anybody's.
 */
#ifndef PROBES_SCHEMA_CONTROL_H
#define PROBES_SCHEMA_CONTROL_H

#include <stdint.h>

#define TFT_CONTROL_ENV "TFTOP_CONTROL"
/* "1": oneDNN inside a framework is asked to report its primitives. */
#define TFT_ONEDNN_ENV "TFTOP_ONEDNN"
#define TFT_CONTROL_MAGIC 0x70746674u	/* "tftp" */
#define TFT_CONTROL_VERSION 2u
#define TFT_CONTROL_BYTES 4096

/* How much is collected. The levels are ordered: a larger value means more. */
enum tft_level {
	/* original pointers are restored, nothing of tftop is in the path */
	TFT_LEVEL_OFF = 0,
	TFT_LEVEL_MIN = 1,	/* launches, runs, copies, steps */
	TFT_LEVEL_DEFAULT = 2,	/* plus ops, ranges, allocations, builds, waits, calls >= 10 us */
	TFT_LEVEL_FULL = 3,	/* an event for every call */
};

/* What raises the level from off to that of the page, and lowers it again. */
enum tft_trigger {
	TFT_TRIGGER_NONE = 0,		/* nothing does: the level is always that of the page */
	TFT_TRIGGER_PROFILER = 1,	/* cudaProfilerStart() and cudaProfilerStop() */
	TFT_TRIGGER_RANGE = 2,		/* start and end of a range of NVTX, ITT or PyTorch */
};
#define TFT_TRIGGER_TEXT 256
struct tft_trigger_range {
	/* domain "": a range of any domain, or of none */
	char name[TFT_TRIGGER_TEXT], domain[TFT_TRIGGER_TEXT];
};
/* How often the range has begun, in decimal, is sent as an info with this scope and key. */
#define TFT_TRIGGER_SCOPE "trigger"
#define TFT_TRIGGER_BEGUN "begun"

#define TFT_BUDGET_MAX 100u	/* percent; more than that is as good as none */
#define TFT_CONTROL_LOSSLESS 1u	/* flags: block rather than lose events */

struct tft_control {
	uint32_t magic;			/* TFT_CONTROL_MAGIC, written last */
	uint32_t version;		/* TFT_CONTROL_VERSION */
	uint32_t level;			/* enum tft_level */
	uint32_t flags;			/* TFT_CONTROL_* */
	uint32_t dump_generation;	/* when it changes, probes send all definitions again */
	uint32_t closed;		/* 1: tftop has detached, and probes disarm */
	/* time of tftop's last sign of life, CLOCK_MONOTONIC; 0: none yet */
	int64_t alive_ns;
	uint32_t trigger;	/* enum tft_trigger; cleared when the user chooses a level */
	struct tft_trigger_range range;	/* for TFT_TRIGGER_RANGE; written once, like magic */
	/* how much of the program's time ops may cost, in percent; 0: any. 0 in the page of a
	 * tftop that knows no budget */
	uint32_t budget;
};

#endif
