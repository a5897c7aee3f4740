/* SPDX-License-Identifier: MIT */
/*
 * How babeltrace's live source reaches the relay daemon.
 *
 * relay.c defines connect(), recv() and send() for the whole program, and babeltrace uses them.
 * They do what the system's do, except on a thread that called relay_use(). There
 *
 * - a connection to the loopback is made by relay->connect, since the relay daemon lives in another
 *   network namespace;
 * - the relay's answers are acknowledged at once: it writes in small pieces and would wait 40 ms
 *   for each acknowledgement;
 * - an answer that announces more data than was requested is refused, because babeltrace 2.0.4
 *   would write beyond its buffer, and so is metadata without bounds;
 * - a relay that says nothing for RELAY_WAIT_S counts as broken; babeltrace would wait for ever.
 *
 * Ownership: the caller's, until relay_use(NULL) on that thread. docs/architecture.md explains why
 * this is needed.
 */
#ifndef PROBES_SESSION_RELAY_H
#define PROBES_SESSION_RELAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define RELAY_WAIT_S 6			/* longer than a daemon may stay stopped (keeper.c) */
#define RELAY_HEAD 12u			/* how many bytes of an answer say how much data follows */

struct relay {
	int (*connect)(void *arg, uint16_t port);	/* NULL: that of the system */
	void *connect_arg;
	pthread_mutex_t lock;		/* protects fd */
	int fd;				/* owned: a duplicate of the connection; -1: none yet */
	/* Members that only its thread uses. */
	uint64_t most;			/* bytes that the answer may announce */
	uint32_t command;		/* the command that it answers */
	uint8_t head[RELAY_HEAD];	/* the start of the answer */
	unsigned int head_bytes;	/* how many bytes of it were read */
	const char *broken;		/* why no more data comes; NULL: unknown */
	bool asked;			/* a connection has been tried */
	bool answered;			/* the relay has said something on the last connection */
};

void relay_init(struct relay *relay);
void relay_release(struct relay *relay);
/* Applies relay to this thread's connections; NULL: ends that. */
void relay_use(struct relay *relay);
/* Why the last connection was lost, returned once; NULL: it was not lost. On the relay's thread. */
const char *relay_broken(struct relay *relay);
/* Wakes a recv() that waits for an answer. Any thread. */
void relay_hang_up(struct relay *relay);

#endif
