/* SPDX-License-Identifier: MIT */
/*
 * The keeper: parent of the LTTng daemons, in a private network namespace
 * where there can be one.
 *
 * Always true:
 *  - It starts by itself, as soon as it is forked, and says WIRE_READY or
 *    WIRE_FAILED within ARM_LIMIT_NS (session.c), up to three times that where many want the
 *    processors (process_patience()).
 *  - After WIRE_BEGUN a daemon that dies or has been stopped for 5 s is replaced, with all
 *    others: WIRE_RESTARTS, then WIRE_READY once more, or WIRE_BROKEN. Three times a minute
 *    at most. Programs find the new set at the same place.
 *  - When its socket to tftop ends, however tftop ended, it takes every process
 *    and file of the session away and ends: 0.5 s, at most 2 s.
 *  - Every process that it or a daemon forks is or becomes its child
 *    (subreaper), so that none escapes.
 */
#ifndef PROBES_SESSION_KEEPER_H
#define PROBES_SESSION_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

struct keeper_options {
	pid_t tftop;
	int fd;				/* messages, SEQPACKET */
	int broker;			/* requests for connected sockets: head.status = port */
	const char *record_dir;		/* absolute, or NULL */
	const char *library_dir;	/* our libraries, or NULL: none */
	bool scout;			/* see scout.h; false: PROGRAM changes its user */
	uid_t program_uid;		/* PROGRAM's, which only of an attached one is not tftop's */
	gid_t program_gid;
	const char *known;		/* second name of the folder, which goes with it; NULL: none */
	bool lossless;
	bool unhurried;			/* see struct session_options */
};

_Noreturn void keeper_main(const struct keeper_options *options);

#endif
