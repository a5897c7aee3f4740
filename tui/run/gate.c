/* SPDX-License-Identifier: MIT */
/* The window of --from-step, --steps and --for. */
#include <pthread.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "tui/run/gate.h"

enum gate_state { GATE_BEFORE, GATE_OPEN, GATE_CLOSED };

struct gate {
	struct model *model;		/* borrowed */
	struct model *scout;		/* owned, until the window opens */
	struct gate_window window;
	bool any;			/* whether there is a window at all */
	pthread_mutex_t lock;
	enum gate_state state;
	int64_t begin_ns, end_ns;	/* limits of the window; end INT64_MAX: unknown */
};

struct gate *gate_new(struct model *model, const struct gate_window *window)
{
	struct gate *gate = xcalloc(1, sizeof(*gate));

	gate->model = model;
	gate->window = *window;
	gate->any = window->from_step > 1 || window->steps || window->for_ns;
	gate->begin_ns = INT64_MIN;
	gate->end_ns = INT64_MAX;
	gate->state = window->from_step > 1 ? GATE_BEFORE : GATE_OPEN;
	if (gate->state == GATE_BEFORE)
		gate->scout = model_new(NULL);
	pthread_mutex_init(&gate->lock, NULL);
	return gate;
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	if (gate->scout)
		model_free(gate->scout);
	pthread_mutex_destroy(&gate->lock);
	free(gate);
}

/* ---- the window ---- */

/* Definitions say what exists and how certain it is; they are needed whenever they were sent. */
static bool is_definition(const struct event *event)
{
	return event->type < EVENT_OP || event->type == EVENT_CLOCK ||
	       event->type == EVENT_LOST;
}

/* Start time of what an event describes. */
static int64_t began_ns(const struct event *event)
{
	switch (event->type) {
	case EVENT_OP: return event->u.op.start_ns;
	case EVENT_STEP: return event->u.step.start_ns;
	case EVENT_REQUEST: return event->u.request.start_ns;
	case EVENT_CALL: return event->u.call.start_ns;
	case EVENT_COMMAND: return event->u.command.call_ns;
	case EVENT_WAIT: return event->u.wait.start_ns;
	case EVENT_COMPILE: return event->u.compile.start_ns;
	default: return event->time_ns;
	}
}

static uint64_t steps_now(struct model *model)
{
	struct model_status status;

	model_lock(model);
	model_status(model, &status);
	model_unlock(model);
	return status.steps;
}

/* End of the latest step so far. */
static int64_t steps_end_ns(struct model *model)
{
	int64_t end_ns = INT64_MIN;
	struct step_stats stats;
	struct step_row *rows;
	size_t count;

	model_lock(model);
	count = model_steps(model, &stats, &rows);
	model_unlock(model);
	for (size_t i = 0; i < count; i++)
		if (rows[i].start_ns + rows[i].dur_ns > end_ns)
			end_ns = rows[i].start_ns + rows[i].dur_ns;
	free(rows);
	return end_ns;
}

static bool may_end_step(const struct event *event)
{
	return (event->type == EVENT_STEP && event->u.step.dur_ns >= 0) ||
	       (event->type == EVENT_OP && event->u.op.dur_ns >= 0);
}

static void gate_before(struct gate *gate, const struct event *event)
{
	if (is_definition(event))
		model_apply(gate->model, event, 1);
	model_apply(gate->scout, event, 1);
	if (!may_end_step(event) ||
	    steps_now(gate->scout) + 1 < (uint64_t)gate->window.from_step)
		return;
	gate->begin_ns = steps_end_ns(gate->scout);
	if (gate->window.for_ns)
		gate->end_ns = gate->begin_ns + gate->window.for_ns;
	gate->state = GATE_OPEN;
	model_free(gate->scout);
	gate->scout = NULL;
}

static void gate_inside(struct gate *gate, const struct event *event)
{
	if (gate->begin_ns == INT64_MIN && gate->window.for_ns && !gate->window.told &&
	    event->type == EVENT_PROCESS) {
		gate->begin_ns = event->time_ns;
		gate->end_ns = event->time_ns + gate->window.for_ns;
	}
	if (!is_definition(event) &&
	    (began_ns(event) < gate->begin_ns || began_ns(event) >= gate->end_ns))
		return;
	model_apply(gate->model, event, 1);
	if (!gate->window.steps || !may_end_step(event) ||
	    steps_now(gate->model) < (uint64_t)gate->window.steps)
		return;
	gate->end_ns = steps_end_ns(gate->model);
	gate->state = GATE_CLOSED;
}

/* Work that starts within the window and arrives late still counts. */
static void after(struct gate *gate, const struct event *event)
{
	if (is_definition(event) || event->type == EVENT_ALIVE || event->type == EVENT_SETTLED ||
	    (began_ns(event) >= gate->begin_ns && began_ns(event) < gate->end_ns))
		model_apply(gate->model, event, 1);
}

void gate_apply(struct gate *gate, const struct event *events, size_t count)
{
	pthread_mutex_lock(&gate->lock);
	if (!gate->any)
		model_apply(gate->model, events, count);
	for (size_t i = 0; gate->any && i < count; i++) {
		if (gate->state == GATE_BEFORE)
			gate_before(gate, &events[i]);
		else if (gate->state == GATE_OPEN)
			gate_inside(gate, &events[i]);
		else
			after(gate, &events[i]);
	}
	pthread_mutex_unlock(&gate->lock);
}

void gate_begin(struct gate *gate, int64_t time_ns)
{
	pthread_mutex_lock(&gate->lock);
	if (gate->window.told && gate->window.for_ns && gate->window.from_step <= 1 &&
	    gate->end_ns == INT64_MAX)
		gate->end_ns = time_ns + gate->window.for_ns;
	pthread_mutex_unlock(&gate->lock);
}

void gate_tick(struct gate *gate, int64_t now_ns)
{
	pthread_mutex_lock(&gate->lock);
	if (gate->state == GATE_OPEN && now_ns >= gate->end_ns)
		gate->state = GATE_CLOSED;
	pthread_mutex_unlock(&gate->lock);
}

bool gate_closed(struct gate *gate)
{
	bool closed;

	pthread_mutex_lock(&gate->lock);
	closed = gate->state == GATE_CLOSED;
	pthread_mutex_unlock(&gate->lock);
	return closed;
}
