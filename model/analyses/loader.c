/* SPDX-License-Identifier: MIT */
/*
 * What a DataLoader of PyTorch costs a step, and how many workers would keep up.
 *
 * Definitions: without workers, the wait for a batch is the time to make it. With n workers, each
 * makes a batch in at most n steps, without the part of its time in which it rests: it waits for
 * what it is to load next, as its call stack says. As many workers as are needed to fit that into
 * the rest of a step would keep up. If they rest for half of their time or more, it is not making
 * batches what takes long but taking them over, and more workers would not help. Where making a
 * sample uses a core, which it does unless it waits for a disk or a network, more workers than
 * unused cores do not help; where the program and its workers have all of them, that is said
 * instead. How many are needed is not said where the workers are not seen, as
 * without --children those that were started before tftop came are not. A batch that is made in
 * less time than a worker takes to hand it over does not arrive earlier with workers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/analyses/finding.h"
#include "model/analyses/host_others.h"
#include "model/analyses/sweep.h"
#include "model/base/util.h"
#include "model/host/doings.h"
#include "model/lines/lines.h"
#include "model/steps/steps.h"

#define REST_LOOKS 20u
#define USE_NS INT64_C(10000000000)	/* over which the use of the processors is averaged */
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

/* ---- whether they rest ---- */

/* Whether a frame, as frame_get() returns it, is of a function in that file. */
static bool loader_is_in(struct model *model, uint32_t frame, const char *end)
{
	const char *file = frame ? frame_file(model, frame_at(model->lines, frame - 1)) : "";
	size_t n = strlen(file), m = strlen(end);

	return n >= m && !strcmp(file + n - m, end);
}

/* Whether a worker's own loop waits in its queue for what it is to load next. */
static bool loader_rests(struct model *model, const struct doing *doing)
{
	uint32_t frame = doing_sum_at(model, doing->sum)->stack, caller;

	if (doing->kind != DOING_PIPE && doing->kind != DOING_POLL && doing->kind != DOING_LOCK)
		return false;
	for (; frame; frame = caller) {
		caller = frame_caller(model->lines, frame);
		if (loader_is_in(model, frame, "/multiprocessing/queues.py") &&
		    loader_is_in(model, caller, "/torch/utils/data/_utils/worker.py"))
			return true;
	}
	return false;
}

/* In 1/1000 of what was seen of the workers of that time, of the last seconds of each; 0 if too
 * little was seen. */
static int64_t loader_rest(struct model *model, uint32_t process, int64_t at_ns)
{
	int64_t all_ns = 0, rest_ns = 0;
	uint64_t looks = 0;

	for (uint32_t i = 0; i < model->threads.n; i++) {
		const struct thread *thread = thread_at(model, i);
		const struct doing *at, *end;

		if (thread->tid != process_at(model, thread->process)->pid ||
		    !loader_is_worker(model, process, thread->process, at_ns))
			continue;
		for (at = doings_lately(model, i, &end); at < end; at++) {
			add_ns(&all_ns, at->ns);
			looks += at->looks;
			if (loader_rests(model, at))
				add_ns(&rest_ns, at->ns);
		}
	}
	return looks >= REST_LOOKS && all_ns ? (int64_t)((__int128)rest_ns * 1000 / all_ns) : 0;
}

/* Whether a device other than the program's processor takes the batches. */
static bool has_device(const struct model *model)
{
	for (uint32_t i = 0; i < model->devices.n; i++)
		if (!device_at(model, i)->processor)
			return true;
	return false;
}

static void loader_unseen(struct finding *finding)
{
	snprintf(finding->lines[0], FINDING_TEXT, "its workers cannot keep up; tftop does not see "
		 "them: with -p it sees all of them only with --children");
	snprintf(finding->advice, FINDING_TEXT, "more of them (num_workers) would keep up, if "
		 "cores are free or the samples wait for a disk; otherwise do less work per "
		 "sample");
}

/* What is known of a loader whose batches the program waits for. */
struct loader {
	uint32_t process;
	uint32_t full;			/* processors, if it and its workers have them all */
	unsigned n;			/* workers; 0: the program makes the batches itself */
	int64_t wait_ns, rest_ns;	/* the parts of a step */
	int64_t resting;		/* in 1/1000 of the workers' time */
};

/* How many workers would keep up. batch_ns: what making a batch takes one of them. */
static void loader_wanted(const struct model *model, const struct loader *loader, int64_t batch_ns,
			  struct finding *finding)
{
	int64_t wanted = (batch_ns + loader->rest_ns - 1) / loader->rest_ns;
	char during[40] = "";

	if (loader->full) {
		snprintf(finding->advice, FINDING_TEXT,
			 "%s all processors (%" PRIu32 ") busy: do less work per sample; %s would "
			 "not help",
			 loader->n ? "the program and its workers keep" : "the program keeps",
			 loader->full, loader->n ? "more workers" : "workers");
		return;
	}
	if (wanted <= loader->n)
		wanted = loader->n + 1;
	if (!loader->n && wanted == 1)
		snprintf(during, sizeof(during), " (a worker loads during the %s)",
			 step_noun(steps_are_passes(model)));
	snprintf(finding->advice, FINDING_TEXT,
		 "%snum_workers=%lld would keep up%s%s, if cores are free or the samples wait for "
		 "a disk; otherwise do less work per sample%s", loader->n ? "about " : "",
		 (long long)wanted, during,
		 loader->n > 1 ? " (prefetch_factor only smooths)" : "", has_device(model) ?
		 "; pin_memory=True makes the copies to the device cheaper" : "");
}

static void loader_alone(const struct model *model, const struct loader *loader,
			 struct finding *finding)
{
	char batch[FMT_MAX];

	snprintf(finding->lines[0], FINDING_TEXT, "num_workers is 0: the training process itself "
		 "loads the samples, a batch in %s", fmt_time(batch, loader->wait_ns));
	if (loader->wait_ns >= HAND_OVER_NS)
		loader_wanted(model, loader, loader->wait_ns, finding);
	else
		snprintf(finding->advice, FINDING_TEXT, "do less work per sample, or fetch many "
			 "samples at once (__getitems__); a worker would not help, because handing "
			 "a batch over takes about as long");
}

static void loader_resting(const struct model *model, const struct loader *loader,
			   struct finding *finding)
{
	char many[FMT_MAX];

	snprintf(finding->lines[0], FINDING_TEXT, "%s rest%s for %lld %% of the time: what takes "
		 "long is to take batches over, not to make them",
		 fmt_many(many, loader->n, "worker"), loader->n == 1 ? "s" : "",
		 (long long)(loader->resting / 10));
	snprintf(finding->advice, FINDING_TEXT, "hand less over, in fewer and larger tensors per "
		 "batch%s; more workers would not help", has_device(model) ? "" :
		 ", or set num_workers=0 if a batch is made fast");
}

static void loader_slow(struct model *model, const struct loader *loader, int64_t at_ns,
			struct finding *finding)
{
	int64_t batch_ns = (int64_t)((__int128)loader->n * (loader->wait_ns + loader->rest_ns) *
				     (1000 - loader->resting) / 1000);
	char many[FMT_MAX], batch[FMT_MAX];

	snprintf(finding->lines[0], FINDING_TEXT,
		 "%s cannot keep up: a worker takes up to %s for a batch",
		 fmt_many(many, loader->n, "worker"), fmt_time(batch, batch_ns));
	host_workers_say(model, loader->process, at_ns, finding);
	loader_wanted(model, loader, batch_ns, finding);
}

bool loader_review(struct model *model, uint32_t process, const char *held, int64_t whole_ns,
		   struct finding *finding)
{
	struct loader loader = {
		.process = process, .wait_ns = finding->cost_ns,
		.rest_ns = whole_ns - finding->cost_ns,
	};
	bool alone = held && strstr(held, "_SingleProcess");
	int64_t at_ns = finding->evidence.t1;
	struct processor_use use;
	char rest[FMT_MAX];

	if (!held || strncmp(held, "enumerate(DataLoader)#", 22) || loader.rest_ns <= 0)
		return false;
	snprintf(finding->lines[1], FINDING_TEXT, "without the wait a %s would take %s",
		 step_noun(steps_are_passes(model)), fmt_time(rest, loader.rest_ns));
	use = processor_use(model, process, at_ns - USE_NS, at_ns);
	loader.full = use.all ? use.cores : 0;
	if (!alone) {
		loader.n = loader_workers(model, process, at_ns);
		loader.resting = loader_rest(model, process, at_ns);
	}
	if (alone)
		loader_alone(model, &loader, finding);
	else if (!loader.n)
		loader_unseen(finding);
	else if (loader.resting >= 500)
		loader_resting(model, &loader, finding);
	else
		loader_slow(model, &loader, at_ns, finding);
	return true;
}
