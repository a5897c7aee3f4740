/* SPDX-License-Identifier: MIT */
#include "probes/process/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "model/base/util.h"

int wire_pair(int fds[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds);
}

enum wire_result wire_send(int fd, const struct wire_head *head, const void *data,
			   size_t size, int pass, bool wait)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec parts[2] = {
		{ .iov_base = (void *)(uintptr_t)head, .iov_len = sizeof(*head) },
		{ .iov_base = (void *)(uintptr_t)data, .iov_len = size },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = size ? 2 : 1 };

	if (size > WIRE_DATA_MAX) {
		errno = EMSGSIZE;
		return WIRE_ERROR;
	}
	if (pass >= 0) {
		memset(&control, 0, sizeof(control));
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &pass, sizeof(int));
	}
	for (;;) {
		if (sendmsg(fd, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)) >= 0)
			return WIRE_OK;
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN || errno == ENOBUFS)
			return WIRE_AGAIN;
		return errno == EPIPE || errno == ECONNRESET ? WIRE_EOF : WIRE_ERROR;
	}
}

enum wire_result wire_text(int fd, enum wire_type type, int status, const char *text)
{
	struct wire_head head = { .type = type, .status = status };
	size_t size = strlen(text);

	if (size > WIRE_DATA_MAX)
		size = WIRE_DATA_MAX;
	return wire_send(fd, &head, text, size, -1, true);
}

static void take_descriptor(struct msghdr *message, int *passed)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		int fd;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		if (passed && *passed < 0)
			*passed = fd;
		else
			close(fd);
	}
}

enum wire_result wire_recv(int fd, struct wire_message *wire, int *passed)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec parts[2] = {
		{ .iov_base = &wire->head, .iov_len = sizeof(wire->head) },
		{ .iov_base = wire->data, .iov_len = WIRE_DATA_MAX },
	};
	struct msghdr message = {
		.msg_iov = parts, .msg_iovlen = 2,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	bool reset = false;
	ssize_t got;

	if (passed)
		*passed = -1;
	/* Reset: the other end closed with unread data. What it had sent is still readable after
	 * that error, which is reported once. */
	for (;;) {
		got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (got >= 0 || (errno != EINTR && (errno != ECONNRESET || reset)))
			break;
		reset |= errno == ECONNRESET;
	}
	if (got < 0)
		return errno == EAGAIN ? WIRE_AGAIN
			: errno == ECONNRESET ? WIRE_EOF : WIRE_ERROR;
	take_descriptor(&message, passed);
	if (got == 0)
		return WIRE_EOF;
	if ((size_t)got < sizeof(wire->head)) {
		errno = EPROTO;
		return WIRE_ERROR;
	}
	wire->size = (size_t)got - sizeof(wire->head);
	wire->data[wire->size] = '\0';
	return WIRE_OK;
}

enum wire_result wire_recv_until(int fd, struct wire_message *wire, int *passed,
				 int64_t deadline_ns)
{
	for (;;) {
		enum wire_result result = wire_recv(fd, wire, passed);
		int64_t left = deadline_ns - monotonic_ns();
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (result != WIRE_AGAIN || left <= 0)
			return result;
		/* In parts: a far deadline does not fit into poll's int. */
		if (left > 60000000000)
			left = 60000000000;
		poll(&p, 1, (int)(left / 1000000) + 1);
	}
}
