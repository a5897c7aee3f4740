/* SPDX-License-Identifier: MIT */
#include "probes/host/tasks.h"

#include <string.h>

#define TYPE_NAME "_asyncio.Task"
#define TASK_BYTES 512		/* more than a task takes */
#define HANDLE_BYTES 96		/* in which a handle has its callback */
#define BASES 4			/* so many types are looked at, from a task's own one on */
#define TRIES_MAX 64u		/* at what may not be there */

/* members of a type, counted from its length as layout->head is */
#define TYPE_NAME_AT 8
#define TYPE_SIZE 16
#define TYPE_BASE 240

void host_task_begin(struct host_python *py, uintptr_t coro_type)
{
	uintptr_t bytes;

	py->tasks = (struct host_tasks) { .coro_type = 0 };
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

bool host_task_is_loop(const char *file)
{
	static const char end[] = "/asyncio/events.py";
	size_t length = strlen(file);

	return length >= sizeof(end) - 1 && !strcmp(file + length - (sizeof(end) - 1), end);
}

/* ---- what led to it ---- */

/* Reads words and remembers them; all of them must be there again at the end. Unless `keep`, which
 * is for those that may lead nowhere. false: one is not mapped. */
static bool host_task_words(struct host_python *py, const uintptr_t *at, uintptr_t *value,
			    uint32_t n, bool keep)
{
	struct host_task *task = &py->task;
	struct iovec to[HOST_TASK_WORDS], from[HOST_TASK_WORDS];

	for (uint32_t i = 0; i < n; i++) {
		if (at[i] < 4096)
			return false;
		from[i] = (struct iovec) { (void *)at[i], sizeof(*value) };
		to[i] = (struct iovec) { &value[i], sizeof(*value) };
	}
	if (!py->read(to, from, n) || (keep && task->n + n > HOST_TASK_WORDS))
		return false;
	for (uint32_t i = 0; keep && i < n; i++) {
		task->at[task->n] = at[i];
		task->value[task->n++] = value[i];
	}
	return true;
}

static uintptr_t host_task_word(struct host_python *py, uintptr_t at)
{
	uintptr_t value;

	return host_task_words(py, &at, &value, 1, false) ? value : 0;
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
		if (!host_task_words(py, at, value, 3, false))
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

	if (!host_task_words(py, at, value, 2, false))
		return 0;
	/* an object that was made for a step has it first, one of a function of C second */
	for (int i = 0; i < 2; i++)
		if (value[i] % 8 == 0 &&
		    (type = host_task_word(py, value[i] + (uintptr_t)py->layout->ob_type)) &&
		    host_task_is_type(py, type))
			return host_task_words(py, &at[i], &value[i], 1, true) ? value[i] : 0;
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
		if (!host_task_words(py, &at, &callback, 1, true))
			return 0;
	}
	return task;
}

/* Where tasks have their coroutine: at the one word of this one that leads to its. */
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
	tasks->coro = found;
	return found != 0;
}

/* The task by the frame of Handle._run() that is nearest; 0: there is none, or none of a task. */
static uintptr_t host_task_by_loop(struct host_python *py)
{
	const struct host_frames *all = &py->before;
	struct host_tasks *tasks = &py->tasks;
	uint32_t i = 0, inner = 0;
	uintptr_t at, handle, task, coroutine;

	if (!tasks->run_code || tasks->tries >= TRIES_MAX)
		return 0;
	for (; i < all->n && (all->frame[i].shim || all->frame[i].code != tasks->run_code); i++)
		if (!all->frame[i].shim)
			inner = i;
	if (!i || i == all->n)
		return 0;
	at = all->frame[i].at + (uintptr_t)py->layout->locals;
	coroutine = host_task_coroutine(py, &all->frame[inner]);
	if (!coroutine || !host_task_words(py, &at, &handle, 1, true))
		return 0;
	tasks->tries += !tasks->callback || !tasks->coro;
	task = host_task_of_handle(py, handle & ~py->layout->tags);
	return task && (tasks->coro || host_task_learn(py, task, coroutine)) ? task : 0;
}

/* ---- the task ---- */

static bool has_generator(const struct host_frames *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (all->frame[i].generator)
			return true;
	return false;
}

/* The task that the thread's state leads to; 0: none. */
static uintptr_t host_task_by_state(struct host_python *py, uintptr_t state)
{
	uintptr_t at = state + (uintptr_t)py->tasks.running, task;

	return has_generator(&py->before) && host_task_words(py, &at, &task, 1, true) ? task : 0;
}

/* Whether asyncio gave it: "Task-17". */
static bool is_default(const char *name)
{
	return !strncmp(name, "Task-", 5) && name[5] &&
	       name[5 + strspn(name + 5, "0123456789")] == '\0';
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

	if (!host_task_words(py, at, own, 3, true) || !host_task_is_type(py, own[0]))
		return;
	/* its coroutine's type, its name's, and the coroutine's frame, where that is an object */
	at[0] = own[1] + type;
	at[1] = own[2] + type;
	at[2] = own[1] + head;
	if (!host_task_words(py, at, leads, py->layout->type >= 0 ? 3 : 2, true) ||
	    leads[0] != tasks->coro_type || leads[1] != py->str_type)
		return;
	frame = py->layout->type >= 0 ? leads[2] : own[1] + (uintptr_t)tasks->embedded;
	task->str = own[2];
	for (uint32_t i = 0; i < py->before.n; i++)
		if (py->before.frame[i].at == frame && !py->before.frame[i].shim &&
		    host_read_text(py, task->str, task->name) && *task->name &&
		    !is_default(task->name))
			task->frame = i;
}

void host_task_find(struct host_python *py, uintptr_t state)
{
	uintptr_t object;

	py->task.frame = HOST_FRAMES;
	py->task.n = 0;
	if (!py->tasks.coro_type)
		return;
	object = py->tasks.running ? host_task_by_state(py, state) : host_task_by_loop(py);
	if (object && py->tasks.coro)
		host_task_look(py, object);
}

void host_task_again(struct host_python *py)
{
	struct host_task *task = &py->task;
	uintptr_t value[HOST_TASK_WORDS];
	char name[HOST_TEXT];

	if (task->frame < HOST_FRAMES &&
	    (!host_task_words(py, task->at, value, task->n, false) ||
	     memcmp(value, task->value, task->n * sizeof(*value)) ||
	     !host_read_text(py, task->str, name) || strcmp(name, task->name)))
		task->frame = HOST_FRAMES;
}
