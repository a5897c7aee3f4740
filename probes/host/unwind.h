/* SPDX-License-Identifier: MIT */
/*
 * Who called a function of native code: from the registers and a copy of the stack of a thread, by
 * the tables that compilers write for exceptions (.eh_frame), which are there without debug
 * information and without frame pointers.
 *
 * Always true:
 *  - The tables are read through `read`, which fails where nothing is mapped, and the stack from
 *    its copy only. A rule that is damaged or unknown, a register that is not known and an address
 *    outside of the copy end the walk: a caller that is told is the one that the tables name.
 *  - Each step leads to a higher address of the stack, so that every walk ends.
 *  - Needs libc only, so that its tests can read made-up memory.
 *
 * Sources: the Linux Standard Base Core 5.0, chapter 10.6 (.eh_frame, .eh_frame_hdr); DWARF 5,
 * sections 2.5 and 6.4 (expressions, call frame information); the System V ABI for AMD64, figure
 * 3.36 (numbers of registers). Only x86-64.
 */
#ifndef PROBES_HOST_UNWIND_H
#define PROBES_HOST_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* The registers that a function hands back to its caller, by their numbers in the tables. */
enum {
	UNWIND_BX = 3, UNWIND_BP = 6, UNWIND_SP = 7, UNWIND_R12 = 12, UNWIND_R15 = 15,
	UNWIND_IP = 16, UNWIND_REGISTERS = 17
};

struct unwind_registers {
	uint64_t value[UNWIND_REGISTERS];
	uint32_t known;			/* bit r: value[r] is known */
	bool measured;			/* a frame was found by unwind_measure() */
};

/* A copy of the stack of the thread; at: where it begins there. */
struct unwind_stack {
	uint64_t at;
	const char *bytes;
	size_t n;
};

/* How to find the value that a register had in the caller. */
struct unwind_rule {
	int32_t value;			/* offset, number of a register, or where an expression is,
					 * relative to the index */
	uint16_t bytes;			/* of an expression */
	uint8_t how;			/* enum unwind_how */
};

/* What the tables say of an instruction, and of those beside it. */
struct unwind_row {
	uint64_t index;			/* of the library */
	struct unwind_rule frame;	/* the address of the frame (CFA) */
	uint16_t frame_register;
	struct unwind_rule of[UNWIND_REGISTERS];
	bool signal;			/* the kernel called it, so its caller made no call */
	uint64_t start, end;		/* of the function, or of this part of it */
	uint64_t from, to;		/* the tables say the same of all these instructions */
	uint32_t below;			/* see unwind_measure(); 0: unknown */
};

/* Copies in this order; false: something is not mapped. */
typedef bool unwind_read(const struct iovec *to, const struct iovec *from, size_t n);

/* Finds the row of an instruction in the library whose index of its tables (PT_GNU_EH_FRAME) is at
 * `index`. false: there is none, or it cannot be understood. */
bool unwind_find(unwind_read *read, uint64_t index, uint64_t ip, struct unwind_row *row);

/*
 * Fills in row->below: how many bytes the stack pointer is below the frame's address at that
 * instruction, where the tables count from the frame pointer (rbp). So the caller is found of a
 * thread that waits, whose frame pointer is not known. It is what the instructions from the
 * function's first one on have taken from the stack. false, and 0: the function has not set up a
 * frame of its own before, or it takes what cannot be known (a variable array), or an instruction
 * cannot be measured.
 */
bool unwind_measure(unwind_read *read, uint64_t ip, struct unwind_row *row);

/* Whether a jump of the code [from, to) leads to the middle of the row's part: compilers split
 * functions, and jump into the middle of no other one. An instruction that cannot be measured ends
 * the search. */
bool unwind_jumps_into(unwind_read *read, uint64_t from, uint64_t to, const struct unwind_row *row);

enum unwind_step {
	UNWIND_CALLER,			/* the registers are those of the caller */
	UNWIND_OUTERMOST,		/* there is none: the thread began here */
	UNWIND_LOST			/* not known */
};

/* From a function to its caller, by the row of the instruction at which it is. */
enum unwind_step unwind_step(unwind_read *read, const struct unwind_row *row,
			     const struct unwind_stack *stack, struct unwind_registers *registers);

#endif
