/* SPDX-License-Identifier: MIT */
/*
 * Finds words in names, and names the values of enums. A word of a name starts after a character
 * that is not a letter, or at a capital after a small letter; a search for a word looks only there.
 */
#include "model/base/names.h"

#include <string.h>
#include <strings.h>

#include "model/base/kernel_class.h"

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool word_begins(const char *name, size_t i)
{
	if (i == 0)
		return true;
	if (is_upper(name[i]))
		return !is_upper(name[i - 1]);
	return is_lower(name[i]) && !is_lower(name[i - 1]) && !is_upper(name[i - 1]);
}

/* Short words must also end there: "mm", but not "mmap"; "log", not "login". */
static bool word_ends(const char *name, size_t i, size_t length)
{
	return length > 3 || !is_lower(name[i + length]);
}

bool name_has_word(const char *name, const char *word)
{
	size_t length = strlen(word);
	/* letters: the same in both cases */
	unsigned char first = (unsigned char)word[0] | 0x20;

	for (size_t i = 0; name[i]; i++)
		if (((unsigned char)name[i] | 0x20) == first && word_begins(name, i) &&
		    strncasecmp(name + i, word, length) == 0 &&
		    word_ends(name, i, length))
			return true;
	return false;
}

enum work work_of_name(const char *name)
{
	return name ? kernel_kind_work((enum kernel_kind)kernel_class_of(name).kind) :
	       WORK_OTHER;
}

#define WORD_OF(table, i) ((unsigned)(i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : "")

const char *work_name(enum work work)
{
	static const char *const table[WORK_COUNT] = {
		"", "matmul", "elementwise", "reduce", "copy", "comm", "input", "other", "op",
		"range",
	};

	return WORD_OF(table, work);
}

const char *direction_name(enum direction direction)
{
	static const char *const table[DIR_COUNT] = {
		"", "h2d", "d2h", "d2d", "p2p", "h2h", "fill", "map", "unmap", "send", "recv",
	};

	return WORD_OF(table, direction);
}

const char *doing_name(enum doing_kind doing)
{
	static const char *const table[DOING_COUNT] = {
		"blocked", "Python", "native", "sleep", "file", "socket", "pipe", "poll", "lock",
		"GIL", "child", "page fault", "no CPU", "GC", "import", "stopped", "throttled",
		"compile",
	};

	return WORD_OF(table, doing);
}

const char *doing_verb(enum doing_kind doing)
{
	static const char *const table[DOING_COUNT] = {
		"waits in a call of the kernel", "runs Python", "runs native code", "sleeps",
		"waits for a file", "waits for a socket", "waits for a pipe", "waits for input",
		"waits for another thread", "waits for the GIL", "waits for a child process",
		"waits for memory pages", "waits for a processor", "collects garbage",
		"imports modules", "is stopped", "is throttled", "compiles",
	};

	return WORD_OF(table, doing);
}

const char *doing_what(enum doing_kind doing, bool line)
{
	if (doing == DOING_NATIVE)
		return line ? "most often in" : "in";
	if (doing == DOING_LOCK)
		return line ? "most often held by" : "held by";
	return doing != DOING_GIL ? "for" : line ? "most often held at" : "held at";
}

const char *how_name(enum how how)
{
	static const char *const table[HOW_COUNT] = { "none", "exact", "event", "fifo", "guess" };

	return WORD_OF(table, how);
}

const char *framework_name(enum framework framework)
{
	static const char *const table[FW_COUNT] = {
		"", "nvtx", "itt", "opencl", "tensorflow", "pytorch", "jax", "onednn",
	};

	return WORD_OF(table, framework);
}

const char *clock_quality_name(enum clock_quality quality)
{
	static const char *const table[] = { "estimate", "known", "driver" };

	return WORD_OF(table, quality);
}
