/* SPDX-License-Identifier: MIT */
#include "model/analyses/host_maker.h"

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/host/doings.h"

#define SPAN_NS 200000000		/* a wait that goes on is divided by so much of it */

/* Whether a thread waits for the work of another one of its process. Native code that sleeps looks
 * for work now and then. */
static bool is_handed(const struct doing *at)
{
	return (at->kind == DOING_LOCK && !at->what) || (at->kind == DOING_SLEEP && !at->frame);
}

/* How long the thread did anything else; *handed_ns: how long it did that. */
static int64_t worked_within(const struct model *model, uint32_t thread, int64_t t0, int64_t t1,
			     int64_t *handed_ns)
{
	const struct doing *end, *at;
	int64_t ns = 0;

	*handed_ns = 0;
	for (at = doings_from(model, thread, t0, &end); at < end && at->start_ns < t1; at++)
		add_ns(is_handed(at) ? handed_ns : &ns, doing_within(at, t0, t1));
	return ns;
}

uint32_t host_maker(struct model *model, uint32_t thread, uint32_t asking, int64_t t0, int64_t t1)
{
	uint32_t maker = asking != NONE ? asking : thread, process;
	int64_t half_ns = (t1 - t0) / 2, most_ns, handed_ns;

	if (thread >= model->threads.n || maker >= model->threads.n)
		return maker;
	if (worked_within(model, thread, t0, t1, &handed_ns) >= half_ns)
		return thread;
	process = thread_at(model, maker)->process;
	if (worked_within(model, maker, t0, t1, &handed_ns) >= half_ns || !handed_ns)
		return maker;
	most_ns = half_ns;
	for (uint32_t i = 0; i < model->threads.n; i++) {
		int64_t ns = thread_at(model, i)->process == process ?
			     worked_within(model, i, t0, t1, &handed_ns) : 0;

		if (ns > most_ns) {
			most_ns = ns;
			maker = i;
		}
	}
	return maker;
}

void host_input_add(struct model *model, struct host_time *host, size_t max, uint8_t class,
		    struct host_input *input)
{
	uint32_t maker;

	if (input->end_ns > input->start_ns) {
		maker = host_maker(model, input->thread, input->asking, input->start_ns,
				   input->end_ns);
		host_time_count(model, host, max, class, maker, input->start_ns, input->end_ns);
	}
	input->start_ns = input->end_ns = 0;
}

void host_input_extend(struct model *model, struct host_time *host, size_t max, uint8_t class,
		       struct host_input *input, const struct host_input *piece)
{
	if (piece->thread != input->thread || piece->asking != input->asking ||
	    piece->start_ns != input->end_ns || input->end_ns - input->start_ns >= SPAN_NS) {
		host_input_add(model, host, max, class, input);
		*input = *piece;
	}
	input->end_ns = piece->end_ns;
}
