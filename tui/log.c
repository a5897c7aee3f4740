/* SPDX-License-Identifier: MIT */
/* tftop's own log. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "tui/log.h"

static FILE *out;			/* NULL: no log */
static int64_t begin_ns;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool log_open(const char *file)
{
	out = file ? fopen(file, "ae") : stderr;
	if (!out)
		return false;
	setvbuf(out, NULL, _IOLBF, 0);
	begin_ns = now_ns();
	return true;
}

void log_line(const char *format, ...)
{
	int64_t since_us;
	va_list args;

	if (!out)
		return;
	since_us = (now_ns() - begin_ns) / 1000;
	flockfile(out);
	fprintf(out, "%3" PRId64 ".%06" PRId64 " ", since_us / 1000000, since_us % 1000000);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fputc('\n', out);
	funlockfile(out);
}

