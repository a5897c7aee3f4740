/* SPDX-License-Identifier: MIT */
#include "tui/run/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define BLOCK 5u
#define RECENT 50u
#define LAST 20u			/* steps that show how long one takes now */
#define RATE 32u
#define NOISE_TIMES 3			/* of normal noise, beyond 99 % of the steps */
#define COMPILED_RECENT 10u
#define BACK_MOST 10000u		/* most steps that are examined */

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Median of n ≤ RECENT steps. */
static int64_t median(const struct step_row *rows, size_t n)
{
	int64_t values[RECENT];

	for (size_t i = 0; i < n; i++)
		values[i] = rows[i].dur_ns;
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

/* Median difference between two steps in a row, of n ≤ RECENT steps. Unlike the spread around the
 * median of all steps, it is small when the steps change from one level to another. */
static int64_t noise(const struct step_row *rows, size_t n)
{
	struct step_row apart[RECENT];

	for (size_t i = 0; i + 1 < n; i++)
		apart[i].dur_ns = llabs(rows[i + 1].dur_ns - rows[i].dur_ns);
	return n > 1 ? median(apart, n - 1) : 0;
}

/* Index of the first of the last steps that have similar durations. */
static size_t steady_from(const struct step_list *steps)
{
	size_t recent = steps->n < LAST ? steps->n : LAST, at = steps->n;
	const struct step_row *last = steps->rows + steps->n - recent;
	int64_t usual = median(last, recent), within = usual / 10;
	int64_t noise_ns = noise(last, recent);

	if (noise_ns * NOISE_TIMES > within)
		within = noise_ns * NOISE_TIMES;
	while (at >= BLOCK && steps->n - at < BACK_MOST &&
	       llabs(median(steps->rows + at - BLOCK, BLOCK) - usual) <= within)
		at -= BLOCK;
	/* less than a block remains at the very start */
	while (at && at < BLOCK && llabs(steps->rows[at - 1].dur_ns - usual) <= within)
		at--;
	return at;
}

static void progress_judge(const struct step_list *steps, struct progress *p)
{
	size_t n = steps->n, from, before;

	for (size_t i = n < COMPILED_RECENT ? 0 : n - COMPILED_RECENT; i < n; i++)
		p->compiled += steps->rows[i].compiled;
	if (n < 2 * (size_t)BLOCK) {
		p->state = PROGRESS_FEW;
		return;
	}
	if (p->compiled) {
		p->state = PROGRESS_COMPILING;
		return;
	}
	from = steady_from(steps);
	if (n - from >= 2 * (size_t)BLOCK) {
		p->state = PROGRESS_STEADY;
		p->since = steps->rows[from].number;
		return;
	}
	p->state = PROGRESS_MOVING;
	before = n - BLOCK < RECENT ? n - BLOCK : RECENT;
	p->change_milli = (int)(median(steps->rows + n - BLOCK, BLOCK) * 1000 /
				(median(steps->rows + n - BLOCK - before, before) + 1)) - 1000;
}

void progress_of(const struct step_list *steps, const struct settings *settings, bool ended,
		 struct progress *out)
{
	size_t n = steps->n, recent = n < RATE || ended ? n : RATE;
	const struct step_row *rows = steps->rows;

	*out = (struct progress){
		.period_ns = -1, .left_ns = -1,
		.total = settings ? settings->value[SETTING_STEPS_TOTAL] : 0,
		.samples = settings ? settings->value[SETTING_SAMPLES_PER_STEP] : 0,
	};
	if (!n)
		return;
	out->passes = steps->stats.passes;
	progress_judge(steps, out);
	out->recent = recent < n;
	if (ended)
		out->period_ns = steps->stats.period_ns;
	else if (recent > 1)
		out->period_ns = (rows[n - 1].start_ns - rows[n - recent].start_ns) /
				 (int64_t)(recent - 1);
	/* step numbers that start at 0 are one less than the number of finished steps; steps
	 * without numbers are counted from 0 */
	out->done = rows[n - 1].number + (rows[0].number == 0);
	if (out->total && out->period_ns > 0 && !ended)
		out->left_ns =
			out->done < out->total ? (out->total - out->done) * out->period_ns : 0;
}

static void say(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(char *text, size_t size, const char *format, ...)
{
	size_t at = strlen(text);
	va_list args;

	at += (size_t)snprintf(text + at, size - at, "%s", at ? " · " : "");
	if (at >= size)
		return;
	va_start(args, format);
	vsnprintf(text + at, size - at, format, args);
	va_end(args);
}

char *progress_samples(const struct progress *progress, char *text, size_t size)
{
	char count[FMT_MAX];

	text[0] = '\0';
	if (progress->samples && progress->period_ns > 0)
		snprintf(text, size, "%s samples/s",
			 fmt_count(count, (uint64_t)((__int128)progress->samples * 1000000000 /
						     progress->period_ns)));
	return text;
}

static void say_state(const struct progress *p, char *text, size_t size)
{
	const char *one = step_noun(p->passes), *many = step_nouns(p->passes);

	switch (p->state) {
	case PROGRESS_NONE:
		say(text, size, "no steps");
		break;
	case PROGRESS_FEW:
		say(text, size, "too few %s to say whether they are steady", many);
		break;
	case PROGRESS_COMPILING:
		say(text, size, "warming up: %u of the last %u %s compiled something",
		    p->compiled, COMPILED_RECENT, many);
		break;
	case PROGRESS_MOVING:
		say(text, size, "not steady: the last %u %s took %d %% %s than those before",
		    BLOCK, many, abs(p->change_milli) / 10, p->change_milli < 0 ? "less" : "more");
		break;
	case PROGRESS_STEADY:
		say(text, size, "steady since %s %lld", one, (long long)p->since);
		break;
	}
}

char *progress_sentence(const struct progress *progress, char *text, size_t size)
{
	const char *many = step_nouns(progress->passes);
	char some[64];

	text[0] = '\0';
	say_state(progress, text, size);
	if (progress->period_ns > 0 && progress->recent)
		say(text, size, "now %s %s/s",
		    fmt_per_second(some, progress->period_ns), many);
	else if (progress->period_ns > 0)
		say(text, size, "%s %s/s", fmt_per_second(some, progress->period_ns), many);
	if (*progress_samples(progress, some, sizeof(some)))
		say(text, size, "%s", some);
	if (progress->total)
		say(text, size, "%lld of %lld %s", (long long)progress->done,
		    (long long)progress->total, many);
	if (progress->left_ns >= 0)
		say(text, size, "to go %s", fmt_clock(some, progress->left_ns));
	return text;
}
