/* SPDX-License-Identifier: MIT */
/* What export.c (the merge) and export_events.c (the events) share. */
#ifndef MODEL_EXPORT_INTERNAL_H
#define MODEL_EXPORT_INTERNAL_H

#include "model/recording/export.h"
#include "model/recording/journal.h"
#include "model/rows/rows.h"

enum source_kind { SOURCE_PROCESS, SOURCE_LANE, SOURCE_STEPS, SOURCE_LOSSES, SOURCE_MESSAGES,
		   SOURCE_JOURNAL };

/* A part of the model whose events are given out in order of their start. */
struct export_source {
	enum source_kind kind;
	uint32_t row, lane;		/* for SOURCE_LANE; row: also the process, or the series */
	int64_t next_ns;		/* start of its next event */
	size_t at;			/* for lists: index of that event */
	struct lane_pos pos;		/* for lanes: its place ... */
	/* ... which is valid as long as this equals lane->changes; else it must be searched
	 * again */
	uint64_t changes;
	uint32_t last_id;		/* id of the last event given out */
};

/* The ops that a thread is in. */
struct export_stack {
	uint64_t instance[DEPTH_MAX];
	int64_t end_ns[DEPTH_MAX];
};

/* Calls that were given out one by one. */
struct export_calls {
	uint32_t name;
	uint64_t count, errors;
	int64_t total_ns, max_ns;
};

struct model_export {
	struct model *model;		/* borrowed */
	int64_t from_ns, begin_ns;	/* begin_ns: the first time that was given out */
	bool whole;
	bool by_start;
	struct model_export_gap gap;
	int64_t now_ns;			/* time of the last event */
	bool ended;

	struct export_source *sources;		/* owned; a heap ordered by next_ns */
	size_t n_sources, cap_sources;
	/* owned; a heap ordered by time_ns of spans that have started and not ended */
	struct event *pending;
	size_t n_pending, cap_pending;
	struct event *ready;		/* owned; events that can be given out */
	size_t ready_head, n_ready, cap_ready;

	struct map defined;		/* process << 32 | name, for each name that was given out */
	uint32_t *queue_ids, *view_ids;	/* owned; the process's own id of each */
	struct export_stack **stacks;	/* owned; one for each row, NULL: none yet */
	uint32_t n_rows;
	const struct journal_block *journal_at;
	struct journal_entry *ahead;	/* owned; journal entries from ahead_head on, by time */
	size_t ahead_head, n_ahead, cap_ahead;
	struct map calls_by_name;
	struct export_calls *calls;	/* owned */
	size_t n_calls, cap_calls;
	uint32_t caller;		/* the process to which all other calls are attributed */
	uint64_t others_calls;		/* calls given out one by one, of all other processes */
	uint64_t lost_events, lost_packets;
	uint32_t n_launches;		/* given out by export_launch() */
};

/* ---- export_events.c ---- */

/* Adds an event that can be given out now; its time must not be earlier than that of the previous
 * one. */
void export_put(struct model_export *x, const struct event *event);
/* Makes an event of a process at that time. */
struct event export_event(struct model_export *x, uint32_t process, enum event_type type,
			  int64_t time_ns);
/* The id of a name; gives out its definition first if that has not been done. */
uint32_t export_name(struct model_export *x, uint32_t process, uint32_t name, enum name_kind kind);
void export_process(struct model_export *x, uint32_t process, int64_t time_ns);
/* Gives out the end of the process. */
void export_process_end(struct model_export *x, uint32_t process);
/* Makes the event of a span; its time is when the span ended. */
struct event export_span(struct model_export *x, const struct row *row, uint32_t row_index,
			 const struct lane_span *span, const union cold *cold);
void export_open(struct model_export *x, const struct open_span *open);
struct event export_journal(struct model_export *x, const struct journal_entry *entry);
/* ---- export_parts.c ---- */

/* A graph's node that has a line of its own (source: its id, 0: it has none) needs two events.
 * Makes *event, which export_span() made, its run, and *launch its launch; false: nothing was
 * done. */
bool export_launch(struct model_export *x, uint32_t source, struct event *event,
		   struct event *launch);
/* Give out, at that time: nodes and settings of a process's graphs, its frames, stages, pools and
 * pauses. */
void export_put_graphs(struct model_export *x, uint32_t process, int64_t time_ns);
void export_frames(struct model_export *x, uint32_t process, int64_t time_ns);
void export_stages(struct model_export *x, uint32_t process);
void export_pools(struct model_export *x, uint32_t process);
void export_pauses(struct model_export *x, uint32_t process, int64_t time_ns);
void export_doings(struct model_export *x, uint32_t process, int64_t time_ns);
void export_bares(struct model_export *x, uint32_t process, int64_t time_ns);
/* ---- export_events.c ---- */
/* Gives out totals that no event carries. */
void export_totals(struct model_export *x);

#endif
