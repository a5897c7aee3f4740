/* SPDX-License-Identifier: MIT */
/*
 * host-wait: devices wait for one place in the program's source; gil-wait, gc-time, import-time,
 * no-processor, stopped, compile-wait: they wait for something that no single place causes.
 *
 * Definition: over the time after the warm-up, or as much of its end as is kept, the idle time of
 * cause host of each device by what the launching thread did (host_time.c). Lines of one function
 * in the same state are one place, named by the line that has most of it; for a state with a
 * finding of its own all lines are, and both states without a processor. Of each finding the place
 * with most idle time is reported, of the device that loses most, from host-share of a step and
 * HOST_LOOKS_LEAST looks on. The processor runs ops and is not launched to: where no other device
 * works, the time of class host takes the place of idle time, of a step and of what is between two
 * of them. Its cost is that time per step: removing it saves at most this, because whatever the
 * thread does next may keep the device waiting as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/chores.h"
#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/lines/lines.h"
#include "model/steps/steps.h"

#define MEANWHILE_LOOKS 1024		/* so many of the last tell what another thread did */
#define CONVOY_PART 10			/* who waits for locks for 1 / so much of its time */

enum wait_finding {
	WAIT_PLACE, WAIT_GIL, WAIT_GC, WAIT_IMPORT, WAIT_PROCESSOR, WAIT_STOPPED, WAIT_COMPILE,
	WAIT_FINDINGS
};

struct place_row {
	struct host_time_row row;	/* of its line with most time; ns: of all lines */
	const char *verb;
	int64_t throttled_ns;		/* of row.ns: a limit stopped the program */
};

struct wait_place {
	struct place_row at;
	int64_t whole_ns, t0, t1;
	uint32_t device;
	uint32_t process;		/* whose thread waits; NONE: unknown */
};

#define ANY_FINDING WAIT_FINDINGS

/* The finding that a state belongs to. */
static enum wait_finding finding_of(enum doing_kind doing)
{
	static const uint8_t table[DOING_COUNT] = {
		[DOING_GIL] = WAIT_GIL, [DOING_GC] = WAIT_GC, [DOING_IMPORT] = WAIT_IMPORT,
		[DOING_CPU] = WAIT_PROCESSOR, [DOING_THROTTLED] = WAIT_PROCESSOR,
		[DOING_STOPPED] = WAIT_STOPPED, [DOING_COMPILE] = WAIT_COMPILE,
	};

	return (enum wait_finding)table[doing];
}

/* What a place is in: a line that computes is in several states by turns. */
static bool computes(enum doing_kind doing, enum wait_finding which)
{
	return doing == DOING_PYTHON || doing == DOING_NATIVE ||
	       (finding_of(doing) == WAIT_PROCESSOR && which == ANY_FINDING);
}

/* A function that computes is one place, whether in Python or in native code; where no other
 * finding tells the lack of a processor, that belongs to it as well. */
static bool host_same_place(const struct host_time_row *a, const struct host_time_row *b,
		       enum wait_finding which)
{
	bool both = computes(a->doing, which) && computes(b->doing, which);
	bool lack = finding_of(a->doing) == WAIT_PROCESSOR &&
		    finding_of(b->doing) == WAIT_PROCESSOR;

	if (a->class != b->class || (a->doing != b->doing && !both && !lack))
		return false;
	if (finding_of(a->doing) != WAIT_PLACE && !both)
		return true;
	if (!*a->file)
		return !*b->file && a->doing == b->doing && !strcmp(a->what, b->what);
	return !strcmp(a->file, b->file) && !strcmp(a->function, b->function);
}

/* Whether it was a limit or others that kept the processor from the place, most of the time. */
static void place_lacks(struct place_row *place)
{
	place->row.doing = place->throttled_ns * 2 >= place->row.ns ? DOING_THROTTLED : DOING_CPU;
	place->verb = doing_verb(place->row.doing);
}

/* The place with most time of that class and finding. rows: by time, most first; a place that is
 * unknown in state and line explains nothing. */
static struct place_row host_most_of(const struct host_time_row *rows, size_t n, int class,
				      enum wait_finding which)
{
	struct place_row most = { .row.ns = 0 };

	for (size_t i = 0; i < n; i++) {
		struct place_row one = { rows[i], doing_verb(rows[i].doing), 0 };
		int64_t other_ns = 0;

		if (rows[i].class != class || rows[i].doing == DOING_OTHER ||
		    (rows[i].doing == DOING_NATIVE && !*rows[i].file && !*rows[i].what) ||
		    (which != ANY_FINDING && finding_of(rows[i].doing) != which))
			continue;
		one.throttled_ns = rows[i].doing == DOING_THROTTLED ? rows[i].ns : 0;
		for (size_t k = i + 1; k < n; k++)
			if (host_same_place(&rows[i], &rows[k], which)) {
				one.row.ns += rows[k].ns;
				one.row.looks += rows[k].looks;
				other_ns += rows[k].doing == rows[i].doing ? 0 : rows[k].ns;
				one.throttled_ns += rows[k].doing == DOING_THROTTLED ? rows[k].ns :
						    0;
			}
		if (which == WAIT_PROCESSOR)
			place_lacks(&one);
		else if (other_ns > one.row.ns / 10)
			one.verb = "computes";
		if (one.row.ns > most.row.ns)
			most = one;
	}
	return most;
}

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

/* Native code without a line: what is told is its function. */
static bool is_function(const struct host_time_row *row)
{
	return row->doing == DOING_NATIVE && !*row->file && *row->what;
}

/* "loader.py:25", "tokenize in server" */
static void host_place_text(const struct host_time_row *row, char *text, size_t size)
{
	const char *file = path_last(row->file);

	if (*file)
		snprintf(text, size, "%.80s:%u", file, row->line);
	else if (is_function(row))
		snprintf(text, size, "%.80s", row->what);
	else
		snprintf(text, size, "the %s", row->doing == DOING_STOPPED ? "program" : "host");
}

/* The first line of the finding that is not used; NULL: all are. */
static char *line_left(struct finding *finding)
{
	for (int i = 0; i < FINDING_LINES; i++)
		if (!finding->lines[i][0])
			return finding->lines[i];
	return NULL;
}

/* "54 % of it, loader.py:25 in load sleeps" */
static void say_place(char *line, const char *of, int64_t whole_ns,
		      const struct place_row *most)
{
	const struct host_time_row *row = &most->row;
	char share[FMT_MAX], place[PLACE_TEXT];

	host_place_text(row, place, sizeof(place));
	snprintf(line, FINDING_TEXT, "%s of %s, %.100s in %.80s %s%s%.60s",
		 fmt_share(share, (uint64_t)row->ns, (uint64_t)whole_ns), of, place,
		 row->function, most->verb, *row->what ? ": " : "", row->what);
}

/* What the thread did in its last seconds, if it is the first one of its process: others hand
 * batches over. */
static void add_lately(struct model *model, uint32_t thread, struct host_parts *parts)
{
	const struct thread *one = thread_at(model, thread);
	const struct doing *end, *first = doings_lately(model, thread, &end);

	if (first < end && one->tid == process_at(model, one->process)->pid)
		host_time_of_thread(model, thread, first->start_ns, end[-1].end_ns, parts);
}

void host_wait_workers(struct model *model, uint32_t process, int64_t at_ns,
		       struct finding *finding)
{
	const int64_t any_ns = INT64_MAX;
	struct host_parts parts = { .n = 0 };
	struct host_time_row *rows;
	struct place_row most;
	char *line = line_left(finding);
	int64_t all_ns = 0;
	size_t n;

	for (uint32_t i = 0; i < model->threads.n; i++)
		if (loader_is_worker(model, process, thread_at(model, i)->process, at_ns))
			add_lately(model, i, &parts);
	n = host_time_rows(model, &parts, &any_ns, 1, 1, &rows);
	most = host_most_of(rows, n, 0, ANY_FINDING);
	for (size_t i = 0; i < n; i++)
		add_ns(&all_ns, rows[i].ns);
	free(rows);
	if (line && most.row.ns && *most.row.file)
		say_place(line, "the workers' time", all_ns, &most);
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

	if (*row->what && !is_function(row))
		snprintf(text + at, size - (size_t)at, ", %s %.100s",
			 doing_what(row->doing, *row->file), row->what);
}

/* How many threads of the process waited for locks that others hold, for a good part of the last
 * seconds in which they were seen. Who waits for another thread's data is none of them. */
static uint32_t lock_waiters(const struct model *model, uint32_t process)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < model->threads.n; i++) {
		const struct doing *end, *at;
		int64_t all_ns = 0, locks_ns = 0;

		if (thread_at(model, i)->process != process)
			continue;
		for (at = doings_lately(model, i, &end); at < end; at++) {
			add_ns(&all_ns, at->ns);
			add_ns(&locks_ns, at->kind == DOING_LOCK && at->what ? at->ns : 0);
		}
		n += locks_ns > 0 && locks_ns >= all_ns / CONVOY_PART;
	}
	return n;
}

static void say_convoy(const struct model *model, uint32_t process, struct finding *finding)
{
	uint32_t n = lock_waiters(model, process);
	char *line = line_left(finding);

	if (line && n > 1)
		snprintf(line, FINDING_TEXT, "a convoy: %u threads wait for locks that others "
			 "hold, a tenth of their time or more", n);
}

/* ---- what another thread does while one waits for it ---- */

/* A wait for another thread, whose holder is unknown, at the place of that row. */
static bool waits_at(struct model *model, uint32_t process, const struct doing *at,
		     const struct host_time_row *row)
{
	uint32_t frame = frame_of_process(model, process, at->frame);
	const struct source_frame *line = frame ? frame_at(model->lines, frame - 1) : NULL;

	return at->kind == DOING_LOCK && !at->what && line && line->file &&
	       line->line == row->line && !strcmp(names_raw(&model->names, line->file), row->file);
}

/* How long the thread waited there lately; adds what another one did meanwhile, unless
 * that is NONE. The looks at all threads are made together, so that one stands for its time. */
static int64_t waited_at(struct model *model, uint32_t thread, const struct host_time_row *row,
			 uint32_t other, struct host_parts *parts)
{
	uint32_t process = thread_at(model, thread)->process;
	const struct doing *end, *at = doings_lately(model, thread, &end);
	int64_t ns = 0;

	if (end - at > MEANWHILE_LOOKS)
		at = end - MEANWHILE_LOOKS;
	for (; at < end; at++) {
		/* the half of a time that is mixed says little of another thread's */
		if (!waits_at(model, process, at, row) || at->ns < (at->end_ns - at->start_ns) / 2)
			continue;
		add_ns(&ns, at->ns);
		if (other != NONE)
			host_time_of_thread(model, other, at->start_ns, at->end_ns, parts);
	}
	return ns;
}

/* The thread of the process that waited there most; NONE: none did. */
static uint32_t who_waited(struct model *model, uint32_t process, const struct host_time_row *row,
			   int64_t *most_ns)
{
	uint32_t most = NONE;

	*most_ns = 0;
	for (uint32_t i = 0; i < model->threads.n; i++) {
		int64_t ns = thread_at(model, i)->process == process ?
			     waited_at(model, i, row, NONE, NULL) : 0;

		if (ns > *most_ns) {
			*most_ns = ns;
			most = i;
		}
	}
	return most;
}

/* A thread that waits for its next work. */
static bool rests(const struct host_time_row *row)
{
	return row->doing == DOING_POLL || (row->doing == DOING_LOCK && !*row->what);
}

/* What was done most in these parts, but for resting. */
static struct place_row did_most(struct model *model, const struct host_parts *parts)
{
	const int64_t any_ns = INT64_MAX;
	struct host_time_row *rows;
	struct place_row most;
	size_t n = host_time_rows(model, parts, &any_ns, 1, 1, &rows), left = 0;

	for (size_t i = 0; i < n; i++)
		if (!rests(&rows[i]))
			rows[left++] = rows[i];
	most = host_most_of(rows, left, 0, ANY_FINDING);
	free(rows);
	return most;
}

/* What other threads of the process did most while that one waited there. *thread: which one did
 * most of it; NONE: several did. */
static struct place_row did_meanwhile(struct model *model, uint32_t waiter,
				      const struct host_time_row *row, uint32_t *thread)
{
	uint32_t process = thread_at(model, waiter)->process;
	struct host_parts all = { .n = 0 };
	struct place_row most, best = { .row.ns = 0 };

	for (uint32_t i = 0; i < model->threads.n; i++) {
		struct host_parts parts = { .n = 0 };
		struct place_row one;

		if (i == waiter || thread_at(model, i)->process != process)
			continue;
		waited_at(model, waiter, row, i, &parts);
		host_parts_add(&all, &parts);
		one = did_most(model, &parts);
		if (one.row.ns > best.row.ns) {
			best = one;
			*thread = i;
		}
	}
	most = did_most(model, &all);
	if (!best.row.ns || !host_same_place(&most.row, &best.row, ANY_FINDING) ||
	    best.row.ns < most.row.ns - most.row.ns / 10)
		*thread = NONE;
	return most;
}

/* "meanwhile, for 83 % of it, thread 4711 python sleeps at loader.py:25 in load": what another
 * thread did for half of the wait or more, which need not be the same one each time. */
static void say_meanwhile(struct model *model, uint32_t process, const struct host_time_row *row,
			  struct finding *finding)
{
	char share[FMT_MAX], place[PLACE_TEXT], who[64], *line = line_left(finding);
	struct place_row most;
	uint32_t thread = NONE, waiter, name;
	int64_t wait_ns;

	waiter = line ? who_waited(model, process, row, &wait_ns) : NONE;
	if (waiter == NONE)
		return;
	most = did_meanwhile(model, waiter, row, &thread);
	if (!most.row.ns || most.row.ns < wait_ns / 2)
		return;
	name = thread != NONE ? thread_at(model, thread)->name : 0;
	snprintf(who, sizeof(who), "another thread");
	if (thread != NONE)
		snprintf(who, sizeof(who), "thread %u%s%.40s", thread_at(model, thread)->tid,
			 name ? " " : "", name ? names_raw(&model->names, name) : "");
	if (*most.row.file)
		snprintf(place, sizeof(place), " at %.80s:%u in %.60s", path_last(most.row.file),
			 most.row.line, most.row.function);
	else
		snprintf(place, sizeof(place), "%s%.100s", is_function(&most.row) ? " in " : "",
			 is_function(&most.row) ? most.row.what : "");
	snprintf(line, FINDING_TEXT, "meanwhile, for %s of it, %s %s%s",
		 fmt_share(share, (uint64_t)(most.row.ns < wait_ns ? most.row.ns : wait_ns),
			   (uint64_t)wait_ns), who, most.verb, place);
}

void host_wait_line(struct model *model, enum step_class class, const char *known,
		    struct finding *finding)
{
	struct host_time_row *rows;
	struct place_row most;
	struct step_breakdown mean;
	size_t n;
	uint64_t steps = breakdown_whole(model, &mean, &rows, &n);
	char place[PLACE_TEXT], *line = line_left(finding);

	most = host_most_of(rows, n, (int)class, ANY_FINDING);
	free(rows);
	if (!line || !most.row.ns || !*most.row.file || !steps || most.row.ns * 2 < mean.ns[class])
		return;
	host_place_text(&most.row, place, sizeof(place));
	if (!strstr(known, place))
		say_place(line, "it", mean.ns[class], &most);
	if (most.row.doing == DOING_LOCK && !*most.row.what && steps_best(model))
		say_meanwhile(model, steps_best(model)->process, &most.row, finding);
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
		say_convoy(model, most->process, &finding);
	else if (row->doing == DOING_LOCK && most->process != NONE && *row->file)
		say_meanwhile(model, most->process, row, &finding);
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
