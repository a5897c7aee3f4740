/* SPDX-License-Identifier: MIT */
/*
 * The instructions of x86-64 code: how long each is and where it jumps to.
 *
 * Source: Intel's manual, volume 2, appendix A (the maps of opcodes). Threads: any; nothing is
 * kept.
 */
#ifndef PROBES_IMPORTS_INSTRUCTION_H
#define PROBES_IMPORTS_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instruction {
	size_t length;		/* 0: unknown, or it does not end within the bytes */
	bool jumps;		/* to a fixed distance: a jump, a call, a loop */
	bool computed;		/* a jump whose target is in a register or in memory */
	int32_t distance;	/* from its end */
	/* the prefix REX, 0: none; the opcode, 0x0f for all that have more than one byte */
	uint8_t rex, opcode;
	bool has_modrm;
	uint8_t modrm;
};

/* The instruction that begins there, within so many bytes. */
struct instruction instruction_read(const uint8_t *code, size_t bytes);

#endif
