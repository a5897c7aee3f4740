/* SPDX-License-Identifier: MIT */
/*
 * Reads from beside which line of Python another thread is in, while that thread runs on: no
 * signal, no lock, no reference, no function of Python that could wait.
 *
 * Always true:
 *  - Memory of Python is only read through `read`, which fails where nothing is mapped. What was
 *    read is believed only if the types of all objects are right (a code object, a str, a bytes
 *    object, up to 3.10 a frame) and the place lies within the function's own code. Anything else
 *    counts as torn.
 *  - The line is that of the function's own table, so it is never outside of the function.
 *  - That one frame called another is believed only if the caller was in the same call before,
 *    right before, right after and after the other was read; and its line, only if it was at the
 *    same instruction each time and the other one was still there afterwards. Right before and
 *    after are copies of one call of the kernel (0.3 us apart, or 0.5 us where many frames are
 *    copied as one): a loop that comes round to the same call within that time could be mistaken;
 *    a call of a function of Python takes about a sixth of it.
 *  - A call is known by the address, the function and the caller of its frame. The next call of the
 *    same function by the same caller mostly has a frame with all of these: from 3.11 on because
 *    frames are a stack, up to 3.10 because a function keeps the frame object of its last call. So
 *    this proof says as much in all versions.
 *  - Up to 3.10 the memory of a frame can be used by any thread next, and one that is free has the
 *    next free one where its caller was. Therefore the frames are believed to be those of the
 *    thread only if the outermost one that was read runs and is among its frames again afterwards;
 *    otherwise nothing is said of that look. And only a frame that runs is believed to have called
 *    another one.
 *  - Needs libc only, so that its tests can read made-up memory.
 */
#ifndef PROBES_HOST_FRAMES_H
#define PROBES_HOST_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "probes/python/known.h"

#define HOST_TEXT 512		/* a file or function is cut to this */
#define HOST_OWNERS 1024u	/* remembered code objects; a power of two */
#define HOST_TABLE 65536	/* a function with a longer table of lines has no lines */
#define HOST_BLOCK 4096u	/* frames of a stack lie side by side: they are read by pages */
#define HOST_NEAR 16384u	/* or in one piece, if they are known to be there */
#define HOST_GAP 512u		/* of frames side by side, from one to the next, for one copy */
#define HOST_FRAMES 256u	/* a deeper stack is read up to there, and is not whole */
#define HOST_BATCH 1024u	/* copies in one call of the kernel: IOV_MAX */
#define HOST_HINTS 16u		/* threads of which it is known where their frames were, */
#define HOST_APART 64u		/* and of so many frames that are not on a stack of Python */
#define HOST_STATE_PREVIOUS 0	/* members of a thread's state */
#define HOST_STATE_NEXT 8

/* How asyncio's tasks are found (tasks.h). coro_type 0: they are not looked for. */
struct host_tasks {
	uintptr_t coro_type, dict_type, module_type;
	int embedded;			/* coroutine -> its frame, which lies in it */
	int running;			/* thread state -> the task that runs; 0: unknown */
	int coro;			/* task -> its coroutine, before its name; 0: unknown yet */
	int seen;			/* where that was at the last try to learn it */
	int bytes;			/* of a task; 0: unknown yet */
	int callback;			/* handle -> what it calls; 0: unknown yet */
	uintptr_t type;			/* of tasks; 0: none was seen yet */
	/* of Handle._run() and of Runner.run(), where they were last seen; 0: nowhere */
	uintptr_t run_code, runner_code;
	uintptr_t current;		/* the dict of tasks by their event loop; 0: unknown yet */
	uint32_t tries;			/* how often what is unknown yet was looked for */
};

#define HOST_TASK_WORDS 12u
#define HOST_TASK_COPY 320u	/* a longer name is cut */
/* The task that a thread runs, as it was read. */
struct host_task {
	uint32_t frame;			/* of its coroutine, in `before`; HOST_FRAMES: none */
	/* all that led to its name: addresses, and what was there */
	uintptr_t at[HOST_TASK_WORDS], value[HOST_TASK_WORDS];
	uint32_t n;
	bool learned;			/* this look has taught where their coroutine is */
	uintptr_t str;			/* its name, and a copy of that from its type on */
	char copy[HOST_TASK_COPY], name[HOST_TASK_COPY];
	size_t bytes;
};

/* A frame as it was read, with its address. */
struct host_frame {
	uintptr_t at, code, previous;
	uintptr_t instr;		/* py_instr() */
	int32_t copy;			/* py_copy() */
	bool shim;			/* one of C, without code */
	bool suspended;			/* without a caller: of a generator, or one that ended */
	bool idle;			/* an object that does not run */
	bool generator;			/* of a generator or a coroutine; unknown of objects */
	bool moved;			/* it came to another instruction while it was read */
};

/* Python in this process. All addresses are compared and read, never followed. */
struct host_python {
	const struct py_layout *layout;
	/* copies in this order; false: something is not mapped */
	bool (*read)(const struct iovec *to, const struct iovec *from, size_t n);
	uintptr_t code_type, str_type, bytes_type, frame_type;
	uintptr_t first_state;		/* of the list of thread states */
	uintptr_t runtime;		/* what all interpreters share, runtime_size bytes; or 0 */
	size_t runtime_size;
	struct host_owner {
		uintptr_t code, filename, name;
		uintptr_t bytecode;	/* the object of bytes; 0: it is no object */
		size_t size;		/* of the bytecode, in bytes */
		int32_t first_line;
		bool library;
		uint8_t within;		/* see host_place */
		bool handle, runner;	/* it is asyncio's Handle._run(), or Runner.run() */
	} owners[HOST_OWNERS];
	/* the thread's frames, innermost first, before and after their copies for a check of who
	 * calls whom */
	struct host_frames {
		struct host_frame frame[HOST_FRAMES];
		uint32_t n;
		bool more;		/* there are outer ones */
	} before, after;
	/* of a frame: its caller, it, and its caller once more, in `links` */
	const char *link[HOST_FRAMES][3];
	char links[HOST_FRAMES * 3 * (HOST_GAP + PY_FRAME_BYTES)];
	/* the code objects: their addresses (0: not copied yet) and copies */
	uintptr_t code_at[HOST_FRAMES];
	const char *code[HOST_FRAMES];
	char codes[HOST_FRAMES][PY_CODE_BYTES], other_code[PY_CODE_BYTES];
	/* of the thread's stack of Python: `near` was copied where its frames were at the last
	 * look, or is the page of its innermost frame; `far` is another page */
	struct host_block {
		uintptr_t at;
		size_t bytes;
		char copy[HOST_NEAR];
	} near, far;
	/* copies of frames that are not in `near` */
	uintptr_t apart_at[HOST_FRAMES];
	char apart[HOST_FRAMES][PY_FRAME_BYTES];
	uint32_t n_apart, apart_next;
	/* where the frames of some threads were at the last look; the state of the thread of which
	 * `near` has been read as a guess (0: none), and its innermost frame */
	struct host_hint {
		uintptr_t state, before;	/* `before`: the neighbour in the list */
		uintptr_t cframe;
		uintptr_t low;			/* of those on the stack of Python, with `bytes` */
		size_t bytes;
		uintptr_t apart[HOST_APART];	/* of the others, the inner ones */
		uint32_t n_apart;
	} hints[HOST_HINTS];
	uintptr_t ahead_state, ahead_current;
	struct host_batch {
		struct iovec to[HOST_BATCH], from[HOST_BATCH];
		size_t n;
		bool full;
	} batch;
	uint8_t table[HOST_TABLE];
	struct host_tasks tasks;
	struct host_task task;
	bool still;			/* the innermost frame was the same each time, and where */
	uint64_t torn;			/* how often what was read did not agree with itself */
};

/* Where a frame is. */
struct host_place {
	uintptr_t code, filename, name;
	uint32_t offset;		/* of the instruction, in bytes from the first one */
	int32_t first_line;
	bool library;			/* of a framework or Python's own library */
	/* TFT_DOING_IMPORT or _COMPILE: of a function that does that; 0: of another one */
	uint8_t within;
	/* it called the one before it from another line meanwhile, so that the line is not known */
	bool moved;
};

struct host_stack {
	struct host_place place[HOST_FRAMES];	/* innermost first */
	uint32_t n;
	uint32_t user;	/* the innermost one of the user's, or else the innermost one */
	/* from here on outwards each one was called by the next. The ones before it changed while
	 * they were read: each place is right, but not who called it. n: none is sure */
	uint32_t sure;
	/* the innermost frame and its instruction; still: they were the same each time that they
	 * were read, last after all else */
	uintptr_t frame, instr;
	bool still;
	uint8_t within;			/* of the innermost sure place that has one */
	/* the place of the coroutine that a task of asyncio with this name runs; n: none is known,
	 * or asyncio gave it its name. It holds if the place is among those that are sure */
	uint32_t task;
	const char *task_name;		/* until the next look */
};

/* Copies memory of Python; false: it is not mapped. */
bool host_copy(struct host_python *py, void *to, uintptr_t from, size_t bytes);

/* How Python knows a thread: by the kernel's id of it, or by what pthread_self() is in it. */
uintptr_t host_thread_id(const struct host_python *py, uint32_t tid, uintptr_t self);
/* The state of the thread with that id; 0: it has none, or cannot be read. */
uintptr_t host_state_of(struct host_python *py, uintptr_t id);
/* Whether it still is that thread's. One that was given back may still look like it: */
bool host_state_is(struct host_python *py, uintptr_t state, uintptr_t id);
/* Whether its neighbour in the list, or first_state, leads to it: one that was given back is linked
 * no more. */
bool host_state_linked(struct host_python *py, uintptr_t state);
/* Both; to be asked right before host_stack_of(), for which it reads ahead. */
bool host_state_lives(struct host_python *py, uintptr_t state, uintptr_t id);
/* The next one of the list; 0: it is the last. Whether a state is in the list. */
uintptr_t host_state_next(struct host_python *py, uintptr_t state);
bool host_state_listed(struct host_python *py, uintptr_t state);

enum host_found { HOST_NO_FRAME, HOST_PLACE, HOST_TORN };
enum host_found host_stack_of(struct host_python *py, uintptr_t state, struct host_stack *out);
/* Whether this is the innermost frame of the thread, and at this instruction. */
bool host_frame_is(struct host_python *py, uintptr_t state, uintptr_t frame, uintptr_t instr);
/* The texts of a place and its line (0: it has none, or it cannot be read). false: torn, or its
 * code is gone, so that what was read could be anything. */
bool host_place_read(struct host_python *py, const struct host_place *place, char file[HOST_TEXT],
		     char function[HOST_TEXT], int32_t *line);

#endif
