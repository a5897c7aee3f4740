/* SPDX-License-Identifier: MIT */
/*
 * A tap: while it is open, the finished commands of this process are also kept in memory, for a
 * reader inside the process (probes/pluggable). It does not change what is sent, and contains no
 * more than the level records.
 *
 * Always true: a closed tap costs a load and a branch for each command and op. An open one keeps at
 * most RT_TAP_MAX entries and counts the others. Times are CLOCK_MONOTONIC, converted by the
 * device's last clock pair; without a pair, as if the command had just ended.
 *
 * Threads: any may write; one opens, reads and closes. Nothing blocks except rt_tap_settle().
 * Strings live as long as the process.
 */
#ifndef PROBES_RUNTIME_TAP_H
#define PROBES_RUNTIME_TAP_H

#include "probes/runtime/runtime.h"

#define RT_TAP_MAX 65536u

struct rt_tap_work {
	uint8_t kind, direction, flags, gpu;	/* TFT_KIND_*, _DIR_*, _CMD_*; as tft_device */
	uint32_t queue, device, correlation;
	uint32_t units, clock_mhz;		/* members of the device */
	uint64_t memory_bytes, bytes;
	int64_t start_ns, end_ns;
	uint32_t dims, local[3];
	uint64_t global[3];
	const char *name, *op, *device_name, *vendor;	/* "": unknown */
	const char *op_type;
};

/* false: a tap is open already, or memory is short. */
RT_API bool rt_tap_open(void);
/* Waits at most wait_ns for commands that have ended on a device and are not kept yet. Calls no
 * function of the device on this thread. */
RT_API void rt_tap_settle(int64_t wait_ns);
/* How many entries are kept so far; *dropped: for how many there was no room. */
RT_API uint32_t rt_tap_count(uint64_t *dropped);
/* Copies up to `size` bytes of an entry: new members are added at the end of the struct, and the
 * caller may be older. false: the entry is not complete (yet). */
RT_API bool rt_tap_take(uint32_t i, struct rt_tap_work *out, size_t size);
RT_API void rt_tap_close(void);

#endif
