/* SPDX-License-Identifier: MIT */
/*
 * Calls of jitted functions from Python: one op for each, from begin to end, with the source line
 * of the caller. jaxlib gives the name of the call at its end, in a trace event. Until then the op
 * has the name of the object's previous call, or at first the object's __name__.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "probes/jax/probe.h"

#define OBJECTS 256u		/* a power of two */

/* vectorcall of PEP 590 */
typedef void *vectorcall(void *self, void *const *args, size_t count, void *names);

static vectorcall *original;
static void (*dealloc)(void *self);	/* NULL: it is unknown when an object is freed */
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

static uint32_t at_of(const void *self)
{
	return (uint32_t)(((uintptr_t)self >> 4) * 0x9e3779b97f4a7c15u >> 56) & (OBJECTS - 1);
}

/* To be called with the GIL, as everything in a call. */
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

	if (dealloc && atomic_load_explicit(&objects[i].self, memory_order_acquire) == self)
		name = atomic_load_explicit(&objects[i].name, memory_order_relaxed);
	return name ? name : own_name(self);
}

static struct jax_call *innermost(struct jax_thread *t)
{
	return t && t->depth > 0 && t->depth <= JAX_DEPTH_MAX ? &t->call[t->depth - 1] : NULL;
}

static void jax_call_begin(struct jax_thread *t, const void *self)
{
	struct rt_op_args args = {
		.step = -1, .framework = TFT_FW_JAX, .type = type, .name = known_name(self),
	};
	struct jax_call none, *c = t->depth < JAX_DEPTH_MAX ? &t->call[t->depth] : &none;
	struct jax_call *around = innermost(t);

	py_where(&c->where, around ? &around->where : NULL);
	c->name = args.name;
	c->traced_ns = c->trace_end_ns = c->compile_ns = c->compile_end_ns = 0;
	c->compiled = false;
	args.source = c->where.source;
	rt_op_push(&args);
	t->depth++;
}

static uint32_t whole_stack(int64_t dur_ns, const void *call)
{
	const struct jax_call *c = call;

	return py_slow_stack(py_slowest(c->name), dur_ns, &c->where);
}

static void jax_call_end(struct jax_thread *t, const void *self)
{
	struct jax_call *c = --t->depth < JAX_DEPTH_MAX ? &t->call[t->depth] : NULL;
	uint32_t i = at_of(self);
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
	if (c && c->compiled && c->traced_ns && t->name == c->name)
		jax_retraced(c->name, t->text, t->length, c->traced_ns,
			     c->trace_end_ns - c->traced_ns);
	if (c && c->compile_ns && t->name == c->name)
		jax_built_unseen(t->text, t->length, c->compile_ns, c->compile_end_ns);
}

static void *on_call(void *self, void *const *args, size_t count, void *names)
{
	struct jax_thread *t = rt_level() != TFT_LEVEL_OFF ? jax_self() : NULL;
	int saved = errno;
	void *result;

	if (t)
		jax_call_begin(t, self);
	errno = saved;
	result = original(self, args, count, names);
	if (!t)
		return result;
	saved = errno;
	jax_call_end(t, self);
	errno = saved;
	return result;
}

/* Another object may get its address. */
static void on_dealloc(void *self)
{
	uint32_t i = at_of(self);

	if (atomic_load_explicit(&objects[i].self, memory_order_relaxed) == self)
		atomic_store_explicit(&objects[i].self, NULL, memory_order_relaxed);
	dealloc(self);
}

void jax_call_named(const struct traceme *t)
{
	const char *text = t->name + strlen("PjitFunction(");
	size_t length = t->name_length - strlen("PjitFunction(");
	struct jax_thread *own = jax_self();
	struct jax_call *c = innermost(own);

	if (!c || !length || text[--length] != ')' || length >= sizeof(own->text))
		return;
	if (!own->name || own->length != length || memcmp(own->text, text, length)) {
		memcpy(own->text, text, length);
		own->text[length] = '\0';
		own->length = length;
		own->name = rt_name(TFT_NAME_OP, own->text);
	}
	if (c->name == own->name)
		return;
	c->name = own->name;
	rt_op_rename(own->name);
}

void jax_call_traced(const struct traceme *t)
{
	struct jax_call *c = innermost(jax_self());

	if (c) {
		c->traced_ns = t->start_ns;
		c->trace_end_ns = t->end_ns;
	}
}

void jax_call_compiled(const struct traceme *t)
{
	struct jax_call *c = innermost(jax_self());

	if (c)
		c->compiled = true;
	if (jax_compiled(t) || !c || !jax_on_gpu())
		return;
	c->compile_ns = t->start_ns;
	c->compile_end_ns = t->end_ns;
}

static void find_python(void)
{
	*(void **)&python.text = dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8");
	*(void **)&python.release = dlsym(RTLD_DEFAULT, "Py_DecRef");
	*(void **)&python.clear = dlsym(RTLD_DEFAULT, "PyErr_Clear");
	if (python.text && python.release && python.clear)
		*(void **)&python.attribute = dlsym(RTLD_DEFAULT, "PyObject_GetAttrString");
}

void jax_call_start(const struct patch_symbol *function, const struct patch_symbol *gone)
{
	type = rt_name(TFT_NAME_OP_TYPE, "PjitFunction");
	unnamed = rt_name(TFT_NAME_OP, "PjitFunction");
	find_python();
	if (gone->at)
		*(void **)&dealloc = patch_original(gone);
	if (dealloc && !patch_replace(gone, (void *)on_dealloc))
		dealloc = NULL;
	if (function->at)
		*(void **)&original = patch_original(function);
	if (!original || !patch_replace(function, (void *)on_call))
		jax_blind("calls of jitted functions begin with unknown code: no ops");
}
