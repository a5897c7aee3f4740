/* SPDX-License-Identifier: MIT */
/*
 * The filter language: which rows of a table, events of the timeline, lines of a list are
 * wanted. The same wherever something is chosen:
 *
 *	kernel & dur > 1ms & name ~ /conv/ | !failed
 *
 *	EXPR    EXPR | EXPR, EXPR & EXPR, !EXPR, (EXPR); also ||, or, &&, and, not
 *	        FIELD OP VALUE          OP: = == != < <= > >=, of texts also ~ !~
 *	        FIELD in [FROM,TO)      as intervals of tfdbg; ( ) without the end itself
 *	        KIND, FLAG, DIRECTION   a bare word: kernel, failed, h2d
 *	        NAME, @NAME             a filter that has a name
 *	VALUE   1ms, 64M, 10G/s, 5%, 12, h2d, word, 'text', "text", /regex/, /regex/i
 *
 * It is typed: what does not go together is an error when it is parsed, with the column
 * and what would be right. What a row does not have is unknown: a comparison with it is
 * false, also != and !~, while !(…) is true.
 *
 * Pure: it asks the row for its fields through a function and knows no model. A filter
 * is constant once made; any thread may ask it, one at a time frees it.
 */
#ifndef MODEL_FILTER_H
#define MODEL_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILTER_TEXT_MAX 1000u		/* bytes of an expression */
#define FILTER_NODES_MAX 256u		/* tests and connectives, named filters included */
#define FILTER_DEPTH_MAX 40u		/* of parentheses, negations and names */
#define FILTER_NAME_MAX 32u		/* bytes of a filter's name, its end included */
#define FILTER_NAMES_MAX 200u
#define FILTER_ERROR_MAX 300u		/* enough for any error */

/* What a field's value is, and how it is written. */
enum filter_type {
	FILTER_TEXT,
	FILTER_TIME,			/* ns; 3.5ms */
	FILTER_SIZE,			/* bytes; 64M, of 1024 */
	FILTER_RATE,			/* bytes a second; 10G/s, of 1000 */
	FILTER_SHARE,			/* millionths; 5% */
	FILTER_COUNT,			/* 12, 5k, 2M, of 1000 */
	FILTER_KIND,			/* enum filter_kind */
	FILTER_DIRECTION,		/* enum direction of model/event.h */
	FILTER_FLAG,			/* 0, 1; its name alone is the test */
};

/* X(ID, name, TYPE, help) */
#define FILTER_FIELD_LIST(X) \
	X(NAME, "name", TEXT, "short or full name") \
	X(RAW_NAME, "raw_name", TEXT, "name as the program or framework gave it") \
	X(OP, "op", TEXT, "the op that launched device work; of an op, its own name") \
	X(TYPE, "type", TEXT, "type of an op, such as Conv2D") \
	X(CLASS, "class", TEXT, "what a kernel does: matmul, conv, norm, ...") \
	X(DTYPE, "dtype", TEXT, "type of numbers a kernel computes with: f32, bf16, ...") \
	X(KIND, "kind", KIND, "kernel, copy, fill, op, range, wait, compile, graph, step, marker") \
	X(DUR, "dur", TIME, "duration; of an open event until now, of a table's row the mean") \
	X(START, "start", TIME, "start, measured from the start of the run") \
	X(END, "end", TIME, "end, measured from the start of the run") \
	X(WAIT, "wait", TIME, "how long an op waited for a thread, or a wait for the device") \
	X(DELAY, "delay", TIME, "of device work: from the end of its launch call to its start") \
	X(BYTES, "bytes", SIZE, "bytes moved; of memory, the most allocated at once") \
	X(LIVE, "live", SIZE, "of an allocator: bytes allocated now") \
	X(GROWTH, "growth", SIZE, "of an allocator: growth per step") \
	X(RATE, "rate", RATE, "bytes moved per second") \
	X(DIR, "dir", DIRECTION, \
	  "direction of a copy: h2d, d2h, d2d, p2p, h2h, fill, map, unmap, send, recv") \
	X(DEVICE, "device", TEXT, "device, by its name in tables or its full name") \
	X(QUEUE, "queue", TEXT, "number or name of a queue or stream") \
	X(THREAD, "thread", TEXT, "name or id of a thread") \
	X(PID, "pid", COUNT, "process id") \
	X(HOST, "host", TEXT, "name of a host") \
	X(STEP, "step", COUNT, "number of the step that contains it") \
	X(NUMBER, "number", COUNT, "number of a step") \
	X(COUNT, "count", COUNT, "of a table's row: how many events it sums up") \
	X(TOTAL, "total", TIME, "of a table's row: total time") \
	X(MEAN, "mean", TIME, "of a table's row: mean duration") \
	X(MIN, "min", TIME, "of a table's row: shortest duration") \
	X(MAX, "max", TIME, "of a table's row: longest duration") \
	X(P50, "p50", TIME, "of a table's row: median duration") \
	X(P99, "p99", TIME, "of a table's row: 99 % of the durations are shorter") \
	X(SELF, "self", TIME, "time of an op without the ops inside it") \
	X(DEVICE_TIME, "device_time", TIME, "time of the device work that an op launched") \
	X(SHARE, "share", SHARE, "a row's share of its table's time or bytes") \
	X(COST, "cost", TIME, "cost of a finding per step or second") \
	X(OCCUPANCY, "occupancy", SHARE, \
	  "of a kernel: share of the possible threads that are resident") \
	X(FLOP, "flop", COUNT, "floating-point operations per second") \
	X(CALLS, "calls", COUNT, "calls of an op, allocations of an allocator") \
	X(KERNELS, "kernels", COUNT, "kernels that an op launched") \
	X(ID, "id", TEXT, "id of a finding, such as input-bound") \
	X(LEVEL, "level", TEXT, "level of a finding or message: note, warning, error") \
	X(TEXT, "text", TEXT, "text of a message") \
	X(FILE, "file", TEXT, "source file") \
	X(LINE, "line", COUNT, "line in the source file") \
	X(STATUS, "status", COUNT, "status of device work; failed work has a negative one") \
	X(FAILED, "failed", FLAG, "it failed, or some events of a row did") \
	X(OPEN, "open", FLAG, "it has not ended") \
	X(APPROXIMATE, "approximate", FLAG, "its times are approximate") \
	X(WARM_UP, "warm_up", FLAG, "step of the warm-up") \
	X(OUTLIER, "outlier", FLAG, "step that is much longer than the others") \
	X(COMPILED, "compiled", FLAG, "step with a tenth or more spent compiling") \
	X(PINNED, "pinned", FLAG, "copy of pinned host memory") \
	X(PAGEABLE, "pageable", FLAG, "copy of pageable host memory")

enum filter_field {
#define FILTER_ID(id, ...) FILTER_BY_##id,
	FILTER_FIELD_LIST(FILTER_ID)
#undef FILTER_ID
	FILTER_FIELDS
};

enum filter_kind {
	FILTER_KERNEL = 0, FILTER_COPY, FILTER_FILL, FILTER_OP, FILTER_RANGE, FILTER_WAIT,
	FILTER_COMPILE, FILTER_GRAPH, FILTER_STEP, FILTER_MARKER, FILTER_KINDS
};

struct filter_field_info {
	const char *name;
	enum filter_type type;
	const char *help;
};
extern const struct filter_field_info filter_fields[FILTER_FIELDS];

const char *filter_kind_name(enum filter_kind kind);
/* "a time", "a size", ... and how one is written: "3.5ms". */
const char *filter_type_name(enum filter_type type);
const char *filter_type_example(enum filter_type type);

/* ---- filters ---- */

struct filter;
struct filter_names;

/*
 * names: what bare words may mean besides, NULL: nothing. NULL: error says where and what
 * would be right, "at 17: 'dur' is a time: write 1ms". The caller frees; names are not
 * needed any more.
 */
struct filter *filter_parse(const char *text, const struct filter_names *names, char *error,
			    size_t error_size);
void filter_free(struct filter *filter);	/* NULL: nothing */
const char *filter_text(const struct filter *filter);	/* as it was given */
/* Whether it asks for the field at all. */
bool filter_asks(const struct filter *filter, enum filter_field field);

/* Numbers of the field outside of which it wants nothing, both ends included; INT64_MIN ...
 * INT64_MAX: any. least > most: it wants nothing. filter NULL: any. */
void filter_bounds(const struct filter *filter, enum filter_field field, int64_t *least,
		   int64_t *most);

struct filter_value {
	int64_t number;			/* of all but texts, in the type's unit */
	const char *text, *other;	/* NULL: none; what either matches is matched */
};

enum filter_known {
	FILTER_UNKNOWN,			/* the row has no such field, or it was not observed */
	FILTER_KNOWN,
	FILTER_LATER,			/* not looked at (yet) */
};

/* The row behind arg gives one of its fields; value begins as zeroes. */
typedef enum filter_known filter_get(const void *arg, enum filter_field field,
				     struct filter_value *value);

enum filter_answer {
	FILTER_NO, FILTER_YES,
	FILTER_MAYBE,			/* by what is FILTER_LATER */
};

/* O(tests). filter NULL: everything is wanted. */
enum filter_answer filter_ask(const struct filter *filter, filter_get *get, const void *arg);

static inline bool filter_match(const struct filter *filter, filter_get *get, const void *arg)
{
	return filter_ask(filter, get, arg) == FILTER_YES;
}

/* Helpers of a filter_get. */
static inline enum filter_known filter_number(struct filter_value *value, int64_t number)
{
	value->number = number;
	return FILTER_KNOWN;
}

static inline enum filter_known filter_number_if(struct filter_value *value, int64_t number,
						 bool known)
{
	value->number = number;
	return known ? FILTER_KNOWN : FILTER_UNKNOWN;
}

static inline enum filter_known filter_words(struct filter_value *value, const char *text,
					     const char *other)
{
	value->text = text;
	value->other = other;
	return (text && *text) || other ? FILTER_KNOWN : FILTER_UNKNOWN;
}

/* ---- what may follow ---- */

enum filter_next {			/* or-ed */
	FILTER_NEXT_TEST = 1,		/* a field, a kind, a flag, a direction, a filter's name */
	FILTER_NEXT_OPERATOR = 2,
	FILTER_NEXT_VALUE = 4,
	FILTER_NEXT_JOIN = 8,		/* & or | */
};

struct filter_place {
	unsigned next;			/* 0: nothing that has names */
	enum filter_field field;	/* of OPERATOR and VALUE; FILTER_FIELDS: of none */
	size_t from;			/* bytes of the text before the word it ends in */
};

/* Of an expression that is typed up to where the text ends: what may stand there, or be the
 * word that it ends in; that may begin with the quote of a value. O(text). */
void filter_place(const char *text, struct filter_place *place);

/* ---- filters with names: `filter NAME = EXPR` ---- */

struct filter_names *filter_names_new(void);
void filter_names_free(struct filter_names *names);

/* false: not a name, not an expression, or it would need itself; a sentence in error and
 * nothing changed. */
bool filter_names_set(struct filter_names *names, const char *name, const char *text,
		      char *error, size_t error_size);
/* false: there is none, or others need it. */
bool filter_names_remove(struct filter_names *names, const char *name, char *error,
			 size_t error_size);
size_t filter_names_count(const struct filter_names *names);
/* By name; NULL past the end. *text: the expression. Borrowed until the next change. */
const char *filter_names_at(const struct filter_names *names, size_t index, const char **text);
/* The expression, NULL: none is called so. */
const char *filter_names_find(const struct filter_names *names, const char *name);

#endif
