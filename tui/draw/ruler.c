/* SPDX-License-Identifier: MIT */
#include "tui/draw/ruler.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

int64_t ruler_step(int64_t least_ns)
{
	static const int64_t clock[] = {
		MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 20 * MINUTE, 30 * MINUTE,
		HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR,
	};
	int64_t step = 1;
	size_t i;

	while (step < 50 * SECOND) {
		static const int64_t factors[] = { 1, 2, 5 };

		for (i = 0; i < 3; i++)
			if (step * factors[i] >= least_ns && step * factors[i] < MINUTE)
				return step * factors[i];
		step *= 10;
	}
	for (i = 0; i < sizeof(clock) / sizeof(clock[0]); i++)
		if (clock[i] >= least_ns)
			return clock[i];
	for (step = 24 * HOUR; step < least_ns && step < INT64_MAX / 2; step *= 2)
		;
	return step;
}

void ruler_time(char *out, size_t size, int64_t ns, int64_t step)
{
	int digits = step >= SECOND ? 0 : step >= MS ? 3 : step >= 100 * US ? 4 :
		     step >= US ? 6 : 9;
	uint64_t value = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	const char *sign = ns < 0 ? "-" : "";
	uint64_t s = value / SECOND, rest = value % SECOND;
	char fraction[24] = "";
	int i;

	for (i = digits; i < 9; i++)
		rest /= 10;
	if (digits)
		snprintf(fraction, sizeof(fraction), ".%0*" PRIu64, digits, rest);
	if (s >= 3600)
		snprintf(out, size, "%s%" PRIu64 ":%02u:%02u%s", sign, s / 3600,
			 (unsigned)(s / 60 % 60), (unsigned)(s % 60), fraction);
	else if (s >= 60)
		snprintf(out, size, "%s%u:%02u%s", sign, (unsigned)(s / 60), (unsigned)(s % 60),
			 fraction);
	else
		snprintf(out, size, "%s%u%s s", sign, (unsigned)s, fraction);
}

/* Formats the offset in the largest unit in which it is at least 1: "+800 ms", "+1 s", "+1.2 s". */
static void short_offset(char *out, size_t size, int64_t ns)
{
	static const struct { int64_t ns; const char *name; } units[] = {
		{ SECOND, "s" }, { MS, "ms" }, { US, "µs" }, { 1, "ns" },
	};
	char fraction[16] = "";
	int i = 0;

	while (ns < units[i].ns && i < 3)
		i++;
	if (ns % units[i].ns)
		snprintf(fraction, sizeof(fraction), ".%03d",
			 (int)(ns % units[i].ns * 1000 / units[i].ns));
	for (size_t end = strlen(fraction); end && fraction[end - 1] == '0'; )
		fraction[--end] = '\0';
	snprintf(out, size, "+%" PRId64 "%s %s", ns / units[i].ns, fraction, units[i].name);
}

static void offset_text(char *out, size_t size, int64_t ns, int64_t step)
{
	if (step >= HOUR)
		snprintf(out, size, "+%" PRId64 "h%02" PRId64 "m", ns / HOUR, ns / MINUTE % 60);
	else if (step >= MINUTE)
		snprintf(out, size, "+%" PRId64 " min", ns / MINUTE);
	else
		short_offset(out, size, ns);
}

static int64_t floor_to(int64_t value, int64_t step)
{
	int64_t rest = value % step;

	return value - (rest < 0 ? rest + step : rest);
}

void ruler_layout(struct ruler *ruler, int64_t t0_ns, int64_t w_ns, size_t columns,
		  int64_t base_ns)
{
	int64_t first, at, end;

	memset(ruler, 0, sizeof(*ruler));
	if (w_ns <= 0 || columns == 0 || w_ns > INT64_MAX / 4 / (int64_t)(columns + RULER_GAP))
		return;
	ruler->step_ns = ruler_step(w_ns * RULER_GAP);
	end = t0_ns + w_ns * (int64_t)columns;
	first = floor_to(t0_ns - base_ns, ruler->step_ns) + base_ns;
	if (first < t0_ns)
		first += ruler->step_ns;
	for (at = first; at < end && ruler->count < RULER_TICKS; at += ruler->step_ns) {
		struct ruler_tick *tick = &ruler->ticks[ruler->count++];

		tick->column = (size_t)((at - t0_ns) / w_ns);
		tick->time_ns = at;
		if (at == first)
			ruler_time(tick->text, sizeof(tick->text), at - base_ns, ruler->step_ns);
		else
			offset_text(tick->text, sizeof(tick->text), at - first, ruler->step_ns);
	}
}

/* Whether nothing is drawn there yet: a time that is partly covered would read as another time. */
static bool is_blank(struct area area, int x, int width)
{
	int i;

	for (i = x; i < x + width && i < area.width; i++)
		if (area.grid->cells[area.y * area.grid->width + area.x + i].ch != ' ')
			return false;
	return true;
}

void ruler_draw_folded(struct area area, int64_t columns, bool ascii)
{
	static const char word[] = "folded";
	int line = columns <= area.width ? (int)columns - 1 : area.width, length = sizeof(word) - 1;

	if (columns < 1 || area.height < 1)
		return;
	if (line < area.width && is_blank(area, line, 1))
		area_put(area, line, 0, ascii ? '<' : 0x2524, ROLE_WARN, ROLE_DEFAULT, 0);
	if (line >= length && is_blank(area, line - length, length))
		area_text(area, line - length, 0, ROLE_MUTED, ATTR_DIM, word);
}

void ruler_draw_clock(struct area area, int64_t column, bool ascii)
{
	static const char word[] = "clock";
	int x = (int)column, length = sizeof(word) - 1;

	if (column < 0 || column >= area.width || area.height < 1)
		return;
	area_put(area, x, 0, ascii ? '!' : 0x2260, ROLE_WARN, ROLE_DEFAULT, ATTR_BOLD);
	if (x + 1 + length <= area.width && is_blank(area, x + 1, length))
		area_text(area, x + 1, 0, ROLE_WARN, 0, word);
}

void ruler_draw_step(struct area area, int64_t column, int64_t number)
{
	int x = (int)column, width;
	char text[24];

	width = snprintf(text, sizeof(text), "#%" PRId64, number);
	if (column < 0 || column + width > area.width || area.height < 1 ||
	    !is_blank(area, x ? x - 1 : 0, width + 1 + (x > 0)))
		return;
	area_text(area, x, 0, ROLE_MUTED, ATTR_DIM, text);
}

void ruler_draw(const struct ruler *ruler, struct area area, bool ascii)
{
	int free_from = 0;
	size_t i;

	if (area.height < 1)
		return;
	for (i = 0; i < ruler->count; i++) {
		const struct ruler_tick *tick = &ruler->ticks[i];
		int x = (int)tick->column;

		if (x < free_from || x >= area.width || !is_blank(area, x ? x - 1 : 0, 3))
			continue;
		area_put(area, x, 0, ascii ? '|' : 0x2577, ROLE_MUTED, ROLE_DEFAULT, 0);
		free_from = x + 1;
		/* A time that is cut off would read as another time. */
		if (x + 1 + text_width(tick->text) > area.width ||
		    !is_blank(area, x + 1, text_width(tick->text) + 1))
			continue;
		free_from = area_text(area, x + 1, 0, ROLE_MUTED, 0, tick->text) + 1;
	}
}
