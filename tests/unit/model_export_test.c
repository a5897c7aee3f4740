/* SPDX-License-Identifier: MIT */
/* What the model gives back makes another model that says the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/export.h"
#include "model/memory.h"
#include "model/synth.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/report.h"

static void feed(void *arg, const struct event *events, size_t count)
{
	model_apply(arg, events, count);
}

static struct model_export_gap gap;

/* Also: times never go back, strings are there. */
static struct model *again(struct model *model, int64_t from_ns, bool partial)
{
	struct model_export *export = model_export_new(model, from_ns);
	struct model *copy = model_new(NULL);
	struct event events[64];
	int64_t last_ns = 0;
	size_t n;

	while ((n = model_export_next(export, events, 64)) > 0) {
		for (size_t i = 0; i < n; i++) {
			CHECK(events[i].time_ns >= last_ns);
			last_ns = events[i].time_ns;
		}
		model_apply(copy, events, n);
	}
	model_export_gap(export, &gap);
	model_export_free(export);
	model_finish(copy, partial);
	return copy;
}

/*
 * The report without what a copy may say otherwise: how many events, how sure of
 * the clock; and unless `analyses` what follows from the order of arrival: an
 * analysis does not look back at what came later than its process had said.
 */
static char *report_of(struct model *model, bool analyses)
{
	static const struct report_run run = { .wall_ns = -1, .exit_status = -1 };
	char *text = NULL, *line, *to, *next;
	bool block = false;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	report_json(model, &run, out);
	fclose(out);
	for (line = to = text; *line; line = next) {
		char *rest = strstr(line, ", \"idle\": {"), *launch;

		next = strchr(line, '\n') + 1;
		launch = strstr(line, ", \"launch\": {");
		if (launch && (!rest || launch < rest))
			rest = launch;
		block = !strncmp(line, "  \"findings\": [", 15) ||
			!strncmp(line, "  \"critical_path\": {", 20) ||
			(block && strncmp(line, "  ]", 3) && strncmp(line, "  }", 3));
		if (!analyses && (block || !strncmp(line, "    \"breakdown\":", 16)))
			continue;
		/* How long queues were watched: to a nanosecond more or less. */
		if (rest && rest < next && (rest == launch || !analyses)) {
			memmove(to, line, (size_t)(rest - line));
			to += rest - line;
			*to++ = '\n';
			continue;
		}
		if (strncmp(line, "    \"events\":", 13) && strncmp(line, "    \"clock\":", 12)) {
			memmove(to, line, (size_t)(next - line));
			to += next - line;
		}
	}
	*to = '\0';
	return text;
}

static int by_byte(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* Line by line; the rows inside one may come in another order. */
static void same_report(struct model *a, struct model *b, bool analyses)
{
	char *x = report_of(a, analyses), *y = report_of(b, analyses), *p = x, *q = y;

	while (*p && *q) {
		size_t n = strcspn(p, "\n"), m = strcspn(q, "\n");
		char *was = strndup(p, n), *is = strndup(q, m), *u = strdup(was), *v = strdup(is);

		qsort(u, n, 1, by_byte);
		qsort(v, m, 1, by_byte);
		if (strcmp(u, v))
			test_fail(__FILE__, __LINE__, "is      %s\nwas     %s", is, was);
		free(was);
		free(is);
		free(u);
		free(v);
		p += n + 1;
		q += m + 1;
	}
	free(x);
	free(y);
}

static void there_and_back(const struct model_synth_profile *profile, int64_t length_ns,
			   bool finish)
{
	struct model *model = model_new(NULL), *copy;
	struct model_synth *synth = model_synth_new(test_random(), profile, INT64_C(9000000000));

	for (int64_t t = 0; t < length_ns; t += 10000000)
		model_synth_advance(synth, INT64_C(9000000000) + t, feed, model);
	if (finish) {
		model_synth_end(synth, feed, model);
		model_finish(model, false);
	}
	copy = again(model, INT64_MIN, false);
	CHECK_INT(gap.spans_ns, INT64_MIN);
	if (!finish) {
		/* Only the copy knows that nothing more comes. */
		model_finish(model, false);
	}
	same_report(model, copy, profile->processes == 1 && !profile->late_permille);
	model_synth_free(synth);
	model_free(model);
	model_free(copy);
}

TEST(model_export_program)
{
	there_and_back(&model_synth_default, 500000000, true);
}

TEST(model_export_disorder)
{
	struct model_synth_profile profile = model_synth_default;

	profile.late_permille = 300;
	profile.fail_permille = 20;
	profile.lose_every = 7;
	profile.opens = true;
	profile.layer_bytes = 1 << 20;
	there_and_back(&profile, 500000000, true);
}

TEST(model_export_several)
{
	struct model_synth_profile profile = model_synth_default;

	profile.processes = 3;
	profile.devices = 2;
	profile.queues = 4;
	profile.input_threads = 3;
	there_and_back(&profile, 300000000, true);
}
