/* SPDX-License-Identifier: MIT */
/*
 * How long it takes to find single executions among 10^7 (SPANS=N: among so many): the 500
 * longest, those of one name, the last ones, and when each has to be looked at in full because
 * a question that summaries cannot answer matches none. Beside one look at a plain array of
 * all lengths. See tests/bench/run.sh for the form of the records.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/query/executions.h"
#include "model/synth/synth.h"

#define MOST 500
#define ROUNDS 5

struct bench {
	struct model *model;
	int64_t *lengths;		/* owned */
	size_t n, cap;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void feed(void *arg, const struct event *events, size_t count)
{
	struct bench *bench = arg;

	for (size_t i = 0; i < count; i++) {
		if (events[i].type != EVENT_COMMAND && events[i].type != EVENT_OP)
			continue;
		if (bench->n == bench->cap) {
			bench->cap = bench->cap ? bench->cap * 2 : 1 << 20;
			bench->lengths = realloc(bench->lengths, bench->cap * sizeof(int64_t));
			if (!bench->lengths)
				exit(1);
		}
		bench->lengths[bench->n++] = events[i].type == EVENT_OP ? events[i].u.op.dur_ns :
			(int64_t)(events[i].u.command.end_ticks - events[i].u.command.start_ticks);
	}
	model_apply(bench->model, events, count);
}

static void fill(struct bench *bench, size_t spans)
{
	struct model_synth_profile profile = model_synth_default;
	struct model_synth *synth;
	int64_t at = 1000000000;

	profile.processes = 4;
	profile.queues = 3;
	profile.kernel_ns = 20000;
	profile.late_permille = 2;
	synth = model_synth_new(1, &profile, at);
	while (bench->n < spans)
		model_synth_advance(synth, at += 50000000, feed, bench);
	model_synth_free(synth);
	model_finish(bench->model, false);
}

/* Finds the longest one, as an array without any index has to. */
static int64_t scan(const struct bench *bench)
{
	int64_t begin = now_ns(), longest = 0;

	for (size_t i = 0; i < bench->n; i++)
		longest = bench->lengths[i] > longest ? bench->lengths[i] : longest;
	__asm__ volatile("" : : "r"(longest));
	return now_ns() - begin;
}

static bool conv(void *arg, const char *name, const char *raw)
{
	return strstr(raw, "conv") != NULL;
}

static bool none(void *arg, const struct span *span)
{
	return span->end_ns < span->start_ns;
}

static int64_t ask(struct model *model, const struct execution_want *want, size_t least)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		struct executions found;
		int64_t begin = now_ns(), ns;

		model_executions(model, want, &found);
		ns = now_ns() - begin;
		best = ns < best ? ns : best;
		if (found.n < least || found.stopped)
			fprintf(stderr, "executions_bench: %zu found\n", found.n);
		free(found.spans);
	}
	return best;
}

int main(int argc, char **argv)
{
	const char *size = getenv("SPANS");
	struct model_options options = { .memory_limit = (size_t)4 << 30 };
	struct bench bench = { .model = NULL };
	struct execution_want want = {
		.kinds = EXECUTION_ALL, .dur_ns = EXECUTION_ANY, .start_ns = EXECUTION_ANY,
		.bytes = EXECUTION_ANY, .most = MOST,
	};
	int64_t longest_ns, name_ns, last_ns, all_ns, scan_ns;

	if (argc > 1 && !strcmp(argv[1], "--list")) {
		puts("G14.executions");
		return 0;
	}
	bench.model = model_new(&options);
	fill(&bench, size ? strtoull(size, NULL, 10) : 10000000);
	scan_ns = scan(&bench);
	longest_ns = ask(bench.model, &want, MOST);
	want.name = search_new(bench.model, SEARCH_NAME, conv, NULL);
	name_ns = ask(bench.model, &want, MOST);
	search_free(want.name);
	want.name = NULL;
	want.order = EXECUTIONS_BY_START;
	last_ns = ask(bench.model, &want, MOST);
	want.span = none;
	all_ns = ask(bench.model, &want, 0);
	printf("G14.executions|the %d longest of %zu, CPU (of a name %.1f, the last %.1f, each "
	       "looked at %.0f)"
	       "|%.1f|ms|low|scanning an array|%.1f|%.2f|<= 200 ms|%d||%s\n",
	       MOST, bench.n, (double)name_ns / 1e6, (double)last_ns / 1e6, (double)all_ns / 1e6,
	       (double)longest_ns / 1e6, (double)scan_ns / 1e6,
	       (double)longest_ns / (double)scan_ns, ROUNDS,
	       longest_ns <= 200000000 && name_ns <= 200000000 ? "true" : "false");
	model_free(bench.model);
	free(bench.lengths);
	return 0;
}
