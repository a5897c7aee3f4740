/* SPDX-License-Identifier: MIT */
/*
 * Frameworks' functions as jumps through slots, and where the slots lead before a probe is loaded.
 * See interpose.h.
 *
 * The resolver works like the dynamic linker's own for lazy binding: it preserves every register
 * that may hold an argument, whatever the type of the function. Python loads a framework's
 * libraries outside of the global scope, so RTLD_NEXT does not find them: the calling library is
 * searched, then every library that has the framework's word in its path.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probes/start/internal.h"
#include "probes/start/interpose.h"
#include "probes/start/late.h"
#include "probes/start/originals.h"
#include "probes/jax/symbols.h"
#include "probes/pytorch/symbols.h"
#include "probes/tensorflow/symbols.h"

#define START_API __attribute__((visibility("default")))
#define START_HIDDEN __attribute__((visibility("hidden")))
#define PATH_BYTES 4096
#define LOAD_WAIT_MS 2000	/* how long to wait for another thread that loads the probe */

#if defined(__x86_64__)

#define RESOLVE \
	".Ltft_start_resolve:\n" \
	"	.cfi_startproc\n" \
	"	push %rbp\n" \
	"	.cfi_def_cfa_offset 16\n" \
	"	.cfi_offset 6, -16\n" \
	"	mov %rsp, %rbp\n" \
	"	.cfi_def_cfa_register 6\n" \
	"	sub $192, %rsp\n" \
	"	mov %rdi, (%rsp)\n" \
	"	mov %rsi, 8(%rsp)\n" \
	"	mov %rdx, 16(%rsp)\n" \
	"	mov %rcx, 24(%rsp)\n" \
	"	mov %r8, 32(%rsp)\n" \
	"	mov %r9, 40(%rsp)\n" \
	"	mov %rax, 48(%rsp)\n" \
	"	mov %r10, 56(%rsp)\n" \
	"	movaps %xmm0, 64(%rsp)\n" \
	"	movaps %xmm1, 80(%rsp)\n" \
	"	movaps %xmm2, 96(%rsp)\n" \
	"	movaps %xmm3, 112(%rsp)\n" \
	"	movaps %xmm4, 128(%rsp)\n" \
	"	movaps %xmm5, 144(%rsp)\n" \
	"	movaps %xmm6, 160(%rsp)\n" \
	"	movaps %xmm7, 176(%rsp)\n" \
	"	mov %r11, %rdi\n" \
	"	mov 8(%rbp), %rsi\n" \
	"	call tft_start_resolve\n" \
	"	mov %rax, %r11\n" \
	"	mov (%rsp), %rdi\n" \
	"	mov 8(%rsp), %rsi\n" \
	"	mov 16(%rsp), %rdx\n" \
	"	mov 24(%rsp), %rcx\n" \
	"	mov 32(%rsp), %r8\n" \
	"	mov 40(%rsp), %r9\n" \
	"	mov 48(%rsp), %rax\n" \
	"	mov 56(%rsp), %r10\n" \
	"	movaps 64(%rsp), %xmm0\n" \
	"	movaps 80(%rsp), %xmm1\n" \
	"	movaps 96(%rsp), %xmm2\n" \
	"	movaps 112(%rsp), %xmm3\n" \
	"	movaps 128(%rsp), %xmm4\n" \
	"	movaps 144(%rsp), %xmm5\n" \
	"	movaps 160(%rsp), %xmm6\n" \
	"	movaps 176(%rsp), %xmm7\n" \
	"	leave\n" \
	"	.cfi_def_cfa 7, 8\n" \
	"	jmp *%r11\n" \
	"	.cfi_endproc\n"
#define JUMP(symbol) \
	"	endbr64\n" \
	"	jmp *.Lslot_" symbol "(%rip)\n"
#define TO_RESOLVE(symbol) \
	"	lea .Lslot_" symbol "(%rip), %r11\n" \
	"	jmp .Ltft_start_resolve\n"

#elif defined(__aarch64__)

#define RESOLVE \
	".Ltft_start_resolve:\n" \
	"	.cfi_startproc\n" \
	"	stp x29, x30, [sp, #-224]!\n" \
	"	.cfi_def_cfa_offset 224\n" \
	"	.cfi_offset 29, -224\n" \
	"	.cfi_offset 30, -216\n" \
	"	mov x29, sp\n" \
	"	stp x0, x1, [sp, #16]\n" \
	"	stp x2, x3, [sp, #32]\n" \
	"	stp x4, x5, [sp, #48]\n" \
	"	stp x6, x7, [sp, #64]\n" \
	"	str x8, [sp, #80]\n" \
	"	stp q0, q1, [sp, #96]\n" \
	"	stp q2, q3, [sp, #128]\n" \
	"	stp q4, q5, [sp, #160]\n" \
	"	stp q6, q7, [sp, #192]\n" \
	"	mov x0, x16\n" \
	"	mov x1, x30\n" \
	"	bl tft_start_resolve\n" \
	"	mov x16, x0\n" \
	"	ldp x0, x1, [sp, #16]\n" \
	"	ldp x2, x3, [sp, #32]\n" \
	"	ldp x4, x5, [sp, #48]\n" \
	"	ldp x6, x7, [sp, #64]\n" \
	"	ldr x8, [sp, #80]\n" \
	"	ldp q0, q1, [sp, #96]\n" \
	"	ldp q2, q3, [sp, #128]\n" \
	"	ldp q4, q5, [sp, #160]\n" \
	"	ldp q6, q7, [sp, #192]\n" \
	"	ldp x29, x30, [sp], #224\n" \
	"	.cfi_restore 29\n" \
	"	.cfi_restore 30\n" \
	"	.cfi_def_cfa_offset 0\n" \
	"	br x16\n" \
	"	.cfi_endproc\n"
#define JUMP(symbol) \
	"	hint #34\n"	/* bti c */ \
	"	adrp x16, .Lslot_" symbol "\n" \
	"	ldr x16, [x16, :lo12:.Lslot_" symbol "]\n" \
	"	br x16\n"
#define TO_RESOLVE(symbol) \
	"	adrp x16, .Lslot_" symbol "\n" \
	"	add x16, x16, :lo12:.Lslot_" symbol "\n" \
	"	b .Ltft_start_resolve\n"

#endif

#ifdef RESOLVE	/* otherwise: there are no such probes on this machine, as the Makefile says */

#define TRAMPOLINE(id, symbol, flags) \
	"	.globl " symbol "\n" \
	"	.type " symbol ", %function\n" \
	"	.balign 16\n" \
	symbol ":\n" \
	".Lentry_" symbol ":\n" \
	"	.cfi_startproc\n" \
	JUMP(symbol) \
	".Lresolve_" symbol ":\n" \
	TO_RESOLVE(symbol) \
	"	.cfi_endproc\n" \
	"	.size " symbol ", . - " symbol "\n" \
	"	.pushsection .data.tft_start, \"aw\", %progbits\n" \
	".Lslot_" symbol ":\n" \
	"	.quad .Lresolve_" symbol "\n" \
	"	.popsection\n" \
	"	.pushsection .data.rel.ro.tft_start, \"aw\", %progbits\n" \
	"	.quad .Lresolve_" symbol "\n" \
	"	.popsection\n" \
	"	.pushsection .data.rel.ro.tft_entry, \"aw\", %progbits\n" \
	"	.quad .Lentry_" symbol "\n" \
	"	.popsection\n"

#define TABLE(name, section) \
	"	.pushsection " section ", \"aw\", %progbits\n" \
	"	.balign 8\n" \
	"	.globl " name "\n" \
	"	.hidden " name "\n" \
	name ":\n" \
	"	.popsection\n"

/* One statement, so that the slots are in the order of the tables. */
__asm__(
	TABLE("tft_start_slots", ".data.tft_start")
	TABLE("tft_start_resolvers", ".data.rel.ro.tft_start")
	TABLE("tft_start_entries", ".data.rel.ro.tft_entry")
	"	.pushsection .text\n"
	RESOLVE
	TFT_TF_FUNCTIONS(TRAMPOLINE)
	TFT_PYTORCH_FUNCTIONS(TRAMPOLINE)
	TFT_JAX_FUNCTIONS(TRAMPOLINE)
	"	.popsection\n"
);

/* Off, as in TensorFlow's own definitions, until the probe changes it. */
extern int start_level_tsl __asm__(TFT_TF_LEVEL_TSL);
extern int start_level_tf __asm__(TFT_TF_LEVEL_TF);
extern unsigned char start_python_gate __asm__(TFT_TF_PYTHON_GATE);
START_API int start_level_tsl = -1, start_level_tf = -1;
START_API unsigned char start_python_gate = 0;

enum {
	FIRST_TF,
	FIRST_PYTORCH = FIRST_TF + TFT_TF_COUNT,
	FIRST_JAX = FIRST_PYTORCH + TFT_PYTORCH_COUNT,
	FUNCTIONS = FIRST_JAX + TFT_JAX_COUNT
};

static const struct {
	const char *symbol;
	unsigned int flags;
} functions[FUNCTIONS] = {
#define X(id, symbol, flags) { symbol, flags },
	TFT_TF_FUNCTIONS(X)
	TFT_PYTORCH_FUNCTIONS(X)
	TFT_JAX_FUNCTIONS(X)
#undef X
};

extern START_HIDDEN void *tft_start_slots[FUNCTIONS];
/* the initial content of the slots */
extern START_HIDDEN void *const tft_start_resolvers[FUNCTIONS];
extern START_HIDDEN void *const tft_start_entries[FUNCTIONS];	/* the jumps through the slots */
void *tft_start_resolve(void **slot, void *caller) START_HIDDEN;

static void *originals[FUNCTIONS];

enum { FRAMEWORK_TF, FRAMEWORK_PYTORCH, FRAMEWORK_JAX, FRAMEWORKS };
static void *framework_original(int framework, int function);
static void *framework_find(int framework, const char *symbol);

#define PROBE_VIEW(id) \
	static void *original_##id(int function) \
	{ \
		return framework_original(FRAMEWORK_##id, function); \
	} \
	static void *find_##id(const char *symbol) \
	{ \
		return framework_find(FRAMEWORK_##id, symbol); \
	}
PROBE_VIEW(TF)
PROBE_VIEW(PYTORCH)
PROBE_VIEW(JAX)

enum { PROBE_NONE, PROBE_LOADING, PROBE_DONE };

static struct framework {
	struct tft_interposed lib;	/* what the probe sees */
	int first, count;		/* range of its functions */
	const char *word;		/* word that the paths of its libraries contain */
	/* variable that names its probe; function that the probe exports */
	const char *variable, *entry;
	const char *again_entry;	/* another function that it exports; NULL: it needs none */
	char path[PATH_BYTES];		/* path of the probe; "": none was chosen */
	bool asked;
	int state;
	pid_t loader_pid, loader_tid;
	tft_found *found;
	tft_framework_again *again;
} frameworks[FRAMEWORKS] = {
#define FRAMEWORK(id, word, variable, entry, again) \
	[FRAMEWORK_##id] = { { tft_start_slots + FIRST_##id, original_##id, find_##id, false, \
		NULL }, FIRST_##id, TFT_##id##_COUNT, word, variable, entry, again, "", false, \
		PROBE_NONE, 0, 0, NULL, NULL }
	FRAMEWORK(TF, "tensorflow", TFT_TF_ENV, "tft_tensorflow_start", NULL),
	FRAMEWORK(PYTORCH, "torch", TFT_PYTORCH_ENV, "tft_pytorch_start", NULL),
	FRAMEWORK(JAX, "jaxlib", TFT_JAX_ENV, "tft_jax_start", "tft_jax_again"),
#undef FRAMEWORK
};

static struct framework *framework_of(int function)
{
	int i = 0;

	while (i < FRAMEWORKS - 1 && function >= frameworks[i].first + frameworks[i].count)
		i++;
	return &frameworks[i];
}

static void *original_of(int i, const void *caller)
{
	void *address = __atomic_load_n(&originals[i], __ATOMIC_RELAXED);

	if (!address) {
		address = originals_find(framework_of(i)->word, functions[i].symbol, caller);
		__atomic_store_n(&originals[i], address, __ATOMIC_RELAXED);
	}
	return address;
}

/* ---- for the probe ---- */

static void *framework_original(int framework, int function)
{
	int saved = errno;
	void *address = original_of(frameworks[framework].first + function, NULL);

	errno = saved;
	return address;
}

static void *framework_find(int framework, const char *symbol)
{
	int saved = errno;
	void *address = originals_find(frameworks[framework].word, symbol, NULL);

	errno = saved;
	return address;
}

/* ---- loading the probe ---- */

static void load(struct framework *f)
{
	void *library = dlopen(f->path, RTLD_NOW | RTLD_LOCAL);
	tft_framework_start *start = library ?
		(tft_framework_start *)dlsym(library, f->entry) : NULL;

	if (start && f->again_entry)
		f->again = (tft_framework_again *)dlsym(library, f->again_entry);
	if (start)
		__atomic_store_n(&f->found, start(&f->lib), __ATOMIC_RELEASE);
}

/* Another thread is loading it: waits, so that calls made meanwhile are seen, too. */
static void wait_loaded(struct framework *f)
{
	struct timespec ms = { 0, 1000000 };

	if (__atomic_load_n(&f->loader_pid, __ATOMIC_RELAXED) != (pid_t)syscall(SYS_getpid) ||
	    __atomic_load_n(&f->loader_tid, __ATOMIC_RELAXED) == (pid_t)syscall(SYS_gettid))
		return;
	for (int i = 0; i < LOAD_WAIT_MS &&
	     __atomic_load_n(&f->state, __ATOMIC_ACQUIRE) == PROBE_LOADING; i++)
		nanosleep(&ms, NULL);
}

static void ask(struct framework *f)
{
	const char *path = f->asked ? NULL : getenv(f->variable);
	size_t length = path ? strlen(path) : 0;

	/* a copy, because the program may overwrite its environment */
	if (length && length < sizeof(f->path))
		memcpy(f->path, path, length + 1);
	f->asked = true;
}

/* A library that was loaded together with this one may have made calls before. */
__attribute__((constructor)) static void ask_all(void)
{
	for (int i = 0; i < FRAMEWORKS; i++)
		ask(&frameworks[i]);
}

static void start_load_probe(struct framework *f)
{
	int state = PROBE_NONE;

	ask(f);
	if (!f->path[0])
		return;
	if (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) == PROBE_NONE) {
		__atomic_store_n(&f->loader_pid, (pid_t)syscall(SYS_getpid), __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&f->state, &state, PROBE_LOADING, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			__atomic_store_n(&f->loader_tid, (pid_t)syscall(SYS_gettid),
					 __ATOMIC_RELAXED);
			load(f);
			__atomic_store_n(&f->state, PROBE_DONE, __ATOMIC_RELEASE);
			return;
		}
	}
	if (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) == PROBE_LOADING)
		wait_loaded(f);
}

/* ---- frameworks that were loaded before ---- */

/* Whether the framework has been loaded, judged by its own definitions. */
static bool is_there(const struct framework *f)
{
	for (int i = f->first; i < f->first + f->count; i++) {
		void *address = functions[i].flags & (TFT_TRIGGER | TFT_TRIGGER_OWN) ?
				originals_in(f->word, functions[i].symbol) : NULL;

		if (address)
			return true;
	}
	return false;
}

#define PLACES 512u	/* a power of two, over twice as many as there are functions */
_Static_assert(FUNCTIONS < PLACES / 2, "the table is too small");
static short by_name[PLACES];	/* 1 + function; 0: none */

static unsigned int hash_of(const char *name)
{
	unsigned int h = 0;

	while (*name)
		h = h * 31 + (unsigned char)*name++;
	return h ^ h >> 15;
}

static int function_called(const char *name)
{
	unsigned int at = hash_of(name);

	for (; by_name[at % PLACES]; at++)
		if (!strcmp(functions[by_name[at % PLACES] - 1].symbol, name))
			return by_name[at % PLACES] - 1;
	return -1;
}

static void name_all(void)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		unsigned int at = hash_of(functions[i].symbol);

		while (by_name[at % PLACES])
			at++;
		by_name[at % PLACES] = (short)(i + 1);
	}
}

bool start_frameworks_late(tft_replace_code *replace)
{
	bool any = false;

	name_all();
	for (struct framework *f = frameworks; f < frameworks + FRAMEWORKS; f++) {
		ask(f);
		if (!f->path[0])
			continue;
		any = true;
		if (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) == PROBE_NONE && is_there(f)) {
			f->lib.late = true;
			f->lib.replace = replace;
			start_load_probe(f);
		}
	}
	return any;
}

void start_frameworks_again(tft_replace_code *replace)
{
	for (struct framework *f = frameworks; f < frameworks + FRAMEWORKS; f++) {
		if (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) != PROBE_DONE || !f->again)
			continue;
		f->lib.replace = replace;
		f->again();
	}
}

void *start_framework_jump(const struct tft_import *import)
{
	int i = function_called(import->name);

	if (i < 0 || !framework_of(i)->path[0] || import->now == tft_start_entries[i] ||
	    (!import->unbound && !originals_is_in(framework_of(i)->word, import->now)))
		return NULL;
	return tft_start_entries[i];
}

/* ---- the first call ---- */

static void *nothing(void)
{
	return NULL;
}

/* Called from the assembler code above: returns where to continue. */
void *tft_start_resolve(void **slot, void *caller)
{
	int i = (int)(slot - tft_start_slots), saved = errno, cancel;
	void *now = tft_start_resolvers[i], *address;
	struct framework *f = framework_of(i);
	tft_found *found;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	address = original_of(i, caller);
	if (functions[i].flags & TFT_TRIGGER ||
	    (functions[i].flags & TFT_TRIGGER_OWN && originals_is_in(f->word, address)))
		start_load_probe(f);
	found = __atomic_load_n(&f->found, __ATOMIC_ACQUIRE);
	if (address) {
		if (found)
			found(i - f->first);
		/* unless the probe has replaced it */
		if (!__atomic_compare_exchange_n(slot, &now, address, false,
						 __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			address = now;
	}
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return address ? address : (void *)nothing;
}

#endif
