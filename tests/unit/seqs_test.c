/* SPDX-License-Identifier: MIT */
/* What beats tell of losses; what numbers tell: decode_test.c. */
#include "probes/session/decode/seqs.h"
#include "tests/unit/test.h"

static struct event by(uint32_t tid, uint32_t seq)
{
	return (struct event) { .type = EVENT_FREE, .pid = 1, .tid = tid, .seq = seq,
				.time_ns = seq };
}

/* A process wrote 10; of one thread a gap shows 3, of the other nothing comes any more. */
TEST(seqs_beats_tell_what_no_number_does)
{
	const struct event came[] = { by(1, 1), by(1, 5), by(2, 1), by(3, 0) };
	struct seqs *seqs = seqs_new();
	struct event other = by(1, 1);
	struct event_lost loss;

	for (size_t i = 0; i < 4; i++) {
		if (came[i].seq)
			CHECK_INT(seqs_take(seqs, &came[i], &loss), i == 1 ? SEQS_GAP : SEQS_NEXT);
		seqs_came(seqs, &came[i]);
	}
	other.pid = 2;
	seqs_came(seqs, &other);
	CHECK_INT(seqs_written(seqs, 1, 10), 3);
	CHECK_INT(seqs_written(seqs, 1, 10), 0);
	/* and then something comes, which shows what has been told */
	CHECK_INT(seqs_take(seqs, &(struct event) { .type = EVENT_FREE, .pid = 1, .tid = 2,
						    .seq = 5, .time_ns = 5 }, &loss), SEQS_GAP);
	CHECK_INT(loss.count, 0);
	CHECK_INT(loss.placed, 3);
	/* what the tracer has told is told; its sum is less than what came: nothing */
	CHECK_INT(seqs_report(seqs, 2), 2);
	CHECK_INT(seqs_written(seqs, 1, 12), 0);
	CHECK_INT(seqs_written(seqs, 2, 0), 0);
	CHECK_INT(seqs_written(seqs, 2, 9), 6);
	seqs_free(seqs);
}
