/* SPDX-License-Identifier: MIT */
/*
 * Where the keeper and the daemons live: a private network namespace (with a
 * user namespace, ids one to one, for an ordinary user), so that nobody else
 * on the machine can reach the relay daemon, which knows no authentication;
 * and, when tftop is root, a free uid, because liblttng as uid 0 knows only
 * the system's own directory. Root that may not change its uid (a namespace
 * with one id) gets a user namespace in which it has another number.
 *
 * What works is found out in a throw-away child first: a step that fails half
 * way (a distribution that allows unshare() but nothing inside) must not leave
 * the keeper between two worlds.
 *
 * Single-threaded process only.
 */
#ifndef PROBES_SESSION_NAMESPACES_H
#define PROBES_SESSION_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct daemon_places {
	bool network;		/* a private network namespace can be had */
	bool other_uid;		/* root: `uid` can be taken */
	bool renamed;		/* root: only as `uid` of a user namespace of its own */
	uid_t uid;		/* the daemons' uid; geteuid() when not root */
	int error;		/* errno of what the network namespace failed with */
};

/* Tries, in a child that ends at once (2 s at most), and says what works. */
void places_try(struct daemon_places *places);

/* The calling process moves into the private network namespace; loopback is
 * up, its routes acknowledge at once. inside: the number its own uid has
 * there, geteuid() for an ordinary user, anything but 0 for a renamed root,
 * 0 for a root that needs no user namespace. 0, or -1 and errno. */
int places_enter_network(uid_t inside);

/* The calling process takes uid (and gid) for good; 0, or -1 and errno. */
int places_take_uid(uid_t uid);

/* Different ports of 127.0.0.1 that nobody listens on now, at most 8; 0 where
 * there is none. */
void places_free_ports(uint16_t *ports, size_t count);

#endif
