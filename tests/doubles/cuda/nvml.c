/* SPDX-License-Identifier: MIT */
/*
 * libnvidia-ml.so.1 for the devices of the CUDA driver's double, by the same UUIDs (device N's last
 * byte is higher by N than the first's). Numbers are those of the vendor's API reference.
 * NVML_DOUBLE is a list of words:
 *	devices=N	how many there are, default 1
 *	hot=N		from the N-th look at a device on, heat lowers its clocks
 *	fail=F:E	function F returns E, always
 *	slow=F:MS	function F takes so long
 *	count		at exit, how often each was called goes to standard error
 * Compiled with OLD it has only the older name of the reasons for lower clocks (drivers before
 * 535).
 * Readings go up with each look, so that a test can tell them apart: utilisation 10, 11, … %.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API __attribute__((visibility("default")))
#define DEVICES 8

enum {
	OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4,
	NOT_FOUND = 6, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15,
};
enum { CLOCK_GRAPHICS, CLOCK_SM, CLOCK_MEMORY, CLOCK_VIDEO };
#define REASON_HEAT 0x40ull

struct usage { unsigned int gpu, memory; };
struct memory { unsigned long long total, unused, used; };
struct device {
	char uuid[48];
	int index;
	atomic_uint looks;
};

static struct device devices[DEVICES];
static int n_devices;
static unsigned int hot;
static atomic_int started;
static struct calls {
	const char *name;
	atomic_uint count;
} calls[32];

static const char *setting(const char *word)
{
	const char *list = getenv("NVML_DOUBLE"), *at = list ? strstr(list, word) : NULL;

	return at ? at + strlen(word) : NULL;
}

static void told(void)
{
	for (int i = 0; calls[i].name; i++)
		fprintf(stderr, "%s %u\n", calls[i].name, atomic_load(&calls[i].count));
}

static void count(const char *name)
{
	for (int i = 0; i < 31; i++) {
		if (!calls[i].name)
			calls[i].name = name;
		if (!strcmp(calls[i].name, name)) {
			atomic_fetch_add(&calls[i].count, 1);
			return;
		}
	}
}

/* Called when a function starts: returns the error that it is set to return, or 0. */
static int before(const char *name)
{
	const char *at = setting("slow=");
	char wanted[64];
	int n;

	count(name);
	if (at && sscanf(at, "%63[^:]:%d", wanted, &n) == 2 && !strcmp(wanted, name)) {
		struct timespec t = { n / 1000, n % 1000 * 1000000l };

		nanosleep(&t, NULL);
	}
	at = setting("fail=");
	if (at && sscanf(at, "%63[^:]:%d", wanted, &n) == 2 && !strcmp(wanted, name))
		return n;
	return started || strstr(name, "nvmlInit") ? OK : UNINITIALIZED;
}

#define NVML(name, ...) \
	API int name(__VA_ARGS__); \
	API int name(__VA_ARGS__)
#define BEFORE(name) do { \
	int result_ = before(#name); \
	if (result_) \
		return result_; \
} while (0)

NVML(nvmlInit_v2, void)
{
	const char *n = setting("devices="), *heat = setting("hot=");

	BEFORE(nvmlInit_v2);
	n_devices = n ? atoi(n) : 1;
	n_devices = n_devices > DEVICES ? DEVICES : n_devices;
	hot = heat ? (unsigned int)atoi(heat) : 0;
	for (int i = 0; i < n_devices; i++) {
		struct device *d = &devices[i];
		int at = snprintf(d->uuid, sizeof(d->uuid), "GPU-");

		d->index = i;
		for (int k = 0; k < 16; k++)
			at += snprintf(d->uuid + at, sizeof(d->uuid) - (size_t)at, "%s%02x",
				       k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "",
				       (uint8_t)(0xd0 + i + k * 7));
	}
	if (setting("count") && !started)
		atexit(told);
	started = 1;
	return OK;
}

NVML(nvmlShutdown, void)
{
	BEFORE(nvmlShutdown);
	started = 0;
	return OK;
}

API const char *nvmlErrorString(int result);
API const char *nvmlErrorString(int result)
{
	switch (result) {
	case OK: return "Success";
	case UNINITIALIZED: return "Uninitialized";
	case NOT_SUPPORTED: return "Not Supported";
	case NO_PERMISSION: return "Insufficient Permissions";
	case NOT_FOUND: return "Not Found";
	case DRIVER_NOT_LOADED: return "Driver Not Loaded";
	case GPU_IS_LOST: return "GPU is lost";
	}
	return "Unknown Error";
}

NVML(nvmlDeviceGetCount_v2, unsigned int *n)
{
	BEFORE(nvmlDeviceGetCount_v2);
	*n = (unsigned int)n_devices;
	return OK;
}

NVML(nvmlDeviceGetHandleByIndex_v2, unsigned int index, struct device **device)
{
	BEFORE(nvmlDeviceGetHandleByIndex_v2);
	if (index >= (unsigned int)n_devices)
		return INVALID_ARGUMENT;
	*device = &devices[index];
	return OK;
}

NVML(nvmlDeviceGetHandleByUUID, const char *uuid, struct device **device)
{
	BEFORE(nvmlDeviceGetHandleByUUID);
	for (int i = 0; i < n_devices; i++) {
		if (!strcmp(devices[i].uuid, uuid)) {
			*device = &devices[i];
			return OK;
		}
	}
	return NOT_FOUND;
}

NVML(nvmlDeviceGetHandleByPciBusId_v2, const char *id, struct device **device)
{
	unsigned int domain, bus;

	BEFORE(nvmlDeviceGetHandleByPciBusId_v2);
	if (sscanf(id, "%x:%x", &domain, &bus) != 2 || (bus - 0x17) % 16 ||
	    (bus - 0x17) / 16 >= (unsigned int)n_devices)
		return NOT_FOUND;
	*device = &devices[(bus - 0x17) / 16];
	return OK;
}

NVML(nvmlDeviceGetUUID, struct device *d, char *uuid, unsigned int bytes)
{
	BEFORE(nvmlDeviceGetUUID);
	snprintf(uuid, bytes, "%s", d->uuid);
	return OK;
}

NVML(nvmlDeviceGetUtilizationRates, struct device *d, struct usage *usage)
{
	BEFORE(nvmlDeviceGetUtilizationRates);
	usage->gpu = 10 + atomic_fetch_add(&d->looks, 1) % 90;
	usage->memory = 5;
	return OK;
}

NVML(nvmlDeviceGetMemoryInfo, struct device *d, struct memory *memory)
{
	BEFORE(nvmlDeviceGetMemoryInfo);
	memory->total = 80ull << 30;
	memory->used = (1ull << 30) + ((unsigned long long)d->index << 20);
	memory->unused = memory->total - memory->used;
	return OK;
}

static bool is_hot(const struct device *d)
{
	return hot && d->looks >= hot;
}

NVML(nvmlDeviceGetClockInfo, struct device *d, int which, unsigned int *mhz)
{
	BEFORE(nvmlDeviceGetClockInfo);
	if (which < CLOCK_GRAPHICS || which > CLOCK_VIDEO)
		return INVALID_ARGUMENT;
	*mhz = which == CLOCK_MEMORY ? 2619 : is_hot(d) ? 1200 : 1755;
	return OK;
}

NVML(nvmlDeviceGetPowerUsage, struct device *d, unsigned int *milliwatts)
{
	BEFORE(nvmlDeviceGetPowerUsage);
	*milliwatts = 350000 + (unsigned int)d->index * 1000;
	return OK;
}

NVML(nvmlDeviceGetTemperature, struct device *d, int which, unsigned int *celsius)
{
	BEFORE(nvmlDeviceGetTemperature);
	if (which)
		return INVALID_ARGUMENT;
	*celsius = is_hot(d) ? 91 : 55;
	return OK;
}

NVML(nvmlDeviceGetCurrentClocksThrottleReasons, struct device *d, unsigned long long *reasons)
{
	BEFORE(nvmlDeviceGetCurrentClocksThrottleReasons);
	*reasons = is_hot(d) ? REASON_HEAT : 0;
	return OK;
}

#ifndef OLD
NVML(nvmlDeviceGetCurrentClocksEventReasons, struct device *d, unsigned long long *reasons)
{
	BEFORE(nvmlDeviceGetCurrentClocksEventReasons);
	*reasons = is_hot(d) ? REASON_HEAT : 0;
	return OK;
}
#endif
