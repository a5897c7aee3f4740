/* SPDX-License-Identifier: MIT */
/*
 * The filter language: it selects rows of a table, events of the timeline, and lines of a list. It
 * is the same in all places where something is selected:
 *
 * 	kernel & dur > 1ms & name ~ /conv/ | !failed
 *
 * 	EXPR    EXPR | EXPR, EXPR & EXPR, !EXPR, (EXPR); also ||, or, &&, and, not
 * 	        FIELD OP VALUE          OP: = == != < <= > >=, for texts also ~ !~
 * 	        FIELD in [FROM,TO)      an interval as in tfdbg; ( ) exclude the end itself
 * 	        KIND, FLAG, DIRECTION   a bare word: kernel, failed, h2d
 * 	        NAME, @NAME             a filter that has a name
 * 	VALUE   1ms, 64M, 10G/s, 5%, 12, h2d, word, 'text', "text", /regex/, /regex/i
 *
 * The language is typed: operands that do not fit are an error when the filter is parsed, and the
 * error names the column and what would be valid. A field that a row does not have is unknown:
 * every comparison with it is false, also != and !~, so that !(...) is true.
 *
 * The filter gets the fields of a row from a function and does not know the model. A filter is
 * constant once it has been made: any thread may evaluate it, and one frees it.
 */
#ifndef MODEL_FILTER_H
#define MODEL_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILTER_TEXT_MAX 1000u		/* maximum length of an expression in bytes */
/* maximum number of tests and connectives, including those of named filters */
#define FILTER_NODES_MAX 256u
#define FILTER_DEPTH_MAX 40u	/* how deep parentheses, negations and names may be nested */
#define FILTER_NAME_MAX 32u		/* maximum length of a filter's name, including the NUL */
#define FILTER_NAMES_MAX 200u
#define FILTER_ERROR_MAX 300u		/* large enough for any error message */

/* The type of a field's value, and how the value is written. */
enum filter_type {
	FILTER_TEXT,
	FILTER_TIME,			/* in ns; written as 3.5ms */
	FILTER_SIZE,			/* in bytes; written as 64M, with powers of 1024 */
	FILTER_RATE,	/* in bytes per second; written as 10G/s, with powers of 1000 */
	FILTER_SHARE,			/* in millionths; written as 5% */
	FILTER_COUNT,			/* written as 12, 5k, 2M, with powers of 1000 */
	FILTER_KIND,			/* enum filter_kind */
	FILTER_DIRECTION,		/* enum direction of model/event.h */
	FILTER_FLAG,			/* 0 or 1; the name of the field alone is the test */
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
	X(WAIT, "wait", TIME, \
	  "how long an op waited for a thread, a wait for the device, devices for a line") \
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
/* The type in words ("a time", "a size", ...), and an example such as "3.5ms". */
const char *filter_type_name(enum filter_type type);
const char *filter_type_example(enum filter_type type);

/* ---- filters ---- */

struct filter;
struct filter_names;

/*
 * Parses an expression. names: the named filters that bare words may refer to; NULL: none. They are
 * not needed after this call. NULL: `error` says where and what would be valid, such as "at 17:
 * 'dur' is a time: write 1ms". The caller frees the filter.
 */
struct filter *filter_parse(const char *text, const struct filter_names *names, char *error,
			    size_t error_size);
void filter_free(struct filter *filter);	/* NULL: does nothing */
const char *filter_text(const struct filter *filter);	/* the expression as it was given */
/* Whether the filter uses the field. */
bool filter_asks(const struct filter *filter, enum filter_field field);

/* The range of numbers of the field outside of which no row matches, both ends included; INT64_MIN
 * ... INT64_MAX: any number may match; least > most: no row matches. filter NULL: any number
 * matches. */
void filter_bounds(const struct filter *filter, enum filter_field field, int64_t *least,
		   int64_t *most);

struct filter_value {
	int64_t number;			/* for all types except texts, in the type's unit */
	/* NULL: none; a test is true if it is true for either text */
	const char *text, *other;
};

enum filter_known {
	FILTER_UNKNOWN,			/* the row has no such field, or it was not observed */
	FILTER_KNOWN,
	FILTER_LATER,			/* the field has not been looked at (yet) */
};

/* Returns one field of the row behind arg; *value starts as zeroes. */
typedef enum filter_known filter_get(const void *arg, enum filter_field field,
				     struct filter_value *value);

enum filter_answer {
	FILTER_NO, FILTER_YES,
	FILTER_MAYBE,			/* the answer depends on a field that is FILTER_LATER */
};

/* Evaluates the filter on a row. O(tests). filter NULL: every row matches. */
enum filter_answer filter_ask(const struct filter *filter, filter_get *get, const void *arg);

static inline bool filter_match(const struct filter *filter, filter_get *get, const void *arg)
{
	return filter_ask(filter, get, arg) == FILTER_YES;
}

/* Helpers for implementations of filter_get. */
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

/* ---- completion: what may follow ---- */

enum filter_next {			/* or-ed */
	FILTER_NEXT_TEST = 1,	/* a field, a kind, a flag, a direction, or the name of a filter */
	FILTER_NEXT_OPERATOR = 2,
	FILTER_NEXT_VALUE = 4,
	FILTER_NEXT_JOIN = 8,		/* & or | */
};

struct filter_place {
	unsigned next;			/* 0: nothing that has names may follow */
	/* the field whose operator or value may follow; FILTER_FIELDS: none */
	enum filter_field field;
	size_t from;			/* length of the text before the word that it ends in */
};

/* For an expression that has been typed up to the end of the text: what may stand there, or what
 * the word at its end may be; that word may start with the quote of a value. O(text). */
void filter_place(const char *text, struct filter_place *place);

/* ---- named filters: `filter NAME = EXPR` ---- */

struct filter_names *filter_names_new(void);
void filter_names_free(struct filter_names *names);

/* Defines a named filter. false: NAME is not valid, or EXPR is not, or the filter would refer to
 * itself; `error` is a sentence and nothing has changed. */
bool filter_names_set(struct filter_names *names, const char *name, const char *text,
		      char *error, size_t error_size);
/* Removes a named filter. false: there is none of that name, or other filters use it. */
bool filter_names_remove(struct filter_names *names, const char *name, char *error,
			 size_t error_size);
size_t filter_names_count(const struct filter_names *names);
/* The i-th filter in the order of names; NULL past the end. *text: its expression. Borrowed until
 * the next change. */
const char *filter_names_at(const struct filter_names *names, size_t index, const char **text);
/* The expression of a named filter; NULL: there is none of that name. */
const char *filter_names_find(const struct filter_names *names, const char *name);

#endif
