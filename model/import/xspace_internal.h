/* SPDX-License-Identifier: MIT */
/* What the two files of the reader for XSpace share. */
#ifndef MODEL_IMPORT_XSPACE_INTERNAL_H
#define MODEL_IMPORT_XSPACE_INTERNAL_H

#include "model/import/readers.h"
#include "model/import/details.h"
#include "model/import/wire.h"
#include "formats/xplane.pb-c.h"

#define XSPACE_META_MAX (1u << 22)

/* The statistics that are understood. */
enum xstat {
	XSTAT_OTHER = 0, XSTAT_CORRELATION, XSTAT_STEP_NUM, XSTAT_TF_OP, XSTAT_HLO_OP,
	XSTAT_KERNEL_DETAILS, XSTAT_MEMCPY_DETAILS, XSTAT_MEMSET_DETAILS, XSTAT_ALLOCATOR,
	XSTAT_ADDRESS, XSTAT_ALLOCATED, XSTAT_REQUESTED, XSTAT_VENDOR, XSTAT_CLOCK_RATE,
	XSTAT_CORES, XSTAT_MEMORY_SIZE, XSTAT_DEVICE_TYPE, XSTAT_PRODUCER_TYPE, XSTAT_PRODUCER,
	XSTAT_CONSUMER_TYPE, XSTAT_CONSUMER, XSTAT_KEY, XSTAT_NAME, XSTAT_KERNEL_TYPE,
	XSTAT_STEP_ID, XSTAT_COUNT
};

enum xmeta_what {
	XMETA_PLAIN = 0, XMETA_ALLOC, XMETA_FREE, XMETA_SEND, XMETA_RECV, XMETA_ASYNC_START,
	XMETA_ASYNC_DONE,
};

/* One end of an asynchronous op, stored until the other end arrives. */
struct xasync { int64_t ns; uint32_t track; bool start; };

struct xmeta_event {
	/* numbers of build.h: the whole name, and its parts "op" and "Type" */
	uint32_t name, op, type;
	uint8_t what;			/* enum xmeta_what */
	struct xvalues *values;	/* owned; the statistics that all its events share; NULL: none */
};

struct xmeta_stat { enum xstat stat; uint32_t name; };

/* What the statistics of one event say; texts are names of build.h, 0: none. */
struct xvalues {
	uint64_t number[XSTAT_COUNT];
	uint32_t text[XSTAT_COUNT];
	bool there[XSTAT_COUNT];
};

enum xline_kind { XLINE_HOST, XLINE_STREAM, XLINE_STEPS, XLINE_SKIP };

struct xspace {
	struct import_build *build;
	const uint8_t *begin;		/* start of the file, for the places in messages */
	size_t size;
	struct arena arena;
	uint32_t process;
	struct map threads;		/* id of a line in host planes -> track */
	struct map async_by_id;		/* id that the producer gave -> asyncs */
	struct xasync *asyncs;		/* owned */
	size_t n_asyncs, cap_asyncs;
	/* Members for the current plane. */
	char *plane;			/* owned: its name */
	bool is_device, has_streams, has_xla;
	uint32_t device;
	struct map event_by_id, stat_by_id;
	struct map streams;		/* id of a line -> track */
	struct xmeta_event *events;	/* owned */
	struct xmeta_stat *stats;	/* owned */
	size_t n_events, n_stats, cap_events, cap_stats;
	/* Members for the current line. */
	enum xline_kind kind;
	uint32_t track;
	int64_t line_ns;
};

/* ---- xspace_event.c ---- */
/* Reads an event's statistics on top of those of its metadata (NULL: none). */
void xspace_values(struct xspace *x, Xplane__XStat *const *stats, size_t count,
		   const struct xvalues *from, struct xvalues *values);
void xspace_event(struct xspace *x, const Xplane__XEvent *event);

#endif
