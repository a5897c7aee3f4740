/* SPDX-License-Identifier: MIT */
#include "probes/session/core/core.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/process/pids.h"

/* ---- reports ---- */

void session_note(struct session *s, const struct session_event *event, const char *text)
{
	size_t size = strlen(text ? text : "") + 1;
	struct session_note *note = malloc(sizeof(*note) + size);
	uint64_t one = 1;

	if (!note)
		return;
	note->next = NULL;
	note->event = *event;
	memcpy(note->text, text ? text : "", size);
	note->event.text = note->text;
	if (s->last)
		s->last->next = note;
	else
		s->first = note;
	s->last = note;
	if (write(s->wake_fd, &one, sizeof(one)) < 0)
		return;
}

void session_say(struct session *s, int level, const char *text)
{
	struct session_event event = { .type = SESSION_MESSAGE, .level = level };

	session_note(s, &event, text);
}

/* ---- descriptors ---- */

bool session_watch(struct session *s, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(s->poll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

void session_unwatch(struct session *s, int fd)
{
	epoll_ctl(s->poll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* ---- PROGRAM ---- */

void session_make_environment(struct session *s, struct environ_options options)
{
	size_t bytes;

	if (!s->armed || s->broken)
		return;
	options.lossless = s->lossless;
	bytes = environ_lines(&s->probes, &options, s->plan->lines, sizeof(s->plan->lines));
	free(s->environment);
	s->environment = malloc(bytes + 1);
	if (s->environment) {
		memcpy(s->environment, s->plan->lines, bytes);
		for (size_t i = 0; i < bytes; i++)
			if (!s->environment[i])
				s->environment[i] = '\n';
		s->environment[bytes] = '\0';
	}
	s->plan->bytes = (uint32_t)bytes;
}

uint32_t session_pid(const struct session *s, uint32_t inner)
{
	return pids_outer(s->pids, inner);
}

bool session_has_data(const struct session *s)
{
	struct pollfd opened = { .fd = s->opened_fd, .events = POLLIN };

	/* Not read: once opened, it stays readable. */
	return s->armed && (s->opened_fd < 0 || poll(&opened, 1, 0) != 0);
}

void session_alive(struct session *s)
{
	if (s->control)
		__atomic_store_n(&s->control->alive_ns, monotonic_ns(), __ATOMIC_RELAXED);
}
