/* SPDX-License-Identifier: MIT */
/*
 * Which commands of a process have finished: one bit for each of the last DONE_BITS correlations.
 * The probes and CUPTI number commands independently (TFT_CORRELATION_CUPTI), so each has a ring
 * of its own. Both numbers wrap around.
 */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/commands/commands.h"
#include "model/core/model.h"

#define RINGS 2
#define NUMBERS (UINT32_C(1) << 31)	/* words of a ring; DONE_BITS bits fit in */

static uint32_t number_of(uint32_t correlation)
{
	return correlation % NUMBERS;
}

static uint32_t after(uint32_t number, uint32_t base)
{
	return (number - base) % NUMBERS;
}

static void start_at(struct done_ring *ring, uint32_t number)
{
	ring->base = number < DONE_BITS ? 0 : number - DONE_BITS + DONE_BITS / 4;
}

void done_set(struct process *process, uint32_t correlation)
{
	struct done_ring *ring = &process->done[correlation / NUMBERS];
	uint32_t number = number_of(correlation), base;

	if (!ring->bits) {
		ring->bits = xcalloc(DONE_BITS / 64, sizeof(*ring->bits));
		start_at(ring, number);
	}
	if (after(number, ring->base) >= NUMBERS / 2)
		return;		/* too old for the ring */
	if (after(number, ring->base) >= DONE_BITS) {
		base = number_of(number - DONE_BITS + DONE_BITS / 4);
		if (after(base, ring->base) >= DONE_BITS)
			memset(ring->bits, 0, DONE_BITS / 8);
		else
			for (uint32_t c = ring->base; c != base; c = number_of(c + 1))
				ring->bits[c % DONE_BITS / 64] &= ~(1ull << c % 64);
		ring->base = base;
	}
	ring->bits[number % DONE_BITS / 64] |= 1ull << number % 64;
}

bool done_get(const struct process *process, uint32_t correlation)
{
	const struct done_ring *ring = &process->done[correlation / NUMBERS];
	uint32_t number = number_of(correlation);

	return ring->bits && after(number, ring->base) < DONE_BITS &&
	       (ring->bits[number % DONE_BITS / 64] >> number % 64 & 1);
}

void done_release(struct process *process)
{
	for (size_t i = 0; i < RINGS; i++)
		free(process->done[i].bits);
}

size_t done_bytes(const struct process *process)
{
	size_t bytes = 0;

	for (size_t i = 0; i < RINGS; i++)
		bytes += process->done[i].bits ? DONE_BITS / 8 : 0;
	return bytes;
}
