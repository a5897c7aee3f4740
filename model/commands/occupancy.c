/* SPDX-License-Identifier: MIT */
#include "model/commands/occupancy.h"

#include <stdio.h>

#define WARP 32u
#define REGISTER_PIECE 256u		/* unit in which the registers of a warp are allocated */
#define NEWEST 12u			/* major compute capability whose rules are known */

static uint64_t round_up(uint64_t value, uint64_t piece)
{
	return (value + piece - 1) / piece * piece;
}

/* What is missing; NULL: nothing is. */
static const char *occupancy_missing(const struct device_limits *l, uint32_t units, uint64_t blocks,
				     uint32_t block_threads, uint32_t registers)
{
	uint32_t major = l->capability / 10;

	if (!l->capability)
		return "the device has no compute capability";
	if (major < 3 || major == 4 || major > NEWEST)
		return "compute capability without known rules";
	if (!l->threads || !l->blocks || !l->registers || !l->shared || !units)
		return "the device's limits are unknown";
	if (!block_threads || !blocks)
		return "the launch's geometry is unknown";
	if (!registers)
		return "the kernel's registers are unknown";
	return NULL;
}

/* Blocks that the registers of a unit have room for. */
static uint64_t by_registers(const struct device_limits *l, uint32_t registers, uint64_t warps)
{
	uint32_t parts = l->capability == 60 ? 2 : 4;
	uint64_t of_warp = round_up((uint64_t)registers * WARP, REGISTER_PIECE);

	return l->registers / parts / of_warp * parts / warps;
}

static uint64_t by_shared(const struct device_limits *l, uint64_t shared)
{
	bool young = l->capability >= 80;
	uint64_t of_block = round_up(shared + (young ? 1024 : 0), young ? 128 : 256);

	return of_block ? l->shared / of_block : UINT64_MAX;
}

static void count_waves(struct occupancy *o, uint32_t units, uint64_t blocks)
{
	uint64_t whole, rest;

	o->slots = (uint64_t)units * o->resident;
	whole = blocks / o->slots;
	rest = blocks % o->slots;
	o->waves_milli = whole > UINT64_MAX / 1000 - 1 ? UINT64_MAX :
			 whole * 1000 + rest * 1000 / o->slots;
	if (rest)
		o->tail_milli = (uint32_t)((o->slots - rest) * 1000 /
					   ((unsigned __int128)o->slots * (whole + 1)));
}

struct occupancy occupancy_of(const struct device_limits *l, uint32_t units, uint64_t blocks,
			      uint32_t block_threads, uint32_t registers, uint64_t shared)
{
	struct occupancy o = {
		.unknown = occupancy_missing(l, units, blocks, block_threads, registers),
	};
	uint64_t warps = (block_threads + (uint64_t)WARP - 1) / WARP, fit[4], least = UINT64_MAX;

	if (o.unknown)
		return o;
	fit[0] = l->threads / WARP / warps;
	fit[1] = l->blocks;
	fit[2] = by_registers(l, registers, warps);
	fit[3] = by_shared(l, shared);
	for (int i = 0; i < 4; i++)
		if (fit[i] < least)
			least = fit[i];
	if (!least) {
		o.unknown = "no block would fit, by what was reported";
		return o;
	}
	for (unsigned i = 0; i < 4; i++)
		o.limits |= (fit[i] == least) << i;
	o.resident = (uint32_t)least;
	o.warps = (uint32_t)(least * warps);
	o.warps_max = l->threads / WARP;
	count_waves(&o, units, blocks);
	return o;
}

char *occupancy_limits(char *out, size_t size, unsigned limits)
{
	static const char *const names[] = { "warps", "blocks", "registers", "shared memory" };
	size_t at = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < 4 && at < size; i++)
		if (limits & 1u << i)
			at += (size_t)snprintf(out + at, size - at, "%s%s", !at ? "" :
					       limits >> (i + 1) ? ", " : " and ", names[i]);
	return out;
}
