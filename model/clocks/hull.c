/* SPDX-License-Identifier: MIT */
#include "model/clocks/hull.h"

#include <string.h>

#include "model/base/util.h"

__extension__ typedef __int128 wide;

/* ---- exact arithmetic ---- */

static wide cross(struct hull_point a, struct hull_point b, struct hull_point c)
{
	return (wide)(b.x - a.x) * (c.y - a.y) - (wide)(b.y - a.y) * (c.x - a.x);
}

static bool steeper(struct hull_slope a, struct hull_slope b)
{
	return (wide)a.num * b.den > (wide)b.num * a.den;
}

static struct hull_slope negated(struct hull_slope slope)
{
	return (struct hull_slope) { -slope.num, slope.den };
}

static wide floor_div(wide num, wide den)
{
	wide quotient = num / den;

	return quotient - (num % den != 0 && num < 0);
}

/* Height at x of the line with this slope through p, rounded down or up. */
static int64_t line_at(struct hull_point p, struct hull_slope slope, int64_t x, bool up)
{
	wide rise = (wide)slope.num * (x - p.x);

	return p.y + (int64_t)(up ? -floor_div(-rise, slope.den) : floor_div(rise, slope.den));
}

/* ---- chains: the lower hull of points, by x ---- */

static void chain_remove(struct hull_chain *chain, uint32_t at)
{
	chain->n--;
	memmove(chain->p + at, chain->p + at + 1, (chain->n - at) * sizeof(chain->p[0]));
}

/* The chain is full: the vertex with the smallest triangle to its neighbours is removed. */
static void chain_thin(struct hull_chain *chain)
{
	uint32_t flattest = 1;
	wide least = -1;

	for (uint32_t i = 1; i + 1 < chain->n; i++) {
		wide area = cross(chain->p[i - 1], chain->p[i], chain->p[i + 1]);

		if (least < 0 || area < least) {
			least = area;
			flattest = i;
		}
	}
	chain_remove(chain, flattest);
}

static uint32_t chain_lower(const struct hull_chain *chain, int64_t x)
{
	if (chain->n && chain->p[chain->n - 1].x < x)
		return chain->n;
	return FIRST_NOT(i, 0, chain->n, chain->p[i].x < x);
}

static void chain_insert(struct hull_chain *chain, struct hull_point point)
{
	uint32_t at = chain_lower(chain, point.x);

	if (at < chain->n && chain->p[at].x == point.x) {
		if (chain->p[at].y <= point.y)
			return;
		chain_remove(chain, at);
	} else if (at > 0 && at < chain->n &&
		   cross(chain->p[at - 1], point, chain->p[at]) <= 0) {
		return;
	}
	while (at > 1 && cross(chain->p[at - 2], chain->p[at - 1], point) <= 0)
		chain_remove(chain, --at);
	while (at + 1 < chain->n && cross(point, chain->p[at], chain->p[at + 1]) <= 0)
		chain_remove(chain, at);
	memmove(chain->p + at + 1, chain->p + at, (chain->n - at) * sizeof(chain->p[0]));
	chain->p[at] = point;
	if (++chain->n > HULL_CHAIN)
		chain_thin(chain);
}

/* The vertex that a line of this slope touches from below. */
static uint32_t chain_touch(const struct hull_chain *chain, struct hull_slope slope)
{
	uint32_t at = 0;

	while (at + 1 < chain->n) {
		struct hull_slope edge = {
			chain->p[at + 1].y - chain->p[at].y, chain->p[at + 1].x - chain->p[at].x,
		};

		if (!steeper(slope, edge))
			break;
		at++;
	}
	return at;
}

/* ---- the fit ---- */

static void fit_slopes(const struct hull *hull, struct hull_slope *least,
		       struct hull_slope *most)
{
	const struct hull_chain *low = &hull->low.chain, *high = &hull->high.chain;

	*most = (struct hull_slope) { 1, HULL_DRIFT };
	*least = (struct hull_slope) { -1, HULL_DRIFT };
	for (uint32_t i = 0; i < low->n; i++)
		for (uint32_t j = 0; j < high->n; j++) {
			struct hull_slope slope = {
				high->p[j].y + low->p[i].y, high->p[j].x - low->p[i].x,
			};

			if (slope.den > 0 && steeper(*most, slope))
				*most = slope;
			if (slope.den >= 0)
				continue;
			slope = (struct hull_slope) { -slope.num, -slope.den };
			if (steeper(slope, *least))
				*least = slope;
		}
}

static struct hull_slice *slot(struct hull *hull, int64_t number)
{
	int64_t at = number % (int64_t)HULL_SLICES;

	return &hull->slices[at < 0 ? at + (int64_t)HULL_SLICES : at];
}

static void hull_fit(struct hull *hull)
{
	struct hull_slope least, most;

	hull->fits++;
	hull->low.chain.n = hull->high.chain.n = 0;
	for (uint32_t s = 0; s < HULL_SLICES; s++) {
		/* Points are inserted in order of x, so that each insertion is an append. */
		int64_t number = hull->newest - (int64_t)HULL_SLICES + 1 + s;
		const struct hull_slice *slice = slot(hull, number);

		if (slice->number != number)
			continue;
		for (uint32_t i = 0; i < slice->low.n; i++)
			chain_insert(&hull->low.chain, slice->low.p[i]);
		for (uint32_t i = 0; i < slice->high.n; i++)
			chain_insert(&hull->high.chain, slice->high.p[i]);
	}
	fit_slopes(hull, &least, &most);
	hull->high.least = least;
	hull->high.most = most;
	hull->low.least = negated(most);
	hull->low.most = negated(least);
	hull->high.left = chain_touch(&hull->high.chain, hull->high.least);
	hull->high.right = chain_touch(&hull->high.chain, hull->high.most);
	hull->low.left = chain_touch(&hull->low.chain, hull->low.least);
	hull->low.right = chain_touch(&hull->low.chain, hull->low.most);
}

/* The greatest height at x of any line that fits (of the negated line for the lower side),
 * rounded down or up. The chain must not be empty. */
static int64_t side_at(const struct hull_side *side, int64_t x, bool up)
{
	const struct hull_point *p = side->chain.p;
	struct hull_slope edge;
	uint32_t at;

	if (x >= p[side->right].x)
		return line_at(p[side->right], side->most, x, up);
	if (x <= p[side->left].x)
		return line_at(p[side->left], side->least, x, up);
	at = chain_lower(&side->chain, x);
	edge = (struct hull_slope) { p[at].y - p[at - 1].y, p[at].x - p[at - 1].x };
	return line_at(p[at - 1], edge, x, up);
}

/* ---- bounds ---- */

void hull_reset(struct hull *hull)
{
	memset(hull, 0, sizeof(*hull));
}

static void begin(struct hull *hull, uint64_t ticks, int64_t host_ns)
{
	hull_reset(hull);
	hull->begun = true;
	hull->origin_ticks = ticks;
	hull->origin_offset = (uint64_t)host_ns - ticks;
	hull->low.least = hull->high.least = (struct hull_slope) { -1, HULL_DRIFT };
	hull->low.most = hull->high.most = (struct hull_slope) { 1, HULL_DRIFT };
	/* Slice 0 exists; the others are marked as impossible slices. */
	for (uint32_t s = 1; s < HULL_SLICES; s++)
		hull->slices[s].number = INT64_MIN;
}

static bool near(int64_t x)
{
	return x > -HULL_FAR && x < HULL_FAR;
}

static int64_t slice_number(int64_t x)
{
	return (int64_t)floor_div(x, HULL_SLICE_TICKS);
}

/* Whether the slice may still be used: newest - HULL_SLICES + 1 ... newest, or newer. */
static struct hull_slice *hull_slice_of(struct hull *hull, int64_t number, bool *gone)
{
	struct hull_slice *slice;

	if (number > hull->newest) {
		for (uint32_t s = 0; s < HULL_SLICES; s++) {
			slice = &hull->slices[s];
			*gone |= slice->number > INT64_MIN &&
				 slice->number <= number - (int64_t)HULL_SLICES;
		}
		hull->newest = number;
	}
	slice = slot(hull, number);
	if (slice->number != number) {
		slice->number = number;
		slice->low.n = slice->high.n = 0;
	}
	return slice;
}

enum hull_result hull_bound(struct hull *hull, uint64_t ticks, int64_t host_ns, bool upper)
{
	struct hull_side *side = upper ? &hull->high : &hull->low;
	struct hull_side *other = upper ? &hull->low : &hull->high;
	struct hull_slice *slice;
	int64_t *latest = upper ? &hull->last_high : &hull->last_low;
	struct hull_point point;
	bool changed = false;

	if (!hull->begun)
		begin(hull, ticks, host_ns);
	point.x = (int64_t)(ticks - hull->origin_ticks);
	point.y = (int64_t)((uint64_t)host_ns - ticks - hull->origin_offset);
	if (!near(point.x) || !near(point.y) ||
	    slice_number(point.x) <= hull->newest - (int64_t)HULL_SLICES)
		return HULL_IGNORED;
	if (!upper)
		point.y = -point.y;
	/* Whether the bound is below all that the other side allows; that side's end is negated
	 * here. */
	if (other->chain.n && point.y < -side_at(other, point.x, false))
		return HULL_AGAINST;
	if (!side->chain.n || point.x > *latest)
		*latest = point.x;
	if (!side->chain.n || point.y < side_at(side, point.x, true))
		changed = true;
	slice = hull_slice_of(hull, slice_number(point.x), &changed);
	chain_insert(upper ? &slice->high : &slice->low, point);
	if (!hull->bounds++)
		hull->first = hull->last = point.x;
	if (point.x < hull->first)
		hull->first = point.x;
	if (point.x > hull->last)
		hull->last = point.x;
	if (!changed)
		return HULL_INSIDE;
	hull_fit(hull);
	return HULL_TIGHTER;
}

struct hull_range hull_at(const struct hull *hull, uint64_t ticks)
{
	int64_t x = (int64_t)(ticks - hull->origin_ticks);
	struct hull_range range = {
		.has_low = hull->low.chain.n > 0, .has_high = hull->high.chain.n > 0,
	};

	if (!near(x))
		range.has_low = range.has_high = false;
	if (range.has_low)
		range.low_ns = (int64_t)(hull->origin_offset -
					 (uint64_t)side_at(&hull->low, x, true));
	if (range.has_high)
		range.high_ns = (int64_t)(hull->origin_offset +
					  (uint64_t)side_at(&hull->high, x, true));
	return range;
}

static int64_t in_rate(struct hull_slope slope)
{
	return (int64_t)floor_div((wide)slope.num * (INT64_C(1) << 40), slope.den);
}

int64_t hull_rate(const struct hull *hull)
{
	return (in_rate(hull->high.least) + in_rate(hull->high.most)) / 2;
}

uint64_t hull_last_against(const struct hull *hull, uint64_t ticks, int64_t host_ns, bool upper,
			   int64_t rate)
{
	int64_t x = (int64_t)(ticks - hull->origin_ticks);
	int64_t y = (int64_t)((uint64_t)host_ns - ticks - hull->origin_offset);
	int64_t latest = INT64_MIN;

	for (uint32_t s = 0; s < HULL_SLICES; s++) {
		const struct hull_slice *slice = &hull->slices[s];
		const struct hull_chain *chain = upper ? &slice->low : &slice->high;

		if (slice->number <= hull->newest - (int64_t)HULL_SLICES)
			continue;
		for (uint32_t i = 0; i < chain->n; i++) {
			const struct hull_point *p = &chain->p[i];
			wide line = y + (((wide)rate * (p->x - x)) >> 40);
			bool against = upper ? -p->y > line : p->y < line;

			if (against && p->x > latest)
				latest = p->x;
		}
	}
	return hull->origin_ticks + (uint64_t)(latest == INT64_MIN ? hull->first : latest);
}

static int64_t offset_of_end(const struct hull *hull, bool upper, const struct hull_point *p)
{
	return (int64_t)(hull->origin_offset + (uint64_t)(upper ? p->y : -p->y));
}

int64_t hull_first_of(const struct hull *hull, bool upper, uint64_t *ticks)
{
	const struct hull_side *side = upper ? &hull->high : &hull->low;

	*ticks = hull->origin_ticks + (uint64_t)side->chain.p[0].x;
	return offset_of_end(hull, upper, &side->chain.p[0]);
}

int64_t hull_end_of(const struct hull *hull, bool upper)
{
	const struct hull_side *side = upper ? &hull->high : &hull->low;

	return offset_of_end(hull, upper, &side->chain.p[side->chain.n - 1]);
}
