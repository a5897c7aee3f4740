/* SPDX-License-Identifier: MIT */
/* What `save` says of what it could not write. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/run/save.h"

#define CALLS 60000

/* More calls than the journal keeps under a small memory limit. */
TEST(save_says_what_the_journal_let_go)
{
	struct model_options limit = { .memory_limit = (size_t)16 << 20 };
	char path[TEST_PATH_MAX];
	struct save_options options = { .from_ns = INT64_MIN, .path = path };
	char error[512] = "", sentence[SAVE_SENTENCE_MAX];
	struct save *save;
	struct event event = ev_alive(0);

	snprintf(path, sizeof(path), "%s/saved", test_folder());
	options.model = model_new(&limit);
	for (int i = 0; i < CALLS; i++) {
		event = ev_alive(INT64_C(1000000) * i);
		event.type = EVENT_CALL;
		event.u.call = (struct event_call) {
			.name = 1, .start_ns = event.time_ns - 500, .dur_ns = 400,
		};
		apply_one(options.model, event);
	}
	model_finish(options.model, false);
	options.first_ns = 0;
	save = save_start(&options, error, sizeof(error));
	CHECK_STR(error, "");
	CHECK(save != NULL);
	CHECK(save_end(save, sentence));
	CHECK(strstr(sentence, "; calls and allocations before 0:00:4") != NULL);
	CHECK(strstr(sentence, "folded") == NULL);
	model_free(options.model);
}
