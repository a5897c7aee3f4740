/* SPDX-License-Identifier: MIT */
#include "probes/python/walk.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define FRAMES_MAX 1000

static struct python py;
static void *name_of_file, *name_of_function;	/* interned, for the life of the process */
static atomic_int state;	/* 0: not looked for, 1: being looked for, 2: found, 3: not there */

static const struct {
	void *at;
	const char *name, *other;		/* other: its previous name */
	bool optional;
} functions[] = {
	{ &py.thread_of_gil, "PyGILState_GetThisThreadState", NULL, false },
	{ &py.thread_now, "PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet", false },
	{ &py.frame, "PyEval_GetFrame", NULL, false },
	{ &py.back, "PyFrame_GetBack", NULL, false },
	{ &py.code, "PyFrame_GetCode", NULL, false },
	{ &py.line, "PyFrame_GetLineNumber", NULL, false },
	{ &py.incref, "Py_IncRef", NULL, false },
	{ &py.decref, "Py_DecRef", NULL, false },
	{ &py.attribute, "PyObject_GetAttr", NULL, false },
	{ &py.named, "PyObject_GetAttrString", NULL, false },
	{ &py.intern, "PyUnicode_InternFromString", NULL, false },
	{ &py.utf8, "PyUnicode_AsUTF8AndSize", NULL, false },
	{ &py.error, "PyErr_Occurred", NULL, false },
	{ &py.clear, "PyErr_Clear", NULL, false },
	{ &py.sys_get, "PySys_GetObject", NULL, false },
	{ &py.dict_get, "PyDict_GetItemWithError", NULL, false },
	{ &py.dict_get_text, "PyDict_GetItemString", NULL, false },
	{ &py.tuple_get, "PyTuple_GetItem", NULL, false },
	{ &py.list_get, "PyList_GetItem", NULL, false },
	{ &py.list_size, "PyList_Size", NULL, false },
	{ &py.number, "PyLong_FromUnsignedLong", NULL, false },
	{ &py.text, "PyUnicode_FromString", NULL, false },
	{ &py.tuple, "PyTuple_Pack", NULL, false },
	{ &py.as_long, "PyLong_AsLong", NULL, false },
	{ &py.thread_id, "PyThread_get_thread_ident", NULL, false },
	{ &py.gc_off, "PyGC_Disable", NULL, true },
	{ &py.gc_on, "PyGC_Enable", NULL, true },
};

const struct python *python_find(void)
{
	int none = 0, found = 2, now = atomic_load_explicit(&state, memory_order_acquire);

	if (now >= 2)
		return now == 2 ? &py : NULL;
	if (!atomic_compare_exchange_strong(&state, &none, 1))
		return NULL;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *address = dlsym(RTLD_DEFAULT, functions[i].name);

		if (!address && functions[i].other)
			address = dlsym(RTLD_DEFAULT, functions[i].other);
		if (!address && !functions[i].optional)
			found = 3;
		*(void **)functions[i].at = address;
	}
	atomic_store_explicit(&state, found, memory_order_release);
	return found == 2 ? &py : NULL;
}

bool python_is_held(void)
{
	void *mine = python_find() ? py.thread_of_gil() : NULL;

	return mine && mine == py.thread_now();
}

/* A text of a code object, which lives as long as that; NULL: none. */
static const char *text_of(void *code, void *name, ptrdiff_t *length)
{
	void *object = py.attribute(code, name);
	const char *text = object ? py.utf8(object, length) : NULL;

	if (object)
		py.decref(object);
	return text;
}

/* The frame is running and so keeps its code alive. */
static enum python_whose python_look_at_frame(void *frame, python_judge *judge, python_map *map,
					      struct python_line *line)
{
	void *code = py.code(frame);
	enum python_whose whose = PYTHON_FRAMEWORKS;
	ptrdiff_t length = 0;
	int number;

	line->file = code ? text_of(code, name_of_file, &length) : NULL;
	if (line->file)
		whose = judge(line->file, (size_t)length);
	if (whose == PYTHON_USERS) {
		line->function = text_of(code, name_of_function, &length);
		number = py.line(frame);
		line->line = number > 0 ? (uint32_t)number : 0;
		if (!line->function || !line->line || (map && !map(&py, line)))
			whose = PYTHON_STOP;
	}
	if (code)
		py.decref(code);
	/* the file that it was generated from may belong to the framework */
	return whose == PYTHON_USERS && map ? judge(line->file, strlen(line->file)) : whose;
}

static bool python_walk_frames(python_judge *judge, python_map *map, struct python_line *line)
{
	enum python_whose whose = PYTHON_FRAMEWORKS;
	void *frame = py.frame(), *outer;

	if (frame)
		py.incref(frame);
	for (int i = 0; frame && whose == PYTHON_FRAMEWORKS && i < FRAMES_MAX; i++) {
		whose = python_look_at_frame(frame, judge, map, line);
		outer = whose == PYTHON_FRAMEWORKS ? py.back(frame) : NULL;
		py.decref(frame);
		frame = outer;
	}
	if (frame)
		py.decref(frame);
	return whose == PYTHON_USERS;
}

bool python_line(python_judge *judge, python_map *map, struct python_line *line)
{
	int saved = errno, collected;
	bool found = false;

	if (!python_is_held() || py.error())
		return false;
	collected = py.gc_off && py.gc_on ? py.gc_off() : 0;
	if (!name_of_file)
		name_of_file = py.intern("co_filename");
	if (!name_of_function)
		name_of_function = py.intern("co_name");
	if (name_of_file && name_of_function)
		found = python_walk_frames(judge, map, line);
	if (py.error())
		py.clear();
	if (collected)
		py.gc_on();
	errno = saved;
	return found;
}
