/* SPDX-License-Identifier: MIT */
/*
 * What the files of the PyTorch probe share.
 *
 * PyTorch calls back around each op (at::RecordFunction). calibrate.c finds out where
 * the fields of its object lie; ops.c makes ops of the calls; links.c joins backward ops
 * to forward ones; shapes.c reads the inputs, sources.c the data that is copied; steps.c
 * makes steps and the stages of the input; compile.c tells the work of torch.compile;
 * rate.c keeps the cost low; memory.c tells blocks of memory.
 * Sources: ATen/record_function.h, c10/core/Allocator.h.
 *
 * Callbacks run on the program's threads, most without the GIL. Nothing here takes a
 * lock around a call of the program or keeps a reference to an object of it.
 */
#ifndef PROBES_PYTORCH_PROBE_H
#define PROBES_PYTORCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/python/python.h"
#include "probes/pytorch/symbols.h"
#include "probes/runtime/runtime.h"

/* ---- pytorch.c ---- */

extern const struct tft_interposed *torch_lib;	/* set before anything else is called */

/* Something cannot be seen: a message, and a part of what the probe says of
 * itself. `text` is a literal, one clause. */
void torch_blind(const char *text);

/* ---- calibrate.c ---- */

/* at::RecordFunctionCallback, by value: 40 bytes in 1.13 to 2.13. One that has grown
 * would be read beyond them: it finds zeros there. */
struct torch_callback {
	void *(*start)(void **context, const void *rf);
	void (*end)(const void *rf, void *context);
	double probability;
	uint8_t scopes[10], needs_inputs, needs_outputs, needs_ids;
	uint64_t beyond[3];
};
_Static_assert(offsetof(struct torch_callback, beyond) == 40, "passed by value");

/* Offsets in at::RecordFunction in bytes, -1: not found, then do without. */
struct torch_layout {
	int scope;		/* uint8_t, enum torch_scope */
	int sequence;		/* int64_t, -1: none */
	int inputs;		/* IValue *, size_t */
	int forward_thread;	/* uint64_t, 0: none */
	int handle;		/* uint64_t, its own number */
	int is_schema;		/* uint8_t: 1, its name is that of an operator and stays */
	int schema;		/* const void *: that operator's; NULL never */
};
extern struct torch_layout torch_layout;

enum torch_scope {
	TORCH_FUNCTION = 0, TORCH_BACKWARD = 1, TORCH_SCRIPT = 2, TORCH_USER = 7,
};

/* std::vector<std::vector<int64_t>> */
struct torch_vector {
	void *begin, *end, *room;
};

/* PyTorch's own functions; the first three are there, the others may be NULL. */
struct torch_api {
	uint64_t (*add)(struct torch_callback callback);
	void (*remove)(uint64_t callback);
	const char *(*name)(const void *rf);
	uint64_t (*thread)(void);	/* its number of the calling thread, from 1 */
	size_t (*inputs)(const void *rf);
	struct torch_vector *(*sizes)(struct torch_vector *out, const void *rf, bool flatten);
	struct torch_vector *(*types)(struct torch_vector *out, const void *rf);  /* of strings */
	bool old_strings;		/* the strings are those of before C++11 */
	const void *tensor, *undefined;	/* vtables of c10::TensorImpl, UndefinedTensorImpl */
};
extern struct torch_api torch_api;

/* Finds both; false: this is no PyTorch whose ops can be seen. */
bool torch_calibrate(void);

/* ---- a thread's state ---- */

#define TORCH_DEPTH_MAX 128

enum torch_kind {
	TORCH_OP, TORCH_RANGE, TORCH_STEP, TORCH_INPUT,
	TORCH_LOOKUP,		/* of torch.compile: whether it has this function already */
	TORCH_REGION,		/* what it has made runs */
	TORCH_LAZY,		/* a backward pass that it makes when it is first called */
	TORCH_COMPILE,		/* ours, around what it does to make something */
	TORCH_SKIPPED,		/* not told */
};

struct torch_open {
	uint64_t number;	/* the op's own */
	int64_t start_ns;	/* of TORCH_STEP, TORCH_INPUT, TORCH_COMPILE */
	uint32_t name;
	uint8_t kind, scope;
	bool twice;		/* two callbacks of ours are called for it */
	struct py_slowest *slowest;	/* of its name, NULL */
	struct py_where where;
};

struct torch_ring;

#define TORCH_TEXTS 256u	/* powers of two */
#define TORCH_FORMS 1024u

struct torch_text {
	uint64_t hash;		/* 0: free */
	struct py_slowest *slowest;
	uint32_t name;
	uint8_t kind;
};

struct torch_thread {
	struct torch_open open[TORCH_DEPTH_MAX];
	int depth;		/* may be more than there is room for */
	int told;		/* of them, not skipped */
	uint32_t begun, pushed;	/* not added to the process's yet */
	struct torch_ring *ring;
	struct torch_text texts[TORCH_TEXTS];
	struct {
		uint64_t hash;
		uint32_t shapes;
	} forms[TORCH_FORMS];	/* of an op's inputs */
	/* steps.c */
	int stepping, fetching;	/* optimizer's, data loader's functions open */
	int64_t step_end_ns;	/* of the step before; 0: none */
	int64_t input_ns;	/* the first batch since then, or after a detour */
	uint32_t train_line, run_line, run_count;	/* who asked for batches: of the step
				 * before; now, in a row */
	uint32_t lines[8], last_line, missed;	/* of optimizers; the last one of a step */
	bool again;		/* it was the one before, and not for the first time */
	bool detour;		/* other data was read since the step before */
	bool worked;		/* an op has begun since the last batch was asked for */
	/* compile.c */
	int compile_depth;	/* of the ops of torch.compile's work; 0: none is going on */
	int64_t lookup_ns;	/* the last thing was a lookup, which ended then */
};

/* ---- ops.c ---- */

/* Registers the callbacks, or takes them away. Runtime thread, or the one that loads
 * the probe. */
void torch_ops_level(enum tft_level level);
void torch_ops_tick(int64_t now_ns);
void torch_ops_fork_child(void);

/* Opens an op that PyTorch knows nothing of; closes all down to place `at`. */
void torch_open_own(struct torch_thread *t, enum torch_kind kind, uint32_t name,
		    const struct py_where *where);
void torch_close_to(struct torch_thread *t, int at);

/* ---- links.c ---- */

void torch_remember(struct torch_thread *t, uint64_t sequence, uint64_t instance);
/* The op of that number that a thread of PyTorch's number began; 0: not known. */
uint64_t torch_forward_of(uint64_t thread, uint64_t sequence);

/* ---- shapes.c ---- */

/* c10::IValue */
struct torch_value {
	const void *payload;
	uint32_t tag;
};
#define TORCH_TENSOR 1		/* of 1.13 to 2.13 */

/* rt_name(TFT_NAME_SHAPES) of an op's inputs; 0: none, or not to be read. A callback
 * that was registered with inputs; slow (µs) for those that the thread has not met. */
uint32_t torch_shapes(struct torch_thread *t, const void *rf);
/* Says once that they are laid out in an unknown way, and not looked at any more. */
void torch_shapes_tick(void);

/* ---- sources.c ---- */

/* Finds out where a tensor has its bytes. */
void torch_sources_calibrate(void);
/* A hash of the sizes and the type of a plain tensor, and of what is before it; 0: not known,
 * as of one without data. */
uint64_t torch_form(const struct torch_value *value, uint64_t before);
/* An operator of that name copies its first input, and what it copies can be told. */
bool torch_is_copy(const char *name);
/* A fingerprint of what such an op copies; 0: it is not to be read, or small. As torch_shapes(). */
uint64_t torch_source(const void *rf);

/* ---- steps.c ---- */

void torch_step_begins(struct torch_thread *t);
void torch_step_ends(struct torch_thread *t, const struct torch_open *o, int64_t now_ns);
void torch_input_begins(struct torch_thread *t, const struct torch_open *o);
void torch_input_ends(struct torch_thread *t, const struct torch_open *o, const char *name,
		      int64_t now_ns);
/* A node of a backward pass runs: this program trains. */
void torch_steps_backward(void);
/* How many have ended, of all threads. */
uint32_t torch_steps_ended(void);
/* There are steps, or will be: a backward pass has run. */
bool torch_steps_expected(void);
void torch_steps_tell(bool now);
void torch_steps_dump(void);
void torch_steps_fork_child(struct torch_thread *t);

/* ---- compile.c ---- */

/* An op of this kind is about to begin there: in torch.compile's work, or after it, or
 * after a lookup. name: of what is no operator. */
void torch_compile_before(struct torch_thread *t, enum torch_kind kind, const char *name,
			  const struct py_where *where);
/* The op at this place ends, and everything in it. */
void torch_compile_closed(struct torch_thread *t, const struct torch_open *o);

/* ---- rate.c ---- */

enum torch_mode {
	TORCH_ALL,
	TORCH_OUTER,		/* no ops within ops */
	TORCH_FEW,		/* no ops but those of the backward pass and ranges */
};

void torch_rate_add(uint32_t begun, uint32_t pushed);
/* What is to be told from now on. */
enum torch_mode torch_rate_tick(int64_t now_ns, enum torch_mode mode);

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
