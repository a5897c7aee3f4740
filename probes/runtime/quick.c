/* SPDX-License-Identifier: MIT */
/* See quick.h. The rate of the counter is that of the runtime thread's last tick. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "probes/runtime/internal.h"
#include "probes/runtime/quick.h"

#define SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define TRIES 3
#define WIDE_TICKS 300	/* if two readings differ by more, the thread was interrupted in between */
#define CHECK_SPANS 10		/* how long a computed time can be compared with the clock */

#if defined(__x86_64__)

static _Atomic uint64_t rate;	/* ns << 32 per tick; 0: unknown, or must not be used */
static _Atomic bool wrong;

struct quick_pair {
	uint64_t ticks;
	int64_t ns;
};

/* Reads both at once; false: the thread was interrupted each time. */
static bool read_pair(struct quick_pair *p)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), after;

		p->ns = rt_now_ns();
		after = __builtin_ia32_rdtsc();
		p->ticks = before + (after - before) / 2;
		if (after - before < WIDE_TICKS)
			return true;
	}
	return false;
}

static bool is_source(void)
{
	char text[8] = "";
	int fd = open(SOURCE, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n >= 4 && !memcmp(text, "tsc\n", 4);
}

void rt_quick_tick(void)
{
	static struct quick_pair last;
	static int known;		/* 1: it is used, -1: it is not; 0: not determined yet */
	int saved = errno;
	struct quick_pair now;

	if (!known)
		known = is_source() ? 1 : -1;
	errno = saved;
	if (known < 0 || GET(wrong) || !read_pair(&now))
		return;
	if (last.ns && now.ticks > last.ticks && now.ticks - last.ticks < UINT32_MAX &&
	    now.ns > last.ns && now.ns - last.ns < UINT32_MAX)
		SET(rate, ((uint64_t)(now.ns - last.ns) << 32) / (now.ticks - last.ticks));
	last = now;
}

int64_t rt_quick_look(struct rt_quick *q)
{
	/* the last time returned is not beyond the end of its span */
	int64_t least = q->span ? q->clock_ns + RT_QUICK_NS : 0, off = 0;
	uint64_t per_tick = GET(rate), since;
	struct quick_pair now;

	if (!per_tick || !read_pair(&now)) {
		now.ns = rt_now_ns();
		return now.ns < least ? least : now.ns;
	}
	since = now.ticks - q->ticks;
	if (q->span && since < q->span * CHECK_SPANS)
		off = q->clock_ns + (int64_t)(since * per_tick >> 32) - now.ns;
	if (off > RT_QUICK_OFF_NS || off < -RT_QUICK_OFF_NS) {
		SET(wrong, true);
		SET(rate, 0);
		q->span = 0;
		return now.ns < least ? least : now.ns;
	}
	*q = (struct rt_quick){
		.ticks = now.ticks, .span = (RT_QUICK_NS * (UINT64_C(1) << 32)) / per_tick,
		.rate = per_tick, .ns = now.ns, .clock_ns = now.ns,
	};
	/* never back: it runs a little slower until the next reading */
	if (off > 0) {
		q->ns += off;
		q->rate -= per_tick * (uint64_t)off / RT_QUICK_NS;
	}
	return q->ns;
}

#else

void rt_quick_tick(void)
{
}

int64_t rt_quick_look(struct rt_quick *q)
{
	(void)q;
	return rt_now_ns();
}

#endif

struct rt_quick *rt_quick_own(void)
{
	struct rt_thread *th = rt_self();

	return th ? &th->clock : NULL;
}

int64_t rt_quick_now(void)
{
	struct rt_quick *q = rt_quick_own();

	return q ? rt_quick_ns(q) : rt_now_ns();
}
