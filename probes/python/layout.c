/* SPDX-License-Identifier: MIT */
/* See layout.h: the known layouts of CPython versions, and the test whether this one matches. */
#include "probes/python/layout.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "probes/python/python.h"
#include "probes/runtime/runtime.h"

/* if the main thread does not answer for this long, a message says so */
#define PATIENCE_NS INT64_C(2000000000)
#define TRIES 4			/* at what another thread may change meanwhile */

const struct py_layout *py_known;
const void *py_cell;
void *(*py_this_state)(void);

/* ---- text ---- */

/* The text of a compact str (PyASCIIObject). Its state has the bits kind:3 compact:1 ascii:1. */
static void py_compact_text(const struct py_layout *layout, const char *str,
			    char out[PY_TEXT_BYTES])
{
	uint32_t state = (uint32_t)py_int(str, layout->head + 16) >> layout->str_kind;
	const unsigned char *data = (const unsigned char *)str;

	if (!(state >> 3 & 1)) {
		out[0] = '\0';
		return;
	}
	data += state >> 4 & 1 ? layout->ascii : layout->wide;
	py_put_text(out, PY_TEXT_BYTES, data, state & 7, py_word(str, layout->head));
}

/* The first instruction of the copy in which a frame is; 0: unknown. The array of copies may be
 * freed by another thread, which runs the function for the first time and puts a longer one in its
 * place; but not while the code object leads to it. */
static uintptr_t py_first_of(const struct py_layout *layout, const char *frame, const char *code)
{
	int32_t number = py_copy(layout, frame);
	const char *array;
	uintptr_t first;
	int64_t n;

	if (!number)
		return py_first(layout, (uintptr_t)code);
	for (int i = 0; i < TRIES && number > 0; i++) {
		array = py_pointer(code, layout->copies);
		if (rt_peek(&n, array, sizeof(n)) == sizeof(n) && number < n &&
		    rt_peek(&first, array + 8 + (size_t)number * 8, sizeof(first)) ==
		    sizeof(first) && py_pointer(code, layout->copies) == array)
			return first;
	}
	return 0;
}

/* Where a frame is, or a copy of one in memory. */
static int32_t line_by(const struct py_layout *layout, const char *frame, const char *code)
{
	const char *table = py_pointer(code, layout->name + 8);
	int32_t first_line = py_int(code, layout->first_line);
	uintptr_t first = py_first_of(layout, frame, code);
	intptr_t offset = (intptr_t)(py_instr(layout, frame) - first);

	if (!first || (layout->copies >= 0 &&
		       (offset < -2 || offset >= (intptr_t)py_word(code, layout->head) * 2)))
		return 0;
	return offset < 0 ? first_line :
	       py_line_at(layout->lines, (const uint8_t *)table + layout->head + 16,
			  py_word(table, layout->head), first_line, (size_t)offset);
}

int32_t py_line_of(const char *frame, const char *code)
{
	return line_by(py_known, frame, code);
}

void py_text_of(const char *str, char out[PY_TEXT_BYTES])
{
	py_compact_text(py_known, str, out);
}

/* ---- testing a layout ---- */

/* Threads of the program read frames by py_known as soon as it is set, so a layout is tested here,
 * where no other thread that tests one at the same time changes it. */
static _Thread_local struct py_layout tried;

/* Functions with Python's own answers. 3.8 has neither `back` nor `code`: NULL. */
static struct {
	int (*gil)(void);
	const char *(*version)(void);
	void *(*frame)(void);
	void *(*back)(void *frame), *(*code)(void *frame);
	int (*line)(void *frame);
	void *(*attribute)(void *object, const char *name);
	const char *(*text)(void *str);
	void (*release)(void *object);
	void (*clear)(void);
	const void *none, *code_type, *bytes_type;
} python;

static bool find_all(void)
{
	const struct {
		void **at;
		const char *symbol;
	} wanted[] = {
		{ (void **)&py_this_state, "PyGILState_GetThisThreadState" },
		{ (void **)&python.gil, "PyGILState_Check" },
		{ (void **)&python.version, "Py_GetVersion" },
		{ (void **)&python.frame, "PyEval_GetFrame" },
		{ (void **)&python.line, "PyFrame_GetLineNumber" },
		{ (void **)&python.attribute, "PyObject_GetAttrString" },
		{ (void **)&python.text, "PyUnicode_AsUTF8" },
		{ (void **)&python.release, "Py_DecRef" },
		{ (void **)&python.clear, "PyErr_Clear" },
		{ (void **)&python.none, "_Py_NoneStruct" },
		{ (void **)&python.code_type, "PyCode_Type" },
		{ (void **)&python.bytes_type, "PyBytes_Type" },
		{ (void **)&py_cell, "PyCell_Type" },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!(*wanted[i].at = dlsym(RTLD_DEFAULT, wanted[i].symbol)))
			return false;
	*(void **)&python.back = dlsym(RTLD_DEFAULT, "PyFrame_GetBack");
	*(void **)&python.code = dlsym(RTLD_DEFAULT, "PyFrame_GetCode");
	return true;
}

static const char *peek_pointer(const char *p, int offset)
{
	const char *value = NULL;

	return p && rt_peek(&value, p + offset, sizeof(value)) == sizeof(value) ? value : NULL;
}

/* Whether the text at `offset` of a code object equals Python's attribute. */
static bool py_same_text(void *code, int offset, const char *name)
{
	const char *raw = peek_pointer(code, offset), *text;
	void *value = python.attribute(code, name);
	char mine[PY_TEXT_BYTES];
	bool same = false;

	if (!value) {
		python.clear();
		return false;
	}
	text = python.text(value);
	if (!text)
		python.clear();
	if (text && raw == (const char *)value) {
		py_compact_text(&tried, raw, mine);
		same = !strncmp(mine, text, PY_TEXT_BYTES - 8);
	}
	python.release(value);
	return same;
}

/* Whether a frame in memory agrees with Python's own object for it. To ask Python 3.8 for the code
 * of a frame would run the program's audit hooks: there it is enough that it is a code object. */
static bool same_frame(const char *frame, void *object)
{
	char copy[PY_FRAME_BYTES];
	void *code, *own;
	int line;
	bool same;

	if ((tried.type >= 0 && frame != object) ||
	    rt_peek(copy, frame, (size_t)tried.frame_bytes) != (size_t)tried.frame_bytes ||
	    peek_pointer((const char *)py_code(&tried, copy), tried.ob_type) != python.code_type)
		return false;
	code = (void *)py_code(&tried, copy);
	own = python.code ? python.code(object) : NULL;
	line = python.line(object);
	same = (own == code || !python.code) &&
	       py_same_text(code, tried.filename, "co_filename") &&
	       py_same_text(code, tried.name, tried.attribute) &&
	       peek_pointer(py_pointer(code, tried.name + 8), tried.ob_type) ==
	       python.bytes_type &&
	       line_by(&tried, copy, code) == (line > 0 ? line : 0);
	if (own)
		python.release(own);
	return same;
}

/* The frame that called this one, to be released; NULL: none did. */
static void *outer_of(void *object)
{
	void *outer;

	if (python.back)
		return python.back(object);
	outer = python.attribute(object, "f_back");
	if (!outer)
		python.clear();
	if (outer && outer == python.none)
		python.release(outer);
	return outer == python.none ? NULL : outer;
}

/* As code_of(), for a frame whose layout may differ. */
static bool peek_has_place(const char *frame)
{
	char copy[PY_FRAME_BYTES];
	const char *code;

	if (rt_peek(copy, frame, (size_t)tried.frame_bytes) != (size_t)tried.frame_bytes ||
	    copy[tried.owner] >= tried.c_owner)
		return false;
	code = (const char *)py_code(&tried, copy);
	return peek_pointer(code, tried.filename) != peek_pointer(code, tried.name);
}

/* Tests the innermost frame and those that called it, as many as there are. */
static bool py_layout_agrees(void)
{
	const char *state = py_this_state(), *frame;
	void *object = python.frame(), *outer;
	bool same = object != NULL, own = false;

	frame = peek_pointer(tried.cframe < 0 ? state : peek_pointer(state, tried.cframe),
			     tried.current);
	for (int i = 0; same && object && i < PY_FRAMES_MAX; i++) {
		while (frame && !peek_has_place(frame))
			frame = peek_pointer(frame, tried.previous);
		same = frame && same_frame(frame, object);
		outer = outer_of(object);
		if (own)
			python.release(object);
		own = true;
		object = outer;
		frame = same ? peek_pointer(frame, tried.previous) : NULL;
	}
	if (object && own)
		python.release(object);
	return same;
}

/* Whether the layout of this Python is known, into `tried`. */
static bool py_try_layout(void)
{
	char copy[PY_RUNTIME_BYTES];
	struct py_said said = {
		.version = dlsym(RTLD_DEFAULT, "Py_Version"), .text = python.version,
		.runtime = dlsym(RTLD_DEFAULT, "_PyRuntime"),
	};

	if (said.runtime)
		said.runtime_bytes = rt_peek(copy, said.runtime, sizeof(copy));
	said.runtime = said.runtime ? copy : NULL;
	return py_layout_here(&tried, &said);
}

/* The first thread that is here keeps what it tried; another one tried the same. */
static void keep_tried(void)
{
	static struct py_layout kept;
	static atomic_flag keeping = ATOMIC_FLAG_INIT;

	if (atomic_flag_test_and_set(&keeping))
		return;
	kept = tried;
	__atomic_store_n(&py_known, &kept, __ATOMIC_RELEASE);
}

const char *py_start(void)
{
	if (py_known)
		return NULL;
	if (!find_all())
		return "this Python hides the functions that describe its frames: no source lines";
	if (!py_this_state() || !python.gil())
		return "Python was not running where the probe was loaded: no source lines";
	if (!py_try_layout())
		return "tftop was not tested with this version of Python: no source lines";
	if (!py_layout_agrees())
		return "the layout of this Python's frames is unknown: no source lines";
	keep_tried();
	return NULL;
}

/* ---- when Python has run for a while ---- */

/* when the main thread was asked; 0: it has answered, or a message has reported that */
static _Atomic int64_t asked_ns;

/* It never returns an error, which would be raised in the program. */
static int start_now(void *arg)
{
	void *(*error)(void) = NULL;
	void (*told)(const char *why);
	int saved = errno;

	atomic_store(&asked_ns, 0);
	*(void **)&told = arg;
	*(void **)&error = dlsym(RTLD_DEFAULT, "PyErr_Occurred");
	told(error && !error() ? py_start() : "Python was handling an error: no source lines");
	errno = saved;
	return 0;
}

static void start_never(void (*told)(const char *why))
{
	atomic_store(&asked_ns, 0);
	told("Python does not run here: no source lines");
}

void py_start_soon(void (*told)(const char *why))
{
	int (*is_initialized)(void), (*add_pending)(int (*call)(void *), void *arg);
	void *arg;

	*(void **)&is_initialized = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
	*(void **)&add_pending = dlsym(RTLD_DEFAULT, "Py_AddPendingCall");
	*(void (**)(const char *))&arg = told;
	atomic_store(&asked_ns, rt_now_ns());
	if (!is_initialized || !add_pending || !is_initialized() || add_pending(start_now, arg))
		start_never(told);
}

void py_start_look(int64_t now_ns)
{
	int64_t asked = atomic_load(&asked_ns);

	if (asked && now_ns - asked > PATIENCE_NS &&
	    atomic_compare_exchange_strong(&asked_ns, &asked, 0))
		rt_emit_message(1, "Python's main thread runs no Python code (it waits, or is in a "
				   "library): there are no source lines until it does");
}
