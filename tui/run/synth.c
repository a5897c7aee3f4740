/* SPDX-License-Identifier: MIT */
#include "tui/run/synth.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/synth/synth.h"
#include "model/base/util.h"
#include "tui/terminal/output.h"

#define START_NS INT64_C(500000000)	/* no event for so long at the start */

#define ODD_BATCH 2			/* most names of one event */

struct synth {
	struct model *model;		/* borrowed */
	struct model_synth *source;	/* owned */
	uint64_t printed;		/* number of steps, or of requests, printed */
	bool finished;
	bool names;			/* use odd names */
	char *odd[ODD_BATCH];		/* owned; odd names of the current event */
	size_t odd_count;
};

struct synth *synth_new(uint64_t seed, const char *with, struct model *model)
{
	const struct model_synth_profile gpu = {
		.gpu = true, .processes = 1, .devices = !strcmp(with, ",gpus") ? 8 : 2,
		.queues = !strcmp(with, ",gpus") ? 8 * 16 : 2 * SYNTH_GPU_STREAMS,
	};
	const struct model_synth_profile generate = {
		.generate = true, .processes = 1, .devices = 1, .queues = 1,
	};
	const struct model_synth_profile profile = {
		.counters = !strcmp(with, ",counters"), .processor = !strcmp(with, ",processor"),
		.host = !strcmp(with, ",host"),
		.processes = 1, .devices = 1, .queues = 2, .input_threads = 1, .layers = 5,
		.kernels = 2, .kernel_ns = 4000000, .lose_every = 40, .fail_permille = 2,
		.opens = true, .layer_bytes = 24 << 20,
		.input_ns = 12000000, .upload_bytes = 48 << 20,
	};
	struct synth *synth = xcalloc(1, sizeof(*synth));

	synth->model = model;
	synth->names = !strcmp(with, ",names");
	synth->source = model_synth_new(seed, !strncmp(with, ",gpu", 4) ? &gpu :
					!strcmp(with, ",generate") ? &generate : &profile,
					SYNTH_BASE_NS + START_NS);
	return synth;
}

void synth_free(struct synth *synth)
{
	if (!synth)
		return;
	model_synth_free(synth->source);
	for (size_t i = 0; i < ODD_BATCH; i++)
		free(synth->odd[i]);
	free(synth);
}

/* Names that can disturb a screen: control sequences, wide or zero-width characters, text from
 * right to left, invalid UTF-8, very long names, and names that look like something else. */
static const char *const odd_names[] = {
	"\033[2J\033]0;title\007",
	"\302\2332J",
	"\23331m",
	"日本語カーネル",
	"e\u0301\u0302",
	"🔥👩‍👩‍👧",
	"مرحبا",
	"\u202ereversed",
	"\377\376\303",
	"a\tb\nc\r",
	"{bad:role}",
	"   ",
	"＃ｗｉｄｅ",
	"%s%n%99999d",
	"\u2028\302\255\ufeff",
	"\360\237\224",
	("std::vector<std::basic_string<char, std::char_traits<char>>, "
	 "std::allocator<int>>::operator()"
	 "(void (*)(int, long, float const&) const, std::pair<std::less<void>, long double>) "
	 "const::{lambda}"),
};

static const char *odd_name(struct synth *synth, const char *name, uint32_t id)
{
	size_t odd = id % (sizeof(odd_names) / sizeof(*odd_names));

	if (!name)
		return NULL;
	if (synth->odd_count == ODD_BATCH)
		return name;
	free(synth->odd[synth->odd_count]);
	synth->odd[synth->odd_count] = xasprintf("%s%s", odd_names[odd], name);
	return synth->odd[synth->odd_count++];
}

static void take_odd(struct synth *synth, const struct event *events, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct event event = events[i];

		synth->odd_count = 0;
		switch (event.type) {
		case EVENT_NAME:
			event.u.name.text = odd_name(synth, event.u.name.text, event.u.name.id);
			break;
		case EVENT_THREAD:
			event.u.thread.name =
				odd_name(synth, event.u.thread.name, event.u.thread.tid);
			break;
		case EVENT_QUEUE:
			event.u.queue.name = odd_name(synth, event.u.queue.name, event.u.queue.id);
			break;
		case EVENT_DEVICE:
			event.u.device.name = odd_name(synth, event.u.device.name, 3);
			event.u.device.vendor = odd_name(synth, event.u.device.vendor, 0);
			break;
		case EVENT_PROCESS:
			event.u.process.command = odd_name(synth, event.u.process.command, 5);
			break;
		default:
			break;
		}
		model_apply(synth->model, &event, 1);
	}
}

static void take(void *arg, const struct event *events, size_t count)
{
	struct synth *synth = arg;

	if (synth->names)
		take_odd(synth, events, count);
	else
		model_apply(synth->model, events, count);
}

/* Prints what such a program would print. */
static void print_steps(struct synth *synth, struct program_output *output)
{
	char text[80];

	for (; synth->printed < model_synth_truth(synth->source)->requests; synth->printed++) {
		snprintf(text, sizeof(text), "request %" PRIu64 " answered\r\n", synth->printed);
		output_feed(output, text, strlen(text));
	}
	if (model_synth_truth(synth->source)->requests)
		return;
	for (; synth->printed < model_synth_truth(synth->source)->steps; synth->printed++) {
		snprintf(text, sizeof(text), "step %" PRIu64 "  loss 0.%03d\r\n", synth->printed,
			 (int)(900 / (1 + synth->printed / 20)));
		output_feed(output, text, strlen(text));
	}
}

void synth_advance(struct synth *synth, int64_t until_ns, struct program_output *output)
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
