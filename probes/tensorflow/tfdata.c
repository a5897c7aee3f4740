/* SPDX-License-Identifier: MIT */
/*
 * tf.data: what each stage of the input pipelines does, counted where it happens and sent about
 * once per second.
 *
 * A stage is a path of iterators ("Iterator::Root::Prefetch::MapAndBatch"); each call of its
 * GetNext is one trace event. Pipelines with equal paths are one stage, and so are the copies that
 * an interleave makes of a stage.
 *
 * Idea: the event of a call comes after those of the stages below that it called on its thread. So
 * a thread keeps the calls that have not been claimed yet, and a call that started no later claims
 * them: the rest of its time is its own. A stage that works ahead returns what is ready: its own
 * time on the caller's thread is waiting. Its work is that of its own threads
 * ("ParallelMapProduce", without the stages below) and of its functions, from RunAsync until the
 * executor of the same step id calls "done". The wait of the program itself is
 * IteratorGetNextOp::DoCompute.
 *
 * Bounds: STAGES_MAX stages, SPANS unclaimed calls per thread, FLIGHTS functions at once; what
 * exceeds these is dropped and counted. Nothing is allocated.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/runtime/quick.h"
#include "probes/tensorflow/probe.h"
#include "probes/tensorflow/traceme.h"

#define STAGES_MAX 512u		/* a power of two */
#define SLOTS 1024u		/* a power of two, twice the stages */
#define TEXT_BITS 10
#define SPANS 24
#define FLIGHTS 1024u		/* a power of two */
#define PATH_BYTES 256
#define WHAT_BYTES 128
#define NOBODY UINT32_MAX
#define LOOK_NS 250000000		/* how often a stage's settings are read */
#define TELL_NS 1000000000
#define ITERATOR "Iterator::"
#define ROOT "Root"

enum { ELEMENTS, BYTES, TOTAL, SELF, BUSY, WAIT, SUMS };

struct stage {
	char path[PATH_BYTES];
	char what[WHAT_BYTES];		/* valid if named */
	_Atomic bool named, changed;	/* changed: it must be defined again */
	uint32_t parent;		/* NOBODY: the program takes its elements */
	_Atomic uint64_t sum[SUMS];
	_Atomic int64_t max_ns, looked_ns;
	_Atomic int32_t parallelism, buffer;	/* as configured, see struct tft_stage */
	_Atomic int32_t now, buffered;		/* in force; -1: unknown */
	_Atomic bool ahead;			/* it works ahead of its caller */
	/* what was sent last; protected by `telling` */
	uint64_t told[SUMS];
	int64_t told_ns;
};

static struct stage stages[STAGES_MAX];
static _Atomic uint32_t n_stages;
static struct {
	_Atomic uint64_t hash;		/* hash of the path; 0: unused */
	_Atomic uint32_t stage;
} slots[SLOTS];
static _Atomic uint64_t texts[1u << TEXT_BITS];	/* see stage_called(); 0: unused */
static atomic_flag adding = ATOMIC_FLAG_INIT, telling = ATOMIC_FLAG_INIT;
static int64_t told_all_ns;

/* Consecutive calls of one stage that have not been claimed yet. */
struct tfdata_span {
	int64_t start_ns;		/* start of the first call */
	int64_t last_ns, last_dur_ns;	/* start and duration of the last call */
	int64_t sum_ns;
	uint32_t stage;
};

static _Thread_local struct {
	uint32_t n;
	struct tfdata_span list[SPANS];
} spans;

/* A function that a stage has started, or one that ended before its stage was known. */
static struct flight {
	atomic_flag busy;
	bool done;			/* ns is when it ended */
	uint32_t stage;
	int64_t id, ns;			/* id 0: unused */
} flights[FLIGHTS];

static void add(struct stage *s, int sum, int64_t n)
{
	atomic_fetch_add_explicit(&s->sum[sum], (uint64_t)n, memory_order_relaxed);
}

static bool take_flag(atomic_flag *flag)
{
	for (int i = 0; i < 10000; i++) {
		if (!atomic_flag_test_and_set_explicit(flag, memory_order_acquire))
			return true;
		sched_yield();
	}
	return false;
}

static void give_flag(atomic_flag *flag)
{
	atomic_flag_clear_explicit(flag, memory_order_release);
}

/* ---- stages, by path ---- */

/*
 * "Iterator::Root::FlatMap[3]::Map" becomes "FlatMap::Map": each input of a flat map or an
 * interleave has a number. The inputs of Zip are different things and keep theirs. Returns the
 * length; 0: it is not a path.
 */
static size_t tfdata_path_of(char path[PATH_BYTES], const char *name, size_t length)
{
	const char *at = name + sizeof(ITERATOR) - 1, *end = name + length, *part;
	size_t n = 0;

	if (length <= sizeof(ITERATOR) - 1 || memcmp(name, ITERATOR, sizeof(ITERATOR) - 1))
		return 0;
	if ((size_t)(end - at) > sizeof(ROOT "::") - 1 &&
	    !memcmp(at, ROOT "::", sizeof(ROOT "::") - 1))
		at += sizeof(ROOT "::") - 1;
	for (part = at; at < end && n < PATH_BYTES - 1; at++) {
		if (*at == ':')
			part = at + 1;
		if (*at == '[' && !(end - part > 3 && !memcmp(part, "Zip", 3)))
			while (at + 1 < end && *++at != ']')
				;
		else
			path[n++] = *at;
	}
	path[n] = '\0';
	return n;
}

/* Length of the path of the stage that takes its elements: "Zip" for "Zip[0]::Map"; 0: it is the
 * outermost. */
static size_t parent_length(const char *path, size_t length)
{
	while (length && path[length - 1] != ':')
		length--;
	length -= length > 1 ? 2 : length;
	if (length && path[length - 1] == ']')
		while (length && path[--length] != '[')
			;
	return length;
}

static uint32_t search(uint64_t hash)
{
	for (uint32_t i = 0, at = (uint32_t)hash; i < SLOTS; i++, at++) {
		uint64_t there = atomic_load_explicit(&slots[at % SLOTS].hash,
						      memory_order_acquire);

		if (there == hash)
			return atomic_load_explicit(&slots[at % SLOTS].stage, memory_order_relaxed);
		if (!there)
			break;
	}
	return NOBODY;
}

static uint32_t stage_make(const char *path, size_t length, uint64_t hash, uint32_t parent)
{
	uint32_t at, index = NOBODY;
	struct stage *s;

	if (!take_flag(&adding)) {
		rt_dropped(1);
		return NOBODY;
	}
	index = search(hash);
	if (index == NOBODY && n_stages < STAGES_MAX) {
		index = n_stages;
		s = &stages[index];
		memcpy(s->path, path, length);
		s->path[length] = '\0';
		s->parent = parent;
		s->now = s->buffered = -1;
		s->told_ns = rt_now_ns();
		s->changed = true;
		atomic_store_explicit(&n_stages, index + 1, memory_order_release);
		for (at = (uint32_t)hash; slots[at % SLOTS].hash; at++)
			;
		atomic_store_explicit(&slots[at % SLOTS].stage, index, memory_order_relaxed);
		atomic_store_explicit(&slots[at % SLOTS].hash, hash, memory_order_release);
	}
	give_flag(&adding);
	if (index == NOBODY)
		rt_dropped(1);
	return index;
}

static uint32_t stage_of(const char *path, size_t length)
{
	uint64_t hash = tf_hash(path, length);
	uint32_t index = search(hash), parent = NOBODY;
	size_t above;

	if (index != NOBODY)
		return index;
	above = parent_length(path, length);
	if (above)
		parent = stage_of(path, above);
	else if (strcmp(path, ROOT))
		parent = stage_of(ROOT, sizeof(ROOT) - 1);
	return stage_make(path, length, hash, parent);
}

/* The stage for an iterator's text. There is a call for each single element, so the stage is stored
 * in the low bits of the text's hash, whose high bits select the place. */
static uint32_t stage_called(const char *text, size_t length)
{
	uint64_t hash = tf_hash(text, length);
	_Atomic uint64_t *kept = &texts[hash >> (64 - TEXT_BITS)];
	uint64_t have = atomic_load_explicit(kept, memory_order_relaxed);
	char path[PATH_BYTES];
	uint32_t stage;

	if (have && (have ^ hash) / STAGES_MAX == 0)
		return (uint32_t)(have % STAGES_MAX);
	length = tfdata_path_of(path, text, length);
	stage = length ? stage_of(path, length) : NOBODY;
	if (stage != NOBODY)
		atomic_store_explicit(kept, hash / STAGES_MAX * STAGES_MAX | stage,
				      memory_order_relaxed);
	return stage;
}

/* ---- nested calls ---- */

/* Claims the calls of this thread from start_ns on, and returns their time. *last: the stage of the
 * last one; NOBODY: none. */
static int64_t tfdata_claim(int64_t start_ns, uint32_t *last)
{
	int64_t sum_ns = 0;

	*last = NOBODY;
	while (spans.n) {
		const struct tfdata_span *s = &spans.list[spans.n - 1];

		if (s->last_ns < start_ns)
			break;
		if (*last == NOBODY)
			*last = s->stage;
		sum_ns += s->start_ns >= start_ns ? s->sum_ns : s->last_dur_ns;
		spans.n--;
	}
	return sum_ns;
}

static void leave_unclaimed(uint32_t stage, int64_t start_ns, int64_t dur_ns)
{
	struct tfdata_span *s = spans.n ? &spans.list[spans.n - 1] : NULL;

	if (!s || s->stage != stage) {
		if (spans.n == SPANS)
			memmove(spans.list, spans.list + 1, --spans.n * sizeof(*s));
		s = &spans.list[spans.n++];
		*s = (struct tfdata_span){ .start_ns = start_ns, .stage = stage };
	}
	s->last_ns = start_ns;
	s->last_dur_ns = dur_ns;
	s->sum_ns += dur_ns;
}

/* ---- settings of a stage, as its calls report them ---- */

static void set(struct stage *s, _Atomic int32_t *field, int64_t value)
{
	int32_t n = value < INT32_MIN || value > INT32_MAX ? -1 : (int32_t)value;

	if (atomic_load_explicit(field, memory_order_relaxed) == n)
		return;
	atomic_store_explicit(field, n, memory_order_relaxed);
	if (field == &s->parallelism || field == &s->buffer)
		s->changed = true;
}

static void tfdata_name_stage(struct stage *s, const struct traceme *t)
{
	const char *text;
	size_t length;

	if (s->named || !traceme_value(t, "name", &text, &length) || !take_flag(&adding))
		return;
	if (!s->named) {
		length = length < WHAT_BYTES ? length : WHAT_BYTES - 1;
		memcpy(s->what, text, length);
		s->what[length] = '\0';
		atomic_store_explicit(&s->named, true, memory_order_release);
		s->changed = true;
	}
	give_flag(&adding);
}

static void tfdata_look(struct stage *s, const struct traceme *t)
{
	const char *text;
	bool tuned, calls, limit;
	size_t length;
	int64_t n;

	tfdata_name_stage(s, t);
	tuned = traceme_value(t, "autotune", &text, &length) && length == 4;
	calls = traceme_value(t, "parallelism", &text, &length);
	if (calls) {
		n = traceme_number(t, "parallelism", &n) ? n : -1;
		set(s, &s->now, n);
		set(s, &s->parallelism, tuned ? -1 : n);
	} else if (traceme_number(t, "cpu_budget", &n)) {
		set(s, &s->now, n);	/* for the root: the value for all of its functions */
	}
	limit = traceme_number(t, "buffer_limit", &n);
	if (limit || traceme_number(t, "max_batch_results", &n) ||
	    traceme_number(t, "buffer_size", &n))
		set(s, &s->buffer, limit && tuned ? -1 : n);
	if (traceme_number(t, "buffered_elements", &n))
		set(s, &s->buffered, n);
	if ((calls || limit) && !s->ahead)
		s->ahead = true;
	if (calls)
		tf_trace_functions();
}

/* ---- events ---- */

static bool look_due(uint32_t stage, int64_t now_ns)
{
	if (stage == NOBODY || now_ns - stages[stage].looked_ns < LOOK_NS)
		return false;
	stages[stage].looked_ns = now_ns;
	return true;
}

static void tfdata_called(uint32_t stage, int64_t start_ns, int64_t end_ns)
{
	int64_t dur_ns = end_ns - start_ns, self_ns, max_ns;
	struct stage *s = &stages[stage];
	uint32_t below;

	self_ns = dur_ns - tfdata_claim(start_ns, &below);
	if (stage == NOBODY)
		return;
	leave_unclaimed(stage, start_ns, dur_ns);
	self_ns = self_ns > 0 ? self_ns : 0;
	add(s, ELEMENTS, 1);
	add(s, TOTAL, dur_ns);
	add(s, SELF, self_ns);
	if (s->ahead)
		add(s, WAIT, self_ns);
	max_ns = atomic_load_explicit(&s->max_ns, memory_order_relaxed);
	while (dur_ns > max_ns && !atomic_compare_exchange_weak(&s->max_ns, &max_ns, dur_ns))
		;
}

void tf_stage_called(const struct traceme *t)
{
	uint32_t stage = stage_called(t->name, t->name_length);

	if (look_due(stage, t->end_ns))
		tfdata_look(&stages[stage], t);
	tfdata_called(stage, t->start_ns, t->end_ns);
}

/* One of a stage's own threads made an element, from elements of the stage below. */
void tf_stage_worked(const struct traceme *t)
{
	uint32_t below;
	int64_t own_ns = t->end_ns - t->start_ns - tfdata_claim(t->start_ns, &below);

	if (below == NOBODY || stages[below].parent == NOBODY || own_ns < 0)
		return;
	add(&stages[stages[below].parent], BUSY, own_ns);
}

void tf_stage_fetched(const struct traceme *t)
{
	uint32_t root;
	int64_t bytes;

	tfdata_claim(t->start_ns, &root);
	if (root == NOBODY)
		return;
	add(&stages[root], WAIT, t->end_ns - t->start_ns);
	if (traceme_number(t, "element_size", &bytes) && bytes > 0)
		add(&stages[root], BYTES, bytes);
}

/* ---- functions that run beside the thread that started them ---- */

static struct flight *flight_of(int64_t id)
{
	return &flights[((uint64_t)id * 0x9e3779b97f4a7c15u >> 32) % FLIGHTS];
}

/* Called right after the element came from the stage below, on the same thread. */
void tf_stage_function(const struct traceme *t)
{
	const struct tfdata_span *last = spans.n ? &spans.list[spans.n - 1] : NULL;
	uint32_t stage = last ? stages[last->stage].parent : NOBODY;
	struct flight *f;
	int64_t id;

	if (stage == NOBODY || !traceme_number(t, "id", &id) || !id)
		return;
	f = flight_of(id);
	if (!take_flag(&f->busy)) {
		rt_dropped(1);
		return;
	}
	if (f->id == id && f->done) {
		if (f->ns > t->start_ns)
			add(&stages[stage], BUSY, f->ns - t->start_ns);
		f->id = 0;
	} else {
		f->id = id;
		f->done = false;
		f->ns = t->start_ns;
		f->stage = stage;
	}
	give_flag(&f->busy);
}

/* Called for every other function, too: the entry is kept until another one replaces it. */
void tf_function_done(const struct traceme *t)
{
	struct flight *f;
	int64_t id;

	if (!n_stages || !traceme_number(t, "id", &id) || !id)
		return;
	f = flight_of(id);
	if (!take_flag(&f->busy))
		return;
	if (f->id == id && !f->done) {
		if (t->start_ns > f->ns)
			add(&stages[f->stage], BUSY, t->start_ns - f->ns);
		f->id = 0;
	} else if (!f->id || f->done) {
		f->id = id;
		f->done = true;
		f->ns = t->start_ns;
	}
	give_flag(&f->busy);
}

/* ---- calls that TensorFlow itself does not report ---- */

static struct {
	/* the same text as in its trace event */
	struct tf_string *(*name)(struct tf_string *, void *);
	const struct tf_string *(*path)(const void *);		/* NULL: not available */
} iterator_text;

bool tf_stages_start(void)
{
	*(void **)&iterator_text.name = tf_lib->find(TFT_TF_ITERATOR_NAME);
	*(void **)&iterator_text.path = tf_lib->find(TFT_TF_ITERATOR_PATH);
	return iterator_text.name;
}

/* The stage of an iterator. The name in its event, which TensorFlow composes each time it is
 * requested, is only read when its settings are. */
static uint32_t stage_of_iterator(void *iterator, int64_t now_ns)
{
	const struct tf_string *path = iterator_text.path ? iterator_text.path(iterator) : NULL;
	uint32_t stage = path ? stage_called(path->text, path->length) : NOBODY;
	struct tf_string name = { 0 };
	struct traceme_event e;
	struct traceme t;

	if (path && !look_due(stage, now_ns))
		return stage;
	iterator_text.name(&name, iterator);
	e = (struct traceme_event){ .name = name.text, .length = name.length };
	traceme_split(&t, &e, 0);
	if (!path)
		stage = stage_called(t.name, t.name_length);
	if (path || look_due(stage, now_ns))
		tfdata_look(&stages[stage], &t);
	tf_string_free(&name);
	return stage;
}

void *tf_get_next(void *status, void *iterator, void *context, void *tensors, void *end)
{
	typedef void *get_next(void *, void *, void *, void *, void *);
	get_next *original = (get_next *)tf_original(TFT_TF_GET_NEXT);
	int64_t start_ns, end_ns;
	int saved;

	if (rt_level() < TFT_LEVEL_DEFAULT || !tf_trace_apart())
		return original(status, iterator, context, tensors, end);
	start_ns = rt_quick_now();
	original(status, iterator, context, tensors, end);
	saved = errno;
	end_ns = rt_quick_now();
	/* only now: once its settings say so, TensorFlow may report the calls itself */
	tfdata_called(stage_of_iterator(iterator, end_ns), start_ns, end_ns);
	errno = saved;
	return status;
}

/* ---- sending ---- */

static void define(uint32_t index)
{
	struct stage *s = &stages[index];
	struct tft_stage def = {
		.id = index + 1, .parent = s->parent == NOBODY ? 0 : s->parent + 1,
		.parallelism = s->parallelism, .buffer = s->buffer, .path = s->path,
		.what = atomic_load_explicit(&s->named, memory_order_acquire) ? s->what : "",
	};

	rt_emit_stage(&def);
}

static void tfdata_tell(uint32_t index, int64_t now_ns)
{
	struct stage *s = &stages[index];
	uint64_t new[SUMS];
	struct tft_stages r = { .stage = index + 1, .begin_ns = s->told_ns, .end_ns = now_ns };
	bool any = false;

	for (int i = 0; i < SUMS; i++) {
		uint64_t sum = atomic_load_explicit(&s->sum[i], memory_order_relaxed);

		new[i] = sum - s->told[i];
		s->told[i] = sum;
		any |= new[i] != 0;
	}
	if (!any)
		return;
	r.elements = new[ELEMENTS];
	r.bytes = new[BYTES];
	r.total_ns = (int64_t)new[TOTAL];
	r.self_ns = (int64_t)new[SELF];
	r.busy_ns = (int64_t)new[BUSY];
	r.wait_ns = (int64_t)new[WAIT];
	r.max_ns = atomic_exchange(&s->max_ns, 0);
	r.parallelism = s->now;
	r.buffered = s->buffered;
	s->told_ns = now_ns;
	rt_emit_stages(&r);
}

void tf_stages_tell(bool now)
{
	uint32_t n = atomic_load_explicit(&n_stages, memory_order_acquire);
	int64_t now_ns = rt_now_ns();

	if (!n || (!now && now_ns - told_all_ns < TELL_NS) || !take_flag(&telling))
		return;
	/* not earlier than a stage was made, and than the previous holder of the flag sent */
	told_all_ns = now_ns = rt_now_ns();
	for (uint32_t i = 0; i < n; i++) {
		if (atomic_exchange(&stages[i].changed, false))
			define(i);
		tfdata_tell(i, now_ns);
	}
	give_flag(&telling);
}

void tf_stages_dump(void)
{
	uint32_t n = atomic_load_explicit(&n_stages, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		define(i);
}

void tf_stages_fork_child(void)
{
	memset(stages, 0, n_stages * sizeof(*stages));
	memset(slots, 0, sizeof(slots));
	memset(texts, 0, sizeof(texts));
	memset(flights, 0, sizeof(flights));
	n_stages = 0;
	spans.n = 0;
	give_flag(&adding);
	give_flag(&telling);
}
