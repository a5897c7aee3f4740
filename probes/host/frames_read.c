/* SPDX-License-Identifier: MIT */
#include "probes/host/frames_read.h"

#include <string.h>

#define OWNED_BY_GENERATOR 1	/* enum _frameowner */
#define TOP_TRIES 4
#define NOWHERE 1		/* no frame can be read from there */
#define AFTER_TRIES 3
#define CODES_BACK 8		/* a function is compared with so many before it */

/* ---- one call of the kernel for many copies ---- */

static void batch_add(struct host_python *py, void *to, uintptr_t from, size_t bytes)
{
	struct host_batch *batch = &py->batch;

	if (batch->n == HOST_BATCH) {
		batch->full = true;
		return;
	}
	batch->to[batch->n] = (struct iovec) { to, bytes };
	batch->from[batch->n++] = (struct iovec) { (void *)from, bytes };
}

static void batch_begin(struct host_python *py)
{
	py->batch.n = 0;
	py->batch.full = false;
}

/* false: it is too much for one call, or something is not mapped. */
static bool batch_read(struct host_python *py)
{
	return !py->batch.full && (!py->batch.n ||
				   py->read(py->batch.to, py->batch.from, py->batch.n));
}

/* ---- the innermost frame ---- */

/* What leads to it. With a member `cframe` that is a place on the C stack, which holds something
 * else when the call has returned: what was read by way of it counts if it was the thread's cframe
 * before and after. */
struct top { uintptr_t cframe, current, again; };

static struct host_hint *hint_of(struct host_python *py, uintptr_t state)
{
	struct host_hint *hint = &py->hints[(state >> 6) % HOST_HINTS];

	if (hint->state != state)
		*hint = (struct host_hint) { .state = state };
	return hint;
}

/* false: nothing is known of the thread's cframe. */
static bool top_add(struct host_python *py, const struct host_hint *hint, struct top *top)
{
	const struct py_layout *layout = py->layout;
	uintptr_t at = hint->state;

	*top = (struct top) { .cframe = hint->cframe, .again = hint->cframe };
	if (layout->cframe < 0) {
		batch_add(py, &top->current, at + (uintptr_t)layout->current, 8);
		return true;
	}
	if (!hint->cframe)
		return false;
	batch_add(py, &top->cframe, at + (uintptr_t)layout->cframe, 8);
	batch_add(py, &top->current, hint->cframe + (uintptr_t)layout->current, 8);
	batch_add(py, &top->again, at + (uintptr_t)layout->cframe, 8);
	return true;
}

static bool top_holds(const struct host_hint *hint, const struct top *top)
{
	return top->cframe == hint->cframe && top->again == hint->cframe;
}

/* Step by step; 0: there is none. NOWHERE: the thread calls and returns all the time. */
static uintptr_t current_of(struct host_python *py, struct host_hint *hint)
{
	struct top top;

	for (int i = 0; i < TOP_TRIES; i++) {
		if (py->layout->cframe >= 0)
			hint->cframe = host_pointer(py, hint->state +
						    (uintptr_t)py->layout->cframe);
		batch_begin(py);
		if (!top_add(py, hint, &top) || !batch_read(py))
			return 0;
		if (top_holds(hint, &top))
			return top.current;
	}
	return NOWHERE;
}

/* The innermost frame: what was read, or, if it was by way of another cframe, as it is now. */
static uintptr_t top_current(struct host_python *py, struct host_hint *hint, const struct top *top)
{
	return top_holds(hint, top) ? top->current : current_of(py, hint);
}

bool host_frame_is(struct host_python *py, uintptr_t state, uintptr_t frame, uintptr_t instr)
{
	struct host_hint *hint = hint_of(py, state);
	size_t bytes = (size_t)py->layout->instr + 8;
	char copy[PY_FRAME_BYTES];
	struct top top;
	bool guessed;

	batch_begin(py);
	guessed = top_add(py, hint, &top);
	batch_add(py, copy, frame, bytes);
	if (!guessed || !batch_read(py)) {
		top.current = current_of(py, hint);
		top.cframe = top.again = hint->cframe;
		if (!host_copy(py, copy, frame, bytes))
			return false;
	}
	return top_current(py, hint, &top) == frame && py_instr(py->layout, copy) == instr;
}

/* ---- whose state it is ---- */

struct host_links { uintptr_t id, before, next; };

/* Copies the frames where they were at the last look. */
static void host_add_hint(struct host_python *py, const struct host_hint *hint)
{
	py->near.at = hint->low;
	py->near.bytes = hint->bytes;
	if (hint->bytes)
		batch_add(py, py->near.copy, hint->low, hint->bytes);
	py->apart_next = 0;
	py->n_apart = hint->n_apart;
	for (uint32_t i = 0; i < hint->n_apart; i++) {
		py->apart_at[i] = hint->apart[i];
		batch_add(py, py->apart[i], hint->apart[i], (size_t)py->layout->frame_bytes);
	}
}

/* Reads what says whose it is, and, as a guess, the frames. false: it is not mapped. */
static bool host_read_ahead(struct host_python *py, struct host_hint *hint, struct host_links *word)
{
	bool guessed;
	struct top top;

	batch_begin(py);
	batch_add(py, &word->id, hint->state + (uintptr_t)py->layout->id, sizeof(word->id));
	batch_add(py, &word->before, hint->state + HOST_STATE_PREVIOUS, sizeof(word->before));
	if (hint->before)
		batch_add(py, &word->next, hint->before + HOST_STATE_NEXT, sizeof(word->next));
	guessed = top_add(py, hint, &top);
	if (guessed)
		host_add_hint(py, hint);
	if (!batch_read(py))
		return false;
	if (guessed && top_holds(hint, &top)) {
		py->ahead_state = hint->state;
		py->ahead_current = top.current;
	}
	hint->cframe = top.again;
	return true;
}

bool host_state_lives(struct host_python *py, uintptr_t state, uintptr_t id)
{
	struct host_hint *hint = hint_of(py, state);
	struct host_links word = { 0 };

	py->ahead_state = 0;
	if (!state || !id)
		return false;
	/* where it is another cframe by now, what was read by way of the last one says nothing */
	if (!host_read_ahead(py, hint, &word) ||
	    (!py->ahead_state && hint->cframe && !host_read_ahead(py, hint, &word))) {
		py->ahead_state = 0;
		*hint = (struct host_hint) { .state = state };
		return host_state_is(py, state, id) && host_state_linked(py, state);
	}
	if (word.before != hint->before)
		word.next = host_state_next(py, hint->before = word.before);
	return word.id == id && (word.before ? word.next == state : state == py->first_state);
}

/* ---- frames ---- */

static struct host_frame host_frame_of(const struct py_layout *layout, uintptr_t at,
				       const char *copy)
{
	int owner = (unsigned char)copy[layout->owner];

	return (struct host_frame) {
		.at = at, .code = py_code(layout, copy),
		.instr = py_instr(layout, copy), .copy = py_copy(layout, copy),
		.previous = py_word(copy, layout->previous),
		.shim = owner >= layout->c_owner,
		.suspended = owner != layout->whole && owner < layout->c_owner &&
			     !py_word(copy, layout->previous),
		.idle = layout->type >= 0 && owner != layout->whole,
		.generator = layout->type < 0 && owner == OWNED_BY_GENERATOR,
	};
}

/* Whether it is a copy of a frame, as far as frames say of themselves that they are. */
static bool host_is_frame(const struct host_python *py, const char *copy)
{
	return py->layout->type < 0 || py_word(copy, py->layout->type) == py->frame_type;
}

/* The copy of a frame that was made by itself; NULL: there is none. They come in the order in which
 * they are asked for. */
static const char *host_apart(struct host_python *py, uintptr_t at)
{
	for (uint32_t i = py->apart_next; i < py->n_apart; i++)
		if (py->apart_at[i] == at) {
			py->apart_next = i + 1;
			return py->apart[i];
		}
	return NULL;
}

static const char *host_in(const struct py_layout *layout, const struct host_block *block,
			   uintptr_t at)
{
	return at >= block->at && at - block->at + (size_t)layout->frame_bytes <= block->bytes ?
	       block->copy + (at - block->at) : NULL;
}

/* Copies a frame; of one on a stack with those before it on its page, which are its callers most
 * often. NULL: it is not mapped. */
static const char *host_fill(struct host_python *py, struct host_block *block, uintptr_t at)
{
	size_t bytes = (size_t)py->layout->frame_bytes;
	uintptr_t first = py->layout->type >= 0 ? at : at & ~(uintptr_t)(HOST_BLOCK - 1);

	block->bytes = 0;
	if (!host_copy(py, block->copy, first, at - first + bytes)) {
		first = at;
		if (!host_copy(py, block->copy, first, bytes))
			return NULL;
	}
	block->at = first;
	block->bytes = at - first + bytes;
	return block->copy + (at - first);
}

/* A copy of a frame. NULL: it is not mapped, or no frame. */
static const char *host_frame_copy(struct host_python *py, uintptr_t at)
{
	const char *copy = host_in(py->layout, &py->near, at);

	copy = copy ? copy : host_in(py->layout, &py->far, at);
	copy = copy ? copy : host_apart(py, at);
	copy = copy ? copy : host_fill(py, py->near.bytes ? &py->far : &py->near, at);
	return copy && host_is_frame(py, copy) ? copy : NULL;
}

/* Reads the frames of a thread from the innermost one on. false: torn. */
static bool host_read_frames(struct host_python *py, uintptr_t at, struct host_frames *all)
{
	py->far.bytes = 0;
	all->more = at != 0;
	for (all->n = 0; at && all->n < HOST_FRAMES; all->n++) {
		const char *copy = host_frame_copy(py, at);

		if (!copy)
			return false;
		all->frame[all->n] = host_frame_of(py->layout, at, copy);
		at = all->frame[all->n].previous;
	}
	all->more = at != 0;
	return true;
}

bool host_frames_begin(struct host_python *py, uintptr_t state)
{
	uintptr_t at;

	if (py->ahead_state == state) {
		at = py->ahead_current;
	} else {
		py->near.bytes = 0;
		py->n_apart = 0;
		at = current_of(py, hint_of(py, state));
	}
	py->ahead_state = 0;
	return host_read_frames(py, at, &py->before);
}

/* ---- who called whom ---- */

/* How many frames from number i on, one at least, lie so that they are copied as one: each within
 * HOST_GAP behind its caller. */
static uint32_t host_side_by_side(const struct host_python *py, uint32_t i)
{
	const struct host_frame *frame = &py->before.frame[i];
	uint32_t n = 1;

	while (i + n < py->before.n && frame[n].at < frame[n - 1].at &&
	       frame[n - 1].at - frame[n].at <= HOST_GAP && frame->at - frame[n].at < HOST_BLOCK)
		n++;
	return n;
}

/* Copies each frame with its caller before it and after it: three times those that lie side by side
 * on a stack; otherwise first the caller, then it, then the caller. */
static void host_add_links(struct host_python *py)
{
	const struct host_frame *frame = py->before.frame;
	size_t bytes = (size_t)py->layout->frame_bytes;
	char *to = py->links;

	for (uint32_t i = 0, n; i + 1 < py->before.n; i += n > 1 ? n - 1 : 1) {
		uintptr_t from = frame[i + 1].at;
		size_t size = bytes;

		n = host_side_by_side(py, i);
		if (n > 1) {
			from = frame[i + n - 1].at;
			size = frame[i].at - from + bytes;
		}
		for (int k = 0; k < 3; k++, to += size) {
			batch_add(py, to, n == 1 && k == 1 ? frame[i].at : from, size);
			for (uint32_t j = i; n > 1 && j < i + n - 1; j++)
				py->link[j][k] = to + (frame[j + (k != 1)].at - from);
			if (n == 1)
				py->link[i][k] = to;
		}
	}
}

/* Copies what host_read_frames() reads, once more. */
static void host_add_frames(struct host_python *py)
{
	size_t bytes = (size_t)py->layout->frame_bytes;

	py->n_apart = py->apart_next = 0;
	if (py->near.bytes)
		batch_add(py, py->near.copy, py->near.at, py->near.bytes);
	for (uint32_t i = 0; i < py->before.n; i++) {
		uintptr_t at = py->before.frame[i].at;

		if (host_in(py->layout, &py->near, at))
			continue;
		py->apart_at[py->n_apart] = at;
		batch_add(py, py->apart[py->n_apart++], at, bytes);
	}
}

/* Copies the code objects of all frames. */
static void host_add_codes(struct host_python *py)
{
	const struct host_frame *frame = py->before.frame;

	for (uint32_t i = 0; i < py->before.n; i++) {
		uint32_t same = i;

		py->code_at[i] = frame[i].shim ? 0 : frame[i].code;
		if (frame[i].shim)
			continue;
		for (uint32_t k = 1; k <= CODES_BACK && k <= i && same == i; k++)
			if (py->code_at[i - k] == frame[i].code)
				same = i - k;
		py->code[i] = same < i ? py->code[same] : py->codes[i];
		if (same == i)
			batch_add(py, py->codes[i], frame[i].code, (size_t)py->layout->code_bytes);
	}
}

/* Makes all these copies, of one moment as far as can be. *current: the innermost frame then.
 * false: the frames are not mapped any more. */
static bool host_read_again(struct host_python *py, uintptr_t state, uintptr_t *current)
{
	struct host_hint *hint = hint_of(py, state);
	struct top top;
	size_t n_links;

	batch_begin(py);
	host_add_links(py);
	n_links = py->batch.n;
	if (top_add(py, hint, &top)) {
		host_add_frames(py);
		host_add_codes(py);
		if (batch_read(py)) {
			*current = top_current(py, hint, &top);
			return true;
		}
	}
	py->near.bytes = 0;
	py->n_apart = 0;
	memset(py->code_at, 0, sizeof(*py->code_at) * py->before.n);
	py->batch.n = n_links;
	py->batch.full = false;
	if (!batch_read(py))
		return false;
	*current = current_of(py, hint);
	return true;
}

/* The lowest of the frames that lie on a stack of Python, near the innermost of these; *high: that
 * one. 0: there are none. */
static uintptr_t host_stack_low(const struct host_python *py, uintptr_t *high)
{
	const struct host_frame *frame = py->before.frame;
	uintptr_t low = 0;

	for (uint32_t i = 0; py->layout->type < 0 && i < py->before.n; i++) {
		if (frame[i].shim || frame[i].generator)
			continue;
		if (!low)
			*high = low = frame[i].at;
		else if (frame[i].at < low && *high - frame[i].at <= HOST_NEAR - PY_FRAME_BYTES * 2)
			low = frame[i].at;
	}
	return low;
}

/* Remembers where the thread's frames are. */
static void host_remember(struct host_python *py, uintptr_t state)
{
	struct host_hint *hint = hint_of(py, state);
	uintptr_t high = 0, page, end;

	hint->low = host_stack_low(py, &high);
	/* with room for a call more, but not on a page that may not be there */
	page = (high + (uintptr_t)py->layout->frame_bytes - 1) | (HOST_BLOCK - 1);
	end = high + PY_FRAME_BYTES * 2;
	hint->bytes = hint->low ? (end <= page ? end : page + 1) - hint->low : 0;
	hint->n_apart = 0;
	for (uint32_t i = 0; i < py->before.n && hint->n_apart < HOST_APART; i++)
		if (py->before.frame[i].at - hint->low >= hint->bytes)
			hint->apart[hint->n_apart++] = py->before.frame[i].at;
}

static bool host_same_call(const struct host_frame *a, const struct host_frame *b)
{
	return a->at == b->at && a->code == b->code && a->previous == b->previous;
}

static bool is_at(const struct host_frame *a, const struct host_frame *b)
{
	return a->at == b->at && a->instr == b->instr;
}

/* The frame that is as far from the outermost one as number i is; NULL: there is none. */
static const struct host_frame *host_again(const struct host_python *py, uint32_t i)
{
	uint32_t outer = py->before.n - i;

	return outer <= py->after.n ? &py->after.frame[py->after.n - outer] : NULL;
}

/* The copies of frame number i and of its caller before it and after it. false: one is no frame. */
static bool host_parts(const struct host_python *py, uint32_t i, struct host_frame part[3])
{
	bool frames = true;

	for (uint32_t k = 0; k < 3; k++) {
		const char *copy = py->link[i][k];

		part[k] = host_frame_of(py->layout, py->before.frame[i + (k != 1)].at, copy);
		frames &= host_is_frame(py, copy);
	}
	return frames;
}

bool host_frames_are_its(const struct host_python *py)
{
	/* Of objects that is so if an outer one, which must run, is among its frames again: the
	 * outermost one, or the middle one of a stack that is too deep to be read to its end. */
	uint32_t n = py->before.n;
	const struct host_frame *outer = &py->before.frame[py->before.more ? n / 2 : n - 1];

	if (py->layout->type < 0)
		return true;
	for (uint32_t i = py->after.n; i-- > 0;)
		if (host_same_call(&py->after.frame[i], outer))
			return n == 1 || !outer->idle;
	return false;
}

static bool host_ends_with(const struct host_frames *all, const struct host_frame *outer)
{
	return all->n && host_same_call(&all->frame[all->n - 1], outer);
}

/* Reads the frames from this innermost one on. If it returned meanwhile, its memory leads anywhere,
 * so that the outermost one is not found: then from the innermost one of a later moment. */
static bool host_read_after(struct host_python *py, uintptr_t state, uintptr_t current)
{
	const struct host_frame *outer = &py->before.frame[py->before.n - 1];
	struct host_frames *after = &py->after;
	bool read = false;

	for (int i = 0; i < AFTER_TRIES; i++) {
		read = host_read_frames(py, current, after);
		if (read && (after->more || host_ends_with(after, outer)))
			break;
		py->near.bytes = 0;
		py->n_apart = 0;
		current = current_of(py, hint_of(py, state));
	}
	return read && !after->more;
}

uint32_t host_frames_again(struct host_python *py, uintptr_t state)
{
	struct host_frame *frame = py->before.frame;
	uint32_t n = py->before.n, sure = n - 1;
	struct host_frame first = frame[0];
	uintptr_t current;

	py->after.n = 0;
	py->still = false;
	host_remember(py, state);
	if (!host_read_again(py, state, &current) || !host_read_after(py, state, current))
		return n;
	for (uint32_t i = n - 1; i-- > 0; sure = i) {
		const struct host_frame *callee = host_again(py, i);
		const struct host_frame *caller = host_again(py, i + 1);
		struct host_frame part[3];

		if (!caller || !host_parts(py, i, part) || !host_same_call(&part[0], &part[2]) ||
		    !host_same_call(&part[0], &frame[i + 1]) ||
		    !host_same_call(&part[0], caller) || part[1].previous != part[0].at ||
		    part[0].idle || part[2].idle || (i && part[1].idle))
			break;
		frame[i + 1].moved |= part[0].instr != part[2].instr ||
				      part[0].instr != frame[i + 1].instr ||
				      part[0].instr != caller->instr || !callee ||
				      !host_same_call(&part[1], callee);
		frame[i] = part[1];
	}
	py->still = is_at(&first, frame) && py->after.n && is_at(&py->after.frame[0], frame);
	return sure;
}

const char *host_frames_code(struct host_python *py, uint32_t i)
{
	uintptr_t at = py->before.frame[i].code;

	if (at && py->code_at[i] == at)
		return py->code[i];
	return host_copy(py, py->other_code, at, (size_t)py->layout->code_bytes) ? py->other_code :
									       NULL;
}
