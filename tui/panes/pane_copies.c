/* SPDX-License-Identifier: MIT */
/* Pane 3: copies by direction and queue. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/time.h"
#include "tui/filters/filters_rows.h"
#include "tui/draw/places.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"

struct copies_pane {
	struct pane pane;
	struct table table;
};

struct copy_line {
	struct copy_row copy;
	uint64_t best;			/* bytes/s, 0 not known */
	char device[12], peer[12];	/* peer: "" none */
	char queue[40], number[12];	/* of the queue, within its process */
};

#define ROW(row) ((const struct copy_line *)(row))

static void direction_text(const struct table *table, const void *row, char *text, size_t size)
{
	const struct copy_line *line = ROW(row);

	snprintf(text, size, "%s%s%s", direction_name(line->copy.direction),
		 !*line->peer ? "" : table->ascii ? " > " : " → ", line->peer);
}

/* How many of them had host memory that the device can reach by itself. */
static void pinned_text(const struct table *table, const void *row, char *text, size_t size)
{
	const struct copy_row *copy = &ROW(row)->copy;
	bool host = copy->direction == DIR_H2D || copy->direction == DIR_D2H;

	if (host && copy->pinned && copy->pinned < copy->count)
		places_share(text, size, copy->pinned, copy->count);
	else
		snprintf(text, size, "%s", !host || !copy->count ? "–" : copy->pinned ? "yes" : "no");
}

static void queue_text(const struct table *table, const void *row, char *text, size_t size)
{
	snprintf(text, size, "%s", ROW(row)->queue);
}

static void device_text(const struct table *table, const void *row, char *text, size_t size)
{
	snprintf(text, size, "%s", ROW(row)->device);
}

static bool timed(const struct copy_line *line)
{
	return line->copy.count > line->copy.untimed;
}

static uint64_t part(const void *row)
{
	return ROW(row)->copy.total_ns > 0 ? (uint64_t)ROW(row)->copy.total_ns : 0;
}

#define VALUE(name, number, condition) \
static bool name##_value(const void *row, int64_t *value) \
{ \
	const struct copy_row *copy = &ROW(row)->copy; \
\
	*value = (int64_t)(number); \
	return condition; \
}
VALUE(count, copy->count, true)
VALUE(bytes, copy->bytes, true)
VALUE(time, copy->total_ns, timed(row))
VALUE(pinned, copy->pinned, true)
VALUE(pageable, copy->count - copy->pinned,
      copy->direction == DIR_H2D || copy->direction == DIR_D2H)
VALUE(of_best, (__int128_t)copy->mean_bytes_per_s * 1000 / (ROW(row)->best ? ROW(row)->best : 1),
      copy->mean_bytes_per_s && ROW(row)->best)
VALUE(mean, copy->mean_bytes_per_s, copy->mean_bytes_per_s > 0)
VALUE(peak, copy->peak_bytes_per_s, copy->peak_bytes_per_s > 0)

/* Of copies of which some were only bracketed by the host: with "~". */
#define MARKED(name, format) \
static void name##_text(const struct table *table, const void *row, char *text, size_t size) \
{ \
	char number[FMT_MAX]; \
	int64_t value; \
\
	snprintf(text, size, "–"); \
	if (name##_value(row, &value)) \
		snprintf(text, size, "%s%s", ROW(row)->copy.approx ? "~" : "", format); \
}
MARKED(time, fmt_time(number, value))
MARKED(mean, fmt_rate(number, (uint64_t)value))
MARKED(peak, fmt_rate(number, (uint64_t)value))

static int by_direction(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->copy.direction, ROW(b)->copy.direction);
}

static int by_device(const void *a, const void *b)
{
	return table_compare_u64(ROW(a)->copy.device, ROW(b)->copy.device);
}

static int by_queue(const void *a, const void *b)
{
	return table_compare_u64(ROW(a)->copy.queue, ROW(b)->copy.queue);
}

static enum filter_known field(const void *row, enum filter_field by, struct filter_value *value)
{
	const struct copy_line *line = ROW(row);

	switch (by) {
	case FILTER_BY_QUEUE: return filter_words(value, line->queue, line->number);
	case FILTER_BY_DEVICE: return filter_words(value, line->device, NULL);
	default: return filters_copy(&line->copy, by, value);
	}
}

static uint64_t identity(const void *row)
{
	return table_mix((uint64_t)ROW(row)->copy.direction, ROW(row)->copy.device,
			 (uint64_t)ROW(row)->copy.peer << 32 | ROW(row)->copy.queue);
}

static enum role bar_role(const void *row)
{
	return ROLE_WORK_COPY;
}

static bool bad(const void *row)
{
	return ROW(row)->copy.failed > 0;
}

static const struct table_column columns[] = {
	{"direction", "direction", 11, 0, 0, 0, .text = direction_text, .compare = by_direction,
	 .help = "from where to where; of copies between devices also the other one"},
	{"queue", "queue", 12, 14, 28, 2, .text = queue_text, .compare = by_queue,
	 .help = "the queue (stream) that the copies went to"},
	{"device", "device", 6, 0, 0, 5, .text = device_text, .compare = by_device,
	 .help = "the queue's device"},
	{"count", "count", 9, 0, 0, 1, UNIT_COUNT, TABLE_SUMS, .value = count_value,
	 .help = "how many copies"},
	{"bytes", "bytes", 9, 0, 0, 0, UNIT_BYTES, TABLE_SUMS, .value = bytes_value,
	 .help = "bytes that were moved, all copies added"},
	{"time", "time", 9, 0, 0, 0, UNIT_TIME, TABLE_SUMS, .value = time_value, .text = time_text,
	 .help = "device time of the copies, added"},
	{"pinned", "pinned", 6, 0, 0, 4, UNIT_SHARE, 0, .value = pinned_value, .text = pinned_text,
	 .help = "part of the copies whose host memory was pinned, as far as the probes were told"},
	{"pageable", "pageable", 9, 0, 0, 9, UNIT_COUNT, TABLE_SUMS | TABLE_ASKED,
	 .value = pageable_value,
	 .help = "copies from or to host memory that was not pinned, as far as the probes were told"},
	{"share of it", "share", 14, 14, 20, 4, UNIT_SHARE, .part = part,
	 .help = "its part of the time of all copies"},
	{"mean", "mean", 10, 0, 0, 1, UNIT_RATE, 0, .value = mean_value, .text = mean_text,
	 .help = "bytes by the time of the copies that have one"},
	{"peak", "peak", 10, 0, 0, 3, UNIT_RATE, 0, .value = peak_value, .text = peak_text,
	 .help = "the fastest single copy of 64 KiB and more, else of all"},
	{"of best", "best", 7, 0, 0, 4, UNIT_SHARE, TABLE_LEAST_FIRST, .value = of_best_value,
	 .help = "its mean, as a share of the fastest copy seen in that direction on the device"},
};

static const struct table_kind kind = {
	.pane = "copies",
	.count_key = "count",
	.cost_key = "time",
	.columns = columns,
	.n_columns = sizeof(columns) / sizeof(columns[0]),
	.row_size = sizeof(struct copy_line),
	.empty = "no copy has finished yet",
	.identity = identity,
	.field = field,
	.bar = bar_role,
	.bad = bad,
};

static struct pane *copies_open(struct view *view)
{
	struct copies_pane *pane = xcalloc(1, sizeof(*pane));

	table_setup(&pane->table, &kind, "time");
	return &pane->pane;
}

static void copies_close(struct pane *pane)
{
	struct copies_pane *copies = (struct copies_pane *)pane;

	table_teardown(&copies->table);
	free(copies);
}

/* The fastest that was seen of its direction on its device. */
static uint64_t best_of(const struct copy_row *row, const struct bandwidth_row *seen, size_t n_seen,
			const struct copy_row *rows, size_t n)
{
	uint64_t best = 0;

	for (size_t i = 0; i < n_seen; i++)
		if (seen[i].device == row->device && seen[i].direction == row->direction)
			best = seen[i].best_bytes_per_s;
	for (size_t i = 0; i < n; i++)
		if (rows[i].device == row->device && rows[i].direction == row->direction &&
		    rows[i].peak_bytes_per_s > best)
			best = rows[i].peak_bytes_per_s;
	return best;
}

static void copies_update(struct pane *pane, struct view *view, int width, int height)
{
	struct copies_pane *p = (struct copies_pane *)pane;
	struct device_row *devices = NULL;
	struct queue_row *queues = NULL;
	struct copy_row *rows = NULL;
	size_t n_devices = model_devices(view->model, &devices);
	size_t n_queues = model_queues(view->model, &queues);
	struct bandwidth_row *seen = NULL;
	size_t n_seen;
	size_t count = model_copies(view->model, &rows), i;
	struct copy_line *lines = count ? xreallocarray(NULL, count, sizeof(*lines)) : NULL;
	uint64_t total = 0;

	n_seen = model_bandwidth(view->model, &seen);
	for (i = 0; i < count; i++) {
		struct copy_line *line = &lines[i];

		memset(line, 0, sizeof(*line));
		line->copy = rows[i];
		places_device_label(line->device, sizeof(line->device), devices, n_devices,
				   rows[i].device);
		if (rows[i].peer != UINT32_MAX)
			places_device_label(line->peer, sizeof(line->peer), devices, n_devices,
					   rows[i].peer);
		places_queue_label(line->queue, sizeof(line->queue), queues, n_queues,
				  rows[i].queue);
		for (size_t j = 0; j < n_queues; j++)
			if (queues[j].id == rows[i].queue)
				snprintf(line->number, sizeof(line->number), "%u", queues[j].number);
		line->best = best_of(&rows[i], seen, n_seen, rows, count);
		total += part(line);
	}
	free(seen);
	free(rows);
	free(queues);
	free(devices);
	table_take(&p->table, lines, count, total);
}

static void copies_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	table_draw(&((struct copies_pane *)pane)->table, view, area, focused);
}

static unsigned copies_command(struct pane *pane, struct view *view,
			       const struct command_call *call)
{
	struct copies_pane *p = (struct copies_pane *)pane;
	const struct copy_line *line;

	line = table_current(&p->table);
	if (line && strcmp(call->argv[0], "about") == 0)
		return places_about(view, "name", direction_name(line->copy.direction));
	if (strcmp(call->argv[0], "open") != 0)
		return table_command(&p->table, view, call);
	if (!line)
		return OUT_NONE;
	return places_find_copy(view, line->copy.queue, line->copy.direction);
}

static bool is_row(const void *row, const char *key)
{
	return strcmp(direction_name(ROW(row)->copy.direction), key) == 0;
}

static bool copies_reveal(struct pane *pane, struct view *view, const char *key)
{
	return key && table_reveal(&((struct copies_pane *)pane)->table, is_row, key);
}

static struct table *copies_table(struct pane *pane)
{
	return &((struct copies_pane *)pane)->table;
}

static const struct table_kind *copies_kind(void)
{
	return &kind;
}

static unsigned copies_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			  int width, int height)
{
	return table_mouse(copies_table(pane), view, mouse);
}

const struct pane_ops pane_copies = {
	.name = "copies",
	.key_table = "table",
	.open = copies_open,
	.close = copies_close,
	.update = copies_update,
	.draw = copies_draw,
	.command = copies_command,
	.reveal = copies_reveal,
	.mouse = copies_mouse,
	.table = copies_table,
	.kind = copies_kind,
};
