/* SPDX-License-Identifier: MIT */
#include "probes/session/program/environ.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/attach/preflight.h"
#include "probes/blas/symbols.h"
#include "probes/jax/symbols.h"
#include "probes/omp/symbols.h"
#include "probes/pytorch/symbols.h"
#include "probes/schema/control.h"
#include "probes/tensorflow/symbols.h"

#define START_LIBRARY "libtftop-start.so"
#define RUNTIME_LIBRARY "libtftop-runtime.so"
#define OUR_PREFIX "libtftop-"
#define CHAIN_PREFIX "TFTOP_CHAIN_"
#define ASAN_ORDER "verify_asan_link_order=0"

enum way_in {
	WAY_LAYER,	/* OPENCL_LAYERS: a list, in which ours comes first */
	WAY_PATH,	/* one library; the user's own library is chained */
	WAY_OWN,	/* one library, in a variable of our own */
	WAY_PART,	/* part of the libraries of others, which read the variable */
};

static const struct probe_row {
	const char *name, *library, *variable;
	enum way_in way;
	bool asked_for;		/* chosen only if its name is given */
} probes[] = {
	{ "opencl", "libtftop-opencl.so", "OPENCL_LAYERS", WAY_LAYER, false },
	{ "cuda", "libtftop-cuda.so", "CUDA_INJECTION64_PATH", WAY_PATH, false },
	{ "nvtx", "libtftop-nvtx.so", "NVTX_INJECTION64_PATH", WAY_PATH, false },
	{ "itt", "libtftop-itt.so", "INTEL_LIBITTNOTIFY64", WAY_PATH, false },
	{ "tensorflow", "libtftop-tensorflow.so", TFT_TF_ENV, WAY_OWN, false },
	{ "pytorch", "libtftop-pytorch.so", TFT_PYTORCH_ENV, WAY_OWN, false },
	{ "jax", "libtftop-jax.so", TFT_JAX_ENV, WAY_OWN, false },
	{ "onednn", "", TFT_ONEDNN_ENV, WAY_PART, false },
	{ "blas", "libtftop-blas.so", TFT_BLAS_ENV, WAY_OWN, true },
	{ "omp", "libtftop-omp.so", TFT_OMP_ENV, WAY_OWN, true },
};

#define PROBES (sizeof(probes) / sizeof(probes[0]))
_Static_assert(PROBES <= ENVIRON_PROBES_MAX, "more probes than struct environ_choice holds");

/* ---- choosing ---- */

static void known_names(char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < PROBES && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
					 probes[i].name);
}

/* Chooses or excludes all probes that are chosen by default. */
static void set_all(struct environ_choice *choice, bool value)
{
	for (size_t i = 0; i < PROBES; i++)
		choice->chosen[i] = value && !probes[i].asked_for;
}

/* Applies one item of the list: "auto", NAME, +NAME, -NAME. */
static int choose_item(struct environ_choice *choice, const char *item, size_t length,
		       bool first, char *error, size_t size)
{
	char names[256], sign = length && (*item == '+' || *item == '-') ? *item : 0;
	const char *name = sign ? item + 1 : item;
	size_t name_length = sign ? length - 1 : length;

	if (!sign && name_length == 4 && strncmp(name, "auto", 4) == 0) {
		set_all(choice, true);
		return 0;
	}
	/* "opencl,nvtx" chooses only these; "-itt" chooses all except that one. */
	if (first)
		set_all(choice, sign != 0);
	for (size_t i = 0; i < PROBES; i++) {
		if (strlen(probes[i].name) != name_length ||
		    strncmp(probes[i].name, name, name_length) != 0)
			continue;
		choice->chosen[i] = sign != '-';
		return 0;
	}
	known_names(names, sizeof(names));
	snprintf(error, size, "unknown probe '%.*s'; known: auto, %s",
		 (int)(name_length < 64 ? name_length : 64), name, names);
	return -1;
}

static bool library_there(const char *dir, const char *name)
{
	char path[1200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, R_OK) == 0;
}

static void find_libraries(struct environ_choice *choice, const char *self_dir)
{
	static const char *const places[] = { "%s/lib", "%s/../lib/tftop" };
	char path[1024], *full;

	choice->lib_dir[0] = '\0';
	choice->passing = false;
	for (size_t i = 0; i < 2 && self_dir; i++) {
		snprintf(path, sizeof(path), places[i], self_dir);
		full = realpath(path, NULL);
		if (full && strlen(full) < sizeof(choice->lib_dir) &&
		    library_there(full, START_LIBRARY)) {
			snprintf(choice->lib_dir, sizeof(choice->lib_dir), "%s", full);
			free(full);
			return;
		}
		free(full);
	}
}

int environ_choose(struct environ_choice *choice, const char *list,
		   const char *self_dir, char *error, size_t size)
{
	bool first = true;

	find_libraries(choice, self_dir);
	set_all(choice, true);
	while (list && *list) {
		size_t length = strcspn(list, ", ");

		if (length && choose_item(choice, list, length, first, error, size) != 0)
			return -1;
		first = first && !length;
		list += length + (list[length] != '\0');
	}
	return 0;
}

bool environ_wants(const struct environ_choice *choice, const char *probe)
{
	for (size_t i = 0; i < PROBES; i++)
		if (!strcmp(probes[i].name, probe))
			return choice->chosen[i];
	return false;
}

static bool is_everybodys(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (st.st_mode & S_IWOTH);
}

/* Writes into path the first of folder and libraries that everybody can write; false: none. */
static bool find_everybodys(const char *dir, char *path, size_t size)
{
	snprintf(path, size, "%s", dir);
	if (is_everybodys(path))
		return true;
	snprintf(path, size, "%s/" START_LIBRARY, dir);
	if (is_everybodys(path))
		return true;
	snprintf(path, size, "%s/" RUNTIME_LIBRARY, dir);
	if (is_everybodys(path))
		return true;
	for (size_t i = 0; i < PROBES; i++) {
		snprintf(path, size, "%s/%s", dir, probes[i].library);
		if (probes[i].library[0] && is_everybodys(path))
			return true;
	}
	return false;
}

void environ_complaint(const struct environ_choice *choice, char *text, size_t size)
{
	const char *bad = strpbrk(choice->lib_dir, ENVIRON_FORBIDDEN);
	char open[1200];

	text[0] = '\0';
	if (!choice->lib_dir[0])
		snprintf(text, size, "there are no probe libraries beside tftop, so that nothing "
			 "can be observed; run 'make' or 'make install' again");
	else if (bad)
		snprintf(text, size, "there is %s in the path '%.300s', which LD_PRELOAD and "
			 "OPENCL_LAYERS do not allow, so that nothing can be observed; move or "
			 "install tftop elsewhere",
			 *bad == ':' || *bad == ';' ? "a colon" : "a space", choice->lib_dir);
	else if (find_everybodys(choice->lib_dir, open, sizeof(open)))
		snprintf(text, size, "every user can write to '%.300s', from which tftop would "
			 "load code into PROGRAM, so that nothing is observed; remove that right "
			 "('chmod o-w')", open);
}

static bool add_late(const struct environ_choice *choice, const char *seen, const char *library,
		     char *buffer, size_t size, size_t *used)
{
	char path[1200];
	int length;

	snprintf(path, sizeof(path), "%s/%s", choice->lib_dir, library);
	if (!attach_can_come_late(path))
		return true;
	length = snprintf(buffer + *used, size - *used, "%s%s/%s", *used ? " " : "",
			  seen ? seen : choice->lib_dir, library);
	if (length < 0 || (size_t)length >= size - *used)
		return false;
	*used += (size_t)length;
	return true;
}

bool environ_each_library(const struct environ_choice *choice,
			  bool (*fn)(void *arg, const char *name), void *arg)
{
	bool good = fn(arg, START_LIBRARY) && fn(arg, RUNTIME_LIBRARY);

	for (size_t i = 0; i < PROBES && good; i++)
		if (choice->chosen[i] && probes[i].library[0] &&
		    library_there(choice->lib_dir, probes[i].library))
			good = fn(arg, probes[i].library);
	return good;
}

size_t environ_libraries(const struct environ_choice *choice, const char *seen, char *buffer,
			 size_t size)
{
	size_t used = 0;

	buffer[0] = '\0';
	if (!add_late(choice, seen, START_LIBRARY, buffer, size, &used))
		return 0;
	for (size_t i = 0; i < PROBES; i++)
		if (choice->chosen[i] && probes[i].library[0] &&
		    !add_late(choice, seen, probes[i].library, buffer, size, &used))
			return 0;
	return used;
}

/* ---- lines ---- */

struct environ_text {
	const struct environ_options *options;
	char *buffer;
	size_t used, size;
	bool full;
};

__attribute__((format(printf, 2, 3)))
static void add(struct environ_text *l, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(l->buffer + l->used, l->size - l->used, format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= l->size - l->used)
		l->full = true;
	else
		l->used += (size_t)length + 1;
}

/* Whether the entry belongs to an outer tftop, which this one replaces. */
static bool is_ours(const char *entry, size_t length)
{
	const char *at = entry;

	for (size_t i = 0; i < length; i++)
		if (entry[i] == '/')
			at = entry + i + 1;
	return (size_t)(entry + length - at) > strlen(OUR_PREFIX) &&
	       strncmp(at, OUR_PREFIX, strlen(OUR_PREFIX)) == 0;
}

/* The user's own entries of a list, malloc'ed; "": none. */
static char *own_entries(const char *value, const char *separators)
{
	char *kept = malloc(strlen(value ? value : "") + 1);
	size_t used = 0;

	if (!kept)
		return NULL;
	while (value && *value) {
		size_t length = strcspn(value, separators);

		if (length && !is_ours(value, length)) {
			if (used)
				kept[used++] = ':';
			memcpy(kept + used, value, length);
			used += length;
		}
		value += length + (value[length] != '\0');
	}
	kept[used] = '\0';
	return kept;
}

static const char *own_value(const struct environ_text *l, const char *name)
{
	return l->options->own ? l->options->own(l->options->arg, name) : getenv(name);
}

static void add_list(struct environ_text *l, const char *name, const char *ours,
		     const char *separators, bool first)
{
	char *own = own_entries(own_value(l, name), separators);

	if (!own || !*own)
		add(l, "%s=%s", name, ours);
	else if (first)
		add(l, "%s=%s:%s", name, ours, own);
	else
		add(l, "%s=%s:%s", name, own, ours);
	free(own);
}

static void add_probe(struct environ_text *l, const struct probe_row *row, const char *dir)
{
	char path[1200];
	const char *own = own_value(l, row->variable);

	snprintf(path, sizeof(path), "%s/%s", dir, row->library);
	if (row->way == WAY_PART) {
		add(l, "%s=1", row->variable);
		return;
	}
	if (row->way == WAY_LAYER) {
		add_list(l, row->variable, path, ":", true);
		return;
	}
	add(l, "%s=%s", row->variable, path);
	if (row->way == WAY_PATH && own && *own && !is_ours(own, strlen(own)))
		add(l, CHAIN_PREFIX "%s=%s", row->variable, own);
}

size_t environ_lines(const struct environ_choice *choice,
		     const struct environ_options *options, char *buffer, size_t size)
{
	struct environ_text l = { .options = options, .buffer = buffer, .size = size };
	const char *seen = options->lib_dir ? options->lib_dir : choice->lib_dir;
	char start[1200], complaint[512];

	environ_complaint(choice, complaint, sizeof(complaint));
	if (complaint[0])
		return 0;
	add(&l, TFT_CONTROL_ENV "=%s/control", options->dir);
	add(&l, "LTTNG_HOME=%s", options->dir);
	if (options->lossless)
		add(&l, "LTTNG_UST_ALLOW_BLOCKING=1");
	snprintf(start, sizeof(start), "%s/" START_LIBRARY, seen);
	/* Last: a sanitizer's or an allocator's library insists on being first. */
	if (options->preload && !choice->passing)
		add_list(&l, "LD_PRELOAD", start, ": ", false);
	/* gcc's address sanitizer refuses to run if anything was loaded before it. */
	if (options->preload && !choice->passing)
		add_list(&l, "ASAN_OPTIONS", ASAN_ORDER, ":", true);
	for (size_t i = 0; i < PROBES; i++)
		if (choice->chosen[i] && library_there(choice->lib_dir, probes[i].library))
			add_probe(&l, &probes[i], seen);
		else if (probes[i].way >= WAY_OWN && own_value(&l, probes[i].variable))
			/* set by a tftop that this one runs under */
			add(&l, "%s=", probes[i].variable);
	return l.full ? 0 : l.used;
}
