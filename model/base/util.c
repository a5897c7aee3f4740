/* SPDX-License-Identifier: MIT */
#include "model/base/heap.h"
#include "model/base/util.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- memory ---- */

static void die_of_memory(void)
{
	static const char text[] = "tftop: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(125);	/* there is nobody left to report it to */
	_exit(125);
}

void *xmalloc(size_t size)
{
	void *memory = heap_here ? heap_alloc(size) : malloc(size ? size : 1);

	if (!memory)
		die_of_memory();
	return memory;
}

void *xcalloc(size_t count, size_t size)
{
	size_t bytes;
	void *memory = NULL;

	if (!heap_here)
		memory = calloc(count ? count : 1, size ? size : 1);
	else if (!__builtin_mul_overflow(count, size, &bytes))
		memory = memset(xmalloc(bytes), 0, bytes);
	if (!memory)
		die_of_memory();
	return memory;
}

void *xrealloc(void *memory, size_t size)
{
	if (heap_has(memory))
		memory = heap_realloc(memory, size);
	else if (heap_here && !memory)
		memory = heap_alloc(size);
	else
		memory = realloc(memory, size ? size : 1);
	if (!memory)
		die_of_memory();
	return memory;
}

void *xreallocarray(void *memory, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		die_of_memory();
	return xrealloc(memory, bytes);
}

char *xstrndup(const char *text, size_t max)
{
	size_t length = strnlen(text, max);
	char *copy = xmalloc(length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *xasprintf(const char *format, ...)
{
	struct strbuf buf;
	va_list args;

	strbuf_init(&buf);
	va_start(args, format);
	strbuf_vaddf(&buf, format, args);
	va_end(args);
	return strbuf_detach(&buf);
}

const char *path_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t done = write(fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		size -= (size_t)done;
	}
	return true;
}

int64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void grow(void *memory, size_t *cap, size_t count, size_t size)
{
	void **array = memory;

	if (count < *cap)
		return;
	*cap = *cap ? *cap * 2 : 8;
	*array = xreallocarray(*array, *cap, size);
}

/* ---- strbuf ---- */

void strbuf_init(struct strbuf *buf)
{
	buf->cap = 64;
	buf->data = xmalloc(buf->cap);
	strbuf_reset(buf);
}

void strbuf_release(struct strbuf *buf)
{
	free(buf->data);
	buf->data = NULL;
	buf->length = buf->cap = 0;
}

void strbuf_reset(struct strbuf *buf)
{
	buf->length = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

static void strbuf_room(struct strbuf *buf, size_t more)
{
	size_t need;

	if (__builtin_add_overflow(buf->length, more, &need) || need == SIZE_MAX)
		die_of_memory();
	if (need < buf->cap)
		return;
	buf->cap = need + 1 > buf->cap * 2 ? need + 1 : buf->cap * 2;
	buf->data = xrealloc(buf->data, buf->cap);
}

void strbuf_add(struct strbuf *buf, const void *data, size_t size)
{
	strbuf_room(buf, size);
	if (size)
		memcpy(buf->data + buf->length, data, size);
	buf->length += size;
	buf->data[buf->length] = '\0';
}

void strbuf_adds(struct strbuf *buf, const char *text)
{
	strbuf_add(buf, text, strlen(text));
}

void strbuf_addc(struct strbuf *buf, char c)
{
	strbuf_add(buf, &c, 1);
}

void strbuf_vaddf(struct strbuf *buf, const char *format, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	strbuf_room(buf, 0);
	n = vsnprintf(buf->data + buf->length, buf->cap - buf->length, format, args);
	if (n > 0 && (size_t)n >= buf->cap - buf->length) {
		strbuf_room(buf, (size_t)n);
		n = vsnprintf(buf->data + buf->length, buf->cap - buf->length, format, again);
	}
	va_end(again);
	if (n > 0)
		buf->length += (size_t)n;
	buf->data[buf->length] = '\0';
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_vaddf(buf, format, args);
	va_end(args);
}

char *strbuf_detach(struct strbuf *buf)
{
	char *data;

	strbuf_room(buf, 0);
	data = buf->data;
	buf->data = NULL;		/* nothing to release; the next addition allocates */
	buf->length = buf->cap = 0;
	return data;
}

/* ---- numbers ---- */

/*
 * Writes value / unit with `digits` significant digits, rounded to nearest, without floating point.
 * Returns false if rounding gives 1000 units or more: then the caller takes the next unit.
 */
static bool fmt_significant(char *buf, size_t size, uint64_t value, uint64_t unit, int digits,
			    uint64_t limit)
{
	static const uint64_t tens[] = { 1, 10, 100, 1000 };
	int decimals;

	for (decimals = digits - 1; decimals >= 0; decimals--) {
		__uint128_t scaled = ((__uint128_t)value * tens[decimals] + unit / 2) / unit;
		uint64_t whole = (uint64_t)(scaled / tens[decimals]);
		uint64_t rest = (uint64_t)(scaled % tens[decimals]);
		int before = whole >= 100 ? 3 : whole >= 10 ? 2 : 1;

		if (before + decimals > digits && decimals > 0)
			continue;
		if (whole >= limit)
			return false;
		if (decimals)
			snprintf(buf, size, "%llu.%0*llu", (unsigned long long)whole, decimals & 3,
				 (unsigned long long)rest);
		else
			snprintf(buf, size, "%llu", (unsigned long long)whole);
		return true;
	}
	return false;
}

static char *format_time(char *buf, int64_t ns, int digits)
{
	static const struct { uint64_t ns; const char *name; uint64_t limit; } units[] = {
		{ 1000, "µs", 1000 }, { 1000000, "ms", 1000 }, { 1000000000, "s", 100 },
	};
	uint64_t value = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	const char *sign = ns < 0 ? "-" : "";
	char number[48];
	uint64_t s = value / 1000000000;

	if (value < 1000) {
		snprintf(buf, FMT_MAX, "%s%d ns", sign, (int)value);
		return buf;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (fmt_significant(number, sizeof(number), value, units[i].ns, digits,
				    units[i].limit)) {
			snprintf(buf, FMT_MAX, "%s%s %s", sign, number, units[i].name);
			return buf;
		}
	if (s < 3600)
		snprintf(buf, FMT_MAX, "%s%um%02us", sign, (unsigned)(s / 60), (unsigned)(s % 60));
	else
		snprintf(buf, FMT_MAX, "%s%lluh%02um", sign, (unsigned long long)(s / 3600),
			 (unsigned)(s / 60 % 60));
	return buf;
}

char *fmt_time(char buf[FMT_MAX], int64_t ns)
{
	return format_time(buf, ns, 3);
}

char *fmt_time_fine(char buf[FMT_MAX], int64_t ns)
{
	return format_time(buf, ns, 4);
}

char *fmt_clock(char buf[FMT_MAX], int64_t ns)
{
	uint64_t tenths = ((ns < 0 ? -(uint64_t)ns : (uint64_t)ns) + 50000000) / 100000000;

	snprintf(buf, FMT_MAX, "%s%llu:%02u:%02u.%u", ns < 0 ? "-" : "",
		 (unsigned long long)(tenths / 36000), (unsigned)(tenths / 600 % 60),
		 (unsigned)(tenths / 10 % 60), (unsigned)(tenths % 10));
	return buf;
}

char *fmt_count(char buf[FMT_MAX], uint64_t n)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	size_t at = 0;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buf[at++] = ' ';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

char *fmt_many(char buf[FMT_MAX], uint64_t n, const char *one)
{
	size_t length = strlen(one), at;
	char last = length ? one[length - 1] : '\0', before = length > 1 ? one[length - 2] : '\0';
	bool ies = last == 'y' && !strchr("aeiou", before);
	bool es = last == 's' || last == 'x' || (last == 'h' && (before == 'c' || before == 's'));

	at = strlen(fmt_count(buf, n));
	if (n == 1)
		snprintf(buf + at, FMT_MAX - at, " %s", one);
	else
		snprintf(buf + at, FMT_MAX - at, " %.*s%s", (int)(length - ies), one,
			 ies ? "ies" : es ? "es" : "s");
	return buf;
}

/* Scales by powers of `base`; the first unit is written without decimals. */
static char *format_scaled(char *buf, uint64_t n, uint64_t base, const char *const *units,
			   size_t count, uint64_t plain)
{
	char number[48];
	uint64_t unit = 1;

	if (n < plain) {
		snprintf(buf, FMT_MAX, "%u%s", (unsigned)n, units[0]);
		return buf;
	}
	for (size_t i = 1; i < count; i++) {
		unit *= base;
		if (fmt_significant(number, sizeof(number), n, unit, 3,
				    i + 1 < count ? base : UINT64_MAX)) {
			snprintf(buf, FMT_MAX, "%s%s", number, units[i]);
			return buf;
		}
	}
	snprintf(buf, FMT_MAX, "%llu%s", (unsigned long long)(n / unit), units[count - 1]);
	return buf;
}

char *fmt_bytes(char buf[FMT_MAX], uint64_t bytes)
{
	static const char *const units[] = { " B", " KiB", " MiB", " GiB", " TiB", " PiB" };

	return format_scaled(buf, bytes, 1024, units, 6, 1024);
}

char *fmt_rate(char buf[FMT_MAX], uint64_t bytes_per_s)
{
	static const char *const units[] = { " B/s", " kB/s", " MB/s", " GB/s", " TB/s", " PB/s" };

	return format_scaled(buf, bytes_per_s, 1000, units, 6, 1000);
}

char *fmt_all_bytes(char buf[FMT_MAX], uint64_t bytes)
{
	size_t length = strlen(fmt_count(buf, bytes));

	snprintf(buf + length, FMT_MAX - length, " byte%s", bytes == 1 ? "" : "s");
	return buf;
}

char *fmt_tenths(char buf[FMT_MAX], uint64_t tenths)
{
	snprintf(buf, FMT_MAX, "%llu.%u", (unsigned long long)(tenths / 10),
		 (unsigned)(tenths % 10));
	return buf;
}

char *fmt_gflop(char buf[FMT_MAX], uint64_t flop_per_s)
{
	if (!flop_per_s || flop_per_s >= 100000000)
		return fmt_tenths(buf, flop_per_s / 100000000);
	snprintf(buf, FMT_MAX, "<0.1");
	return buf;
}

char *fmt_counter(char buf[FMT_MAX], int64_t value, const char *unit)
{
	bool negative = value < 0;
	uint64_t n = negative ? -(uint64_t)value : (uint64_t)value;
	char text[FMT_MAX];

	if (strcmp(unit, "ns") == 0)
		return fmt_time(buf, value);
	if (strcmp(unit, "bytes") == 0)
		fmt_bytes(text, n);
	else if (strcmp(unit, "bytes/s") == 0)
		fmt_rate(text, n);
	else if (strcmp(unit, "1/1000") == 0)
		snprintf(text, sizeof(text), "%" PRIu64 ".%u %%", n / 10, (unsigned)(n % 10));
	else
		fmt_count(text, n);
	snprintf(buf, FMT_MAX, "%s%.40s", negative ? "-" : "", text);
	n = strlen(buf);
	if (*unit && strcmp(unit, "bytes") != 0 && strcmp(unit, "bytes/s") != 0 &&
	    strcmp(unit, "1/1000") != 0)
		snprintf(buf + n, FMT_MAX - n, " %.16s", unit);
	return buf;
}

char *fmt_per_second(char buf[FMT_MAX], int64_t period_ns)
{
	uint64_t tenths = period_ns > 0 ? UINT64_C(10000000000) / (uint64_t)period_ns : 0;

	buf[0] = '\0';
	if (period_ns > 0)
		snprintf(buf, FMT_MAX, "%llu.%u", (unsigned long long)(tenths / 10),
			 (unsigned)(tenths % 10));
	return buf;
}

char *fmt_share(char buf[FMT_MAX], uint64_t part, uint64_t whole)
{
	uint64_t tenths;

	if (!whole) {
		snprintf(buf, FMT_MAX, "-");
		return buf;
	}
	tenths = (uint64_t)(((__uint128_t)part * 1000 + whole / 2) / whole);
	if (!tenths && part)
		snprintf(buf, FMT_MAX, "<0.1 %%");
	else if (tenths >= 100)
		snprintf(buf, FMT_MAX, "%llu %%",
			 (unsigned long long)(((__uint128_t)part * 100 + whole / 2) / whole));
	else
		snprintf(buf, FMT_MAX, "%u.%u %%", (unsigned)(tenths / 10),
			 (unsigned)(tenths % 10));
	return buf;
}

/* ---- parsing ---- */

bool parse_scaled(const char *text, const struct unit *units, uint64_t *out)
{
	uint64_t whole = 0, rest = 0, scale = 1;
	__uint128_t value;
	bool digits = false;

	for (; isdigit((unsigned char)*text); text++, digits = true)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole))
			return false;
	if (*text == '.')
		for (text++; isdigit((unsigned char)*text); text++, digits = true) {
			if (scale >= 1000000000)
				return false;
			scale *= 10;
			rest = rest * 10 + (uint64_t)(*text - '0');
		}
	if (!digits)
		return false;
	for (; units->name; units++)
		if (strcmp(text, units->name) == 0)
			break;
	if (!units->name)
		return false;
	value = (__uint128_t)whole * units->factor + (__uint128_t)rest * units->factor / scale;
	if (value > INT64_MAX)
		return false;
	*out = (uint64_t)value;
	return true;
}

bool parse_time_ns(const char *text, int64_t *ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "µs", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { "", 1000000000 }, { "m", 60000000000 },
		{ "h", 3600000000000 }, { NULL, 0 },
	};
	uint64_t value;

	if (!parse_scaled(text, units, &value))
		return false;
	*ns = (int64_t)value;
	return true;
}

bool parse_size_bytes(const char *text, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "", 1 }, { "k", 1 << 10 }, { "K", 1 << 10 }, { "M", 1 << 20 },
		{ "G", 1 << 30 }, { "T", 1ull << 40 }, { NULL, 0 },
	};

	return parse_scaled(text, units, bytes);
}
