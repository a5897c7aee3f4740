/* SPDX-License-Identifier: MIT */
/*
 * Finds functions of a library that exports next to nothing, by the symbols that its file still
 * has (.symtab), and replaces them by overwriting their first bytes.
 *
 * Always true:
 *  - A function counts as found only if it lies in the library's code as loaded, is at least
 *    PATCH_BYTES long, and its code in memory equals that of the file.
 *  - Bytes are replaced only while no thread can be in them: before the library's code has run, or
 *    (collected first) by tftop while all threads are stopped (schema/attach.h).
 *  - Code is writable only while it is being replaced; if the system refuses that, nothing changes.
 *
 * Addresses are not cached: searching 100 MB of names takes 12 to 67 ms of an import that takes a
 * second, and what is loaded into programs writes no files.
 */
#ifndef PROBES_JAX_PATCH_H
#define PROBES_JAX_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/schema/attach.h"

#define PATCH_BYTES 14		/* jmp *0(%rip) and the address */

struct patch_symbol {
	const char *name;
	bool data;		/* of data: only its address */
	bool idle;		/* of a function: no thread may be anywhere in it */
	void *at;		/* out: NULL, not found */
	size_t size;		/* out: of a function */
};

/*
 * Looks for symbols of the loaded library whose path contains `word`. Returns how many
 * are there, -1: no such library, or a file without symbols. The library stays
 * loaded for good.
 */
int patch_find(const char *word, struct patch_symbol *symbols, int count);

/* Such a library has been loaded since it was asked last; often, by one thread at a time. */
bool patch_loaded(const char *word);

/* A copy of the function's beginning, from which it goes on: what is called in its stead
 * when it is replaced. NULL: its first instructions are none that may be moved. */
void *patch_original(const struct patch_symbol *function);

/* From now on it is `ours` that is called; false: refused, it is as it was. */
bool patch_replace(const struct patch_symbol *function, const void *ours);

/* From now on patch_replace() only notes, by one thread at a time; patch_gathered() has all of it
 * done, and while the int `only` has that value. NULL: done; else why nothing is. */
void patch_gather(void);
const char *patch_gathered(tft_replace_code *replace, const struct patch_symbol *only, int value);
/* Once more: tftop may have put the functions' own beginnings back. */
const char *patch_again(tft_replace_code *replace);
/* What was gathered is in force, or nothing was. */
bool patch_is_in(void);

#endif
