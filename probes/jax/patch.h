/* SPDX-License-Identifier: MIT */
/*
 * Finds functions of a library that exports next to nothing, by the symbols that its file still
 * has (.symtab), and replaces them by overwriting their first bytes.
 *
 * Always true:
 *  - A function counts as found only if it lies in the library's code as loaded, is at least
 *    PATCH_BYTES long, and its code in memory equals that of the file.
 *  - A function whose original is still called is replaced only if its first instructions mean
 *    the same elsewhere, and none of its own jumps leads into the middle of them (branches.h).
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
	bool data;		/* data: only its address is wanted */
	bool idle;		/* a function in which no thread may be when it is replaced */
	void *at;		/* result: its address; NULL: not found */
	size_t size;		/* result: size of the function */
};

/*
 * Looks for symbols of the loaded library whose path contains `word`. Returns how many were found;
 * -1: there is no such library, or its file has no symbols. The library is never unloaded from then
 * on.
 */
int patch_find(const char *word, struct patch_symbol *symbols, int count);

/* Whether such a library has been loaded since the last call. May be called often, by one thread at
 * a time. */
bool patch_loaded(const char *word);

/* A copy of the function's start that continues in the function: it is called instead of the
 * function when that is replaced. NULL: it is not certain that its first instructions can be moved
 * and nothing else leads into them. */
void *patch_original(const struct patch_symbol *function);

/* Makes calls of the function call `ours`; false: that was refused, and nothing has changed. */
bool patch_replace(const struct patch_symbol *function, const void *ours);

/* From patch_gather() on, patch_replace() only notes what is to be replaced; for one thread at a
 * time. patch_gathered() has all of it replaced, as long as the int `only` has that value. NULL:
 * done; otherwise why nothing was replaced. */
void patch_gather(void);
const char *patch_gathered(tft_replace_code *replace, const struct patch_symbol *only, int value);
/* Forgets what was gathered. */
void patch_drop(void);
/* Replaces it once more, because tftop may have restored the original code. */
const char *patch_again(tft_replace_code *replace);
/* Whether all that was gathered is in force. If tftop was killed while it wrote, only the first
 * pieces are, in the order of patch_replace(). */
bool patch_is_in(void);

#endif
