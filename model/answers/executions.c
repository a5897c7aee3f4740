/* SPDX-License-Identifier: MIT */
/* Finds the longest, first, last or largest executions among all spans. See query/executions.h. */
#include "model/query/executions.h"

#include <stdlib.h>
#include <string.h>

#include "model/answers/parts.h"
#include "model/base/util.h"
#include "model/lanes/lane_internal.h"

#define SLICE_NS 1000000		/* how long the lock is held at a time */
/* names of a search that are checked between two looks at the clock */
#define NAMES 64u

struct execution_found {
	int64_t key;			/* the candidates with the highest keys are kept */
	struct span span;
};

struct hunt {
	struct model *model;		/* borrowed */
	const struct execution_want *want;
	const struct lane_want *names, *ops;	/* NULL: all */
	struct execution_found *found;		/* owned; room for 2 * most */
	size_t n, cap;
	/* only a key above this can be among the best; INT64_MIN: every key can */
	int64_t worst;
	bool more;
	/* the part that is looked at */
	uint32_t row, index;
	enum row_kind kind;
	int64_t slice_ns;		/* when this slice of time started */
	uint64_t all, looked;		/* events in the rows; those searched so far */
	bool stopped;
};

enum execution_kind execution_kind(const struct span *span)
{
	switch (span->row_kind) {
	case ROW_THREAD:
		return span->is_range ? EXECUTION_RANGE : EXECUTION_OP;
	case ROW_COMPILE:
		return EXECUTION_COMPILE;
	case ROW_GRAPH:
		return EXECUTION_GRAPH;
	case ROW_COPY:
		return span->kind == COMMAND_FILL ? EXECUTION_FILL : EXECUTION_COPY;
	default:
		return span->kind == COMMAND_KERNEL ? EXECUTION_KERNEL : EXECUTION_OTHER;
	}
}

const char *execution_kind_name(enum execution_kind kind)
{
	switch (kind) {
	case EXECUTION_KERNEL: return "kernel";
	case EXECUTION_COPY: return "copy";
	case EXECUTION_FILL: return "fill";
	case EXECUTION_OP: return "op";
	case EXECUTION_RANGE: return "range";
	case EXECUTION_COMPILE: return "compile";
	case EXECUTION_GRAPH: return "graph";
	default: return "other";
	}
}

static unsigned kinds_of(enum row_kind kind)
{
	switch (kind) {
	case ROW_THREAD: return EXECUTION_OP | EXECUTION_RANGE;
	case ROW_QUEUE: return EXECUTION_KERNEL | EXECUTION_OTHER;
	case ROW_COPY: return EXECUTION_COPY | EXECUTION_FILL;
	case ROW_COMPILE: return EXECUTION_COMPILE;
	case ROW_GRAPH: return EXECUTION_GRAPH;
	default: return 0;
	}
}

/* ---- the candidates ---- */

static int64_t key_of(const struct execution_want *want, int64_t start_ns, int64_t dur_ns,
		      uint64_t bytes)
{
	int64_t key = want->order == EXECUTIONS_BY_DURATION ? dur_ns :
		      want->order == EXECUTIONS_BY_START ? start_ns :
		      bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;

	return want->rising ? -key : key;
}

/* Among equals the earlier one wins, then the lower row, so that the order of arrival does not
 * matter. */
static int by_key(const void *a, const void *b)
{
	const struct execution_found *x = a, *y = b;

	return DESCENDING(x, y, key) ?: ASCENDING(x, y, span.start_ns) ?:
	       ASCENDING(x, y, span.ref.row) ?: ASCENDING(x, y, span.ref.id);
}

static void cut(struct hunt *hunt)
{
	if (hunt->n)
		qsort(hunt->found, hunt->n, sizeof(*hunt->found), by_key);
	if (hunt->n <= hunt->want->most)
		return;
	hunt->more = true;
	hunt->n = hunt->want->most;
	hunt->worst = hunt->n ? hunt->found[hunt->n - 1].key : INT64_MAX;
}

static bool within(const struct execution_bounds *bounds, int64_t value)
{
	return value >= bounds->least && value <= bounds->most;
}

static bool bounded(const struct execution_bounds *bounds)
{
	return bounds->least != INT64_MIN || bounds->most != INT64_MAX;
}

/* Makes the last checks, which need all fields of the span. */
static void hunt_take(struct hunt *hunt, const struct span *span)
{
	const struct execution_want *want = hunt->want;
	int64_t dur_ns = span->end_ns - span->start_ns;
	struct execution_found *slot;

	if (!(want->kinds & execution_kind(span)) ||
	    (bounded(&want->bytes) && (span->row_kind != ROW_COPY ||
				       !within(&want->bytes, (int64_t)span->bytes))) ||
	    (want->span && !want->span(want->arg, span)))
		return;
	grow(&hunt->found, &hunt->cap, hunt->n, sizeof(*hunt->found));
	slot = &hunt->found[hunt->n++];
	*slot = (struct execution_found) {
		.key = key_of(want, span->start_ns, dur_ns, span->bytes), .span = *span,
	};
	if (hunt->n >= 2 * want->most)
		cut(hunt);
}

/* ---- spans ---- */

/* Fields of 64 spans that are read at once. */
struct sight {
	uint64_t start[LANE_BLOCK], dur[LANE_BLOCK], work[LANE_BLOCK], bytes[LANE_BLOCK];
};

static bool worth(const struct hunt *hunt, const struct sight *s, uint32_t i)
{
	const struct execution_want *want = hunt->want;
	int64_t start = (int64_t)s->start[i], dur = (int64_t)s->dur[i];

	if (!within(&want->dur_ns, dur) || !within(&want->start_ns, start))
		return false;
	if (hunt->kind == ROW_THREAD && !(want->kinds & EXECUTION_OP) && s->work[i] != WORK_RANGE)
		return false;
	return hunt->worst == INT64_MIN || key_of(want, start, dur, s->bytes[i]) > hunt->worst;
}

static void look_at_block(struct hunt *hunt, struct lane *lane, size_t c, uint32_t first,
			  uint32_t end)
{
	uint32_t n = end - first;
	const struct chunk *chunk = lane->chunks[c];
	struct lane_part part = { lane, hunt->row, hunt->index };
	uint64_t bits = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
	struct sight sight;
	struct span span;

	if (hunt->names)
		bits &= chunk_wanted(lane, chunk, hunt->names, first, n);
	if (hunt->ops && bits)
		bits &= chunk_wanted(lane, chunk, hunt->ops, first, n);
	if (!bits)
		return;
	chunk_read(lane, chunk, LANE_START, first, n, sight.start);
	chunk_read(lane, chunk, LANE_DUR, first, n, sight.dur);
	chunk_read(lane, chunk, LANE_WORK, first, n, sight.work);
	memset(sight.bytes, 0, sizeof(sight.bytes));
	if (lane->layout.rates)
		chunk_read(lane, chunk, LANE_COLD, first, n, sight.bytes);
	for (; bits; bits &= bits - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(bits);

		if (!worth(hunt, &sight, i))
			continue;
		span_tell(hunt->model, &part, (struct lane_pos){ c, first + i }, &span);
		hunt_take(hunt, &span);
	}
}

/* Whether a span of at most this duration can still be wanted. */
static bool long_enough(const struct hunt *hunt, int64_t longest_ns)
{
	const struct execution_want *want = hunt->want;

	return longest_ns >= want->dur_ns.least &&
	       (want->order != EXECUTIONS_BY_DURATION || want->rising ||
		hunt->worst == INT64_MIN || longest_ns > hunt->worst);
}

static bool early_enough(const struct hunt *hunt, int64_t first_ns, int64_t last_ns)
{
	const struct execution_want *want = hunt->want;

	return first_ns <= want->start_ns.most && last_ns >= want->start_ns.least &&
	       (want->order != EXECUTIONS_BY_START || hunt->worst == INT64_MIN ||
		(want->rising ? -first_ns : last_ns) > hunt->worst);
}

/* Searches its spans from `from` up to `until`. */
static void look_at_chunk(struct hunt *hunt, struct lane *lane, size_t c, uint32_t from,
			  uint32_t until)
{
	struct chunk *chunk = lane->chunks[c];

	chunk_summarise(lane, chunk);
	if (!long_enough(hunt, chunk->sum.longest_ns) ||
	    !early_enough(hunt, chunk->first_ns, chunk->last_ns) ||
	    (hunt->names && !chunk_may_have(lane, chunk, hunt->names)) ||
	    (hunt->ops && !chunk_may_have(lane, chunk, hunt->ops)))
		return;
	if (until > chunk->n)
		until = chunk->n;
	for (uint32_t first = from / LANE_BLOCK * LANE_BLOCK; first < until; first += LANE_BLOCK) {
		uint32_t end = until - first < LANE_BLOCK ? until : first + LANE_BLOCK;
		const struct span_block *block = chunk->blocks ?
						 &chunk->blocks[first / LANE_BLOCK] :
					    NULL;

		if (!block || block->form == BLOCK_NONE || long_enough(hunt, block->longest_ns))
			look_at_block(hunt, lane, c, first > from ? first : from, end);
	}
}

/* ---- lanes ---- */

/* Gives the lock back for a moment; false: the caller wants to stop. */
static bool hunt_breathe(struct hunt *hunt)
{
	const struct execution_want *want = hunt->want;
	int64_t now = monotonic_ns();

	if (now - hunt->slice_ns <= SLICE_NS)
		return true;
	if (want->rest) {
		model_unlock(hunt->model);
		hunt->stopped = !want->rest(want->arg, (unsigned)(hunt->looked * 1000 /
						(hunt->all ? hunt->all : 1)));
		model_lock(hunt->model);
	} else {
		model_yield(hunt->model);
	}
	hunt->slice_ns = monotonic_ns();
	return !hunt->stopped;
}

static struct lane *lane_of(const struct hunt *hunt)
{
	struct row *row = row_at(hunt->model, hunt->row);

	return hunt->index < row->n_lanes ? &row->lanes[hunt->index] : NULL;
}

/* The part of a lane that is still to be searched: chunks from c on, or, backwards, from c down.
 * In chunk c itself, the spans from `from` to `until`. */
struct rest {
	bool back;
	size_t c;
	uint32_t from, until;
};

/* The spans that start within start_ns are adjacent. */
static bool first_chunk(const struct lane *lane, const struct execution_bounds *start_ns,
			struct rest *rest)
{
	struct lane_pos pos = { 0, 0 };

	rest->from = 0;
	rest->until = UINT32_MAX;
	if (!lane->n)
		return false;
	if (!rest->back) {
		if (start_ns->least != INT64_MIN && !lane_lower(lane, start_ns->least, &pos))
			return false;
		rest->from = pos.i;
	} else if (start_ns->most != INT64_MAX) {
		if (!lane_before(lane, start_ns->most + 1, &pos))
			return false;
		rest->until = pos.i + 1;
	} else {
		pos.chunk = lane->n - 1;
	}
	rest->c = pos.chunk;
	return true;
}

static bool has_begun(const struct lane *lane, const struct execution_bounds *start_ns,
		      const struct rest *rest)
{
	return rest->back ? lane->chunks[rest->c]->last_ns >= start_ns->least :
			    lane->chunks[rest->c]->first_ns <= start_ns->most;
}

static bool next_chunk(const struct lane *lane, struct rest *rest)
{
	rest->from = 0;
	rest->until = UINT32_MAX;
	return rest->back ? rest->c-- > 0 : ++rest->c < lane->n;
}

/* The lock is kept while chunks share a time, because the place is found again by its time. */
static bool may_breathe(const struct lane *lane, const struct rest *rest)
{
	return rest->back ? lane->chunks[rest->c]->last_ns < lane->chunks[rest->c + 1]->first_ns :
			    lane->chunks[rest->c]->first_ns > lane->chunks[rest->c - 1]->last_ns;
}

/* Continues behind what was already searched, at border_ns, wherever that is now. */
static bool find_rest(const struct lane *lane, int64_t border_ns, struct rest *rest)
{
	struct lane_pos pos;

	if (rest->back ? !lane_before(lane, border_ns, &pos) :
			 !lane_lower(lane, border_ns + 1, &pos))
		return false;
	rest->c = pos.chunk;
	rest->from = rest->back ? 0 : pos.i;
	rest->until = rest->back ? pos.i + 1 : UINT32_MAX;
	return true;
}

/* The last ones are found fastest from the end. */
static void look_at_lane(struct hunt *hunt)
{
	const struct execution_bounds *start_ns = &hunt->want->start_ns;
	struct rest rest = {
		.back = hunt->want->order == EXECUTIONS_BY_START && !hunt->want->rising,
	};
	struct lane *lane = lane_of(hunt);
	bool more = lane && first_chunk(lane, start_ns, &rest);

	while (more && has_begun(lane, start_ns, &rest)) {
		const struct chunk *chunk = lane->chunks[rest.c];
		int64_t border_ns = rest.back ? chunk->first_ns : chunk->last_ns;

		look_at_chunk(hunt, lane, rest.c, rest.from, rest.until);
		hunt->looked += chunk->n;
		more = next_chunk(lane, &rest);
		if (!more || !may_breathe(lane, &rest))
			continue;
		if (!hunt_breathe(hunt))
			return;
		lane = lane_of(hunt);
		more = lane && find_rest(lane, border_ns, &rest);
	}
}

static void look_at_opens(struct hunt *hunt)
{
	const struct model *model = hunt->model;
	int64_t edge = live_edge(model);
	struct span span;

	for (uint32_t o = row_at(model, hunt->row)->opens; o != NONE; o = open_at(model, o)->next) {
		const struct open_span *open = open_at(model, o);
		struct sight sight = {
			.start[0] = (uint64_t)open->start_ns, .work[0] = open->work,
			.dur[0] = edge > open->start_ns ? (uint64_t)(edge - open->start_ns) : 0,
			.bytes[0] = hunt->kind == ROW_COPY ? open->cold.command.detail : 0,
		};

		if ((hunt->names && !open_wanted(model, open, hunt->names)) ||
		    (hunt->ops && !open_wanted(model, open, hunt->ops)) || !worth(hunt, &sight, 0))
			continue;
		span_tell_open(hunt->model, open, &span);
		hunt_take(hunt, &span);
	}
}

static void look_at_row(struct hunt *hunt, const struct model_row *row, struct executions *out)
{
	struct row *r = row_at(hunt->model, row->id - 1);
	uint64_t looked = hunt->looked;

	hunt->row = row->id - 1;
	hunt->kind = r->kind;
	for (uint32_t l = 0; l < r->n_lanes && !hunt->stopped; l++) {
		uint64_t kept = 0;

		out->events += r->lanes[l].count;
		for (size_t c = 0; c < r->lanes[l].n; c++)
			kept += r->lanes[l].chunks[c]->n;
		out->folded += r->lanes[l].count - kept;
		hunt->index = l;
		look_at_lane(hunt);
	}
	out->events += r->n_opens;
	if (!hunt->stopped)
		look_at_opens(hunt);
	hunt->looked = looked + row->count;
}

static bool row_wanted(const struct execution_want *want, const struct model_row *row)
{
	return (kinds_of(row->kind) & want->kinds) && (!want->row || want->row(want->arg, row));
}

static void hunt_all(struct hunt *hunt, struct executions *out)
{
	struct model_row *rows;
	size_t n = model_rows(hunt->model, &rows), kept = 0;

	for (size_t i = 0; i < n; i++)
		if (row_wanted(hunt->want, &rows[i])) {
			hunt->all += rows[i].count;
			rows[kept++] = rows[i];
		}
	for (size_t i = 0; i < kept && !hunt->stopped; i++)
		look_at_row(hunt, &rows[i], out);
	free(rows);
}

/* The names that are wanted; NULL: all, or the caller wants to stop. */
static const struct lane_want *ask_names(struct hunt *hunt, struct search *search)
{
	while (search && !search_ask(search, NAMES))
		if (!hunt_breathe(hunt))
			return NULL;
	return search ? search_wanted(search) : NULL;
}

void model_executions(struct model *model, const struct execution_want *want,
		      struct executions *out)
{
	struct hunt hunt = { .model = model, .want = want, .worst = INT64_MIN };

	memset(out, 0, sizeof(*out));
	model_lock(model);
	hunt.slice_ns = monotonic_ns();
	hunt.names = ask_names(&hunt, want->name);
	if (!hunt.stopped)
		hunt.ops = ask_names(&hunt, want->op);
	if (!hunt.stopped)
		hunt_all(&hunt, out);
	model_unlock(model);
	out->stopped = hunt.stopped;
	cut(&hunt);
	out->n = hunt.n;
	out->more = hunt.more;
	out->spans = xcalloc(hunt.n, sizeof(*out->spans));
	for (size_t i = 0; i < hunt.n; i++)
		out->spans[i] = hunt.found[i].span;
	free(hunt.found);
}
