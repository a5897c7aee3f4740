/* SPDX-License-Identifier: MIT */
/*
 * Reads tftoprc: `set NAME = VALUE`, `bind TABLE KEYS COMMAND`, `unbind TABLE KEYS`, `color ROLE FG
 * [BG] [ATTR...]`, `filter NAME = EXPR`, `source FILE`, one per line. The defaults are such a file
 * (keymap/tftoprc), which is compiled in and read by the same parser.
 *
 * Always true: an error is reported as `file:line: message`, and the rest of the file is still
 * read. Nothing is ever written. `source` can be nested CONFIG_DEPTH deep; relative names are
 * relative to the file that contains them.
 *
 * Threads: the loop's only.
 */
#ifndef KEYMAP_CONFIG_H
#define KEYMAP_CONFIG_H

#include "keymap/setting.h"
#include "keymap/table.h"
#include "keymap/words.h"

#define CONFIG_DEPTH 8
#define CONFIG_LINE_MAX 4096
#define CONFIG_MAX (1u << 20)		/* maximum size of a file */

struct config {
	struct keymap *keymap;		/* borrowed */
	struct settings *settings;	/* borrowed */
	/* Called for `color`, because colours belong to the theme: argv[0] is the role. false: a
	 * sentence. */
	bool (*color)(void *arg, int argc, const char *const *argv, char *error, size_t error_size);
	/* Called for `filter`, because filters belong to the model: text is the expression, NULL:
	 * the name is removed. false: a sentence. NULL: filters cannot be defined here. */
	bool (*filter)(void *arg, const char *name, const char *text, char *error,
		       size_t error_size);
	/* Called for `columns`, because columns belong to the panes: argv[0] is the pane. false: a
	 * sentence. */
	bool (*columns)(void *arg, int argc, const char *const *argv, char *error,
			size_t error_size);
	/* Receives an error as `file:line: message`. */
	void (*report)(void *arg, const char *message);
	void *arg;
	int depth;			/* how deep `source` is nested; 0 outside */
	int errors;			/* number of errors reported so far */
};

/* The content of a file that is compiled in, such as "themes/dark" or "keys/vi". NULL: there is
 * none. */
const char *config_builtin_file(const char *name);
/* The i-th name in a folder ("keys"); NULL: there are no more. */
const char *config_builtin_name(const char *folder, size_t i);

/* Carries out one command, given as words and as the line that they came from; NULL: the words are
 * everything. where: the file that contains the command, for `source`; NULL: it was typed. false:
 * `error` is a sentence. Errors inside a sourced file are reported and do not make the result
 * false. */
bool config_command(struct config *config, const char *where, const char *line, int argc,
		    const char *const *argv, char *error, size_t error_size);

/* Reads size bytes of a file called name. */
void config_text(struct config *config, const char *name, const char *text, size_t size);
/* Reads the defaults; messages call them "built-in tftoprc". */
void config_builtin(struct config *config);
/* Reads a file; false: it cannot be read, and `error` is a sentence. */
bool config_file(struct config *config, const char *path, char *error, size_t error_size);

/*
 * Finds the user's file: explicit_path if it is not NULL, else $XDG_CONFIG_HOME/tftop/tftoprc
 * (~/.config if unset), else ~/.tftoprc; the first one that exists. false: there is none.
 */
bool config_find(const char *explicit_path, char *path, size_t size);

#endif
