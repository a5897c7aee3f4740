/* SPDX-License-Identifier: MIT */
/* A live reader whose relay daemon dies before it was ever attached: it waits for another one. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "probes/session/live/reader.h"
#include "tests/unit/test.h"

#define PATIENCE_MS 30000

static void ignore(void *arg, const struct event *events, size_t count)
{
	(void)arg;
	(void)events;
	(void)count;
}

static int refuse(void *arg, uint16_t port)
{
	atomic_store((_Atomic uint16_t *)arg, port);
	errno = ECONNREFUSED;
	return -1;
}

static struct reader *start_at(const char *url, _Atomic uint16_t *asked)
{
	char error[READER_ERROR_MAX];
	struct reader_options options = {
		.url = url, .connect = refuse, .connect_arg = asked, .sink = ignore,
	};

	return reader_start(&options, error);
}

TEST(reader_waits_for_other_daemons)
{
	_Atomic uint16_t asked = 0;
	struct reader *reader = start_at("net://127.0.0.1:5344/host/here/first", &asked);

	CHECK(reader);
	CHECK(reader_wait_attached(reader, PATIENCE_MS));
	CHECK_INT(reader_state(reader), READER_ATTACHED);
	CHECK_INT(asked, 5344);
	reader_renew(reader, "net://127.0.0.1:5999/host/here/second");
	for (int i = 0; i < PATIENCE_MS && asked != 5999; i++)
		usleep(1000);
	CHECK_INT(asked, 5999);
	reader_give_up(reader);
	CHECK(reader_wait_end(reader, PATIENCE_MS));
	CHECK_INT(reader_state(reader), READER_FAILED);
	CHECK(strstr(reader_error(reader), "Connection refused"));
	CHECK(reader_free(reader));
}

TEST(reader_of_a_wrong_url_waits_for_nothing)
{
	_Atomic uint16_t asked = 0;
	struct reader *reader = start_at("net://", &asked);

	CHECK(reader);
	CHECK(reader_wait_end(reader, PATIENCE_MS));
	CHECK_INT(reader_state(reader), READER_FAILED);
	CHECK_INT(asked, 0);
	CHECK(reader_free(reader));
}
