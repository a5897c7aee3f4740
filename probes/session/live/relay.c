/* SPDX-License-Identifier: MIT */
#include "probes/session/live/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* That of this thread. */
static _Thread_local struct relay *current;

static void acknowledge_at_once(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
}

static bool to_loopback(const struct sockaddr *address, socklen_t size, uint16_t *port)
{
	struct sockaddr_in in;

	if (size < sizeof(in) || address->sa_family != AF_INET)
		return false;
	memcpy(&in, address, sizeof(in));
	*port = ntohs(in.sin_port);
	return ntohl(in.sin_addr.s_addr) >> 24 == 127;
}

/* Replaces fd by the socket that relay->connect made. */
static int connect_through(struct relay *relay, int fd, uint16_t port)
{
	int made = relay->connect(relay->connect_arg, port);
	int error;

	if (made < 0)
		return -1;
	if (dup3(made, fd, O_CLOEXEC) < 0) {
		error = errno;
		close(made);
		errno = error;
		return -1;
	}
	close(made);
	return 0;
}

/* Commands of LTTng's viewers that are answered with data (lttng-viewer-abi.h of lttng-tools). All
 * numbers are big endian. A command's number is in the 32 bits at 8, the requested size at 32. */
#define COMMAND_AT 8
#define COMMAND_BYTES 16
#define ASKED_AT 32
#define GET_PACKET 5
#define GET_METADATA 6
#define METADATA_MAX (64u << 20)

static uint32_t number_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* Notes from a command how large its answer may be. */
static void look_at_command(struct relay *relay, const uint8_t *bytes, size_t size)
{
	relay->command = size >= COMMAND_BYTES ? number_at(bytes + COMMAND_AT) : 0;
	relay->head_bytes = 0;
	relay->most = relay->command == GET_METADATA ? METADATA_MAX :
		      size >= ASKED_AT + 4 ? number_at(bytes + ASKED_AT) : 0;
}

/* Whether the answer announces no more than it may, as far as that is known. */
static bool is_good(struct relay *relay, const uint8_t *bytes, size_t size)
{
	uint64_t announced;

	if (relay->command != GET_PACKET && relay->command != GET_METADATA)
		return true;
	for (; size && relay->head_bytes < RELAY_HEAD; size--)
		relay->head[relay->head_bytes++] = *bytes++;
	if (relay->head_bytes < RELAY_HEAD)
		return true;
	announced = number_at(relay->head + 4);
	if (relay->command == GET_METADATA)
		announced |= (uint64_t)number_at(relay->head) << 32;
	return announced <= relay->most;
}

static void wait_bounded(int fd)
{
	struct timeval most = { RELAY_WAIT_S, 0 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
}

__attribute__((visibility("default")))
int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	struct relay *relay = current;
	uint16_t port;
	int result;

	if (!relay)
		return (int)syscall(SYS_connect, fd, address, size);
	relay->asked = true;
	relay->answered = false;
	if (relay->connect && to_loopback(address, size, &port))
		result = connect_through(relay, fd, port);
	else
		result = (int)syscall(SYS_connect, fd, address, size);
	if (result == 0) {
		acknowledge_at_once(fd);
		wait_bounded(fd);
		relay->broken = NULL;
		pthread_mutex_lock(&relay->lock);
		if (relay->fd >= 0)
			close(relay->fd);
		relay->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		pthread_mutex_unlock(&relay->lock);
	}
	return result;
}

__attribute__((visibility("default")))
ssize_t recv(int fd, void *data, size_t size, int flags)
{
	struct relay *relay = current;
	ssize_t got;

	if (!relay)
		return recvfrom(fd, data, size, flags, NULL, NULL);
	acknowledge_at_once(fd);
	got = recvfrom(fd, data, size, flags, NULL, NULL);
	if (got > 0 && !is_good(relay, data, (size_t)got)) {
		relay->broken = "the LTTng relay daemon announced more data than was requested";
		errno = EPROTO;
		return -1;
	}
	if (got < 0 && errno == EAGAIN)
		relay->broken = "the LTTng relay daemon did not answer for 6 s";
	else if (got == 0 || (got < 0 && errno != EINTR))
		relay->broken = "the connection to the LTTng relay daemon was lost";
	if (got > 0)
		relay->answered = true;
	return got;
}

__attribute__((visibility("default")))
ssize_t send(int fd, const void *data, size_t size, int flags)
{
	if (current)
		look_at_command(current, data, size);
	return sendto(fd, data, size, flags, NULL, 0);
}

const char *relay_broken(struct relay *relay)
{
	const char *why = relay->broken;

	relay->broken = NULL;
	return why;
}

void relay_init(struct relay *relay)
{
	relay->fd = -1;
	pthread_mutex_init(&relay->lock, NULL);
}

void relay_release(struct relay *relay)
{
	if (relay->fd >= 0)
		close(relay->fd);
	pthread_mutex_destroy(&relay->lock);
}

void relay_use(struct relay *relay)
{
	current = relay;
}

void relay_hang_up(struct relay *relay)
{
	pthread_mutex_lock(&relay->lock);
	if (relay->fd >= 0)
		shutdown(relay->fd, SHUT_RDWR);
	pthread_mutex_unlock(&relay->lock);
}
