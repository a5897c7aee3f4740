/* SPDX-License-Identifier: MIT */
/*
 * Names and numbers made to fit: in bars, in the column of row labels, in
 * tables. Pure, any thread. Widths are columns of the screen, sizes bytes; the
 * results are always NUL-terminated and never wider than asked for.
 */
#ifndef TUI_LABELS_H
#define TUI_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#define LABEL_MAX 256

/*
 * Shortens from the inside out, only as far as needed: parameters, template
 * arguments, return type, namespaces and scopes; what is still too long ends
 * in an ellipsis. The head of what is left is never cut.
 */
void label_shorten(char *out, size_t size, const char *name, int width, bool ascii);

/* Only the ellipsis: sentences. */
void label_fit(char *out, size_t size, const char *text, int width, bool ascii);
/* And no bracket is left open: what it holds goes as a whole. */
void label_fit_sentence(char *out, size_t size, const char *text, int width, bool ascii);

/* As label_fit, for names whose ends tell them apart: the middle goes. */
void label_fit_middle(char *out, size_t size, const char *text, int width, bool ascii);

/* As label_fit, for paths: the beginning goes. */
void label_fit_end(char *out, size_t size, const char *text, int width, bool ascii);

/* Whole words from the left, as many as fit; a first word that does not is cut. */
void label_fit_words(char *out, size_t size, const char *text, int width, bool ascii);

/* The program's name: the last part of the first word of a command line. */
void label_program(char *out, size_t size, const char *command);

/* A command line without the program's directories, at most `width` wide. */
void label_command(char *out, size_t size, const char *command, int width, bool ascii);

#endif
