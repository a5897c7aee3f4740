/* SPDX-License-Identifier: MIT */
/*
 * host-wait: devices wait for one place in the program's source; gil-wait, gc-time, import-time,
 * no-processor, stopped, compile-wait: they wait for something that no single place causes.
 *
 * Definition: over the time after the warm-up, or as much of its end as is kept, the idle time of
 * cause host of each device by what the launching thread did (host_time.c), by place
 * (host_place.h). Of each finding the place with most idle time is reported, of the device that
 * loses most, from host-share of a step and HOST_LOOKS_LEAST looks on. The processor runs ops and
 * is not launched to: where no other device works, the time of class host takes the place of idle
 * time, of a step and of what is between two of them. Its cost is that time per step: removing it
 * saves at most this, because whatever the thread does next may keep the device waiting as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/chores.h"
#include "model/analyses/host_others.h"
#include "model/analyses/host_place.h"
#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/lines/lines.h"
#include "model/steps/steps.h"

struct wait_place {
	struct place_row at;
	int64_t whole_ns, t0, t1;
	uint32_t device;
	uint32_t process;		/* whose thread waits; NONE: unknown */
};

/* The names of the rows stay borrowed from the model. most: one for each finding. */
static void look_at_device(struct model *model, const struct slice_sweep *sweep, uint32_t device,
			   struct wait_place *most)
{
	const struct idle_device *idle = &sweep->devices[device].idle;
	int64_t t0 = sweep->breakdown.first_ns, t1 = sweep->devices[device].since_ns;
	struct host_time_row *rows;
	struct place_row one;
	struct idle_gap gap;
	size_t n;

	if (host_time_since(&idle->host) == INT64_MAX)
		return;
	if (idle->base_ns > t0)
		t0 = idle->base_ns;
	if (idle_host_dropped(idle, device) && host_time_since(&idle->host) > t0)
		t0 = host_time_since(&idle->host);
	if (t1 <= t0 || !model_idle_window(model, device, t0, t1, &gap))
		return;
	n = model_idle_host(model, device, &gap, &rows);
	for (int i = 0; i < WAIT_FINDINGS; i++) {
		one = host_most_of(rows, n, IDLE_HOST, (enum wait_finding)i);
		if (one.row.ns > 0 &&
		    (!most[i].at.row.ns || (__int128)one.row.ns * most[i].whole_ns >
					   (__int128)most[i].at.row.ns * (t1 - t0)))
			most[i] = (struct wait_place) {
				one, t1 - t0, t0, t1, device,
				idle->thread == NONE ? NONE :
				thread_at(model, idle->thread)->process,
			};
	}
	free(rows);
}

const char *host_wait_advice(enum doing_kind doing)
{
	static const char *const advice[DOING_COUNT] = {
		[DOING_PYTHON] = "move this work out of the loop, or to a thread or process that "
				 "runs ahead of the device",
		[DOING_NATIVE] = "do this work on the device, or on a thread that runs ahead of it",
		[DOING_SLEEP] = "remove the sleep, or wait for the event itself on another thread",
		[DOING_FILE] = "read ahead on another thread, or keep the data in memory",
		[DOING_SOCKET] = "receive ahead on another thread, so that the data is in time",
		[DOING_PIPE] = "let the writer run ahead: more workers, or more batches in advance",
		[DOING_POLL] = "let another thread wait, and hand its results over in advance",
		[DOING_LOCK] = "let the other thread run ahead: more workers, or more batches in "
			       "advance",
		[DOING_GIL] = "move the other threads' Python work to processes, so that this "
			      "thread need not wait for the GIL",
		[DOING_CHILD] = "start the child process ahead, and wait for it on another thread",
		[DOING_FAULT] = "use memory again rather than new memory, or give the process more",
		[DOING_CPU] = "other threads and programs have the processors, or a limit that "
			      "tftop cannot see: run fewer of them, or give the program more",
		[DOING_THROTTLED] = "raise the limit of the program's cgroup (cpu.max, docker "
				    "--cpus, Kubernetes' limits.cpu), or run fewer threads in it",
		[DOING_GC] = "call gc.freeze() when everything is set up, raise "
			     "gc.set_threshold(), or collect at moments of your choice",
		[DOING_IMPORT] = "import the modules before the loop",
		[DOING_COMPILE] = "compile before the loop, and keep the shapes and constants of "
				  "its calls the same",
		[DOING_STOPPED] = "a signal (Ctrl-Z, SIGSTOP) or a debugger stopped the program; "
				  "these times say nothing about its code",
	};

	return advice[doing] ? advice[doing] : "";
}

static const char *host_advice(const struct host_time_row *row)
{
	if (row->doing == DOING_LOCK && *row->what)
		return "hold the lock for less time: prepare outside of it, or have a lock for "
		       "each part of what it protects";
	return host_wait_advice(row->doing);
}

/* How much of the rows is at a place. */
static int64_t host_ns_at(const struct host_time_row *rows, size_t n,
			  const struct host_time_row *place, enum wait_finding which)
{
	int64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		if (host_same_place(place, &rows[i], which))
			add_ns(&ns, rows[i].ns);
	return ns;
}

/* Where only the processor works, nothing is launched: what the thread of the steps does outside of
 * ops, in steps and between them, takes the place of idle time. */
static void look_at_steps(struct model *model, const struct slice_sweep *sweep,
			  struct wait_place *most)
{
	const struct breakdown *b = &sweep->breakdown;
	const struct steps *steps = steps_best(model);
	struct step_breakdown mean, between;
	struct host_time_row *rows, *apart;
	size_t n, n_apart;
	bool known = breakdown_whole(model, &mean, &rows, &n) > 0;

	model_step_between(model, &between, &apart, &n_apart);
	for (int i = 0; i < WAIT_FINDINGS && known; i++) {
		struct place_row at = host_most_of(rows, n, STEP_HOST, (enum wait_finding)i);
		int64_t ns = host_ns_at(apart, n_apart, &at.row, (enum wait_finding)i);
		const struct step_sums *where = b->between.n && ns > at.row.ns / 2 ?
						&b->between : &b->steps;

		most[i] = (struct wait_place) {
			.at = at, .whole_ns = mean.dur_ns,
			.t0 = where->worst_t0[STEP_HOST], .t1 = where->worst_t1[STEP_HOST],
			.process = steps ? steps->process : NONE,
		};
	}
	free(rows);
	free(apart);
}

/* "in load, for /data/train.bin", "in main, most often held at worker.py:12 in spin" */
static void say_where(char *text, size_t size, const struct host_time_row *row)
{
	int at = snprintf(text, size, "%s%.80s", *row->function ? " in " : "", row->function);

	if (*row->what && !host_is_function(row))
		snprintf(text + at, size - (size_t)at, ", %s %.100s",
			 doing_what(row->doing, *row->file), row->what);
}

void host_wait_line(struct model *model, enum step_class class, const char *known,
		    struct finding *finding)
{
	struct host_time_row *rows;
	struct place_row most;
	struct step_breakdown mean;
	size_t n;
	uint64_t steps = breakdown_whole(model, &mean, &rows, &n);
	char place[PLACE_TEXT], *line = finding_line_left(finding);

	most = host_most_of(rows, n, (int)class, ANY_FINDING);
	free(rows);
	if (!line || !most.row.ns || !*most.row.file || !steps || most.row.ns * 2 < mean.ns[class])
		return;
	host_place_text(&most.row, place, sizeof(place));
	if (!strstr(known, place))
		host_place_say(line, "it", mean.ns[class], &most);
	if (most.row.doing == DOING_LOCK && !*most.row.what && steps_best(model))
		host_meanwhile_say(model, steps_best(model)->process, &most.row, finding);
}

/* What a cost is told of. */
struct wait_words {
	const char *of, *per;		/* "each step", "per step" */
	const char *then;		/* "the device waits" */
	int64_t step_ns;
};

static void host_wait_tell(struct model *model, enum wait_finding which,
			   const struct wait_place *most, const struct wait_words *words,
			   struct findings *findings)
{
	static const char *const ids[WAIT_FINDINGS] = {
		"host-wait", "gil-wait", "gc-time", "import-time", "no-processor", "stopped",
		"compile-wait",
	};
	struct finding finding = { .severity = SEVERITY_NOTE };
	const struct host_time_row *row = &most->at.row;
	char share[FMT_MAX], time[FMT_MAX], place[PLACE_TEXT], where[FINDING_TEXT];

	if (row->looks < HOST_LOOKS_LEAST * 1000 ||
	    (__int128)row->ns * 100 < (__int128)most->whole_ns *
	    model_threshold(model, THRESHOLD_HOST_SHARE))
		return;
	snprintf(finding.id, sizeof(finding.id), "%s", ids[which]);
	if ((__int128)row->ns * 100 >= (__int128)most->whole_ns *
	    model_threshold(model, THRESHOLD_HOST_MUCH))
		finding.severity = SEVERITY_WARNING;
	finding.cost_ns = (int64_t)((__int128)words->step_ns * row->ns / most->whole_ns);
	if (which == WAIT_PLACE && chores_tell(model, row->file, row->line, finding.cost_ns))
		return;
	finding.evidence = (struct evidence) {
		.kind = EVIDENCE_HOST, .t0 = most->t0, .t1 = most->t1,
	};
	host_place_text(row, place, sizeof(place));
	snprintf(finding.title, FINDING_TEXT, "host-bound: %s of %s %s while %s %s",
		 fmt_share(share, (uint64_t)row->ns, (uint64_t)most->whole_ns),
		 words->of, words->then, place, most->at.verb);
	say_where(where, sizeof(where), row);
	snprintf(finding.lines[0], FINDING_TEXT, "%s %s%.200s", fmt_time(time, finding.cost_ns),
		 words->per, where);
	if (most->at.throttled_ns > 0 && most->at.throttled_ns < row->ns)
		snprintf(finding.lines[1], FINDING_TEXT, "%s of it, a limit (cgroup) had stopped "
			 "the program; else others had the processors",
			 fmt_share(share, (uint64_t)most->at.throttled_ns, (uint64_t)row->ns));
	if (row->doing == DOING_LOCK && most->process != NONE && *row->what)
		host_convoy_say(model, most->process, &finding);
	else if (row->doing == DOING_LOCK && most->process != NONE && *row->file)
		host_meanwhile_say(model, most->process, row, &finding);
	snprintf(finding.advice, FINDING_TEXT, "%s", host_advice(row));
	finding_add(findings, &finding);
}

void host_wait_review(struct model *model, const struct slice_sweep *sweep, int64_t step_ns,
		      bool steps, bool compiles, struct findings *findings)
{
	struct wait_place most[WAIT_FINDINGS] = { { .at.row.ns = 0 } };
	bool passes = steps_are_passes(model), processor = steps && sweep_on_processor(sweep);
	struct wait_words words = {
		.of = !steps ? "the time" : passes ? "each pass" : "each step",
		.per = !steps ? "per second" : passes ? "per pass" : "per step",
		.step_ns = step_ns,
	};

	for (uint32_t d = 0; d < sweep->n_devices; d++)
		if (sweep->devices[d].idle.known && !device_at(model, d)->processor)
			look_at_device(model, sweep, d, most);
	for (int i = 0; i < WAIT_FINDINGS; i++)
		processor &= !most[i].at.row.ns;
	if (processor)
		look_at_steps(model, sweep, most);
	words.then = processor ? "no op runs" : "the device waits";
	/* recompiles tells of those that are known */
	if (steps && compiles)
		most[WAIT_COMPILE].at.row.ns = 0;
	for (int i = 0; i < WAIT_FINDINGS; i++)
		host_wait_tell(model, (enum wait_finding)i, &most[i], &words, findings);
}
