/* SPDX-License-Identifier: MIT */
/*
 * How babeltrace's live source reaches the relay daemon.
 *
 * relay.c defines connect(), recv() and send() for the whole program: babeltrace finds
 * them. They are the system's own, except on a thread that relay_use() was
 * called on: there a connection to the loopback comes from `connect`, and the
 * relay's answers are acknowledged at once (it writes in small pieces and would
 * wait 40 ms for each acknowledgement). One that announces more data than was asked for is
 * refused, as babeltrace 2.0.4 writes it behind its buffer; so is metadata without bounds.
 * A relay that says nothing for RELAY_WAIT_S has broken off, too: else babeltrace waits for ever.
 *
 * Ownership: the caller's, until relay_use(NULL) on that thread.
 */
#ifndef PROBES_SESSION_RELAY_H
#define PROBES_SESSION_RELAY_H

#include <pthread.h>
#include <stdint.h>

#define RELAY_WAIT_S 6			/* longer than a daemon may be stopped (keeper.c) */
#define RELAY_HEAD 12u			/* of an answer that announces data */

struct relay {
	int (*connect)(void *arg, uint16_t port);	/* NULL: the system's */
	void *connect_arg;
	pthread_mutex_t lock;		/* fd */
	int fd;				/* owned: a second handle; -1: none yet */
	/* the thread's own */
	uint64_t most;			/* bytes that the answer may announce */
	uint32_t command;		/* that it answers */
	uint8_t head[RELAY_HEAD];	/* its beginning */
	unsigned int head_bytes;	/* of it, read */
	const char *broken;		/* why there is no more data; NULL: it is not known */
};

void relay_init(struct relay *relay);
void relay_release(struct relay *relay);
/* This thread's connections are the relay's; NULL: no more. */
void relay_use(struct relay *relay);
/* Why the last connection broke off, forgotten then; NULL: it did not. Its thread. */
const char *relay_broken(struct relay *relay);
/* Wakes a recv() that waits for a relay that does not answer. Any thread. */
void relay_hang_up(struct relay *relay);

#endif
