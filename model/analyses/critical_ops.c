/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a step in which no device but the processor works: ops run one after
 * another on a framework's threads, while the thread whose step it is waits in the call that
 * started them.
 *
 * Idea: as between runs of devices, the op that finished last before another op began is taken
 * to have delayed it. Only ops of one run of a function are followed, the run that covers most
 * of the slice (act.amount holds the step id; where ops are called one by one it is always 0).
 * What an input pipeline runs at the same time has other ids or is in another process. Of
 * nested ops, the outermost is on the path. The time between two of them is the host's: the
 * executor's, or Python's; while a collective runs then (gloo's, on a thread of its own), it is
 * that one's.
 *
 * Always true: the edges lie end to end and cover the slice, and no op holds more than its
 * time. Limit: data edges are not consulted, so of two branches that end together the wrong one
 * may be followed.
 *
 * Complexity: O(n), with n acts in the slice. Memory: none.
 */
#include "model/analyses/critical_ops.h"

#include "model/core/model.h"

#define RUNS_MAX 64u
#define SLACK_NS 2000

/* Collectives that overlap the part of the slice that the walk has not passed yet, by their end,
 * latest first. */
#define COMMS_MAX 32u
struct open_comms { const struct act *list[COMMS_MAX]; size_t n; };

static bool is_op(const struct act *act)
{
	/* the fetching of a graph itself is on no thread, and delays what comes after it */
	return act->kind == ACT_OP && (act->flags & ACT_WORKS) &&
	       (!(act->flags & ACT_ASYNC) || act->flags & ACT_FETCH);
}

/* If there are many runs, short ones are replaced. */
static void critical_ops_add(struct function_run *runs, size_t *n, const struct act *act,
			     const struct slice *slice)
{
	int64_t start_ns = act_start(slice, act), end_ns = act_end(slice, act);
	bool whole = act->start_ns >= slice->t0 && act->end_ns <= slice->t1;
	size_t least = 0;

	for (size_t i = 0; i < *n; i++) {
		struct function_run *run = &runs[i];

		if (run->id == act->amount && run->process == act->process) {
			if (end_ns > run->end_ns)
				run->end_ns = end_ns;
			run->whole &= whole;
			return;
		}
		if (run->end_ns - run->start_ns < runs[least].end_ns - runs[least].start_ns)
			least = i;
	}
	if (*n < RUNS_MAX)
		least = (*n)++;
	runs[least] = (struct function_run) {
		act->amount, act->process, start_ns, end_ns, whole,
	};
}

bool critical_ops_has(const struct function_run *run, const struct act *act)
{
	return is_op(act) && act->amount == run->id && act->process == run->process;
}

static int64_t span_of(const struct function_run *run)
{
	return run->end_ns - run->start_ns;
}

bool critical_ops_run(const struct slice *slice, uint32_t process, bool of_run,
		      struct function_run *out)
{
	struct function_run runs[RUNS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < slice->n_runs; i++)
		if (!(slice->acts[slice->runs[i]].flags & ACT_WORKS))
			return false;
	for (size_t i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];

		if (is_op(act) && act->end_ns > slice->t0 &&
		    (process == NONE || act->process == process))
			critical_ops_add(runs, &n, act, slice);
	}
	*out = (struct function_run) { .whole = false };
	for (size_t i = 0; i < n; i++) {
		bool other = of_run && runs[i].whole != out->whole;

		if (span_of(&runs[i]) >= (slice->t1 - slice->t0) / 2 &&
		    (other ? runs[i].whole : span_of(&runs[i]) > span_of(out)))
			*out = runs[i];
	}
	return span_of(out) > 0;
}

/* The time between two ops, back from t_ns: the exposed part of each collective, and what is left.
 * Those that began within it are done with. */
static void critical_ops_gap(struct open_comms *comms, int64_t t_ns, int64_t to_ns, uint32_t thread,
			     void *arg, critical_edge *edge)
{
	size_t left = 0;

	for (size_t i = 0; i < comms->n; i++) {
		const struct act *act = comms->list[i];
		int64_t from_ns = act->start_ns > to_ns ? act->start_ns : to_ns;

		if (act->start_ns < to_ns)
			comms->list[left++] = act;
		if (from_ns >= t_ns || act->end_ns <= to_ns)
			continue;
		if (act->end_ns < t_ns)
			edge(arg, act->end_ns, NULL, thread);
		edge(arg, from_ns, act, act->thread);
		t_ns = from_ns;
	}
	comms->n = left;
	if (to_ns < t_ns)
		edge(arg, to_ns, NULL, thread);
}

void critical_ops(const struct slice *slice, const struct function_run *run, void *arg,
		  critical_edge *edge)
{
	struct open_comms comms = { .n = 0 };
	int64_t t_ns = slice->t1;
	uint32_t after = NONE;		/* the thread of the op that follows */

	for (size_t i = slice->n; i-- > 0 && t_ns > slice->t0; ) {
		const struct act *act = &slice->acts[slice->ends[i].at];

		if (act->end_ns <= slice->t0)
			continue;
		if (act->kind == ACT_OP && act->work == WORK_COMM &&
		    act->process == run->process && comms.n < COMMS_MAX)
			comms.list[comms.n++] = act;
		if (!critical_ops_has(run, act) || act->end_ns > t_ns + SLACK_NS)
			continue;
		if (act->end_ns < t_ns) {
			critical_ops_gap(&comms, t_ns, act->end_ns,
					 act->thread == after ? after : NONE, arg, edge);
			t_ns = act->end_ns;
			after = act->thread;
		}
		if (act->start_ns >= t_ns)
			continue;
		t_ns = act_start(slice, act);
		edge(arg, t_ns, act, act->thread);
		after = act->thread;
	}
	if (t_ns > slice->t0)
		critical_ops_gap(&comms, t_ns, slice->t0, NONE, arg, edge);
}
