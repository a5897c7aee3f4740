/* SPDX-License-Identifier: MIT */
/* See branches.h. */
#include "probes/imports/instruction.h"
#include "probes/jax/branches.h"

bool branches_avoid(const uint8_t *code, size_t size, size_t first)
{
	for (size_t at = 0; at < size;) {
		struct instruction i = instruction_read(code + at, size - at);
		int64_t to = (int64_t)(at + i.length) + i.distance;

		if (!i.length || i.computed || (i.jumps && to > 0 && to < (int64_t)first))
			return false;
		at += i.length;
	}
	return true;
}
