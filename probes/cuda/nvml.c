/* SPDX-License-Identifier: MIT */
/*
 * A device's sensors, read through NVML where the machine has it (libnvidia-ml.so.1 comes with
 * the driver): once a second, on a thread of their own, sent as series of counters. Only what is
 * called is declared here; the numbers are those of the vendor's reference of NVML's API.
 * TFTOP_NVML=0 turns the sensors off.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "probes/cuda/probe.h"

#define EVERY_NS 1000000000
#define NVML_OK 0
#define TRIES 5			/* a sensor that fails this often in a row is not there */

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };

struct nvml_usage { unsigned gpu, memory; };
struct nvml_memory { unsigned long long total, free, used; };
typedef struct nvml_device *nvml_handle;

static struct {
	int (*init)(void);
	int (*by_uuid)(const char *uuid, nvml_handle *handle);
	int (*usage)(nvml_handle, struct nvml_usage *);
	int (*memory)(nvml_handle, struct nvml_memory *);
	int (*clock)(nvml_handle, int which, unsigned *mhz);
	int (*power)(nvml_handle, unsigned *milliwatt);
	int (*temperature)(nvml_handle, int which, unsigned *celsius);
	int (*reasons)(nvml_handle, unsigned long long *reasons);
	const char *(*text)(int result);
} nvml;

/* Why the clocks are lower than possible: those of the vendor's bits that indicate trouble. */
static const struct {
	unsigned long long bit;
	const char *what;
} reasons[] = {
	{ 0x04, "power cap" }, { 0x08, "hardware slowdown" }, { 0x20, "heat (software)" },
	{ 0x40, "heat (hardware)" }, { 0x80, "power brake" },
};

enum sensor { USAGE, MEMORY, SM, MEMORY_CLOCK, POWER, TEMPERATURE, THROTTLED, SENSORS };
static const struct {
	const char *name, *unit;
} about[SENSORS] = {
	[USAGE] = { "gpu utilisation", "%" }, [MEMORY] = { "gpu memory used", "bytes" },
	[SM] = { "sm clock", "MHz" }, [MEMORY_CLOCK] = { "memory clock", "MHz" },
	[POWER] = { "power", "W" }, [TEMPERATURE] = { "temperature", "C" },
	[THROTTLED] = { "throttled", "" },
};

static struct nvml_watched {
	nvml_handle handle;
	bool asked;
	atomic_uint series[SENSORS];	/* 0: nothing has been read yet */
	uint8_t misses[SENSORS];
	unsigned long long reasons;
} watched[DEVICES_MAX];
static atomic_bool started, ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* protects what wakes the thread */
static pthread_cond_t wake;

static bool nvml_resolve(void)
{
	void *h = rt_dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct { void *to; const char *name; } all[] = {
		{ &nvml.init, "nvmlInit_v2" },
		{ &nvml.by_uuid, "nvmlDeviceGetHandleByUUID" },
		{ &nvml.usage, "nvmlDeviceGetUtilizationRates" },
		{ &nvml.memory, "nvmlDeviceGetMemoryInfo" },
		{ &nvml.clock, "nvmlDeviceGetClockInfo" },
		{ &nvml.power, "nvmlDeviceGetPowerUsage" },
		{ &nvml.temperature, "nvmlDeviceGetTemperature" },
		{ &nvml.reasons, "nvmlDeviceGetCurrentClocksEventReasons" },
		{ &nvml.text, "nvmlErrorString" },
	};

	if (!h)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		void *f = dlsym(h, all[i].name);

		memcpy(all[i].to, &f, sizeof(f));
	}
	if (!nvml.reasons) {	/* its name until 12.2 */
		void *f = dlsym(h, "nvmlDeviceGetCurrentClocksThrottleReasons");

		memcpy(&nvml.reasons, &f, sizeof(f));
	}
	return nvml.init && nvml.by_uuid;
}

static void series_send(const struct cuda_device *d, const struct nvml_watched *w, enum sensor s)
{
	struct tft_series series = {
		.id = atomic_load(&w->series[s]), .device = atomic_load(&d->id),
		.name = about[s].name, .unit = about[s].unit,
	};

	if (series.id)
		rt_emit_series(&series);
}

static void nvml_emit_value(const struct cuda_device *d, struct nvml_watched *w, enum sensor s,
			    int result, int64_t v)
{
	struct tft_counter counter = { .at_ns = rt_now_ns(), .value = v };

	if (result != NVML_OK) {
		if (w->misses[s] < TRIES)
			w->misses[s]++;
		return;
	}
	w->misses[s] = 0;
	if (!atomic_load(&w->series[s])) {
		atomic_store(&w->series[s], rt_series_id());
		series_send(d, w, s);
	}
	counter.series = atomic_load(&w->series[s]);
	rt_emit_counter(&counter);
}

static void nvml_emit_throttled(const struct cuda_device *d, struct nvml_watched *w, int result,
				unsigned long long now)
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(reasons) && result == NVML_OK; i++) {
		if (!(now & reasons[i].bit))
			continue;
		any = true;
		if (!(w->reasons & reasons[i].bit))
			cuda_tell(1, "%s (device %u) runs with lower clocks: %s", d->def.name,
				  d->number,
				  reasons[i].what);
	}
	nvml_emit_value(d, w, THROTTLED, result, any);
	if (result == NVML_OK)
		w->reasons = now;
}

#define ASKED(s, fn) (nvml.fn && w->misses[s] < TRIES)

static void read_device(const struct cuda_device *d, struct nvml_watched *w)
{
	struct nvml_usage usage = { 0 };
	struct nvml_memory memory = { 0 };
	unsigned long long why = 0;
	unsigned n = 0;
	int r;

	if (ASKED(USAGE, usage)) {
		r = nvml.usage(w->handle, &usage);
		nvml_emit_value(d, w, USAGE, r, usage.gpu);
	}
	if (ASKED(MEMORY, memory)) {
		r = nvml.memory(w->handle, &memory);
		nvml_emit_value(d, w, MEMORY, r, (int64_t)memory.used);
	}
	if (ASKED(SM, clock)) {
		r = nvml.clock(w->handle, CLOCK_SM, &n);
		nvml_emit_value(d, w, SM, r, n);
	}
	if (ASKED(MEMORY_CLOCK, clock)) {
		r = nvml.clock(w->handle, CLOCK_MEMORY, &n);
		nvml_emit_value(d, w, MEMORY_CLOCK, r, n);
	}
	if (ASKED(POWER, power)) {
		r = nvml.power(w->handle, &n);
		nvml_emit_value(d, w, POWER, r, (n + 500) / 1000);
	}
	if (ASKED(TEMPERATURE, temperature)) {
		r = nvml.temperature(w->handle, 0, &n);
		nvml_emit_value(d, w, TEMPERATURE, r, n);
	}
	if (ASKED(THROTTLED, reasons)) {
		r = nvml.reasons(w->handle, &why);
		nvml_emit_throttled(d, w, r, why);
	}
}

/* Reads only devices whose records have arrived, because this process works on them. */
static void read_all(void)
{
	struct cuda_device *d;

	for (unsigned i = 0; (d = device_at(i)); i++) {
		struct nvml_watched *w = &watched[i];
		int r;

		if (!atomic_load(&d->told) || !atomic_load(&d->used))
			continue;
		if (!w->asked) {
			w->asked = true;
			r = nvml.by_uuid(d->def.address, &w->handle);
			if (r != NVML_OK)
				w->handle = NULL;
			if (r != NVML_OK)
				cuda_tell(0, "no sensors of device %u: NVML says %s", d->number,
					  nvml.text ? nvml.text(r) : "no reason");
		}
		if (w->handle)
			read_device(d, w);
	}
}

static bool wait_second(void)
{
	struct timespec until;
	int64_t ns = rt_now_ns() + EVERY_NS;

	until.tv_sec = ns / 1000000000;
	until.tv_nsec = ns % 1000000000;
	pthread_mutex_lock(&lock);
	while (!atomic_load(&ended) && !pthread_cond_timedwait(&wake, &lock, &until))
		;
	pthread_mutex_unlock(&lock);
	return !atomic_load(&ended);
}

static void *nvml_thread(void *arg)
{
	int r;

	(void)arg;
	prctl(PR_SET_NAME, "tftop-nvml");
	if (!nvml_resolve())
		return NULL;
	r = nvml.init();
	if (r != NVML_OK) {
		cuda_tell(0, "no sensors: NVML says %s", nvml.text ? nvml.text(r) : "no reason");
		return NULL;
	}
	do {
		int64_t cpu_ns = rt_clock_ns(CLOCK_THREAD_CPUTIME_ID);

		if (rt_level() != TFT_LEVEL_OFF && !atomic_load(&cuda_dead))
			read_all();
		rt_own_time(rt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
	} while (wait_second());
	return NULL;
}

void nvml_wish(void)
{
	char value[16];
	const char *wish = rt_env("TFTOP_NVML", value, sizeof(value));

	if (wish && !strcmp(wish, "0"))
		atomic_store(&started, true);
}

void nvml_start(void)
{
	pthread_condattr_t clock;
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;

	if (atomic_exchange(&started, true))
		return;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &clock);
	if (pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&thread, &attr, nvml_thread, NULL))
		rt_dropped(1);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
}

void nvml_dump(void)
{
	struct cuda_device *d;

	for (unsigned i = 0; (d = device_at(i)); i++)
		for (int s = 0; s < SENSORS; s++)
			series_send(d, &watched[i], (enum sensor)s);
}

/* The thread is not waited for, because it may be inside the driver. */
void nvml_end(void)
{
	if (atomic_load(&started))
		atomic_store(&ended, true);
}
