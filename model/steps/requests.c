/* SPDX-License-Identifier: MIT */
#include "model/steps/requests.h"

#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/requests.h"

#define REQUEST_TOTALS_MAX 4096u

static struct request_total *total_of(struct model *model, uint32_t process, uint32_t name)
{
	struct request_total *total;

	for (size_t i = 0; i < model->n_requests; i++)
		if (model->requests[i].process == process &&
		    names_resolve(&model->names, model->requests[i].name) ==
		    names_resolve(&model->names, name))
			return &model->requests[i];
	if (model->n_requests >= REQUEST_TOTALS_MAX)
		return NULL;
	grow(&model->requests, &model->cap_requests, model->n_requests, sizeof(*model->requests));
	total = &model->requests[model->n_requests++];
	*total = (struct request_total) {
		.process = process, .name = name, .from_ns = INT64_MAX, .to_ns = INT64_MIN,
	};
	return total;
}

/* Whether the parts of the request can be: its passes lie within it. */
static bool request_ok(const struct event_request *r)
{
	return r->passes && r->first_ns >= 0 && r->rest_ns >= 0 && r->first_ns <= r->dur_ns &&
	       r->rest_ns <= r->dur_ns - r->first_ns;
}

void apply_request(struct model *model, const struct arrival *in)
{
	const struct event_request *r = &in->event->u.request;
	int64_t end_ns = r->start_ns + r->dur_ns;
	struct request_total *total;

	if (!span_ok(r->start_ns, r->dur_ns, in->event->time_ns) || !request_ok(r)) {
		model_bad(model, bad_time(r->dur_ns));
		return;
	}
	total = total_of(model, in->process->index, local_name(model, in->process, r->name));
	if (!total) {
		model_bad(model, BAD_FULL);
		return;
	}
	total->count++;
	total->passes += r->passes;
	total->tokens += (uint64_t)r->passes * r->sequences;
	total->uncounted |= !r->sequences;
	total->later += r->passes - 1;
	add_ns(&total->later_ns, r->rest_ns);
	add_ns(&total->sum_ns, r->dur_ns);
	if (r->start_ns < total->from_ns)
		total->from_ns = r->start_ns;
	if (end_ns > total->to_ns)
		total->to_ns = end_ns;
	hist_add(&total->whole, r->dur_ns);
	hist_add(&total->first, r->first_ns);
	saw_time(model, r->start_ns, end_ns);
}

void requests_free(struct model *model)
{
	for (size_t i = 0; i < model->n_requests; i++) {
		hist_release(&model->requests[i].whole);
		hist_release(&model->requests[i].first);
	}
	free(model->requests);
}

/* So many a second, in thousandths; -1: unknown. */
static int64_t per_second(uint64_t n, int64_t span_ns)
{
	return span_ns > 0 ? (int64_t)((unsigned __int128)n * 1000000000000u / (uint64_t)span_ns) :
	       -1;
}

static int by_passes(const void *a, const void *b)
{
	const struct request_row *x = a, *y = b;

	return x->passes != y->passes ? (x->passes < y->passes) - (x->passes > y->passes) :
	       (x->pid > y->pid) - (x->pid < y->pid);
}

size_t model_requests(struct model *model, struct request_row **out)
{
	struct request_row *rows = xcalloc(model->n_requests, sizeof(*rows));

	for (size_t i = 0; i < model->n_requests; i++) {
		const struct request_total *total = &model->requests[i];
		const struct process *process = process_at(model, total->process);
		int64_t span_ns = total->to_ns - total->from_ns;

		rows[i] = (struct request_row) {
			.name = total->name ? names_short(&model->names, total->name) : "request",
			.host = process->host, .pid = process->pid, .requests = total->count,
			.passes = total->passes, .tokens = total->uncounted ? 0 : total->tokens,
			.span_ns = span_ns, .total_ns = total->sum_ns,
			.p50_ns = hist_percentile(&total->whole, 500),
			.p99_ns = hist_percentile(&total->whole, 990),
			.first_p50_ns = hist_percentile(&total->first, 500),
			.first_p99_ns = hist_percentile(&total->first, 990),
			.token_ns = total->later ? total->later_ns / (int64_t)total->later : -1,
			.requests_milli = per_second(total->count, span_ns),
			.tokens_milli = total->uncounted ? -1 : per_second(total->tokens, span_ns),
		};
	}
	if (model->n_requests)
		qsort(rows, model->n_requests, sizeof(*rows), by_passes);
	*out = rows;
	return model->n_requests;
}

bool model_request_rates(struct model *model, struct request_rates *out)
{
	int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
	uint64_t tokens = 0;
	bool uncounted = false;

	*out = (struct request_rates) { .requests = 0, .requests_milli = -1, .tokens_milli = -1 };
	for (size_t i = 0; i < model->n_requests; i++) {
		const struct request_total *total = &model->requests[i];

		out->requests += total->count;
		tokens += total->tokens;
		uncounted |= total->uncounted;
		from_ns = total->from_ns < from_ns ? total->from_ns : from_ns;
		to_ns = total->to_ns > to_ns ? total->to_ns : to_ns;
	}
	if (!out->requests)
		return false;
	out->requests_milli = per_second(out->requests, to_ns - from_ns);
	out->tokens_milli = uncounted ? -1 : per_second(tokens, to_ns - from_ns);
	return true;
}
