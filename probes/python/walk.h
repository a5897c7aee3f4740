/* SPDX-License-Identifier: MIT */
/*
 * Finds the user's line of a call through Python's own functions, with the GIL held. A part of the
 * probes for frameworks, like python.h. While python.h reads frames from memory, at each op, for
 * the versions of Python that it knows, this part walks the frames where a graph is built, which is
 * rare and slow anyway. It works with all versions that have PyFrame_GetCode() (3.9 on), and can
 * read Python objects.
 *
 * Always true:
 *  - No function of Python is called by a thread that does not hold the GIL, or while an exception
 *    is set. No exception stays set, no reference is kept except to two names, and no garbage
 *    collection is started.
 *  - errno is preserved.
 */
#ifndef PROBES_PYTHON_WALK_H
#define PROBES_PYTHON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of Python, under their names without "Py"; objects are void *. */
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
	/* Access to containers; the results are *borrowed*; NULL: not there, or not such a
	 * container. */
	void *(*sys_get)(const char *name), *(*dict_get)(void *dict, void *key);
	void *(*dict_get_text)(void *dict, const char *key);
	void *(*tuple_get)(void *tuple, ptrdiff_t at), *(*list_get)(void *list, ptrdiff_t at);
	ptrdiff_t (*list_size)(void *list);
	/* These create new objects. */
	void *(*number)(unsigned long value), *(*text)(const char *utf8);
	void *(*tuple)(ptrdiff_t n, ...);
	long (*as_long)(void *number);
	unsigned long (*thread_id)(void);
	int (*gc_off)(void), (*gc_on)(void);	/* NULL before 3.10 */
};

/* NULL: the process has no Python, or one that lacks some of these functions. */
const struct python *python_find(void);

/* Whether the calling thread runs Python now, with the GIL held. */
bool python_is_held(void);

struct python_line {
	const char *file, *function;	/* *borrowed until Python runs on* */
	uint32_t line;
};
/* Who a frame of this file belongs to; PYTHON_STOP: its line is not wanted at all. */
enum python_whose { PYTHON_FRAMEWORKS, PYTHON_USERS, PYTHON_STOP };
typedef enum python_whose python_judge(const char *file, size_t length);
/* For a file that was generated from another: writes the place in the original to *line, without
 * running Python code; false: unknown. */
typedef bool python_map(const struct python *py, struct python_line *line);

/* The innermost frame of the calling thread that belongs to the user. false: there is none, or it
 * cannot be determined. */
bool python_line(python_judge *judge, python_map *map, struct python_line *line);

#endif
