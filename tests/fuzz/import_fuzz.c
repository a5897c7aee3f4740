/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a file of another profiler: it is refused or read, and the resulting events are
 * valid, in order, and consistent with EVENT_ALIVE.
 */
#include <string.h>

#include "model/import/import.h"
#include "tests/fuzz/fuzz.h"

struct seen { int64_t alive_ns, start_ns; uint64_t instance, said; };

static void check_op(struct seen *seen, const struct event_op *op)
{
	FUZZ_CHECK(op->instance > seen->instance && op->parent < op->instance);
	FUZZ_CHECK(op->start_ns > 0 && op->dur_ns >= 0);
	FUZZ_CHECK(op->start_ns >= seen->alive_ns && op->start_ns >= seen->start_ns);
	seen->instance = op->instance;
	seen->start_ns = op->start_ns;
}

static void sink(void *arg, const struct event *events, size_t count)
{
	struct seen *seen = arg;

	for (size_t i = 0; i < count; i++) {
		const struct event *event = &events[i];

		FUZZ_CHECK(event->type > EVENT_NONE && event->type < EVENT_TYPE_COUNT);
		FUZZ_CHECK(event->pid || event->type == EVENT_ALIVE);
		if (event->type == EVENT_ALIVE) {
			FUZZ_CHECK(event->time_ns >= seen->alive_ns);
			seen->alive_ns = event->time_ns;
		} else if (event->type == EVENT_OP) {
			check_op(seen, &event->u.op);
		} else if (event->type == EVENT_NAME) {
			FUZZ_CHECK(event->u.name.id && strlen(event->u.name.text) <= 4096);
		} else if (event->type == EVENT_RUN) {
			FUZZ_CHECK(event->u.run.start_ticks <= event->u.run.end_ticks);
			FUZZ_CHECK((int64_t)event->u.run.start_ticks >= seen->alive_ns);
		} else if (event->type == EVENT_EDGE) {
			FUZZ_CHECK(event->u.edge.from && event->u.edge.to);
			FUZZ_CHECK(event->u.edge.to <= seen->instance);
		}
	}
}

static void say(void *arg, int level, const char *text)
{
	struct seen *seen = arg;

	FUZZ_CHECK(level >= 0 && level <= 2 && *text);
	FUZZ_CHECK(++seen->said < 100);	/* a message is reported once, not for each event */
}

static void run(const uint8_t *data, size_t size)
{
	char error[IMPORT_ERROR_MAX];
	struct seen seen = { 0 };
	struct import_options options = {
		.data = data, .size = size, .sink = sink, .say = say, .arg = &seen,
	};
	struct import *import = import_new(&options, error);

	FUZZ_CHECK(!import == (error[0] != '\0'));
	if (import)
		FUZZ_CHECK(import_run(import) != IMPORT_STOPPED);
	import_free(import);
}

FUZZ_TARGET("import", run);
