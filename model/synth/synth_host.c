/* SPDX-License-Identifier: MIT */
/*
 * What the main thread of the first synthetic program does while it waits for a batch, as looks
 * from beside see it: it waits for the thread that makes the batch, reads a file and runs Python,
 * in loader.py, called by train.py.
 */
#include "model/synth/synth_internal.h"

#include "model/base/util.h"

/* Ids of names and frames, beyond those of the program. */
enum { TEXT_LOADER = 0x100000, TEXT_TRAIN, TEXT_THREADING, TEXT_NEXT, TEXT_READ, TEXT_COLLATE,
       TEXT_MODULE, TEXT_WAIT, TEXT_SHARD, TEXT_END };
enum { FRAME_MODULE = 1, FRAME_NEXT, FRAME_READ, FRAME_COLLATE, FRAME_WAIT, FRAMES };

/* The parts of a wait, in eighths. */
static const struct synth_doing {
	enum doing_kind kind;
	uint32_t frame, stack, what;
	int64_t eighths;
} doings[] = {
	{ DOING_LOCK, FRAME_NEXT, FRAME_WAIT, 0, 5 },
	{ DOING_FILE, FRAME_READ, FRAME_READ, TEXT_SHARD, 2 },
	{ DOING_PYTHON, FRAME_COLLATE, FRAME_COLLATE, 0, 1 },
};

void synth_host_define(struct model_synth *s, struct synth_worker *w)
{
	static const char *const texts[] = {
		"/train/loader.py", "/train/train.py", "/usr/lib/python3/threading.py",
		"next_batch", "read", "collate", "<module>", "Condition.wait",
		"/data/shard-3.tar",
	};
	static const struct event_frame frames[FRAMES] = {
		[FRAME_MODULE] = { FRAME_MODULE, 0, TEXT_TRAIN, TEXT_MODULE, 19 },
		[FRAME_NEXT] = { FRAME_NEXT, FRAME_MODULE, TEXT_LOADER, TEXT_NEXT, 48 },
		[FRAME_READ] = { FRAME_READ, FRAME_NEXT, TEXT_LOADER, TEXT_READ, 25 },
		[FRAME_COLLATE] = { FRAME_COLLATE, FRAME_NEXT, TEXT_LOADER, TEXT_COLLATE, 33 },
		[FRAME_WAIT] = { FRAME_WAIT, FRAME_NEXT, TEXT_THREADING, TEXT_WAIT, 355 },
	};

	for (uint32_t i = TEXT_LOADER; i < TEXT_END; i++)
		synth_name(s, w, i, NAME_SOURCE, w->now_ns, xstrdup(texts[i - TEXT_LOADER]));
	for (uint32_t i = FRAME_MODULE; i < FRAMES; i++)
		synth_write(s, w, EVENT_FRAME, w->now_ns)->u.frame = frames[i];
}

void synth_host_wait(struct model_synth *s, struct synth_worker *w, int64_t start_ns)
{
	int64_t eighth_ns = (w->now_ns - start_ns) / 8;

	for (size_t i = 0; i < sizeof(doings) / sizeof(doings[0]); i++) {
		const struct synth_doing *at = &doings[i];
		int64_t dur_ns = at->eighths * eighth_ns;

		synth_write(s, w, EVENT_DOING, w->now_ns)->u.doing = (struct event_doing) {
			.tid = w->pid, .looks = 1 + (uint32_t)(dur_ns / 5000000),
			.start_ns = start_ns, .dur_ns = dur_ns, .ns = dur_ns, .frame = at->frame,
			.stack = at->stack, .what = at->what, .doing = (uint8_t)at->kind,
		};
		start_ns += dur_ns;
	}
}
