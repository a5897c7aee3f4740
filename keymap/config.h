/* SPDX-License-Identifier: MIT */
/*
 * tftoprc: `set NAME = VALUE`, `bind TABLE KEYS COMMAND`, `unbind TABLE KEYS`,
 * `color ROLE FG [BG] [ATTR…]`, `filter NAME = EXPR`, `source FILE`, one a line. The defaults are
 * such a file (keymap/tftoprc), compiled in and read by the same parser.
 *
 * Always true: an error is reported as `file:line: message` and the rest of
 * the file is still read; nothing is ever written; `source` nests at most
 * CONFIG_DEPTH deep, relative names are relative to the file they stand in.
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
#define CONFIG_MAX (1u << 20)		/* bytes of a file */

struct config {
	struct keymap *keymap;		/* borrowed */
	struct settings *settings;	/* borrowed */
	/* Colours belong to the theme: argv[0] is the role. false: a sentence. */
	bool (*color)(void *arg, int argc, const char *const *argv, char *error, size_t error_size);
	/* Filters belong to the model's side: text is the expression, NULL: the name is taken
	 * away. false: a sentence. NULL: there are none here. */
	bool (*filter)(void *arg, const char *name, const char *text, char *error,
		       size_t error_size);
	/* Columns belong to the panes: argv[0] is the pane. false: a sentence. */
	bool (*columns)(void *arg, int argc, const char *const *argv, char *error,
			size_t error_size);
	/* One whole `file:line: message`. */
	void (*report)(void *arg, const char *message);
	void *arg;
	int depth;			/* of source, 0 outside */
	int errors;			/* reported so far */
};

/* A file that is compiled in: "themes/dark", "keys/vi". NULL: there is none. */
const char *config_builtin_file(const char *name);
/* Name of number i below a folder ("keys"), NULL: no more. */
const char *config_builtin_name(const char *folder, size_t i);

/* One command as words, and as the line they came from, NULL: these are all. where is the
 * file it stands in, for `source`; NULL: typed. false: a sentence in error (errors inside a
 * sourced file are reported and do not count here). */
bool config_command(struct config *config, const char *where, const char *line, int argc,
		    const char *const *argv, char *error, size_t error_size);

/* size bytes of a file called name. */
void config_text(struct config *config, const char *name, const char *text, size_t size);
/* The defaults; name in messages "built-in tftoprc". */
void config_builtin(struct config *config);
/* false: it cannot be read, a sentence in error. */
bool config_file(struct config *config, const char *path, char *error, size_t error_size);

/*
 * The user's file: explicit when not NULL, else $XDG_CONFIG_HOME/tftop/tftoprc
 * (~/.config where unset), else ~/.tftoprc; the first that exists. false: none.
 */
bool config_find(const char *explicit_path, char *path, size_t size);

#endif
