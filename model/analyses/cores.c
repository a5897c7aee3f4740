/* SPDX-License-Identifier: MIT */
/*
 * How busy the processor's cores are with a framework's work, where probes report it.
 *
 * Definition: a core is busy while a thread is in an op that computes or in a kernel of a
 * library; an op that fetches a batch waits. A thread counts once, however deep its stack is.
 * The time of a library is the time of its kernels. Kernels that run on several threads count
 * on each of them; of kernels on one thread (those of XLA go on beside others) only the part
 * that no other kernel covers counts.
 *
 * Acts come in the order of their start, so a union is the sum of what lies beyond the latest
 * end so far. The last KEPT_MAX slices are kept one by one.
 *
 * Complexity: O(1) per act. Memory: KEPT_MAX slices, 8 bytes per thread.
 */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/work.h"
#include "model/base/util.h"
#include "model/core/model.h"
#include "model/counters/counters.h"
#include "model/query/cores.h"

#define KEPT_MAX 4096u
#define NEARLY_ALL 900			/* of 1000 */

struct cores_kept {
	int64_t t0, t1;
	struct cores_use use;
};

struct cores {
	struct cores_kept *list;		/* owned, by time */
	size_t n, cap;
	struct until { int64_t any_ns, kernels_ns; } *until;	/* owned; one for each thread */
	size_t n_threads;
	uint8_t *library;	/* owned; for each queue: library + 1, 0: not examined yet */
	size_t n_queues;
	uint32_t names[CORES_LIBRARIES];
	uint32_t n_names;
	bool any;			/* there was something to count */
};

uint32_t processor_cores(const struct model *model, uint32_t process)
{
	for (uint32_t i = 0; i < model->devices.n; i++) {
		const struct device *device = device_at(model, i);

		if (device->processor && device->host == process_at(model, process)->host)
			return device->units;
	}
	return 0;
}

struct processor_use processor_use(struct model *model, uint32_t process, int64_t t0, int64_t t1)
{
	struct processor_use use = {
		.cores = processor_cores(model, process),
		.own = counters_usage_mean(model, process, USAGE_PROCESSOR, t0, t1),
		.children = counters_usage_mean(model, process, USAGE_OF_CHILDREN, t0, t1),
	};

	if (use.children < 0)
		use.children = 0;
	use.all = use.cores && use.own >= 0 &&
		  use.own + use.children >= (int64_t)use.cores * NEARLY_ALL;
	return use;
}

/* A queue's name begins with its library's. */
static uint32_t library_of(struct model *model, struct cores *cores, uint32_t queue)
{
	char text[32];
	uint32_t name, i;

	if (queue >= cores->n_queues) {
		cores->library = xreallocarray(cores->library, model->queues.n, 1);
		memset(cores->library + cores->n_queues, 0, model->queues.n - cores->n_queues);
		cores->n_queues = model->queues.n;
	}
	if (cores->library[queue])
		return cores->library[queue] - 1u;
	name = queue_at(model, queue)->name;
	snprintf(text, sizeof(text), "%s", name ? names_raw(&model->names, name) : "");
	text[strcspn(text, " ")] = '\0';
	name = names_intern(&model->names, text);
	for (i = 0; i < cores->n_names && cores->names[i] != name; i++)
		;
	if (i == cores->n_names && i < CORES_LIBRARIES - 1)
		cores->names[cores->n_names++] = name;
	cores->library[queue] = (uint8_t)(i + 1);
	return i;
}

static void cores_slice(struct model *model, void *state, const struct slice *slice)
{
	struct cores *cores = state;
	struct cores_use use = { .span_ns = slice->t1 - slice->t0 -
					       pauses_within(model, slice->t0, slice->t1) };
	int64_t any_ns = slice->t0, input_ns = slice->t0;

	if (cores->n_threads < model->threads.n) {
		cores->until = xreallocarray(cores->until, model->threads.n, sizeof(*cores->until));
		memset(cores->until + cores->n_threads, 0,
		       (model->threads.n - cores->n_threads) * sizeof(*cores->until));
		cores->n_threads = model->threads.n;
	}
	for (size_t i = 0; i < slice->n; i++) {
		const struct act *act = &slice->acts[i];
		int64_t from = act_start(slice, act), to = act_end(slice, act);

		if (to <= from || act->flags & ACT_ASYNC)
			continue;
		if (act->kind == ACT_OP && act->work == WORK_INPUT)
			use.input_ns += time_beyond(&input_ns, from, to);
		else if ((act->flags & ACT_WORKS) && act->thread < cores->n_threads) {
			struct until *until = &cores->until[act->thread];

			use.busy_ns += time_beyond(&until->any_ns, from, to);
			use.any_ns += time_beyond(&any_ns, from, to);
			if (act->kind == ACT_RUN && act->queue != NONE)
				use.library_ns[library_of(model, cores, act->queue)] +=
					time_beyond(&until->kernels_ns, from, to);
		}
	}
	cores->any = cores->any || use.busy_ns;
	if (!cores->any)
		return;
	if (cores->n == KEPT_MAX) {
		cores->n /= 2;
		memmove(cores->list, cores->list + (KEPT_MAX - cores->n),
			cores->n * sizeof(*cores->list));
	}
	grow(&cores->list, &cores->cap, cores->n, sizeof(*cores->list));
	cores->list[cores->n++] = (struct cores_kept) { slice->t0, slice->t1, use };
}

static void cores_release(void *state)
{
	struct cores *cores = state;

	free(cores->list);
	free(cores->until);
	free(cores->library);
}

static size_t cores_bytes(const void *state)
{
	const struct cores *cores = state;

	return cores->cap * sizeof(*cores->list) + cores->n_threads * sizeof(*cores->until) +
	       cores->n_queues;
}

const struct analysis analysis_cores = {
	.name = "cores", .size = sizeof(struct cores), .slice = cores_slice,
	.release = cores_release, .bytes = cores_bytes,
	.needs_ops = true,
};

/* ---- queries ---- */

static int64_t part(int64_t ns, int64_t in_ns, int64_t of_ns)
{
	return (int64_t)((__int128)ns * in_ns / of_ns);
}

bool model_cores(struct model *model, int64_t t0, int64_t t1, struct cores_use *out)
{
	return cores_window(analysis_state(model, ANALYSIS_CORES), &model->names, t0, t1, out);
}

bool cores_window(const void *state, struct names *names, int64_t t0, int64_t t1,
		  struct cores_use *out)
{
	const struct cores *cores = state;
	uint32_t most = 0;

	memset(out, 0, sizeof(*out));
	for (size_t i = cores->n; i-- > 0 && cores->list[i].t1 > t0; ) {
		const struct cores_kept *kept = &cores->list[i];
		int64_t from = kept->t0 > t0 ? kept->t0 : t0, to = kept->t1 < t1 ? kept->t1 : t1;
		int64_t in_ns = to - from, of_ns = kept->t1 - kept->t0;

		if (in_ns <= 0)
			continue;
		out->span_ns += part(kept->use.span_ns, in_ns, of_ns);
		out->busy_ns += part(kept->use.busy_ns, in_ns, of_ns);
		out->any_ns += part(kept->use.any_ns, in_ns, of_ns);
		out->input_ns += part(kept->use.input_ns, in_ns, of_ns);
		for (uint32_t k = 0; k < CORES_LIBRARIES; k++)
			out->library_ns[k] += part(kept->use.library_ns[k], in_ns, of_ns);
	}
	for (uint32_t k = 1; k < cores->n_names; k++)
		if (out->library_ns[k] > out->library_ns[most])
			most = k;
	if (cores->n_names && out->library_ns[most]) {
		out->top = names_raw(names, cores->names[most]);
		out->top_ns = out->library_ns[most];
	}
	return out->span_ns > 0;
}
