/* SPDX-License-Identifier: MIT */
/*
 * Which function of native code an instruction belongs to: the symbols in the library's file name
 * it. And by which rules its caller is found (unwind.h). Both are remembered by instruction, as
 * callers come again.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probes/host/native.h"
#include "probes/imports/elf_index.h"
#include "probes/runtime/internal.h"

#define PLACES 1024u			/* remembered instructions; a power of two */
#define PLACE_WAYS 4u			/* each at one of so many places in a row; likewise */
#define KNOWN 1024u			/* remembered functions */
#define MODULES 64u			/* remembered libraries */
#define PARTS 32u			/* remembered parts of Python without a name */
#define ROWS 64u			/* remembered rows of tables */
#define FILES 32u			/* of which the functions are sorted */
#define NAME_BYTES 2048

struct known_function {
	uintptr_t start, end;
	uint32_t function, library, name;
	bool loop, mutex, begins;
	bool nowhere;			/* code in no library: a gap between them */
};

/* The functions of a library. */
struct known_file {
	uintptr_t base, unwind;
	struct elf_index index;
};

/* A segment of a library, or a gap between libraries. */
struct known_module {
	bool there;			/* it is a library's */
	struct address_module of;	/* its unwind also tells libraries apart; 0: none */
};

/* Code of Python's library that has no name. */
struct loop_part {
	uint64_t start;
	bool of_loop;
};

static struct {
	struct rt_modules_watch modules;
	bool valid;			/* what follows is this process's */
	struct native_place places[PLACES];
	uint32_t placed;		/* so many were remembered */
	struct known_function known[KNOWN];
	struct known_module module[MODULES];
	struct known_file file[FILES];
	/* of the instructions [row_from, row_to) */
	uintptr_t row_from[ROWS], row_to[ROWS];
	struct unwind_row row[ROWS];
	/* how many there ever were; the oldest is overwritten */
	uint32_t n_known, n_modules, n_rows, n_files;
	uint32_t round;			/* places of earlier ones are not valid */
	bool compared, differ;		/* whether libraries came, asked at most once a look */
	uintptr_t python, libc, threads;	/* address_module.unwind; 0: unknown */
	bool has_loop;
	struct unwind_row loop;		/* of an instruction in Python's loop */
	struct loop_part part[PARTS];	/* a ring */
	uint32_t n_parts;
	int64_t once_ns;		/* see host_native_once_ns() */
} functions;

/* ---- libraries ---- */

/* What was a gap between libraries is none any more where one was loaded since. */
static bool gaps_hold(void)
{
	if (!functions.compared)
		functions.differ = rt_modules_differ(&functions.modules);
	functions.compared = true;
	return !functions.differ;
}

/* NULL: it cannot be said at this moment. */
static const struct known_module *module_at(uintptr_t ip)
{
	uint32_t n = functions.n_modules < MODULES ? functions.n_modules : MODULES;
	struct known_module *module;

	for (uint32_t i = 0; i < n; i++) {
		module = &functions.module[i];
		if (ip >= module->of.start && ip < module->of.end && (module->there || gaps_hold()))
			return module;
	}
	module = &functions.module[functions.n_modules % MODULES];
	/* all zero, because readlink() writes no NUL */
	*module = (struct known_module) { .there = false };
	if (!rt_module_of((const void *)ip, &module->of, &module->there) ||
	    (module->there && !module->of.path[0] &&
	     readlink("/proc/self/exe", module->of.path, sizeof(module->of.path) - 1) < 0)) {
		module->of.end = 0;
		return NULL;
	}
	functions.n_modules++;
	return module;
}

static uintptr_t unwind_of(const void *function)
{
	const struct known_module *module = function ? module_at((uintptr_t)function) : NULL;

	return module ? module->of.unwind : 0;
}

/* At first, if libraries came, and in a child, whose parent may have been in the middle of this. */
static void native_functions_forget(void)
{
	size_t bytes = 0;
	uintptr_t loop;

	functions.valid = true;
	functions.n_known = functions.n_modules = functions.n_rows = 0;
	functions.round++;
	for (uint32_t i = 0; i < FILES; i++)
		elf_index_release(&functions.file[i].index);
	functions.n_files = functions.n_parts = 0;
	rt_modules_seen(&functions.modules);
	functions.libc = unwind_of((const void *)getpid);
	functions.threads = unwind_of((const void *)pthread_mutex_lock);
	functions.python = unwind_of(rt_symbol("Py_GetVersion", NULL));
	loop = (uintptr_t)rt_symbol("_PyEval_EvalFrameDefault", &bytes);
	functions.has_loop = functions.python && loop &&
			     unwind_find(host_read_all, functions.python, loop + bytes / 2,
					 &functions.loop);
}

void native_functions_renew(int64_t now_ns)
{
	functions.compared = false;
	if (rt_modules_came(&functions.modules, now_ns))
		native_functions_forget();
}

void host_native_fork_child(void)
{
	functions.valid = false;
}

void native_functions_begin(void)
{
	if (functions.valid)
		native_functions_renew(rt_now_ns());
	else
		native_functions_forget();
}

int64_t host_native_once_ns(void)
{
	int64_t ns = functions.once_ns;

	functions.once_ns = 0;
	return ns;
}

/* ---- names ---- */

bool native_is_loaded(const struct elf_file *file, uintptr_t base)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
	struct iovec here, there = { .iov_len = sizeof(*header) };
	Elf64_Ehdr loaded;

	if (!elf_file_has(file, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr)) ||
	    header->e_phoff % 8)
		return false;
	for (int i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *p = (const Elf64_Phdr *)(file->bytes + header->e_phoff) + i;

		if (p->p_type != PT_LOAD || p->p_offset)
			continue;
		here = (struct iovec) { &loaded, sizeof(loaded) };
		there.iov_base = (void *)(base + p->p_vaddr);
		return host_read_all(&here, &there, 1) && !memcmp(&loaded, header, sizeof(loaded));
	}
	return false;
}

/* Python's own names: of its loop and of the parts that compilers split off it; of the loop's parts
 * where each instruction of Python is a function of its own (3.14, --with-tail-call-interp). */
static bool is_loop(const char *name)
{
	return rt_begins(name, "_PyEval_EvalFrameDefault") || rt_begins(name, "_TAIL_CALL_");
}

/* The functions of a file that is loaded; NULL: it names none. */
static struct elf_index *index_of(const struct elf_file *file, const struct address_module *module)
{
	uint32_t n = functions.n_files < FILES ? functions.n_files : FILES;
	struct known_file *known;

	for (uint32_t i = 0; i < n; i++)
		if (functions.file[i].base == module->base &&
		    functions.file[i].unwind == module->unwind)
			return &functions.file[i].index;
	known = &functions.file[functions.n_files % FILES];
	elf_index_release(&known->index);
	*known = (struct known_file) { .base = 0 };
	if (!elf_index_make(&known->index, file))
		return NULL;
	known->base = module->base;
	known->unwind = module->unwind;
	functions.n_files++;
	return &known->index;
}

/* "dgemm_ in libopenblas.so.0"; only the library, if its function has no name. Fills in the range
 * of addresses for which this is so. */
static void host_function_name(const struct address_module *module, uintptr_t at,
			       struct known_function *known)
{
	const char *slash = strrchr(module->path, '/'), *library = slash ? slash + 1 : module->path;
	struct elf_function function = { .name = NULL };
	const struct elf_index *index;
	char name[NAME_BYTES], text[NAME_BYTES + 110];
	bool mapped;
	struct elf_file file;

	if (!*library)
		return;
	mapped = elf_file_map(&file, module->path);
	snprintf(text, sizeof(text), "%.100s", library);
	if (mapped && native_is_loaded(&file, module->base) &&
	    (index = index_of(&file, module)) &&
	    elf_index_function(index, &file, at - module->base, &function) &&
	    function.end < UINT64_MAX) {
		known->start = module->base + function.start;
		known->end = module->base + function.end;
	}
	if (function.name) {
		snprintf(name, sizeof(name), "%.*s",
			 (int)(function.length < NAME_BYTES ? function.length : NAME_BYTES - 1),
			 function.name);
		snprintf(text, sizeof(text), "%s in %.100s", name, library);
		known->loop = functions.python && module->unwind == functions.python &&
			      is_loop(name);
		known->mutex = functions.threads && module->unwind == functions.threads &&
			       !strcmp(name + strspn(name, "_"), "pthread_mutex_lock");
		known->begins = !strcmp(name, "_start");
		known->function = rt_name(TFT_NAME_SOURCE, name);
	}
	known->library = rt_name(TFT_NAME_SOURCE, module->path);
	known->name = rt_name(TFT_NAME_OTHER, text);
	if (mapped)
		elf_file_unmap(&file);
}

static const struct known_function *function_at(uintptr_t ip, int64_t until_ns)
{
	uint32_t n = functions.n_known < KNOWN ? functions.n_known : KNOWN;
	const struct known_module *module;
	struct known_function *known;
	int64_t begin_ns;

	for (uint32_t i = 0; i < n; i++) {
		known = &functions.known[i];
		if (ip >= known->start && ip < known->end && (!known->nowhere || gaps_hold()))
			return known;
	}
	module = rt_now_ns() <= until_ns ? module_at(ip) : NULL;
	if (!module)
		return NULL;
	begin_ns = rt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	known = &functions.known[functions.n_known++ % KNOWN];
	*known = (struct known_function) { .start = ip, .end = ip + 1, .nowhere = !module->there };
	if (module->there) {
		host_function_name(&module->of, ip, known);
	} else {
		known->start = module->of.start;
		known->end = module->of.end;
		known->library = rt_name(TFT_NAME_SOURCE, "generated code");
		known->name = rt_name(TFT_NAME_OTHER, "generated code");
	}
	functions.once_ns += rt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return known;
}

/* ---- instructions ---- */

static bool same_rule(const struct unwind_rule *x, const struct unwind_rule *y)
{
	return x->how == y->how && x->value == y->value;
}

/* Whether the frame has the form of one of Python's loop. */
static bool is_like_loop(const struct unwind_row *row)
{
	const struct unwind_row *loop = &functions.loop;

	for (int i = 0; i < UNWIND_REGISTERS; i++)
		if (!same_rule(&row->of[i], &loop->of[i]))
			return false;
	return row->frame_register == loop->frame_register && same_rule(&row->frame, &loop->frame);
}

static void place_measure(struct native_place *place)
{
	if (place->has_row && !place->measured)
		unwind_measure(host_read_all, place->ip, &place->row);
	place->measured = true;
}

/* Whether a compiler split this off Python's loop: the loop jumps there. */
static bool is_of_loop(const struct unwind_row *row)
{
	uint32_t n = functions.n_parts < PARTS ? functions.n_parts : PARTS;
	struct loop_part *part;

	for (uint32_t i = 0; i < n; i++)
		if (functions.part[i].start == row->start)
			return functions.part[i].of_loop;
	part = &functions.part[functions.n_parts++ % PARTS];
	part->start = row->start;
	part->of_loop = unwind_jumps_into(host_read_all, functions.loop.start, functions.loop.end,
					  row);
	return part->of_loop;
}

/* A function of Python without a name may be a part of the loop, unless its frame has another form
 * or it begins with a frame of its own. */
static void place_tell_loop(struct native_place *place)
{
	if (!place->python || place->function)
		return;
	place->doubtful = !functions.has_loop || !place->has_row;
	if (place->doubtful || !is_like_loop(&place->row))
		return;
	place_measure(place);
	if (place->row.below)
		return;
	place->loop = is_of_loop(&place->row);
	place->doubtful = !place->loop;
}

/* As unwind_find(). */
static bool native_row_at(uintptr_t ip, uintptr_t unwind, struct unwind_row *row)
{
	uint32_t n = functions.n_rows < ROWS ? functions.n_rows : ROWS;

	for (uint32_t i = 0; i < n; i++)
		if (ip >= functions.row_from[i] && ip < functions.row_to[i]) {
			*row = functions.row[i];
			return true;
		}
	if (!unwind_find(host_read_all, unwind, ip, row))
		return false;
	n = functions.n_rows++ % ROWS;
	functions.row_from[n] = row->from;
	functions.row_to[n] = row->to;
	functions.row[n] = *row;
	return true;
}

/* false: nothing is known of the instruction's function. */
static bool place_learn(struct native_place *place, uintptr_t ip, int64_t until_ns)
{
	const struct known_function *function = function_at(ip, until_ns);
	const struct known_module *module = module_at(ip);

	if (!function || !module)
		return false;
	*place = (struct native_place) {
		.ip = ip, .round = functions.round, .function = function->function,
		.library = function->library, .name = function->name,
		.loop = function->loop, .mutex = function->mutex, .begins = function->begins,
		.python = module->of.unwind && module->of.unwind == functions.python,
		.libc = module->of.unwind && module->of.unwind == functions.libc,
	};
	place->has_row = module->of.unwind && native_row_at(ip, module->of.unwind, &place->row);
	place_tell_loop(place);
	return true;
}

const struct native_place *native_place_at(uintptr_t ip, int64_t until_ns, bool measured)
{
	struct native_place *places = &functions.places[(ip ^ ip >> 10) & (PLACES - PLACE_WAYS)];
	struct native_place *place = NULL;

	for (uint32_t i = 0; i < PLACE_WAYS && !place; i++)
		if (places[i].ip == ip && places[i].round == functions.round)
			place = &places[i];
	if (!place) {
		place = &places[functions.placed++ & (PLACE_WAYS - 1)];
		if (!place_learn(place, ip, until_ns))
			return NULL;
	}
	if (measured)
		place_measure(place);
	return place;
}
