/* SPDX-License-Identifier: MIT */
/*
 * Shortens names and numbers so that they fit into bars, the column of row labels, and tables.
 * Pure, any thread. Widths are columns of the screen, sizes are bytes; results are always
 * NUL-terminated and never wider than requested.
 */
#ifndef TUI_LABELS_H
#define TUI_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#define LABEL_MAX 256

/*
 * Shortens from the inside out, only as far as needed: first parameters, template arguments, return
 * type, namespaces and scopes; what is still too long ends in an ellipsis. The start of what is
 * left is never cut.
 */
void label_shorten(char *out, size_t size, const char *name, int width, bool ascii);

/* Cuts the end and adds an ellipsis: for sentences. */
void label_fit(char *out, size_t size, const char *text, int width, bool ascii);
/* The same, but leaves no bracket open: what is in brackets is removed as a whole. */
void label_fit_sentence(char *out, size_t size, const char *text, int width, bool ascii);

/* As label_fit(), for names that differ at their ends: cuts the middle. */
void label_fit_middle(char *out, size_t size, const char *text, int width, bool ascii);

/* As label_fit(), for paths: cuts the start. */
void label_fit_end(char *out, size_t size, const char *text, int width, bool ascii);

/* Keeps as many whole words from the left as fit; only the first word may be cut. */
void label_fit_words(char *out, size_t size, const char *text, int width, bool ascii);

/* The program's name: the last part of the first word of a command line. */
void label_program(char *out, size_t size, const char *command);

/* A command line without the program's folders, at most `width` wide. */
void label_command(char *out, size_t size, const char *command, int width, bool ascii);

/* What tftop costs a step, with the half of its interval: "33 % ± 3". Of a cost that was measured
 * (pairs > 0). */
struct own_cost;
char *fmt_own_cost(char *out, size_t size, const struct own_cost *cost);

#endif
