/* SPDX-License-Identifier: MIT */
/*
 * Function calls on a stopped thread, with a way back that works without tftop.
 *
 * tftop writes below the red zone of the thread's stack, from low to high:
 *
 *   rsp at the call -> libc: store rax at `result`      (return address of the call)
 *                      libc: pop rdi; the marker signal
 *                      raise()
 *                      libc's sigreturn trampoline
 *                      a signal frame with all of the thread's state
 *                      result; the text; its vector registers
 *
 * So after the call the thread sends itself a signal that nobody handles. While tftop traces the
 * thread, it stops there, and tftop restores everything with ptrace. Without tftop the signal is
 * ignored, and sigreturn restores everything. The order of all steps below keeps this true at each
 * moment: first the stack, then the registers, then the mask; on the way back mask, vector
 * registers, registers.
 *
 * ptrace is preferred to sigreturn because only then a sleep or poll with a relative time can
 * continue: the kernel forgets how much of it is left at a sigreturn. Hence, if tftop dies within
 * that millisecond, the sleep starts again.
 *
 * There are no single steps, breakpoints or code of tftop: they would outlive a dead tracer, and
 * the next SIGTRAP would kill the program.
 *
 * The layout of signal frames: Linux, arch/x86/include/uapi/asm/sigcontext.h and
 * arch/x86/kernel/fpu/signal.c (check_xstate_in_sigframe).
 */
#include "probes/attach/call.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "model/base/util.h"

#define RED_ZONE 128
/* one below the other on the stack: dlopen(), then dlerror() or the entry */
#define CALLS_MAX 2
#define RAISE_ROOM 1024		/* how much of the stack libc's raise() needs, and some more */
#define FLAGS_CLEARED 0x500ull	/* the flags for direction and trap */
#define UC_FP_XSTATE 1
#define UC_SIGCONTEXT_SS 2
#define UC_STRICT_RESTORE_SS 4
/* flags that sigaltstack(2) refuses, so that the thread's own alternate stack stays */
#define NO_ALTSTACK 0x7f
/* offset of the bytes for software in the legacy area; the features come first */
#define XSTATE_SW 464
#define XSTATE_HEADER 512
#define XSTATE_MAGIC1 0x46505853u
#define XSTATE_MAGIC2 0x46505845u
#define XSTATE_DYNAMIC (1ull << 18)	/* tiles: only threads that use them have room */
#define XSTATE_SMALLEST 576

/* From the kernel's linux/errno.h: what a call that was interrupted leaves in rax. */
#define E_RESTARTSYS 512
#define E_RESTARTNOINTR 513
#define E_RESTARTNOHAND 514
#define E_RESTART_RESTARTBLOCK 516

#define BIT(signal) (1ull << ((signal) - 1))
/* Signals that are not held back: faults of the thread itself, and the signal of glibc's setuid()
 * of all threads, whose caller holds a lock that creating a thread needs. */
#define LET_THROUGH (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | \
		     BIT(SIGSYS) | BIT(33))

static void sleep_ns(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

int tracee_thread(void *(*work)(void *), void *data)
{
	sigset_t all, before;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, work, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_join(thread, NULL);
	return error;
}

/* ---- stopping the thread ---- */

/* Waits for the next stop; *status is as wait() returns it. */
static enum hold next_stop(struct tracee *e, int64_t deadline, int *status)
{
	pid_t pid;

	while ((pid = waitpid(e->tid, status, __WALL | WNOHANG)) == 0) {
		if (monotonic_ns() > deadline)
			return HOLD_LATE;
		sleep_ns(10000);
	}
	if (pid < 0 || !WIFSTOPPED(*status)) {
		e->taken = false;
		return HOLD_GONE;
	}
	e->stopped = true;
	e->pending = *status >> 16 ? 0 : WSTOPSIG(*status);
	return HOLD_DONE;
}

static void go_on(struct tracee *e, int signal)
{
	e->stopped = false;
	ptrace(PTRACE_CONT, e->tid, 0, (void *)(intptr_t)signal);
}

enum hold tracee_take(struct tracee *e, const struct target *t, pid_t tid)
{
	*e = (struct tracee){ .target = t, .tid = tid };
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) != 0)
		return errno == ESRCH ? HOLD_GONE : HOLD_DENIED;
	e->taken = true;
	return HOLD_DONE;
}

enum hold tracee_stop(struct tracee *e, int64_t deadline)
{
	enum hold hold;
	int status;

	e->since_ns = monotonic_ns();
	if (ptrace(PTRACE_INTERRUPT, e->tid, 0, 0) != 0)
		return HOLD_GONE;
	while ((hold = next_stop(e, deadline, &status)) == HOLD_DONE) {
		int signal = WSTOPSIG(status), event = status >> 16;

		if (event == PTRACE_EVENT_STOP && signal == SIGTRAP)
			break;
		if (event)		/* the whole program is being stopped */
			return HOLD_LATE;
		go_on(e, signal);	/* a signal that was on its way */
	}
	if (hold != HOLD_DONE)
		return hold;
	if (ptrace(PTRACE_GETREGS, e->tid, 0, &e->regs) != 0)
		return HOLD_GONE;
	/* a call that only this stop interrupted: the kernel repeats it, unless a handler runs */
	if ((int64_t)e->regs.rax == -EINTR && call_breaks((int64_t)e->regs.orig_rax)) {
		e->regs.rax = (uint64_t)-E_RESTARTNOHAND;
		if (!tracee_change(e))
			return HOLD_GONE;
	}
	return HOLD_DONE;
}

void tracee_continue(struct tracee *e)
{
	go_on(e, 0);
}

bool tracee_change(struct tracee *e)
{
	return ptrace(PTRACE_SETREGS, e->tid, 0, &e->regs) == 0;
}

void tracee_moment(const struct tracee *e, struct moment *m)
{
	const struct user_regs_struct *r = &e->regs;

	*m = (struct moment){
		.call = (int64_t)r->orig_rax,
		.arguments = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 },
		.sp = r->rsp, .pc = r->rip, .thread = r->fs_base,
	};
}

bool tracee_restartable(const struct tracee *e)
{
	struct { uint64_t pointer; uint32_t size, signature, flags, pad; } c;
	struct { uint32_t version, flags; uint64_t start, length, abort; } section;
	uint64_t at;

	/* since Linux 5.13; struct rseq has the section's address at 8 */
	if (ptrace((enum __ptrace_request)0x420f, e->tid, (void *)sizeof(c), &c) <= 0 || !c.pointer)
		return false;
	if (!target_read(e->target, c.pointer + 8, &at, sizeof(at)) || !at)
		return false;
	return !target_read(e->target, at, &section, sizeof(section)) ||
	       e->regs.rip - section.start < section.length;
}

/* ---- the way back ---- */

static bool was_interrupted(const struct user_regs_struct *r)
{
	int64_t rax = (int64_t)r->rax;

	return (int64_t)r->orig_rax >= 0 &&
	       (rax == -E_RESTARTSYS || rax == -E_RESTARTNOINTR || rax == -E_RESTARTNOHAND ||
		rax == -E_RESTART_RESTARTBLOCK);
}

/* A signal that is ignored by default and for which the program has no handler. If it handles all
 * of them: SIGURG, because whoever handles that expects it without a cause. */
static int choose_marker(const struct tracee *e)
{
	static const int signals[] = { SIGURG, SIGWINCH, SIGCHLD };
	char text[64];
	uint64_t caught;

	status_field(e->target->pid, e->tid, "SigCgt", text, sizeof(text));
	caught = strtoull(text, NULL, 16);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!(caught & BIT(signals[i])))
			return signals[i];
	return SIGURG;
}

static bool save_state(struct tracee *e)
{
	struct iovec v = { e->xstate, sizeof(e->xstate) };

	if (ptrace(PTRACE_GETREGSET, e->tid, (void *)NT_X86_XSTATE, &v) != 0 ||
	    v.iov_len < XSTATE_SMALLEST ||
	    ptrace(PTRACE_GETSIGMASK, e->tid, (void *)sizeof(e->mask), &e->mask) != 0)
		return false;
	e->xstate_size = v.iov_len;
	e->marker = choose_marker(e);
	return true;
}

/* Vector registers as in a signal frame; bytes used. */
static size_t lay_xstate(const struct tracee *e, uint8_t *to)
{
	uint64_t features, used;
	uint32_t size = XSTATE_SMALLEST, magic2 = XSTATE_MAGIC2;
	struct { uint32_t magic1, extended_size; uint64_t features; uint32_t size, pad[7]; } sw;

	memcpy(&features, e->xstate + XSTATE_SW, sizeof(features));
	memcpy(&used, e->xstate + XSTATE_HEADER, sizeof(used));
	features &= ~XSTATE_DYNAMIC | used;
	for (unsigned i = 2; i < 63; i++) {
		uint32_t a, b, c, d;

		if ((features >> i & 1) && __get_cpuid_count(0xd, i, &a, &b, &c, &d) &&
		    b + a > size)
			size = b + a;
	}
	if (size > e->xstate_size)
		size = (uint32_t)e->xstate_size;
	memcpy(to, e->xstate, size);
	sw = (__typeof__(sw)){ .magic1 = XSTATE_MAGIC1, .extended_size = size + 4,
			       .features = features, .size = size };
	memcpy(to + XSTATE_SW, &sw, sizeof(sw));
	memcpy(to + size, &magic2, sizeof(magic2));
	return size + sizeof(magic2);
}

/* The number of the system call that the thread waits in. If the call was continued before, the
 * kernel only shows restart_syscall, which is not possible after a sigreturn; then the number is
 * read from the code before the instruction (mov $nr, %eax; syscall). */
static uint64_t call_number(const struct tracee *e)
{
	uint8_t code[5];
	uint32_t nr;

	if (e->regs.orig_rax != SYS_restart_syscall ||
	    !target_read(e->target, e->regs.rip - 7, code, sizeof(code)) || code[0] != 0xb8)
		return e->regs.orig_rax;
	memcpy(&nr, code + 1, sizeof(nr));
	return nr;
}

static void lay_frame(const struct tracee *e, ucontext_t *uc, uint64_t xstate)
{
	const struct user_regs_struct *r = &e->regs;
	greg_t *g = uc->uc_mcontext.gregs;
	bool again = was_interrupted(r);

	uc->uc_flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
	uc->uc_stack.ss_flags = NO_ALTSTACK;
	g[REG_R8] = (greg_t)r->r8, g[REG_R9] = (greg_t)r->r9;
	g[REG_R10] = (greg_t)r->r10, g[REG_R11] = (greg_t)r->r11;
	g[REG_R12] = (greg_t)r->r12, g[REG_R13] = (greg_t)r->r13;
	g[REG_R14] = (greg_t)r->r14, g[REG_R15] = (greg_t)r->r15;
	g[REG_RDI] = (greg_t)r->rdi, g[REG_RSI] = (greg_t)r->rsi;
	g[REG_RBP] = (greg_t)r->rbp, g[REG_RBX] = (greg_t)r->rbx;
	g[REG_RDX] = (greg_t)r->rdx, g[REG_RCX] = (greg_t)r->rcx;
	g[REG_RSP] = (greg_t)r->rsp, g[REG_EFL] = (greg_t)r->eflags;
	/* an interrupted call is repeated: back to its instruction, of two bytes */
	g[REG_RAX] = (greg_t)(again ? call_number(e) : r->rax);
	g[REG_RIP] = (greg_t)(again ? r->rip - 2 : r->rip);
	g[REG_CSGSFS] = (greg_t)((r->cs & 0xffff) | (r->ss & 0xffff) << 48);
	memcpy(&uc->uc_sigmask, &e->mask, sizeof(e->mask));
	uc->uc_mcontext.fpregs = (void *)(uintptr_t)xstate;	/* an address in the target */
}

struct call_area {
	uint64_t sp, result, text;	/* addresses in the target */
};

size_t tracee_room(void)
{
	uint32_t a, size = XSTATE_MAX, c, d;

	if (!__get_cpuid_count(0xd, 0, &a, &size, &c, &d) || size > XSTATE_MAX)
		size = XSTATE_MAX;
	return CALLS_MAX * (RED_ZONE + size + AREA_MAX - XSTATE_MAX) + RAISE_ROOM;
}

/*
 * Where the stack is free: below the red zone. At the marker of an earlier call that is below what
 * raise() uses, so that the way back of that call stays intact until this call's is in use.
 */
static bool free_below(const struct tracee *e, uint64_t *below)
{
	struct user_regs_struct now = e->regs;

	if (e->away && ptrace(PTRACE_GETREGS, e->tid, 0, &now) != 0)
		return false;
	*below = now.rsp - RED_ZONE;
	return true;
}

/* Writes the stack of a call; false: it is not writable, and nothing was changed. */
static bool lay_call_stack(const struct tracee *e, const char *text, struct call_area *area)
{
	const struct way_back *back = &e->target->back;
	_Alignas(64) uint8_t image[AREA_MAX] = { 0 };
	uint64_t *chain = (uint64_t *)(void *)(image + 8), base, xstate_at, below;
	size_t text_size = text ? strlen(text) + 1 : 0, words = 0, used, xstate_size;
	size_t frame = offsetof(ucontext_t, uc_sigmask) + sizeof(e->mask);
	ucontext_t uc = { 0 };

	if (!free_below(e, &below))
		return false;
	chain[words++] = back->store;
	words += (size_t)back->store_words;
	chain[words++] = back->pop_rdi;
	chain[words++] = (uint64_t)e->marker;
	if (words % 2 == 0)
		chain[words++] = back->pop_rdi + 1;	/* ret, for raise's alignment */
	chain[words++] = e->target->raise;
	chain[words++] = back->sigreturn;
	used = 8 + words * 8;
	xstate_at = (used + frame + 8 + text_size + 63) & ~63ull;
	xstate_size = lay_xstate(e, image + xstate_at);
	base = (below - xstate_at - xstate_size) & ~63ull;
	lay_frame(e, &uc, base + xstate_at);
	memcpy(image + used, &uc, frame);
	area->sp = base + 8;
	area->result = base + used + frame;
	area->text = area->result + 8;
	/* a value that neither dlopen() nor an entry returns */
	memset(image + used + frame, 0xff, 8);
	memcpy(image + used + frame + 8, text ? text : "", text_size);
	return target_write(e->target, base, image, xstate_at + xstate_size);
}

/* ---- the call ---- */

/* Waits for the marker. Other signals are the program's. */
static enum hold wait_marker(struct tracee *e, const struct call_area *area, int64_t deadline,
			     uint64_t *result)
{
	enum hold hold;
	int status;

	for (;;) {
		siginfo_t info;
		int signal;

		hold = next_stop(e, deadline, &status);
		if (hold != HOLD_DONE)
			return hold;
		signal = WSTOPSIG(status);
		if (status >> 16) {	/* a stop of the program: it waits for our thread too */
			go_on(e, 0);
			continue;
		}
		if (signal == e->marker && ptrace(PTRACE_GETSIGINFO, e->tid, 0, &info) == 0 &&
		    info.si_code == SI_TKILL &&
		    target_read(e->target, area->result, result, sizeof(*result)) &&
		    *result != UINT64_MAX)
			break;
		/* no handler exists for the marker, so a marker signal from elsewhere has no
		 * meaning */
		go_on(e, signal == e->marker ? 0 : signal);
	}
	e->returned = true;
	return HOLD_DONE;
}

enum hold tracee_call(struct tracee *e, uint64_t function, const char *text, uint64_t second,
		      int64_t deadline, uint64_t *result)
{
	struct user_regs_struct r = e->regs;
	uint64_t mask;
	struct call_area area;

	if (!e->away && !save_state(e))
		return HOLD_DENIED;
	if (!lay_call_stack(e, text, &area))
		return HOLD_DENIED;
	r.rip = function;
	r.rsp = area.sp;
	r.rdi = text ? area.text : 0;
	r.rsi = second;
	r.rbx = area.result - (uint64_t)e->target->back.store_offset;
	r.rax = 0;
	r.orig_rax = UINT64_MAX;	/* or the kernel would make the old call again */
	r.eflags &= ~FLAGS_CLEARED;
	if (ptrace(PTRACE_SETREGS, e->tid, 0, &r) != 0)
		return HOLD_DENIED;
	e->away = true;
	e->returned = false;
	mask = (e->mask | ~LET_THROUGH) & ~BIT(e->marker);
	ptrace(PTRACE_SETSIGMASK, e->tid, (void *)sizeof(mask), &mask);
	go_on(e, 0);
	return wait_marker(e, &area, deadline, result);
}

void tracee_release(struct tracee *e)
{
	struct iovec v = { e->xstate, e->xstate_size };
	int status;

	if (!e->taken)
		return;
	/* it runs: only a stopped thread can be detached */
	if (!e->stopped && (ptrace(PTRACE_INTERRUPT, e->tid, 0, 0) != 0 ||
			    next_stop(e, monotonic_ns() + 50000000, &status) != HOLD_DONE))
		return;		/* the end of this tracing thread releases it */
	if (e->away && e->returned) {
		e->pending = 0;
		ptrace(PTRACE_SETSIGMASK, e->tid, (void *)sizeof(e->mask), &e->mask);
		ptrace(PTRACE_SETREGSET, e->tid, (void *)NT_X86_XSTATE, &v);
		ptrace(PTRACE_SETREGS, e->tid, 0, &e->regs);
	}
	ptrace(PTRACE_DETACH, e->tid, 0, (void *)(intptr_t)e->pending);
	e->taken = false;
}

#endif
