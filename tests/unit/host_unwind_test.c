/* SPDX-License-Identifier: MIT */
/* Callers of native code by the tables for exceptions, against what the C library finds by the same
 * tables; and with tables that are damaged. */
#include <alloca.h>
#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/host/unwind.h"
#include "probes/imports/file.h"
#include "tests/unit/test.h"

#ifdef __x86_64__

#define FRAMES 64
#define STACK (1 << 16)

static struct seen {
	struct unwind_registers registers;
	char bytes[STACK];
	struct unwind_stack stack;
	void *callers[FRAMES];		/* as the C library says, innermost first */
	int n;
} seen;
static uint64_t damage_one_in;		/* bytes that are read; 0: none */
static size_t reads;

static bool read_own(const struct iovec *to, const struct iovec *from, size_t n)
{
	ssize_t bytes = process_vm_readv(getpid(), to, n, from, n, 0);

	CHECK(++reads < 100000);
	for (size_t k = 0; k < n; k++) {
		bytes -= (ssize_t)to[k].iov_len;
		for (size_t i = 0; damage_one_in && i < to[k].iov_len; i++)
			if (!test_below(damage_one_in))
				((uint8_t *)to[k].iov_base)[i] = (uint8_t)test_below(256);
	}
	return !bytes;
}

/* Takes the registers and the stack of this very place. */
__attribute__((noinline, no_sanitize("address"))) static void take_here(void)
{
	uint64_t *value = seen.registers.value, sp;
	size_t bytes;

	__asm__ volatile("movq %%rbx, 24(%0)\n\tmovq %%rbp, 48(%0)\n\tmovq %%rsp, 56(%0)\n\t"
			 "movq %%r12, 96(%0)\n\tmovq %%r13, 104(%0)\n\tmovq %%r14, 112(%0)\n\t"
			 "movq %%r15, 120(%0)\n\tleaq 0f(%%rip), %%rax\n0:\tmovq %%rax, 128(%0)"
			 : : "D"(value) : "rax", "memory");
	seen.registers.known = 1u << UNWIND_BX | 1u << UNWIND_BP | 1u << UNWIND_SP |
			       15u << UNWIND_R12 | 1u << UNWIND_IP;
	sp = value[UNWIND_SP];
	/* page by page, up to where no more is mapped */
	for (seen.stack.n = 0; seen.stack.n <= STACK - 4096; seen.stack.n += bytes) {
		struct iovec to = { seen.bytes + seen.stack.n, 4096 };
		struct iovec from = { (void *)(uintptr_t)(sp + seen.stack.n), 4096 };

		bytes = to.iov_len = from.iov_len = 4096 - (sp + seen.stack.n) % 4096;
		if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)bytes)
			break;
	}
	seen.stack.at = sp;
	seen.stack.bytes = seen.bytes;
	seen.n = backtrace(seen.callers, FRAMES);
}

static bool same_rules(const struct unwind_row *a, const struct unwind_row *b)
{
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		if (a->of[i].how != b->of[i].how || a->of[i].value != b->of[i].value)
			return false;
	return a->frame.how == b->frame.how && a->frame.value == b->frame.value &&
	       a->frame_register == b->frame_register && a->from == b->from && a->to == b->to;
}

/* The same is found of the instructions that it is said to be of: the first, the last, and some. */
static void check_range(uint64_t index, uint64_t ip, const struct unwind_row *row)
{
	struct unwind_row other;

	CHECK(row->start <= row->from && row->from <= ip && ip < row->to && row->to <= row->end);
	for (uint64_t at = row->from; at < row->to; at += (row->to - row->from) / 16 + 1)
		CHECK(unwind_find(read_own, index, at, &other) && same_rules(row, &other));
	CHECK(unwind_find(read_own, index, row->to - 1, &other) && same_rules(row, &other));
}

/* How many callers are found, in callers[]; *end: why no more. */
static int walk(uint64_t *callers, enum unwind_step *end)
{
	struct unwind_registers registers = seen.registers;
	bool called = false;
	int n = 0;

	for (;;) {
		struct address_module module = { .base = 0 };
		uint64_t ip = registers.value[UNWIND_IP] - called;
		struct unwind_row row;

		*end = UNWIND_LOST;
		if (!module_of_address((void *)(uintptr_t)ip, &module) || !module.unwind ||
		    !unwind_find(read_own, module.unwind, ip, &row))
			return n;
		if (!damage_one_in)
			check_range(module.unwind, ip, &row);
		/* of code that is not damaged it is what the frame pointer says */
		if (unwind_measure(read_own, ip, &row) && !damage_one_in)
			CHECK_INT((int64_t)(registers.value[UNWIND_SP] + row.below),
				  (int64_t)registers.value[UNWIND_BP] + 16);
		*end = unwind_step(read_own, &row, &seen.stack, &registers);
		if (*end != UNWIND_CALLER || n == FRAMES)
			return n;
		called = !row.signal;
		callers[n++] = registers.value[UNWIND_IP];
	}
}

static void check_walk(void)
{
	uint64_t callers[FRAMES];
	enum unwind_step end;
	int n = walk(callers, &end), more = seen.n - n;

	/* the C library's first one is in take_here() itself, or before it one in a sanitizer */
	CHECK_INT(end, UNWIND_OUTERMOST);
	CHECK(n > 1 && (more == 1 || more == 2));
	for (int i = 0; i < n && i + more < seen.n; i++)
		CHECK_INT((int64_t)callers[i], (int64_t)(uintptr_t)seen.callers[i + more]);
}

/* Its frame is found by a register, because its size is not known before. */
__attribute__((noinline)) static void with_room(size_t bytes)
{
	volatile char *room = alloca(bytes);

	room[bytes - 1] = 1;
	take_here();
	room[0] = room[bytes - 1];
}

static int compare(const void *a, const void *b)
{
	with_room(100 + (size_t)*(const int *)a);
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int number)
{
	int of[2] = { number, 1 };

	qsort(of, 2, sizeof(of[0]), compare);
}

TEST(host_unwind_callers)
{
	int of[2] = { 2, 1 };

	take_here();
	check_walk();
	CHECK(seen.n > 2);
	qsort(of, 2, sizeof(of[0]), compare);
	check_walk();
}

/* Through the frame that the kernel makes for a handler. */
TEST(host_unwind_signal)
{
	struct sigaction act = { .sa_handler = on_signal }, before;

	CHECK_INT(sigaction(SIGUSR2, &act, &before), 0);
	CHECK_INT(raise(SIGUSR2), 0);
	CHECK_INT(sigaction(SIGUSR2, &before, NULL), 0);
	check_walk();
}

/* What is not known ends the walk, and what is told up to there is right. */
TEST(host_unwind_unknown)
{
	uint64_t all[FRAMES], some[FRAMES];
	enum unwind_step end;
	int n, less;

	on_signal(2);
	n = walk(all, &end);
	CHECK(n > 4);
	seen.stack.n = (size_t)(seen.registers.value[UNWIND_BP] - seen.stack.at);
	less = walk(some, &end);
	CHECK_INT(end, UNWIND_LOST);
	CHECK(less < n && !memcmp(all, some, (size_t)less * sizeof(all[0])));
	seen.stack.n = STACK;
	/* as of a thread that waits */
	seen.registers.known = 1u << UNWIND_IP | 1u << UNWIND_SP;
	less = walk(some, &end);
	CHECK(less <= n && !memcmp(all, some, (size_t)less * sizeof(all[0])));
	seen.registers.known = 1u << UNWIND_IP;
	CHECK_INT(walk(some, &end), 0);
	CHECK_INT(end, UNWIND_LOST);
}

/* Tables with wrong bytes: no walk crashes, and each one ends. */
TEST(host_unwind_damaged)
{
	uint64_t callers[FRAMES];
	enum unwind_step end;

	on_signal(2);
	for (int i = 0; i < 2000; i++) {
		damage_one_in = 2 + (uint64_t)test_below(300);
		reads = 0;
		CHECK(walk(callers, &end) <= FRAMES);
	}
	damage_one_in = 0;
}

#endif
