/* SPDX-License-Identifier: MIT */
/*
 * Overlap: how much of a device's copies and collectives ran while kernels computed on the same
 * device, and so cost nothing.
 *
 * Definition: at each instant the device does some of compute, communication and copy; the time
 * is added up for each combination. Copy under compute is the time with both divided by the
 * time with copies; communication under compute likewise. Source: HTA's overlap of
 * communication and computation, extended to all three.
 */
#include "model/analyses/sweep.h"

void overlap_piece(struct slice_sweep *sweep, struct sweep_device *device, int64_t t_ns)
{
	struct step_breakdown *now = &sweep->breakdown.now;
	int64_t dur_ns = t_ns - device->since_ns;
	int mask = (device->compute ? DOES_COMPUTE : 0) | (device->comm ? DOES_COMM : 0) |
		   (device->copies ? DOES_COPY : 0);

	device->since_ns = t_ns;
	if (!mask || dur_ns <= 0)
		return;
	device->mask_ns[mask] += dur_ns;
	if (mask & DOES_COPY) {
		now->copy_ns += dur_ns;
		now->copy_hidden_ns += mask & DOES_COMPUTE ? dur_ns : 0;
	}
	if (mask & DOES_COMM) {
		now->comm_ns += dur_ns;
		now->comm_hidden_ns += mask & DOES_COMPUTE ? dur_ns : 0;
	}
}

static int64_t with(const struct sweep_device *device, int bits)
{
	int64_t ns = 0;

	for (int mask = 1; mask < 8; mask++)
		ns += (mask & bits) == bits ? device->mask_ns[mask] : 0;
	return ns;
}

bool model_overlap(struct model *model, uint32_t index, struct overlap_row *out)
{
	const struct sweep_device *device = sweep_device_of(model, index);

	*out = (struct overlap_row) { .device = index };
	if (!device)
		return false;
	out->compute_ns = with(device, DOES_COMPUTE);
	out->copy_ns = with(device, DOES_COPY);
	out->comm_ns = with(device, DOES_COMM);
	out->copy_hidden_ns = with(device, DOES_COPY | DOES_COMPUTE);
	out->comm_hidden_ns = with(device, DOES_COMM | DOES_COMPUTE);
	return true;
}
