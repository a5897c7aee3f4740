/* SPDX-License-Identifier: MIT */
/* Reads the scripts of cuda_play. See cuda_script.h. */
#include "tests/programs/cuda_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *file;
static int number;

static _Noreturn void bad(const char *what, const char *word)
{
	fprintf(stderr, "%s:%d: %s '%s'\n", file, number, what, word ? word : "");
	exit(2);
}

static int name_of(char names[][96], int *n, const char *name)
{
	int i;

	if (!name || !*name || strlen(name) >= 96)
		bad("a name is missing or too long:", name);
	for (i = 0; i < *n && strcmp(names[i], name); i++)
		;
	if (i == SCRIPT_NAMES)
		bad("too many names at", name);
	if (i == *n)
		snprintf(names[(*n)++], 96, "%s", name);
	return i;
}

static int64_t number_of(const char *word, const char *const *units, const int64_t *factors)
{
	char *end;
	double v = strtod(word ? word : "", &end);

	if (!word || end == word || v < 0)
		bad("a number is missing:", word);
	for (int i = 0; units[i]; i++)
		if (!strcmp(end, units[i]))
			return (int64_t)(v * (double)factors[i]);
	bad("no unit that is known:", word);
}

static int64_t time_of(const char *word)
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };
	static const int64_t factors[] = { 1, 1000, 1000000, 1000000000 };

	return number_of(word, units, factors);
}

static int64_t size_of(const char *word)
{
	static const char *const units[] = { "", "k", "M", "G", NULL };
	static const int64_t factors[] = { 1, 1 << 10, 1 << 20, 1 << 30 };

	return number_of(word, units, factors);
}

static void three(unsigned int *to, const char *word)
{
	to[0] = to[1] = to[2] = 1;
	if (sscanf(word, "%u,%u,%u", &to[0], &to[1], &to[2]) < 1)
		bad("no size in three dimensions:", word);
}

static int stream_of(const struct script *s, const char *name)
{
	for (int i = 0; i < s->n_streams; i++)
		if (!strcmp(s->streams[i].name, name))
			return i;
	bad("no such stream:", name);
}

/* Parses one KEY=VALUE or word of a statement. */
static void option(struct script *s, struct line *l, char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = 0;
	if (!value && word[0] == 'x' && word[1] >= '0' && word[1] <= '9')
		l->count = size_of(word + 1);
	else if (!value && !strcmp(word, "pinned"))
		l->pinned = true;
	else if (!value && !strcmp(word, "managed"))
		l->managed = true;
	else if (!value && !strcmp(word, "pool"))
		l->pool = true;
	else if (!value && !strcmp(word, "sync"))
		l->sync = true;
	else if (!value && !strcmp(word, "ptx"))
		l->ptx = true;
	else if (!value)
		bad("no such word:", word);
	else if (!strcmp(word, "dur"))
		l->dur_ns = time_of(value);
	else if (!strcmp(word, "grid"))
		three(l->grid, value);
	else if (!strcmp(word, "block"))
		three(l->block, value);
	else if (!strcmp(word, "regs"))
		l->registers = (int)size_of(value);
	else if (!strcmp(word, "smem"))
		l->shared = (int)size_of(value);
	else if (!strcmp(word, "dynamic"))
		l->dynamic = (unsigned int)size_of(value);
	else if (!strcmp(word, "to"))
		l->to_device = (int)size_of(value);
	else if (!strcmp(word, "event"))
		l->event = name_of(s->events, &s->n_events, value);
	else if (!strcmp(word, "stream"))
		l->stream = stream_of(s, value);
	else
		bad("no such option:", word);
}

static void add_stream(struct script *s, char *rest)
{
	char *name = strsep(&rest, " "), *word;
	struct script_stream *st = &s->streams[s->n_streams];

	if (!name || !*name || strlen(name) >= sizeof(st->name) || s->n_streams == SCRIPT_NAMES)
		bad("no name of a stream:", name);
	snprintf(st->name, sizeof(st->name), "%s", name);
	s->n_streams++;
	while ((word = strsep(&rest, " "))) {
		if (!strcmp(word, "nonblocking"))
			st->non_blocking = true;
		else if (!strcmp(word, "ptds"))
			st->per_thread = true;
		else if (sscanf(word, "device=%d", &st->device) != 1 &&
			 sscanf(word, "priority=%d", &st->priority) != 1 && *word)
			bad("no such word:", word);
	}
}

static const struct {
	const char *word;
	enum statement what;
	enum { PLAIN, NAME, TIME, SIZE, COUNT, WHOLE, NAME_SIZE, WAY, MAYBE_TIME, PERIOD } takes;
} statements[] = {
	{ "range", S_RANGE, WHOLE }, { "repeat", S_REPEAT, PERIOD }, { "capture", S_CAPTURE, NAME },
	{ "profile", S_PROFILE, PLAIN },
	{ "end", S_END, PLAIN }, { "kernel", S_KERNEL, NAME }, { "copy", S_COPY, WAY },
	{ "fill", S_FILL, SIZE }, { "alloc", S_ALLOC, NAME_SIZE }, { "free", S_FREE, NAME },
	{ "launch", S_LAUNCH, NAME }, { "record", S_RECORD, NAME }, { "await", S_AWAIT, NAME },
	{ "sync", S_SYNC, PLAIN }, { "query", S_QUERY, PLAIN }, { "load", S_LOAD, PLAIN },
	{ "context", S_CONTEXT, PLAIN }, { "pace", S_PACE, COUNT }, { "wait", S_WAIT, TIME },
	{ "exit", S_EXIT, MAYBE_TIME },
};

static void name_object(struct script *s, struct line *l, const char *name)
{
	switch (l->what) {
	case S_RANGE:
		l->object = name_of(s->ranges, &s->n_ranges, name);
		break;
	case S_KERNEL:
		l->object = name_of(s->kernels, &s->n_kernels, name);
		break;
	case S_CAPTURE:
	case S_LAUNCH:
		l->object = name_of(s->graphs, &s->n_graphs, name);
		break;
	case S_RECORD:
	case S_AWAIT:
		l->object = name_of(s->events, &s->n_events, name);
		break;
	default:
		l->object = name_of(s->allocs, &s->n_allocs, name);
	}
	snprintf(l->name, sizeof(l->name), "%s", name);
}

static enum copy_way way_of(const char *word)
{
	static const char *const ways[] = { "h2d", "d2h", "d2d", "p2p" };

	for (int i = 0; i < 4; i++)
		if (word && !strcmp(word, ways[i]))
			return (enum copy_way)i;
	bad("no direction:", word);
}

static void statement(struct script *s, struct line *l, const char *word, char *rest)
{
	size_t i;
	int takes;

	for (i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		if (!strcmp(statements[i].word, word))
			break;
	if (i == sizeof(statements) / sizeof(statements[0]))
		bad("no such statement:", word);
	*l = (struct line){ .what = statements[i].what, .number = number, .stream = -1, .event = -1,
			    .count = 1, .grid = { 128, 1, 1 }, .block = { 256, 1, 1 },
			    .registers = 32 };
	takes = (int)statements[i].takes;
	if (takes == WHOLE) {
		name_object(s, l, rest);
		return;
	}
	if (takes == WAY)
		l->way = way_of(strsep(&rest, " "));
	if (takes == NAME || takes == NAME_SIZE)
		name_object(s, l, strsep(&rest, " "));
	if (takes == SIZE || takes == NAME_SIZE || takes == WAY)
		l->bytes = (uint64_t)size_of(strsep(&rest, " "));
	if (takes == COUNT)
		l->count = size_of(strsep(&rest, " "));
	if (takes == PERIOD && rest && strchr(rest, 's'))
		takes = TIME;
	else if (takes == PERIOD)
		l->count = size_of(strsep(&rest, " "));
	if (takes == TIME || (takes == MAYBE_TIME && rest))
		l->dur_ns = time_of(strsep(&rest, " "));
	while (rest && (word = strsep(&rest, " ")))
		if (*word)
			option(s, l, (char *)(uintptr_t)word);
}

static void close_blocks(struct script *s, int thread)
{
	int open[64], n = 0;

	for (int i = 0; i < s->n_lines[thread]; i++) {
		struct line *l = &s->lines[thread][i];

		number = l->number;
		if (l->what == S_RANGE || l->what == S_REPEAT || l->what == S_CAPTURE ||
		    l->what == S_PROFILE) {
			if (n == 64)
				bad("too deep:", l->name);
			open[n++] = i;
		} else if (l->what == S_END) {
			if (!n)
				bad("an end of nothing", NULL);
			s->lines[thread][open[--n]].end = i;
		}
	}
	if (n)
		bad("a block has no end:", s->lines[thread][open[n - 1]].name);
}

static void one_line(struct script *s, char *text)
{
	char *rest = text, *word;
	int t = s->threads - 1;

	word = strsep(&rest, " ");
	if (!strcmp(word, "device")) {
		snprintf(s->device + strlen(s->device), sizeof(s->device) - strlen(s->device),
			 " %s", rest);
	} else if (!strcmp(word, "cupti")) {
		snprintf(s->cupti + strlen(s->cupti), sizeof(s->cupti) - strlen(s->cupti), " %s",
			 rest);
	} else if (!strcmp(word, "stream")) {
		add_stream(s, rest);
	} else if (!strcmp(word, "thread")) {
		if (s->threads == SCRIPT_THREADS)
			bad("too many threads", NULL);
		s->threads++;
	} else if (!strcmp(word, "fail")) {
		if (!s->n_lines[t])
			bad("nothing before", word);
		s->lines[t][s->n_lines[t] - 1].may_fail = true;
	} else {
		s->lines[t] =
			realloc(s->lines[t], ((size_t)s->n_lines[t] + 1) * sizeof(struct line));
		statement(s, &s->lines[t][s->n_lines[t]], word, rest);
		s->n_lines[t]++;
	}
}

void script_read(struct script *s, const char *path)
{
	FILE *f = fopen(path, "re");
	char text[1024];

	file = path;
	if (!f)
		bad("cannot be read", path);
	memset(s, 0, sizeof(*s));
	s->threads = 1;
	for (number = 1; fgets(text, sizeof(text), f); number++) {
		char *at = text + strspn(text, " \t");

		at[strcspn(at, "#\n")] = 0;
		for (size_t n = strlen(at); n && (at[n - 1] == ' ' || at[n - 1] == '\t'); n--)
			at[n - 1] = 0;
		if (*at)
			one_line(s, at);
	}
	fclose(f);
	for (int t = 0; t < s->threads; t++)
		close_blocks(s, t);
}
