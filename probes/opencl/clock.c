/* SPDX-License-Identifier: MIT */
/*
 * Converts device time to host time, for each device.
 *
 * The driver's pair of times (clGetDeviceAndHostTimer, 2.1) is best where it works. Many drivers do
 * not have it (PoCL 3.1 returns CL_INVALID_OPERATION), but the CPU runtimes among them take times
 * from a clock of the host. The queued time of a command must lie between the host times read
 * before and after its enqueue call, so the first command shows which clock it is, and later ones
 * check that. If no clock of the host fits, the device has a clock of its own. Then
 *
 *	queued - after  <=  device - host  <=  queued - before
 *
 * holds for every command. The tightest pair of each second is the estimate, and half its width is
 * the error. MONOTONIC_RAW and REALTIME drift against MONOTONIC while NTP slews, so their offset
 * is read at every tick.
 *
 * A pair of times is sent before the first command of a device and then once a second.
 */
#include "probes/opencl/probe.h"

#define SEND_EVERY_NS 1000000000
#define SLACK_NS 20000		/* a queued time may be this far outside its call */
#define PAIR_SLACK_NS 1000000	/* the driver's pair must agree with commands this closely */
#define MISSES_MAX 16
#define NONE_LOW INT64_MIN
#define NONE_HIGH INT64_MAX

/* clock - MONOTONIC, refreshed by the tick. */
static _Atomic int64_t raw_offset_ns, real_offset_ns;
static atomic_bool offsets_known;

static int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* `id` - MONOTONIC, from a read between two others; *error_ns is half the time between these. Takes
 * the best of three, because the others may have been interrupted. */
static int64_t host_offset(clockid_t id, int64_t *error_ns)
{
	int64_t offset_ns = 0;

	*error_ns = INT64_MAX;
	for (int i = 0; i < 3; i++) {
		int64_t before_ns = rt_now_ns(), other_ns = rt_clock_ns(id), after_ns = rt_now_ns();

		if ((after_ns - before_ns + 1) / 2 >= *error_ns)
			continue;
		*error_ns = (after_ns - before_ns + 1) / 2;
		offset_ns = other_ns - before_ns - (after_ns - before_ns) / 2;
	}
	return offset_ns;
}

static void refresh_offsets(void)
{
	int64_t error_ns;

	atomic_store(&raw_offset_ns, host_offset(CLOCK_MONOTONIC_RAW, &error_ns));
	atomic_store(&real_offset_ns, host_offset(CLOCK_REALTIME, &error_ns));
	atomic_store(&offsets_known, true);
}

static void send(struct ocl_device *device, int64_t ticks, int64_t host_ns, int64_t error_ns,
		 uint8_t quality)
{
	struct tft_clock clock = {
		.device = atomic_load(&device->id),
		.quality = quality,
		.ticks = (uint64_t)ticks,
		.host_ns = host_ns,
		.error_ns = error_ns,
	};

	if (clock.device)
		rt_emit_clock(&clock);
}

/* Reads the driver's pair; false: it has none. Takes the best of three. */
static bool driver_pair(struct ocl_device *device, int64_t *ticks, int64_t *host_ns,
			int64_t *error_ns)
{
	*error_ns = INT64_MAX;
	if (device->version < 210 || !device->real->clGetDeviceAndHostTimer)
		return false;
	for (int i = 0; i < 3; i++) {
		cl_ulong tick = 0, host = 0;
		int64_t before_ns = rt_now_ns(), after_ns;

		if (device->real->clGetDeviceAndHostTimer(device->root, &tick, &host) || !tick)
			return false;
		after_ns = rt_now_ns();
		if ((after_ns - before_ns + 1) / 2 < *error_ns) {
			*error_ns = (after_ns - before_ns + 1) / 2;
			*host_ns = before_ns + (after_ns - before_ns) / 2;
			*ticks = (int64_t)tick;
		}
	}
	return true;
}

/* Sends the device's pair in its domain. */
static void send_now(struct ocl_device *device, enum clock_domain domain)
{
	struct device_clock *clock = &device->clock;
	int64_t ticks, host_ns, error_ns, offset_ns;

	switch (domain) {
	case CLOCK_DRIVER:
		if (driver_pair(device, &ticks, &host_ns, &error_ns))
			send(device, ticks, host_ns, error_ns, 2);
		break;
	case CLOCK_MONO:
		host_ns = rt_now_ns();
		send(device, host_ns, host_ns, 0, 1);
		break;
	case CLOCK_RAW:
	case CLOCK_REAL:
		offset_ns = host_offset(domain == CLOCK_RAW ? CLOCK_MONOTONIC_RAW : CLOCK_REALTIME,
					&error_ns);
		host_ns = rt_now_ns();
		send(device, host_ns + offset_ns, host_ns, error_ns, 1);
		break;
	case CLOCK_OWN:
		host_ns = rt_now_ns();
		send(device, host_ns + clock->offset_ns, host_ns, clock->error_ns, 0);
		break;
	case CLOCK_UNKNOWN:
		break;
	}
}

/* The offset of a host clock to MONOTONIC; false for other domains. */
static bool domain_offset(enum clock_domain domain, int64_t *offset_ns)
{
	switch (domain) {
	case CLOCK_MONO:
		*offset_ns = 0;
		return true;
	case CLOCK_RAW:
		*offset_ns = atomic_load_explicit(&raw_offset_ns, memory_order_relaxed);
		return true;
	case CLOCK_REAL:
		*offset_ns = atomic_load_explicit(&real_offset_ns, memory_order_relaxed);
		return true;
	default:
		return false;
	}
}

static bool inside(int64_t tick, int64_t low, int64_t high, int64_t slack_ns)
{
	return tick >= low - slack_ns && tick <= high + slack_ns;
}

/* Narrows [low, high] of this second; lock-free, rarely writes. */
static void narrow(struct device_clock *clock, int64_t low, int64_t high)
{
	int64_t now = atomic_load_explicit(&clock->low_ns, memory_order_relaxed);

	while (low > now && !atomic_compare_exchange_weak(&clock->low_ns, &now, low))
		;
	now = atomic_load_explicit(&clock->high_ns, memory_order_relaxed);
	while (high < now && !atomic_compare_exchange_weak(&clock->high_ns, &now, high))
		;
}

static void estimate(struct device_clock *clock, int64_t low, int64_t high)
{
	clock->offset_ns = low + (high - low) / 2;
	clock->error_ns = max64(high > low ? high - low : low - high, 2) / 2;
}

/* Decides which clock it is; `tick` was read between the host times low and high. */
static void clock_decide(struct ocl_device *device, int64_t tick, int64_t low, int64_t high)
{
	static const enum clock_domain host[] = { CLOCK_RAW, CLOCK_MONO, CLOCK_REAL };
	struct device_clock *clock = &device->clock;
	enum clock_domain domain = CLOCK_OWN;
	int64_t pair_ticks, pair_ns, error_ns, offset_ns = 0, best_ns = INT64_MAX;

	if (driver_pair(device, &pair_ticks, &pair_ns, &error_ns) &&
	    inside(tick - pair_ticks + pair_ns, low, high, PAIR_SLACK_NS + error_ns)) {
		domain = CLOCK_DRIVER;
	} else {
		for (size_t i = 0; i < ARRAY_LEN(host); i++) {
			int64_t miss_ns;

			domain_offset(host[i], &offset_ns);
			if (!inside(tick - offset_ns, low, high, SLACK_NS))
				continue;
			/* Two clocks can be this close after a boot: take the one whose middle is
			 * nearer. */
			miss_ns = tick - offset_ns - (low + high) / 2;
			if (miss_ns < 0)
				miss_ns = -miss_ns;
			if (miss_ns < best_ns) {
				best_ns = miss_ns;
				domain = host[i];
			}
		}
	}
	if (domain == CLOCK_OWN)
		estimate(clock, tick - high, tick - low);
	clock->sent_ns = rt_now_ns();
	send_now(device, domain);
	atomic_store(&clock->misses, 0);
	atomic_store_explicit(&clock->domain, domain, memory_order_release);
}

static void first_command(struct ocl_device *device, int64_t low, int64_t high,
			  const uint64_t ticks[4])
{
	struct device_clock *clock = &device->clock;
	int64_t tick = 0;

	if (atomic_flag_test_and_set(&clock->deciding))
		return;
	if (!atomic_load(&offsets_known))
		refresh_offsets();
	for (int i = 0; i < 4 && !tick; i++)
		tick = (int64_t)ticks[i];
	/* Without a queued time it is only known that the command started before now: the first
	 * command that has one decides again. */
	atomic_store(&clock->weak, !ticks[0]);
	if (tick)
		clock_decide(device, tick, low, ticks[0] ? high : rt_now_ns());
	atomic_flag_clear(&clock->deciding);
}

void clock_command(struct ocl_device *device, int64_t before_ns, int64_t after_ns,
		   const uint64_t ticks[4])
{
	struct device_clock *clock = &device->clock;
	enum clock_domain domain =
		(enum clock_domain)atomic_load_explicit(&clock->domain, memory_order_acquire);
	int64_t queued = (int64_t)ticks[0], offset_ns;

	if (unlikely(domain == CLOCK_UNKNOWN ||
		     (queued && atomic_load_explicit(&clock->weak, memory_order_relaxed)))) {
		first_command(device, before_ns, after_ns, ticks);
		return;
	}
	if (!queued)
		return;
	if (domain == CLOCK_OWN) {
		narrow(clock, queued - after_ns, queued - before_ns);
		return;
	}
	if (!domain_offset(domain, &offset_ns))
		return;
	if (likely(inside(queued - offset_ns, before_ns, after_ns, SLACK_NS))) {
		if (unlikely(atomic_load_explicit(&clock->misses, memory_order_relaxed)))
			atomic_store_explicit(&clock->misses, 0, memory_order_relaxed);
	} else if (atomic_fetch_add(&clock->misses, 1) >= MISSES_MAX) {
		atomic_store(&clock->weak, true);	/* it is not this clock after all */
	}
}

static void own_tick(struct device_clock *clock)
{
	int64_t low = atomic_exchange(&clock->low_ns, NONE_LOW);
	int64_t high = atomic_exchange(&clock->high_ns, NONE_HIGH);

	if (low != NONE_LOW && high != NONE_HIGH)
		estimate(clock, low, high);
}

void clock_tick(int64_t now_ns)
{
	refresh_offsets();
	for (struct ocl_device *device = device_first(); device; device = device->next) {
		struct device_clock *clock = &device->clock;
		enum clock_domain domain = (enum clock_domain)atomic_load(&clock->domain);

		if (domain == CLOCK_UNKNOWN || !atomic_load(&device->id) ||
		    now_ns - clock->sent_ns < SEND_EVERY_NS)
			continue;
		clock->sent_ns = now_ns;
		if (domain == CLOCK_OWN)
			own_tick(clock);
		send_now(device, domain);
	}
}

void clock_forget(struct device_clock *clock)
{
	atomic_store(&clock->domain, CLOCK_UNKNOWN);
	atomic_flag_clear(&clock->deciding);
	atomic_store(&clock->weak, false);
	atomic_store(&clock->misses, 0);
	atomic_store(&clock->low_ns, NONE_LOW);
	atomic_store(&clock->high_ns, NONE_HIGH);
	clock->sent_ns = 0;
}
