/* SPDX-License-Identifier: MIT */
/*
 * How babeltrace's live source reaches the relay daemon.
 *
 * relay.c defines connect() and recv() for the whole program: babeltrace finds
 * them. They are the system's own, except on a thread that relay_use() was
 * called on: there a connection to the loopback comes from `connect`, and the
 * relay's answers are acknowledged at once (it writes in small pieces and would
 * wait 40 ms for each acknowledgement).
 *
 * Ownership: the caller's, until relay_use(NULL) on that thread.
 */
#ifndef PROBES_SESSION_RELAY_H
#define PROBES_SESSION_RELAY_H

#include <pthread.h>
#include <stdint.h>

struct relay {
	int (*connect)(void *arg, uint16_t port);	/* NULL: the system's */
	void *connect_arg;
	pthread_mutex_t lock;		/* fd */
	int fd;				/* owned: a second handle; -1: none yet */
};

void relay_init(struct relay *relay);
void relay_release(struct relay *relay);
/* This thread's connections are the relay's; NULL: no more. */
void relay_use(struct relay *relay);
/* Wakes a recv() that waits for a relay that does not answer. Any thread. */
void relay_hang_up(struct relay *relay);

#endif
