/* SPDX-License-Identifier: MIT */
/*
 * What PROGRAM prints, for pane 7: the last 64 k lines or 4 MiB. A small part
 * of a terminal: escape sequences are taken out, \r overwrites the line (a
 * progress bar stays one line), \b, \t and erase-to-end-of-line work.
 *
 * Always true: whatever bytes come, the lines are valid UTF-8 without control
 * characters, none longer than OUTPUT_LINE_MAX bytes (a longer one is
 * continued on the next); the oldest lines go first.
 *
 * Ownership: texts that are given out are borrowed until the next
 * output_feed(). Threads: the loop's only.
 */
#ifndef TUI_OUTPUT_H
#define TUI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keymap/key.h"
#include "tui/draw/mouse.h"

#define OUTPUT_LINES_MAX 65536
#define OUTPUT_BYTES_MAX (4 << 20)
#define OUTPUT_LINE_MAX 4096

struct program_output;

struct program_output *output_new(void);
void output_free(struct program_output *output);

void output_feed(struct program_output *output, const void *data, size_t size);

/* Lines that are kept, the one being written among them (when not empty). */
size_t output_count(const struct program_output *output);
/* Line i, 0 the oldest kept; "" outside. */
const char *output_line(const struct program_output *output, size_t i);
/* Lines ever seen less output_count(): the number of the oldest kept. */
uint64_t output_first(const struct program_output *output);
/* The last line that says something: for the tab. "" none. */
const char *output_last(const struct program_output *output);
/* Changes with everything fed. */
uint64_t output_generation(const struct program_output *output);

/*
 * What the mouse does, for a PROGRAM that asked for it (modes 1000, 1002 and 1003, which
 * gets no moves without a button either; in the form of 1006, else in the older one). x, y:
 * column and line of those kept, as in output_line(). The bytes, at most OUTPUT_MOUSE_MAX;
 * returns how many, 0: it did not ask for that, or that place is not on its screen, which
 * are the last `rows` lines, since it cleared it.
 */
#define OUTPUT_MOUSE_MAX 32
size_t output_mouse_bytes(const struct program_output *output, const struct mouse *mouse,
			  size_t rows, char bytes[OUTPUT_MOUSE_MAX]);
/* It asked for the mouse. */
bool output_wants_mouse(const struct program_output *output);

/* The bytes that a terminal sends for a key, at most 16; returns how many. */
size_t output_key_bytes(struct key key, char bytes[16]);

#endif
