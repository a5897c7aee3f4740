/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into tftop: what the relay daemon answers its reader comes damaged, cut, late or
 * not at all. Other threads and processes read as ever.
 *
 * WIRE_DOUBLE=FAULT[,SEED[,TIMES]]: the fault happens to so many answers (0: to all), from one
 * on that is chosen by SEED. What is said in LTTng's viewer protocol (lttng-viewer-abi.h): a
 * command has its number at 8; answers are big endian, the length of what they announce stands
 * at 4, the data comes behind 12 bytes.
 *
 *	bytes		bytes within a packet of events are others
 *	times		the first numbers of a packet are, its times too
 *	metadata	bytes of metadata are others
 *	index		bytes of what is said of the next packet are others
 *	answers		bytes of any answer are others
 *	huge		a packet's length is 2^32-1
 *	cut		the connection ends in the midst of a packet
 *	stall		no packet comes any more
 *	slow		of packets 4 KiB come a second
 *	refused		the connection ends in the midst of a packet; for TIMES ms from then on,
 *			answers say that the metadata cannot be had
 *
 * The file WIRE_OVER is made when an answer comes that could have had the fault and is sound
 * because so many had it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { NEXT_INDEX = 4, PACKET = 5, METADATA = 6 };
#define METADATA_ERROR 3

#define HEAD 12u			/* length of an answer without its data */
#define SLOW 64u			/* bytes at a time, 64 times a second */
#define FIRST 8u			/* most answers before the fault */
#define PACKET_HEAD 80u			/* size of magic, UUID, ids, times and sizes */

static struct {
	char fault[16];
	uint64_t random;
	/* number of answers: with a fault, still to be damaged, before the first fault */
	long times, left, before;
	uint32_t command;
	size_t at;			/* offset in the answer */
	bool read, on;
	int64_t cut_ms;			/* when the connection was cut; 0: it was not */
} w;

static uint32_t chance(void)
{
	w.random = w.random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w.random >> 33);
}

static void read_words(void)
{
	const char *words = getenv("WIRE_DOUBLE");
	char *end;

	if (w.read)
		return;
	w.read = true;
	if (!words)
		return;
	for (size_t i = 0; *words && *words != ','; words++)
		if (i < sizeof(w.fault) - 1)
			w.fault[i++] = *words;
	if (*words)
		w.random = strtoull(words + 1, &end, 10);
	w.times = *words && *end ? strtol(end + 1, NULL, 10) : 1;
	w.left = w.times;
	for (int i = 0; i < 8; i++)
		chance();
	w.before = chance() % FIRST;
}

static bool is_reader(void)
{
	char name[16];

	prctl(PR_GET_NAME, name);
	if (strcmp(name, "reader"))
		return false;
	read_words();
	return w.fault[0];
}

static bool is(const char *fault)
{
	return !strcmp(w.fault, fault);
}

/* Whether the fault applies to this answer. */
static bool concerns(void)
{
	switch (w.command) {
	case PACKET:
		return !is("metadata") && !is("index") && !(is("refused") && w.cut_ms);
	case METADATA:
		return is("metadata") || is("answers") || (is("refused") && w.cut_ms);
	case NEXT_INDEX:
		return is("index") || is("answers");
	default:
		return is("answers");
	}
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void begin_answer(const unsigned char *command)
{
	w.command = (uint32_t)command[8] << 24 | (uint32_t)command[9] << 16 |
		    (uint32_t)command[10] << 8 | command[11];
	w.at = 0;
	w.on = false;
	if (!concerns() || w.before-- > 0)
		return;
	if (!is("refused"))
		w.on = !w.times || w.left-- > 0;
	else if (w.command == PACKET)
		w.on = (w.cut_ms = now_ms()) > 0;
	else
		w.on = now_ms() - w.cut_ms < w.times;
	if (!w.on && getenv("WIRE_OVER"))
		close(open(getenv("WIRE_OVER"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
	       socklen_t to_size)
{
	if (size >= 16 && is_reader())
		begin_answer(data);
	return syscall(SYS_sendto, fd, data, size, flags, to, to_size);
}

static void garble(unsigned char *data, size_t size)
{
	size_t head = is("answers") || is("index") ? 0 : HEAD;
	unsigned int one_of = is("bytes") || is("answers") ? 128 : is("metadata") ? 512 : 16;

	for (size_t i = 0; i < size; i++)
		if (w.at + i >= head && (!is("times") || w.at + i < HEAD + PACKET_HEAD) &&
		    chance() % one_of == 0)
			data[i] = (unsigned char)(chance() & 1 ? chance() : chance() & 1 ? 0xff :
				0);
}

static bool cuts(void)
{
	return is("cut") || (is("refused") && w.command == PACKET);
}

/* The status of an answer with metadata stands at 8. */
static void refuse(unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (w.at + i >= 8 && w.at + i < HEAD)
			data[i] = w.at + i == HEAD - 1 ? METADATA_ERROR : 0;
}

static void make_huge(unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		size_t at = w.at + i;

		if (at >= 4 && at < 8)
			data[i] = 0xff;
	}
}

/* Waits at most as long as the timeout of the socket. */
static ssize_t wait_for_end(int fd)
{
	struct pollfd end = { .fd = fd, .events = POLLRDHUP };
	struct timeval most = { 0, 0 };
	socklen_t size = sizeof(most);
	int ready;

	getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, &size);
	do
		ready = poll(&end, 1, most.tv_sec ? (int)most.tv_sec * 1000 : -1);
	while (ready < 0 && errno == EINTR);
	errno = EAGAIN;
	return ready ? 0 : -1;
}

ssize_t recvfrom(int fd, void *restrict data, size_t size, int flags,
		 struct sockaddr *restrict from, socklen_t *restrict from_size)
{
	const struct timespec pause = { 0, 1000000000 / 64 };
	ssize_t got;

	if (!is_reader() || !w.on)
		return syscall(SYS_recvfrom, fd, data, size, flags, from, from_size);
	if (is("stall"))
		return wait_for_end(fd);
	if (cuts() && w.at > HEAD) {
		shutdown(fd, SHUT_RDWR);
		return 0;
	}
	if (is("slow")) {
		nanosleep(&pause, NULL);
		size = size < SLOW ? size : SLOW;
	} else if (cuts()) {
		size = w.at ? size / 2 : HEAD;
	}
	got = syscall(SYS_recvfrom, fd, data, size, flags, from, from_size);
	if (got <= 0)
		return got;
	if (is("huge"))
		make_huge(data, (size_t)got);
	else if (is("refused") && !cuts())
		refuse(data, (size_t)got);
	else if (!is("slow") && !cuts())
		garble(data, (size_t)got);
	w.at += (size_t)got;
	return got;
}
