/* SPDX-License-Identifier: MIT */
/*
 * What the analyses cost for each act (a launch, a run, an op …), on the synthetic
 * programs of model_bench.c: the engine and all that it hands acts to, beside
 * putting the same acts into an array and sorting it with qsort().
 *
 * The model's calls come here first (linked with --wrap): acts are put aside until
 * the model looks whether something is to be handed out, so that no clock is read
 * for each of them. SPANS=N, BUSY=1: one size, one program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/analyses/analyses.h"
#include "model/synth/synth.h"

#define WAITING 65536u
#define SORTED 16384u			/* acts of one slice */

static struct {
	struct act *waiting, *array;	/* owned */
	size_t n, n_array;
	uint64_t acts;
	int64_t ns, array_ns;
} bench;

void __real_acts_push(struct model *model, const struct act *act);
void __real_analyses_poll(struct model *model, bool batch_ends);
void __real_analyses_run(struct model *model, bool finish);
void __wrap_acts_push(struct model *model, const struct act *act);
void __wrap_analyses_poll(struct model *model, bool batch_ends);
void __wrap_analyses_run(struct model *model, bool finish);

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_start(const void *a, const void *b)
{
	const struct act *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void put_into_array(void)
{
	for (size_t i = 0; i < bench.n; i++) {
		bench.array[bench.n_array++] = bench.waiting[i];
		if (bench.n_array == SORTED) {
			qsort(bench.array, SORTED, sizeof(*bench.array), by_start);
			bench.n_array = 0;
		}
	}
}

static void hand_over(struct model *model)
{
	int64_t begin = now_ns(), middle;

	put_into_array();
	middle = now_ns();
	for (size_t i = 0; i < bench.n; i++)
		__real_acts_push(model, &bench.waiting[i]);
	bench.array_ns += middle - begin;
	bench.ns += now_ns() - middle;
	bench.acts += bench.n;
	bench.n = 0;
}

void __wrap_acts_push(struct model *model, const struct act *act)
{
	if (bench.n == WAITING)
		hand_over(model);
	bench.waiting[bench.n++] = *act;
}

void __wrap_analyses_poll(struct model *model, bool batch_ends)
{
	int64_t begin;

	hand_over(model);
	begin = now_ns();
	__real_analyses_poll(model, batch_ends);
	bench.ns += now_ns() - begin;
}

void __wrap_analyses_run(struct model *model, bool finish)
{
	int64_t begin;

	hand_over(model);
	begin = now_ns();
	__real_analyses_run(model, finish);
	bench.ns += now_ns() - begin;
}

static void feed(void *arg, const struct event *events, size_t count)
{
	model_apply(arg, events, count);
}

static void measure(uint64_t acts, const char *id, const char *words, bool busy)
{
	struct model_synth_profile profile = model_synth_default;
	struct model_options options = { .memory_limit = (size_t)1 << 30 };
	struct model *model = model_new(&options);
	struct model_synth *synth;
	double each, array;

	profile.processes = 4;
	profile.queues = busy ? 6 : 3;
	profile.kernel_ns = 20000;
	profile.late_permille = busy ? 20 : 2;
	profile.layers = busy ? 48 : profile.layers;
	synth = model_synth_new(1, &profile, 1000000000);
	bench.acts = 0;
	bench.ns = bench.array_ns = 0;
	for (int64_t at = 1000000000; bench.acts < acts; ) {
		at += 10000000;
		model_synth_advance(synth, at, feed, model);
	}
	model_synth_end(synth, feed, model);
	model_finish(model, false);
	each = (double)bench.ns / (double)bench.acts;
	array = (double)bench.array_ns / (double)bench.acts;
	printf("%s|the analyses, an act, %s|%.0f|ns|low|into an array, "
	       "sorted|%.0f|%.2f|-|1||null\n",
	       id, words, each, array, each / array);
	fflush(stdout);
	model_synth_free(synth);
	model_free(model);
}

int main(int argc, char **argv)
{
	const char *spans = getenv("SPANS");
	uint64_t n = spans ? strtoull(spans, NULL, 10) : 3000000;

	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		puts("G8.acts G8.acts-busy");
		return 0;
	}
	bench.waiting = calloc(WAITING, sizeof(*bench.waiting));
	bench.array = calloc(SORTED, sizeof(*bench.array));
	if (!bench.waiting || !bench.array)
		return 1;
	if (!getenv("BUSY"))
		measure(n, "G8.acts", "steps of four processes", false);
	measure(n, "G8.acts-busy", "more of all", true);
	free(bench.waiting);
	free(bench.array);
	return 0;
}
