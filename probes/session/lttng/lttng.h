/* SPDX-License-Identifier: MIT */
/*
 * The calls of liblttng-ctl. They are made in a process of their own, because they can hang when a
 * daemon dies, and because root has to make them under the daemons' uid. The keeper watches that
 * process and kills it at a deadline.
 *
 * Channel "meta" carries tftop:def_*, channel "events" carries tftop:ev_*, so that a flood of
 * events cannot crowd out names and properties. Buffers are per uid (with the versions in Debian
 * 12, buffers per process lose the second process).
 */
#ifndef PROBES_SESSION_LTTNG_H
#define PROBES_SESSION_LTTNG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lttng_plan {
	const char *dir;		/* LTTNG_HOME; borrowed */
	char session[64];
	char url[64];			/* net://127.0.0.1:CONTROL:DATA */
	char shm_path[160];		/* "": /dev/shm */
	uid_t uid;
	uid_t program_uid;
	/* traces only admitted uids; otherwise programs of every uid that can reach the socket */
	bool only_admitted;
	uint32_t timer_us;		/* period of the live timer */
	uint64_t event_bytes, meta_bytes;	/* sub-buffer sizes, powers of two */
	uint32_t event_count, meta_count;	/* sub-buffers per CPU */
	uint32_t ring_files;		/* trace files kept per stream; 0: all */
	bool lossless;
};

/*
 * Chooses the sizes. room: free bytes of /dev/shm; disk: free bytes of the ring's file system.
 * false: not even the smallest buffers fit into room; *need is what they would take.
 */
bool lttng_plan_sizes(struct lttng_plan *plan, uint32_t cpus, uint64_t room,
		      uint64_t disk, uint64_t *need);

/* How much of /dev/shm LTTng takes in addition to the buffers. */
uint64_t lttng_fixed_bytes(uint32_t cpus);

/*
 * The main function of the process, called in a forked child. It answers WIRE_SETUP and WIRE_STOP
 * on fd with WIRE_DONE (status 0, or -1 and a sentence). It does not answer WIRE_ADMIT, except with
 * WIRE_MESSAGE if LTTng refuses.
 */
_Noreturn void lttng_main(const struct lttng_plan *plan, int fd);

#endif
