/* SPDX-License-Identifier: MIT */
#include "model/counters/counters.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/query/counters.h"

#define SERIES_MAX 4096u
#define WAITING_MAX 4096u

void counters_new(struct model *model)
{
	model->counters = xcalloc(1, sizeof(*model->counters));
	store_init(&model->counters->series, sizeof(struct series));
}

void counters_free(struct model *model)
{
	struct counters *counters = model->counters;

	for (uint32_t i = 0; i < counters->series.n; i++) {
		level_release(&series_at(counters, i)->level);
		free(series_at(counters, i)->waiting);
	}
	store_release(&counters->series);
	map_release(&counters->by_key);
	free(counters);
}

size_t counters_bytes(const struct model *model)
{
	const struct counters *counters = model->counters;
	size_t bytes = sizeof(*counters) + map_bytes(&counters->by_key);

	for (uint32_t i = 0; i < counters->series.n; i++) {
		const struct series *series = series_at(counters, i);

		bytes += sizeof(*series) + level_bytes(&series->level) +
			 series->cap_waiting * sizeof(*series->waiting);
	}
	return bytes;
}

/* ---- series ---- */

static uint32_t series_new(struct model *model, uint32_t process, uint32_t id)
{
	struct series *series;

	if (model->counters->series.n >= SERIES_MAX) {
		note_message(model, model->live_ns, 1,
			     "there are too many counters: further ones are left out");
		return NONE;
	}
	series = store_new(&model->counters->series);
	series->process = process;
	series->id = id;
	series->view = series->device = series->row = NONE;
	return model->counters->series.n - 1;
}

/* NONE: there is none, or no room for it. */
static uint32_t series_get(struct model *model, uint32_t process, uint32_t id)
{
	uint64_t key = (uint64_t)process << 32 | id;
	uint32_t at = id ? map_get(&model->counters->by_key, key) : NONE;

	if (!id)
		model_bad(model, BAD_ID);
	if (!id || at != MAP_NONE)
		return at;
	at = series_new(model, process, id);
	if (at != NONE)
		map_set(&model->counters->by_key, key, at);
	return at;
}

void apply_series(struct model *model, const struct arrival *in)
{
	const struct event_series *def = &in->event->u.series;
	uint32_t at = series_get(model, in->process->index, def->id);
	struct series *series;

	if (at == NONE)
		return;
	series = series_at(model->counters, at);
	series->name = names_intern(&model->names, def->name && *def->name ? def->name : "counter");
	series->unit = def->unit && *def->unit ? names_intern(&model->names, def->unit) : 0;
	series->usage = def->device == EVENT_SERIES_USAGE;
	series->view = def->device && !series->usage ?
		       view_get(model, in->process->index, def->device) : NONE;
}

uint32_t counters_made(struct model *model, uint32_t process, uint32_t device, const char *name,
		       const char *unit)
{
	uint32_t at = series_new(model, process, 0);
	struct series *series;

	if (at == NONE)
		return NONE;
	series = series_at(model->counters, at);
	series->device = device;
	series->name = names_intern(&model->names, name);
	series->unit = *unit ? names_intern(&model->names, unit) : 0;
	return at;
}

uint32_t series_device(const struct model *model, const struct series *series)
{
	return series->view == NONE ? series->device : view_at(model, series->view)->device;
}

int64_t series_base(const struct series *series)
{
	return series->count && series->min < 0 ? series->min : 0;
}

/* ---- values ---- */

static void book(struct series *series, int64_t at_ns, uint64_t value)
{
	if (!series->level.width_ns)
		series->first_ns = series->booked_ns = at_ns;
	if (at_ns < series->booked_ns) {
		series->late++;
		return;
	}
	series->area += (__int128)((int64_t)series->level.value - COUNTER_BIAS) *
			(at_ns - series->booked_ns);
	series->booked_ns = at_ns;
	level_set(&series->level, at_ns, value);
}

static void book_until(struct series *series, int64_t until_ns)
{
	size_t n = 0;

	while (n < series->n_waiting && series->waiting[n].time_ns <= until_ns) {
		book(series, series->waiting[n].time_ns, series->waiting[n].value);
		n++;
	}
	series->n_waiting -= n;
	if (n)
		memmove(series->waiting, series->waiting + n,
			series->n_waiting * sizeof(*series->waiting));
}

void counters_put(struct model *model, uint32_t at, int64_t at_ns, int64_t value)
{
	struct series *series = series_at(model->counters, at);
	size_t i = series->n_waiting;

	if (!series->count || value < series->min)
		series->min = value;
	if (!series->count || value > series->max)
		series->max = value;
	series->count++;
	if (series->level.width_ns && at_ns < series->booked_ns) {
		series->late++;
		return;
	}
	grow(&series->waiting, &series->cap_waiting, i, sizeof(*series->waiting));
	for (; i && series->waiting[i - 1].time_ns > at_ns; i--)
		series->waiting[i] = series->waiting[i - 1];
	series->waiting[i] = (struct level_point) { at_ns, (uint64_t)(value + COUNTER_BIAS) };
	/* No source says what has settled, so old values are taken as settled. */
	if (++series->n_waiting >= WAITING_MAX)
		book_until(series, series->waiting[WAITING_MAX / 2].time_ns);
}

void apply_counter(struct model *model, const struct arrival *in)
{
	const struct event_counter *counter = &in->event->u.counter;
	uint32_t at;

	if (!span_ok(counter->at_ns, 0, in->event->time_ns)) {
		model_bad(model, BAD_FAR);
		return;
	}
	if (counter->value <= -COUNTER_BIAS || counter->value >= COUNTER_BIAS) {
		model_bad(model, BAD_KIND);
		return;
	}
	at = series_get(model, in->process->index, counter->series);
	if (at == NONE)
		return;
	counters_put(model, at, counter->at_ns, counter->value);
	saw_time(model, counter->at_ns, counter->at_ns);
}

void counters_settled(struct model *model, int64_t settled_ns)
{
	for (uint32_t i = 0; i < model->counters->series.n; i++)
		book_until(series_at(model->counters, i), settled_ns);
}

/* ---- queries ---- */

static int64_t unbiased(uint64_t value)
{
	return (int64_t)value - COUNTER_BIAS;
}

static const struct level_point *last_point(const struct series *series)
{
	return series->n_waiting ? &series->waiting[series->n_waiting - 1] : NULL;
}

/* The mean from the first to the last value; a single value is its own mean. */
static int64_t mean_of(const struct series *series, int64_t first_ns)
{
	__int128 area = series->area;
	int64_t at = first_ns, value = 0;

	if (series->level.width_ns) {
		at = series->booked_ns;
		value = unbiased(series->level.value);
	}
	for (size_t i = 0; i < series->n_waiting; i++) {
		area += (__int128)value * (series->waiting[i].time_ns - at);
		at = series->waiting[i].time_ns;
		value = unbiased(series->waiting[i].value);
	}
	return at > first_ns ? (int64_t)(area / (at - first_ns)) : value;
}

int64_t series_first_ns(const struct series *series)
{
	return series->level.width_ns ? series->first_ns : series->waiting[0].time_ns;
}

static void counter_fill_row(struct model *model, uint32_t at, struct counter_row *row)
{
	const struct series *series = series_at(model->counters, at);
	const struct process *process = process_at(model, series->process);
	const struct level_point *last = last_point(series);

	*row = (struct counter_row) {
		.name = names_raw(&model->names, series->name),
		.unit = series->unit ? names_raw(&model->names, series->unit) : "",
		.series = at, .device = series_device(model, series), .host = process->host,
		.pid = process->pid, .count = series->count, .late = series->late,
		.usage = series->usage, .min = series->min, .max = series->max,
		.last = unbiased(last ? last->value : series->level.value),
		.first_ns = series_first_ns(series),
		.last_ns = last ? last->time_ns : series->booked_ns,
	};
	row->mean = mean_of(series, row->first_ns);
}

static int by_place(const void *a, const void *b)
{
	const struct counter_row *x = a, *y = b;

	return ASCENDING(x, y, usage) ?: ASCENDING(x, y, host) ?: ASCENDING(x, y, pid) ?:
	       ASCENDING(x, y, device) ?: ASCENDING(x, y, series);
}

size_t model_counters(struct model *model, struct counter_row **out)
{
	const struct counters *counters = model->counters;
	size_t n = 0;

	*out = xcalloc(counters->series.n, sizeof(**out));
	for (uint32_t i = 0; i < counters->series.n; i++)
		if (series_at(counters, i)->count && series_at(counters, i)->name)
			counter_fill_row(model, i, &(*out)[n++]);
	if (n)
		qsort(*out, n, sizeof(**out), by_place);
	return n;
}

void model_counter_columns(struct model *model, uint32_t at, int64_t t0, int64_t t1, size_t n,
			   struct counter_column *out)
{
	const struct series *series;
	int64_t span, w, first, edge = live_edge(model);

	memset(out, 0, n * sizeof(*out));
	if (at >= model->counters->series.n || !n || __builtin_sub_overflow(t1, t0, &span) ||
	    span <= 0)
		return;
	series = series_at(model->counters, at);
	if (!series->level.width_ns && !series->n_waiting)
		return;
	first = series_first_ns(series);
	w = span / (int64_t)n > 0 ? span / (int64_t)n : 1;
	for (size_t i = 0; i < n; i++) {
		int64_t from = t0 + w * (int64_t)i, to = from + w;
		struct level_range range;

		to = to < edge ? to : edge;
		from = from > first ? from : first;
		if (from >= to)
			continue;
		level_range(&series->level,
			    (struct level_tail) { series->waiting, series->n_waiting }, from, to,
			    &range);
		out[i] = (struct counter_column) {
			.min = unbiased(range.min), .mean = unbiased(range.mean),
			.max = unbiased(range.max), .known = true, .approx = range.approx,
		};
	}
}

uint32_t counters_usage(struct model *model, uint32_t process, const char *name)
{
	for (uint32_t i = 0; i < model->counters->series.n; i++) {
		const struct series *series = series_at(model->counters, i);

		if (series->usage && series->process == process && series->name &&
		    series->count >= USAGE_LEAST &&
		    !strcmp(names_raw(&model->names, series->name), name))
			return i;
	}
	return NONE;
}

int64_t counters_usage_mean(struct model *model, uint32_t process, const char *name, int64_t t0,
			    int64_t t1)
{
	uint32_t series = counters_usage(model, process, name);
	struct counter_column column;

	if (series == NONE)
		return -1;
	model_counter_columns(model, series, t0, t1, 1, &column);
	return column.known ? column.mean : -1;
}

void counters_columns(struct model *model, uint32_t at, int64_t t0, int64_t w, size_t n,
		      struct column *out)
{
	struct counter_column *columns = xreallocarray(NULL, n, sizeof(*columns));
	int64_t base = series_base(series_at(model->counters, at));

	model_counter_columns(model, at, t0, t0 + w * (int64_t)n, n, columns);
	for (size_t i = 0; i < n; i++) {
		if (!columns[i].known)
			continue;
		out[i].value = (uint64_t)(columns[i].mean - base);
		out[i].value_min = (uint64_t)(columns[i].min - base);
		out[i].value_max = (uint64_t)(columns[i].max - base);
		out[i].count = 1;
		out[i].flags |= columns[i].approx ? COLUMN_APPROX : 0;
	}
	free(columns);
}
