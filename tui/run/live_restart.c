/* SPDX-License-Identifier: MIT */
/* Daemons that die and are replaced: the data read so far is kept, events in between are lost. */
#include "model/base/util.h"
#include "tui/run/live_internal.h"
#include "tui/base/log.h"

static void since_start(const struct live *live, int64_t time_ns, char text[FMT_MAX])
{
	fmt_time(text, time_ns > live->started_ns ? time_ns - live->started_ns : 0);
}

void live_take_restart(struct live *live, const struct session_event *event)
{
	if (event->type == SESSION_RESTARTS) {
		live->restarts = live->reader != NULL;
		live_say(live, 2, "%s; tftop restarts the LTTng daemons, PROGRAM keeps running",
			 event->text);
		return;
	}
	if (!live->reader)
		return;
	log_line("reading '%s'", session_url(live->session));
	reader_renew(live->reader, session_url(live->session));
	live->hurries = true;
}

void live_say_reattached(struct live *live, bool at_end)
{
	char why[READER_ERROR_MAX];

	if (at_end && reader_misses_streams(live->reader)) {
		live_say(live, 2,
			 "a process of another user was seen too late to be read: some or all of "
			 "its events are lost");
		return;
	}
	reader_why_reattached(live->reader, why);
	live_say(live, at_end ? 2 : 1,
		 "reconnected to the trace (%s): up to half a second of events may be missing",
		 why);
}

void live_look_at_gap(struct live *live)
{
	int64_t begin_ns, end_ns;
	unsigned int gaps = reader_gaps(live->reader, &begin_ns, &end_ns);
	char begin[FMT_MAX], end[FMT_MAX];

	if (gaps == live->gaps)
		return;
	live->gaps = gaps;
	live->restarts = live->hurries = live->silent_told = false;
	/* A process that did not run meanwhile has not sent its definitions again. */
	session_ask_dump(live->session);
	since_start(live, begin_ns, begin);
	since_start(live, end_ns, end);
	live_say(live, 1,
		 "the LTTng daemons are back: events between %s and %s of the run are lost",
		 begin, end);
}
