/* SPDX-License-Identifier: MIT */
/*
 * The keeper: the parent of the LTTng daemons, in a private network namespace where that is
 * possible.
 *
 * Always true:
 * - It starts its work as soon as it is forked, and sends WIRE_READY or WIRE_FAILED within
 *   ARM_LIMIT_NS (session.c), which process_patience() stretches to up to three times that.
 * - After WIRE_BEGUN, if a daemon dies or has been stopped for 5 s, all daemons are replaced: the
 *   keeper sends WIRE_RESTARTS, then WIRE_READY again, or WIRE_BROKEN. That happens at most three
 *   times a minute. Programs find the new daemons at the same place.
 * - Before WIRE_BEGUN a daemon that dies is told as WIRE_FAILED. If WIRE_BEGUN crosses that on its
 *   way, WIRE_RESTARTS or WIRE_BROKEN follows.
 * - When its socket to tftop ends, however tftop ended, it ends every process and removes every
 *   file of the session, and ends: in 0.5 s, 2 s at most.
 * - Every process that it or a daemon forks is or becomes its child (subreaper), so that none
 *   escapes.
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
	const char *library_dir;	/* folder of the probes' libraries; NULL: none */
	bool scout;			/* see scout.h; false: PROGRAM changes its user */
	uid_t program_uid;		/* uid of PROGRAM; tftop's own unless tftop attaches */
	gid_t program_gid;
	const char *known;		/* a second name of the folder, removed with it; or NULL */
	bool lossless;
	bool unhurried;			/* see struct session_options */
};

_Noreturn void keeper_main(const struct keeper_options *options);

#endif
