/* SPDX-License-Identifier: MIT */
/* What export.c (the merge) and export_events.c (the events) share. */
#ifndef MODEL_EXPORT_INTERNAL_H
#define MODEL_EXPORT_INTERNAL_H

#include "model/recording/export.h"
#include "model/recording/journal.h"
#include "model/rows/rows.h"

enum source_kind { SOURCE_PROCESS, SOURCE_LANE, SOURCE_STEPS, SOURCE_LOSSES, SOURCE_MESSAGES,
		   SOURCE_JOURNAL };

/* Something in order of its start. */
struct export_source {
	enum source_kind kind;
	uint32_t row, lane;		/* SOURCE_LANE; row: also the process, or the series */
	int64_t next_ns;		/* start of the next one */
	size_t at;			/* which that is, of lists */
	struct lane_pos pos;		/* of lanes ... */
	uint64_t changes;		/* ... as long as this is lane->changes; else look again */
	uint32_t last_id;		/* the last one given */
};

/* Ops that a thread is in. */
struct export_stack {
	uint64_t instance[DEPTH_MAX];
	int64_t end_ns[DEPTH_MAX];
};

/* Calls that were given one by one. */
struct export_calls {
	uint32_t name;
	uint64_t count, errors;
	int64_t total_ns, max_ns;
};

struct model_export {
	struct model *model;		/* borrowed */
	int64_t from_ns, begin_ns;	/* begin_ns: first time given */
	bool whole;
	bool by_start;
	struct model_export_gap gap;
	int64_t now_ns;			/* of the last event */
	bool ended;

	struct export_source *sources;		/* owned; a heap by next_ns */
	size_t n_sources, cap_sources;
	struct event *pending;		/* owned; a heap by time_ns: started, not ended */
	size_t n_pending, cap_pending;
	struct event *ready;		/* owned; to be given out */
	size_t ready_head, n_ready, cap_ready;

	struct map defined;		/* process << 32 | name: was given */
	uint32_t *queue_ids, *view_ids;	/* owned; the process's id of each */
	struct export_stack **stacks;	/* owned; of each row, NULL: none yet */
	uint32_t n_rows;
	const struct journal_block *journal_at;
	struct journal_entry *ahead;	/* owned; from ahead_head on, by time */
	size_t ahead_head, n_ahead, cap_ahead;
	struct map calls_by_name;
	struct export_calls *calls;	/* owned */
	size_t n_calls, cap_calls;
	uint32_t caller;		/* the process that all other calls are given to */
	uint64_t others_calls;		/* given one by one, of all processes but that */
	uint64_t lost_events, lost_packets;
};

/* ---- export_events.c ---- */

/* To be given out now; its time is not earlier than that of the one before. */
void export_put(struct model_export *x, const struct event *event);
/* An event of a process at that time. */
struct event export_event(struct model_export *x, uint32_t process, enum event_type type,
			  int64_t time_ns);
/* The id of a name, given out before if it was not yet. */
uint32_t export_name(struct model_export *x, uint32_t process, uint32_t name, enum name_kind kind);
void export_process(struct model_export *x, uint32_t process, int64_t time_ns);
/* Its last words. */
void export_process_end(struct model_export *x, uint32_t process);
/* The event of a span; its time is when it ended. */
struct event export_span(struct model_export *x, const struct row *row, uint32_t row_index,
			 const struct lane_span *span, const union cold *cold);
void export_open(struct model_export *x, const struct open_span *open);
struct event export_journal(struct model_export *x, const struct journal_entry *entry);
/* ---- export_parts.c ---- */
/* Of a process, at that time: nodes and settings of its graphs, its frames, stages, pools
 * and pauses. */
void export_put_graphs(struct model_export *x, uint32_t process, int64_t time_ns);
void export_frames(struct model_export *x, uint32_t process, int64_t time_ns);
void export_stages(struct model_export *x, uint32_t process);
void export_pools(struct model_export *x, uint32_t process);
void export_pauses(struct model_export *x, uint32_t process, int64_t time_ns);
/* ---- export_events.c ---- */
/* Totals that no event carries. */
void export_totals(struct model_export *x);

#endif
