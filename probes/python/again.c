/* SPDX-License-Identifier: MIT */
/*
 * Whether two calls of a function that had their frames at the same address are one call.
 *
 * CPython puts the frame of the next call where the previous one was. Nothing in a frame numbers
 * calls, but while a call goes on, its locals get values: a call whose locals look as they did when
 * it was first seen, at the same place of the code, has begun anew. A loop whose locals all have
 * values before it begins looks like that too, unless one of them is an integer that has grown by
 * one, as the variable of range() does.
 */
#include <stddef.h>
#include <string.h>

#include "probes/python/layout.h"
#include "probes/python/python.h"

#define OUTWARDS 128
#define LOCALS_MAX 64
#define TUPLE_MAX 16

/* The frames from that one inwards; returns how many. */
static int py_frames_from(const char *out[PY_LOOK_FRAMES], const struct py_where *where,
			  const void *from)
{
	const char *frames[OUTWARDS], *frame = where->frame;
	int n = 0, found = 0;

	while (frame && n < OUTWARDS) {
		frames[n++] = frame;
		if (frame == from)
			break;
		frame = py_pointer(frame, py_known->previous);
	}
	if (!n || frames[n - 1] != from)
		return 0;
	while (n-- > 0 && found < PY_LOOK_FRAMES)
		if (frames[n][py_known->owner] < py_known->c_owner)
			out[found++] = frames[n];
	return found;
}

/* Of variables and of cells. */
static int locals_of(const char *frame)
{
	const char *code = (const char *)py_code(py_known, frame);
	int64_t n = py_int(code, py_known->n_locals);

	for (int i = 0; py_known->cells >= 0 && i < 2; i++)
		n += py_tuple_size(py_pointer(code, py_known->cells + i * (int)sizeof(void *)));
	return n < 0 ? 0 : n < LOCALS_MAX ? (int)n : LOCALS_MAX;
}

/* NULL: it has no value. *shared: functions inside of this one use it too. Its value is another
 * thread's to change and to free, so it must not be looked into. */
static const char *local(const char *frame, int i, bool *shared)
{
	const char *value = (const char *)py_reference(py_known, frame, py_known->locals +
						       i * (int)sizeof(void *));

	*shared = value && py_type(value) == py_cell;
	return *shared ? py_pointer(value, py_known->head) : value;
}

static bool has_type(const char *object, const char *type)
{
	const char *name = py_type_name(py_type(object));

	return name && !strcmp(name, type);
}

/* One local that has a value: the i-th of frame k. */
struct local {
	int k, i;
	const char *value;
	bool shared;		/* as in local() */
};

/* Visits the locals of the frames from one that is given inwards, until `each` returns true;
 * whether it did. */
static bool each_local(const struct py_where *where, const void *from,
		       bool (*each)(const struct local *local, void *arg), void *arg)
{
	const char *frames[PY_LOOK_FRAMES];
	int n = py_frames_from(frames, where, from);

	for (int k = 0; k < n; k++) {
		int count = locals_of(frames[k]);

		for (int i = 0; i < count; i++) {
			struct local l = { .k = k, .i = i };

			l.value = local(frames[k], i, &l.shared);
			if (l.value && each(&l, arg))
				return true;
		}
	}
	return false;
}

static bool look_at(const struct local *l, void *arg)
{
	struct py_look *look = arg;

	look->set[l->k] |= UINT64_C(1) << l->i;
	if (!l->shared && look->n_ints < PY_LOOK_INTS && has_type(l->value, "int"))
		look->ints[look->n_ints++] = (uint32_t)py_int(l->value, py_known->head + 8);
	return false;
}

void py_look(struct py_look *look, const struct py_where *where, const void *from)
{
	*look = (struct py_look){ .n_ints = 0 };
	each_local(where, from, look_at, look);
}

bool py_same_call(const struct py_look *first, const struct py_look *last,
		  const struct py_look *now)
{
	if (memcmp(first->set, now->set, sizeof(now->set)))
		return true;
	for (uint32_t i = 0; i < now->n_ints && i < last->n_ints; i++)
		if (now->ints[i] == last->ints[i] + 1)
			return true;
	return false;
}

struct wanted {
	const char *type;
	bool (*take)(const void *object, void *arg);
	void *arg;
};

static bool take_tuple(const struct wanted *w, const char *tuple)
{
	int64_t n = py_tuple_size(tuple);

	for (int i = 0; i < n && i < TUPLE_MAX; i++) {
		const char *item = py_pointer(tuple, py_known->items + i * (int)sizeof(void *));

		if (item && has_type(item, w->type) && w->take(item, w->arg))
			return true;
	}
	return false;
}

static bool take_wanted(const struct local *l, void *arg)
{
	const struct wanted *w = arg;

	if (l->shared)
		return false;
	return has_type(l->value, w->type) ? w->take(l->value, w->arg) :
	       has_type(l->value, "tuple") && take_tuple(w, l->value);
}

bool py_each_local(const struct py_where *where, const void *from, const char *type,
		   bool (*take)(const void *object, void *arg), void *arg)
{
	struct wanted w = { type, take, arg };

	return each_local(where, from, take_wanted, &w);
}
