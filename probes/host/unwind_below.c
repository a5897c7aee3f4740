/* SPDX-License-Identifier: MIT */
/*
 * How much of the stack a function has taken, by its instructions.
 *
 * A function that has a frame pointer begins with push %rbp, mov %rsp,%rbp, takes all that it needs
 * of the stack before it first jumps or calls, and gives it back where it ends. In between only
 * what it hands to a function on the stack is added, right before the call, and taken off after it.
 * Anything else is refused. Sources: Intel's manual, volume 2; the System V ABI for AMD64, 3.2.2
 * and 3.4.1.
 */
#include <string.h>

#include "probes/host/unwind_internal.h"
#include "probes/imports/instruction.h"

#define CODE_BYTES 16384u	/* of a longer way from the beginning nothing is known */
#define PIECE_BYTES 1024u	/* that are read at once */
#define LONGEST 15u		/* an instruction */
#define CALL_LONGEST 8u
#define RETURN_AND_RBP 16	/* both are on the stack when the frame pointer is set */

/* What an instruction does with the stack pointer. */
enum stack_effect {
	STACK_LEFT,		/* nothing */
	STACK_MOVED,		/* by a fixed distance */
	STACK_SET,		/* to where it was, by the frame pointer */
	STACK_UNKNOWN
};

/* Whether the register in ModRM is the stack pointer: the one that is an operand alone, and the one
 * that may be in memory. */
static bool is_reg(const struct instruction *i)
{
	return (i->modrm >> 3 & 7) == 4 && !(i->rex & 4);
}

static bool is_rm(const struct instruction *i)
{
	return i->modrm >> 6 == 3 && (i->modrm & 7) == 4 && !(i->rex & 1);
}

static int32_t last_byte(const uint8_t *code, const struct instruction *i)
{
	return (int8_t)code[i->length - 1];
}

static int32_t last_word(const uint8_t *code, const struct instruction *i)
{
	int32_t value;

	memcpy(&value, code + i->length - sizeof(value), sizeof(value));
	return value;
}

/* add and sub of a number; of the others only cmp leaves the stack pointer alone. */
static enum stack_effect number_effect(const uint8_t *code, const struct instruction *i,
				       int64_t *by)
{
	int64_t number = i->opcode == 0x81 ? last_word(code, i) : last_byte(code, i);
	uint8_t operation = i->modrm >> 3 & 7;

	if (operation == 7)
		return STACK_LEFT;
	*by = operation == 5 ? -number : number;
	return (operation == 0 || operation == 5) && (i->rex & 8) && i->opcode != 0x80 ?
	       STACK_MOVED : STACK_UNKNOWN;
}

/* lea: from the stack pointer, or from the frame pointer as before a function ends. */
static enum stack_effect address_effect(const uint8_t *code, const struct instruction *i,
					int64_t *by)
{
	uint8_t mod = i->modrm >> 6, base = i->modrm & 7;

	if ((mod != 1 && mod != 2) || i->rex != 0x48)
		return STACK_UNKNOWN;
	if (base == 5)
		return STACK_SET;
	/* SIB: the stack pointer without an index */
	if (base != 4 || code[i->length - (mod == 1 ? 2 : 5)] != 0x24)
		return STACK_UNKNOWN;
	*by = mod == 1 ? last_byte(code, i) : last_word(code, i);
	return STACK_MOVED;
}

/* Of opcodes of one byte with ModRM. */
static enum stack_effect operand_effect(const uint8_t *code, const struct instruction *i,
					int64_t *by)
{
	uint8_t o = i->opcode, operation = i->modrm >> 3 & 7;

	if (o == 0x8f || (o == 0xff && operation == 6)) {	/* pop, push */
		*by = o == 0x8f ? 8 : -8;
		return is_rm(i) ? STACK_UNKNOWN : STACK_MOVED;
	}
	if (o < 0x40 && (o & 0x38) == 0x38)			/* cmp */
		return STACK_LEFT;
	if (o == 0x8d && is_reg(i))
		return address_effect(code, i, by);
	if ((o == 0x89 && is_rm(i) && i->modrm == 0xec && i->rex == 0x48) ||
	    (o == 0x8b && is_reg(i) && i->modrm == 0xe5 && i->rex == 0x48))
		return STACK_SET;				/* mov %rbp,%rsp */
	if (o >= 0x80 && o <= 0x83)
		return is_rm(i) ? number_effect(code, i, by) : STACK_LEFT;
	if (o == 0x84 || o == 0x85 || ((o == 0xf6 || o == 0xf7) && operation < 2))
		return STACK_LEFT;				/* test */
	if (o == 0xff && operation >= 2)
		return STACK_LEFT;				/* call, jmp */
	if ((o < 0x40 ? (o & 7) >= 2 : o == 0x63 || o == 0x69 || o == 0x6b || o == 0x86 ||
	     o == 0x87 || o == 0x8a || o == 0x8b) && is_reg(i))
		return STACK_UNKNOWN;
	if (is_rm(i) && (o < 0x40 ? (o & 7) < 2 : o != 0x63 && o != 0x69 && o != 0x6b &&
			 o != 0x8a && o != 0x8b))
		return STACK_UNKNOWN;
	return STACK_LEFT;
}

static enum stack_effect effect_of(const uint8_t *code, const struct instruction *i, int64_t *by)
{
	uint8_t o = i->opcode;

	*by = 0;
	/* of more bytes, of vectors, of the old coprocessor */
	if (o == 0x0f || o == 0xc4 || o == 0xc5 || o == 0x62 || (o & 0xf8) == 0xd8)
		return STACK_LEFT;
	if ((o >= 0x50 && o <= 0x57) || o == 0x68 || o == 0x6a || o == 0x9c) {
		*by = -8;
		return STACK_MOVED;
	}
	if ((o >= 0x58 && o <= 0x5f) || o == 0x9d) {
		*by = 8;
		return o == 0x5c && !(i->rex & 1) ? STACK_UNKNOWN : STACK_MOVED;
	}
	if (o == 0xc9)			/* leave */
		return STACK_SET;
	/* enter; mov of a number and xchg */
	if (o == 0xc8 || ((o == 0xbc || o == 0x94) && !(i->rex & 1)))
		return STACK_UNKNOWN;
	return i->has_modrm ? operand_effect(code, i, by) : STACK_LEFT;
}

static bool is_call(const struct instruction *i)
{
	return i->opcode == 0xe8 || (i->opcode == 0xff && (i->modrm >> 3 & 7) == 2);
}

/* From the beginning of the function. */
struct frame_way {
	enum { FRAME_NONE, FRAME_RBP, FRAME_TAKES, FRAME_WHOLE } part;
	int64_t taken, more;	/* more: for a function that is about to be called */
	bool gives_back;	/* it is about to end */
};

/* Behind push %rbp stands mov %rsp,%rbp. */
static bool is_frame_pointer(const struct instruction *i)
{
	return i->rex == 0x48 && ((i->opcode == 0x89 && i->modrm == 0xe5) ||
				  (i->opcode == 0x8b && i->modrm == 0xec));
}

static bool way_moves(struct frame_way *way, int64_t by)
{
	if (way->part == FRAME_TAKES && by < 0) {
		way->taken -= by;
		return true;
	}
	if (way->part != FRAME_WHOLE || (way->gives_back && by < 0))
		return false;
	if (by > 0 && !way->more)
		way->gives_back = true;
	else
		way->more -= by;
	return way->more >= 0;
}

/* The next instruction. false: what it does to the stack does not fit. */
static bool way_takes(struct frame_way *way, const uint8_t *code, const struct instruction *i)
{
	int64_t by;
	enum stack_effect effect = effect_of(code, i, &by);
	bool call = is_call(i);
	bool ends = (i->opcode & 0xfe) == 0xc2 || i->opcode == 0xe9 || i->opcode == 0xeb ||
		    i->computed;

	if (effect == STACK_UNKNOWN)
		return false;
	if (way->part == FRAME_NONE && i->opcode == 0x55 && !i->rex) {
		way->part = FRAME_RBP;
		return true;
	}
	if (way->part == FRAME_RBP && is_frame_pointer(i)) {
		way->part = FRAME_TAKES;
		way->taken = RETURN_AND_RBP;
		return true;
	}
	if (effect == STACK_MOVED)
		return way_moves(way, by);
	if (effect == STACK_SET) {
		way->gives_back = true;
		return way->part == FRAME_WHOLE && !way->more;
	}
	if (way->part == FRAME_TAKES && (i->jumps || i->computed || call))
		way->part = FRAME_WHOLE;
	if (way->more && i->jumps && !call)
		return false;
	if (ends)
		way->gives_back = false;
	else if (way->gives_back && (i->jumps || call))
		return false;
	return way->part != FRAME_RBP || !(i->jumps || call || ends);
}

/* Takes an instruction at an offset from the beginning. false: no more are wanted. */
typedef bool take_instruction(void *context, uint64_t at, const uint8_t *code,
			      const struct instruction *i);

/* Reads the instructions up to the one at `to`, or that has it within. false: one cannot be
 * measured or read, or was not taken. */
static bool code_walk(unwind_read *read, uint64_t at, uint64_t to, take_instruction *take,
		      void *context)
{
	uint8_t code[PIECE_BYTES + LONGEST];
	struct instruction i;

	while (at < to) {
		size_t n = to - at < PIECE_BYTES ? (size_t)(to - at) : PIECE_BYTES, k;

		if (!unwind_copy(read, code, at, n + LONGEST))
			return false;
		for (k = 0; k < n; k += i.length) {
			i = instruction_read(code + k, n + LONGEST - k);
			if (!i.length)
				return false;
			if (at + k + i.length > to)
				return true;
			if (!take(context, at + k, code + k, &i))
				return false;
		}
		at += k;
	}
	return true;
}

static bool measure_one(void *way, uint64_t at, const uint8_t *code, const struct instruction *i)
{
	(void)at;
	return way_takes(way, code, i);
}

bool unwind_measure(unwind_read *read, uint64_t ip, struct unwind_row *row)
{
	struct frame_way way = { .part = FRAME_NONE };

	row->below = 0;
	if (row->frame.how != HOW_IS || row->frame_register != UNWIND_BP ||
	    row->frame.value != RETURN_AND_RBP || ip - row->start > CODE_BYTES ||
	    !code_walk(read, row->start, ip, measure_one, &way) ||
	    way.part < FRAME_TAKES || way.gives_back)
		return false;
	row->below = (uint32_t)(way.taken + way.more);
	return true;
}

struct jump_search {
	const struct unwind_row *part;
	bool found;
};

static bool search_jump(void *context, uint64_t at, const uint8_t *code,
			const struct instruction *i)
{
	struct jump_search *search = context;
	uint64_t to = at + i->length + (uint64_t)(int64_t)i->distance;

	(void)code;
	search->found = i->jumps && i->opcode != 0xe8 && to > search->part->start &&
			to < search->part->end;
	return !search->found;
}

bool unwind_jumps_into(unwind_read *read, uint64_t from, uint64_t to, const struct unwind_row *row)
{
	struct jump_search search = { .part = row };

	code_walk(read, from, to, search_jump, &search);
	return search.found;
}

bool unwind_is_behind_call(unwind_read *read, uint64_t ip)
{
	uint8_t code[CALL_LONGEST];

	if (!unwind_copy(read, code, ip - sizeof(code), sizeof(code)))
		return false;
	for (size_t n = 2; n <= sizeof(code); n++) {
		const uint8_t *at = code + sizeof(code) - n;
		struct instruction i = instruction_read(at, n);

		if (i.length == n && is_call(&i))
			return true;
	}
	return false;
}
