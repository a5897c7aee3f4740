/* SPDX-License-Identifier: MIT */
#include "probes/session/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* This thread's. */
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

/* The socket that relay->connect made takes the place of fd. */
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

__attribute__((visibility("default")))
int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	struct relay *relay = current;
	uint16_t port;
	int result;

	if (!relay)
		return (int)syscall(SYS_connect, fd, address, size);
	if (relay->connect && to_loopback(address, size, &port))
		result = connect_through(relay, fd, port);
	else
		result = (int)syscall(SYS_connect, fd, address, size);
	if (result == 0) {
		acknowledge_at_once(fd);
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
	if (current)
		acknowledge_at_once(fd);
	return recvfrom(fd, data, size, flags, NULL, NULL);
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
