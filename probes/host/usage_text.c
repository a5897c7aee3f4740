/* SPDX-License-Identifier: MIT */
/* See usage.h. A number that does not fit, is negative or is followed by anything but a separator
 * is refused with the whole text: half of a text is worse than none. */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/host/usage.h"

/* What /proc/PID/stat has behind the name, counted from the state, which is 0. */
enum { STAT_PARENT = 1, STAT_USER = 11, STAT_WAITED_SYSTEM = 14, STAT_START = 19, STAT_PAGES = 21,
       STAT_STACK = 25 };

/* net/dev: what an interface has received has 8 columns. */
#define NET_SENT 8

static int open_for_reading(const char *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/* From the start of the file on. */
static long usage_read_whole(int fd, char *text, size_t size)
{
	size_t length = 0;
	long n;

	do {
		n = syscall(SYS_pread64, fd, text + length, size - 1 - length, (off_t)length);
		length += n > 0 ? (size_t)n : 0;
	} while (n > 0 && length < size - 1);
	text[length] = '\0';
	return n < 0 ? -1 : (long)length;
}

long usage_read(const char *path, char *text, size_t size)
{
	int fd = open_for_reading(path);
	long n;

	if (fd < 0)
		return -1;
	n = usage_read_whole(fd, text, size);
	syscall(SYS_close, fd);
	return n;
}

long usage_read_kept(int *fd, const char *path, char *text, size_t size)
{
	for (int i = 0; i < 2; i++) {
		long n;

		*fd = *fd < 0 ? open_for_reading(path) : *fd;
		n = *fd < 0 ? -1 : usage_read_whole(*fd, text, size);
		if (n > 0 || *fd < 0)
			return n;
		syscall(SYS_close, *fd);
		*fd = -1;
	}
	return -1;
}

/* ---- arithmetic ---- */

static int64_t usage_part(uint64_t count, uint64_t scale, int64_t dur_ns)
{
	unsigned __int128 part = (unsigned __int128)count * scale / (uint64_t)dur_ns;

	return part > INT64_MAX >> 8 ? -1 : (int64_t)part;
}

int64_t usage_rate(uint64_t before, uint64_t now, int64_t dur_ns)
{
	return now < before || dur_ns <= 0 ? -1 : usage_part(now - before, 1000000000, dur_ns);
}

int64_t usage_share(int64_t before_ns, int64_t now_ns, int64_t dur_ns)
{
	if (before_ns < 0 || now_ns < before_ns || dur_ns <= 0)
		return -1;
	return usage_part((uint64_t)(now_ns - before_ns), 1000, dur_ns);
}

/* ---- texts ---- */

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

bool usage_number(const char **text, uint64_t *value)
{
	const char *at = skip_blanks(*text);
	uint64_t n = 0;

	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n))
			return false;
	if (*at && !strchr(" \t\n", *at))
		return false;
	*text = at;
	*value = n;
	return true;
}

bool usage_statm(const char *text, uint64_t *pages)
{
	uint64_t size;

	return usage_number(&text, &size) && usage_number(&text, pages);
}

bool usage_field(const char *text, const char *name, char after, uint64_t *value)
{
	size_t length = strlen(name);

	while (strncmp(text, name, length) || text[length] != after) {
		text = strchr(text, '\n');
		if (!text++)
			return false;
	}
	text += length + 1;
	return usage_number(&text, value);
}

/* One line of net/dev, "NAME: RECEIVED ... SENT ...". */
static bool net_line(const char *line, uint64_t *received, uint64_t *sent)
{
	const char *at = strchr(line, ':');
	uint64_t skipped;

	if (!at++ || !usage_number(&at, received))
		return false;
	for (int i = 1; i < NET_SENT; i++)
		if (!usage_number(&at, &skipped))
			return false;
	return usage_number(&at, sent);
}

bool usage_net(const char *text, uint64_t *received, uint64_t *sent)
{
	bool any = false;

	*received = *sent = 0;
	/* the first two lines are a heading */
	for (int line = 0; text; line++) {
		const char *end = strchr(text, '\n'), *at = skip_blanks(text);
		uint64_t in, out;

		text = end ? end + 1 : NULL;
		/* a line without an end is one that was cut */
		if (line < 2 || !strncmp(at, "lo:", 3) || !end)
			continue;
		if (!net_line(at, &in, &out))
			return false;
		*received += in;
		*sent += out;
		any = true;
	}
	return any;
}

bool usage_stat(const char *text, struct usage_stat *out)
{
	const char *at = strrchr(text, ')');	/* the name may contain brackets and blanks */
	uint64_t value;

	*out = (struct usage_stat) { .parent = 0 };
	if (!at || at[1] != ' ' || !at[2] || at[3] != ' ')
		return false;
	at += 3;
	for (int i = STAT_PARENT; i <= STAT_STACK; i++) {
		at = skip_blanks(at);
		at += *at == '-';	/* some that are not used may be negative */
		if (!usage_number(&at, &value))
			return i > STAT_PAGES;
		if (i == STAT_PARENT)
			out->parent = (uint32_t)value;
		else if (i >= STAT_USER && i <= STAT_WAITED_SYSTEM)
			out->ticks += value;
		else if (i == STAT_START)
			out->start_ticks = value;
		else if (i == STAT_PAGES)
			out->pages = value;
		else if (i == STAT_STACK)
			out->stack = value;
	}
	return true;
}

uint32_t usage_next_pid(const char **list)
{
	uint64_t pid;

	return usage_number(list, &pid) && pid <= INT32_MAX ? (uint32_t)pid : 0;
}
