/* SPDX-License-Identifier: MIT */
/*
 * Kernels that became slower: the same kernel with the same launch shape on the same device.
 *
 * Idea: the run so far is divided into BINS bins of equally many steps (seconds where there are
 * no steps); when they are full, every two become one. For each kernel, a bin has a count and a
 * sum. The first third of its bins is compared with the last third.
 *
 * Definition: a kernel became slower if the median of the last third's means is at least
 * `slowdown` % above that of the first third and, with the exception of one bin in EXCEPT on
 * either side, every late bin is above every early bin: noise moves bins both ways. The
 * distance between the two must be as large as the scatter of either third, and even the
 * fastest late run must be slower by half of `slowdown`: a kernel that is only interrupted now
 * and then is as fast as before in between. If nearly all kernels of a device slowed down
 * (SAME_SHARE of its kernel time, three kernels or more), the device is reported instead of
 * each kernel: its clock, heat, or other load.
 *
 * A processor shares its cores with everything that runs on the host. There, a device is never
 * reported, and a kernel only if it slowed down by that much more than the rest of the device's
 * work.
 *
 * The cost is what the late runs take longer than as many early runs. The slowdown began at the
 * first bin after the last one that is closer to the early median than to the late one.
 *
 * Complexity: O(1) for a run; the bins are merged each time the run has doubled. Memory:
 * KERNELS_KEPT kernels of BINS bins; kernels that come later are not watched.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/work.h"
#include "model/base/util.h"
#include "model/core/model.h"

#define BINS 48u
#define BINS_LEAST 12u			/* minimum number of bins with runs, to compare thirds */
#define RUNS_LEAST 30u
#define EXCEPT 8u
#define KERNELS_KEPT 512u
#define SAME_SHARE 800			/* per mille */

struct bin { int64_t sum_ns, least_ns; uint64_t count; };

struct slowdown_kernel {
	uint32_t name, device, shape, row;
	struct bin bins[BINS];
};

struct slowdown {
	struct basis basis;
	struct slowdown_kernel **list;		/* owned, as are they */
	size_t n, cap;
	struct map by_key;
	struct act_slots last;		/* by name: what was last found, plus 1 */
	enum scope scope;		/* which slices the bins are about */
	uint32_t in_last, width;	/* slices in the last bin; in each full one */
	size_t n_bins;			/* number of bins, of which the last one is being filled */
	int64_t starts[BINS];
};

/* A kernel's first third of bins and its last third. */
struct thirds {
	const struct slowdown_kernel *kernel;
	int64_t before_ns, after_ns, cost_ns, late_ns, began_ns;
	bool slower;
};

static void slowdown_release(void *state)
{
	struct slowdown *slow = state;

	for (size_t i = 0; i < slow->n; i++)
		free(slow->list[i]);
	free(slow->list);
	map_release(&slow->by_key);
	free(slow->last.of);
}

static size_t slowdown_bytes(const void *state)
{
	const struct slowdown *slow = state;

	return slow->n * sizeof(struct slowdown_kernel) + map_bytes(&slow->by_key) +
	       slow->last.n * sizeof(*slow->last.of);
}

/* ---- bins ---- */

/* Steps were found after seconds had been counted: starts again with empty bins. */
static void start_over(struct slowdown *slow, enum scope scope)
{
	for (size_t i = 0; i < slow->n; i++)
		memset(slow->list[i]->bins, 0, sizeof(slow->list[i]->bins));
	slow->scope = scope;
	slow->n_bins = 0;
	slow->in_last = slow->width = 0;
}

static int64_t least(const struct bin *a, const struct bin *b)
{
	return !a->count || (b->count && b->least_ns < a->least_ns) ? b->least_ns : a->least_ns;
}

static void merge_bins(struct slowdown *slow)
{
	for (size_t k = 0; k < slow->n; k++) {
		struct bin *bins = slow->list[k]->bins;

		for (size_t i = 0; i < BINS / 2; i++) {
			bins[i].least_ns = least(&bins[2 * i], &bins[2 * i + 1]);
			bins[i].sum_ns = bins[2 * i].sum_ns + bins[2 * i + 1].sum_ns;
			bins[i].count = bins[2 * i].count + bins[2 * i + 1].count;
		}
		memset(bins + BINS / 2, 0, sizeof(*bins) * (BINS / 2));
	}
	for (size_t i = 0; i < BINS / 2; i++)
		slow->starts[i] = slow->starts[2 * i];
	slow->n_bins = BINS / 2;
	slow->width *= 2;
	slow->in_last = slow->width;
}

/* Makes the bin of the next slice the last one. */
static void next_bin(struct slowdown *slow, int64_t t0)
{
	if (!slow->width)
		slow->width = slow->in_last = 1;
	if (slow->n_bins == BINS && slow->in_last >= slow->width)
		merge_bins(slow);
	if (!slow->n_bins || slow->in_last >= slow->width) {
		slow->starts[slow->n_bins++] = t0;
		slow->in_last = 0;
	}
	slow->in_last++;
}

static bool is_of(const struct slowdown_kernel *one, const struct act *act)
{
	return one->name == act->name && one->device == act->device && one->shape == act->object;
}

static struct slowdown_kernel *watched_get(struct slowdown *slow, const struct act *act)
{
	uint32_t *last = slot_of(&slow->last, act->name), at;
	struct slowdown_kernel *one;
	uint64_t key;

	if (*last && is_of(slow->list[*last - 1], act))
		return slow->list[*last - 1];
	key = map_mix((uint64_t)act->name << 32 | act->object) ^ map_mix(act->device + 1u);
	at = map_get(&slow->by_key, key);
	if (at != MAP_NONE) {
		one = slow->list[at];
		*last = at + 1;
		return is_of(one, act) ? one : NULL;
	}
	if (slow->n == KERNELS_KEPT)
		return NULL;
	grow(&slow->list, &slow->cap, slow->n, sizeof(*slow->list));
	one = xcalloc(1, sizeof(*one));
	one->name = act->name;
	one->device = act->device;
	one->shape = act->object;
	one->row = act->row;
	map_set(&slow->by_key, key, (uint32_t)slow->n);
	slow->list[slow->n++] = one;
	return one;
}

static void add_run(struct bin *bin, int64_t dur_ns)
{
	if (!bin->count || dur_ns < bin->least_ns)
		bin->least_ns = dur_ns;
	bin->sum_ns += dur_ns;
	bin->count++;
}

static void slowdown_slice(struct model *model, void *state, const struct slice *slice)
{
	struct slowdown *slow = state;
	enum scope scope;

	(void)model;
	if (!basis_add(&slow->basis, slice, &scope) || scope != basis_scope(&slow->basis))
		return;
	if (scope != slow->scope)
		start_over(slow, scope);
	next_bin(slow, slice->t0);
	for (size_t i = 0; i < slice->n_runs; i++) {
		const struct act *act = &slice->acts[slice->runs[i]];
		struct slowdown_kernel *one;

		if (!act_is_kernel(act) || !act_counts(slice, act) || (act->flags & ACT_APPROX))
			continue;
		one = watched_get(slow, act);
		if (one)
			add_run(&one->bins[slow->n_bins - 1], act->end_ns - act->start_ns);
	}
}

static void slowdown_init(struct model *model, void *state)
{
	(void)model;
	((struct slowdown *)state)->scope = SCOPE_TIME;
}

/* ---- comparing thirds ---- */

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The time at which the means went from one side of the middle to the other for good. */
static int64_t when(const struct slowdown *slow, const int64_t *means, const size_t *at, size_t n,
		    const struct thirds *thirds)
{
	int64_t middle = thirds->before_ns + (thirds->after_ns - thirds->before_ns) / 2;
	size_t i = n;

	while (i > 0 && means[i - 1] >= middle)
		i--;
	return slow->starts[at[i < n ? i : n - 1]];
}

/* Whether the later ones are above the early ones by more than either scatters, with few
 * exceptions. Both are sorted and have n elements. */
static bool apart(const int64_t *early, const int64_t *late, size_t n)
{
	size_t low = n / EXCEPT, high = n - 1 - low;
	int64_t between = late[low] - early[high];

	return between > 0 && between >= early[high] - early[low] &&
		between >= late[high] - late[low];
}

static void slowdown_judge_kernel(const struct slowdown *slow, int64_t threshold,
				  struct thirds *thirds)
{
	const struct bin *bins = thirds->kernel->bins;
	int64_t means[BINS], early[BINS], late[BINS], fastest = INT64_MAX;
	size_t at[BINS], n = 0, third;
	uint64_t runs = 0, late_runs = 0;

	/* the last bin is not full */
	for (size_t i = 0; i + 1 < slow->n_bins; i++) {
		if (!bins[i].count)
			continue;
		at[n] = i;
		means[n++] = bins[i].sum_ns / (int64_t)bins[i].count;
		runs += bins[i].count;
	}
	if (n < BINS_LEAST || runs < RUNS_LEAST)
		return;
	third = n / 3;
	memcpy(early, means, third * sizeof(*means));
	memcpy(late, means + n - third, third * sizeof(*means));
	qsort(early, third, sizeof(*early), by_value);
	qsort(late, third, sizeof(*late), by_value);
	for (size_t i = n - third; i < n; i++) {
		if (bins[at[i]].least_ns < fastest)
			fastest = bins[at[i]].least_ns;
		late_runs += bins[at[i]].count;
		thirds->late_ns += bins[at[i]].sum_ns;
	}
	thirds->before_ns = early[third / 2];
	thirds->after_ns = late[third / 2];
	thirds->slower = apart(early, late, third) &&
		per_mille(fastest - thirds->before_ns, thirds->before_ns) >=
		threshold * 5 &&
		per_mille(thirds->after_ns - thirds->before_ns, thirds->before_ns) >=
		threshold * 10;
	if (!thirds->slower)
		return;
	thirds->cost_ns = (int64_t)((__int128)(thirds->after_ns - thirds->before_ns) * late_runs /
				    ((at[n - 1] - at[n - third] + 1) * slow->width));
	thirds->began_ns = when(slow, means, at, n, thirds);
}

/* ---- findings ---- */

static int64_t more_percent(const struct thirds *thirds)
{
	return per_mille(thirds->after_ns - thirds->before_ns, thirds->before_ns) / 10;
}

static void kernel_finding(struct model *model, const struct slowdown *slow,
			   const struct thirds *thirds, struct findings *findings)
{
	char before[FMT_MAX], after[FMT_MAX];
	struct finding finding = {
		.id = "slowing-kernel",
		.subject = thirds->kernel->name ^ thirds->kernel->shape << 24,
		.severity = SEVERITY_WARNING, .cost_ns = thirds->cost_ns,
		.evidence = {
			.kind = EVIDENCE_KERNEL, .t0 = thirds->began_ns, .t1 = thirds->began_ns,
			.row = thirds->kernel->row,
			.key = names_short(&model->names, thirds->kernel->name),
		},
	};

	if (per_mille(thirds->cost_ns, basis_whole(&slow->basis)) <
	    model_threshold(model, THRESHOLD_SLOWER_SHARE) * 10)
		return;
	fmt_time(before, thirds->before_ns);
	fmt_time(after, thirds->after_ns);
	snprintf(finding.title, FINDING_TEXT,
		 "slowing kernel: %.80s takes %.24s, at first %.24s (%lld %% more)",
		 finding.evidence.key, after, before, (long long)more_percent(thirds));
	snprintf(finding.lines[0], FINDING_TEXT,
		 "launches of the same shape, compared between the first and the last third of the "
		 "run");
	snprintf(finding.advice, FINDING_TEXT,
		 "check what changed then: the values or the layout of the data, or who shares the "
		 "device");
	finding_add(findings, &finding);
}

/* One sentence about the device, if all of its kernels became slower. */
static void device_finding(struct model *model, const struct slowdown *slow, uint32_t device,
			   const struct thirds *all, size_t n, struct findings *findings)
{
	int64_t cost_ns = 0, began_ns = INT64_MAX, late_ns = 0, extra_ns = 0;
	size_t slower = 0;
	struct finding finding = {
		.id = "slowing-device", .subject = device, .severity = SEVERITY_WARNING,
		.evidence.kind = EVIDENCE_STEPS,
	};

	for (size_t i = 0; i < n; i++) {
		if (!all[i].slower || all[i].kernel->device != device)
			continue;
		slower++;
		cost_ns += all[i].cost_ns;
		late_ns += all[i].late_ns;
		extra_ns += all[i].late_ns / all[i].after_ns *
			    (all[i].after_ns - all[i].before_ns);
		if (all[i].began_ns < began_ns)
			began_ns = all[i].began_ns;
	}
	finding.cost_ns = cost_ns;
	finding.evidence.t0 = finding.evidence.t1 = began_ns;
	if (per_mille(cost_ns, basis_whole(&slow->basis)) <
	    model_threshold(model, THRESHOLD_SLOWER_SHARE) * 10)
		return;
	snprintf(finding.title, FINDING_TEXT,
		 "slowing device: %zu kernels on %.60s, nearly all of them, take %lld %% longer "
		 "than at first",
		 slower, device_label(model, device),
		 (long long)(per_mille(extra_ns, late_ns - extra_ns) / 10));
	snprintf(finding.advice, FINDING_TEXT,
		 "check the device's clock and temperature, and who else uses it");
	finding_add(findings, &finding);
}

/* Whether nearly all of a device's kernel time became slower. */
static bool all_slower(uint32_t device, const struct thirds *all, size_t n)
{
	int64_t all_ns = 0, slower_ns = 0;
	size_t slower = 0;

	for (size_t i = 0; i < n; i++) {
		if (all[i].kernel->device != device)
			continue;
		all_ns += all[i].late_ns;
		slower_ns += all[i].slower ? all[i].late_ns : 0;
		slower += all[i].slower;
	}
	return slower >= 3 && per_mille(slower_ns, all_ns) >= SAME_SHARE;
}

static bool is_processor(const struct model *model, uint32_t device)
{
	return device < model->devices.n && device_at(model, device)->defined &&
		!device_at(model, device)->gpu;
}

/* Whether the slowdown is the kernel's own: how long the rest of the device's work takes now,
 * relative to 1000 before, shows the influence of the host's other work. */
static bool slowdown_is_its_own(const struct thirds *one, const struct thirds *all, size_t n,
				int64_t threshold)
{
	int64_t before = 0, after = 0, rest;

	for (size_t i = 0; i < n; i++) {
		if (&all[i] == one || all[i].kernel->device != one->kernel->device ||
		    all[i].kernel->name == one->kernel->name || !all[i].before_ns)
			continue;
		add_ns(&after, all[i].late_ns);
		add_ns(&before, (int64_t)((__int128)all[i].late_ns * all[i].before_ns /
					  (all[i].after_ns ? all[i].after_ns : 1)));
	}
	rest = before ? per_mille(after, before) : 1000;
	return per_mille(one->after_ns, one->before_ns) >=
		(rest > 1000 ? rest : 1000) * (100 + threshold) / 100;
}

static void slowdown_review(struct model *model, void *state, struct findings *findings)
{
	const struct slowdown *slow = state;
	int64_t threshold = model_threshold(model, THRESHOLD_SLOWER);
	struct thirds *all;
	size_t i, k;

	if (!slow->n || !basis_ready(model, &slow->basis))
		return;
	all = xcalloc(slow->n, sizeof(*all));
	for (i = 0; i < slow->n; i++) {
		all[i].kernel = slow->list[i];
		slowdown_judge_kernel(slow, threshold, &all[i]);
	}
	for (i = 0; i < slow->n; i++) {
		uint32_t device = all[i].kernel->device;

		if (!all[i].slower)
			continue;
		if (is_processor(model, device)) {
			if (slowdown_is_its_own(&all[i], all, slow->n, threshold))
				kernel_finding(model, slow, &all[i], findings);
			continue;
		}
		if (!all_slower(device, all, slow->n)) {
			kernel_finding(model, slow, &all[i], findings);
			continue;
		}
		/* only once, at the device's first slower kernel */
		for (k = 0; k < i && !(all[k].slower && all[k].kernel->device == device); )
			k++;
		if (k == i)
			device_finding(model, slow, device, all, slow->n, findings);
	}
	free(all);
}

const struct analysis analysis_slowdown = {
	.name = "slowdown", .size = sizeof(struct slowdown), .init = slowdown_init,
	.per_step = true,
	.release = slowdown_release, .slice = slowdown_slice, .review = slowdown_review,
	.bytes = slowdown_bytes,
};

/* ---- queries ---- */

/* Sums over all launch shapes of one kernel, for its points. */
struct sums { struct bin points[TREND_POINTS]; };

static void add_bins(struct sums *sums, const struct slowdown_kernel *kernel, size_t n_bins,
		     size_t points)
{
	for (size_t i = 0; i < n_bins; i++) {
		struct bin *point = &sums->points[i * points / n_bins];

		point->sum_ns += kernel->bins[i].sum_ns;
		point->count += kernel->bins[i].count;
	}
}

size_t slowdown_trends(const void *state, struct names *names, struct kernel_trend **out)
{
	const struct slowdown *slow = state;
	size_t points = slow->n_bins < TREND_POINTS ? slow->n_bins : TREND_POINTS, n = 0;
	struct sums *sums = xcalloc(slow->n, sizeof(*sums));
	struct map rows = { .size = 0 };

	*out = xcalloc(slow->n, sizeof(**out));
	for (size_t i = 0; i < slow->n; i++) {
		const struct slowdown_kernel *kernel = slow->list[i];
		uint64_t key = (uint64_t)kernel->name << 32 | kernel->device;
		uint32_t at = map_get(&rows, key);

		if (at == MAP_NONE) {
			at = (uint32_t)n++;
			map_set(&rows, key, at);
			(*out)[at] = (struct kernel_trend) {
				.raw_name = names_raw(names, kernel->name),
				.device = kernel->device, .n = (uint32_t)points,
			};
		}
		add_bins(&sums[at], kernel, slow->n_bins, points);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < points; k++)
			if (sums[i].points[k].count)
				(*out)[i].mean_ns[k] = sums[i].points[k].sum_ns /
						       (int64_t)sums[i].points[k].count;
	free(sums);
	map_release(&rows);
	return n;
}

size_t model_kernel_trends(struct model *model, struct kernel_trend **out)
{
	return slowdown_trends(analysis_state(model, ANALYSIS_SLOWDOWN), &model->names, out);
}
