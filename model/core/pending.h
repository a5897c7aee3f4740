/* SPDX-License-Identifier: MIT */
/* What processes, queues and devices keep of commands that are not joined or not placed in time
 * yet, or that finished a while ago. */
#ifndef MODEL_CORE_PENDING_H
#define MODEL_CORE_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/base/map.h"
#include "model/event.h"

/* Where a node of a graph was captured, as in event_run: the op's name and the line; 0: unknown. */
struct command_node {
	uint32_t op_name, source;
};

/* A command that waits for its queue or for a clock. */
struct pending {
	struct event_command command;
	int64_t time_ns;
	uint32_t process;
	struct command_node node;
	bool again;	/* its correlation has been used by a finished command before */
	bool observed;			/* the clock has taken its bounds */
};

struct pendings {
	struct pending *list;		/* owned */
	size_t n, cap;
};

/* The launches and runs of a process that wait: [0] by correlation, [1] by object. */
struct join_ids {
	struct map launches[2], runs[2];
	int64_t lost_ns;		/* an event of this process was lost up to this time */
	uint64_t vendor_dropped;
	bool reused;			/* a correlation was reused */
};

/* The numbers of finished commands, see done.c. */
#define DONE_BITS (1u << 16)
struct done_ring {
	uint64_t *bits;			/* owned, NULL: none yet */
	uint32_t base;			/* the oldest of DONE_BITS numbers */
};

#endif
