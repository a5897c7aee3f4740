/* SPDX-License-Identifier: MIT */
/*
 * Where the keeper and the daemons live.
 *
 * They get a private network namespace (for an ordinary user with a user namespace, in which ids
 * are unchanged), so that nobody else on the machine can reach the relay daemon, which knows no
 * authentication. When tftop is root they also get a free uid, because LTTng's libraries as uid 0
 * use the system's own directory only. Root that may not change its uid (in a namespace with one
 * id) gets a user namespace in which it has another number.
 *
 * What works is tried first in a child that ends at once: an attempt that fails half-way (a
 * distribution that allows unshare() but nothing inside) must not leave the keeper between two
 * worlds.
 *
 * Single-threaded processes only.
 */
#ifndef PROBES_SESSION_NAMESPACES_H
#define PROBES_SESSION_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct daemon_places {
	bool network;		/* a private network namespace is possible */
	bool other_uid;		/* root: it can change to `uid` */
	bool renamed;		/* root: it can only become `uid` in a user namespace of its own */
	uid_t uid;		/* the daemons' uid; geteuid() if tftop is not root */
	int error;		/* errno of the failed attempt to make a network namespace */
};

/* Finds out what works, in children that end at once (4 s at most each, see process_patience()). */
void places_try(struct daemon_places *places);

/* Moves the calling process into a private network namespace whose loopback is up and acknowledges
 * at once. inside: the number of its uid there: geteuid() for an ordinary user, another number than
 * 0 for a renamed root, 0 for a root that needs no user namespace. 0, or -1 and errno. */
int places_enter_network(uid_t inside);

/* Changes the calling process to uid (and an equal gid) for good; returns 0, or -1 and errno. */
int places_take_uid(uid_t uid);

/* Finds different ports of 127.0.0.1 on which no process listens now, 8 at most; 0: none was
 * found. */
void places_free_ports(uint16_t *ports, size_t count);

#endif
