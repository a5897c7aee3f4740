/* SPDX-License-Identifier: MIT */
#include "probes/host/tasks.h"

#include <string.h>

#define TYPE_NAME "_asyncio.Task"
#define TASK_BYTES 512		/* more than a task takes */
#define HANDLE_BYTES 96		/* in which a handle has its callback */
#define BASES 4			/* so many types are looked at, from a task's own one on */
#define TRIES_MAX 64u		/* at what may not be there */
#define SHORT_NAME 48		/* bytes that are read at once */
#define SCAN_BYTES 1024		/* of a type */
#define SCAN_LEAST 64		/* less is not looked at */
#define SCAN_OBJECTS 16		/* that are found at most */
#define VARIABLES_BYTES 8192	/* of asyncio's library, from the type of tasks on */
#define LOCALS_BYTES 128	/* of Runner.run() */
#define MODULE_WORDS 6		/* of a module, in which it has the address of its own memory */
#define STATE_BYTES 256		/* of that memory, in which asyncio has its dict */
/* dict -> its entries, counted as members of a type; they come after a head, in which their number
 * is, and an index, which is not longer than this for forty event loops */
#define DICT_KEYS 16
#define KEYS_COUNT 24
#define KEYS_HEAD (32 + 64)
#define KEYS_ENTRY 24u

/* members of a type, counted from its length as layout->head is */
#define TYPE_NAME_AT 8
#define TYPE_SIZE 16
#define TYPE_BASE 240

void host_task_begin(struct host_python *py, uintptr_t coro_type, uintptr_t dict_type,
		     uintptr_t module_type)
{
	uintptr_t bytes;

	py->tasks = (struct host_tasks) { .dict_type = dict_type, .module_type = module_type };
	if (!coro_type || !host_copy(py, &bytes, coro_type + (uintptr_t)py->layout->head +
				     TYPE_SIZE, sizeof(bytes)) || bytes > HOST_BLOCK)
		return;
	/* the frame in a coroutine is its last member */
	py->tasks.embedded = (int)bytes - py->layout->locals;
	if (py->layout->type >= 0 || py->tasks.embedded > py->layout->head)
		py->tasks.coro_type = coro_type;
}

bool host_task_said(struct host_python *py, const uint64_t word[HOST_TASK_SAID])
{
	enum { SIZE, NAME, CORO = 5, STATE_SIZE = 9, RUNNING_LOOP, RUNNING };
	uint64_t coro = word[CORO], running = word[RUNNING];

	if (word[SIZE] > TASK_BYTES || word[SIZE] % 8 || coro % 8 ||
	    coro <= (uint64_t)py->layout->head || word[NAME] != coro + 8 ||
	    word[NAME] + 8 > word[SIZE] || word[STATE_SIZE] > 65536 || running % 8 ||
	    running + 8 > word[STATE_SIZE] || running == word[RUNNING_LOOP] ||
	    running <= (uint64_t)py->layout->id)
		return false;
	py->tasks.bytes = (int)word[SIZE];
	py->tasks.coro = (int)coro;
	py->tasks.running = (int)running;
	return true;
}

bool host_task_is_asyncio(const char *file)
{
	const char *name = strrchr(file, '/'), *folder = "/asyncio";
	size_t length = name ? (size_t)(name - file) : 0, n = strlen(folder);

	return length >= n && !strncmp(name - n, folder, n) &&
	       (!strcmp(name, "/events.py") || !strcmp(name, "/runners.py"));
}

/* ---- what led to it ---- */

static bool host_task_words(struct host_python *py, const uintptr_t *at, uintptr_t *value,
			    uint32_t n)
{
	struct iovec to[HOST_TASK_WORDS], from[HOST_TASK_WORDS];

	for (uint32_t i = 0; i < n; i++) {
		if (at[i] < 4096)
			return false;
		from[i] = (struct iovec) { (void *)at[i], sizeof(*value) };
		to[i] = (struct iovec) { &value[i], sizeof(*value) };
	}
	return py->read(to, from, n);
}

/* Remembers words that were read: all of them must be there again at the end. */
static void host_task_keep(struct host_python *py, const uintptr_t *at, const uintptr_t *value,
			   uint32_t n)
{
	struct host_task *task = &py->task;

	for (uint32_t i = 0; i < n && task->n < HOST_TASK_WORDS; i++) {
		task->at[task->n] = at[i];
		task->value[task->n++] = value[i];
	}
}

static uintptr_t host_task_word(struct host_python *py, uintptr_t at)
{
	uintptr_t value;

	return host_task_words(py, &at, &value, 1) ? value : 0;
}

static bool host_task_is_name(struct host_python *py, uintptr_t at)
{
	char name[sizeof(TYPE_NAME)];

	return host_copy(py, name, at, sizeof(name)) && !memcmp(name, TYPE_NAME, sizeof(name));
}

/* Whether objects of that type are tasks: it is asyncio's own, or derives from that. */
static bool host_task_is_type(struct host_python *py, uintptr_t type)
{
	uintptr_t head = (uintptr_t)py->layout->head, value[3];

	for (int i = 0; type && i < BASES; i++, type = value[2]) {
		uintptr_t at[] = {
			type + head + TYPE_NAME_AT, type + head + TYPE_SIZE,
			type + head + TYPE_BASE,
		};

		if (type == py->tasks.type)
			return true;
		if (!host_task_words(py, at, value, 3))
			return false;
		if (!host_task_is_name(py, value[0]))
			continue;
		if (value[1] % 8 || value[1] > TASK_BYTES ||
		    (py->tasks.bytes && value[1] != (uintptr_t)py->tasks.bytes))
			return false;
		py->tasks.bytes = (int)value[1];
		py->tasks.type = type;
		return true;
	}
	return false;
}

/* ---- before 3.14: from the handle that the event loop runs ---- */

/* The coroutine that a frame may be of; whoever uses it looks whether it is one. 0: none. */
static uintptr_t host_task_coroutine(struct host_python *py, const struct host_frame *frame)
{
	/* a frame that is an object has its generator before the instruction */
	if (py->layout->type >= 0)
		return host_task_word(py, frame->at + (uintptr_t)py->layout->instr - 8);
	return frame->generator ? frame->at - (uintptr_t)py->tasks.embedded : 0;
}

/* The task, one of whose methods a callback is; 0: it is of no task. Its words are kept. */
static uintptr_t host_task_of_callback(struct host_python *py, uintptr_t callback)
{
	uintptr_t type, head = (uintptr_t)py->layout->head;
	uintptr_t at[] = { callback + head, callback + head + 8 }, value[2];

	if (!host_task_words(py, at, value, 2))
		return 0;
	/* an object that was made for a step has it first, one of a function of C second */
	for (int i = 0; i < 2; i++) {
		if (value[i] % 8 ||
		    !(type = host_task_word(py, value[i] + (uintptr_t)py->layout->ob_type)) ||
		    !host_task_is_type(py, type))
			continue;
		host_task_keep(py, &at[i], &value[i], 1);
		return value[i];
	}
	return 0;
}

/* The same of a handle, of which it is learned where it has its callback. */
static uintptr_t host_task_of_handle(struct host_python *py, uintptr_t handle)
{
	struct host_tasks *tasks = &py->tasks;
	uintptr_t head = (uintptr_t)py->layout->head, task = 0, at, callback;
	uintptr_t first = tasks->callback ? (uintptr_t)tasks->callback : head;
	uintptr_t last = tasks->callback ? first : HANDLE_BYTES - 8;

	for (uintptr_t i = first; !task && i <= last; i += 8) {
		at = handle + i;
		callback = host_task_word(py, at);
		if (!callback || callback % 8 || !(task = host_task_of_callback(py, callback)))
			continue;
		tasks->callback = (int)i;
		host_task_keep(py, &at, &callback, 1);
	}
	return task;
}

/* Where tasks have their coroutine: at the one word of this one that leads to its, if the one at an
 * earlier look had it there, too: a task may end and its memory be used again meanwhile. */
static bool host_task_learn(struct host_python *py, uintptr_t task, uintptr_t coroutine)
{
	struct host_tasks *tasks = &py->tasks;
	char copy[TASK_BYTES];
	int found = 0;

	if (!host_copy(py, copy, task, (size_t)tasks->bytes) ||
	    host_task_word(py, coroutine + (uintptr_t)py->layout->ob_type) != tasks->coro_type)
		return false;
	for (int i = py->layout->head; i + 16 <= tasks->bytes; i += 8) {
		if (py_word(copy, i) != coroutine)
			continue;
		if (found)
			return false;
		found = i;
	}
	if (found && !py->task.learned) {
		if (found == tasks->seen)
			tasks->coro = found;
		tasks->seen = found;
		py->task.learned = true;
	}
	return tasks->coro != 0;
}

/* The task by the frame of Handle._run() that is nearest; 0: there is none, or none of a task. */
static uintptr_t host_task_by_loop(struct host_python *py)
{
	const struct host_frames *all = &py->before;
	struct host_tasks *tasks = &py->tasks;
	bool unknown = !tasks->callback || !tasks->coro;
	uint32_t i = 0, inner = 0;
	uintptr_t at, handle, task, coroutine;

	if (!tasks->run_code || (unknown && tasks->tries >= TRIES_MAX))
		return 0;
	for (; i < all->n && (all->frame[i].shim || all->frame[i].code != tasks->run_code); i++)
		if (!all->frame[i].shim)
			inner = i;
	if (!i || i == all->n)
		return 0;
	at = all->frame[i].at + (uintptr_t)py->layout->locals;
	coroutine = host_task_coroutine(py, &all->frame[inner]);
	if (!coroutine || !host_task_words(py, &at, &handle, 1))
		return 0;
	host_task_keep(py, &at, &handle, 1);
	tasks->tries += unknown;
	task = host_task_of_handle(py, handle & ~py->layout->tags);
	return task && (tasks->coro || host_task_learn(py, task, coroutine)) ? task : 0;
}

/* ---- before 3.14: from the dict of current tasks ---- */

static bool has_generator(const struct host_frames *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (all->frame[i].generator)
			return true;
	return false;
}

/* Objects that a piece of memory leads to, each with the place that does. */
struct task_scan {
	uint32_t n;
	uintptr_t at[SCAN_OBJECTS], object[SCAN_OBJECTS];
};

/* Those of that type, 0: tasks, in so many bytes, or as many as are mapped. */
static void host_task_scan(struct host_python *py, uintptr_t at, size_t bytes, uintptr_t type,
			   struct task_scan *out)
{
	uintptr_t word[SCAN_BYTES / 8], of;

	out->n = 0;
	while (bytes >= SCAN_LEAST && !host_copy(py, word, at, bytes))
		bytes /= 2;
	for (size_t i = 0; bytes >= SCAN_LEAST && i < bytes / 8 && out->n < SCAN_OBJECTS; i++) {
		of = word[i] % 8 ? 0 :
		     host_task_word(py, word[i] + (uintptr_t)py->layout->ob_type);
		if (!of)
			continue;
		if (type ? of != type : !host_task_is_type(py, of))
			continue;
		out->at[out->n] = at + i * 8;
		out->object[out->n++] = word[i];
	}
}

/* Whether the coroutine of one of the frames is that of the task. */
static bool host_task_runs(struct host_python *py, uintptr_t task)
{
	int at = py->tasks.coro;
	uintptr_t own = at ? host_task_word(py, task + (uintptr_t)at) : 0, coroutine;

	for (uint32_t i = 0; i < py->before.n; i++) {
		if (!py->before.frame[i].generator)
			continue;
		coroutine = host_task_coroutine(py, &py->before.frame[i]);
		if (at ? own == coroutine : host_task_learn(py, task, coroutine))
			return true;
	}
	return false;
}

/* The task in that dict which the thread runs; 0: there is none. Its words are kept. */
static uintptr_t host_task_in_dict(struct host_python *py, uintptr_t dict)
{
	uintptr_t at = dict + (uintptr_t)py->layout->head + DICT_KEYS, keys, bytes;
	struct task_scan tasks;

	keys = host_task_word(py, at);
	if (!keys || keys % 8)
		return 0;
	bytes = KEYS_HEAD + host_task_word(py, keys + KEYS_COUNT) % SCAN_BYTES * KEYS_ENTRY;
	host_task_scan(py, keys, bytes < SCAN_BYTES ? bytes : SCAN_BYTES, py->tasks.type, &tasks);
	for (uint32_t i = 0; i < tasks.n; i++) {
		if (!host_task_runs(py, tasks.object[i]))
			continue;
		host_task_keep(py, &at, &keys, 1);
		host_task_keep(py, &tasks.at[i], &tasks.object[i], 1);
		return tasks.object[i];
	}
	return 0;
}

/* The same of the dicts that so many bytes lead to. */
static uintptr_t host_task_in_memory(struct host_python *py, uintptr_t at, size_t bytes)
{
	uintptr_t task = 0;
	struct task_scan dicts;

	host_task_scan(py, at, bytes, py->tasks.dict_type, &dicts);
	for (uint32_t i = 0; i < dicts.n && !task; i++)
		if ((task = host_task_in_dict(py, dicts.object[i])))
			py->tasks.current = dicts.object[i];
	return task;
}

/* The same of what a module has for its own. */
static uintptr_t host_task_in_module(struct host_python *py, uintptr_t module)
{
	uintptr_t word[MODULE_WORDS], task = 0;

	if (!host_copy(py, word, module + (uintptr_t)py->layout->head, sizeof(word)))
		return 0;
	for (uint32_t i = 0; i < MODULE_WORDS && !task; i++)
		if (word[i] % 8 == 0)
			task = host_task_in_memory(py, word[i], STATE_BYTES);
	return task;
}

/* Looks for that dict, by the type of tasks: in asyncio's module, to which that leads; or, where
 * the type is a variable of asyncio's library, as in 3.11, among those that follow. */
static uintptr_t host_task_find_dict(struct host_python *py)
{
	uintptr_t type = py->tasks.type, task = 0;
	struct task_scan modules;

	host_task_scan(py, type, SCAN_BYTES, py->tasks.module_type, &modules);
	for (uint32_t i = 0; i < modules.n && !task; i++)
		task = host_task_in_module(py, modules.object[i]);
	for (size_t i = 0; i < VARIABLES_BYTES && !task; i += SCAN_BYTES)
		task = host_task_in_memory(py, type + i, SCAN_BYTES);
	return task;
}

/* The frame of the function with that code that is nearest; NULL: there is none. */
static const struct host_frame *host_task_frame(const struct host_python *py, uintptr_t code)
{
	for (uint32_t i = 0; code && i < py->before.n; i++)
		if (!py->before.frame[i].shim && py->before.frame[i].code == code)
			return &py->before.frame[i];
	return NULL;
}

/* The current task of the thread's event loop, if that is not asyncio's own. */
static uintptr_t host_task_by_dict(struct host_python *py)
{
	const struct host_frame *runner = host_task_frame(py, py->tasks.runner_code);
	struct task_scan main;

	if (!runner || !has_generator(&py->before) || host_task_frame(py, py->tasks.run_code))
		return 0;
	if (py->tasks.current)
		return host_task_in_dict(py, py->tasks.current);
	if (!py->tasks.dict_type || !py->tasks.module_type || py->tasks.tries++ >= TRIES_MAX)
		return 0;
	/* one of its locals is the first task of all */
	host_task_scan(py, runner->at + (uintptr_t)py->layout->locals, LOCALS_BYTES, 0, &main);
	return main.n ? host_task_find_dict(py) : 0;
}

/* ---- the task ---- */

/* The task that the thread's state leads to; 0: none. */
static uintptr_t host_task_by_state(struct host_python *py, uintptr_t state)
{
	uintptr_t at = state + (uintptr_t)py->tasks.running, task;

	if (!has_generator(&py->before) || !host_task_words(py, &at, &task, 1))
		return 0;
	host_task_keep(py, &at, &task, 1);
	return task;
}

/* Whether asyncio gave it: "Task-17". */
static bool is_default(const char *name)
{
	return !strncmp(name, "Task-", 5) && name[5] &&
	       name[5 + strspn(name + 5, "0123456789")] == '\0';
}

/* Reads the name, a compact str, with one call of the kernel if it is short. */
static bool host_task_read_name(struct host_python *py)
{
	const struct py_layout *layout = py->layout;
	struct host_task *task = &py->task;
	uintptr_t at = task->str + (uintptr_t)layout->ob_type;
	int begin = layout->wide - layout->ob_type;
	uint32_t state, kind;
	size_t length;

	task->bytes = (size_t)begin + SHORT_NAME;
	if (!host_copy(py, task->copy, at, task->bytes) &&
	    !host_copy(py, task->copy, at, task->bytes = (size_t)begin))
		return false;
	length = py_word(task->copy, layout->head - layout->ob_type);
	state = (uint32_t)py_int(task->copy, layout->head + 16 - layout->ob_type) >>
		layout->str_kind;
	kind = state & 7;
	if (!(state >> 3 & 1) || (kind != 1 && kind != 2 && kind != 4))
		return false;
	if (state >> 4 & 1)
		begin = layout->ascii - layout->ob_type;
	if (length > (HOST_TASK_COPY - (size_t)begin) / kind)
		length = (HOST_TASK_COPY - (size_t)begin) / kind;
	/* whether its head still is the same, the comparison at the end tells */
	if (length * kind + (size_t)begin > task->bytes &&
	    !host_copy(py, task->copy + begin, at + (uintptr_t)begin, length * kind))
		return false;
	task->bytes = (size_t)begin + length * kind;	/* without what lies behind it */
	py_put_text(task->name, sizeof(task->name), (unsigned char *)task->copy + begin, kind,
		    length);
	return length > 0;
}

/* Looks up the task's name and its coroutine's frame. */
static void host_task_look(struct host_python *py, uintptr_t object)
{
	struct host_task *task = &py->task;
	const struct host_tasks *tasks = &py->tasks;
	uintptr_t head = (uintptr_t)py->layout->head, type = (uintptr_t)py->layout->ob_type;
	uintptr_t at[] = {
		object + type, object + (uintptr_t)tasks->coro, object + (uintptr_t)tasks->coro + 8,
	};
	uintptr_t own[3], leads[3], frame;
	uint32_t n = py->layout->type >= 0 ? 3 : 2;

	if (!host_task_words(py, at, own, 3) || !host_task_is_type(py, own[0]))
		return;
	host_task_keep(py, at, own, 3);
	/* its coroutine's type, its name's, and the coroutine's frame, where that is an object */
	at[0] = own[1] + type;
	at[1] = own[2] + type;
	at[2] = own[1] + head;
	if (!host_task_words(py, at, leads, n) || leads[0] != tasks->coro_type ||
	    leads[1] != py->str_type)
		return;
	host_task_keep(py, at, leads, n);
	frame = py->layout->type >= 0 ? leads[2] : own[1] + (uintptr_t)tasks->embedded;
	task->str = own[2];
	for (uint32_t i = 0; i < py->before.n; i++)
		if (py->before.frame[i].at == frame && !py->before.frame[i].shim &&
		    host_task_read_name(py) && !is_default(task->name))
			task->frame = i;
}

void host_task_find(struct host_python *py, uintptr_t state)
{
	uintptr_t object;

	py->task.frame = HOST_FRAMES;
	py->task.n = 0;
	py->task.learned = false;
	if (!py->tasks.coro_type)
		return;
	object = py->tasks.running ? host_task_by_state(py, state) : host_task_by_loop(py);
	if (!object && !py->tasks.running) {
		py->task.n = 0;
		object = host_task_by_dict(py);
	}
	if (object && py->tasks.coro)
		host_task_look(py, object);
}

void host_task_again(struct host_python *py)
{
	struct host_task *task = &py->task;
	struct iovec to[HOST_TASK_WORDS + 1], from[HOST_TASK_WORDS + 1];
	uintptr_t value[HOST_TASK_WORDS];
	char copy[HOST_TASK_COPY];

	if (task->frame == HOST_FRAMES)
		return;
	for (uint32_t i = 0; i < task->n; i++) {
		from[i] = (struct iovec) { (void *)task->at[i], sizeof(*value) };
		to[i] = (struct iovec) { &value[i], sizeof(*value) };
	}
	from[task->n].iov_base = (void *)(task->str + (uintptr_t)py->layout->ob_type);
	to[task->n].iov_base = copy;
	from[task->n].iov_len = to[task->n].iov_len = task->bytes;
	if (!py->read(to, from, task->n + 1) || memcmp(copy, task->copy, task->bytes) ||
	    memcmp(value, task->value, task->n * sizeof(*value)))
		task->frame = HOST_FRAMES;
}
