/* SPDX-License-Identifier: MIT */
/*
 * What a DataLoader of PyTorch costs a step, and how many workers would keep up.
 *
 * Definitions: without workers, the wait for a batch is the time to make it. With n workers
 * that do not keep up, none of them ever rests, so each makes a batch in at most n steps. As
 * many workers as are needed to fit that into the rest of a step would keep up. Where making a
 * sample uses a core, which it does unless it waits for a disk or a network, more workers than
 * unused cores do not help. How many are needed is not said where the workers are not seen, as
 * without --children those that were started before tftop came are not. A batch that is made in
 * less time than a worker takes to hand it over does not arrive earlier with workers.
 */
#include <stdio.h>
#include <string.h>

#include "model/analyses/finding.h"
#include "model/analyses/sweep.h"
#include "model/base/util.h"
#include "model/steps/steps.h"

#define HAND_OVER_NS 1000000	/* up to 2 ms for 200 KiB, with PyTorch 2.13 on a busy machine */

bool loader_is_worker(const struct model *model, uint32_t process, uint32_t child, int64_t at_ns)
{
	const struct process *one = process_at(model, child);
	int32_t starter = one->starter ? one->starter : one->parent;
	int64_t end_ns = one->said_exit ? one->seen_ns : one->exit_seen_ns;

	return child != process && one->defined &&
	       starter == (int32_t)process_at(model, process)->pid && one->n_probes &&
	       one->start_ns <= at_ns && (!one->exited || end_ns >= at_ns);
}

unsigned loader_workers(const struct model *model, uint32_t process, int64_t at_ns)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < model->processes.n; i++)
		n += loader_is_worker(model, process, i, at_ns);
	return n;
}

/* Whether a device other than the program's processor takes the batches. */
static bool has_device(const struct model *model)
{
	for (uint32_t i = 0; i < model->devices.n; i++)
		if (!device_at(model, i)->processor)
			return true;
	return false;
}

static void loader_unseen(const struct model *model, int64_t rest_ns, struct finding *finding)
{
	char rest[FMT_MAX];

	snprintf(finding->lines[0], FINDING_TEXT, "its workers cannot keep up; tftop does not see "
		 "them: with -p it sees all of them only with --children");
	snprintf(finding->lines[1], FINDING_TEXT, "without the wait a %s would take %s",
		 step_noun(steps_are_passes(model)), fmt_time(rest, rest_ns));
	snprintf(finding->advice, FINDING_TEXT, "more of them (num_workers) would keep up, if "
		 "cores are free or the samples wait for a disk; otherwise do less work per "
		 "sample");
}

bool loader_review(struct model *model, uint32_t process, const char *held, int64_t whole_ns,
		   struct finding *finding)
{
	int64_t wait_ns = finding->cost_ns, rest_ns = whole_ns - wait_ns, batch_ns, wanted;
	bool alone = held && strstr(held, "_SingleProcess");
	unsigned n;
	char batch[FMT_MAX], rest[FMT_MAX], many[FMT_MAX], during[40] = "";

	if (!held || strncmp(held, "enumerate(DataLoader)#", 22) || rest_ns <= 0)
		return false;
	n = alone ? 0 : loader_workers(model, process, finding->evidence.t1);
	if (!alone && !n) {
		loader_unseen(model, rest_ns, finding);
		return true;
	}
	batch_ns = alone ? wait_ns : n * whole_ns;
	wanted = (batch_ns + rest_ns - 1) / rest_ns;
	if (wanted <= n)
		wanted = n + 1;
	fmt_time(rest, rest_ns);
	if (alone)
		snprintf(finding->lines[0], FINDING_TEXT,
			 "num_workers is 0: the training process itself loads the samples, a batch "
			 "in %s",
			 fmt_time(batch, batch_ns));
	else
		snprintf(finding->lines[0], FINDING_TEXT,
			 "%s cannot keep up: a worker takes up to %s for a batch",
			 fmt_many(many, n, "worker"), fmt_time(batch, batch_ns));
	snprintf(finding->lines[1], FINDING_TEXT, "without the wait a %s would take %s",
		 step_noun(steps_are_passes(model)), rest);
	if (!alone)
		host_wait_workers(model, process, finding->evidence.t1, finding);
	if (alone && batch_ns < HAND_OVER_NS) {
		snprintf(finding->advice, FINDING_TEXT, "do less work per sample, or fetch many "
			 "samples at once (__getitems__); a worker would not help, because handing "
			 "a batch over takes about as long");
		return true;
	}
	if (alone && wanted == 1)
		snprintf(during, sizeof(during), " (a worker loads during the %s)",
			 step_noun(steps_are_passes(model)));
	snprintf(finding->advice, FINDING_TEXT,
		 "%snum_workers=%lld would keep up%s%s, if cores are free or the samples wait for "
		 "a disk; %s%s", alone ? "" : "about ", (long long)wanted,
		 during,
		 n > 1 ? " (prefetch_factor only smooths)" : "",
		 "otherwise do less work per sample", has_device(model) ?
		 "; pin_memory=True makes the copies to the device cheaper" : "");
	return true;
}
