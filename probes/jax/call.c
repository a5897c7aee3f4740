/* SPDX-License-Identifier: MIT */
/*
 * Calls of jitted functions, from Python: an op each, from begin to end, with the line
 * that called. What jaxlib calls it comes at its end, by a trace event; until then it
 * has the name that the object had the last time, at first its __name__.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "probes/jax/probe.h"
#include "probes/python/python.h"

#define DEPTH_MAX 64
#define OBJECTS 256u		/* a power of two */

/* vectorcall of PEP 590 */
typedef void *vectorcall(void *self, void *const *args, size_t count, void *names);

static vectorcall *original;
static uint32_t type, unnamed;

/* Python's stable API */
static struct {
	void *(*attribute)(const void *object, const char *name);
	const char *(*text)(void *str);
	void (*release)(void *object);
	void (*clear)(void);
} python;

static struct {
	_Atomic(const void *) self;
	_Atomic uint32_t name;
} objects[OBJECTS];

struct call {
	struct py_where where;
	uint32_t name;
	int64_t traced_ns, trace_end_ns;	/* 0: was not */
	bool compiled;
};

static _Thread_local struct {
	struct call call[DEPTH_MAX];
	int depth;		/* may be more than there is room for */
	char text[JAX_TEXT_BYTES];
	size_t length;		/* of the last name, */
	uint32_t name;		/* and its id */
} own;

static uint32_t at_of(const void *self)
{
	return (uint32_t)(((uintptr_t)self >> 4) * 0x9e3779b97f4a7c15u >> 56) & (OBJECTS - 1);
}

/* With the GIL, as all of a call. */
static uint32_t own_name(const void *self)
{
	void *name = python.attribute ? python.attribute(self, "__name__") : NULL;
	const char *text = name ? python.text(name) : NULL;
	uint32_t id = text && *text ? rt_name(TFT_NAME_OP, text) : unnamed;

	if (python.clear && !text)
		python.clear();
	if (name)
		python.release(name);
	return id;
}

static uint32_t known_name(const void *self)
{
	uint32_t i = at_of(self), name = 0;

	if (atomic_load_explicit(&objects[i].self, memory_order_acquire) == self)
		name = atomic_load_explicit(&objects[i].name, memory_order_relaxed);
	return name ? name : own_name(self);
}

static void begin(const void *self)
{
	struct rt_op_args args = {
		.step = -1, .framework = TFT_FW_JAX, .type = type, .name = known_name(self),
	};
	struct call none, *c = own.depth < DEPTH_MAX ? &own.call[own.depth] : &none;

	py_where(&c->where, own.depth && own.depth <= DEPTH_MAX ?
		 &own.call[own.depth - 1].where : NULL);
	c->name = args.name;
	c->traced_ns = c->trace_end_ns = 0;
	c->compiled = false;
	args.source = c->where.source;
	rt_op_push(&args);
	own.depth++;
}

static uint32_t whole_stack(int64_t dur_ns, const void *call)
{
	const struct call *c = call;

	return py_slow_stack(py_slowest(c->name), dur_ns, &c->where);
}

static void end(const void *self)
{
	uint32_t i = at_of(self);
	struct call *c = --own.depth < DEPTH_MAX ? &own.call[own.depth] : NULL;
	struct rt_ask ask = {
		py_slow_ns(c ? py_slowest(c->name) : NULL), whole_stack, c,
	};

	if (c && c->name != unnamed &&
	    (atomic_load_explicit(&objects[i].self, memory_order_relaxed) != self ||
	     atomic_load_explicit(&objects[i].name, memory_order_relaxed) != c->name)) {
		atomic_store_explicit(&objects[i].name, c->name, memory_order_relaxed);
		atomic_store_explicit(&objects[i].self, self, memory_order_release);
	}
	rt_op_pop_asking(0, &ask);
	if (c && c->compiled && c->traced_ns && own.name == c->name)
		jax_retraced(c->name, own.text, own.length, c->traced_ns,
			     c->trace_end_ns - c->traced_ns);
}

static void *on_call(void *self, void *const *args, size_t count, void *names)
{
	int saved = errno;
	bool seen = rt_level() != TFT_LEVEL_OFF;
	void *result;

	if (seen)
		begin(self);
	errno = saved;
	result = original(self, args, count, names);
	if (!seen)
		return result;
	saved = errno;
	end(self);
	errno = saved;
	return result;
}

void jax_call_named(const struct traceme *t)
{
	const char *text = t->name + strlen("PjitFunction(");
	size_t length = t->name_length - strlen("PjitFunction(");
	struct call *c = own.depth > 0 && own.depth <= DEPTH_MAX ?
			 &own.call[own.depth - 1] : NULL;

	if (!c || !length || text[--length] != ')' || length >= sizeof(own.text))
		return;
	if (!own.name || own.length != length || memcmp(own.text, text, length)) {
		memcpy(own.text, text, length);
		own.text[length] = '\0';
		own.length = length;
		own.name = rt_name(TFT_NAME_OP, own.text);
	}
	if (c->name == own.name)
		return;
	c->name = own.name;
	rt_op_rename(own.name);
}

void jax_call_traced(const struct traceme *t)
{
	struct call *c = own.depth > 0 && own.depth <= DEPTH_MAX ?
			 &own.call[own.depth - 1] : NULL;

	if (c) {
		c->traced_ns = t->start_ns;
		c->trace_end_ns = t->end_ns;
	}
}

void jax_call_compiled(const struct traceme *t)
{
	(void)t;
	if (own.depth > 0 && own.depth <= DEPTH_MAX)
		own.call[own.depth - 1].compiled = true;
}

static void find_python(void)
{
	*(void **)&python.text = dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8");
	*(void **)&python.release = dlsym(RTLD_DEFAULT, "Py_DecRef");
	*(void **)&python.clear = dlsym(RTLD_DEFAULT, "PyErr_Clear");
	if (python.text && python.release && python.clear)
		*(void **)&python.attribute = dlsym(RTLD_DEFAULT, "PyObject_GetAttrString");
}

void jax_call_start(const struct patch_symbol *function)
{
	type = rt_name(TFT_NAME_OP_TYPE, "PjitFunction");
	unnamed = rt_name(TFT_NAME_OP, "PjitFunction");
	find_python();
	if (function->at)
		*(void **)&original = patch_original(function);
	if (!original || !patch_replace(function, (void *)on_call))
		jax_blind("calls of jitted functions begin with code that is not known: no ops");
}
