/* SPDX-License-Identifier: MIT */
#include "tui/loop/header_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/cores.h"
#include "model/query/time.h"
#include "model/base/util.h"
#include "tui/draw/labels.h"
#include "tui/draw/places.h"
#include "tui/draw/time_parts.h"

#define BAR 8				/* cells of the bar of a share */
#define CAUSES 3			/* most causes of idle time that are named */
#define CAUSES_WIDTH 31			/* of ": launch 28 · other 10 · sync 4" */
#define PLACES_WIDTH 56			/* the same with lines, on a wide screen */
#define WIDE 140			/* from this width on, lines are named */
#define DEVICES_MOST 256	/* most devices in the strip that is shown for very many devices */

void header_spark(struct header *h)
{
	const struct step_list *steps = &h->steps;
	size_t n = steps->n < HEADER_SPARK ? steps->n : HEADER_SPARK, i;
	const struct step_row *rows = steps->rows + (steps->n - n);
	int64_t longest = 0, typical = steps->stats.p50_ns;

	memset(h->spark, 0, sizeof(h->spark));
	memset(h->slow, 0, sizeof(h->slow));
	for (i = 0; i < n; i++)
		if (rows[i].dur_ns > longest)
			longest = rows[i].dur_ns;
	/* Steps of similar length are all drawn low, so that a slow one stands out. */
	if (longest < typical * 2)
		longest = typical * 2;
	for (i = 0; i < n; i++) {
		int eighths = cells_eighths((uint64_t)(rows[i].dur_ns > 0 ? rows[i].dur_ns : 0),
					    (uint64_t)(longest > 0 ? longest : 1));

		h->spark[HEADER_SPARK - n + i] = (uint8_t)(eighths < 1 ? 1 : eighths);
		h->slow[HEADER_SPARK - n + i] = rows[i].dur_ns > typical + typical / 2;
	}
}

/* Whole percent. */
static int percent(int64_t part, int64_t whole)
{
	if (part <= 0 || whole <= 0)
		return 0;
	if (part >= whole)
		return 100;
	return (int)(((__int128)part * 100 + whole / 2) / whole);
}

static void header_add_bar(struct strip *strip, const struct view *view, int rank, enum role role,
			   int64_t part, int64_t whole)
{
	char text[BAR * 4 + 16];
	uint64_t eighths = 0;
	size_t at = 0;
	int i;

	if (part > 0 && whole > 0)
		eighths = (uint64_t)(((__int128)(part < whole ? part : whole) * BAR * 8 +
				      whole / 2) / whole);
	if (part > 0 && !eighths)
		eighths = 1;
	for (i = 0; i < BAR; i++) {
		int here = eighths >= 8 ? 8 : (int)eighths;
		char glyph[5];

		text_encode(cells_left(here, view->ascii), glyph);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s", glyph);
		eighths -= (uint64_t)here;
	}
	if (view->shades) {
		strip_add(strip, rank, 1, role, 0, "%s", text)->track = true;
		return;
	}
	strip_add(strip, rank, 1, role, 0, "%s%s%s", view->ascii ? "[" : "▕", text,
		  view->ascii ? "]" : "▏");
}

/* Returns "H200" for "NVIDIA H200": the vendor's name is left out. */
static void short_name(char *text, size_t size, const char *name, int width, bool ascii)
{
	static const char *const heads[] = { "NVIDIA ", "GeForce ", "AMD ", "Intel(R) ", "Tesla " };
	size_t i;

	if (!name)
		name = "";
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (strncmp(name, heads[i], strlen(heads[i])) == 0)
			name += strlen(heads[i]);
	label_fit(text, size, name, width, ascii);
}

/* The time [*t0, *t1) that the shares are of; returns its name. */
static const char *share_window(const struct header *h, const struct view *view,
				int64_t recent_ns, int64_t *t0, int64_t *t1)
{
	const struct model_status *s = &h->status;
	const char *words = "of the window";

	*t1 = s->finished ? s->last_ns : s->settled_ns;
	if (view->following && !s->finished) {
		*t0 = *t1 - recent_ns;
		words = "of the last 5 s";
	} else if (view->following) {
		*t0 = s->first_ns;
		words = "of the run";
	} else {
		*t0 = view->t0_ns;
		*t1 = *t1 < view->t1_ns ? *t1 : view->t1_ns;
	}
	if (*t0 < s->first_ns)
		*t0 = s->first_ns;
	return words;
}

/*
 * The shares of a device cover the time from its first work on and, after the end, to its last
 * work, as in the report: before and after that time it had no work.
 */
static void own_window(const struct header *h, const struct view *view, uint32_t device,
		       int64_t *t0, int64_t *t1, char *words, size_t size)
{
	int64_t from = *t0, to = *t1, all = to - from;
	char text[FMT_MAX];
	struct idle_gap own;

	if (!model_idle(view->model, device, &own))
		return;
	if (own.start_ns > from)
		from = own.start_ns;
	if (h->status.finished && own.end_ns < to)
		to = own.end_ns;
	if (to <= from || to - from >= all)
		return;
	*t0 = from;
	*t1 = to;
	if (to - from < all - all / 50)
		snprintf(words, size, "of its %s%s", h->status.finished ? "" : "first ",
			 fmt_time(text, to - from));
}

/* Idle time and, of the causes of the host, what it did, as far as that is known. */
struct idle_parts {
	struct idle_gap gap;
	struct host_time_row *rows;	/* owned */
	size_t n_rows;
};

static const char *header_cause_name(int cause)
{
	return idle_name((enum idle_cause)cause);
}

/* Adds ": input 23 · sleep 20 loader.py:25": the parts of the idle time, the largest first, with no
 * more in total than the idle time in whole percent. Lines are named where there is room. */
static void add_causes(struct strip *strip, const struct view *view, const struct idle_parts *of,
		       int64_t whole, int idle, bool wide)
{
	struct time_parts_of idle_of = {
		.ns = of->gap.ns, .classes = IDLE_COUNT, .host = IDLE_HOST,
		.name = header_cause_name, .rows = of->rows, .n_rows = of->n_rows,
	};
	struct time_part parts[TIME_PARTS];
	int count = time_parts(&idle_of, view->ascii, parts);
	char text[192] = "";
	int room = of->n_rows && wide ? PLACES_WIDTH : CAUSES_WIDTH;
	size_t at = 0;

	for (int n = 0; n < CAUSES && n < count && idle > 0; n++) {
		int share = percent(parts[n].ns, whole), was = (int)at;

		if (share < 1)
			break;
		if (share > idle)
			share = idle;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %d%s", !n ? ": " :
				       view->ascii ? ", " : " · ", parts[n].name, share,
				       wide ? parts[n].place : "");
		if (n && of->n_rows && text_width(text) > room) {
			text[was] = '\0';
			break;
		}
		idle -= share;
	}
	/* The width is constant, so that nothing else moves when the causes change. */
	strip_add(strip, 3, 0, ROLE_DEFAULT, 0, "%s%*s", text, room > text_width(text) ?
		  room - text_width(text) : 0, "");
}

/* The idle time of a device and, to be released, what the host did in it. */
static struct idle_parts idle_parts_of(struct view *view, uint32_t device,
				       const struct idle_gap *gap)
{
	struct idle_parts of = { .gap = *gap };

	of.n_rows = model_idle_host(view->model, device, gap, &of.rows);
	return of;
}

static void device_line(struct strip *strip, const struct view *view, int width,
			const char *label, const struct device_row *d,
			const struct idle_parts *of, const char *words,
			const struct device_unseen *unseen)
{
	bool rough = unseen->rough;
	int64_t whole = d->span_ns;
	int kernels = percent(d->kernel_ns, whole), copies = percent(d->copy_ns, whole);
	int both = percent(d->overlap_ns, whole), idle;
	char name[64], times[FMT_MAX];

	/* The parts add up: kernels + copies - both + idle = 100 %. */
	idle = 100 - kernels - copies + both;
	if (idle < 0) {
		both -= idle;
		idle = 0;
	}
	strip_clear(strip);
	short_name(name, sizeof(name), d->name, width / 8 > 12 ? width / 8 : 12, view->ascii);
	strip_add(strip, 0, 1, ROLE_TITLE, ATTR_BOLD, "%s", label);
	strip_add(strip, 5, 1, ROLE_LABEL, 0, "%s", name)->least = 12;
	if (whole <= 0) {
		strip_add(strip, 0, 2, ROLE_MUTED, 0, unseen->taken_ns > 0 ?
			  "not collected: the program's own profiler has the device" :
			  unseen->paused_ns > 0 ? "not collected: the level is off" :
			  "nothing settled here yet");
		return;
	}
	strip_add(strip, 0, 2, ROLE_MUTED, 0, "kernels");
	header_add_bar(strip, view, 4, ROLE_WORK_MATMUL, d->kernel_ns, whole);
	strip_add(strip, 0, 1, ROLE_DEFAULT, 0, rough ? "≈%2d %%" : "%3d %%", kernels);
	strip_add(strip, 2, 2, ROLE_MUTED, 0, "copies");
	header_add_bar(strip, view, 7, ROLE_WORK_COPY, d->copy_ns, whole);
	strip_add(strip, 2, 1, ROLE_DEFAULT, 0, rough ? "≈%2d %%" : "%3d %%", copies);
	snprintf(name, sizeof(name), "(%d under kernels)", both);
	strip_add(strip, 8, 1, ROLE_MUTED, 0, "%-18s", name);
	strip_add(strip, 1, 2, ROLE_MUTED, 0, "idle");
	strip_add(strip, 1, 1, ROLE_DEFAULT, 0, rough ? "≈%2d %%" : "%3d %%", idle);
	add_causes(strip, view, of, whole, idle, width >= WIDE);
	if (d->clock_violations)
		strip_add(strip, 4, 2, ROLE_WARN, 0, "clock contradicted %s×",
			  fmt_count(times, d->clock_violations));
	strip_add(strip, 6, 3, ROLE_MUTED, 0, "%s", words)->right = true;
}

/* The line of the processor: cores instead of copies and idle times. */
static void cores_line(struct strip *strip, struct view *view, int width, const char *label,
		       const struct device_row *d, int64_t t0, int64_t t1, const char *words)
{
	struct cores_use use;
	bool known = model_cores(view->model, t0, t1, &use);
	int64_t cores = d->units ? d->units : 1, tenths;
	char name[64], library[48] = "";

	strip_clear(strip);
	short_name(name, sizeof(name), d->name, width / 8 > 12 ? width / 8 : 12, view->ascii);
	strip_add(strip, 0, 1, ROLE_TITLE, ATTR_BOLD, "%s", label);
	strip_add(strip, 5, 1, ROLE_LABEL, 0, "%s", name)->least = 12;
	if (!known) {
		strip_add(strip, 0, 2, ROLE_MUTED, 0, "nothing settled here yet");
		return;
	}
	tenths = (int64_t)(((__int128)use.busy_ns * 10 + use.span_ns / 2) / use.span_ns);
	strip_add(strip, 0, 2, ROLE_MUTED, 0, "cores busy");
	header_add_bar(strip, view, 4, ROLE_WORK_MATMUL, use.busy_ns / cores, use.span_ns);
	strip_add(strip, 0, 1, ROLE_DEFAULT, 0, "%2lld.%lld of %lld", (long long)(tenths / 10),
		  (long long)(tenths % 10), (long long)cores);
	strip_add(strip, 1, 2, ROLE_MUTED, 0, "no op");
	strip_add(strip, 1, 1, ROLE_DEFAULT, 0, "%3d %%",
		  percent(use.span_ns - use.any_ns, use.span_ns));
	strip_add(strip, 2, 2, ROLE_MUTED, 0, "input wait");
	strip_add(strip, 2, 1, ROLE_DEFAULT, 0, "%3d %%", percent(use.input_ns, use.span_ns));
	if (use.top)
		snprintf(library, sizeof(library), "%.20s %d %% of that", use.top,
			 percent(use.top_ns, use.busy_ns));
	strip_add(strip, 3, 2, ROLE_DEFAULT, 0, "%-20s", library);
	strip_add(strip, 6, 3, ROLE_MUTED, 0, "%s", words)->right = true;
}

/* Adds one device's shares for the strip; returns false if it did nothing in the window. */
static bool seen(struct view *view, const struct device_row *device, int64_t t0, int64_t t1,
		 struct device_row *d, struct idle_gap *gap)
{
	struct device_unseen unseen;

	if (model_device_seen(view->model, device->id, t0, t1, d, gap, &unseen))
		return true;
	*d = *device;
	*gap = (struct idle_gap) { 0, 0, { 0 } };
	d->busy_ns = 0;
	d->span_ns = t1 - t0;
	return false;
}

/* Very many devices: one cell for each, the mean, and the device that is least busy. */
static void strip_of_devices(struct header *h, struct view *view, struct device_row *devices,
			     size_t count, int64_t t0, int64_t t1, const char *words)
{
	struct strip *strip = &h->lines[0];
	char cells[STRIP_TEXT] = "", label[16];
	struct idle_gap gap, least_gap = { 0, 0, { 0 } };
	struct device_row d;
	int least = 101, busy;
	int64_t sum = 0, least_ns = 1;
	size_t at = 0, which = 0, i;
	bool gpus = true;

	for (i = 0; i < count && i < DEVICES_MOST; i++) {
		char glyph[5];

		seen(view, &devices[i], t0, t1, &d, &gap);
		text_encode(cells_height(cells_eighths((uint64_t)d.busy_ns, (uint64_t)d.span_ns),
					 view->ascii), glyph);
		if (at + 5 < sizeof(cells))
			at += (size_t)snprintf(cells + at, sizeof(cells) - at, "%s", glyph);
		busy = percent(d.busy_ns, d.span_ns);
		sum += busy;
		gpus &= devices[i].gpu == 1;
		if (busy >= least)
			continue;
		least = busy;
		least_gap = gap;
		least_ns = d.span_ns;
		which = i;
	}
	strip_clear(strip);
	places_device_label(label, sizeof(label), devices, count, devices[which].id);
	strip_add(strip, 0, 1, ROLE_TITLE, ATTR_BOLD, "%s %zu", gpus ? "gpus" : "devices", count);
	strip_add(strip, 1, 2, ROLE_WORK_MATMUL, 0, "%s", cells);
	strip_add(strip, 2, 2, ROLE_DEFAULT, 0, "%3d %%", percent(sum, (int64_t)i * 100));
	strip_add(strip, 2, 1, ROLE_MUTED, 0, "busy");
	strip_add(strip, 1, 2, ROLE_MUTED, 0, "least");
	strip_add(strip, 1, 1, ROLE_DEFAULT, 0, "%s %3d %%", label, least);
	strip_add(strip, 3, 2, ROLE_MUTED, 0, "idle");
	add_causes(strip, view, &(struct idle_parts) { .gap = least_gap }, least_ns, 100 - least,
		   false);
	strip_add(strip, 3, 3, ROLE_MUTED, 0, "%s", words)->right = true;
}

/* Whether the device has done work, or has work in the window that has not ended yet. */
static bool works(struct view *view, const struct device_row *device, int64_t t0, int64_t t1)
{
	struct device_row now;
	struct cores_use use;

	if (device->api && !strcmp(device->api, "cpu") && model_cores(view->model, t0, t1, &use))
		return true;
	return device->busy_ns > 0 ||
	       (model_device_window(view->model, device->id, t0, t1, &now) && now.busy_ns > 0);
}

int header_devices(struct header *h, struct view *view, int width, int most, int64_t recent_ns)
{
	struct device_row *devices = NULL;
	size_t count = model_devices(view->model, &devices), i, used = 0;
	int64_t t0, t1;
	const char *words = share_window(h, view, recent_ns, &t0, &t1);
	int lines = 0;

	for (i = 0; i < count; i++)
		used += works(view, &devices[i], t0, t1);
	if (!used || most < 1) {
		free(devices);
		return 0;
	}
	if (used > HEADER_LINES || (int)used > most) {
		strip_of_devices(h, view, devices, count, t0, t1 > t0 ? t1 : t0 + 1, words);
		free(devices);
		return 1;
	}
	for (i = 0; i < count; i++) {
		struct device_row d = devices[i];
		struct idle_gap gap = { .start_ns = 0 };
		struct idle_parts of;
		char label[16], own[48];
		int64_t from = t0, to = t1;
		struct device_unseen unseen = { .rough = false };

		if (!works(view, &d, t0, t1))
			continue;
		places_device_label(label, sizeof(label), devices, count, d.id);
		if (d.api && !strcmp(d.api, "cpu")) {
			cores_line(&h->lines[lines++], view, width, label, &d, from, to, words);
			continue;
		}
		snprintf(own, sizeof(own), "%s", words);
		own_window(h, view, d.id, &from, &to, own, sizeof(own));
		if (!model_device_seen(view->model, devices[i].id, from, to, &d, &gap, &unseen))
			d.span_ns = 0;
		of = idle_parts_of(view, d.id, &gap);
		device_line(&h->lines[lines++], view, width, label, &d, &of, own, &unseen);
		free(of.rows);
	}
	free(devices);
	return lines;
}
