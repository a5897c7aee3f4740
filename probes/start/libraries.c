/* SPDX-License-Identifier: MIT */
/* See libraries.h. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probes/blas/symbols.h"
#include "probes/imports/imports.h"
#include "probes/omp/symbols.h"
#include "probes/start/internal.h"
#include "probes/start/late.h"
#include "probes/start/libraries.h"

#define START_HIDDEN __attribute__((visibility("hidden")))
#define PATH_BYTES 4096
#define KNOWN_MAX 4096
#define WAIT_MS 2000		/* how long to wait for another thread that is looking */
#define TRIES 8			/* how often to try while others open libraries */

/* ---- the program's dlsym() ---- */

/* It continues by a jump, because dlsym() checks who has called it, unless a probe has something
 * else for the program. */
#if defined(__x86_64__)
__asm__(
	"	.pushsection .text\n"
	"	.globl tft_start_dlsym\n"
	"	.hidden tft_start_dlsym\n"
	"	.type tft_start_dlsym, %function\n"
	"tft_start_dlsym:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	push %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call tft_start_found\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	test %rax, %rax\n"
	"	jnz 1f\n"
	"	jmp *tft_start_real_dlsym(%rip)\n"
	"1:	ret\n"
	"	.cfi_endproc\n"
	"	.size tft_start_dlsym, . - tft_start_dlsym\n"
	"	.popsection\n"
);
#define HAVE_DLSYM 1
#elif defined(__aarch64__)
__asm__(
	"	.pushsection .text\n"
	"	.globl tft_start_dlsym\n"
	"	.hidden tft_start_dlsym\n"
	"	.type tft_start_dlsym, %function\n"
	"tft_start_dlsym:\n"
	"	.cfi_startproc\n"
	"	hint #34\n"	/* bti c */
	"	stp x29, x30, [sp, #-32]!\n"
	"	.cfi_def_cfa_offset 32\n"
	"	.cfi_offset 29, -32\n"
	"	.cfi_offset 30, -24\n"
	"	stp x0, x1, [sp, #16]\n"
	"	bl tft_start_found\n"
	"	mov x16, x0\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	.cfi_def_cfa_offset 0\n"
	"	cbz x16, 1f\n"
	"	mov x0, x16\n"
	"	ret\n"
	"1:	adrp x16, tft_start_real_dlsym\n"
	"	ldr x16, [x16, :lo12:tft_start_real_dlsym]\n"
	"	br x16\n"
	"	.cfi_endproc\n"
	"	.size tft_start_dlsym, . - tft_start_dlsym\n"
	"	.popsection\n"
);
#define HAVE_DLSYM 1
#endif

#ifdef HAVE_DLSYM

extern char tft_start_dlsym[];
void tft_start_look(void) START_HIDDEN;
__attribute__((used)) static void *tft_start_found(void *handle, const char *name);
void *tft_start_real_dlsym START_HIDDEN;

/* ---- probes and what they look for ---- */

static struct user {
	/* variable that names the probe; function that it exports */
	const char *variable, *entry;
	bool (*wants)(const char *name);
	char path[PATH_BYTES];		/* path of the probe; "": it was not chosen */
	bool wanted, asked;
	tft_import_take *take;
} users[] = {
	{ TFT_BLAS_ENV, TFT_BLAS_ENTRY, blas_is_name, "", false, false, NULL },
	{ TFT_OMP_ENV, TFT_OMP_ENTRY, omp_is_name, "", false, false, NULL },
};

#define USERS (sizeof(users) / sizeof(users[0]))

/* A probe that is there already, and that also answers the program's dlsym(). */
static tft_import_take *joined;

/* ---- libraries ---- */

static uintptr_t known[KNOWN_MAX];	/* tables of the libraries that are known */
static int n_known;
static unsigned long long adds, subs;	/* the loader's counts when these were all */

struct counts {
	unsigned long long adds, subs;
};

static int count(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct counts *c = arg;

	(void)size;
	c->adds = info->dlpi_adds;
	c->subs = info->dlpi_subs;
	return 1;
}

static bool is_known(const struct imports_library *l)
{
	for (int i = 0; i < n_known; i++)
		if (known[i] == (uintptr_t)l->symbols)
			return true;
	return false;
}

static bool late;	/* the program was not started with this library */

static bool begins(const char *path, const char *word)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, word, strlen(word));
}

static bool is_lttngs(const char *path)
{
	return begins(path, "liblttng-ust");
}

/* Whether a library is new; probes, and the libraries that they consist of, are left out. */
static bool is_new(const struct dl_phdr_info *info, struct imports_library *l)
{
	return imports_library(info, l) && !begins(l->path, "libtftop-") &&
	       !is_lttngs(l->path) && !is_known(l);
}

static void note(const struct imports_library *l, const struct imports_place *place, void *arg)
{
	(void)l;
	(void)arg;
	for (size_t i = 0; i < USERS; i++)
		if (users[i].path[0] && !users[i].asked && !users[i].wanted)
			users[i].wanted = users[i].wants(place->name);
}

static int note_new(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct imports_library l;

	(void)size;
	if (is_new(info, &l))
		imports_walk(&l, note, arg);
	return 0;
}

static void change_dlsym(const struct imports_library *l, const struct imports_place *place)
{
	if (place->unbound || *place->at == tft_start_real_dlsym)
		imports_put(l, place->at, tft_start_dlsym);
}

/* The replacement that is the same for all callers. */
static void *late_jump(const struct tft_import *import)
{
	void *to = start_libc_jump(import);

	return to ? to : start_framework_jump(import);
}

static void start_change_import(const struct imports_library *l, const struct imports_place *place,
				void *arg)
{
	struct tft_import import = { .name = place->name, .now = *place->at, .at = place->at,
				     .unbound = place->unbound, .library = l->path };
	void *to = NULL;

	(void)arg;
	if (!strcmp(place->name, "dlsym")) {
		change_dlsym(l, place);
		return;
	}
	if (place->unbound && !IMPORTS_UNBOUND_CALLS)
		return;
	to = late ? late_jump(&import) : NULL;
	for (size_t i = 0; i < USERS && !to; i++)
		if (users[i].take && users[i].wants(place->name))
			to = users[i].take(&import);
	if (joined && !to)
		to = joined(&import);
	if (to)
		imports_put(l, place->at, to);
}

/* Changes nothing if the loader has loaded something since `arg`. */
static int change_new(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct counts *all = arg;
	struct imports_library l;

	(void)size;
	if (info->dlpi_adds != all->adds || info->dlpi_subs != all->subs)
		return 1;
	if (!is_new(info, &l))
		return 0;
	imports_walk(&l, start_change_import, NULL);
	if (n_known < KNOWN_MAX)
		known[n_known++] = (uintptr_t)l.symbols;
	return 0;
}

static void load(struct user *u)
{
	void *library = dlopen(u->path, RTLD_NOW | RTLD_LOCAL);
	tft_imports_start *start = library ?
		(tft_imports_start *)dlsym(library, u->entry) : NULL;

	if (start)
		u->take = start(tft_start_look);
}

/*
 * A library is visible from the moment when it is mapped. Its places do not hold addresses yet
 * then, and the thread that opens it is about to write its tables, so their pages must not be made
 * read-only. That thread holds the loader's lock until the library's constructors have run;
 * dladdr() waits for the lock, as the program's own dlsym() does.
 */
static struct counts count_relocated(void)
{
	struct counts all = { 0, 0 };
	Dl_info info;

	dl_iterate_phdr(count, &all);
	dladdr((void *)tft_start_look, &info);
	return all;
}

/* false: libraries have been loaded in addition to those that were counted. */
static bool look_at_new(struct counts now)
{
	bool open = false;

	if (now.subs != subs)
		n_known = 0;	/* another library may be where a known one was */
	for (size_t i = 0; i < USERS; i++)
		open = open || (users[i].path[0] && !users[i].asked);
	if (open)
		dl_iterate_phdr(note_new, NULL);
	for (size_t i = 0; i < USERS; i++)
		if (users[i].wanted && !users[i].asked) {
			users[i].asked = true;
			load(&users[i]);
			now = count_relocated();
		}
	if (dl_iterate_phdr(change_new, &now))
		return false;
	__atomic_store_n(&adds, now.adds, __ATOMIC_RELAXED);
	__atomic_store_n(&subs, now.subs, __ATOMIC_RELAXED);
	return true;
}

/* ---- one thread at a time ---- */

/* The thread that is looking, and its process, because a child of a fork has none of its
 * parent's. */
static uint64_t looking;

/* false: it is this thread, or it takes too long. */
static bool start_begin_look(void)
{
	struct timespec ms = { 0, 1000000 };
	uint64_t process = (uint64_t)(uint32_t)syscall(SYS_getpid) << 32;
	uint64_t self = process | (uint32_t)syscall(SYS_gettid), other = 0;

	for (int i = 0; i < WAIT_MS; i++) {
		if (__atomic_compare_exchange_n(&looking, &other, self, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
		if (other == self)
			return false;
		if (other >> 32 == process >> 32) {
			nanosleep(&ms, NULL);
			other = 0;
		}
	}
	return false;
}

static bool active;

void tft_start_look(void)
{
	int saved = errno, cancel;
	struct counts now = { 0, 0 };
	bool all = false;

	if (!__atomic_load_n(&active, __ATOMIC_RELAXED))
		return;
	dl_iterate_phdr(count, &now);
	if (now.adds == __atomic_load_n(&adds, __ATOMIC_RELAXED) &&
	    now.subs == __atomic_load_n(&subs, __ATOMIC_RELAXED))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	for (int i = 0; i < TRIES && !all; i++) {
		/* before it is this thread's turn, because the thread with the loader's lock may
		 * want it, too */
		now = count_relocated();
		if (!start_begin_look())
			break;
		all = look_at_new(now);
		__atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
	}
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

/*
 * What the program's dlsym() returns instead of its own answer; NULL: its own. Only a look-up in a
 * library that the program has opened is answered, because its own answer does not depend on who
 * asks.
 */
__attribute__((used)) static void *tft_start_found(void *handle, const char *name)
{
	struct tft_import import = { .name = name, .library = "" };
	int saved = errno;
	void *to = NULL;

	tft_start_look();
	if (joined && handle != RTLD_DEFAULT && handle != RTLD_NEXT && name &&
	    !strncmp(name, TFT_IMPORTS_JOINED, strlen(TFT_IMPORTS_JOINED))) {
		import.now = dlsym(handle, name);
		to = import.now ? joined(&import) : NULL;
	}
	errno = saved;
	return to;
}

__attribute__((visibility("default"))) tft_imports_join tftop_imports_join;
void (*tftop_imports_join(tft_import_take *take))(void)
{
	if (!start_begin_look())
		return NULL;
	joined = take;
	n_known = 0;
	adds = subs = 0;
	if (!tft_start_real_dlsym)
		tft_start_real_dlsym = dlsym(RTLD_DEFAULT, "dlsym");
	active = true;
	__atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
	tft_start_look();
	return tft_start_look;
}

/* ---- attaching ---- */

static void start_import_again(const struct imports_library *l, const struct imports_place *place,
			       void *arg)
{
	struct tft_import import = { .name = place->name, .now = *place->at, .at = place->at,
				     .unbound = place->unbound, .library = l->path };
	void *to;

	(void)arg;
	if (is_lttngs(l->path))
		to = start_close_jump(&import);
	else
		to = late_jump(&import);
	if (to)
		imports_put(l, place->at, to);
}

static int again_each(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct imports_library l;

	(void)size;
	if (imports_library(info, &l) && (is_known(&l) || is_lttngs(l.path)))
		imports_walk(&l, start_import_again, arg);
	return 0;
}

void start_libraries_again(void)
{
	dl_iterate_phdr(again_each, NULL);
}

void start_libraries_late(void)
{
	late = true;
	active = true;
	tft_start_real_dlsym = dlsym(RTLD_DEFAULT, "dlsym");
	tft_start_look();
}

__attribute__((constructor))
static void start_find_libraries(void)
{
	bool wait = start_is_late();

	for (size_t i = 0; i < USERS; i++) {
		const char *path = getenv(users[i].variable);
		size_t length = path ? strlen(path) : 0;

		/* a copy, because the program may overwrite its environment */
		if (length && length < PATH_BYTES) {
			memcpy(users[i].path, path, length + 1);
			active = true;
		}
	}
	if (wait)
		active = false;	/* tftop_probe_attach() says when to start */
	if (!active)
		return;
	tft_start_real_dlsym = dlsym(RTLD_DEFAULT, "dlsym");
	tft_start_look();
}

#endif
