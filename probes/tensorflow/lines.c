/* SPDX-License-Identifier: MIT */
/*
 * Source lines at the moment when Python makes a node: TensorFlow's Python calls TF_NewOperation()
 * for each node of a graph and EagerOperation::Reset() for each eager op, and its frames say where
 * that happened. During TF_NewOperation() Python's lock is released, so the frames are looked at
 * just after, when the thread has the lock again and deletes the status of the call. Nodes are kept
 * by the number of their graph; for a function and a session it is known from which graph it was
 * made.
 *
 * On any thread of the program. Bounds: 65 536 nodes (one message says that there are more), and
 * 16 384 graphs, functions and sessions together, of which the oldest are dropped.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/python/python.h"
#include "probes/python/walk.h"
#include "probes/tensorflow/graph.h"
#include "probes/tensorflow/graphdef.h"
#include "probes/tensorflow/hash.h"
#include "probes/tensorflow/probe.h"

#define LINES_MAX 65536u
#define LINE_SLOTS (2 * LINES_MAX)	/* powers of two */
#define NUMBER_SLOTS 16384u
#define NUMBER_TRIES 8u
#define VERDICTS 512u
#define EAGER 1u		/* number of a graph: that of eager ops */

enum number_kind { OF_GRAPH, OF_FUNCTION, OF_SESSION };

/* Mapped when the first node is stored. */
static struct line_tables {
	struct {
		uint64_t key;		/* 0: unused */
		struct tf_line line;
	} line[LINE_SLOTS];
	struct {
		uint64_t key;		/* 0: unused */
		uint32_t number;
	} number[NUMBER_SLOTS];
} *t;
static uint32_t n_lines, last_number = EAGER;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void lock(void)
{
	while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		;
}

static void unlock(void)
{
	atomic_flag_clear_explicit(&busy, memory_order_release);
}

static bool ready(void)
{
	if (!t) {
		void *at = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		t = at == MAP_FAILED ? NULL : at;
	}
	return t != NULL;
}

/* ---- numbers of graphs; the lock must be held ---- */

static uint64_t key_of(enum number_kind kind, const void *address)
{
	return tf_mix((uintptr_t)address + ((uint64_t)kind << 60)) | 1;
}

static uint64_t key_of_name(const char *function)
{
	return tf_hash_name(OF_FUNCTION, function, strlen(function));
}

static uint32_t number_get(uint64_t key)
{
	for (uint32_t i = 0; i < NUMBER_TRIES; i++) {
		uint32_t at = ((uint32_t)(key >> 32) + i) % NUMBER_SLOTS;

		if (t->number[at].key == key)
			return t->number[at].number;
	}
	return 0;
}

static void number_set(uint64_t key, uint32_t number)
{
	uint32_t oldest = (uint32_t)(key >> 32) % NUMBER_SLOTS;

	for (uint32_t i = 0; i < NUMBER_TRIES; i++) {
		uint32_t at = ((uint32_t)(key >> 32) + i) % NUMBER_SLOTS;

		if (t->number[at].key == key || !t->number[at].key) {
			oldest = at;
			break;
		}
		if (t->number[at].number < t->number[oldest].number)
			oldest = at;
	}
	t->number[oldest].key = key;
	t->number[oldest].number = number;
}

/* The number of the graph, which gets one if it has none; 0: there is no room. */
static uint32_t number_of_graph(const void *graph)
{
	uint64_t key = key_of(OF_GRAPH, graph);
	uint32_t number = number_get(key);

	if (!number)
		number_set(key, number = ++last_number);
	return number;
}

static void take_over(uint64_t key, uint64_t from)
{
	lock();
	if (ready() && number_get(from))
		number_set(key, number_get(from));
	unlock();
}

/* ---- lines ---- */

static uint64_t line_key(uint32_t number, const char *node, size_t length)
{
	return tf_hash_name(tf_mix(number), node, length);
}

static uint32_t line_place(uint64_t key)
{
	uint32_t i = (uint32_t)(key >> 32) % LINE_SLOTS;

	while (t->line[i].key && t->line[i].key != key)
		i = (i + 1) % LINE_SLOTS;
	return i;
}

/* false: the table is full. The lock must be held. */
static bool tf_lines_put(uint32_t number, const char *node, const struct tf_line *line)
{
	uint64_t key = line_key(number, node, strlen(node));
	uint32_t at = line_place(key);

	if (!t->line[at].key) {
		if (n_lines >= LINES_MAX)
			return false;
		n_lines++;
	}
	t->line[at].key = key;
	t->line[at].line = *line;
	return true;
}

static bool get(uint32_t number, const char *node, size_t length, struct tf_line *line)
{
	uint32_t at = line_place(line_key(number, node, length));

	if (!t->line[at].key)
		return false;
	*line = t->line[at].line;
	return true;
}

bool tf_line_made(const char *function, const char *node, size_t length, struct tf_line *line)
{
	uint32_t number;
	bool found;

	lock();
	number = t ? number_get(key_of_name(function)) : 0;
	found = number && get(number, node, length, line);
	unlock();
	return found;
}

bool tf_line_eager(const char *op, struct tf_line *line)
{
	bool found;

	lock();
	found = t && get(EAGER, op, strlen(op), line);
	unlock();
	return found;
}

/* ---- frames ---- */

/* Called for each frame: takes eight bytes at a time. */
static uint64_t hash_file(const char *file, size_t length)
{
	uint64_t h = length, w;
	size_t i;

	for (i = 0; i + 8 <= length; i += 8) {
		memcpy(&w, file + i, 8);
		h = (h ^ w) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	w = 0;
	memcpy(&w, file + i, length - i);
	return tf_mix(h ^ w);
}

/* For functions, from 2.14 on, the C API says where nodes come from; there the frame that makes the
 * graph's node is near. */
static enum python_whose judge_file(const char *file, size_t length)
{
	static const char makes[] = "/tensorflow/python/framework/func_graph.py";
	size_t end = sizeof(makes) - 1;

	if (length > end && !memcmp(file + length - end, makes, end) && tf_graph_tells_lines())
		return PYTHON_STOP;
	return graphdef_is_framework(pb_of(file, length)) ? PYTHON_FRAMEWORKS : PYTHON_USERS;
}

/* There are few files and many frames: the result for a file is cached by its hash. */
static enum python_whose tf_lines_judge(const char *file, size_t length)
{
	static _Atomic uint64_t said[VERDICTS];
	uint64_t h = (hash_file(file, length) | 4) & ~UINT64_C(3);
	_Atomic uint64_t *place = &said[(h >> 32) % VERDICTS];
	uint64_t known = atomic_load_explicit(place, memory_order_relaxed);
	enum python_whose whose;

	if ((known & ~UINT64_C(3)) == h)
		return (enum python_whose)(known & 3);
	whose = judge_file(file, length);
	atomic_store_explicit(place, h | whose, memory_order_relaxed);
	return whose;
}

/*
 * A line of a file that AutoGraph generated from the user's: AutoGraph keeps a map for its own
 * stack traces, tensorflow.python.util.tf_stack._source_mapper_stacks[thread][-1]
 * ._cached_map[file, line] = (file, line, function), 2.9 to 2.21.
 */
static bool from_generated(const struct python *py, struct python_line *line)
{
	void *modules, *module, *stacks = NULL, *thread, *stack, *mapper, *map = NULL, *file;
	void *number, *key = NULL, *place = NULL, *part;
	ptrdiff_t n, length;

	if (!strstr(line->file, "__autograph_generated_file"))
		return true;
	modules = py->sys_get("modules");
	module = modules ? py->dict_get_text(modules, "tensorflow.python.util.tf_stack") : NULL;
	if (module)
		stacks = py->named(module, "_source_mapper_stacks");
	thread = py->number(py->thread_id());
	stack = stacks && thread ? py->dict_get(stacks, thread) : NULL;
	n = stack ? py->list_size(stack) : 0;
	mapper = n > 0 ? py->list_get(stack, n - 1) : NULL;
	if (mapper)
		map = py->named(mapper, "_cached_map");
	file = py->text(line->file);
	number = py->number(line->line);
	if (map && file && number)
		key = py->tuple(2, file, number);
	if (key)
		place = py->dict_get(map, key);
	line->file = line->function = NULL;
	if (place && (part = py->tuple_get(place, 0)))
		line->file = py->utf8(part, &length);
	if (place && (part = py->tuple_get(place, 1)))
		line->line = (uint32_t)py->as_long(part);
	if (place && (part = py->tuple_get(place, 2)))
		line->function = py->utf8(part, &length);
	for (size_t i = 0; i < 6; i++) {
		void *ours[] = { stacks, thread, map, file, number, key };

		if (ours[i])
			py->decref(ours[i]);
	}
	return line->file && line->function;
}

/* An eager op may run while a function is being made. */
static enum python_whose judge_eager(const char *file, size_t length)
{
	return tf_lines_judge(file, length) == PYTHON_USERS ? PYTHON_USERS : PYTHON_FRAMEWORKS;
}

/* graph NULL: the graph with that number. */
static void keep_line(uint32_t number, const void *graph, const char *node)
{
	static atomic_bool said;
	struct python_line at;
	struct tf_line line;
	bool kept = false;

	if (!python_find()) {
		if (!atomic_exchange(&said, true))
			tf_blind("no source lines: the program's Python does not export what "
				 "reads its frames");
		return;
	}
	if (!python_line(graph ? tf_lines_judge : judge_eager, from_generated, &at))
		return;
	line = (struct tf_line){
		.file = rt_name(TFT_NAME_SOURCE, at.file), .line = at.line,
		.function = rt_name(TFT_NAME_SOURCE, at.function),
	};
	lock();
	if (ready())
		kept = tf_lines_put(graph ? number_of_graph(graph) : number, node, &line);
	unlock();
	if (kept)
		return;
	rt_dropped(1);
	if (!atomic_exchange(&said, true))
		tf_blind("not all source lines were kept");
}

/* ---- hooks ---- */

void *tf_new_graph(void)
{
	void *graph = ((void *(*)(void))tf_original(TFT_TF_NEW_GRAPH))();
	int saved = errno;

	/* another graph may have been at this address */
	lock();
	if (t)
		number_set(key_of(OF_GRAPH, graph), ++last_number);
	unlock();
	errno = saved;
	return graph;
}

/* The node that this thread is making; graph NULL: none. */
static _Thread_local struct {
	const void *graph;
	char name[GRAPHDEF_NAME_BYTES];
} making;

void *tf_new_operation(void *graph, const char *type, const char *name)
{
	void *(*original)(void *, const char *, const char *) =
		(void *(*)(void *, const char *, const char *))tf_original(TFT_TF_NEW_OPERATION);
	size_t length = name ? strlen(name) : 0;

	making.graph = NULL;
	if (length && length < sizeof(making.name) && rt_level() >= TFT_LEVEL_DEFAULT) {
		memcpy(making.name, name, length + 1);
		making.graph = graph;
	}
	return original(graph, type, name);
}

void tf_delete_status(void *status)
{
	void (*original)(void *) = (void (*)(void *))tf_original(TFT_TF_DELETE_STATUS);
	const void *graph = making.graph;
	int saved = errno;

	making.graph = NULL;
	if (graph)
		keep_line(0, graph, making.name);
	errno = saved;
	original(status);
}

/* The last argument but one is the status; the arguments between are passed on. */
void *tf_graph_to_function(const void *graph, const char *name, unsigned char append, int n_ops,
			   const void *ops, int n_in, const void *in, int n_out, const void *out,
			   const void *names, int n_control, const void *control,
			   const void *control_names, const void *options, const char *description,
			   void *status)
{
	typedef void *make(const void *, const char *, unsigned char, int, const void *, int,
			   const void *, int, const void *, const void *, int, const void *,
			   const void *, const void *, const char *, void *);
	void *function = ((make *)tf_original(TFT_TF_GRAPH_TO_FUNCTION))(
		graph, name, append, n_ops, ops, n_in, in, n_out, out, names, n_control, control,
		control_names, options, description, status);
	const char *(*name_of)(void *);
	int saved = errno;

	*(void **)&name_of = tf_lib->find("TF_FunctionName");
	if (function && name_of && rt_level() != TFT_LEVEL_OFF)
		take_over(key_of_name(name_of(function)), key_of(OF_GRAPH, graph));
	errno = saved;
	return function;
}

void *tf_new_session(void *graph, const void *options, void *status)
{
	void *(*original)(void *, const void *, void *) =
		(void *(*)(void *, const void *, void *))tf_original(TFT_TF_NEW_SESSION);
	void *session = original(graph, options, status);
	int saved = errno;

	lock();
	if (session && ready())
		number_set(key_of(OF_SESSION, session), number_of_graph(graph));
	unlock();
	errno = saved;
	return session;
}

void tf_line_session(const void *session, const char *label, char *name, size_t size)
{
	uint32_t number, other;

	snprintf(name, size, "%s", label);
	lock();
	number = t ? number_get(key_of(OF_SESSION, session)) : 0;
	for (int n = 2; number && n < 100; n++) {
		other = number_get(key_of_name(name));
		if (!other)
			number_set(key_of_name(name), number);
		if (!other || other == number)
			break;
		snprintf(name, size, "%s, graph %d", label, n);
	}
	unlock();
}

/* TFE_Execute() is called without Python's lock: what is needed to read frames from memory
 * (py_where) is found here. */
static void find_frames(void)
{
	static atomic_bool done;
	char text[160];
	const char *why;

	if (atomic_load_explicit(&done, memory_order_relaxed) || !python_is_held() ||
	    atomic_exchange(&done, true))
		return;
	why = py_start();
	if (!why)
		return;
	snprintf(text, sizeof(text), "%s of single eager ops", why);
	tf_blind(text);
}

/* Each eager op and function is reset to its name before it gets its inputs. The line of the first
 * one of each type is kept. */
void *tf_eager_reset(void *status, void *op, const char *name, const char *device)
{
	void *(*original)(void *, void *, const char *, const char *) =
		(void *(*)(void *, void *, const char *, const char *))
		tf_original(TFT_TF_EAGER_RESET);
	int saved = errno;

	find_frames();
	if (rt_level() >= TFT_LEVEL_DEFAULT && tf_graph_is_first(2, name))
		keep_line(EAGER, NULL, name);
	errno = saved;
	return original(status, op, name, device);
}

void tf_lines_fork_child(void)
{
	atomic_flag_clear(&busy);
}
