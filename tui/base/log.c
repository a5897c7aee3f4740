/* SPDX-License-Identifier: MIT */
/* tftop's own log. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "model/base/util.h"
#include "tui/base/log.h"

static FILE *out;			/* NULL if no log is written */
static int64_t begin_ns;

bool log_open(const char *file)
{
	out = file ? fopen(file, "ae") : stderr;
	if (!out)
		return false;
	setvbuf(out, NULL, _IOLBF, 0);
	begin_ns = monotonic_ns();
	return true;
}

void log_line(const char *format, ...)
{
	int64_t since_us;
	va_list args;

	if (!out)
		return;
	since_us = (monotonic_ns() - begin_ns) / 1000;
	flockfile(out);
	fprintf(out, "%3" PRId64 ".%06" PRId64 " ", since_us / 1000000, since_us % 1000000);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fputc('\n', out);
	funlockfile(out);
}

