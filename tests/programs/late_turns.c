/* SPDX-License-Identifier: MIT */
/*
 * late_turns PROBE: a program that tftops come to and go from, as it is told on stdin, a
 * command a line; it says "ok" when one is done.
 *	attach CONTROL HOME	brings the probe in for the tftop behind them ("-": as it is)
 *	again CONTROL HOME	the same for the probes that are there
 *	mark NAME N		N ranges of that name on a thread of their own and on this one
 *	off			waits until the probe is out of the way and has written all
 * PLAIN: without NVTX. Ends with 0.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#ifndef PLAIN
#include "tests/probes/nvtx_double.h"
#endif
#include "tests/programs/late.h"

#ifndef PLAIN
static char name[64];
static int ranges;

static void *mark(void *unused)
{
	(void)unused;
	for (int i = 0; i < ranges; i++) {
		nvtxRangePushA(name);
		nvtxRangePop();
	}
	return NULL;
}

static void marks(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, mark, NULL);
	pthread_join(thread, NULL);
	mark(NULL);
}

/* Whether nothing is written any more, see rt_armed of probes/runtime/internal.h. */
static bool unarmed(const char *probe)
{
	void *library = dlopen(probe, RTLD_NOW | RTLD_LOCAL);
	_Atomic uint32_t *armed = library ? dlsym(library, "rt_armed") : NULL;

	return armed && !*armed;
}

static bool off(const char *probe)
{
	for (int i = 0; i < 10000; i++) {
		struct timespec ms = { 0, 1000000 };

		if (nvtxRangePushA("still-on") != NVTX_NO_TRACKING)
			nvtxRangePop();
		else if (unarmed(probe))
			return true;
		nanosleep(&ms, NULL);
	}
	return false;
}
#endif

int main(int argc, char **argv)
{
	char line[9000], one[4096], two[4096];

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
#ifndef PLAIN
	nvtxInitialize(NULL);
#endif
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "attach %4095s %4095s", one, two) == 2 ||
		    sscanf(line, "again %4095s %4095s", one, two) == 2) {
			if (strcmp(one, "-"))
				setenv("TFTOP_CONTROL", one, 1);
			if (strcmp(two, "-"))
				setenv("LTTNG_HOME", two, 1);
			if (late_call(argv[1], line[1] == 't' ? "tftop_probe_attach" :
							"tftop_runtime_attach")) {
				puts("no");
				continue;
			}
#ifndef PLAIN
		} else if (sscanf(line, "mark %63s %d", name, &ranges) == 2) {
			marks();
		} else if (!strncmp(line, "off", 3) && !off(argv[1])) {
			puts("still on");
			continue;
#endif
		}
		puts("ok");
	}
	return 0;
}
