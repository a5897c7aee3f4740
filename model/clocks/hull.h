/* SPDX-License-Identifier: MIT */
/*
 * Bounds the offset between two clocks, from causality alone.
 *
 * Idea: an event that happened on one clock before another one on the other clock bounds the offset
 * host - ticks. A call at host time H before the device stamped T gives a lower bound, host(T) >=
 * H; a wait that returned at H after the device stamped T gives an upper bound, host(T) <= H. Over
 * a minute the offset is a line y = b + m x (x: ticks, y: offset) with |m| <= HULL_DRIFT. All (m,
 * b) that fit all bounds form a convex polygon, and the range of b + m x over this polygon is the
 * exact interval of the offset at x: no narrower one can be derived. Only vertices of the convex
 * hull of each kind of bound matter.
 *
 *    y |      o        o           o upper bounds; their lower hull, chain `high`
 *      |   o     o--o--.___o
 *      |  ----- a line that fits -----
 *      |   .x--x---.___x            x lower bounds; their upper hull, chain `low`
 *      |     x      x
 *      +---------------------- x
 *
 * Always true:
 *  - Both chains are strictly convex and sorted by x; lower bounds are kept with y negated, so that
 *    the same code handles both kinds.
 *  - A slope m fits if and only if m (xj - xi) <= hj - li for every lower bound i and upper bound
 *    j. Since each pair decides on its own, the range [least, most] over pairs of vertices is
 *    exact.
 *  - Right of the point where a line of slope `most` touches the upper chain, the upper end of the
 *    interval is that line. Left of the point where a line of slope `least` touches it, the upper
 *    end is that line. Between the two points it is the chain itself. The lower end is the mirror
 *    image.
 *  - A bound that contradicts the others is refused (HULL_AGAINST), so at least one line fits all
 *    bounds that are kept.
 *  - Coordinates are at most HULL_FAR (2^61) from the origin, so that differences fit in 62 bits,
 *    and products and their differences in an __int128. All results are exact; an end of the
 *    interval that is not an integer is rounded outwards.
 *  - Dropping a vertex (because the chain is full or the slice too old) widens the interval and
 *    never makes it wrong.
 *
 * Window: HULL_SLICES slices of HULL_SLICE_TICKS, each with two chains of its own, so that when the
 * oldest slice is dropped, the vertices that it had hidden count again. A fit joins the slices.
 *
 * Complexity: a bound costs O(1) amortised (append and pop, one division). If it narrows the
 * interval, or if a slice is dropped, a fit follows: O(slices * vertices) to join, and O(low *
 * high) slopes by brute force, with 4 to 30 vertices each as measured and HULL_CHAIN at most.
 * Bounds may arrive in any order: an insertion is O(vertices).
 *
 * Worked example: lower bounds (0, 10) (1000, 11), upper bounds (0, 20) (1000, 20). The steepest
 * line goes from (0, 10) to (1000, 20), 10 per 1000, which is cut to HULL_DRIFT, 1 per 1000. The
 * shallowest goes from (0, 20) to (1000, 11) and is cut to -1 per 1000. At x = 1000 the offset is
 * in [11, 20], at 2000 in [10, 21]. An upper bound (2000, 9) is a contradiction; (2000, 10) leaves
 * a single line.
 *
 * Source: Duda et al. 1987 (convex hull of messages); Poirier, Roy, Dagenais 2010 (the polygon of
 * feasible lines gives guaranteed bounds); Jabbarifar, Dagenais, Shameli-Sendi 2013 (incremental).
 * Unlike there, a contradiction is reported to the caller and does not stay in force, and the
 * window slides.
 *
 * Threads: the hull keeps no state outside of the struct; the owner's lock protects it.
 */
#ifndef MODEL_HULL_H
#define MODEL_HULL_H

#include <stdbool.h>
#include <stdint.h>

#define HULL_CHAIN 48u
#define HULL_SLICES 13u			/* 60 s, and the slice that is being filled */
#define HULL_SLICE_TICKS INT64_C(5000000000)
#define HULL_FAR (INT64_C(1) << 61)
#define HULL_DRIFT 1000			/* a clock drifts by at most one part in this many */

struct hull_point { int64_t x, y; };

struct hull_chain {
	uint32_t n;
	struct hull_point p[HULL_CHAIN + 1];	/* one extra place, used while inserting */
};

struct hull_slice {
	int64_t number;			/* x / HULL_SLICE_TICKS */
	struct hull_chain low, high;
};

struct hull_slope { int64_t num, den; };	/* den > 0 */

/* A chain of the whole window, and where the lines of extreme slope touch it. */
struct hull_side {
	struct hull_chain chain;
	struct hull_slope least, most;
	uint32_t left, right;	/* where the lines of slope least and of slope most touch it */
};

struct hull {
	bool begun;
	uint64_t origin_ticks, origin_offset;
	int64_t first, last;		/* x of the earliest and of the latest bound */
	int64_t last_low, last_high;	/* x of the latest bound of each kind */
	int64_t newest;			/* number of the newest slice */
	struct hull_slice slices[HULL_SLICES];	/* indexed by number modulo HULL_SLICES */
	struct hull_side low, high;	/* result of the latest fit */
	uint64_t bounds, fits;		/* how many bounds were accepted; how many fits were made */
};

enum hull_result {
	HULL_IGNORED,			/* before the window, or too far off to be true */
	HULL_INSIDE,			/* accepted, but does not narrow the interval now */
	HULL_TIGHTER,			/* accepted, and the interval changed */
	HULL_AGAINST,			/* contradicts the other bounds and was refused */
};

/* The interval of host - ticks at some ticks. */
struct hull_range {
	int64_t low_ns, high_ns;	/* valid if the matching has_ member is set */
	bool has_low, has_high;
};

/* Forgets all bounds. A zeroed hull is initialised by its first bound. */
void hull_reset(struct hull *hull);
/* Adds the bound host(ticks) >= host_ns, or <= if upper. */
enum hull_result hull_bound(struct hull *hull, uint64_t ticks, int64_t host_ns, bool upper);
/* Whether there are bounds of both kinds. */
static inline bool hull_two_sided(const struct hull *hull)
{
	return hull->low.chain.n && hull->high.chain.n;
}
/* Ticks of the latest bound of a kind, of which there must be one. */
static inline uint64_t hull_last_of(const struct hull *hull, bool upper)
{
	return hull->origin_ticks + (uint64_t)(upper ? hull->last_high : hull->last_low);
}
struct hull_range hull_at(const struct hull *hull, uint64_t ticks);
/* For a bound that was refused: ticks of the latest bound of the other kind that contradicts it if
 * the offset changes by `rate` (2^-40) only. The cause of the contradiction came after these ticks.
 * Only bounds that are still kept are considered, so the result may be too early and is never too
 * late. */
uint64_t hull_last_against(const struct hull *hull, uint64_t ticks, int64_t host_ns, bool upper,
			   int64_t rate);
/* Offset of the earliest bound of a kind, of which there must be one, and its ticks. */
int64_t hull_first_of(const struct hull *hull, bool upper, uint64_t *ticks);
/* Offset of the latest bound of a kind, of which there must be one. */
int64_t hull_end_of(const struct hull *hull, bool upper);
/* Mean of the steepest and the shallowest slope, in 2^-40. The hull must have bounds of both
 * kinds. */
int64_t hull_rate(const struct hull *hull);
/* Ticks of the latest bound. */
static inline uint64_t hull_last(const struct hull *hull)
{
	return hull->origin_ticks + (uint64_t)hull->last;
}

#endif
