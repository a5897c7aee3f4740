/* SPDX-License-Identifier: MIT */
/*
 * Limits the number of recorded ops: a program of very small ops on many threads makes more of
 * them than can be transported and read. Then ops within ops are left out, and if that is not
 * enough, all except the backward pass and ranges, whose callbacks alone stay. A message says so,
 * and says when all ops are recorded again.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "probes/pytorch/probe.h"

#define WINDOW_NS 250000000
#define MANY 2000000	/* how many ops per second are recorded */
#define CALM 1000000
#define CALM_NS 2000000000	/* calm for this long before more is recorded */
#define AGAIN_NS 10000000000	/* without callbacks for ops their number is unknown */

static _Atomic uint64_t begun_all, pushed_all;

void torch_rate_add(uint32_t begun, uint32_t pushed)
{
	atomic_fetch_add_explicit(&begun_all, begun, memory_order_relaxed);
	atomic_fetch_add_explicit(&pushed_all, pushed, memory_order_relaxed);
}

static void torch_rate_say(enum torch_mode mode, uint64_t rate)
{
	static const char *const told[] = {
		"all", "outermost only", "of the backward pass and ranges only",
	};
	char text[160];

	if (mode == TORCH_ALL)
		snprintf(text, sizeof(text), "pytorch: all ops are recorded again");
	else
		snprintf(text, sizeof(text),
			 "pytorch: %llu ops a second are too many: only %s are recorded",
			 (unsigned long long)rate, mode == TORCH_OUTER ? "outermost ops" :
			 "ops of the backward pass and ranges");
	rt_emit_message(mode == TORCH_ALL ? 0 : 1, text);
	rt_emit_info("pytorch", "ops recorded", told[mode]);
}

enum torch_mode torch_rate_tick(int64_t now_ns, enum torch_mode mode)
{
	static int64_t since_ns, calm_since_ns;
	static uint64_t begun_then, pushed_then;
	uint64_t begun = atomic_load_explicit(&begun_all, memory_order_relaxed), begun_rate;
	uint64_t pushed = atomic_load_explicit(&pushed_all, memory_order_relaxed), pushed_rate;
	int64_t span_ns = now_ns - since_ns;
	enum torch_mode next = mode;

	if (span_ns < WINDOW_NS)
		return mode;
	/* the first window, or one in which nothing was checked */
	if (span_ns > 8 * WINDOW_NS)
		span_ns = 8 * WINDOW_NS;
	begun_rate = (begun - begun_then) * 1000000000 / (uint64_t)span_ns;
	pushed_rate = (pushed - pushed_then) * 1000000000 / (uint64_t)span_ns;
	begun_then = begun;
	pushed_then = pushed;
	since_ns = now_ns;
	if (begun_rate > CALM)
		calm_since_ns = now_ns;
	if (pushed_rate > MANY && mode != TORCH_FEW)
		next = mode + 1;
	else if (mode == TORCH_OUTER && now_ns - calm_since_ns > CALM_NS)
		next = TORCH_ALL;
	else if (mode == TORCH_FEW && now_ns - calm_since_ns > AGAIN_NS)
		next = TORCH_OUTER;
	if (next != mode) {
		calm_since_ns = now_ns;
		torch_rate_say(next, pushed_rate);
	}
	return next;
}
