/* SPDX-License-Identifier: MIT */
/*
 * Small helpers of tftop itself (model, screen, tftop's end of the session). Probe libraries
 * must not use them: the x functions end the process when memory runs out, which is acceptable
 * for tftop and not for other people's programs.
 *
 * Threads: no state, any thread. The fmt functions write to the caller's buffer and return it,
 * so that they can be arguments of printf; their text is UTF-8 ("µs"), at most FMT_MAX - 1
 * bytes long, and independent of the locale.
 */
#ifndef MODEL_UTIL_H
#define MODEL_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- memory: never NULL; when memory runs out, a message on stderr and status 125 ---- */

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *memory, size_t size);
void *xreallocarray(void *memory, size_t count, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t max);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The last part of a path: "loader.py" of "/home/me/loader.py". Borrowed from it. */
const char *path_last(const char *path);

/* All bytes, however many write() takes at a time; false and errno: not all. */
bool write_all(int fd, const void *data, size_t size);

/* CLOCK_MONOTONIC. */
int64_t monotonic_ns(void);

/*
 * Makes room for one more element in a growing array: *memory has room for *cap elements of `size`
 * bytes, of which `count` are used. Doubles the room.
 */
void grow(void *memory, size_t *cap, size_t count, size_t size);

/* For comparators of qsort(): the order by a member of what x and y point to. With the GNU operator
 * ?: between two orders, the second one counts where the first says that x and y are equal. */
#define ASCENDING(x, y, member) (((x)->member > (y)->member) - ((x)->member < (y)->member))
#define DESCENDING(x, y, member) ASCENDING(y, x, member)

/*
 * The first index from `begin` on for which `before` is not true; `end` if there is none.
 * `before` is an expression with the index i, true up to some index and false from there on.
 */
#define FIRST_NOT(i, begin, end, before) ({ \
	__typeof__((end) + 0u) low_ = (begin), high_ = (end); \
	while (low_ < high_) { \
		__typeof__(low_) i = low_ + (high_ - low_) / 2; \
		if (before) \
			low_ = i + 1; \
		else \
			high_ = i; \
	} \
	low_; \
})

/* The index of the first of n elements, sorted by start_ns, that starts at t_ns or later; n: there
 * is none. list may be NULL if n is 0. */
#define FIRST_FROM(list, n, t_ns) \
	first_from(list, n, sizeof(*(list)), offsetof(__typeof__(*(list)), start_ns), t_ns)

static inline size_t first_from(const void *list, size_t n, size_t size, size_t offset,
				int64_t t_ns)
{
	const char *first = (const char *)list + offset;

	return FIRST_NOT(i, 0, n, *(const int64_t *)(first + i * size) < t_ns);
}

/* ---- a growing string, always NUL-terminated after strbuf_init ---- */

struct strbuf {
	char *data;			/* owned */
	size_t length, cap;
};

void strbuf_init(struct strbuf *buf);
void strbuf_release(struct strbuf *buf);
void strbuf_reset(struct strbuf *buf);	/* empties the string and keeps its memory */
void strbuf_add(struct strbuf *buf, const void *data, size_t size);
void strbuf_adds(struct strbuf *buf, const char *text);
void strbuf_addc(struct strbuf *buf, char c);
void strbuf_addf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *buf, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* the caller frees the result; buf is empty again */
char *strbuf_detach(struct strbuf *buf);

/* ---- numbers in a readable form ---- */

#define FMT_MAX 64

/* Three significant digits and a unit: "850 ns", "6.10 µs", "80.6 ms", "4.26 s", "3m07s", "2h05m".
 * Negative values have a "-". */
char *fmt_time(char buf[FMT_MAX], int64_t ns);
/* Four significant digits: "13.41 ms". */
char *fmt_time_fine(char buf[FMT_MAX], int64_t ns);
/* A time since the start: "0:00:27.9". */
char *fmt_clock(char buf[FMT_MAX], int64_t ns);
/* All digits in groups of three: "51 380 224". */
char *fmt_count(char buf[FMT_MAX], uint64_t n);
/* The count and its noun: "1 event", "51 380 224 events". one: the singular, at most 30 bytes, with
 * a regular plural (including -ies and -es). */
char *fmt_many(char buf[FMT_MAX], uint64_t n, const char *one);
/* Powers of 1024: "512 B", "40.0 KiB", "1.50 GiB". */
char *fmt_bytes(char buf[FMT_MAX], uint64_t bytes);
/* Powers of 1000: "12.5 GB/s". */
char *fmt_rate(char buf[FMT_MAX], uint64_t bytes_per_s);
/* "17.8": how often per second something comes every period_ns; "" if that is not positive. */
char *fmt_per_second(char buf[FMT_MAX], int64_t period_ns);
/* "1 byte", "51 380 224 bytes". */
char *fmt_all_bytes(char buf[FMT_MAX], uint64_t bytes);
/* "3.0": 30 tenths. */
char *fmt_tenths(char buf[FMT_MAX], uint64_t tenths);
/* 10^9 operations per second: "12.3", "<0.1". */
char *fmt_gflop(char buf[FMT_MAX], uint64_t flop_per_s);
/* A counter's value in its unit (as in struct tft_series): "1/1000" becomes per cent, bytes and ns
 * are scaled, and other units follow the number. */
char *fmt_counter(char buf[FMT_MAX], int64_t value, const char *unit);
/* `part` as a percentage of `whole`: "26 %", "0.9 %" below 10, "<0.1 %" for a small part that is
 * not 0, "-" if whole is 0. */
char *fmt_share(char buf[FMT_MAX], uint64_t part, uint64_t whole);

/* Bytes per second; 0 if ns is 0; saturates. */
static inline uint64_t bytes_per_s(uint64_t bytes, int64_t ns)
{
	__uint128_t rate;

	if (ns <= 0)
		return 0;
	if (bytes <= UINT64_MAX / 1000000000u)
		return bytes * 1000000000u / (uint64_t)ns;
	rate = (__uint128_t)bytes * 1000000000u / (uint64_t)ns;
	return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}

/* The same for floating-point operations. */
static inline uint64_t flop_per_s(uint64_t flop, int64_t ns)
{
	return bytes_per_s(flop, ns);
}

struct unit {
	const char *name;
	uint64_t factor;
};

/* Parses "3.5ms": digits, at most nine decimals, a unit of the table (NULL ends it). At most
 * INT64_MAX. The whole text must match; false: it is not a value. */
bool parse_scaled(const char *text, const struct unit *units, uint64_t *out);
/* Parses times such as "250ns 10us 3.5ms 2s 1m 1h" (a number without a unit is in seconds), and
 * sizes such as "4k 64M 2G" with powers of 1024. Returns as parse_scaled(). */
bool parse_time_ns(const char *text, int64_t *ns);
bool parse_size_bytes(const char *text, uint64_t *bytes);

#endif
