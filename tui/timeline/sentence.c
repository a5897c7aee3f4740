/* SPDX-License-Identifier: MIT */
#include "tui/timeline/sentence.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/ruler.h"
#include "tui/draw/state_cells.h"

#define GAP 3

static void add_where(struct strip *strip, const struct span *span)
{
	const char *place = span->kind == COMMAND_NONE ? span->thread : span->queue;

	if (place && *place)
		strip_add(strip, 7, GAP, ROLE_LABEL, 0, "%s", place)->least = 8;
}

static void sentence_add_time(struct strip *strip, const struct span *span, int64_t base_ns)
{
	const char *about = span->approx ? "~" : "";
	char length[FMT_MAX], at[48];
	int64_t dur = span->end_ns - span->start_ns;

	ruler_time(at, sizeof(at), span->start_ns - base_ns, dur >= 1000000 ? 100000 : 1000);
	if (span->open && span->kind != COMMAND_NONE)
		strip_add(strip, 0, GAP, ROLE_WARN, 0, "not finished after %s",
			  fmt_time(length, dur > 0 ? dur : 0));
	else
		strip_add(strip, 0, GAP, ROLE_DEFAULT, 0, "%s%s%s", about,
			  fmt_time_fine(length, dur), span->open ? " so far" : "");
	strip_add(strip, 4, 1, ROLE_MUTED, 0, "at %s%s", about, at);
}

static void add_failure(struct strip *strip, const struct span *span)
{
	if (span->status < 0)
		strip_add(strip, 1, GAP, ROLE_BAD, 0, "failed (%d)", (int)span->status);
}

static int print_size(char *text, size_t room, const char *word, const uint64_t *n, uint32_t dims)
{
	int at = snprintf(text, room, "%s %llu", word, (unsigned long long)n[0]);

	for (uint32_t i = 1; i < dims; i++)
		at += snprintf(text + at, room - (size_t)at, "×%llu", (unsigned long long)n[i]);
	return at;
}

static uint32_t without_ones(const uint64_t *n, uint32_t dims)
{
	while (dims > 1 && n[dims - 1] == 1)
		dims--;
	return dims;
}

/* In the terms of the device's own API: CUDA's grid is in blocks. */
static void add_geometry(struct strip *strip, const struct span *span)
{
	uint32_t dims = span->dims <= 3 ? span->dims : 0;
	uint64_t n[3] = { 0 }, local[3] = { 0 };
	char text[160];
	int at;

	if (!dims)
		return;
	for (uint32_t i = 0; i < dims; i++) {
		n[i] = span->global[i];
		local[i] = span->local[i];
	}
	if (local[0] && span->api && !strcmp(span->api, "cuda")) {
		for (uint32_t i = 0; i < dims && local[i]; i++)
			n[i] = n[i] / local[i] + (n[i] % local[i] != 0);
		at = print_size(text, sizeof(text), "grid", n, without_ones(n, dims));
		print_size(text + at, sizeof(text) - (size_t)at, " block", local,
			   without_ones(local, dims));
	} else {
		at = print_size(text, sizeof(text), "global", n, dims);
		if (local[0])
			print_size(text + at, sizeof(text) - (size_t)at, " local", local, dims);
	}
	strip_add(strip, 9, GAP, ROLE_MUTED, 0, "%s", text);
}

static void add_class(struct strip *strip, const struct span *span)
{
	const char *type = kernel_type_name((enum kernel_type)span->class.type);

	if (span->class.kind == KERNEL_OTHER && !*type && span->class.tensor == TENSOR_UNKNOWN)
		return;
	strip_add(strip, 10, GAP, ROLE_MUTED, 0, "%s%s%s",
		  kernel_kind_name((enum kernel_kind)span->class.kind), *type ? " " : "", type);
	if (span->class.tensor != TENSOR_UNKNOWN)
		strip_add(strip, 10, 1, ROLE_MUTED, 0, "%s",
			  span->class.tensor == TENSOR_USED ? "tensor cores" : "no tensor cores");
}

static void sentence_add_command(struct strip *strip, const struct span *span)
{
	const char *about = span->approx ? "~" : "";
	int64_t dur = span->end_ns - span->start_ns;
	char text[FMT_MAX], rate[FMT_MAX];

	if (span->bytes) {
		strip_add(strip, 2, GAP, ROLE_DEFAULT, 0, "%s",
			  fmt_many(text, span->bytes, "byte"));
		if (dur > 0 && !span->open && span->direction != DIR_MAP &&
		    span->direction != DIR_UNMAP)
			strip_add(strip, 3, GAP, ROLE_DEFAULT, 0, "%s%s", about,
				  fmt_rate(rate, bytes_per_s(span->bytes, dur)));
	}
	if (span->row_kind == ROW_GRAPH)
		strip_add(strip, 2, GAP, ROLE_DEFAULT, 0, "%s",
			  fmt_many(text, span->kernels, "node"));
	if (span->op) {
		strip_add(strip, 2, GAP, ROLE_MUTED, 0, "op");
		strip_add(strip, 2, 1, ROLE_TITLE, 0, "%s", span->op)->least = 10;
		strip_add(strip, 2, 1, span->how == HOW_GUESS ? ROLE_WARN : ROLE_MUTED, 0,
			  "(%s)", how_name(span->how));
	}
	if (span->queued_ns > 0 && span->start_ns > span->queued_ns)
		strip_add(strip, 8, GAP, ROLE_MUTED, 0, "waited %s%s", about,
			  fmt_time(text, span->start_ns - span->queued_ns));
	add_geometry(strip, span);
	add_class(strip, span);
	if (span->shape)
		strip_add(strip, 9, GAP, ROLE_MUTED, 0, "%s", span->shape)->least = 12;
	if (span->flop && dur > 0)
		strip_add(strip, 7, GAP, ROLE_DEFAULT, 0, "%s%s GFLOP/s", about,
			  fmt_gflop(text, flop_per_s(span->flop, dur)));
	if (span->clock_error_ns > 1000)
		strip_add(strip, 10, GAP, ROLE_MUTED, 0, "clock ±%s",
			  fmt_time(text, span->clock_error_ns));
}

static void sentence_add_op(struct strip *strip, const struct span *span)
{
	char text[FMT_MAX], count[FMT_MAX];

	if (span->kernels)
		strip_add(strip, 3, GAP, ROLE_DEFAULT, 0, "%s, %s on the device",
			  fmt_many(count, span->kernels, "kernel"),
			  fmt_time(text, span->device_ns));
	if (span->wait_ns)
		strip_add(strip, 3, GAP, ROLE_DEFAULT, 0, "waited %s for this thread%s%s",
			  fmt_time(text, span->wait_ns), span->waker ? ", handed over by " : "",
			  span->waker ? span->waker : "");
	if (span->op_type && *span->op_type)
		strip_add(strip, 5, GAP, ROLE_MUTED, 0, "%s", span->op_type)->least = 8;
	/* the random number that a framework uses as step number means nothing to users */
	if (span->step >= 0 && span->step <= INT32_MAX)
		strip_add(strip, 4, GAP, ROLE_MUTED, 0, "step %lld", (long long)span->step);
	if (span->domain && *span->domain)
		strip_add(strip, 8, GAP, ROLE_MUTED, 0, "%s %s",
			  span->work == WORK_RANGE ? "domain" : "graph", span->domain);
}

static void add_compile(struct strip *strip, const struct span *span)
{
	strip_add(strip, 3, GAP, ROLE_DEFAULT, 0, "%s", span->status ? "not compiled" : "compiled");
	if (span->cause)
		strip_add(strip, 2, 1, span->status ? ROLE_BAD : ROLE_MUTED, 0, "%s%s",
			  span->status ? "" : "for ", span->cause)->least = 12;
}

void sentence_of_span(struct strip *strip, const struct span *span, int64_t base_ns)
{
	strip_clear(strip);
	add_where(strip, span);
	strip_add(strip, 0, GAP, ROLE_TITLE, ATTR_BOLD, "%s",
		  span->name && *span->name ? span->name : "(no name)")->least = 12;
	sentence_add_time(strip, span, base_ns);
	add_failure(strip, span);
	if (span->row_kind == ROW_COMPILE)
		add_compile(strip, span);
	else if (span->kind == COMMAND_NONE)
		sentence_add_op(strip, span);
	else
		sentence_add_command(strip, span);
}

void sentence_of_row(struct strip *strip, const char *place, int64_t busy_ns,
		     int64_t window_ns, uint64_t events)
{
	char share[FMT_MAX], count[FMT_MAX];

	strip_clear(strip);
	if (!place)
		return;
	strip_add(strip, 0, GAP, ROLE_TITLE, ATTR_BOLD, "%s", place)->least = 8;
	if (!events)
		return;		/* a thread that runs no op, of which something else is told */
	if (window_ns > 0)
		strip_add(strip, 1, GAP, ROLE_DEFAULT, 0, "busy %s of the window",
			  fmt_share(share, (uint64_t)(busy_ns > 0 ? busy_ns : 0),
				    (uint64_t)window_ns));
	strip_add(strip, STRIP_NEEDED + 1, GAP, ROLE_MUTED, 0, "%s in all",
		  fmt_many(count, events, "event"));
}

void sentence_add_idle(struct strip *strip, const struct idle_gap *gap, bool ascii)
{
	char length[FMT_MAX], part[FMT_MAX], text[STRIP_TEXT];
	struct idle_gap left = *gap;
	size_t at = 0;

	fmt_time(length, gap->end_ns - gap->start_ns);
	for (int n = 0; n < 3; n++) {
		enum idle_cause cause = idle_most(&left);

		if (left.ns[cause] <= (gap->end_ns - gap->start_ns) / 100)
			break;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", !n ? "" :
				       ascii ? ", " : " · ", idle_name(cause));
		/* A single cause needs no number: it is the whole. */
		if (n || left.ns[cause] < (gap->end_ns - gap->start_ns) / 20 * 19)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " %s",
					       fmt_time(part, left.ns[cause]));
		left.ns[cause] = 0;
	}
	if (at) {
		struct strip_piece *piece = strip_add(strip, 2, GAP, ROLE_ACCENT, 0, "idle %s: %s",
						      length, text);

		/* At least the duration must be readable. */
		piece->least = text_width(length) + 7;
		piece->sentence = true;
	}
}

/* "sleeps, loader.py:25 in load, task a (62 % of 100 ms)". The whole of a time needs no share. */
static size_t print_state(char *text, size_t size, const struct host_state *state,
			  int64_t time_ns, bool first)
{
	int64_t ns = state->ns < time_ns ? state->ns : time_ns;
	char place[160], share[FMT_MAX], length[FMT_MAX], part[3 * FMT_MAX] = "";
	const char *what = state->what, *colon = state->doing == DOING_FILE ? " " : ": ";

	fmt_share(share, (uint64_t)ns, (uint64_t)time_ns);
	fmt_time(length, state->at_ns ? state->ns : time_ns);
	if (state->at_ns)
		snprintf(part, sizeof(part), "seen for a moment, stands for %s", length);
	else if (!first)
		snprintf(part, sizeof(part), "%s", share);
	else if (ns > time_ns / 100 * 98)
		snprintf(part, sizeof(part), "%s", length);
	else
		snprintf(part, sizeof(part), "%s of %s", share, length);
	state_place(place, sizeof(place), state);
	return (size_t)snprintf(text, size, "%s%s%s%s%s%s%.60s (%s)", doing_verb(state->doing),
				*what ? colon : "", what, *place ? ", " : "", place,
				*state->task ? ", " : "", state->task, part);
}

void sentence_add_states(struct strip *strip, struct model *model, uint32_t row, int64_t t_ns,
			 int64_t t0_ns, int64_t w_ns, bool ascii)
{
	int64_t from_ns = t_ns, to_ns, others_ns;
	struct host_state states[3];
	char text[STRIP_TEXT];
	struct strip_piece *piece;
	size_t n, at = 0;

	if (t_ns >= t0_ns)
		from_ns = t0_ns + (t_ns - t0_ns) / w_ns * w_ns;
	to_ns = from_ns + w_ns;
	n = model_host_doing(model, row, t_ns, &from_ns, &to_ns, states, 3, &others_ns);
	if (!n)
		return;
	for (size_t i = 0; i < n && at < sizeof(text); i++) {
		if (i && states[i].ns < (to_ns - from_ns) / 50)
			break;
		if (i)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s",
					       ascii ? "; " : " · ");
		if (at < sizeof(text))
			at += print_state(text + at, sizeof(text) - at, &states[i],
					  to_ns - from_ns, !i);
	}
	piece = strip_add(strip, 1, GAP, ROLE_DEFAULT, 0, "%s", text);
	piece->least = 16;
	piece->sentence = true;
}

void sentence_add_folded(struct strip *strip, int64_t before_ns, int64_t base_ns)
{
	char at[48];

	ruler_time(at, sizeof(at), before_ns - base_ns, 1000000);
	strip_add(strip, 3, GAP, ROLE_WARN, 0, "only sums before %s (--memory-limit)", at);
}

void sentence_of_counter(struct strip *strip, const char *place, const char *peak)
{
	strip_clear(strip);
	strip_add(strip, 0, GAP, ROLE_TITLE, ATTR_BOLD, "%s", place)->least = 8;
	strip_add(strip, 1, GAP, ROLE_DEFAULT, 0, "peak %s", peak);
}
