/* SPDX-License-Identifier: MIT */
/*
 * Turns the content of a tap into an XSpace: one plane for each device, one line for each queue and
 * kind of copy, named as XProf expects. Memory comes from malloc; if it is short, the space is
 * empty. Source: xplane_schema.cc and cupti_collector.cc of OpenXLA.
 */
#ifndef PROBES_PLUGGABLE_SPACE_H
#define PROBES_PLUGGABLE_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "probes/runtime/tap.h"

/* The functions of the runtime's tap, looked up if the runtime is there. */
struct tap {
	bool (*open)(void);
	void (*settle)(int64_t wait_ns);
	uint32_t (*count)(uint64_t *dropped);
	bool (*take)(uint32_t i, struct rt_tap_work *out, size_t size);
	void (*close)(void);
};

/* Packs what ran between the two times (CLOCK_MONOTONIC); adding real_ns turns these into times
 * since 1970. The caller frees; NULL: nothing ran, and *size is 0. */
uint8_t *space_pack(const struct tap *tap, int64_t from_ns, int64_t to_ns, int64_t real_ns,
		    size_t *size);

#endif
