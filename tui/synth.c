/* SPDX-License-Identifier: MIT */
#include "tui/synth.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/synth.h"
#include "model/base/util.h"
#include "tui/output.h"

#define START_NS INT64_C(500000000)	/* nothing is seen for so long */

struct synth {
	struct model *model;		/* borrowed */
	struct model_synth *source;	/* owned */
	uint64_t printed;		/* steps */
	bool finished;
};

struct synth *synth_new(uint64_t seed, const char *with, struct model *model)
{
	const struct model_synth_profile gpu = {
		.gpu = true, .processes = 1, .devices = !strcmp(with, ",gpus") ? 8 : 2,
		.queues = !strcmp(with, ",gpus") ? 8 * 16 : 2 * SYNTH_GPU_STREAMS,
	};
	const struct model_synth_profile profile = {
		.counters = !strcmp(with, ",counters"), .processor = !strcmp(with, ",processor"),
		.processes = 1, .devices = 1, .queues = 2, .input_threads = 1, .layers = 5,
		.kernels = 2, .kernel_ns = 4000000, .lose_every = 40, .fail_permille = 2,
		.opens = true, .layer_bytes = 24 << 20,
		.input_ns = 12000000, .upload_bytes = 48 << 20,
	};
	struct synth *synth = xcalloc(1, sizeof(*synth));

	synth->model = model;
	synth->source = model_synth_new(seed, strncmp(with, ",gpu", 4) ? &profile : &gpu,
					SYNTH_BASE_NS + START_NS);
	return synth;
}

void synth_free(struct synth *synth)
{
	if (!synth)
		return;
	model_synth_free(synth->source);
	free(synth);
}

static void take(void *arg, const struct event *events, size_t count)
{
	struct synth *synth = arg;

	model_apply(synth->model, events, count);
}

/* What such a program says. */
static void print_steps(struct synth *synth, struct output *output)
{
	char text[80];

	for (; synth->printed < model_synth_truth(synth->source)->steps; synth->printed++) {
		snprintf(text, sizeof(text), "step %" PRIu64 "  loss 0.%03d\r\n", synth->printed,
			 (int)(900 / (1 + synth->printed / 20)));
		output_feed(output, text, strlen(text));
	}
}

void synth_advance(struct synth *synth, int64_t until_ns, struct output *output)
{
	if (synth->finished)
		return;
	if (until_ns < SYNTH_END_NS) {
		model_synth_advance(synth->source, SYNTH_BASE_NS + until_ns, take, synth);
	} else {
		model_synth_end(synth->source, take, synth);
		model_finish(synth->model, false);
		synth->finished = true;
	}
	print_steps(synth, output);
}
