/* SPDX-License-Identifier: MIT */
/*
 * See python.h. Sources of the layouts: CPython's Include/cpython/code.h,
 * Include/internal/pycore_frame.h and Include/cpython/pystate.h of each version.
 *
 * A thread keeps whose a code object is, and what it found for (code, place), in
 * small caches. Code objects come and go, so an entry counts only while the file, the
 * function and the first line of the code are the same; they are what the answer was
 * made of.
 */
#include "probes/python/python.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "probes/runtime/hash.h"
#include "probes/runtime/runtime.h"

#define CACHE 512u		/* places of a thread; powers of two */
#define CODES 1024u		/* and what code is whose */
#define FRAMES_MAX 1024		/* looked at on the way out */
#define STACK_MAX 64		/* told of a stack, innermost first */
#define MODULES_MAX 16		/* one in the other, the innermost ones */
#define OBJECT_TYPE 8		/* of an object, with a lock on all of Python */
#define CELL_CONTENT 16
#define TYPE_NAME 24
#define TEXT_BYTES 512

/* Offsets in bytes. */
struct layout {
	uint32_t version;	/* Py_Version >> 16 */
	int cframe, current;	/* thread state -> [cframe ->] current frame */
	int code, instr, previous, owner, locals;	/* of a frame */
	int c_owner;		/* owner of frames that have no code */
	int bytecode, filename, qualname, first_line;	/* of a code object */
	int ascii, wide;	/* of a str: text of compact ASCII, of other compact ones */
};

static const struct layout layouts[] = {
	{ 0x030b, 56, 8, 32, 56, 48, 69, 72, 3, 184, 112, 128, 72, 48, 72 },
	{ 0x030c, 56, 0, 0, 56, 8, 70, 72, 3, 192, 112, 128, 68, 40, 56 },
	{ 0x030d, -1, 72, 0, 56, 8, 70, 72, 3, 200, 112, 128, 68, 40, 56 },
};

static const struct layout *known;	/* NULL: no lines */
static const void *cell;	/* type of what a local is kept in that functions inside share */
static atomic_bool modules;	/* one was called */
static void *(*this_state)(void);
static int (*line_of)(void *code, int offset);

/* What a place in the code turned out to be. Ids keep over a fork. */
struct place {
	const char *code, *filename, *qualname;
	int32_t offset, first_line;
	uint32_t source;	/* of the line alone, made of these: */
	uint32_t file, function, line;
};

/* Most frames are of libraries, at a thousand places of theirs: of these it is only
 * kept whose they are. */
struct whose {
	const char *code, *filename;
	int32_t first_line;
	enum owner { LIBRARY, USER, COMPILER, MODULE } owner;
};

/* A line in modules, by a hash of their classes. */
struct within {
	uint64_t hash;		/* 0: free */
	uint32_t source;
};

/* A thread's own. */
struct caches {
	struct place places[CACHE];
	struct whose codes[CODES];
	struct within within[CACHE];
};

static _Thread_local void *caches;

static inline bool have_caches(void)
{
	return __builtin_expect(caches != NULL, 1) || rt_room(&caches, sizeof(struct caches));
}

static inline const char *pointer_at(const char *p, int offset)
{
	const char *value;

	memcpy(&value, p + offset, sizeof(value));
	return value;
}

static inline int32_t int_at(const char *p, int offset)
{
	int32_t value;

	memcpy(&value, p + offset, sizeof(value));
	return value;
}

/* ---- text ---- */

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | (c >> 18 & 7));
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* The text of a compact str: its length lies at 16, what it is made of at 32, the
 * bits kind:3 compact:1 ascii:1 from bit 2 on (PyASCIIObject). */
static void text_of(const char *str, char out[TEXT_BYTES])
{
	uint32_t state = (uint32_t)int_at(str, 32), kind = state >> 2 & 7;
	const unsigned char *data = (const unsigned char *)str;
	size_t length, n = 0;

	memcpy(&length, str + 16, sizeof(length));
	if (!(state >> 5 & 1)) {
		out[0] = '\0';
		return;
	}
	data += state >> 6 & 1 ? known->ascii : known->wide;
	for (size_t i = 0; i < length && n + 5 < TEXT_BYTES; i++) {
		uint32_t c = data[i * kind];

		if (kind > 1)
			c |= (uint32_t)data[i * kind + 1] << 8;
		if (kind > 2)
			c |= (uint32_t)data[i * 4 + 2] << 16 | (uint32_t)data[i * 4 + 3] << 24;
		n += put_utf8(out + n, c);
	}
	out[n] = '\0';
}

/* ---- frames ---- */

/* NULL: none, or it cannot be looked up. */
static const char *current_frame(void)
{
	const char *state = known && have_caches() ? this_state() : NULL;

	if (!state)
		return NULL;
	return known->cframe < 0 ? pointer_at(state, known->current) :
	       pointer_at(pointer_at(state, known->cframe), known->current);
}

/* Around an __init__ that it calls itself CPython puts a frame of code that has no place,
 * from 3.12 on: its file's name is that of its function. */
static inline const char *code_of(const char *frame)
{
	const char *code = frame[known->owner] < known->c_owner ? pointer_at(frame, known->code) : NULL;

	return code && pointer_at(code, known->filename) != pointer_at(code, known->qualname) ?
	       code : NULL;
}

static inline int offset_of(const char *frame, const char *code)
{
	return (int)(pointer_at(frame, known->instr) - (code + known->bytecode));
}

/* Code of libraries, by the path of its file. */
static bool is_library(const char *file)
{
	static const char *const parts[] = {
		"/torch/", "/tensorflow/", "/keras/", "/tf_keras/", "/jax/", "/jaxlib/", "/numpy/",
		"/torch_xla/", "/functorch/", "/torchgen/",
	};
	const char *lib;

	/* code that AutoGraph made of the user's: its caller's line says more */
	if (*file == '<' || strstr(file, "__autograph_generated_file"))
		return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(file, "-packages") && strstr(file, parts[i]))
			return true;
	lib = strstr(file, "/lib/python3");
	return lib && !strstr(lib, "-packages");
}

/* What a frame's place is; *borrowed until the thread's next call*. */
static const struct place *place_of(const char *frame, const char *code)
{
	int offset = offset_of(frame, code);
	const char *filename = pointer_at(code, known->filename);
	const char *qualname = pointer_at(code, known->qualname);
	int32_t first_line = int_at(code, known->first_line);
	uint32_t hash = (uint32_t)(((uintptr_t)code >> 4) + (uint32_t)offset * 2654435761u);
	struct place *p = &((struct caches *)caches)->places[(hash ^ hash >> 16) & (CACHE - 1)];
	char file[TEXT_BYTES], function[TEXT_BYTES];
	struct tft_frame where = { 0 };

	if (p->code == code && p->offset == offset && p->filename == filename &&
	    p->qualname == qualname && p->first_line == first_line)
		return p;
	text_of(filename, file);
	text_of(qualname, function);
	where.file = rt_name(TFT_NAME_SOURCE, file);
	where.function = rt_name(TFT_NAME_SOURCE, function);
	offset = line_of((void *)(uintptr_t)code, offset);
	where.line = offset > 0 ? (uint32_t)offset : 0;
	*p = (struct place){
		.code = code, .filename = filename, .qualname = qualname,
		.offset = offset_of(frame, code), .first_line = first_line,
		.source = rt_source(&where), .file = where.file, .function = where.function,
		.line = where.line,
	};
	return p;
}

/* torch.compile's, where it makes something. */
static bool is_compiler(const char *file)
{
	return strstr(file, "/torch/_dynamo/convert_frame.py") ||
	       strstr(file, "/torch/_inductor/compile_fx.py");
}

/* What calls torch.nn.Module's forward(). */
static bool is_module(const char *file, const char *code)
{
	char function[TEXT_BYTES];

	if (!strstr(file, "/torch/nn/modules/module.py"))
		return false;
	text_of(pointer_at(code, known->qualname), function);
	return !strcmp(function, "Module._wrapped_call_impl") ||
	       !strcmp(function, "Module._call_impl");
}

static enum owner owner_of(const char *code)
{
	const char *filename = pointer_at(code, known->filename);
	int32_t first_line = int_at(code, known->first_line);
	uint64_t hash = ((uintptr_t)code >> 4) * 0x9e3779b97f4a7c15u >> 32;
	struct whose *w = &((struct caches *)caches)->codes[hash & (CODES - 1)];
	char file[TEXT_BYTES];

	if (w->code != code || w->filename != filename || w->first_line != first_line) {
		text_of(filename, file);
		*w = (struct whose){ code, filename, first_line, !is_library(file) ? USER :
				     is_compiler(file) ? COMPILER :
				     is_module(file, code) ? MODULE : LIBRARY };
		if (w->owner == MODULE)
			atomic_store_explicit(&modules, true, memory_order_relaxed);
	}
	return w->owner;
}

/* The class of the module whose call this frame is, and the module; it is the frame's first
 * argument. NULL: not there any more. */
static const char *class_of(const char *frame, const char **module)
{
	const char *self = pointer_at(frame, known->locals);

	if (self && pointer_at(self, OBJECT_TYPE) == cell)
		self = pointer_at(self, CELL_CONTENT);
	*module = self;
	return self ? pointer_at(pointer_at(self, OBJECT_TYPE), TYPE_NAME) : NULL;
}

/* What is on the way from a frame outwards. */
struct way {
	const char *user;	/* frame of the user's line, else the innermost with code */
	bool compiling;		/* torch.compile's are among those inside of it */
	int modules;		/* innermost first */
	const char *classes[MODULES_MAX];
};

static void walk(struct way *way, const char *frame, bool outwards)
{
	const char *module, *last = NULL, *class;
	bool found = false;

	way->user = NULL;
	way->compiling = false;
	way->modules = 0;
	for (int i = 0; frame && i < FRAMES_MAX; i++, frame = pointer_at(frame, known->previous)) {
		const char *code = code_of(frame);
		enum owner owner;

		if (!code)
			continue;
		owner = owner_of(code);
		if (owner == USER && !found) {
			found = true;
			way->user = frame;
		}
		if (found && (!outwards || !atomic_load_explicit(&modules, memory_order_relaxed)))
			return;
		way->compiling |= owner == COMPILER && !found;
		if (!way->user)
			way->user = frame;
		/* the call is two functions of one module's, one in the other */
		if (owner == MODULE && way->modules < MODULES_MAX &&
		    (class = class_of(frame, &module)) && module != last) {
			last = module;
			way->classes[way->modules++] = class;
		}
	}
}

static uint32_t in_module(const char *class, uint32_t parent)
{
	struct tft_frame where = {
		.parent = parent, .file = rt_name(TFT_NAME_SOURCE, TFT_FRAME_MODULE),
		.function = rt_name(TFT_NAME_SOURCE, class),
	};

	return rt_source(&where);
}

/* The line with its modules around it. */
static uint32_t within_of(const struct way *way, const struct place *place)
{
	uint64_t hash = place->source;
	struct tft_frame where = { .file = place->file, .function = place->function, .line = place->line };
	struct within *w;

	if (!way->modules)
		return place->source;
	for (int i = 0; i < way->modules; i++)
		hash = rt_hash_bytes(way->classes[i], strlen(way->classes[i]), hash);
	hash |= 1;
	w = &((struct caches *)caches)->within[hash >> 32 & (CACHE - 1)];
	if (w->hash == hash)
		return w->source;
	for (int i = way->modules; i-- > 0;)
		where.parent = in_module(way->classes[i], where.parent);
	*w = (struct within){ hash, rt_source(&where) };
	return w->source;
}

void py_where(struct py_where *where, const struct py_where *outer)
{
	const char *frame = current_frame();
	struct way way;
	int saved;

	*where = (struct py_where){ .frame = frame };
	if (!frame)
		return;
	where->instr = pointer_at(frame, known->instr);
	if (outer && outer->frame == frame && outer->instr == where->instr) {
		where->source = outer->source;
		where->compiling = outer->compiling;
		return;
	}
	saved = errno;
	walk(&way, frame, true);
	where->compiling = way.compiling;
	if (way.user)
		where->source = within_of(&way, place_of(way.user, code_of(way.user)));
	errno = saved;
}

void py_text(char *out, size_t size)
{
	const char *frame, *code;
	struct way way;
	char file[TEXT_BYTES], function[TEXT_BYTES];

	if (size)
		*out = '\0';
	walk(&way, current_frame(), false);
	frame = way.user;
	if (!frame)
		return;
	code = code_of(frame);
	text_of(pointer_at(code, known->filename), file);
	text_of(pointer_at(code, known->qualname), function);
	snprintf(out, size, "%s:%d %s", file,
		 line_of((void *)(uintptr_t)code, offset_of(frame, code)), function);
}

static uint32_t with_parent(const char *frame, uint32_t parent)
{
	const char *code = code_of(frame);
	char file[TEXT_BYTES], function[TEXT_BYTES];
	int line = line_of((void *)(uintptr_t)code, offset_of(frame, code));
	struct tft_frame where = { .parent = parent, .line = line > 0 ? (uint32_t)line : 0 };

	text_of(pointer_at(code, known->filename), file);
	text_of(pointer_at(code, known->qualname), function);
	where.file = rt_name(TFT_NAME_SOURCE, file);
	where.function = rt_name(TFT_NAME_SOURCE, function);
	return rt_source(&where);
}

uint32_t py_stack(const struct py_where *where)
{
	const char *frames[STACK_MAX], *frame = current_frame(), *module, *last = NULL, *class;
	struct way all, inner;
	int n = 0, saved = errno;
	uint32_t source = 0;

	walk(&all, frame, true);
	walk(&inner, frame, false);
	frame = all.user;
	if (frame && within_of(&all, place_of(frame, code_of(frame))) != where->source)
		frame = NULL;
	for (; frame && n < STACK_MAX; frame = pointer_at(frame, known->previous))
		if (code_of(frame))
			frames[n++] = frame;
	while (n-- > 0) {
		if (owner_of(code_of(frames[n])) == MODULE &&
		    (class = class_of(frames[n], &module)) && module != last) {
			last = module;
			source = in_module(class, source);
		}
		/* those that the user's line called, too */
		for (int i = n ? 0 : inner.modules; i-- > 0;)
			source = in_module(inner.classes[i], source);
		source = with_parent(frames[n], source);
	}
	errno = saved;
	return source;
}

/* ---- trying it out ---- */

/* Python's own answers; all of its stable API but the last two. */
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
} python;

static bool find_all(void)
{
	const struct {
		void **at;
		const char *symbol;
	} wanted[] = {
		{ (void **)&this_state, "PyGILState_GetThisThreadState" },
		{ (void **)&line_of, "PyCode_Addr2Line" },
		{ (void **)&python.gil, "PyGILState_Check" },
		{ (void **)&python.version, "Py_GetVersion" },
		{ (void **)&python.frame, "PyEval_GetFrame" },
		{ (void **)&python.back, "PyFrame_GetBack" },
		{ (void **)&python.code, "PyFrame_GetCode" },
		{ (void **)&python.line, "PyFrame_GetLineNumber" },
		{ (void **)&python.attribute, "PyObject_GetAttrString" },
		{ (void **)&python.text, "PyUnicode_AsUTF8" },
		{ (void **)&python.release, "Py_DecRef" },
		{ (void **)&python.clear, "PyErr_Clear" },
		{ (void **)&cell, "PyCell_Type" },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!(*wanted[i].at = dlsym(RTLD_DEFAULT, wanted[i].symbol)))
			return false;
	return true;
}

static const char *peek_pointer(const char *p, int offset)
{
	const char *value = NULL;

	return p && rt_peek(&value, p + offset, sizeof(value)) == sizeof(value) ? value : NULL;
}

/* The text at `offset` of a code object is what Python says its attribute is. */
static bool same_text(void *code, int offset, const char *name)
{
	const char *raw = peek_pointer(code, offset), *text;
	void *value = python.attribute(code, name);
	char mine[TEXT_BYTES];
	bool same = false;

	if (!value) {
		python.clear();
		return false;
	}
	text = python.text(value);
	if (!text)
		python.clear();
	if (text && raw == (const char *)value) {
		text_of(raw, mine);
		same = !strncmp(mine, text, TEXT_BYTES - 8);
	}
	python.release(value);
	return same;
}

/* One frame as it lies against Python's own object of it. */
static bool same_frame(const char *frame, void *object)
{
	const char *raw = peek_pointer(frame, known->code);
	void *code = python.code(object);
	bool same = code && raw == (const char *)code &&
		    same_text(code, known->filename, "co_filename") &&
		    same_text(code, known->qualname, "co_qualname") &&
		    line_of(code, offset_of(frame, raw)) == python.line(object);

	if (code)
		python.release(code);
	return same;
}

/* As code_of(), of a frame that may lie in another way. */
static bool peek_has_place(const char *frame)
{
	const char *code = peek_pointer(frame, known->code);
	char owner = 0;

	return rt_peek(&owner, frame + known->owner, 1) == 1 && owner < known->c_owner &&
	       peek_pointer(code, known->filename) != peek_pointer(code, known->qualname);
}

/* The innermost frame and those that called it, as many as there are. */
static bool agrees(void)
{
	const char *state = this_state(), *frame;
	void *object = python.frame(), *outer;
	bool same = object != NULL, own = false;

	frame = peek_pointer(known->cframe < 0 ? state : peek_pointer(state, known->cframe),
			     known->current);
	for (int i = 0; same && object && i < FRAMES_MAX; i++) {
		while (frame && !peek_has_place(frame))
			frame = peek_pointer(frame, known->previous);
		same = frame && same_frame(frame, object);
		outer = python.back(object);
		if (own)
			python.release(object);
		own = true;
		object = outer;
		frame = same ? peek_pointer(frame, known->previous) : NULL;
	}
	if (object && own)
		python.release(object);
	return same;
}

const char *py_start(void)
{
	const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version");

	if (known)
		return NULL;
	if (!version || !find_all())
		return "this Python says nothing of its frames (it is older than 3.11, or hidden): "
		       "no source lines";
	if (!this_state() || !python.gil())
		return "Python was not running where the probe was loaded: no source lines";
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].version == (uint32_t)(*version >> 16))
			known = &layouts[i];
	if (!known)
		return "a version of Python that was not tried: no source lines";
	if (strstr(python.version(), "free-threading") || !agrees()) {
		known = NULL;
		return "this Python lays out its frames in another way: no source lines";
	}
	return NULL;
}
