/* SPDX-License-Identifier: MIT */
/* The report as text (docs/report.md). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/ops.h"
#include "tui/draw/grid.h"
#include "tui/draw/labels.h"
#include "tui/table/steps.h"
#include "tui/draw/places.h"
#include "tui/report/sections.h"
#include "tui/draw/sheet.h"

#define ROWS_MAX 15			/* of the long tables */
#define LEFT_CELLS 36			/* of a command */
#define SPARK_CELLS 60
#define BETWEEN_PART 10			/* of the time: worth a line */

/* ---- run ---- */

static void report_text_print_left(const struct report_run *run, FILE *out)
{
	char clean[LABEL_MAX * 4], fitted[LABEL_MAX], text[64];

	for (size_t i = 0; i < run->n_left; i++) {
		text_clean(clean, sizeof(clean), run->left[i].command);
		label_command(fitted, sizeof(fitted), clean, LEFT_CELLS, false);
		fprintf(out, "  left running  pid %d   %s   (watch it: tftop %s %d)\n",
			(int)run->left[i].pid, fitted, report_left_option(&run->left[i]),
			(int)run->left[i].pid);
	}
	if (run->more_left)
		fprintf(out, "  left running  %s more\n",
			fmt_many(text, run->more_left, "process"));
}

static void report_text_print_run(const struct report_run *run, FILE *out)
{
	char raw[LABEL_MAX * 4] = "", clean[LABEL_MAX * 4], fitted[LABEL_MAX], tail[128];
	char time[FMT_MAX];
	size_t used = 0;
	int room;

	for (char *const *word = run->command; word && *word && used < sizeof(raw); word++)
		used += (size_t)snprintf(raw + used, sizeof(raw) - used, "%s%s", used ? " " : "",
					 *word);
	used = 0;
	tail[0] = '\0';
	if (run->pid > 0)
		used = (size_t)snprintf(tail, sizeof(tail), "   pid %d", (int)run->pid);
	if (run->wall_ns >= 0)
		used += (size_t)snprintf(tail + used, sizeof(tail) - used, "   %s",
					 fmt_time(time, run->wall_ns));
	if (run->signal > 0)
		snprintf(tail + used, sizeof(tail) - used, "   killed by signal %d (%s)",
			 run->signal, strsignal(run->signal));
	else if (run->exit_status >= 0)
		snprintf(tail + used, sizeof(tail) - used, "   exit %d", run->exit_status);
	else if (run->pid > 0)
		snprintf(tail + used, sizeof(tail) - used, report_status_unknown(run) ?
			 "   ended, exit status unknown" : "   not ended");
	room = REPORT_WIDTH - 7 - text_width(tail);
	label_fit(fitted, sizeof(fitted), text_clean(clean, sizeof(clean), raw), room, false);
	fprintf(out, "tftop  %s%s\n", fitted, tail);
	report_text_print_left(run, out);
}

/* ---- devices ---- */

static void report_text_print_device(struct model *model, struct device_row *row, FILE *out)
{
	struct idle_gap idle;
	struct device_unseen unseen;
	char name[LABEL_MAX], fitted[LABEL_MAX], share[4][FMT_MAX], time[FMT_MAX];
	char blocks[REPORT_BAR_CELLS * 3 + 1];
	uint64_t span, busy;

	model_lock(model);
	model_device_as_seen(model, row, &idle, &unseen);
	model_unlock(model);
	span = report_positive(row->span_ns);
	busy = report_positive(row->busy_ns);
	text_clean(name, sizeof(name), row->name ? row->name : "");
	label_fit(fitted, sizeof(fitted), name, 60, false);
	fprintf(out, "  device %" PRIu32 "  %s   %s   %s\n", row->id, fitted,
		report_device_kind(row), row->api ? row->api : "");
	if (report_cores_text(model, row, out) || !span)
		return;
	fprintf(out, "    busy %s %s of %s   kernels %s   copies %s",
		fmt_share(share[0], busy, span), report_bar(blocks, busy, span),
		fmt_time(time, row->span_ns), fmt_share(share[1], report_positive(row->kernel_ns),
							span),
		fmt_share(share[2], report_positive(row->copy_ns), span));
	if (row->overlap_ns > 0)
		fprintf(out, " (%s at once)", fmt_share(share[3], report_positive(row->overlap_ns),
							span));
	fprintf(out, "   idle %s\n", fmt_share(share[0], span > busy ? span - busy : 0, span));
	report_idle_text(row, &idle, out);
	report_host_text(model, row, &idle, out);
	if (unseen.rough)
		fputs("    all of this is approximate: events were lost in more than half of the "
		      "time\n", out);
	else if (unseen.lost_ns > 0)
		fprintf(out, "    excluding %s in which events were lost\n",
			fmt_time(time, unseen.lost_ns));
	if (unseen.paused_ns > unseen.taken_ns)
		fprintf(out, "    excluding %s in which the level was off\n",
			fmt_time(time, unseen.paused_ns - unseen.taken_ns));
	if (unseen.taken_ns > 0)
		fprintf(out, "    excluding %s in which the program's own profiler had the "
			"device\n", fmt_time(time, unseen.taken_ns));
}

void report_devices_text(struct model *model, FILE *out)
{
	struct device_row *rows;
	size_t count;

	model_lock(model);
	count = model_devices(model, &rows);
	model_unlock(model);
	if (count)
		fputs("\ndevices\n", out);
	for (size_t i = 0; i < count; i++)
		report_text_print_device(model, &rows[i], out);
	free(rows);
}

/* ---- steps ---- */

/* The longest step of each cell, so that an outlier is never averaged away. */
static void report_text_print_spark(const struct step_row *rows, size_t count, FILE *out)
{
	size_t cells = count < SPARK_CELLS ? count : SPARK_CELLS;
	int64_t longest = 1;
	char bytes[5];

	for (size_t i = 0; i < count; i++)
		if (rows[i].dur_ns > longest)
			longest = rows[i].dur_ns;
	fputs("  ", out);
	for (size_t cell = 0; cell < cells; cell++) {
		int64_t top = 0;

		for (size_t i = cell * count / cells; i < (cell + 1) * count / cells; i++)
			if (rows[i].dur_ns > top)
				top = rows[i].dur_ns;
		bytes[text_encode(0x2581 + (uint32_t)(top * 7 / longest), bytes)] = '\0';
		fputs(bytes, out);
	}
	fputc('\n', out);
}

void report_steps_text(struct model *model, FILE *out)
{
	struct step_stats stats;
	struct step_row *rows;
	char a[FMT_MAX], b[FMT_MAX], c[FMT_MAX], text[64], source[LABEL_MAX];
	size_t count;

	model_lock(model);
	count = model_steps(model, &stats, &rows);
	model_unlock(model);
	if (stats.count) {
		fprintf(out, "\n%s\n  %s   mean %s   p50 %s   p99 %s",
			stats.passes ? "forward passes" : "steps",
			fmt_many(text, stats.count, step_noun(stats.passes)),
			fmt_time(a, stats.mean_ns), fmt_time(b, stats.p50_ns),
			fmt_time(c, stats.p99_ns));
		if (stats.period_ns > 0)
			fprintf(out, "   %s/s", fmt_per_second(a, stats.period_ns));
		if (stats.source)
			fprintf(out, "   from %s", text_clean(source, sizeof(source),
							      stats.source));
		fputc('\n', out);
		if (stats.steady_ns >= 0 && stats.warm_up + stats.compiled)
			fprintf(out, "  steady %s, without %" PRIu64 " of the warm-up, %" PRIu64
				" that compiled\n", fmt_time(a, stats.steady_ns), stats.warm_up,
				stats.compiled);
		if (stats.period_ns - stats.mean_ns >= stats.period_ns / BETWEEN_PART) {
			fprintf(out, "  %s from one to the next, %s of it in no %s\n",
				fmt_time(a, stats.period_ns),
				fmt_share(b, (uint64_t)(stats.period_ns - stats.mean_ns),
					  (uint64_t)stats.period_ns),
				step_noun(stats.passes));
			report_between_text(model, out);
		}
		if (count > 1)
			report_text_print_spark(rows, count, out);
		report_breakdown_text(model, out);
		report_phases_text(model, out);
		report_path_text(model, out);
	}
	free(rows);
}

/* ---- ops ---- */

static int report_ops_by_device(const void *a, const void *b)
{
	const struct op_line *x = a, *y = b;

	return DESCENDING(x, y, op.device_ns) ?: DESCENDING(x, y, op.total_ns);
}

static int report_ops_by_self(const void *a, const void *b)
{
	const struct op_line *x = a, *y = b;

	return DESCENDING(x, y, op.self_ns) ?: DESCENDING(x, y, op.total_ns);
}

void report_ops_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct step_stats stats;
	struct step_row *steps;
	struct op_line *lines;
	struct op_row *rows;
	size_t count;
	bool devices;

	model_lock(model);
	devices = places_devices(model);
	count = model_ops(model, &rows);
	model_steps(model, &stats, &steps);
	model_unlock(model);
	free(steps);
	count = steps_merge(&stats, rows, count);
	lines = xcalloc(count, sizeof(*lines));
	for (size_t i = 0; i < count; i++)
		lines[i].op = rows[i];
	qsort(lines, count, sizeof(*lines), devices ? report_ops_by_device : report_ops_by_self);
	report_table(&sheet, op_columns(devices, OPS_LIST), &(struct report_rows) {
		.rows = lines, .size = sizeof(*lines), .count = count, .most = ROWS_MAX,
	});
	report_sheet(&sheet, out);
	free(lines);
	free(rows);
}

/* ---- messages ---- */

void report_messages_text(struct model *model, FILE *out)
{
	static const char *const marks[] = { "  ·", "  !", "  !" };
	struct message_row *rows;
	size_t count;

	model_lock(model);
	count = model_messages(model, &rows);
	model_unlock(model);
	if (count)
		fputs("\nmessages\n", out);
	for (size_t i = 0; i < count; i++)
		report_lines(marks[rows[i].level < 0 || rows[i].level > 2 ? 2 : rows[i].level], 4,
			     rows[i].text, "", out);
	free(rows);
}

/* ---- all of it ---- */

static void report_section_text(const struct report_section *section, struct model *model,
				FILE *out)
{
	struct sheet sheet = { 0 };
	void *rows;
	size_t count;

	if (section->text) {
		section->text(model, out);
		return;
	}
	count = snapshot_take(section->rows, model, &rows);
	if (count && section->compare)
		qsort(rows, count, section->rows->size, section->compare);
	if (section->label)
		section->label(model, rows, count);
	report_table(&sheet, section->rows->columns, &(struct report_rows) {
		.rows = rows, .size = section->rows->size, .count = count,
		.most = section->text_most,
	});
	report_sheet(&sheet, out);
	snapshot_release(section->rows, rows, count);
}

static void report_sections_text(struct model *model, FILE *out)
{
	for (unsigned place = 1; place <= report_n_sections; place++)
		for (size_t i = 0; i < report_n_sections; i++)
			if (report_sections[i].place == place)
				report_section_text(&report_sections[i], model, out);
}

void report_text(struct model *model, const struct report_run *run, FILE *out)
{
	report_text_print_run(run, out);
	report_sections_text(model, out);
}
