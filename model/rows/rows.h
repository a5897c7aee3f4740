/* SPDX-License-Identifier: MIT */
/*
 * Rows of the timeline: their lanes, what is kept of each span, open spans, and the unions that
 * are made of rows.
 */
#ifndef MODEL_ROWS_ROWS_H
#define MODEL_ROWS_ROWS_H

#include "model/core/model.h"
#include "model/lanes/cover.h"
#include "model/lanes/lane.h"

#define ROWS_MAX (1u << 20)
#define OPENS_MAX (1u << 18)
/* then there is one more lane, in which spans may overlap */
#define SUB_LANES 8u
#define DEPTH_MAX 64u

/* What is kept of a span in the row of a queue or of copies. `detail` must stay first, see
 * layout.rates. rows.c lists the fields once more. */
struct command_cold {
	uint64_t detail;		/* bytes; of kernels: the shape id of the process */
	uint64_t op;
	int64_t call_ns;
	uint32_t op_name, tid;
	uint32_t call_dur_ns;
	/* time from these to the start; 0: not given; see pack_delta() */
	uint32_t queued, submit;
	int16_t status;
	uint8_t kind_how;		/* kind | how << 5 */
	uint8_t segment;		/* segment of the clock that converted its times */
	/* of copies: the place in memory, event_command.shape; of kernels: frame_get() of the line
	 * that it comes from, 0: that of its op */
	uint32_t place;
	uint8_t flags;			/* of copies: CMD_PINNED, CMD_BLOCKING */
};

struct op_cold {
	uint64_t instance;
	int64_t device_ns, step;	/* step: any number that the framework chose; -1: none */
	uint32_t kernels, ident;
	uint32_t first_row, first_id;	/* the first command launched in it */
	int64_t wait_ns;	/* how long it waited for a thread of a pool; 0: it did not */
	uint64_t forward;		/* instance; 0: none */
	uint32_t waker;			/* 1 + the thread that handed it over; 0: unknown */
	/* frame: 1 + the index in lines->frames; shapes: a name; 0: none */
	uint32_t frame, shapes;
	uint16_t depth;
	uint8_t flags;			/* enum op_flag */
};

#define OP_INSTANCE 0			/* indices of fields in op_layout */
#define OP_IN_IDENT 3
#define OP_IN_SHAPES 12
#define COMMAND_OP 1			/* field `op` in the layout of commands */
#define COMMAND_OP_NAME 3		/* the name of the op that launched it */

struct compile_cold {
	uint32_t cause, tid;		/* a name; 0: none */
	int32_t result;
};

union cold {
	struct command_cold command;
	struct op_cold op;
	struct compile_cold compile;
};

/* Packs a time before a start: in ns up to 2.1 s, in us up to 35 minutes. */
#define DELTA_US 0x80000000u
uint32_t pack_delta(int64_t ns);
static inline int64_t unpack_delta(uint32_t packed)
{
	return packed & DELTA_US ? (int64_t)(packed & ~DELTA_US) * 1000 : packed;
}

/* A span that was announced and has not finished; it is drawn up to the live edge. */
struct open_span {
	uint32_t row, lane, id, name;
	int64_t start_ns;
	uint64_t key;			/* correlation or instance */
	uint32_t process;
	uint32_t prev, next;		/* in its row; next: also the free list */
	uint8_t work;
	union cold cold;
};

struct row {
	enum row_kind kind;
	uint32_t process, thread, queue, device;	/* NONE where it has none */
	/* of a ROW_COUNTER; of a ROW_POOL: the name of its threads */
	uint32_t series;
	enum direction direction;
	struct lane *lanes;		/* owned */
	uint32_t n_lanes;
	uint32_t last_id;
	struct merged merged;		/* union of the lanes, used when there are several */
	uint32_t opens, n_opens;	/* head of a list, or NONE */
	/* the next row of its process's threads, or of its queue, or NONE */
	uint32_t next;
	/* interned; for queues and their copies it is made of ... */
	const char *label;
	/* ... the queue's name and whether it is shared; 0: not made */
	uint64_t label_of;
};

/* ---- rows.c: rows, their lanes and unions ---- */
static inline struct row *row_at(const struct model *model, uint32_t i)
{
	return store_at(&model->rows, i);
}

uint32_t row_new(struct model *model, enum row_kind kind);
uint32_t row_of_thread(struct model *model, uint32_t thread);
uint32_t row_of_ranges(struct model *model, uint32_t process);
uint32_t row_of_compiles(struct model *model, uint32_t process);
uint32_t row_of_queue(struct model *model, uint32_t queue);
uint32_t row_of_graphs(struct model *model, uint32_t queue);
uint32_t row_of_copies(struct model *model, uint32_t queue, enum direction direction);
uint32_t row_of_process(struct model *model, uint32_t process);
uint32_t row_of_device(struct model *model, uint32_t device);
void row_release(struct row *row);
/* The lane that takes [start, end), made if it is new. */
uint32_t row_fit(struct model *model, struct row *row, int64_t start_ns, int64_t end_ns);
struct lane_pos row_insert(struct model *model, uint32_t row, uint32_t lane,
			   const struct lane_span *span, const void *cold);
/* Finds a span wherever it is in the row now. */
bool row_find(const struct row *row, uint32_t lane, uint32_t id, uint32_t *found,
	      struct lane_pos *pos);
uint32_t open_add(struct model *model, const struct open_span *span);
void open_remove(struct model *model, uint32_t open);
static inline struct open_span *open_at(const struct model *model, uint32_t i)
{
	return store_at(&model->opens, i);
}
/* Spans of a device's queues moved: rebuilds the unions from from_ns on. */
void rows_moved(struct model *model, uint32_t device, int64_t from_ns);
/* Gives kernels that ran under a placeholder their class. */
void rows_reclassify(struct model *model, uint32_t process, uint32_t placeholder);
/* Determines the first and the last time of all rows. */
void rows_extent(struct model *model);
/* A queue was added to this device or removed from it: rebuilds its unions. */
void device_rebuild(struct model *model, uint32_t device);
/* Keeps all unions that the row's spans are part of as covers from now on, because folded spans
 * cannot be added again. */
void row_keep_unions(struct model *model, uint32_t row);

/* Selects the rows that a union is made of. */
struct row_filter {
	uint32_t process, queue, device;	/* NONE: any */
	bool threads, kernels, copies;
};
/* ---- row_walk.c: the rows that a filter lets through, without the others ---- */
struct row_walk {
	const struct row_filter *filter;
	uint32_t view, queue, row;
};
#define ROW_WALK(filter) { (filter), 0, NONE, NONE }
/* The next row; NONE: there are no more. */
uint32_t row_walk(const struct model *model, struct row_walk *walk);
void row_listed(struct model *model, uint32_t row);
void queue_listed(struct model *model, uint32_t queue);

/* ---- watch.c: what query/watch.h asks for is noted when a finished span has its place ---- */
void watch_note(struct model *model, uint32_t row, uint32_t lane, const struct lane_span *span);
/* The next noted span; false: there is none. */
bool watch_next(struct model *model, struct span_ref *ref);
/* Adds `more` to the number of missed events and returns it. */
uint64_t watch_missed(const struct model *model, uint64_t more);
void watch_free(struct watch *watch);

#endif
