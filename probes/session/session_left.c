/* SPDX-License-Identifier: MIT */
/*
 * The processes that PROGRAM left running at its end. SESSION_EXITED is held back while there are
 * any: for a moment, because many are ending too or have not called exec yet, or until the last has
 * ended if the user wants that. To end takes a processor, and where that is scarce longer than the
 * moment (Python's fork server, with what it has loaded): while one of them works, the moment is
 * prolonged.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "probes/session/internal.h"
#include "probes/session/left.h"

#define MOMENT_NS INT64_C(200000000)
#define WORKS_NS INT64_C(2000000000)	/* the moment of what works */
#define NAMED 3				/* how many a message names */
#define COMMAND_CELLS 60

bool session_tell_end(struct session *s, const struct session_event *event)
{
	s->left = s->armed ? calloc(1, sizeof(*s->left)) : NULL;
	if (s->left) {
		s->left->marks = (struct left_marks){
			.dirs = { s->ready.dir, s->join }, .mapped = s->attach,
			.program = s->program,
		};
		left_find(s->left);
	}
	s->held = *event;
	s->held_ns = monotonic_ns();
	if (s->left && s->left->count) {
		s->holds = true;
		return false;
	}
	if (!s->first)
		return true;
	/* First report what the last look found. */
	session_note(s, event, "");
	return false;
}

void session_release_end(struct session *s)
{
	if (!s->holds)
		return;
	s->holds = false;
	session_note(s, &s->held, "");
}

static void say_stays(struct session *s)
{
	char text[SESSION_ERROR_MAX], how[40] = "";
	size_t used;

	s->stay_told = true;
	if (s->held.signal)
		snprintf(how, sizeof(how), " by signal %d", s->held.signal);
	else if (s->held.status >= 0)
		snprintf(how, sizeof(how), " with status %d", s->held.status);
	used = (size_t)snprintf(text, sizeof(text), "PROGRAM has ended%s; tftop stays until what "
				"it left running has ended:", how);
	for (size_t i = 0; i < s->left->count && i < NAMED; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s process %d "
					 "('%.*s')", i ? "," : "", (int)s->left->rows[i].pid,
					 COMMAND_CELLS, s->left->rows[i].command);
	if (s->left->count + s->left->more > NAMED)
		snprintf(text + used, sizeof(text) - used, " and %zu more",
			 s->left->count + s->left->more - NAMED);
	session_say(s, 0, text);
}

void session_look_at_left(struct session *s)
{
	int64_t held_ns = monotonic_ns() - s->held_ns;

	if (!s->holds)
		return;
	left_look(s->left);
	/* What they have started in the meantime is one of them. */
	if (!s->left->count && s->stay)
		left_find(s->left);
	if (!s->left->count) {
		if (s->stay_told)
			s->held.time_ns = monotonic_ns();
		session_release_end(s);
	} else if (held_ns >= (s->left->works && !s->stay ? WORKS_NS : MOMENT_NS)) {
		if (!s->stay)
			session_release_end(s);
		else if (!s->stay_told)
			say_stays(s);
	}
}

bool session_stays(const struct session *s)
{
	return s->holds && s->stay;
}

size_t session_left(struct session *s, const struct session_left **left, size_t *more)
{
	*more = 0;
	if (!s->left || s->holds)
		return 0;
	left_look(s->left);
	*left = s->left->rows;
	*more = s->left->more;
	return s->left->count;
}
