/* SPDX-License-Identifier: MIT */
/* The report's section on how far its numbers can be trusted, as text. */
#include "tui/report/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/cost.h"
#include "probes/schema/records.h"
#include "tui/draw/labels.h"
#include "tui/draw/sheet.h"
#include "tui/base/text.h"

static void print_attribution(const struct model_status *status, FILE *out)
{
	uint64_t all = 0;
	char share[FMT_MAX];

	for (int how = 0; how < HOW_COUNT; how++)
		all += status->how[how];
	if (!all)
		return;
	fputs("  attribution ", out);
	for (int i = 1; i <= HOW_COUNT; i++) {
		enum how how = (enum how)(i % HOW_COUNT);

		if (status->how[how])
			fprintf(out, "  %s %s", how_name(how),
				fmt_share(share, status->how[how], all));
	}
	fputc('\n', out);
}

/* What of the device's time the tables of ops can tell about. */
static void print_coverage(const struct model_status *status, FILE *out)
{
	uint64_t all = report_positive(status->device_ns), ops = report_positive(status->op_ns);
	uint64_t none = all - report_positive(status->launched_ns);
	char share[FMT_MAX], text[64];

	/* Without any op there is nothing to cover. */
	if (all && ops && ops < all)
		fprintf(out, "  coverage      ops cover %s of device time\n",
			fmt_share(share, ops, all));
	if (none)
		fprintf(out, "  ! no launch   for %s of device time: it belongs to no op\n",
			fmt_share(share, none, all));
	if (status->unmet)
		fprintf(out, "  ! no run      for %s: their cost is unknown\n",
			fmt_many(text, status->unmet, "launched command"));
}

static void print_clock(const struct device_row *row, FILE *out)
{
	char time[FMT_MAX], text[64];

	fprintf(out, "  %s  device %" PRIu32 ": %s, ±%s",
		row->clock_violations ? "! clock     " : "clock       ", row->id,
		clock_quality_name(row->clock_quality), fmt_time(time, row->clock_error_ns));
	if (row->clock_violations)
		fprintf(out, ", contradicted %s",
			fmt_many(text, row->clock_violations, "time"));
	fputc('\n', out);
}

static void print_clocks(struct model *model, FILE *out)
{
	struct device_row *rows;
	size_t count;

	model_lock(model);
	count = model_devices(model, &rows);
	model_unlock(model);
	for (size_t i = 0; i < count; i++)
		if (rows[i].clock_known)
			print_clock(&rows[i], out);
	free(rows);
}

/* " (0.1 % of all)"; what a packet held is not known. */
static const char *lost_share(char *out, size_t size, const struct model_status *status)
{
	char share[FMT_MAX];

	out[0] = '\0';
	if (status->lost_events && !status->lost_packets)
		snprintf(out, size, " (%s of all)", fmt_share(share, status->lost_events,
							     status->lost_events + status->events));
	return out;
}

static void print_losses(const struct model_status *status, FILE *out)
{
	char events[64], packets[64], share[64];

	if (status->lost_events || status->lost_packets)
		fprintf(out, "  ! lost        %s%s%s%s: every total below is too small\n",
			fmt_many(events, status->lost_events, "event"),
			lost_share(share, sizeof(share), status),
			status->lost_packets ? ", and " : "",
			status->lost_packets ? fmt_many(packets, status->lost_packets, "packet") :
			"");
	if (status->killed)
		fprintf(out, "  ! cut off     PROGRAM was killed: up to %d of the last ops of each "
			"thread, and what had not ended\n", TFT_OPS_MAX);
	if (status->dropped)
		fprintf(out, "  ! dropped     %s by the probes or the vendor's library: memory or "
			"a table was full\n", fmt_many(events, status->dropped, "record"));
	if (status->bad)
		fprintf(out, "  ! impossible  %s ignored\n",
			fmt_many(events, status->bad, "value"));
	if (status->late)
		fprintf(out, "  ! late        %s came after %s time had settled: totals count "
			"%s, steps and findings do not\n",
			fmt_many(events, status->late, "record"),
			status->late == 1 ? "its" : "their", status->late == 1 ? "it" : "them");
	if (status->partial)
		fputs("  ! partial     the end is missing\n", out);
}

static void print_hosts(struct model *model, FILE *out)
{
	struct host_row *rows;
	char time[FMT_MAX], name[LABEL_MAX], fitted[LABEL_MAX], text[64];
	uint64_t violations;
	size_t count;

	model_lock(model);
	count = model_hosts(model, &rows);
	violations = model_host_violations(model);
	model_unlock(model);
	for (size_t i = 0; i < count; i++) {
		text_clean(name, sizeof(name), rows[i].name ? rows[i].name : "");
		label_fit(fitted, sizeof(fitted), name, 40, false);
		fprintf(out, "  %s  host %u %s: ", rows[i].clock_known ? "clock       " :
			"! clock     ", rows[i].host, fitted);
		if (rows[i].clock_known)
			fprintf(out, "by %s, ±%s\n", host_clock_name(&rows[i]),
				fmt_time(time, rows[i].clock_error_ns));
		else
			fputs("unknown, its times are its own\n", out);
	}
	if (violations)
		fprintf(out, "  ! clock       of hosts contradicted %s by messages\n",
			fmt_many(text, violations, "time"));
	free(rows);
}

/* What the probes measured of their own functions. It is only a part of the cost: the program also
 * pays for the framework's callbacks and for colder caches. alone: nothing else is known of it. */
static void print_own_time(const struct model_status *status, bool alone, FILE *out)
{
	char share[FMT_MAX], time[FMT_MAX], text[64];
	bool small;

	if (status->own_ns <= 0 || status->program_ns <= 0)
		return;
	fmt_share(share, report_positive(status->own_ns), report_positive(status->program_ns));
	small = share[0] == '<';
	fprintf(out, "  %s%s of the program's time: %s", alone && !small ?
		"own cost      at least " : small ? "own time      " : "own time      ≈", share,
		fmt_time(time, status->own_ns));
	fputs(" in the probes", out);
	if (status->calls)
		fprintf(out, ", %s", fmt_many(text, status->calls, "call"));
	fputs("\n", out);
}

/* What the program pays, where it was measured in the program. */
static void print_own_cost(const struct own_cost *cost, FILE *out)
{
	char share[FMT_MAX], time[FMT_MAX], low[FMT_MAX], high[FMT_MAX], text[64];

	fprintf(out, "  own cost      %s of a step: %s%s more, %s to %s (95 %%), measured on %s\n",
		fmt_own_cost(share, sizeof(share), cost), fmt_time(time, cost->ns),
		cost->cpu ? " of processor time" : "", fmt_time(low, cost->low_ns),
		fmt_time(high, cost->high_ns), fmt_many(text, cost->pairs, "single step"));
}

static void print_bare(const struct own_cost *cost, FILE *out)
{
	char seen[FMT_MAX], steps[64];

	if (!cost->bare)
		return;
	fprintf(out, "  %s ops seen    in %s of %s", cost->every > 1 ? "!" : " ",
		fmt_count(seen, cost->steps - cost->bare), fmt_many(steps, cost->steps, "step"));
	if (cost->every > 1)
		fprintf(out, ", now in ≈1 of %" PRIu32 " (--budget %" PRIu32 ")", cost->every,
			cost->budget);
	fputs(": totals of ops and lines are estimated (≈) from them\n", out);
}

void report_trust_text(struct model *model, FILE *out)
{
	struct model_status status;
	struct own_cost cost;
	char text[64];

	model_lock(model);
	model_status(model, &status);
	model_own_cost(model, &cost);
	model_unlock(model);
	fprintf(out, "\ntrust\n  events        %s, %s\n",
		fmt_many(text, status.events, "event"),
		status.lost_events || status.lost_packets ? "some lost" : "0 lost");
	print_losses(&status, out);
	print_attribution(&status, out);
	print_coverage(&status, out);
	print_bare(&cost, out);
	if (cost.pairs)
		print_own_cost(&cost, out);
	print_own_time(&status, !cost.pairs, out);
	print_clocks(model, out);
	print_hosts(model, out);
	report_graph_text(model, out);
}
