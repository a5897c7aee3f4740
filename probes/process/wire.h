/* SPDX-License-Identifier: MIT */
/*
 * Messages between tftop, its launcher and its keeper. Each is one datagram of a SOCK_SEQPACKET
 * pair: a head and up to WIRE_DATA_MAX bytes, with at most one descriptor.
 *
 * Always true: a datagram arrives whole or not at all; the end of the peer, however it ended, is
 * read as WIRE_EOF after everything that it had sent. No function raises SIGPIPE. All three
 * processes are the same binary, so that the layout is the native one.
 *
 * Threads: none of its own; one reader and one writer per socket.
 */
#ifndef PROBES_PROCESS_WIRE_H
#define PROBES_PROCESS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_DATA_MAX 16384

enum wire_type {
	WIRE_NONE = 0,
	/* launcher to tftop */
	WIRE_STARTED,		/* pid */
	WIRE_EXEC_FAILED,	/* status 126 or 127, data: sentence */
	WIRE_OUTPUT,		/* data */
	WIRE_STOPPED,
	WIRE_CONTINUED,
	WIRE_EXITED,		/* status, signal, pid */
	/* launcher or keeper to tftop, and inside the keeper */
	WIRE_MESSAGE,		/* status: level, data: sentence */
	/* keeper to tftop */
	WIRE_READY,		/* data: struct wire_ready; the first one brings the control
				 * page as a descriptor */
	WIRE_FAILED,		/* data: sentence */
	WIRE_BROKEN,		/* data: sentence */
	WIRE_RESTARTS,		/* data: sentence; daemons are replaced, WIRE_READY follows */
	WIRE_DRAINED,		/* tracing has stopped, the relay daemon has everything */
	/* from tftop to the launcher */
	WIRE_RELEASE,
	WIRE_ABORT,		/* do not start PROGRAM at all */
	WIRE_RESIZE,		/* data: struct winsize */
	WIRE_SIGNAL,		/* signal */
	WIRE_LET_GO,
	/* from tftop to the keeper, which passes them on to the process that calls liblttng-ctl */
	WIRE_BEGUN,		/* PROGRAM is traced from now on */
	WIRE_STOP,
	WIRE_ADMIT,		/* status: a uid whose programs are to be traced; no answer */
	/* inside the keeper: to and from the process that calls liblttng-ctl */
	WIRE_SETUP,
	WIRE_DONE,		/* status 0 or -1, data: sentence */
};

struct wire_head {
	uint32_t type;		/* enum wire_type */
	int32_t pid, status, signal;
	int64_t time_ns;	/* WIRE_STARTED, WIRE_EXITED: when, CLOCK_MONOTONIC */
};

struct wire_message {
	struct wire_head head;
	size_t size;		/* size of data */
	char data[WIRE_DATA_MAX + 1];	/* a NUL follows data */
};

/* What tftop needs to know about a session that is ready. */
struct wire_ready {
	char dir[128];		/* private folder, LTTNG_HOME */
	char trace[1024];	/* folder that the relay daemon writes to */
	char url[256];		/* where the reader connects to */
	uint32_t timer_us;	/* period of the live timer */
	uint32_t past_users;	/* uids in `trace` that belong to daemons that died */
};

enum wire_result {
	WIRE_OK = 1,
	WIRE_EOF = 0,
	WIRE_AGAIN = -1,	/* no message, or no room for one */
	WIRE_ERROR = -2,	/* errno */
};

/* A close-on-exec pair; -1 and errno. */
int wire_pair(int fds[2]);

/* Sends a message; wait: wait for room. pass: a descriptor to send with it, negative: none. */
enum wire_result wire_send(int fd, const struct wire_head *head, const void *data,
			   size_t size, int pass, bool wait);

/* Sends a head with a sentence, cut to fit. */
enum wire_result wire_text(int fd, enum wire_type type, int status, const char *text);

/*
 * Receives one message without waiting. *passed gets a close-on-exec descriptor that the caller
 * owns, or -1. passed NULL: descriptors are closed.
 */
enum wire_result wire_recv(int fd, struct wire_message *wire, int *passed);

/* As wire_recv(), but waits until deadline_ns (CLOCK_MONOTONIC). */
enum wire_result wire_recv_until(int fd, struct wire_message *wire, int *passed,
				 int64_t deadline_ns);

#endif
