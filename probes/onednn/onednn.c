/* SPDX-License-Identifier: MIT */
/* See onednn.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/imports/imports.h"
#include "probes/onednn/onednn.h"
#include "probes/runtime/cpu.h"
#include "probes/runtime/hash.h"

/* errors are written as without the variable */
#define WANTED "error,profile_exec,profile_create"
#define PREFIX "onednn_verbose"
#define ERRORS 0x4u		/* the bits that oneDNN sets for these words */
#define CREATED 0x20u
#define RUN 0x80u
#define MANY 400		/* per WINDOW_NS: 2 % of a core */
#define WINDOW_NS 100000000
#define DEAF_NS 250000000	/* it writes its first lines at once */
#define BEGIN_BYTES 4096
#define NAME_BYTES 192
#define SHAPE_BYTES 512
#define CACHE 1024u		/* a power of two */
#define RAN "%sprimitive,exec%s,%s,%g\n"	/* see onednn_take_parts() */
#define MADE "%sprimitive,create%s,%s,%g\n"
#define LONGEST_MS 86400000.0	/* a day */

/* ---- imports of the library ---- */

static _Atomic bool asked;		/* its lines have been requested */
static bool by_printf;			/* they arrive at printf(), not at a sink */
static const void *library;		/* an address in the library */
static _Atomic uint64_t lines;		/* number of lines about primitives that ran */
static bool many;			/* used by the thread that ticks */
static atomic_bool looked;
static _Atomic(_Atomic uint32_t *) writes;
static _Atomic int program;		/* what the program has requested since */
enum { NOTHING, LINES, SILENCE };
static char begin[BEGIN_BYTES];		/* what it wrote without using the sink */
static _Atomic size_t begin_bytes;

static char *our_getenv(const char *name)
{
	char *value = getenv(name);

	if (value || !name || strcmp(name, "ONEDNN_VERBOSE") || getenv("DNNL_VERBOSE") ||
	    rt_level() == TFT_LEVEL_OFF)
		return value;
	atomic_store(&asked, true);
	return (char *)(uintptr_t)WANTED;
}

/* Keeps its first lines, which are needed only before an error. */
static void keep(const char *text)
{
	size_t n = strlen(text), at = atomic_fetch_add(&begin_bytes, n);

	if (at + n < sizeof(begin))
		memcpy(begin + at, text, n);
	else
		atomic_store(&begin_bytes, sizeof(begin));
}

/* About the line that the thread writes: it was taken before it was composed and is empty; it was
 * removed and need not be flushed. */
static _Thread_local bool taken, flushes;

/* The line that is about to be printed; NULL: it does not come from oneDNN. */
static const char *onednn_line_of(char *buf, size_t size, const char *format, va_list args,
				  int *length)
{
	const char *text = buf;
	va_list copy;

	if (*format != '%' && *format != *PREFIX)
		return NULL;
	va_copy(copy, args);
	if (!strcmp(format, "%s")) {
		text = va_arg(copy, const char *);
		*length = text ? (int)strlen(text) : -1;
	} else {
		*length = vsnprintf(buf, size, format, copy);
	}
	va_end(copy);
	if (!*length && taken)
		return text;
	return *length >= 0 && !strncmp(text, PREFIX, sizeof(PREFIX) - 1) ? text : NULL;
}

static bool take_back(const char *format, va_list args, int *written)
{
	char buf[1024];
	int saved = errno;
	const char *line;

	flushes = false;
	if (!by_printf && !atomic_load(&asked))
		return false;
	line = onednn_line_of(buf, sizeof(buf), format, args, written);
	taken = false;
	if (line && by_printf)
		flushes = !onednn_line(line);
	else if (line)
		keep(line);
	errno = saved;
	return line && (!by_printf || flushes);
}

__attribute__((format(printf, 1, 2)))
static int our_printf(const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	if (!take_back(format, args, &n))
		n = vprintf(format, args);
	va_end(args);
	return n;
}

__attribute__((format(printf, 2, 3)))
static int our_printf_chk(int flag, const char *format, ...)
{
	va_list args;
	int n;

	(void)flag;
	va_start(args, format);
	if (!take_back(format, args, &n))
		n = vprintf(format, args);
	va_end(args);
	return n;
}

static int our_fflush(FILE *file)
{
	if (!flushes || file != stdout)
		return fflush(file);
	flushes = false;
	return 0;
}

/* ---- lines ---- */

struct ids {
	uint32_t name, shape;
};

static struct ids onednn_make_ids(const struct onednn_line *l)
{
	struct tft_shape shape = { .dims = 0 };
	char name[NAME_BYTES], text[SHAPE_BYTES];
	struct ids ids;

	snprintf(name, sizeof(name), "%.*s%s%.*s", l->kind.length, l->kind.text,
		 l->implementation.length ? " " : "", l->implementation.length,
		 l->implementation.text);
	snprintf(text, sizeof(text), "%.*s%s%.*s", l->shape.length, l->shape.text,
		 l->direction.length ? " " : "", l->direction.length, l->direction.text);
	ids.name = rt_name(TFT_NAME_KERNEL, name);
	shape.text = rt_name(TFT_NAME_OTHER, text);
	ids.shape = rt_shape(&shape);
	return ids;
}

/* The same few primitives run again and again: their ids are cached by a hash of the line without
 * its time. */
static struct {
	_Atomic uint64_t hash, ids;
} cache[CACHE];

static uint64_t hash(const char *p, size_t n)
{
	return rt_hash_bytes(p, n, 0) | 1;
}

static bool kept_ids(uint64_t h, struct ids *ids)
{
	uint32_t at = (uint32_t)(h >> 20) & (CACHE - 1);
	uint64_t got;

	if (atomic_load_explicit(&cache[at].hash, memory_order_acquire) != h)
		return false;
	got = atomic_load_explicit(&cache[at].ids, memory_order_relaxed);
	rt_fence(memory_order_acquire);
	*ids = (struct ids){ (uint32_t)(got >> 32), (uint32_t)got };
	return atomic_load_explicit(&cache[at].hash, memory_order_relaxed) == h;
}

static void keep_ids(uint64_t h, struct ids ids)
{
	uint32_t at = (uint32_t)(h >> 20) & (CACHE - 1);

	atomic_store_explicit(&cache[at].hash, 0, memory_order_relaxed);
	rt_fence(memory_order_release);
	atomic_store_explicit(&cache[at].ids, (uint64_t)ids.name << 32 | ids.shape,
			      memory_order_relaxed);
	atomic_store_explicit(&cache[at].hash, h, memory_order_release);
}

static void tell(struct ids ids, int64_t dur_ns)
{
	struct rt_cpu_kernel kernel = {
		.name = ids.name, .shape = ids.shape, .start_ns = 0, .dur_ns = dur_ns,
	};

	atomic_fetch_add_explicit(&lines, 1, memory_order_relaxed);
	rt_cpu_ran(RT_LIBRARY_ONEDNN, &kernel);
}

static void created(const struct onednn_line *l)
{
	struct tft_compile c = { .dur_ns = l->dur_ns, .log = "" };
	char what[NAME_BYTES + 16], options[SHAPE_BYTES];

	snprintf(what, sizeof(what), "oneDNN %.*s %.*s", l->kind.length, l->kind.text,
		 l->implementation.length, l->implementation.text);
	snprintf(options, sizeof(options), "%.*s", l->shape.length, l->shape.text);
	c.start_ns = rt_now_ns() - l->dur_ns;
	c.what = what;
	c.options = options;
	rt_emit_compile(&c);
}

/* false: the line is not about a primitive. */
static bool onednn_take_line(const char *text)
{
	struct onednn_line line;
	struct ids ids;
	uint64_t h;

	if (rt_level() == TFT_LEVEL_OFF || !onednn_parse(text, &line))
		return false;
	if (line.created) {
		created(&line);
		return true;
	}
	h = hash(line.kind.text, (size_t)(line.shape.text + line.shape.length - line.kind.text));
	if (!kept_ids(h, &ids)) {
		ids = onednn_make_ids(&line);
		keep_ids(h, ids);
	}
	tell(ids, line.dur_ns);
	return true;
}

/* ---- before lines are composed ---- */

/* false: it is not about a primitive. */
static bool take_primitive(const char *text, double milliseconds)
{
	uint64_t h = hash(text, strlen(text));
	struct onednn_line line;
	struct ids ids;

	if (!(milliseconds >= 0 && milliseconds < LONGEST_MS))
		return false;
	if (!kept_ids(h, &ids)) {
		if (!onednn_parse_primitive(text, &line))
			return false;
		ids = onednn_make_ids(&line);
		keep_ids(h, ids);
	}
	tell(ids, (int64_t)(milliseconds * 1e6));
	return true;
}

/* oneDNN composes a line twice, the first time only to learn its length. The parts are taken then,
 * and the line becomes empty. */
static bool onednn_take_parts(bool made, bool length_only, va_list args)
{
	const char *how, *primitive;
	int saved = errno;

	if (!length_only)
		return taken;
	taken = false;
	if (rt_level() == TFT_LEVEL_OFF || !atomic_load(&asked) || atomic_load(&program) == LINES)
		return false;
	va_arg(args, const char *);	/* the start of the line */
	how = va_arg(args, const char *);
	primitive = va_arg(args, const char *);
	if (made)	/* the primitive exists already, so nothing is sent */
		taken = how && !strcmp(how, ":cache_hit");
	else
		taken = how && !*how && primitive &&
			take_primitive(primitive, va_arg(args, double));
	errno = saved;
	return taken;
}

/* false: it is another text. */
static bool take_text(char *buf, size_t size, const char *format, va_list args)
{
	bool made = !strcmp(format, MADE);
	va_list copy;
	bool ours;

	if (!made && strcmp(format, RAN))
		return false;
	va_copy(copy, args);
	ours = onednn_take_parts(made, !size, copy);
	va_end(copy);
	if (ours && size)
		*buf = '\0';
	return ours;
}

__attribute__((format(printf, 3, 4)))
static int our_snprintf(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int n = 0;

	va_start(args, format);
	if (!take_text(buf, size, format, args))
		n = vsnprintf(buf, size, format, args);
	va_end(args);
	return n;
}

int __vsnprintf_chk(char *buf, size_t size, int flag, size_t room, const char *format,
		    va_list args);

/* The function that a compiler calls for snprintf(): it knows how much room there is, or passes
 * (size_t)-1. */
__attribute__((format(printf, 5, 6)))
static int our_snprintf_chk(char *buf, size_t size, int flag, size_t room, const char *format, ...)
{
	va_list args;
	int n = 0;

	va_start(args, format);
	if (!take_text(buf, size, format, args))
		n = __vsnprintf_chk(buf, size, flag, room, format, args);
	va_end(args);
	return n;
}

/* ---- replacing imports ---- */

bool onednn_ask(const void *inside)
{
	/* first the imports that write, then the one that makes oneDNN write */
	struct imports_change out[] = {
		{ "printf", (void *)our_printf, false },
		{ "__printf_chk", (void *)our_printf_chk, false },
		{ "fflush", (void *)our_fflush, false },
	};
	struct imports_change in[] = {
		{ "getenv", (void *)our_getenv, false },
		{ "snprintf", (void *)our_snprintf, false },
		{ "__snprintf_chk", (void *)our_snprintf_chk, false },
	};

	library = inside;
	imports_change(inside, out, by_printf ? 3 : 2);
	if ((!out[0].done && !out[1].done) || (by_printf && !out[2].done))
		return false;
	imports_change(inside, in, 3);
	return in[0].done;
}

bool onednn_ask_printf(const void *inside)
{
	by_printf = true;
	return onednn_ask(inside);
}

/* ---- how much oneDNN writes ---- */

/* Whether too many lines come for some time. */
static bool too_many(int64_t now_ns)
{
	static int64_t begin_ns;
	static uint64_t before;
	uint64_t now = atomic_load_explicit(&lines, memory_order_relaxed), n = now - before;
	bool all = now_ns - begin_ns >= WINDOW_NS;

	if (all) {
		begin_ns = now_ns;
		before = now;
	}
	return n > MANY;
}

static _Atomic uint32_t *place(void)
{
	if (!atomic_exchange(&looked, true))
		atomic_store(&writes, onednn_flag(library, ERRORS | CREATED | RUN));
	return atomic_load(&writes);
}

bool onednn_tick(int64_t now_ns, enum tft_level level)
{
	uint32_t want = ERRORS | CREATED | RUN;
	_Atomic uint32_t *flag;
	bool first = false;

	if (!atomic_load(&asked) || atomic_load(&program) == LINES)
		return false;
	if (!many)
		first = many = level != TFT_LEVEL_OFF && level != TFT_LEVEL_FULL &&
			       too_many(now_ns);
	if (level == TFT_LEVEL_OFF)
		want = ERRORS;
	else if (many && level != TFT_LEVEL_FULL)
		want = ERRORS | CREATED;
	if (!atomic_load(&looked) && want & RUN)
		return false;
	flag = place();
	if (flag && atomic_load_explicit(flag, memory_order_relaxed) != want)
		atomic_store(flag, want);
	return first && flag;
}

bool onednn_is_deaf(int64_t now_ns, bool last)
{
	static int64_t since_ns;
	static bool deaf;

	if (deaf || !atomic_load(&asked) || atomic_load(&begin_bytes) || atomic_load(&lines) ||
	    atomic_load(&program) != NOTHING)
		return false;
	if (!since_ns)
		since_ns = now_ns;
	deaf = last || now_ns - since_ns >= DEAF_NS;
	return deaf;
}

/* ---- requests of the program ---- */

void onednn_program_asks(int level)
{
	if (!atomic_load(&asked) || level <= 0)
		return;
	place();	/* while it holds a known value */
	atomic_store(&program, LINES);
}

void onednn_program_asked(int level)
{
	_Atomic uint32_t *flag;

	if (!atomic_load(&asked) || level > 0)
		return;
	flag = place();
	if (flag)
		atomic_store(flag, ERRORS | CREATED | RUN);
	atomic_store(&program, SILENCE);
}

/* Writes oneDNN's first lines before the first error. */
static void give_back(void)
{
	static atomic_flag given = ATOMIC_FLAG_INIT;
	size_t n = atomic_load(&begin_bytes);

	if (!atomic_flag_test_and_set(&given) && n < sizeof(begin))
		fwrite(begin, 1, n, stdout);
}

bool onednn_line(const char *text)
{
	int saved = errno, wants = atomic_load(&program);
	bool told, write = true;

	if (!*text)	/* it was taken before it was composed */
		return false;
	told = onednn_take_line(text);
	if (atomic_load(&asked)) {
		write = wants == LINES ||
			(wants == NOTHING && !told && strstr(text, ",error,") != NULL);
		if (write)
			give_back();
		else if (by_printf && strstr(text, ",info,"))
			keep(text);
	}
	errno = saved;
	return write;
}
