/* SPDX-License-Identifier: MIT */
/*
 * Steps of the program, and its waits for batches.
 *
 * A training step ends where an optimizer has stepped, on the thread that called it, and begins
 * where the previous one ended. When optimizers step in turns (two networks), the last one of each
 * turn ends the step: a source line that was not seen before takes over that role, and a line that
 * is not met again is forgotten. A new line right after a line that ended more than one turn
 * belongs to another loop, and ends that loop's first step. The first step of a loop, and one after
 * other data was read in between (a validation), begin with their first batch. A program without
 * backward pass and optimizer has a step from each batch to the next, if it ran an op in it; at
 * level min, which sees no ops, it is taken to have run one.
 *
 * A DataLoader is a stage of an input pipeline, one for each source line that asks it; the time
 * that it took is the program's wait.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/pytorch/probe.h"

#define LOADERS 64
#define TELL_NS 1000000000
#define TURNS 8	/* if the last line of a step is missing for this many rounds, it is forgotten */
#define DETOUR 2	/* this many batches in a row for another line are not part of a step */
#define WHAT_BYTES 128

static _Atomic bool trains;
static _Atomic uint32_t ended;

/* ---- loaders ---- */

static struct torch_loader {
	_Atomic uint64_t key;		/* name and line; 0: unused */
	char what[WHAT_BYTES];
	_Atomic bool there, defined;
	_Atomic uint64_t calls, total_ns;
	_Atomic int64_t max_ns;
	/* what was sent last; protected by `telling` */
	uint64_t told_calls, told_ns;
	int64_t since_ns;
} loaders[LOADERS];
static atomic_flag telling = ATOMIC_FLAG_INIT;

/* The iterator's name, from "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__". */
static void name_it(struct torch_loader *l, const char *name)
{
	const char *mark = strchr(name, '#'), *end;

	name = mark ? mark + 1 : name;
	end = strchr(name, '.');
	snprintf(l->what, sizeof(l->what), "%.*s", end ? (int)(end - name) : WHAT_BYTES - 1, name);
}

static struct torch_loader *loader_of(const struct torch_open *o, const char *name)
{
	uint64_t key = (uint64_t)o->where.source << 32 | o->name;

	for (int i = 0; i < LOADERS; i++) {
		uint64_t none = 0;

		if (atomic_load_explicit(&loaders[i].key, memory_order_acquire) == key)
			return &loaders[i];
		if (!atomic_compare_exchange_strong(&loaders[i].key, &none, key)) {
			if (none == key)
				return &loaders[i];
			continue;
		}
		name_it(&loaders[i], name);
		loaders[i].since_ns = o->start_ns;
		atomic_store_explicit(&loaders[i].there, true, memory_order_release);
		return &loaders[i];
	}
	rt_dropped(1);
	return NULL;
}

static void define(int i)
{
	struct tft_stage s = {
		.id = (uint32_t)i + 1, .path = "DataLoader", .what = loaders[i].what,
	};

	rt_emit_stage(&s);
}

static void torch_loader_tell(int i)
{
	struct torch_loader *l = &loaders[i];
	uint64_t calls = atomic_load(&l->calls), total = atomic_load(&l->total_ns);
	struct tft_stages s = {
		.stage = (uint32_t)i + 1, .elements = calls - l->told_calls,
		.total_ns = (int64_t)(total - l->told_ns), .begin_ns = l->since_ns,
		/* what has been counted by now started before that; it may be newer than the
		 * tick */
		.end_ns = rt_now_ns(), .parallelism = -1, .buffered = -1,
	};

	if (!s.elements)
		return;
	s.self_ns = s.wait_ns = s.total_ns;
	s.max_ns = atomic_exchange(&l->max_ns, 0);
	l->told_calls = calls;
	l->told_ns = total;
	l->since_ns = s.end_ns;
	rt_emit_stages(&s);
}

void torch_steps_tell(bool now)
{
	static int64_t told_ns;
	int64_t now_ns = rt_now_ns();

	if ((!now && now_ns - told_ns < TELL_NS) || atomic_flag_test_and_set(&telling))
		return;
	told_ns = now_ns;
	for (int i = 0; i < LOADERS && atomic_load(&loaders[i].there); i++) {
		if (!atomic_exchange(&loaders[i].defined, true))
			define(i);
		torch_loader_tell(i);
	}
	atomic_flag_clear(&telling);
}

void torch_steps_dump(void)
{
	for (int i = 0; i < LOADERS && atomic_load(&loaders[i].there); i++)
		define(i);
}

/* ---- steps ---- */

static void emit(uint32_t name, int64_t start_ns, int64_t end_ns)
{
	struct tft_step step = {
		.name = name, .number = -1, .start_ns = start_ns, .dur_ns = end_ns - start_ns,
	};

	rt_emit_step(&step);
	atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
}

uint32_t torch_steps_ended(void)
{
	return atomic_load_explicit(&ended, memory_order_relaxed);
}

bool torch_steps_train(void)
{
	return atomic_load_explicit(&trains, memory_order_relaxed);
}

bool torch_steps_expected(void)
{
	return torch_steps_train() || torch_steps_ended();
}

void torch_steps_backward(void)
{
	if (torch_steps_train())
		return;
	atomic_store_explicit(&trains, true, memory_order_relaxed);
	py_want_calls(false);
}

void torch_step_begins(struct torch_thread *t)
{
	torch_steps_backward();
	t->stepping++;
}

/* Whether the optimizer of this line is the last one of a step; *first: of a loop. */
static bool is_last(struct torch_thread *t, uint32_t line, bool *first)
{
	const int room = (int)(sizeof(t->lines) / sizeof(t->lines[0]));
	bool again = t->again;
	int i;

	*first = false;
	t->again = line == t->last_line;
	if (t->again) {
		t->missed = 0;
		return true;
	}
	for (i = 0; i < room && t->lines[i] && t->lines[i] != line; i++)
		;
	if (i < room && t->lines[i] && ++t->missed < TURNS)
		return false;
	/* the first of all lines, a new one, or those of another phase of the program */
	if (i == room || t->missed >= TURNS)
		memset(t->lines, 0, sizeof(t->lines));
	for (i = 0; t->lines[i]; i++)
		;
	*first = !t->last_line || again;
	t->lines[i] = line;
	t->missed = 0;
	t->last_line = line;
	return *first;
}

void torch_step_ends(struct torch_thread *t, const struct torch_open *o, int64_t now_ns)
{
	int64_t start_ns = t->step_end_ns;
	bool first = false;

	t->stepping -= t->stepping > 0;
	if (t->stepping || !o->start_ns)
		return;
	/* without lines, each call ends a step */
	if (o->where.source && !is_last(t, o->where.source, &first))
		return;
	if (t->input_ns && (!start_ns || t->detour || first))
		start_ns = t->input_ns;
	torch_ops_bare_ends(now_ns);
	emit(o->name, start_ns ? start_ns : o->start_ns, now_ns);
	t->step_end_ns = now_ns;
	t->train_line = t->run_line;
	t->input_ns = 0;
	t->run_count = 0;
	t->detour = false;
	torch_cost_step(t, now_ns);
}

void torch_input_begins(struct torch_thread *t, const struct torch_open *o)
{
	uint32_t line = o->where.source;

	if (t->fetching++)
		return;
	if (!torch_steps_train()) {
		if (t->input_ns && (t->worked || rt_level() == TFT_LEVEL_MIN))
			emit(o->name, t->input_ns, o->start_ns);
		t->input_ns = o->start_ns;
		t->worked = false;
		t->run_count = line == t->run_line ? t->run_count + 1 : 1;
		t->run_line = line;
		return;
	}
	if (line == t->run_line) {
		t->run_count++;
	} else {
		/* other data: a single batch may be part of the step, several in a row are not */
		if (t->run_count >= DETOUR && t->run_line != t->train_line) {
			t->detour = true;
			t->input_ns = 0;
		}
		t->run_line = line;
		t->run_count = 1;
	}
	if (!t->input_ns)
		t->input_ns = o->start_ns;
}

void torch_input_ends(struct torch_thread *t, const struct torch_open *o, const char *name,
		      int64_t now_ns)
{
	int64_t dur_ns = now_ns - o->start_ns, max_ns;
	struct torch_loader *l;

	t->fetching -= t->fetching > 0;
	if (t->fetching || !o->start_ns || !(l = loader_of(o, name)))
		return;
	atomic_fetch_add(&l->calls, 1);
	atomic_fetch_add(&l->total_ns, (uint64_t)dur_ns);
	max_ns = atomic_load(&l->max_ns);
	while (dur_ns > max_ns && !atomic_compare_exchange_weak(&l->max_ns, &max_ns, dur_ns))
		;
}

/* What was going on belongs to the parent. */
void torch_steps_fork_child(struct torch_thread *t)
{
	memset(loaders, 0, sizeof(loaders));
	atomic_store(&trains, false);
	py_want_calls(true);
	atomic_flag_clear(&telling);
	if (!t)
		return;
	t->lookup_ns = 0;
	t->stepping = t->fetching = 0;
	t->step_end_ns = t->input_ns = 0;
	t->last_line = t->missed = t->run_line = t->run_count = t->train_line = 0;
	t->detour = t->again = false;
	memset(t->lines, 0, sizeof(t->lines));
}
