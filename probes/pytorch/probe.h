/* SPDX-License-Identifier: MIT */
/*
 * What the files of the PyTorch probe share.
 *
 * PyTorch calls back around each op (at::RecordFunction). calibrate.c determines where the fields
 * of its object are; register.c chooses which callbacks there are; ops.c turns these calls into
 * ops; links.c links backward ops to forward ops; shapes.c reads the inputs, sources.c the data
 * that is copied; steps.c finds steps and the stages of the input, passes.c forward passes and
 * requests; compile.c separates the work of torch.compile; rate.c limits the number of ops; cost.c
 * measures what they cost and keeps --budget; memory.c records memory blocks. Sources:
 * ATen/record_function.h, c10/core/Allocator.h.
 *
 * Callbacks run on the program's threads, mostly without the GIL. No lock is held around a call of
 * the program, and no reference to an object of the program is kept.
 */
#ifndef PROBES_PYTORCH_PROBE_H
#define PROBES_PYTORCH_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/python/python.h"
#include "probes/pytorch/symbols.h"
#include "probes/runtime/runtime.h"

/* ---- pytorch.c ---- */

extern const struct tft_interposed *torch_lib;	/* set before any other function is called */

/* The probe cannot record something: sends a message, and adds it to what the probe says about
 * itself. `text` is a literal, one clause. */
void torch_blind(const char *text);

/* ---- calibrate.c ---- */

/* at::RecordFunctionCallback, passed by value: 40 bytes in 1.13 to 2.13. If it grows, PyTorch reads
 * beyond these and finds zeros. */
struct torch_callback {
	void *(*start)(void **context, const void *rf);
	void (*end)(const void *rf, void *context);
	double probability;
	uint8_t scopes[10], needs_inputs, needs_outputs, needs_ids;
	uint64_t beyond[3];
};
_Static_assert(offsetof(struct torch_callback, beyond) == 40, "passed by value");

/* Offsets in at::RecordFunction in bytes. -1: not found, so that whatever needs the field is left
 * out. */
struct torch_layout {
	int scope;		/* uint8_t, enum torch_scope */
	int sequence;		/* int64_t, -1: none */
	int inputs;		/* IValue *, size_t */
	int forward_thread;	/* uint64_t, 0: none */
	int handle;		/* uint64_t, the op's own number */
	int is_schema;	/* uint8_t; 1: its name is that of an operator, which is never freed */
	int schema;	/* const void *: the name of that operator; NULL: this cannot be read */
};
extern struct torch_layout torch_layout;

enum torch_scope {
	TORCH_FUNCTION = 0, TORCH_BACKWARD = 1, TORCH_SCRIPT = 2, TORCH_USER = 7,
};

/* std::vector<std::vector<int64_t>> */
struct torch_vector {
	void *begin, *end, *room;
};

/* PyTorch's own functions. The first three are always present, the others may be NULL. */
struct torch_api {
	uint64_t (*add)(struct torch_callback callback);
	void (*remove)(uint64_t callback);
	const char *(*name)(const void *rf);
	uint64_t (*thread)(void);	/* PyTorch's number of the calling thread, from 1 */
	size_t (*inputs)(const void *rf);
	struct torch_vector *(*sizes)(struct torch_vector *out, const void *rf, bool flatten);
	/* vector of strings */
	struct torch_vector *(*types)(struct torch_vector *out, const void *rf);
	bool old_strings;		/* the strings have the layout from before C++11 */
	const void *tensor, *undefined;	/* vtables of c10::TensorImpl, UndefinedTensorImpl */
};
extern struct torch_api torch_api;

/* Determines both. false: the ops of this PyTorch cannot be recorded. */
bool torch_calibrate(void);

/* ---- the state of a thread ---- */

#define TORCH_DEPTH_MAX 128

enum torch_kind {
	TORCH_OP, TORCH_RANGE,
	TORCH_REQUEST,		/* a range that is named like a request */
	TORCH_STEP, TORCH_INPUT,
	TORCH_LOOKUP,	/* torch.compile looks up whether this function has been compiled already */
	TORCH_REGION,		/* a compiled function runs */
	TORCH_LAZY,		/* a backward pass that is compiled when it is first called */
	TORCH_COMPILE,		/* an op of the probe around the compilation */
	TORCH_SKIPPED,		/* not recorded */
};

struct torch_open {
	uint64_t number;	/* instance of the op */
	int64_t start_ns;	/* for TORCH_STEP, TORCH_INPUT, TORCH_COMPILE */
	uint32_t name;
	uint8_t kind, scope;
	bool twice;		/* two callbacks of the probe are called for it */
	bool grad;		/* autograd may record it */
	uint32_t asked;		/* of its thread, when it began */
	struct py_slowest *slowest;	/* slowest runs of its name, or NULL */
	struct py_where where;
};

struct torch_ring;
struct torch_calls;

#define TORCH_TEXTS 256u	/* both are powers of two */
#define TORCH_FORMS 1024u

struct torch_text {
	uint64_t hash;		/* 0: unused */
	struct py_slowest *slowest;
	uint32_t name;
	uint8_t kind;
};

struct torch_thread {
	struct torch_open open[TORCH_DEPTH_MAX];
	int depth;		/* depth of the stack; may exceed the size of the array */
	int told;		/* how many of them were recorded */
	uint32_t begun, pushed;	/* not added to the process's counts yet */
	struct torch_ring *ring;
	struct torch_text texts[TORCH_TEXTS];
	struct {
		uint64_t hash;
		uint32_t shapes;
	} forms[TORCH_FORMS];	/* shapes of an op's inputs */
	/* steps.c */
	int stepping, fetching;	/* open functions of optimizers, and of data loaders */
	int64_t step_end_ns;	/* end of the previous step; 0: none */
	uint32_t untold;	/* steps that ended while the runtime's thread was in cost.c */
	/* start of the first batch since then, or since other data was read */
	int64_t input_ns;
	/* source lines that requested batches: in the previous step; now, and how often in a row */
	uint32_t train_line, run_line, run_count;
	uint32_t lines[8], last_line, missed;	/* lines of optimizers; the last one of a step */
	bool again;		/* last_line ended more than one of the recent rounds in a row */
	bool detour;		/* other data has been read since the previous step */
	bool worked;		/* an op has started since the last batch was requested */
	/* passes.c: the thread's own, NULL: it has run no pass; the frames of the open calls and
	 * the chains of their first ops, as they are there */
	struct torch_calls *calls;
	const void *in_pass, *in_request;
	uint64_t pass_chain, request_chain;
	bool moved;		/* an op with another chain has begun */
	uint32_t outside;	/* torch_passes_epoch, when an op was in no call */
	/* the outermost open range that is a request: its number on this thread (0: none is open),
	 * its place in open[] and its name; the number that the last op was in; the last number */
	uint32_t asked, asked_at, asked_name, in_asked, asks;
	/* compile.c */
	/* depth of the ops of torch.compile's own work; 0: it is not compiling */
	int compile_depth;
	int64_t lookup_ns;	/* when the lookup ended, if nothing followed it */
};

enum torch_mode {
	TORCH_ALL,
	TORCH_OUTER,		/* records no ops within ops */
	TORCH_FEW,		/* records only the ops of the backward pass, and ranges */
};

/* ---- register.c ---- */

/* Begins to observe ops, once torch_calibrate() has succeeded. Called once. */
void torch_ops_start(void);
/* Registers or removes the callbacks; nothing before torch_ops_start(). Called on the runtime's
 * thread, or on the one that loads the probe. */
void torch_ops_level(enum tft_level level);
void torch_ops_tick(int64_t now_ns);
void torch_register_fork_child(void);
/* Removes the callbacks around ops for the steps that follow, or sets them again (see cost.c).
 * now_ns: when the step ended. On any thread; does nothing if another thread is changing callbacks,
 * or there are none. */
void torch_ops_set_bare(bool bare, int64_t now_ns);
/* A step has ended on this thread: tells it, if it was bare, before the step itself is told, so
 * that tftop knows when it looks at the step. */
void torch_ops_bare_ends(int64_t now_ns);
bool torch_ops_bare(void);
/* Changes whenever callbacks changed for another reason; never 0. */
uint32_t torch_ops_registered(void);
/* Whether inputs are read for a while (not always, as at level full). */
bool torch_ops_reading(void);

extern _Atomic uint8_t torch_mode;	/* enum torch_mode */
static inline enum torch_mode torch_mode_now(void)
{
	return (enum torch_mode)atomic_load_explicit(&torch_mode, memory_order_relaxed);
}

/* ---- ops.c ---- */

/* The callbacks, for register.c. */
void *torch_on_start(void **context, const void *rf);
void *torch_on_start_inputs(void **context, const void *rf);
void torch_on_end(const void *rf, void *context);
/* Ops that started while the level was off never end here. */
void torch_strays_clear(void);
/* Whether an operator was seen for the first time since it was last asked. */
bool torch_ops_fresh(void);
/* Whether inputs of some operators were recorded few times. */
bool torch_ops_unshaped(void);
void torch_ops_fork_child(void);

/* torch_open_own() opens an op of the probe, which PyTorch does not know; torch_close_to() closes
 * all ops down to place `at`. */
void torch_open_own(struct torch_thread *t, enum torch_kind kind, uint32_t name,
		    const struct py_where *where);
void torch_close_to(struct torch_thread *t, int at);

/* ---- links.c ---- */

void torch_remember(struct torch_thread *t, uint64_t sequence, uint64_t instance);
/* The op with that sequence number that was started by the thread with that number (PyTorch's); 0:
 * unknown. */
uint64_t torch_forward_of(uint64_t thread, uint64_t sequence);

/* ---- shapes.c ---- */

/* c10::IValue */
struct torch_value {
	const void *payload;
	uint32_t tag;
};
#define TORCH_TENSOR 1		/* the tags in 1.13 to 2.13 */

/* rt_name(TFT_NAME_SHAPES) of an op's inputs; 0: none, or they cannot be read. To be called in a
 * callback that was registered with inputs; slow (µs) for inputs that are new to the thread. */
uint32_t torch_shapes(struct torch_thread *t, const void *rf);
/* Reports once that inputs have an unknown layout and are not read any more. */
void torch_shapes_tick(void);

/* ---- sources.c ---- */

/* Determines where a tensor stores its data. */
void torch_sources_calibrate(void);
/* A hash of the sizes and the type of a plain tensor, continued from `before`; 0: unknown, as for a
 * tensor without data. */
uint64_t torch_form(const struct torch_value *value, uint64_t before);
/* Whether an operator of that name copies its first input, and the data can be read. */
bool torch_is_copy(const char *name);
/* A fingerprint of the data that such an op copies; 0: it cannot be read, or is small. To be called
 * like torch_shapes(). */
uint64_t torch_source(const void *rf);

/* The first dimension of a tensor of Python's: how many sequences or samples it holds, 1 without
 * dimensions. 0: it cannot be read. */
int64_t torch_sequences(const void *object);

/* ---- passes.c ---- */

/* An op begins that another pass or request may belong to. */
void torch_passes_change(struct torch_thread *t, const struct py_where *where);
/* Changes when ops were not seen for a while. */
extern _Atomic uint32_t torch_passes_epoch;
/* The same, in most cases without a call. */
static inline void torch_passes_at(struct torch_thread *t, const struct py_where *where)
{
	if (where->pass != t->in_pass || where->request != t->in_request ||
	    t->asked != t->in_asked ||
	    ((where->pass || where->request) &&
	     (where->chain == t->pass_chain || where->chain == t->request_chain)))
		torch_passes_change(t, where);
	else
		t->moved = true;
	if (!where->pass && !where->request && !t->asked && where->frame)
		t->outside = atomic_load_explicit(&torch_passes_epoch, memory_order_relaxed);
}
/* The outermost op of an open call has ended. */
void torch_passes_ran(struct torch_thread *t, const struct torch_open *o);
/* Whether a range of that name is a request. */
bool torch_is_request(const char *range);
/* Such a range begins at this place of the stack. name: as the range is called. */
void torch_request_begins(struct torch_thread *t, int at, const char *name);
static inline void torch_request_ends(struct torch_thread *t, int at)
{
	if (t->asked && (uint32_t)at == t->asked_at)
		t->asked = 0;
}
/* Whether ops are recorded from now on. */
void torch_passes_see(bool whether);
/* The program ran before the probe was loaded. */
void torch_passes_late(void);
void torch_passes_tick(void);
/* The process ends: tells what is open. */
void torch_passes_end(void);
void torch_passes_fork_child(struct torch_thread *t);

/* ---- steps.c ---- */

void torch_step_begins(struct torch_thread *t);
void torch_step_ends(struct torch_thread *t, const struct torch_open *o, int64_t now_ns);
void torch_input_begins(struct torch_thread *t, const struct torch_open *o);
void torch_input_ends(struct torch_thread *t, const struct torch_open *o, const char *name,
		      int64_t now_ns);
/* A node of a backward pass runs, which shows that the program trains. */
void torch_steps_backward(void);
/* Whether a backward pass or an optimizer has run. */
bool torch_steps_train(void);
/* How many steps have ended, on all threads. */
uint32_t torch_steps_ended(void);
/* Whether there are steps, or will be, because the program trains. */
bool torch_steps_expected(void);
void torch_steps_tell(bool now);
void torch_steps_dump(void);
void torch_steps_fork_child(struct torch_thread *t);

/* ---- compile.c ---- */

/* An op of this kind is about to start at this place of the stack: during torch.compile's work,
 * after it, or after a lookup. name: set for everything that is not an operator. */
void torch_compile_before(struct torch_thread *t, enum torch_kind kind, const char *name,
			  const struct py_where *where);
/* The op at this place of the stack ends, with everything inside it. */
void torch_compile_closed(struct torch_thread *t, const struct torch_open *o);

/* ---- rate.c ---- */

void torch_rate_add(uint32_t begun, uint32_t pushed);
/* What is recorded from now on. */
enum torch_mode torch_rate_tick(int64_t now_ns, enum torch_mode mode);

/* ---- cost.c ---- */

/* A step of training has ended on this thread. */
void torch_cost_step(struct torch_thread *t, int64_t now_ns);
/* On the runtime's thread. last: the process ends. */
void torch_cost_tick(int64_t now_ns, bool last);
void torch_cost_dump(void);
void torch_cost_fork_child(void);

/* ---- memory.c ---- */

struct torch_device {
	int8_t type, index;	/* c10::Device: 0 CPU, 1 CUDA, ... */
};
void *torch_alloc_cpu(size_t bytes);
void torch_free_cpu(void *block);
void torch_memory(void *block, int64_t bytes, size_t allocated, size_t reserved,
		  struct torch_device device);
void torch_memory_1(void *block, int64_t bytes, size_t allocated, size_t reserved,
		    struct torch_device device);

/* ---- kernels.c ---- */

void torch_kernels_start(void);
void torch_kernels_tick(int64_t now_ns, enum tft_level level);
void torch_kernels_end(int64_t now_ns);
int torch_onednn_verbose(int level);

static inline uint64_t torch_u64(const void *object, int offset)
{
	uint64_t value;

	__builtin_memcpy(&value, (const char *)object + offset, sizeof(value));
	return value;
}

static inline uint8_t torch_u8(const void *object, int offset)
{
	return ((const uint8_t *)object)[offset];
}

#endif
