/* SPDX-License-Identifier: MIT */
/* See host_place.h. */
#include <stdio.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/finding.h"
#include "model/analyses/host_place.h"
#include "model/base/util.h"

/* The finding that a state belongs to. */
static enum wait_finding host_finding_of(enum doing_kind doing)
{
	static const uint8_t table[DOING_COUNT] = {
		[DOING_GIL] = WAIT_GIL, [DOING_GC] = WAIT_GC, [DOING_IMPORT] = WAIT_IMPORT,
		[DOING_CPU] = WAIT_PROCESSOR, [DOING_THROTTLED] = WAIT_PROCESSOR,
		[DOING_STOPPED] = WAIT_STOPPED, [DOING_COMPILE] = WAIT_COMPILE,
	};

	return (enum wait_finding)table[doing];
}

/* What a place is in: a line that computes is in several states by turns. */
static bool computes(enum doing_kind doing, enum wait_finding which)
{
	return doing == DOING_PYTHON || doing == DOING_NATIVE ||
	       (host_finding_of(doing) == WAIT_PROCESSOR && which == ANY_FINDING);
}

bool host_same_place(const struct host_time_row *a, const struct host_time_row *b,
		     enum wait_finding which)
{
	bool both = computes(a->doing, which) && computes(b->doing, which);
	bool lack = host_finding_of(a->doing) == WAIT_PROCESSOR &&
		    host_finding_of(b->doing) == WAIT_PROCESSOR;

	if (a->class != b->class || (a->doing != b->doing && !both && !lack))
		return false;
	if (host_finding_of(a->doing) != WAIT_PLACE && !both)
		return true;
	if (!*a->file)
		return !*b->file && a->doing == b->doing && !strcmp(a->what, b->what);
	return !strcmp(a->file, b->file) && !strcmp(a->function, b->function);
}

/* Whether it was a limit or others that kept the processor from the place, most of the time. */
static void place_lacks(struct place_row *place)
{
	place->row.doing = place->throttled_ns * 2 >= place->row.ns ? DOING_THROTTLED : DOING_CPU;
	place->verb = doing_verb(place->row.doing);
}

struct place_row host_most_of(const struct host_time_row *rows, size_t n, int class,
				      enum wait_finding which)
{
	struct place_row most = { .row.ns = 0 };

	for (size_t i = 0; i < n; i++) {
		struct place_row one = { rows[i], doing_verb(rows[i].doing), 0 };
		int64_t other_ns = 0;

		if (rows[i].class != class || rows[i].doing == DOING_OTHER ||
		    (rows[i].doing == DOING_NATIVE && !*rows[i].file && !*rows[i].what) ||
		    (which != ANY_FINDING && host_finding_of(rows[i].doing) != which))
			continue;
		one.throttled_ns = rows[i].doing == DOING_THROTTLED ? rows[i].ns : 0;
		for (size_t k = i + 1; k < n; k++)
			if (host_same_place(&rows[i], &rows[k], which)) {
				one.row.ns += rows[k].ns;
				one.row.looks += rows[k].looks;
				other_ns += rows[k].doing == rows[i].doing ? 0 : rows[k].ns;
				one.throttled_ns += rows[k].doing == DOING_THROTTLED ? rows[k].ns :
						    0;
			}
		if (which == WAIT_PROCESSOR)
			place_lacks(&one);
		else if (other_ns > one.row.ns / 10)
			one.verb = "computes";
		if (one.row.ns > most.row.ns)
			most = one;
	}
	return most;
}

bool host_is_function(const struct host_time_row *row)
{
	return row->doing == DOING_NATIVE && !*row->file && *row->what;
}

void host_place_text(const struct host_time_row *row, char *text, size_t size)
{
	const char *file = path_last(row->file);

	if (*file)
		snprintf(text, size, "%.80s:%u", file, row->line);
	else if (host_is_function(row))
		snprintf(text, size, "%.80s", row->what);
	else
		snprintf(text, size, "the %s", row->doing == DOING_STOPPED ? "program" : "host");
}

char *finding_line_left(struct finding *finding)
{
	for (int i = 0; i < FINDING_LINES; i++)
		if (!finding->lines[i][0])
			return finding->lines[i];
	return NULL;
}

void host_place_say(char *line, const char *of, int64_t whole_ns,
		      const struct place_row *most)
{
	const struct host_time_row *row = &most->row;
	char share[FMT_MAX], place[PLACE_TEXT];

	host_place_text(row, place, sizeof(place));
	snprintf(line, FINDING_TEXT, "%s of %s, %.100s in %.80s %s%s%.60s",
		 fmt_share(share, (uint64_t)row->ns, (uint64_t)whole_ns), of, place,
		 row->function, most->verb, *row->what ? ": " : "", row->what);
}
