/* SPDX-License-Identifier: MIT */
/* What the two files of the XSpace reader share. */
#ifndef MODEL_IMPORT_XSPACE_INTERNAL_H
#define MODEL_IMPORT_XSPACE_INTERNAL_H

#include "model/import/readers.h"
#include "model/import/details.h"
#include "model/import/wire.h"
#include "formats/xplane.pb-c.h"

/* Statistics that are understood. */
enum xstat {
	XSTAT_OTHER = 0, XSTAT_CORRELATION, XSTAT_STEP_NUM, XSTAT_TF_OP, XSTAT_HLO_OP,
	XSTAT_KERNEL_DETAILS, XSTAT_MEMCPY_DETAILS, XSTAT_MEMSET_DETAILS, XSTAT_ALLOCATOR,
	XSTAT_ADDRESS, XSTAT_ALLOCATED, XSTAT_REQUESTED, XSTAT_VENDOR, XSTAT_CLOCK_RATE,
	XSTAT_CORES, XSTAT_MEMORY_SIZE, XSTAT_DEVICE_TYPE, XSTAT_COUNT
};

struct xmeta_event {
	uint32_t name, op, type;	/* of build.h: the whole, "op", "Type" */
	uint8_t memory;			/* 1: an allocation, 2: a free */
};

struct xmeta_stat { enum xstat stat; uint32_t name; };

/* What the statistics of one event say; texts: names of build.h, 0 none. */
struct xvalues {
	uint64_t number[XSTAT_COUNT];
	uint32_t text[XSTAT_COUNT];
	bool there[XSTAT_COUNT];
};

enum xline_kind { XLINE_HOST, XLINE_STREAM, XLINE_STEPS, XLINE_SKIP };

struct xspace {
	struct build *build;
	const uint8_t *begin;		/* of the file: for places */
	size_t size;
	struct arena arena;
	uint32_t process;
	struct map threads;		/* line id of host planes -> track */
	/* of the plane */
	char *plane;			/* owned: its name */
	bool is_device, has_streams, has_xla;
	uint32_t device;
	struct map event_by_id, stat_by_id;
	struct map streams;		/* line id -> track */
	struct xmeta_event *events;	/* owned */
	struct xmeta_stat *stats;	/* owned */
	size_t n_events, n_stats, cap_events, cap_stats;
	/* of the line */
	enum xline_kind kind;
	uint32_t track;
	int64_t line_ns;
};

/* ---- xspace-event.c ---- */
void xspace_values(struct xspace *x, Xplane__XStat *const *stats, size_t count,
		   struct xvalues *values);
void xspace_event(struct xspace *x, const Xplane__XEvent *event);

#endif
