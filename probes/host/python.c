/* SPDX-License-Identifier: MIT */
/*
 * What Python says of a thread that is looked at: its line and its call stack, whose lock it waits
 * for, and whether it collects garbage or imports a module. See host.h.
 */
#include <stdio.h>
#include <string.h>

#include "probes/host/host.h"
#include "probes/host/interpreter.h"
#include "probes/runtime/hash.h"
#include "probes/runtime/internal.h"

#define SECOND_NS 1000000000
#define RAN_NS 2000		/* long enough to come to another instruction of Python */
#define PLACES 2048u		/* remembered frames of stacks; a power of two */
#define PLACE_WAYS 4u		/* at one of so many places in a row; a power of two */
#define STACKS_MAX 65536u	/* frames of stacks that are told at most */
#define STACKS_NATIVE 49152u	/* likewise, before those of native code are told no more */
#define TASKS 256u		/* remembered names of tasks; a power of two */
#define TASKS_MAX 128u		/* of further ones all are told as one */

/* Everything here belongs to the sampler's thread. */
static struct {
	struct host_python python;	/* layout NULL: there is no Python, or it is unknown */
	struct py_layout layout;
	void *(*main)(void), *(*head)(void *interpreter);
	struct rt_modules_watch modules;
	struct place_source {
		struct host_place place;
		uint32_t caller, source;
	} places[PLACES];
	uint32_t placed;		/* so many were remembered */
	struct host_interpreter interpreter;
	struct host_stack stack;	/* of the thread that is looked at */
	struct host_stack holder;	/* of the one that holds the lock for which it waits */
	struct task_source {
		uint64_t hash;		/* of the task's name; 0: unused */
		uint32_t name;
	} tasks[TASKS];
	uint32_t n_tasks;
	int64_t listed_ns;		/* when the first state of the list was read */
	uint32_t newest, told;		/* the highest id of a frame of a stack; how many rose it */
	bool told_forbidden, told_full, told_native, told_tasks;
} host;

static void tell_once(bool *told, const char *text)
{
	if (!*told)
		rt_emit_message(1, text);
	*told = true;
}

/* Whether its layout is known, by the variable Py_Version (NULL: none) and Py_GetVersion(). */
static bool host_find_layout(struct host_python *py, const void *version, const char *(*text)(void))
{
	static char copy[PY_RUNTIME_BYTES];
	size_t bytes = py->runtime_size < sizeof(copy) ? py->runtime_size : sizeof(copy);
	struct py_said said = {
		.version = version, .text = text, .runtime_size = py->runtime_size,
	};

	if (host_copy(py, copy, py->runtime, bytes)) {
		said.runtime = copy;
		said.runtime_bytes = bytes;
	}
	return py_layout_here(&host.layout, &said);
}

static void host_find_python(void)
{
	struct host_python *py = &host.python;
	const void *code = rt_symbol("PyCode_Type", NULL), *str = rt_symbol("PyUnicode_Type", NULL);
	const void *bytes = rt_symbol("PyBytes_Type", NULL);
	const void *frame = rt_symbol("PyFrame_Type", NULL);
	const char *(*version)(void);

	py->runtime_size = 0;
	py->runtime = (uintptr_t)rt_symbol("_PyRuntime", &py->runtime_size);
	host_state_locks(py->runtime, py->runtime_size);
	*(void **)&version = rt_symbol("Py_GetVersion", NULL);
	*(void **)&host.main = rt_symbol("PyInterpreterState_Main", NULL);
	*(void **)&host.head = rt_symbol("PyInterpreterState_ThreadHead", NULL);
	if (!version || !code || !str || !bytes || !frame || !host.main || !host.head)
		return;
	py->read = host_read_all;
	py->code_type = (uintptr_t)code;
	py->str_type = (uintptr_t)str;
	py->bytes_type = (uintptr_t)bytes;
	py->frame_type = (uintptr_t)frame;
	if (!host_find_layout(py, rt_symbol("Py_Version", NULL), version))
		return;
	py->layout = &host.layout;
	host_asyncio_begin(py);
}

static bool python_there(int64_t now_ns)
{
	if ((!host.python.layout || !host.python.tasks.running) &&
	    rt_modules_came(&host.modules, now_ns)) {
		if (host.python.layout)
			host_asyncio_look(&host.python);
		else
			host_find_python();
	}
	return host.python.layout && !host_read_forbidden();
}

static bool host_stacks_full(void)
{
	if (host.told >= STACKS_MAX)
		tell_once(&host.told_full, "this process has more different call stacks than tftop "
			  "keeps: what its threads do from now on has lines, but no stack");
	return host.told >= STACKS_MAX;
}

bool host_stacks_room(void)
{
	if (host.told >= STACKS_NATIVE)
		tell_once(&host.told_native, "this process has more different call stacks of "
			  "native code than tftop keeps: from now on only its innermost functions "
			  "are told");
	return host.told < STACKS_NATIVE;
}

uint32_t host_stack_frame(const struct tft_frame *frame)
{
	uint32_t id = rt_source(frame);

	if (id > host.newest) {
		host.newest = id;
		host.told++;
	}
	return id;
}

/* Whether that was remembered of the place. */
static bool is_source_of(const struct place_source *known, const struct host_place *place,
			 uint32_t caller, bool lineless)
{
	const struct host_place *had = &known->place;

	return had->code == place->code && had->offset == place->offset &&
	       known->caller == caller && had->filename == place->filename &&
	       had->name == place->name && had->first_line == place->first_line &&
	       had->moved == lineless;
}

/* The id of the line, called by that one (0: only the line is told); lineless: only its function is
 * known. 0: its texts cannot be read. */
static uint32_t source_of(const struct host_place *place, uint32_t caller, bool lineless)
{
	uint64_t hash = (((uint64_t)place->code >> 4) + caller) * 0x9e3779b97f4a7c15u +
			(uint64_t)place->offset * 2654435761u;
	struct place_source *known = &host.places[hash >> 32 & (PLACES - PLACE_WAYS)];
	char file[HOST_TEXT], function[HOST_TEXT];
	struct tft_frame frame = { .parent = caller };
	int32_t line;

	for (uint32_t i = 0; i < PLACE_WAYS; i++)
		if (is_source_of(&known[i], place, caller, lineless))
			return known[i].source;
	if (!host_place_read(&host.python, place, file, function, &line))
		return 0;
	frame.line = lineless ? 0 : (uint32_t)line;
	frame.file = rt_name(TFT_NAME_SOURCE, file);
	frame.function = rt_name(TFT_NAME_SOURCE, function);
	known += host.placed++ & (PLACE_WAYS - 1);
	*known = (struct place_source) { *place, caller, host_stack_frame(&frame) };
	known->place.moved = lineless;
	return known->source;
}

/* The name of a task's level. A program may name its tasks by what they serve: then it is the many
 * together that take time, and a level for each would fill the table of stacks. */
static uint32_t task_name(const char *name)
{
	uint64_t hash = rt_hash_bytes(name, strlen(name), 0) | 1;
	struct task_source *known = &host.tasks[hash >> 8 & (TASKS - 1)];
	char text[HOST_TEXT + 8];

	while (known->hash && known->hash != hash)
		known = &host.tasks[(size_t)(known - host.tasks + 1) & (TASKS - 1)];
	if (known->hash)
		return known->name;
	if (host.n_tasks == TASKS_MAX) {
		tell_once(&host.told_tasks, "this process gives asyncio's tasks more than 128 "
			  "names: tasks with further names are shown as \"other tasks\"");
		return rt_name(TFT_NAME_SOURCE, "other tasks");
	}
	snprintf(text, sizeof(text), "task %s", name);
	host.n_tasks++;
	*known = (struct task_source) { hash, rt_name(TFT_NAME_SOURCE, text) };
	return known->name;
}

/* The id of a task's level, called by that frame; 0: it cannot be told. */
static uint32_t task_source(const char *name, uint32_t caller)
{
	struct tft_frame frame = {
		.parent = caller, .file = rt_name(TFT_NAME_SOURCE, TFT_FRAME_TASK),
		.function = task_name(name),
	};

	return host_stack_frame(&frame);
}

/* The id of the innermost frame with all its callers; 0: unknown. Of calls that changed while they
 * were read only the user's line is told, which is right for itself. */
static uint32_t host_stack_id(const struct host_stack *stack)
{
	struct tft_frame changed = { .file = 0 };
	uint32_t id = 0;

	if (host_stacks_full() || stack->sure >= stack->n)
		return 0;
	for (uint32_t i = stack->n; i-- > stack->sure;) {
		if (i == stack->task && !(id = task_source(stack->task_name, id)))
			return 0;
		if (!(id = source_of(&stack->place[i], id, stack->place[i].moved)))
			return 0;
	}
	if (!stack->sure)
		return id;
	changed.parent = id;
	changed.file = changed.function = rt_name(TFT_NAME_SOURCE, TFT_FRAME_CHANGED);
	id = host_stack_frame(&changed);
	return id && stack->user < stack->sure ? source_of(&stack->place[stack->user], id, false) :
						   id;
}

/*
 * Whether a thread that runs is in code below its line of Python: it did not come to another
 * instruction while it ran. If it had no processor during this look, then since the last one.
 */
static bool is_below(const struct host_python_thread *thread, const struct host_stack *stack,
		     bool ran)
{
	return stack->still && (ran || (stack->frame == thread->frame &&
					stack->instr == thread->instr));
}

/* The list of states begins with the newest thread. */
static void host_list_threads(void)
{
	void *interpreter = host.main();

	host.listed_ns = rt_now_ns();
	host.python.first_state = interpreter ? (uintptr_t)host.head(interpreter) : 0;
}

/* "worker.py:12 in spin": where the thread with that state is; false: unknown. */
static bool host_holder_place(uintptr_t state, char *text, size_t size)
{
	struct host_python *py = &host.python;
	char file[HOST_TEXT], function[HOST_TEXT];
	const struct host_place *place;
	const char *base;
	int32_t line;

	if (!state || host_stack_of(py, state, &host.holder) != HOST_PLACE)
		return false;
	place = &host.holder.place[host.holder.user];
	if (!host_place_read(py, place, file, function, &line))
		return false;
	base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	snprintf(text, size, "%s:%d in %s", base, line, function);
	return true;
}

/* Where the thread is that holds Python's lock; 0: unknown. */
static uint32_t host_holder_name(uintptr_t futex, uintptr_t waiter)
{
	char text[HOST_TEXT * 2 + 32];
	uintptr_t state;

	host_list_threads();
	state = host_gil_holder(&host.python, &host.interpreter, futex);
	return state != waiter && host_holder_place(state, text, sizeof(text)) ?
	       rt_name(TFT_NAME_OTHER, text) : 0;
}

bool host_python_place(uint32_t tid, char *text, size_t size)
{
	uintptr_t id = host.python.layout ? host_thread_id(&host.python, tid, 0) : 0;

	if (!id || host_read_forbidden())
		return false;
	host_list_threads();
	return host_holder_place(host_state_of(&host.python, id), text, size);
}

/* Whether that is a part of the import or the compilation in which the thread is. A compiler runs
 * on other threads and in child processes as well, for which this one waits. */
static bool host_is_within(int doing, bool runs)
{
	if (host.stack.within == TFT_DOING_COMPILE)
		return doing != TFT_DOING_GIL && doing != TFT_DOING_FAULT;
	return host.stack.within && (runs || doing == TFT_DOING_FILE);
}

/* Whether the thread, which runs, collects garbage. */
static bool host_is_collecting(const struct host_python_thread *thread)
{
	void *interpreter = host.main();

	return interpreter &&
	       host_collects(&host.python, &host.interpreter, (uintptr_t)interpreter) &&
	       host_holds_gil(&host.python, &host.interpreter, thread->state,
			      (uintptr_t)host.head(interpreter));
}

/* What a thread does, in the words of Python. */
static void host_say_python(const struct host_python_thread *thread, bool below,
			     struct host_doing *doing)
{
	bool runs = doing->doing == TFT_DOING_NATIVE;

	if (runs && !below)
		doing->doing = TFT_DOING_PYTHON;
	doing->unsure = runs && !below && host.stack.still;
	if (host_is_within(doing->doing, runs)) {
		doing->doing = host.stack.within;
		doing->what = 0;
	}
	if (runs && host_is_collecting(thread))
		doing->doing = TFT_DOING_GC;
}

static bool host_find_thread(struct host_python_thread *thread, uint32_t tid, int64_t now_ns)
{
	uintptr_t id = host_thread_id(&host.python, tid, thread->self);

	/* not each time: Python may be ending */
	if (now_ns - host.listed_ns >= SECOND_NS)
		host_list_threads();
	if (host_state_lives(&host.python, thread->state, id))
		return true;
	if (!thread->had && now_ns - thread->searched_ns < SECOND_NS)
		return false;
	thread->searched_ns = now_ns;
	host_list_threads();
	thread->state = host_state_of(&host.python, id);
	thread->had |= thread->state != 0;
	return thread->state != 0;
}

bool host_python_runs(struct host_python_thread *thread, uint32_t tid, int64_t now_ns)
{
	return python_there(now_ns) && host_find_thread(thread, tid, now_ns);
}

/* Adds the stack of Python to what a thread does. */
static void see_python(struct host_python_thread *thread, uint32_t tid, int64_t now_ns,
		       struct host_doing *doing)
{
	struct host_stack *stack = &host.stack;
	int64_t cpu_ns;
	bool ran;

	if (!host_find_thread(thread, tid, now_ns)) {
		thread->frame = 0;
		return;
	}
	cpu_ns = host_cpu_ns(tid);
	if (host_stack_of(&host.python, thread->state, stack) != HOST_PLACE) {
		thread->frame = 0;
		/* as at Python's end, where no function of it runs any more */
		if (doing->doing == TFT_DOING_NATIVE && host_is_collecting(thread))
			doing->doing = TFT_DOING_GC;
		return;
	}
	doing->frame = source_of(&stack->place[stack->user], 0, false);
	doing->stack = host_stack_id(stack);
	ran = host_cpu_ns(tid) - cpu_ns > RAN_NS;
	host_say_python(thread, is_below(thread, stack, ran), doing);
	if (doing->doing == TFT_DOING_GIL)
		doing->what = host_holder_name(doing->futex, thread->state);
	thread->frame = stack->frame;
	thread->instr = stack->instr;
}

bool host_python_still(const struct host_python_thread *thread)
{
	return !thread->frame || host_frame_is(&host.python, thread->state, thread->frame,
					       thread->instr);
}

void host_python_begin(void)
{
	memset(&host, 0, sizeof(host));
	rt_modules_seen(&host.modules);
	host_find_python();
}

void host_python_see(struct host_python_thread *thread, uint32_t tid, int64_t now_ns,
		     struct host_doing *doing)
{
	if (python_there(now_ns))
		see_python(thread, tid, now_ns, doing);
	if (host.python.layout && host_read_forbidden())
		tell_once(&host.told_forbidden, "this process may not read its own memory "
			  "(process_vm_readv): what its threads do has no lines of Python");
}
