/* SPDX-License-Identifier: MIT */
/*
 * Switches on the marks that a program makes in Python. tf.profiler.experimental.Trace does nothing
 * while they are off; TensorFlow's own profiler switches them on for its sessions. Since 2.21 the
 * switch is a byte of its library (TFT_TF_PYTHON_GATE), before that the variable `enabled` of a
 * Python module.
 *
 * Python objects are only touched by a function that Python itself calls: Py_AddPendingCall() has
 * it called on the main thread, between two instructions. The function looks into two dictionaries,
 * imports nothing and runs no code of the program. A Python that has ended must not be asked, so
 * hooks ask, which run inside of a call of the program's (tf_gate_poll()). Only switching off at
 * level off, when no hook is left in the path, is requested on the runtime's thread.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#include "probes/tensorflow/probe.h"
#include "probes/tensorflow/traceme.h"

#define MODULE "tensorflow.python.profiler.trace"
#define VARIABLE "enabled"
#define AGAIN_NS 1000000000	/* TensorFlow's own profiler closes it on any thread */

/* The C API; nothing from it is kept beyond a call. */
static struct gate_python {
	int (*is_initialized)(void);
	int (*add_pending)(int (*call)(void *), void *arg);
	void *(*error)(void);				/* borrowed */
	void (*clear_error)(void);
	void *(*sys)(const char *name);			/* borrowed */
	void *(*module_dict)(void *module);		/* borrowed */
	void *(*dict_get)(void *dict, const char *key);	/* borrowed */
	int (*dict_set)(void *dict, const char *key, void *value);
	void *is_true, *is_false;
} python;

static _Atomic unsigned char *byte;	/* the form since 2.21; NULL: the other form */
static bool has_python;
static atomic_bool asked;		/* a call is on its way */
static bool opened;			/* opened by the probe; used on Python's main thread */
static int64_t asked_ns;		/* used by the runtime's thread */

atomic_bool tf_gate_due;

/* ---- on Python's main thread ---- */

static void set(void *variables)
{
	void *now = variables ? python.dict_get(variables, VARIABLE) : NULL;
	bool want = rt_level() != TFT_LEVEL_OFF;

	if (want && now == python.is_false)
		opened = !python.dict_set(variables, VARIABLE, python.is_true);
	else if (!want && opened && now == python.is_true)
		opened = python.dict_set(variables, VARIABLE, python.is_false) != 0;
}

/* It never returns an error, which would be raised in the program. */
static int tf_gate_called(void *arg)
{
	int saved = errno;
	void *modules, *module;

	(void)arg;
	atomic_store(&asked, false);
	if (python.error() || tf_trace_session())
		return 0;
	if (byte) {
		atomic_store(byte, rt_level() != TFT_LEVEL_OFF);
		return 0;
	}
	modules = python.sys("modules");
	module = modules ? python.dict_get(modules, MODULE) : NULL;
	if (module)
		set(python.module_dict(module));
	python.clear_error();
	errno = saved;
	return 0;
}

/* ---- on other threads ---- */

void tf_gate_ask(void)
{
	int saved = errno;

	atomic_store(&tf_gate_due, false);
	/* if it cannot be requested now, it will be in a second */
	if (has_python && python.is_initialized() && !atomic_exchange(&asked, true) &&
	    python.add_pending(tf_gate_called, NULL))
		atomic_store(&asked, false);
	errno = saved;
}

void tf_gate_level(enum tft_level level)
{
	if (byte)
		atomic_store(byte, level != TFT_LEVEL_OFF);
	else if (level == TFT_LEVEL_OFF)
		tf_gate_ask();
	else
		atomic_store(&tf_gate_due, true);
}

/* Python's part of the profiler is stopped after this, before Python continues. */
void tf_gate_session_ended(void)
{
	if (rt_level() != TFT_LEVEL_OFF)
		tf_gate_ask();
}

void tf_gate_tick(int64_t now_ns)
{
	if (rt_level() == TFT_LEVEL_OFF)
		return;
	if (byte) {
		if (!atomic_load(byte) && !tf_trace_session())
			atomic_store(byte, 1);
		return;
	}
	if (now_ns - asked_ns < AGAIN_NS)
		return;
	asked_ns = now_ns;
	atomic_store(&tf_gate_due, true);
}

void tf_gate_fork_child(void)
{
	atomic_store(&asked, false);
}

void tf_gate_start(void)
{
	byte = (_Atomic unsigned char *)tf_lib->find(TFT_TF_PYTHON_GATE);
	/* all libraries use the one of the preloaded library then */
	if (byte && !tf_lib->late)
		byte = (_Atomic unsigned char *)dlsym(RTLD_DEFAULT, TFT_TF_PYTHON_GATE);
	*(void **)&python.is_initialized = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
	*(void **)&python.add_pending = dlsym(RTLD_DEFAULT, "Py_AddPendingCall");
	*(void **)&python.error = dlsym(RTLD_DEFAULT, "PyErr_Occurred");
	*(void **)&python.clear_error = dlsym(RTLD_DEFAULT, "PyErr_Clear");
	*(void **)&python.sys = dlsym(RTLD_DEFAULT, "PySys_GetObject");
	*(void **)&python.module_dict = dlsym(RTLD_DEFAULT, "PyModule_GetDict");
	*(void **)&python.dict_get = dlsym(RTLD_DEFAULT, "PyDict_GetItemString");
	*(void **)&python.dict_set = dlsym(RTLD_DEFAULT, "PyDict_SetItemString");
	python.is_true = dlsym(RTLD_DEFAULT, "_Py_TrueStruct");
	python.is_false = dlsym(RTLD_DEFAULT, "_Py_FalseStruct");
	has_python = python.is_initialized && python.add_pending && python.error &&
		     python.clear_error && python.sys && python.module_dict && python.dict_get &&
		     python.dict_set && python.is_true && python.is_false;
}
