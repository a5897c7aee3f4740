/* SPDX-License-Identifier: MIT */
/*
 * Settings of TensorFlow that evidently cost time: what the program reports of its settings
 * (EVENT_INFO, devices of nodes), compared with what its ops do.
 *
 * Definitions, for one process:
 *  - Eager: ops that Python runs one by one. Their cost is their time without the kernels in
 *    them, and the pauses of up to PAUSE_NS between two of them.
 *  - Threads within an op: while ops of LONG_NS and more run on k of n cores, more threads
 *    would save at most a share 1 - k / n of that time.
 *  - oneDNN is off: the time in which convolutions run.
 *  - Ops on the processor although there is a GPU: the time of the ops that are placed there,
 *    without those that always are (names that begin with '_', Python functions, input).
 * All of these are upper bounds. Threads that run ops have a finding of their own (pools.c).
 *
 * Bounds: TOLD_MAX processes. Complexity: O(1) for an act, nothing where no process reported
 * settings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/base/util.h"
#include "model/graph/graph.h"

#define TOLD_MAX 16u
#define PAUSE_NS 500000
#define LONG_NS 100000

enum settings_what { WHAT_EAGER, WHAT_THREADS, WHAT_ONEDNN, WHAT_PLACED, WHATS };
enum { TYPE_UNKNOWN, TYPE_OP, TYPE_EAGER, TYPE_CALL, TYPE_CONVOLUTION, TYPE_HOST };
enum { PLACE_UNKNOWN, PLACE_PROCESSOR, PLACE_OTHER };

/* The longest op of a kind. */
struct worst { uint32_t name, row; int64_t ns, t0, t1; };

struct told {
	uint32_t process;
	int64_t cost_ns[WHATS][SCOPE_COUNT];
	/* time of long ops; time of all their cores */
	int64_t long_ns[SCOPE_COUNT], core_ns[SCOPE_COUNT];
	uint64_t eager[SCOPE_COUNT];
	struct worst worst[WHATS][SCOPE_COUNT];
	/* For the current slice. */
	int64_t until_ns[WHATS];	/* time is counted up to here */
	int64_t busy_ns, any_ns;
	uint64_t eager_now;
	bool gpu;
};

struct thread_state {
	int64_t eager_end_ns;		/* end of the current or previous eager op; 0: none */
	int64_t inner_end_ns;		/* end of the outermost op inside it */
	int64_t long_end_ns;
};

struct settings_state {
	struct basis basis;
	struct told list[TOLD_MAX];
	uint32_t n;
	struct act_slots types, places;	/* by name */
	struct thread_state *threads;	/* owned */
	uint32_t n_threads;
};

/* ---- what ran ---- */

static uint32_t type_of(struct model *model, struct settings_state *s, uint32_t type)
{
	uint32_t *known = slot_of(&s->types, type);
	const char *text;

	if (*known || !type || !names_defined(&model->names, type))
		return *known;
	text = names_raw(&model->names, type);
	if (!strcmp(text, "eager"))
		*known = TYPE_EAGER;
	else if (!strcmp(text, "function") || !strcmp(text, "session"))
		*known = TYPE_CALL;
	else if (strstr(text, "Conv"))
		*known = TYPE_CONVOLUTION;
	else
		*known = *text == '_' || strstr(text, "PyFunc") ? TYPE_HOST : TYPE_OP;
	return *known;
}

static struct told *told_of(struct settings_state *s, uint32_t process)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->list[i].process == process)
			return &s->list[i];
	return NULL;
}

static void note(struct told *t, enum settings_what what, enum scope scope, const struct act *act,
		 int64_t t0, int64_t t1)
{
	struct worst *w = &t->worst[what][scope];

	if (t1 - t0 > w->ns)
		*w = (struct worst) { act->name, act->row, t1 - t0, t0, t1 };
}

static void eager_op(struct told *t, struct thread_state *thread, int64_t from, int64_t to,
		     enum scope scope)
{
	int64_t pause_ns = thread->eager_end_ns ? from - thread->eager_end_ns : -1;

	if (to <= thread->eager_end_ns)
		return;
	if (pause_ns > 0 && pause_ns <= PAUSE_NS)
		t->cost_ns[WHAT_EAGER][scope] += pause_ns;
	t->cost_ns[WHAT_EAGER][scope] += pause_ns < 0 && thread->eager_end_ns ?
		to - thread->eager_end_ns : to - from;
	thread->eager_end_ns = to;
	t->eager_now++;
}

static bool on_processor(struct model *model, struct settings_state *s, const struct act *act)
{
	uint32_t *known = slot_of(&s->places, act->name);
	const char *device;

	/* the node may be reported after its first runs */
	if (*known == PLACE_UNKNOWN) {
		device = graph_placed(model, act->process, act->op_name, act->name);
		if (device)
			*known = strstr(device, "CPU:") ? PLACE_PROCESSOR : PLACE_OTHER;
	}
	return *known == PLACE_PROCESSOR;
}

static void settings_take_op(struct model *model, struct settings_state *s, struct told *t,
			     const struct slice *slice, const struct act *act, enum scope scope)
{
	struct thread_state *thread = &s->threads[act->thread];
	int64_t from = act_start(slice, act), to = act_end(slice, act);
	uint32_t type = type_of(model, s, act->op_name);

	if (type == TYPE_EAGER)
		eager_op(t, thread, from, to, scope);
	else if (type == TYPE_CALL)
		thread->eager_end_ns = 0;
	if (type == TYPE_UNKNOWN || type == TYPE_EAGER || type == TYPE_CALL)
		return;
	if (from < thread->eager_end_ns)
		t->cost_ns[WHAT_EAGER][scope] -= time_beyond(&thread->inner_end_ns, from,
			to < thread->eager_end_ns ? to : thread->eager_end_ns);
	if (act->work == WORK_INPUT || (act->flags & ACT_FETCH))
		return;
	if (to - from >= LONG_NS) {
		t->any_ns += time_beyond(&t->until_ns[WHAT_THREADS], from, to);
		t->busy_ns += time_beyond(&thread->long_end_ns, from, to);
		note(t, WHAT_THREADS, scope, act, from, to);
	}
	if (type == TYPE_CONVOLUTION) {
		t->cost_ns[WHAT_ONEDNN][scope] += time_beyond(&t->until_ns[WHAT_ONEDNN], from, to);
		note(t, WHAT_ONEDNN, scope, act, from, to);
	}
	if (t->gpu && type != TYPE_HOST && on_processor(model, s, act)) {
		t->cost_ns[WHAT_PLACED][scope] += time_beyond(&t->until_ns[WHAT_PLACED], from, to);
		note(t, WHAT_PLACED, scope, act, from, to);
	}
}

static void settings_begin_slice(struct model *model, struct settings_state *s)
{
	for (uint32_t i = 0; i < model->processes.n && s->n < TOLD_MAX; i++)
		if (!told_of(s, i) && graph_setting(model, i, NULL))
			s->list[s->n++].process = i;
	if (s->n_threads < model->threads.n) {
		s->n_threads = model->threads.n;
		s->threads = xreallocarray(s->threads, s->n_threads, sizeof(*s->threads));
	}
	memset(s->threads, 0, s->n_threads * sizeof(*s->threads));
	for (uint32_t i = 0; i < s->n; i++) {
		const char *devices = graph_setting(model, s->list[i].process, "devices");

		memset(s->list[i].until_ns, 0, sizeof(s->list[i].until_ns));
		s->list[i].busy_ns = s->list[i].any_ns = 0;
		s->list[i].eager_now = 0;
		s->list[i].gpu = devices && strstr(devices, "GPU:");
	}
}

static void settings_end_slice(const struct model *model, struct settings_state *s,
			       const struct slice *slice, enum scope scope)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct told *t = &s->list[i];
		int64_t cores = processor_cores(model, t->process);

		t->eager[scope] += t->eager_now;
		if (t->eager_now > 1 && slice->t1 - slice->t0 > t->worst[WHAT_EAGER][scope].ns)
			t->worst[WHAT_EAGER][scope] = (struct worst) {
				0, 0, slice->t1 - slice->t0, slice->t0, slice->t1 };
		t->long_ns[scope] += t->any_ns;
		t->core_ns[scope] += t->busy_ns;
		if (cores > 0 && t->any_ns * cores > t->busy_ns)
			t->cost_ns[WHAT_THREADS][scope] += t->any_ns - t->busy_ns / cores;
	}
}

static void settings_slice(struct model *model, void *state, const struct slice *slice)
{
	struct settings_state *s = state;
	enum scope scope;

	if (!model->graphs || !basis_add(&s->basis, slice, &scope) ||
	    (scope == SCOPE_TIME && s->basis.steps))
		return;
	settings_begin_slice(model, s);
	for (size_t i = 0; s->n && i < slice->n; i++) {
		const struct act *act = &slice->acts[i];
		struct told *t;

		if (act->thread >= s->n_threads || act_end(slice, act) <= act_start(slice, act))
			continue;
		if (act->kind == ACT_RUN && !(act->flags & ACT_WORKS))
			continue;
		if (act->kind != ACT_RUN && (act->kind != ACT_OP ||
					     (act->flags & (ACT_ASYNC | ACT_RANGE))))
			continue;
		t = told_of(s, act->process);
		if (t && act->kind == ACT_OP)
			settings_take_op(model, s, t, slice, act, scope);
		else if (t)	/* a part of the op that another thread runs */
			t->busy_ns += time_beyond(&s->threads[act->thread].long_end_ns,
					     act_start(slice, act), act_end(slice, act));
	}
	settings_end_slice(model, s, slice, scope);
}

/* ---- findings ---- */

static bool is_off(const char *value)
{
	return value && (!strcmp(value, "0") || !strcmp(value, "false") || !strcmp(value, "False"));
}

static void say_eager(const struct model *model, struct finding *f, const struct basis *basis,
		      const struct told *t, const char *share)
{
	char times[FMT_MAX];

	snprintf(f->title, FINDING_TEXT, "settings: %s ops are run eagerly %s, one by one, and the "
		 "time around their kernels is %s",
		 basis_times(times, basis, t->eager[basis_scope(basis)]), basis_word(model, basis),
		 share);
	snprintf(f->lines[0], FINDING_TEXT, "each op goes from Python to its kernel alone, so that "
		 "Grappler and the executor never see them together");
	snprintf(f->advice, FINDING_TEXT, "put a tf.function around the step; if there is one, "
		 "tf.config.run_functions_eagerly(False), or in Keras compile(run_eagerly=False)");
	f->evidence.kind = EVIDENCE_TIME;
}

static void say_threads(struct finding *f, const struct basis *basis, const struct told *t,
			const char *share, const char *value, uint32_t cores)
{
	enum scope scope = basis_scope(basis);
	char used[FMT_MAX];

	snprintf(f->title, FINDING_TEXT, "settings: ops may use %s of %u cores; the others could "
		 "save up to %s", value, cores, share);
	snprintf(f->lines[0], FINDING_TEXT, "while ops of %d µs or more ran, a mean of %s cores "
		 "was busy; not every op can use more", LONG_NS / 1000,
		 fmt_tenths(used, (uint64_t)(t->core_ns[scope] * 10 /
					     (t->long_ns[scope] ? t->long_ns[scope] : 1))));
	snprintf(f->advice, FINDING_TEXT, "call "
		 "tf.config.threading.set_intra_op_parallelism_threads(0), or unset "
		 "TF_NUM_INTRAOP_THREADS, to use all cores");
}

static void say_onednn(struct finding *f, const char *share, const char *value)
{
	snprintf(f->title, FINDING_TEXT, "settings: oneDNN is off, and convolutions take "
		 "%s", share);
	snprintf(f->lines[0], FINDING_TEXT, "with TF_ENABLE_ONEDNN_OPTS=%s Eigen computes them; "
		 "how long oneDNN would take is unknown", value);
	snprintf(f->advice, FINDING_TEXT, "set TF_ENABLE_ONEDNN_OPTS=1 and measure; results differ "
		 "by rounding");
}

static void say_placed(struct finding *f, const char *share, const char *devices)
{
	snprintf(f->title, FINDING_TEXT, "settings: ops on the processor take %s, though there is "
		 "a "
		 "GPU", share);
	snprintf(f->lines[0], FINDING_TEXT, "devices: %.200s", devices);
	snprintf(f->advice, FINDING_TEXT, "types without a GPU kernel (int32, string) and "
		 "tf.device() put them there; set_soft_device_placement(False) makes that an "
		 "error, tf.debugging.set_log_device_placement(True) logs each op");
}

/* Only numbers below that of the cores count; 0 means as many as there are. */
static const char *few_threads(struct model *model, uint32_t process, uint32_t cores)
{
	static const char *const keys[] = { "threads inside of an op", "TF_NUM_INTRAOP_THREADS" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = graph_setting(model, process, keys[i]);
		unsigned long n = value ? strtoul(value, NULL, 10) : 0;

		if (n)
			return n < cores ? value : NULL;
	}
	return NULL;
}

static void review_one(struct model *model, const struct basis *basis, const struct told *t,
		       enum settings_what what, struct findings *findings)
{
	int64_t cost_ns = basis_cost(basis, t->cost_ns[what][basis_scope(basis)]);
	int64_t whole_ns = basis_whole(basis), thousandths = per_mille(cost_ns, whole_ns);
	const struct worst *w = &t->worst[what][basis_scope(basis)];
	uint32_t cores = processor_cores(model, t->process);
	char share[FMT_MAX], text[FMT_MAX + 32];
	const char *value = NULL;
	struct finding f = {
		.id = "settings", .subject = t->process * WHATS + what, .cost_ns = cost_ns,
		.of_ns = whole_ns,
		.severity = thousandths >= 500 ? SEVERITY_WARNING : SEVERITY_NOTE,
		.evidence = {
			.kind = EVIDENCE_OP, .t0 = w->t0, .t1 = w->t1, .row = w->row,
			.key = w->name ? names_short(&model->names, w->name) : NULL,
		},
	};

	if (!w->ns || thousandths < model_threshold(model, THRESHOLD_SETTINGS_SHARE) * 10)
		return;
	snprintf(text, sizeof(text), "%s of %s",
		 fmt_share(share, (uint64_t)cost_ns, (uint64_t)whole_ns),
		 basis_each(model, basis));
	if (what == WHAT_EAGER && basis_count(basis, t->eager[basis_scope(basis)]) >=
	    (uint64_t)model_threshold(model, THRESHOLD_EAGER_OPS))
		say_eager(model, &f, basis, t, text);
	else if (what == WHAT_THREADS && (value = few_threads(model, t->process, cores)))
		say_threads(&f, basis, t, text, value, cores);
	else if (what == WHAT_ONEDNN &&
		 is_off(value = graph_setting(model, t->process, "TF_ENABLE_ONEDNN_OPTS")))
		say_onednn(&f, text, value);
	else if (what == WHAT_PLACED && t->gpu)
		say_placed(&f, text, graph_setting(model, t->process, "devices"));
	else
		return;
	finding_add(findings, &f);
}

static void settings_review(struct model *model, void *state, struct findings *findings)
{
	const struct settings_state *s = state;

	if (!basis_ready(model, &s->basis))
		return;
	for (uint32_t i = 0; i < s->n; i++)
		for (int what = 0; what < WHATS; what++)
			review_one(model, &s->basis, &s->list[i], (enum settings_what)what,
				   findings);
}

static void settings_end(void *state)
{
	struct settings_state *s = state;

	free(s->types.of);
	free(s->places.of);
	free(s->threads);
}

static size_t settings_bytes(const void *state)
{
	const struct settings_state *s = state;

	return (s->types.n + s->places.n) * sizeof(uint32_t) + s->n_threads * sizeof(*s->threads);
}

const struct analysis analysis_settings = {
	.name = "settings", .size = sizeof(struct settings_state), .release = settings_end,
	.per_step = true, .needs_ops = true,
	.slice = settings_slice, .review = settings_review, .bytes = settings_bytes,
};
