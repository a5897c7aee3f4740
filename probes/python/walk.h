/* SPDX-License-Identifier: MIT */
/*
 * Finds the user's line of a call by Python's own functions, with Python's lock held. A part of
 * the probes of frameworks, like python.h. python.h reads frames from memory, at each op, in the
 * versions that it knows. This one walks the frames where a graph is built, which is rare and slow
 * anyway, in all versions that have PyFrame_GetCode() (3.9 on), and can read Python objects.
 *
 * Always true:
 *  - No function of Python is called by a thread that does not hold its lock, or while an
 *    exception is set. No exception stays set, no reference is kept except to two names, and no
 *    garbage collection begins.
 *  - errno is preserved.
 */
#ifndef PROBES_PYTHON_WALK_H
#define PROBES_PYTHON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of Python's by their names without "Py"; objects are void *. */
struct python {
	void *(*thread_of_gil)(void), *(*thread_now)(void);
	void *(*frame)(void), *(*back)(void *frame), *(*code)(void *frame);
	int (*line)(void *frame);
	void (*incref)(void *object), (*decref)(void *object);
	void *(*attribute)(void *object, void *name), *(*named)(void *object, const char *name);
	void *(*intern)(const char *text);
	const char *(*utf8)(void *text, ptrdiff_t *length);
	void *(*error)(void);
	void (*clear)(void);
	/* Containers; *borrowed* what they return, NULL: not there, or not one. */
	void *(*sys_get)(const char *name), *(*dict_get)(void *dict, void *key);
	void *(*dict_get_text)(void *dict, const char *key);
	void *(*tuple_get)(void *tuple, ptrdiff_t at), *(*list_get)(void *list, ptrdiff_t at);
	ptrdiff_t (*list_size)(void *list);
	/* New ones. */
	void *(*number)(unsigned long value), *(*text)(const char *utf8);
	void *(*tuple)(ptrdiff_t n, ...);
	long (*as_long)(void *number);
	unsigned long (*thread_id)(void);
	int (*gc_off)(void), (*gc_on)(void);	/* NULL before 3.10 */
};

/* NULL: the process has no Python, or none that has all of this. */
const struct python *python_find(void);

/* Does the calling thread run Python now, with its lock held? */
bool python_is_held(void);

struct python_line {
	const char *file, *function;	/* *borrowed until Python runs on* */
	uint32_t line;
};
/* Whose a frame of this file is; PYTHON_STOP: its line is not wanted at all. */
enum python_whose { PYTHON_FRAMEWORKS, PYTHON_USERS, PYTHON_STOP };
typedef enum python_whose python_judge(const char *file, size_t length);
/* A file that was made of another: puts the place it was made of into *line, by
 * calls of what does not run Python code; false: not known. */
typedef bool python_map(const struct python *py, struct python_line *line);

/* The innermost frame of the calling thread that is the user's. False: none, or it
 * cannot be known. */
bool python_line(python_judge *judge, python_map *map, struct python_line *line);

#endif
