/* SPDX-License-Identifier: MIT */
/*
 * The strings of the model. Each is interned once and cleaned (control characters and broken
 * UTF-8 become '?'); names of kernels and ops are also demangled, shortened and classified. Ids
 * count from 1; 0 means "no name".
 *
 * No two kernels have the same short name: where they would, each is shown with more of its
 * detail, as much as tells it apart from all others. That depends on which kernels there are, not
 * on their order, and changes a name only when another kernel arrives that is called like it.
 *
 * A name may be used before it is defined: it then gets an id of its own, whose text comes
 * later (names_alias); names_resolve() leads to the real id. Pointers to texts stay valid until
 * names_release().
 *
 * Threads: under the model's lock.
 */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/base/kernel_name.h"
#include "model/base/map.h"
#include "model/query/class.h"
#include "model/query/query.h"

#define NAMES_MAX (1u << 24)
#define NAMES_PAGE 4096u
#define NAME_SHORT_MAX 200		/* bytes of a shortened name */

struct name {
	const char *raw;		/* cleaned; NULL: not defined yet */
	const char *text;		/* short; the same as raw if nothing was shortened */
	const char *full;		/* demangled, not shortened */
	uint32_t hash;
	uint32_t alias;			/* the real id, 0: itself */
	uint32_t next;			/* next name in the same hash bucket */
	uint8_t work;			/* enum work, as for a kernel with that name */
	bool prepared : 1;		/* text and full have been made */
	bool classified : 1;	/* work and class have been set; not needed for names of ranges */
	struct kernel_class class;
};

struct arena_block;

/* The texts that a kernel's name may have on the screen, one for each amount of detail. */
struct name_texts {
	uint32_t id;
	uint64_t hashes[NAME_DETAILS];
	uint8_t shared;			/* bits by detail: another kernel has the same text */
};

struct names {
	struct name **pages;		/* owned; NAMES_PAGE names each, so that they never move */
	uint32_t n;			/* ids in use, with 0 */
	uint32_t *buckets;		/* owned */
	uint32_t n_buckets;
	struct arena_block *arena;	/* owned */
	struct name_texts *kernels;	/* owned; of the names that have been classified */
	uint32_t n_kernels, max_kernels;
	struct map texts;		/* hash of a text -> index in kernels */
	size_t bytes;
};

void names_init(struct names *names);
void names_release(struct names *names);
/* Interns a borrowed text, which may contain any bytes. NULL and "" give 0, and so does a full
 * table. */
uint32_t names_intern(struct names *names, const char *text);
/* Makes an id whose text is not known yet. */
uint32_t names_placeholder(struct names *names);
void names_alias(struct names *names, uint32_t placeholder, uint32_t real);
static inline struct name *name_at(const struct names *names, uint32_t id)
{
	return &names->pages[id / NAMES_PAGE][id % NAMES_PAGE];
}
static inline uint32_t names_resolve(const struct names *names, uint32_t id)
{
	uint32_t alias;

	/* An alias leads to a defined name, which has none. */
	if (!id || id >= names->n)
		return 0;
	alias = name_at(names, id)->alias;
	return alias ? alias : id;
}
/* Whether the text of the name is known. */
bool names_defined(const struct names *names, uint32_t id);
/* NULL for 0, "?" for a name that was never defined. */
const char *names_raw(struct names *names, uint32_t id);
const char *names_short(struct names *names, uint32_t id);
/* These two say of a name that it is a kernel's. */
enum work names_find_work(struct names *names, uint32_t id);
struct kernel_class names_class(struct names *names, uint32_t id);
static inline enum work names_work(struct names *names, uint32_t id)
{
	const struct name *name;

	id = names_resolve(names, id);
	if (!id)
		return WORK_OTHER;
	name = name_at(names, id);
	return name->classified ? (enum work)name->work : names_find_work(names, id);
}

/* The name of a function of C++ in its short form: "gemm in libtorch_cpu.so" for
 * "_ZN2at6native4gemmEv in libtorch_cpu.so". Other names stay as they are. */
uint32_t names_function(struct names *names, uint32_t name, enum name_detail detail);

/* ---- the steps of cleaning and shortening, for tests ---- */

/* Cleans text into out (size bytes including the NUL), cut between two characters. */
size_t name_clean(const char *text, char *out, size_t size);
/* Removes what is left of cut characters from a text that is composed of cleaned names. */
void name_mend(char *text);
/* Demangles C++ names and _ZTS type names, if built with libiberty. false: the name is not mangled
 * or cannot be demangled. The caller owns *out. */
bool name_demangle(const char *raw, char **out);
/* Writes the short form: return type, parameters and namespaces are removed, and of template
 * arguments all but what the kernel is known by (kernel_name.h). */
void name_shorten(const char *full, char *out, size_t size);
void name_shorten_to(const char *full, enum name_detail detail, char *out, size_t size);
/* What kind of work a kernel of that (short or raw) name does. */
enum work work_of_name(const char *name);
/* Whether a word of the text starts with `word`, ignoring case; a word of up to three letters must
 * match as a whole. */
bool name_has_word(const char *name, const char *word);

#endif
