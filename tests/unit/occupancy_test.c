/* SPDX-License-Identifier: MIT */
/* How much of a multiprocessor a launch fills: the vendor's examples and answers, waves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/commands/occupancy.h"
#include "model/query/launch.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define KIB 1024u

/* Of the Programming Guide's table of technical specifications. */
static struct device_limits unit(uint32_t capability)
{
	static const struct device_limits units[] = {
		{ .capability = 61, .threads = 2048, .blocks = 32, .shared = 96 * KIB },
		{ .capability = 70, .threads = 2048, .blocks = 32, .shared = 96 * KIB },
		{ .capability = 75, .threads = 1024, .blocks = 16, .shared = 64 * KIB },
		{ .capability = 80, .threads = 2048, .blocks = 32, .shared = 164 * KIB },
		{ .capability = 86, .threads = 1536, .blocks = 16, .shared = 100 * KIB },
		{ .capability = 90, .threads = 2048, .blocks = 32, .shared = 228 * KIB },
		{ .capability = 100, .threads = 2048, .blocks = 32, .shared = 228 * KIB },
		{ .capability = 120, .threads = 1536, .blocks = 24, .shared = 100 * KIB },
	};
	struct device_limits found = { .capability = 0 };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].capability == capability)
			found = units[i];
	found.registers = 65536;
	return found;
}

TEST(occupancy_published)
{
	static const struct {
		uint32_t capability, threads, registers;
		uint64_t shared;
		uint32_t resident, milli;
		unsigned limits;
	} cases[] = {
		/* The Best Practices Guide, "Calculating Occupancy". */
		{ 70, 128, 37, 0, 12, 750, OCCUPANCY_REGISTERS },
		{ 70, 320, 37, 0, 4, 625, OCCUPANCY_REGISTERS },
		/* The Programming Guide, "Multiprocessor Level": one register more. */
		{ 61, 512, 64, 0, 2, 500, OCCUPANCY_REGISTERS },
		{ 61, 512, 65, 0, 1, 250, OCCUPANCY_REGISTERS },
		/* By hand: 1536 threads hold one block of 1024; 16 blocks of 64 are 32 warps of 48.
		 */
		{ 86, 1024, 32, 0, 1, 666, OCCUPANCY_WARPS },
		{ 86, 64, 32, 0, 16, 666, OCCUPANCY_BLOCKS },
		/* 32 KiB and 1 KiB of the system's: 4 in 164 KiB, 6 in 228 KiB, 3 in 100 KiB. */
		{ 80, 128, 32, 32 * KIB, 4, 250, OCCUPANCY_SHARED },
		{ 90, 128, 32, 32 * KIB, 6, 375, OCCUPANCY_SHARED },
		{ 100, 128, 32, 32 * KIB, 6, 375, OCCUPANCY_SHARED },
		{ 120, 128, 32, 32 * KIB, 3, 250, OCCUPANCY_SHARED },
		/* Before 8.0 the system takes none: 3 of 32 KiB in 96 KiB. */
		{ 70, 128, 32, 32 * KIB, 3, 187, OCCUPANCY_SHARED },
		/* A whole multiprocessor, and two limits at once. */
		{ 90, 256, 32, 0, 8, 1000, OCCUPANCY_WARPS | OCCUPANCY_REGISTERS },
		{ 90, 64, 32, 0, 32, 1000,
		  OCCUPANCY_WARPS | OCCUPANCY_BLOCKS | OCCUPANCY_REGISTERS },
		{ 75, 1024, 64, 0, 1, 1000, OCCUPANCY_WARPS | OCCUPANCY_REGISTERS },
		/* Part of a warp is a warp. */
		{ 90, 33, 16, 0, 32, 1000, OCCUPANCY_WARPS | OCCUPANCY_BLOCKS },
		{ 90, 1, 16, 0, 32, 500, OCCUPANCY_BLOCKS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct device_limits limits = unit(cases[i].capability);
		struct occupancy o = occupancy_of(&limits, 1, 1, cases[i].threads,
						  cases[i].registers, cases[i].shared);

		if (o.unknown || o.resident != cases[i].resident ||
		    occupancy_milli(&o) != cases[i].milli || o.limits != cases[i].limits)
			test_fail(__FILE__, __LINE__, "case %zu: %s %u blocks, %u, limits %x", i,
				  o.unknown ? o.unknown : "", o.resident, occupancy_milli(&o),
				  o.limits);
	}
}

/* What its own calculator says of random launches. */
TEST(occupancy_vendor)
{
	FILE *file = fopen("tests/data/occupancy.txt", "r");
	char line[160];
	int n = 0;

	CHECK(file != NULL);
	while (file && fgets(line, sizeof(line), file)) {
		struct device_limits limits = { .registers = 65536 };
		unsigned threads, registers, shared, resident, bits, capability;
		struct occupancy o;

		if (line[0] == '#')
			continue;
		CHECK_INT(sscanf(line, "%u %u %u %u %u %u %u %u %u", &capability, &limits.threads,
				 &limits.blocks, &limits.shared, &threads, &registers, &shared,
				 &resident, &bits), 9);
		limits.capability = capability;
		o = occupancy_of(&limits, 1, 1, threads, registers, shared);
		if (o.unknown || o.resident != resident || o.limits != bits)
			test_fail(__FILE__, __LINE__, "%s: %u, limits %x", line, o.resident,
				  o.limits);
		n++;
	}
	CHECK_INT(n, 600);
	if (file)
		fclose(file);
}

static struct occupancy waves(uint32_t units, uint64_t blocks)
{
	struct device_limits limits = unit(90);

	return occupancy_of(&limits, units, blocks, 1024, 32, 0);	/* two at once */
}

TEST(occupancy_waves)
{
	struct occupancy o = waves(132, 264);

	CHECK_INT(o.slots, 264);
	CHECK_INT(o.waves_milli, 1000);
	CHECK_INT(o.tail_milli, 0);
	/* One block more needs a wave of its own: half of all slots stay empty. */
	o = waves(132, 265);
	CHECK_INT(o.waves_milli, 1003);
	CHECK_INT(o.tail_milli, 498);
	o = waves(132, 132);
	CHECK_INT(o.waves_milli, 500);
	CHECK_INT(o.tail_milli, 500);
	o = waves(132, 264 * 9 + 132);
	CHECK_INT(o.waves_milli, 9500);
	CHECK_INT(o.tail_milli, 50);
	o = waves(1, UINT64_MAX);
	CHECK(!o.unknown && o.tail_milli == 0);
}

static const char *why(struct device_limits limits, uint32_t units, uint64_t blocks,
		       uint32_t threads, uint32_t registers, uint64_t shared)
{
	struct occupancy o = occupancy_of(&limits, units, blocks, threads, registers, shared);

	CHECK_INT(o.resident, 0);
	CHECK_INT(o.limits, 0);
	CHECK_INT(occupancy_milli(&o), 0);
	return o.unknown ? o.unknown : "known";
}

TEST(occupancy_unknown_has_a_reason)
{
	struct device_limits limits = unit(90);

	CHECK_STR(why((struct device_limits){ .capability = 0 }, 1, 1, 32, 32, 0),
		  "the device has no compute capability");
	limits.capability = 130;
	CHECK_STR(why(limits, 1, 1, 32, 32, 0), "compute capability without known rules");
	limits = unit(90);
	CHECK_STR(why(limits, 0, 1, 32, 32, 0), "the device's limits are unknown");
	CHECK_STR(why(limits, 1, 0, 32, 32, 0), "the launch's geometry is unknown");
	CHECK_STR(why(limits, 1, 1, 0, 32, 0), "the launch's geometry is unknown");
	CHECK_STR(why(limits, 1, 1, 32, 0, 0), "the kernel's registers are unknown");
	CHECK_STR(why(limits, 1, 1, 32, 32, 1 << 20), "no block would fit, by what was reported");
	CHECK_STR(why(limits, 1, 1, UINT32_MAX, UINT32_MAX, UINT64_MAX / 2),
		  "no block would fit, by what was reported");
	limits.blocks = 0;
	CHECK_STR(why(limits, 1, 1, 32, 32, 0), "the device's limits are unknown");
}

TEST(occupancy_limits_in_words)
{
	char text[64];

	CHECK_STR(occupancy_limits(text, sizeof(text), 0), "");
	CHECK_STR(occupancy_limits(text, sizeof(text), OCCUPANCY_REGISTERS), "registers");
	CHECK_STR(occupancy_limits(text, sizeof(text), OCCUPANCY_WARPS | OCCUPANCY_SHARED),
		  "warps and shared memory");
	CHECK_STR(occupancy_limits(text, sizeof(text), 7), "warps, blocks and registers");
}
