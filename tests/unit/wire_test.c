/* SPDX-License-Identifier: MIT */
#include "probes/process/wire.h"

#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"

static void say(int fd, int status)
{
	struct wire_head head = { .type = WIRE_MESSAGE, .status = status };

	CHECK_INT(wire_send(fd, &head, "text", 4, -1, true), WIRE_OK);
}

/* Whoever ends with something unread is heard to the end: the kernel says "reset" first. */
TEST(wire_last_words_of_who_did_not_listen)
{
	static struct wire_message wire;
	int fds[2];

	CHECK_INT(wire_pair(fds), 0);
	say(fds[0], 1);
	say(fds[0], 2);
	say(fds[1], 3);
	close(fds[0]);
	for (int i = 1; i <= 2; i++) {
		CHECK_INT(wire_recv(fds[1], &wire, NULL), WIRE_OK);
		CHECK_INT(wire.head.status, i);
		CHECK(!strcmp(wire.data, "text"));
	}
	CHECK_INT(wire_recv(fds[1], &wire, NULL), WIRE_EOF);
	CHECK_INT(wire_recv(fds[1], &wire, NULL), WIRE_EOF);
	close(fds[1]);
}
