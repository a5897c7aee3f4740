/* SPDX-License-Identifier: MIT */
/*
 * The places where a loaded library keeps what it imports: functions that it calls by name,
 * through its procedure linkage table or by an address in memory, and addresses of variables. Part
 * of libtftop-start.so and of probes; libc only.
 *
 * The old content of a place is what the dynamic linker chose for that library. A replacement
 * calls that, and so calls what would have been called without it.
 */
#ifndef PROBES_IMPORTS_IMPORTS_H
#define PROBES_IMPORTS_IMPORTS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct imports_library {
	uintptr_t base, end;
	const char *path;		/* *borrowed from the loader*; "": the program */
	uintptr_t relro, relro_end;	/* read-only since it was loaded */
	const char *strings;
	const ElfW(Sym) *symbols;
	const ElfW(Rela) *calls, *data;
	size_t n_calls, n_data;
};

/* false: the library has no such tables. */
bool imports_library(const struct dl_phdr_info *info, struct imports_library *out);

/* One place. If `unbound`, it still leads to the dynamic linker, and the first call through it
 * replaces its content. If IMPORTS_UNBOUND_CALLS, other code may call that content, too; otherwise
 * only the library's own code does, which tells the linker in a register which place it is. */
#if defined(__x86_64__)
#define IMPORTS_UNBOUND_CALLS 1
#else
#define IMPORTS_UNBOUND_CALLS 0
#endif
struct imports_place {
	const char *name;
	void **at;
	bool unbound;
};
typedef void imports_each(const struct imports_library *library, const struct imports_place *place,
			  void *arg);

/* Visits each place of a function that another library defines, or that the library defines itself
 * but others may override. */
void imports_walk(const struct imports_library *library, imports_each *each, void *arg);

/* Makes the place lead to another function; false: the system refuses. */
bool imports_put(const struct imports_library *library, void **at, void *to);

/* ---- for one library, given an address inside it ---- */

struct imports_change {
	const char *name;
	void *ours;
	bool done;
};

/* Replaces functions of other libraries by ours. */
void imports_change(const void *inside, struct imports_change *changes, int count);

/* Where the library keeps the address of a variable that several libraries share, while it is
 * `now`; NULL: nowhere. The second function makes it another address, for this library alone. */
void **imports_variable(const void *inside, const char *name, const void *now);
bool imports_variable_is(const void *inside, void **at, void *place);

#endif
