/* SPDX-License-Identifier: MIT */
/*
 * See python.h.
 *
 * A thread keeps in small caches who a code object belongs to, and what it found for (code, place).
 * Code objects are created and freed, so an entry is valid only while the file, the function and
 * the first line of the code are the same; the answer was made from these. If there are modules of
 * torch.nn, or requests are looked for, all frames outwards matter, and the answer is kept for the
 * whole sequence of frames: a call then costs a few loads for each frame (about 2 ns). Else the
 * frames end at the user's line.
 */
#include "probes/python/python.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "probes/python/layout.h"
#include "probes/runtime/runtime.h"

#define CACHE 512u		/* cached places per thread; both are powers of two */
#define CODES 1024u		/* cached code objects per thread */
#define WAYS 2048u
#define OUTWARDS_MAX 128		/* how many frames are searched for modules */
#define STACK_MAX 64		/* maximum number of frames sent of a stack, innermost first */
#define MODULES_MAX 16		/* maximum depth of nested modules, the innermost ones */
#define CELLS_MAX 64		/* variables of a function that inner ones use */

/* What a place in the code means. Ids stay valid after a fork. */
struct py_place {
	const char *code, *filename, *name;
	uintptr_t instr;	/* py_instr() */
	int32_t first_line;
	uint32_t source;	/* of the line alone, made from these: */
	uint32_t file, function, line;
};

/* Most frames belong to libraries and are at a thousand places: for these only the owner is
 * kept. */
struct whose {
	const char *code, *filename;
	int32_t first_line;
	enum owner { LIBRARY, USER, COMPILER, MODULE } owner;
	bool request;		/* the function's name is "generate" */
};

/* What was found for a sequence of frames, by its hash. */
struct py_seen {
	uint64_t hash;		/* 0: unused */
	uint32_t source;
	bool compiling;
	int16_t request_at, pass_at;	/* how far out these frames are; -1: there is none */
};

/* The caches of a thread. */
struct caches {
	struct py_place places[CACHE];
	struct whose codes[CODES];
	struct py_seen seen[WAYS];
};

static _Thread_local void *caches;

/* The code that calls torch.nn.Module's forward(): one function within the other. */
#define CALLS 2
static _Atomic(const char *) calls[CALLS];
static atomic_bool wants_calls;	/* py_want_calls() */
static atomic_bool more_calls;		/* there is other such code, so sequences are not kept */

void py_want_calls(bool whether)
{
	atomic_store_explicit(&wants_calls, whether, memory_order_relaxed);
}

/* Whether an answer depends on frames around the user's line. */
static inline bool outer_matter(void)
{
	return atomic_load_explicit(&wants_calls, memory_order_relaxed) ||
	       atomic_load_explicit(&calls[0], memory_order_relaxed);
}

static inline bool have_caches(void)
{
	return __builtin_expect(caches != NULL, 1) || rt_room(&caches, sizeof(struct caches));
}

/* ---- frames ---- */

/* NULL: there is none, or it cannot be looked up. */
static const char *current_frame(void)
{
	/* everything that py_known implies was found before it was set, maybe by another thread */
	const char *state = __atomic_load_n(&py_known, __ATOMIC_ACQUIRE) && have_caches() ?
			    py_this_state() : NULL;

	if (!state)
		return NULL;
	return py_known->cframe < 0 ? py_pointer(state, py_known->current) :
	       py_pointer(py_pointer(state, py_known->cframe), py_known->current);
}

/* From 3.12 on, CPython puts a frame whose code has no place around an __init__ that it calls
 * itself: its file's name is that of its function. */
static inline const char *code_of(const char *frame)
{
	const char *code = frame[py_known->owner] < py_known->c_owner ?
			   (const char *)py_code(py_known, frame) : NULL;

	return code && py_pointer(code, py_known->filename) != py_pointer(code, py_known->name) ?
	       code : NULL;
}

/* The place of a frame; *borrowed until the thread's next call*. */
static const struct py_place *py_place_of(const char *frame, const char *code)
{
	uintptr_t instr = py_instr(py_known, frame);
	const char *filename = py_pointer(code, py_known->filename);
	const char *name = py_pointer(code, py_known->name);
	int32_t first_line = py_int(code, py_known->first_line);
	uint32_t hash = (uint32_t)(((uintptr_t)code >> 4) + (uint32_t)instr * 2654435761u);
	struct py_place *p = &((struct caches *)caches)->places[(hash ^ hash >> 16) & (CACHE - 1)];
	char file[PY_TEXT_BYTES], function[PY_TEXT_BYTES];
	struct tft_frame where = { 0 };

	if (p->code == code && p->instr == instr && p->filename == filename &&
	    p->name == name && p->first_line == first_line)
		return p;
	py_text_of(filename, file);
	py_text_of(name, function);
	where.file = rt_name(TFT_NAME_SOURCE, file);
	where.function = rt_name(TFT_NAME_SOURCE, function);
	where.line = (uint32_t)py_line_of(frame, code);
	*p = (struct py_place){
		.code = code, .filename = filename, .name = name,
		.instr = instr, .first_line = first_line,
		.source = rt_source(&where), .file = where.file, .function = where.function,
		.line = where.line,
	};
	return p;
}

/* Writes the last part of the function's name, which is all that Python up to 3.10 has. */
static const char *own_name(const char *code, char function[PY_TEXT_BYTES])
{
	const char *last;

	py_text_of(py_pointer(code, py_known->name), function);
	last = strrchr(function, '.');
	return last ? last + 1 : function;
}

/* Whether it is the code that calls torch.nn.Module's forward(). */
static bool is_module(const char *file, const char *code)
{
	char function[PY_TEXT_BYTES];
	const char *name;

	if (!strstr(file, "/torch/nn/modules/module.py"))
		return false;
	name = own_name(code, function);
	return !strcmp(name, "_wrapped_call_impl") || !strcmp(name, "_call_impl");
}

static void remember_call(const char *code)
{
	for (int i = 0; i < CALLS; i++) {
		const char *have = NULL;

		if (atomic_compare_exchange_strong(&calls[i], &have, code) || have == code)
			return;
	}
	atomic_store(&more_calls, true);
}

/* Whether the function is one by which programs ask models for text: transformers' and vLLM's, and
 * most people's own. */
static bool is_request(const char *code)
{
	char function[PY_TEXT_BYTES];

	return !strcmp(own_name(code, function), "generate");
}

static const struct whose *whose_of(const char *code)
{
	const char *filename = py_pointer(code, py_known->filename);
	int32_t first_line = py_int(code, py_known->first_line);
	uint64_t hash = ((uintptr_t)code >> 4) * 0x9e3779b97f4a7c15u >> 32;
	struct whose *w = &((struct caches *)caches)->codes[hash & (CODES - 1)];
	char file[PY_TEXT_BYTES];

	if (w->code != code || w->filename != filename || w->first_line != first_line) {
		py_text_of(filename, file);
		*w = (struct whose){ code, filename, first_line, !py_is_library(file) ? USER :
				     strstr(file, "/torch/") && py_compiles(file, "") ? COMPILER :
				     is_module(file, code) ? MODULE : LIBRARY,
				     is_request(code) };
		if (w->owner == MODULE)
			remember_call(code);
	}
	return w;
}

static enum owner owner_of(const char *code)
{
	return whose_of(code)->owner;
}

/* The cell of a frame's first argument, where cells are not among the locals. NULL: it has none. */
static const char *cell_of_first(const char *frame)
{
	const char *code = py_pointer(frame, py_known->code);
	const char *names = py_pointer(code, py_known->cells + (int)sizeof(void *));
	const char *arguments = py_pointer(code, py_known->cells + 2 * (int)sizeof(void *));
	int64_t n = arguments ? py_tuple_size(names) : 0;
	int at = py_int(code, py_known->n_locals);

	for (int i = 0; i < n && i < CELLS_MAX; i++)
		if (!py_word(arguments, i * (int)sizeof(intptr_t)))
			return py_pointer(frame, py_known->locals +
						 (at + i) * (int)sizeof(void *));
	return NULL;
}

/* The class of the module that this frame calls, and the module, which is the frame's first
 * argument. NULL: it is not there any more. */
static const char *class_of(const char *frame, const char **module)
{
	const char *self = (const char *)py_reference(py_known, frame, py_known->locals);

	if (!self && py_known->cells >= 0)
		self = cell_of_first(frame);
	if (self && py_type(self) == py_cell)
		self = py_pointer(self, py_known->head);
	*module = self;
	return self ? py_type_name(py_type(self)) : NULL;
}

/* What was found between a frame and the outermost one. */
struct frame_walk {
	const char *user;	/* the frame of the user's line, else the innermost one with code */
	int user_at;		/* how far out that frame is */
	bool compiling;		/* frames of torch.compile are inside it */
	int modules;		/* modules, innermost first */
	const char *classes[MODULES_MAX];
	/* how far out the outermost call of a module is, and what struct py_seen has */
	int module_at, request_at, pass_at;
};

/* Keeps which calls of modules and requests are the outermost. */
static void walk_calls(struct frame_walk *way, const struct whose *whose, int at)
{
	if (whose->owner == MODULE)
		way->module_at = at;
	if (whose->request)
		way->request_at = at;
	if (whose->request || way->request_at < 0)
		way->pass_at = way->module_at;
}

static void py_walk(struct frame_walk *way, const char *frame, bool outwards)
{
	const char *module, *last = NULL, *class;
	bool found = false;

	way->user = NULL;
	way->user_at = PY_FRAMES_MAX;
	way->compiling = false;
	way->modules = 0;
	way->module_at = way->request_at = way->pass_at = -1;
	for (int i = 0; frame && i < PY_FRAMES_MAX; i++,
	     frame = py_pointer(frame, py_known->previous)) {
		const char *code = code_of(frame);
		const struct whose *whose;
		enum owner owner;

		if (found && (!outwards || i >= OUTWARDS_MAX))
			return;
		if (!code)
			continue;
		whose = whose_of(code);
		owner = whose->owner;
		if (i < OUTWARDS_MAX)
			walk_calls(way, whose, i);
		if (owner == USER && !found) {
			found = true;
			way->user = frame;
			way->user_at = i;
		}
		way->compiling |= owner == COMPILER && !found;
		if (!way->user)
			way->user = frame;
		/* a module's call is two functions, one within the other */
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

/* The line with the modules around it. */
static uint32_t within_of(const struct frame_walk *way, const struct py_place *place)
{
	struct tft_frame where = {
		.file = place->file, .function = place->function, .line = place->line,
	};

	if (!way->modules)
		return place->source;
	for (int i = way->modules; i-- > 0;)
		where.parent = in_module(way->classes[i], where.parent);
	return rt_source(&where);
}

static inline uint64_t mix(uint64_t hash, uint64_t a, uint64_t b)
{
	return ((hash << 7 | hash >> 57) ^ (a + b * 0x9e3779b97f4a7c15u)) * 0xd6e8feb86659fd93u;
}

/* The frames of the calling thread from the innermost one outwards, with hashes. */
struct frames {
	const char *frame[OUTWARDS_MAX];
	int n;
	/* of everything that an answer depends on: the place of each frame and, for modules, their
	 * classes */
	uint64_t hash;
	uint64_t modules;		/* of the modules themselves */
};

static void py_hash_frames(struct frames *all, const char *frame)
{
	const char *outer = atomic_load_explicit(&calls[0], memory_order_relaxed);
	const char *inner = atomic_load_explicit(&calls[1], memory_order_relaxed);
	const char *module;
	uint64_t hash = 0;
	bool was = false;
	int i;

	all->modules = 0;
	for (i = 0; frame && i < OUTWARDS_MAX; i++, frame = py_pointer(frame, py_known->previous)) {
		const char *code;

		all->frame[i] = frame;
		if (frame[py_known->owner] >= py_known->c_owner)
			continue;
		code = (const char *)py_code(py_known, frame);
		/* other code can lie in the memory of code that was freed */
		hash = mix(hash, py_instr(py_known, frame),
			   (uintptr_t)py_pointer(code, py_known->filename) ^
			   (uint64_t)py_int(code, py_known->first_line) << 48);
		/* the second of the two functions belongs to the same module */
		was = !was && (code == outer || code == inner);
		if (was) {
			hash = mix(hash, (uintptr_t)class_of(frame, &module), 0);
			all->modules = all->modules * 31 + (uintptr_t)module;
		}
	}
	all->n = i;
	all->hash = hash | 1;
}

/* The answer for a frame whose outer frames were examined before; NULL: none. *keep: where it can
 * be kept then, NULL: nowhere. */
static const struct py_seen *seen_of(const struct frames *all, struct py_seen **keep)
{
	*keep = NULL;
	if (atomic_load_explicit(&more_calls, memory_order_relaxed))
		return NULL;
	*keep = &((struct caches *)caches)->seen[all->hash >> 32 & (WAYS - 1)];
	return (*keep)->hash == all->hash ? *keep : NULL;
}

static inline void take_seen(struct py_where *where, const struct py_seen *seen,
			     const struct frames *all)
{
	where->source = seen->source;
	where->compiling = seen->compiling;
	where->chain = mix(all->hash, all->modules, 0) | 1;
	if (seen->request_at >= 0 && seen->request_at < all->n)
		where->request = all->frame[seen->request_at];
	if (seen->pass_at >= 0 && seen->pass_at < all->n)
		where->pass = all->frame[seen->pass_at];
}

/* Looks at the frames as if for the first time. */
static struct py_seen py_find_out(const char *frame, uint64_t hash, bool outwards, bool *whole)
{
	struct py_seen seen = { .hash = hash };
	struct frame_walk way;
	int saved = errno;

	py_walk(&way, frame, outwards);
	seen.compiling = way.compiling;
	seen.request_at = (int16_t)way.request_at;
	seen.pass_at = (int16_t)way.pass_at;
	if (way.user)
		seen.source = within_of(&way, py_place_of(way.user, code_of(way.user)));
	*whole = way.user_at < OUTWARDS_MAX;
	errno = saved;
	return seen;
}

void py_where(struct py_where *where, const struct py_where *outer)
{
	const char *frame = current_frame();
	const struct py_seen *seen;
	struct py_seen *keep, found;
	struct frames all;
	bool whole;

	*where = (struct py_where){ .frame = frame };
	if (!frame)
		return;
	where->instr = py_instr(py_known, frame);
	if (outer && outer->frame == frame && outer->instr == where->instr) {
		*where = *outer;
		return;
	}
	if (!outer_matter()) {
		found = py_find_out(frame, 0, false, &whole);
		where->source = found.source;
		where->compiling = found.compiling;
		return;
	}
	py_hash_frames(&all, frame);
	seen = seen_of(&all, &keep);
	if (__builtin_expect(!seen, 0)) {
		found = py_find_out(frame, all.hash, true, &whole);
		if (keep && whole)
			*keep = found;
		/* the code that calls modules may not have been known before */
		py_hash_frames(&all, frame);
		seen = &found;
	}
	take_seen(where, seen, &all);
}

const void *py_module(const void *pass, const char **class)
{
	const char *module;

	*class = class_of(pass, &module);
	return module;
}

void py_function(const void *frame, char *out, size_t size)
{
	char function[PY_TEXT_BYTES];

	py_text_of(py_pointer(code_of(frame), py_known->name), function);
	snprintf(out, size, "%s", function);
}

void py_text(char *out, size_t size)
{
	const char *frame, *code;
	struct frame_walk way;
	char file[PY_TEXT_BYTES], function[PY_TEXT_BYTES];

	if (size)
		*out = '\0';
	py_walk(&way, current_frame(), false);
	frame = way.user;
	if (!frame)
		return;
	code = code_of(frame);
	py_text_of(py_pointer(code, py_known->filename), file);
	py_text_of(py_pointer(code, py_known->name), function);
	snprintf(out, size, "%s:%d %s", file, py_line_of(frame, code), function);
}

static uint32_t with_parent(const char *frame, uint32_t parent)
{
	const char *code = code_of(frame);
	char file[PY_TEXT_BYTES], function[PY_TEXT_BYTES];
	struct tft_frame where = { .parent = parent, .line = (uint32_t)py_line_of(frame, code) };

	py_text_of(py_pointer(code, py_known->filename), file);
	py_text_of(py_pointer(code, py_known->name), function);
	where.file = rt_name(TFT_NAME_SOURCE, file);
	where.function = rt_name(TFT_NAME_SOURCE, function);
	return rt_source(&where);
}

uint32_t py_stack(const struct py_where *where)
{
	const char *frames[STACK_MAX], *frame = current_frame(), *module, *last = NULL, *class;
	struct frame_walk all, inner;
	int n = 0, saved = errno;
	uint32_t source = 0;

	py_walk(&all, frame, true);
	py_walk(&inner, frame, false);
	frame = all.user;
	if (frame && within_of(&all, py_place_of(frame, code_of(frame))) != where->source)
		frame = NULL;
	for (; frame && n < STACK_MAX; frame = py_pointer(frame, py_known->previous))
		if (code_of(frame))
			frames[n++] = frame;
	while (n-- > 0) {
		if (owner_of(code_of(frames[n])) == MODULE &&
		    (class = class_of(frames[n], &module)) && module != last) {
			last = module;
			source = in_module(class, source);
		}
		/* includes the modules that the user's line called */
		for (int i = n ? 0 : inner.modules; i-- > 0;)
			source = in_module(inner.classes[i], source);
		source = with_parent(frames[n], source);
	}
	errno = saved;
	return source;
}
