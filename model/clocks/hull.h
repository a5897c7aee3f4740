/* SPDX-License-Identifier: MIT */
/*
 * How two clocks can lie to each other, from causality alone.
 *
 * Idea: what began on one clock before it happened on the other bounds the
 * offset host - ticks from below (a call at host time H came before the device
 * stamped T: host(T) >= H), what ended bounds it from above (a wait returned
 * at H after the device stamped T: host(T) <= H). Over a minute the offset is
 * a line y = b + m x (x ticks, y offset), |m| <= HULL_DRIFT. All (m, b) that
 * fit all bounds are a convex polygon, and the range of b + m x over it is the
 * exact interval of the offset at x: nothing narrower is true. Only vertices
 * of the convex hull of each kind of bound matter.
 *
 *    y |      o        o           o upper bounds; their lower hull, chain `high`
 *      |   o     o--o--.___o
 *      |  ----- a line that fits -----
 *      |   .x--x---.___x            x lower bounds; their upper hull, chain `low`
 *      |     x      x
 *      +---------------------- x
 *
 * Invariants:
 *  - Both chains are strictly convex and sorted by x; lower bounds are kept
 *    with y negated, so that one code does both.
 *  - m fits iff m (xj - xi) <= hj - li for every lower i and upper j: pairs
 *    decide alone, so [least, most] over pairs of vertices is exact.
 *  - Right of the point where a line of slope `most` touches the upper chain
 *    the upper end of the interval is that line, left of where `least` touches
 *    it is that one, between them the chain itself. Mirrored below.
 *  - A bound that contradicts the others is refused (HULL_AGAINST), so what is
 *    kept always fits at least one line.
 *  - Coordinates are at most HULL_FAR off the origin (2^61), so differences fit
 *    in 62 bits, products and their differences in an __int128: all is exact,
 *    and an end that is no integer is rounded outwards.
 *  - A vertex let go (chain full, slice too old) widens the interval, never
 *    makes it wrong.
 *
 * Window: HULL_SLICES slices of HULL_SLICE_TICKS, each with its own two chains,
 * so that the oldest can go and what it hid comes back. A fit joins them.
 *
 * Complexity: a bound O(1) amortised (append and pop, one division); when it
 * narrows the interval, or a slice goes, a fit: O(slices * vertices) to join
 * and O(low * high) slopes by brute force, 4 to 30 vertices each as measured,
 * HULL_CHAIN at most. Any order of arrival: an insertion is O(vertices).
 *
 * Worked example: lower bounds (0, 10) (1000, 11), upper (0, 20) (1000, 20).
 * Steepest: from (0, 10) to (1000, 20), 10 per 1000, cut to HULL_DRIFT, 1 per
 * 1000; shallowest: from (0, 20) to (1000, 11), cut to -1 per 1000. At x = 1000
 * the offset is in [11, 20], at 2000 in [10, 21]; an upper bound (2000, 9)
 * contradicts; (2000, 10) leaves one line.
 *
 * Source: Duda et al. 1987 (convex hull of messages); Poirier, Roy, Dagenais
 * 2010 (the polygon of feasible lines gives guaranteed bounds); Jabbarifar,
 * Dagenais, Shameli-Sendi 2013 (incremental). Unlike theirs a contradiction is
 * told, not latched, and the window slides.
 *
 * Threads: no state of its own; the owner's lock.
 */
#ifndef MODEL_HULL_H
#define MODEL_HULL_H

#include <stdbool.h>
#include <stdint.h>

#define HULL_CHAIN 48u
#define HULL_SLICES 13u			/* 60 s, and the one being filled */
#define HULL_SLICE_TICKS INT64_C(5000000000)
#define HULL_FAR (INT64_C(1) << 61)
#define HULL_DRIFT 1000			/* no clock is off by more than one in that */

struct hull_point { int64_t x, y; };

struct hull_chain {
	uint32_t n;
	struct hull_point p[HULL_CHAIN + 1];	/* one more while inserting */
};

struct hull_slice {
	int64_t number;			/* of x / HULL_SLICE_TICKS */
	struct hull_chain low, high;
};

struct hull_slope { int64_t num, den; };	/* den > 0 */

/* A chain of the whole window and where the extreme slopes touch it. */
struct hull_side {
	struct hull_chain chain;
	struct hull_slope least, most;
	uint32_t left, right;		/* touched by least, by most */
};

struct hull {
	bool begun;
	uint64_t origin_ticks, origin_offset;
	int64_t first, last;		/* x of the earliest, latest bound taken */
	int64_t last_low, last_high;	/* x of the latest of each kind */
	int64_t newest;			/* number of the newest slice */
	struct hull_slice slices[HULL_SLICES];	/* number modulo HULL_SLICES */
	struct hull_side low, high;	/* the fit */
	uint64_t bounds, fits;		/* taken; how often fitted */
};

enum hull_result {
	HULL_IGNORED,			/* before the window, or too far off to be true */
	HULL_INSIDE,			/* taken, says nothing new now */
	HULL_TIGHTER,			/* taken, the interval changed */
	HULL_AGAINST,			/* contradicts what is known: not taken */
};

/* host - ticks at some ticks: */
struct hull_range {
	int64_t low_ns, high_ns;	/* valid if has_ */
	bool has_low, has_high;
};

/* Forgets everything. A zeroed one is begun by its first bound. */
void hull_reset(struct hull *hull);
/* host(ticks) >= host_ns, or <= if upper. */
enum hull_result hull_bound(struct hull *hull, uint64_t ticks, int64_t host_ns, bool upper);
/* Is there a bound of either kind? */
static inline bool hull_two_sided(const struct hull *hull)
{
	return hull->low.chain.n && hull->high.chain.n;
}
/* Ticks of the latest bound of a kind that there is. */
static inline uint64_t hull_last_of(const struct hull *hull, bool upper)
{
	return hull->origin_ticks + (uint64_t)(upper ? hull->last_high : hull->last_low);
}
struct hull_range hull_at(const struct hull *hull, uint64_t ticks);
/* Of a refused bound: ticks of the latest bound of the other kind that it speaks
 * against when the offset changes by `rate` (2^-40) only; what made it false
 * came after that. Of those still known: may be too early, never too late. */
uint64_t hull_last_against(const struct hull *hull, uint64_t ticks, int64_t host_ns, bool upper,
			   int64_t rate);
/* Offset of the earliest bound of a kind that there is, and its ticks. */
int64_t hull_first_of(const struct hull *hull, bool upper, uint64_t *ticks);
/* Offset of the latest one. */
int64_t hull_end_of(const struct hull *hull, bool upper);
/* Mean of the steepest and the shallowest slope, in 2^-40 (of a two-sided one). */
int64_t hull_rate(const struct hull *hull);
/* Ticks of the latest bound. */
static inline uint64_t hull_last(const struct hull *hull)
{
	return hull->origin_ticks + (uint64_t)hull->last;
}

#endif
