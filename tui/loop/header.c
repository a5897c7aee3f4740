/* SPDX-License-Identifier: MIT */
/*
 * The lines above the timeline: the state of the run, a line per device (or what tftop is waiting
 * for), and a banner when something looks wrong. header_update() needs the model's lock;
 * header_draw() does not.
 *
 * Fields have fixed widths, so that nothing moves while numbers change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/plain.h"
#include "model/query/counters.h"
#include "tui/loop/header_lines.h"
#include "tui/draw/labels.h"
#include "tui/draw/places.h"
#include "tui/run/progress.h"

#define RECENT_NS 5000000000LL		/* device shares are of this time while following */
#define DEAF_NS 3000000000LL	/* a device that works without any event for so long is reported */
#define DEAF_LAUNCHES 8u
#define DEAF_PERCENT 20
#define QUIET_NS 10000000000LL		/* a program without any event for so long is reported */

struct header *header_new(void)
{
	return xcalloc(1, sizeof(struct header));
}

void header_free(struct header *header)
{
	if (!header)
		return;
	step_list_release(&header->steps);
	free(header);
}

/* ---- line 1: the state ---- */

static void add_program(struct header *h, const struct view *view, int width,
			const struct process_row *first, size_t n_processes)
{
	char name[LABEL_MAX];

	strip_add(&h->state, 9, 1, ROLE_TITLE, ATTR_BOLD, "tftop");
	if (!first)
		return;
	label_command(name, sizeof(name), first->command, width / 5 > 16 ? width / 5 : 16,
		      view->ascii);
	strip_add(&h->state, 1, 2, ROLE_DEFAULT, 0, "%s", name)->least = 8;
	if (first->pid)
		strip_add(&h->state, 10, 1, ROLE_MUTED, 0, "%u", first->pid);
	if (n_processes > 1)
		strip_add(&h->state, 11, 1, ROLE_MUTED, 0, "+%zu", n_processes - 1);
}

static void add_phase(struct header *h, const struct view *view, const struct process_row *first)
{
	int read = view->live ? live_progress(view->live) : -1;
	bool ascii = view->ascii;

	if (read >= 0) {
		strip_add(&h->state, 0, 2, ROLE_WARN, ATTR_BOLD, "%s reading %d %%",
			  ascii ? "o" : "○", read);
	} else if (h->status.finished || (first && first->exited)) {
		bool known = first && first->exited;
		int failed = known && (first->exit_signal || first->exit_status > 0);
		char how[48] = "ended";

		if (known && first->exit_signal)
			snprintf(how, sizeof(how), "killed by signal %d", first->exit_signal);
		else if (failed)
			snprintf(how, sizeof(how), "ended with %d", first->exit_status);
		else if (view->live && report_status_unknown(live_run(view->live)))
			snprintf(how, sizeof(how), "ended, exit status unknown");
		strip_add(&h->state, 0, 2, failed ? ROLE_BAD : ROLE_MUTED, ATTR_BOLD, "%s %s",
			  ascii ? "#" : "■", how);
	} else if (view->live && live_phase(view->live) == LIVE_STOPPED) {
		strip_add(&h->state, 0, 2, ROLE_WARN, ATTR_BOLD, "%s stopped", ascii ? "o" : "○");
	} else if (view->following) {
		strip_add(&h->state, 0, 2, ROLE_GOOD, ATTR_BOLD, "%s live", ascii ? "*" : "●");
	} else {
		strip_add(&h->state, 0, 2, ROLE_WARN, ATTR_BOLD, "%s frozen", ascii ? "o" : "○");
	}
}

/* For how long the program runs or ran, as in the report; if only its events are known, their
 * time. */
static void add_elapsed(struct header *h, const struct view *view)
{
	int64_t end = h->status.live_ns > h->status.last_ns ? h->status.live_ns
							    : h->status.last_ns;
	int64_t ran_ns = view->live ? live_run(view->live)->wall_ns : -1;
	char clock[FMT_MAX];

	if (h->status.first_ns <= h->status.last_ns)
		strip_add(&h->state, 3, 2, ROLE_DEFAULT, 0, "%s",
			  fmt_clock(clock, ran_ns >= 0 ? ran_ns : end - h->status.first_ns));
	if (view->pinned_ns)
		strip_add(&h->state, 4, 2, ROLE_ACCENT, 0, "since %s",
			  fmt_clock(clock, view->pinned_ns - h->status.first_ns));
}

/* "12.3 requests/s", "≈410 tokens/s": means from the first request to the end of the last one. */
static void header_add_requests(struct header *h)
{
	char rate[24];

	request_rate_text(h->requests.requests_milli, rate, sizeof(rate));
	if (*rate)
		strip_add(&h->state, 3, 2, ROLE_DEFAULT, 0, "%s requests/s", rate);
	request_rate_text(h->requests.tokens_milli, rate, sizeof(rate));
	if (*rate)
		strip_add(&h->state, 3, 2, ROLE_DEFAULT, 0, "≈%s tokens/s", rate);
}

static void header_add_steps(struct header *h, const struct view *view)
{
	const char *many = step_nouns(h->status.passes);
	struct progress progress;
	char text[64], number[48], total[24] = "";

	if (!h->status.steps)
		return;
	progress_of(&h->steps, view->settings, h->status.finished, &progress);
	if (progress.total)
		snprintf(total, sizeof(total), "/%lld", (long long)progress.total);
	if (h->status.last_step_number >= 0 && !h->status.passes) {
		snprintf(number, sizeof(number), "%lld%s", (long long)h->status.last_step_number,
			 total);
		strip_add(&h->state, 2, 2, ROLE_TITLE, ATTR_BOLD, "step %-4s", number);
	} else {
		snprintf(number, sizeof(number), "%llu%s", (unsigned long long)h->status.steps,
			 total);
		strip_add(&h->state, 2, 2, ROLE_TITLE, ATTR_BOLD, "%-5s %-*s", number,
			  h->status.passes ? 6 : 5, h->status.steps == 1 ?
			  step_noun(h->status.passes) : many);
	}
	strip_add(&h->state, 2, 1, ROLE_DEFAULT, 0, "%8s",
		  fmt_time(text, h->status.last_step_ns));
	if (progress.period_ns > 0)
		strip_add(&h->state, 5, 1, ROLE_DEFAULT, 0, "%6s/s",
			  fmt_per_second(text, progress.period_ns));
	if (*progress_samples(&progress, text, sizeof(text)))
		strip_add(&h->state, 5, 2, ROLE_DEFAULT, 0, "%s", text);
	if (progress.left_ns >= 0)
		strip_add(&h->state, 4, 2, ROLE_DEFAULT, 0, "to go %s",
			  fmt_clock(text, progress.left_ns));
	header_spark(h);
	strip_add(&h->state, 7, 1, ROLE_GOOD, 0, "%*s", HEADER_SPARK, "")->id = HEADER_SPARK_ID;
}

static void header_add_trust(struct header *h)
{
	uint64_t lost = h->status.lost_events + h->status.dropped;
	char count[FMT_MAX], share[24], packets[FMT_MAX + 16] = "";
	struct strip_piece *piece;

	if (h->status.lost_packets)
		snprintf(packets, sizeof(packets), " and %s",
			 fmt_many(count, h->status.lost_packets, "packet"));
	piece = strip_add(&h->state, lost || packets[0] ? 1 : 4, 3,
			  lost || packets[0] ? ROLE_BAD : ROLE_MUTED, 0, "lost %s%s",
			  fmt_count(count, lost), packets);
	piece->right = true;
	if (h->cost.pairs) {
		piece = strip_add(&h->state, 8, 2, ROLE_MUTED, 0, "own cost %s",
				  fmt_own_cost(share, sizeof(share), &h->cost));
		piece->right = true;
		return;
	}
	if (h->status.program_ns <= 0)
		return;
	places_share(share, sizeof(share),
		    (uint64_t)(h->status.own_ns > 0 ? h->status.own_ns : 0),
		    (uint64_t)h->status.program_ns);
	/* of the probes alone, which is not all that the program pays */
	piece = strip_add(&h->state, 8, 2, ROLE_MUTED, 0, "own time %s%s",
			  share[0] == '<' ? "" : "≈", share);
	piece->right = true;
}

static void update_state(struct header *h, struct view *view, int width,
			 const struct process_row *first, size_t n_processes)
{
	strip_clear(&h->state);
	add_program(h, view, width, first, n_processes);
	add_phase(h, view, first);
	add_elapsed(h, view);
	header_add_steps(h, view);
	header_add_requests(h);
	header_add_trust(h);
}

/* ---- what is waited for, and the banner ---- */

static void list_probes(const struct process_row *processes, size_t count, char *text,
			size_t size)
{
	size_t at = 0, i, j;

	text[0] = '\0';
	for (i = 0; i < count; i++)
		for (j = 0; j < processes[i].n_probes && j < 8 && at < size; j++)
			if (!strstr(text, processes[i].probes[j]))
				at += (size_t)snprintf(text + at, size - at, "%s%s", at ? " " : "",
						       processes[i].probes[j]);
}

/* While there is no work yet, shows what PROGRAM does. live.c knows this best, but takes the
 * model's lock itself, so header_draw() asks it. */
static void update_waiting(struct header *h, const struct process_row *processes, size_t count)
{
	char text[STRIP_TEXT], probes[64], name[64];

	strip_clear(&h->lines[0]);
	list_probes(processes, count, probes, sizeof(probes));
	label_program(name, sizeof(name), count ? processes[0].command : "");
	if (h->status.finished)
		snprintf(text, sizeof(text), "no device work was seen");
	else if (probes[0])
		snprintf(text, sizeof(text), "%s: probes %s, no device work yet", name, probes);
	else
		snprintf(text, sizeof(text), "starting: %s, nothing seen yet", name);
	strip_add(&h->lines[0], 0, 0, ROLE_MUTED, 0, "%s", text);
	h->n_lines = 1;
}

static void banner(struct header *h, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void banner(struct header *h, const char *format, ...)
{
	char text[STRIP_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	strip_add(&h->banner, 0, 0, ROLE_ACCENT, ATTR_BOLD, "!");
	strip_sentence(&h->banner, 0, 1, ROLE_ACCENT, text, 10);
}

/* Utilisation of the busiest device by its sensors, in %; 0 if there is no recent reading. */
static int64_t sensed(struct view *view, int64_t live_ns)
{
	struct counter_row *rows;
	size_t n = model_counters(view->model, &rows);
	int64_t most = 0;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].name, "gpu utilisation") &&
		    live_ns - rows[i].last_ns < DEAF_NS && rows[i].last > most)
			most = rows[i].last;
	free(rows);
	return most;
}

/* Whether a device works, or should work, without any event arriving from it. */
static bool update_deaf(struct header *h, struct view *view)
{
	const struct model_status *s = &h->status;
	uint64_t more;
	int64_t busy;
	char time[FMT_MAX];

	if (s->kernels != h->kernels || !h->kernels_ns || s->in_flight < h->launched) {
		h->kernels = s->kernels;
		h->launched = s->in_flight;
		h->kernels_ns = s->live_ns;
	}
	if (s->live_ns - h->kernels_ns < DEAF_NS)
		return false;
	snprintf(time, sizeof(time), "%d s", (int)((s->live_ns - h->kernels_ns) / (DEAF_NS / 3)));
	more = s->in_flight - h->launched;
	if (more >= DEAF_LAUNCHES) {
		banner(h,
		       "no kernel ended for %s, %llu launched: a long one, or kernels are not "
		       "seen: 8 messages",
		       time, (unsigned long long)more);
		return true;
	}
	busy = s->in_flight ? 0 : sensed(view, s->live_ns);
	if (busy < DEAF_PERCENT)
		return false;
	banner(h,
	       "a GPU is %lld %% busy, but no kernel ended for %s: another program uses it, or "
	       "kernels are not seen: 8 messages",
	       (long long)busy, time);
	return true;
}

/* How long the level has been off; 0 if it is not off. */
static int64_t off_ns(struct view *view, const struct model_status *s)
{
	struct model_pause *list;
	size_t n = model_pauses(view->model, UINT32_MAX, s->first_ns, s->live_ns, &list);
	int64_t ns = n && list[n - 1].end_ns == s->live_ns ?
		     s->live_ns - list[n - 1].begin_ns : 0;

	free(list);
	return ns;
}

static void write_duration(char time[FMT_MAX], int64_t ns)
{
	if (ns < 120 * (QUIET_NS / 10))
		snprintf(time, FMT_MAX, "%d s", (int)(ns / (QUIET_NS / 10)));
	else
		fmt_time(time, ns);
}

/*
 * Events are expected and none arrive. The most likely cause is what the probes themselves report
 * that they cannot see.
 */
static void update_banner(struct header *h, struct view *view,
			  const struct process_row *processes, size_t count, bool exited)
{
	const struct model_status *s = &h->status;
	int64_t quiet = 0, off;
	const char *blind = NULL;
	bool probes = false;
	char time[FMT_MAX];
	size_t i, j;

	strip_clear(&h->banner);
	/* Work that runs on a device for long is drawn as open; the device is not silent. */
	if (s->finished || exited || update_deaf(h, view) || s->in_flight)
		return;
	for (i = 0; i < count; i++)
		for (j = 0; j < processes[i].n_probes && j < 8; j++) {
			probes = true;
			if (processes[i].blind[j] && *processes[i].blind[j] && !blind)
				blind = processes[i].blind[j];
		}
	if (s->first_ns <= s->last_ns)
		quiet = s->live_ns - s->last_ns;
	else if (view->live)
		quiet = view->clock_ns - h->opened_ns;
	if (quiet < QUIET_NS)
		return;
	off = off_ns(view, s);
	write_duration(time, off ? off : quiet);
	if (off)
		banner(h, "the level has been off for %s: nothing is collected",
		       time);
	else if (s->kernels)
		banner(h,
		       "nothing has happened for %s: the program waits, or computes where tftop "
		       "does not look",
		       time);
	else if (s->calls)
		banner(h,
		       "calls are seen but no kernel for %s: the program may compile or read input",
		       time);
	else if (probes)
		banner(h, "a probe is loaded but saw nothing for %s: %s", time,
		       blind ? blind : "the work may bypass it");
	else
		banner(h, "no framework was loaded for %s: 8 messages says what can be seen", time);
}

/* ---- the top finding ---- */

/*
 * Shows one sentence. The line appears with the first finding and stays until the end of the run,
 * so that the rows below do not move up and down.
 */
static void update_finding(struct header *h, struct view *view)
{
	const struct findings_status *status = &view->findings;
	const struct finding *top = &h->top;
	struct finding *list = NULL;
	bool warning;
	char cost[64];

	if (status->revision != h->revision) {
		h->revision = status->revision;
		h->found = status->count || (h->found && !status->final);
		if (model_findings(view->model, &(struct findings_status){0}, &list))
			h->top = list[0];
		free(list);
	}
	strip_clear(&h->finding);
	if (!status->count) {
		strip_add(&h->finding, 0, 0, ROLE_MUTED, 0, "there are no findings any more");
		return;
	}
	warning = top->severity == SEVERITY_WARNING;
	strip_add(&h->finding, 0, 0, warning ? ROLE_ACCENT : ROLE_MUTED, ATTR_BOLD, "%s",
		  warning ? "!" : "·");
	strip_sentence(&h->finding, 0, 1, warning ? ROLE_ACCENT : ROLE_DEFAULT, top->title, 20);
	if (top->cost_ns)
		strip_add(&h->finding, 1, 1, ROLE_DEFAULT, 0, "(%s)",
			  places_cost(cost, sizeof(cost), top->cost_ns,
				      finding_of_ns(top, status)));
	if (status->count + status->more > 1)
		strip_add(&h->finding, 2, 3, ROLE_MUTED, 0, "+%zu more: 6",
			  status->count + status->more - 1)->right = true;
}

/* ---- update and draw ---- */

/* Before its first event, or without any, PROGRAM is the process that live.c started. */
static bool started_process(struct header *h, const struct view *view, struct process_row *out)
{
	const struct report_run *run = view->live ? live_run(view->live) : NULL;
	size_t at = 0, i;

	if (!run || !run->command)
		return false;
	for (i = 0; run->command[i] && at < sizeof(h->command); i++)
		at += (size_t)snprintf(h->command + at, sizeof(h->command) - at, "%s%s",
				       i ? " " : "", run->command[i]);
	memset(out, 0, sizeof(*out));
	out->command = h->command;
	out->pid = (uint32_t)run->pid;
	out->exit_status = -1;
	out->exited = live_exited(view->live, &out->exit_status, &out->exit_signal);
	return true;
}

int header_update(struct header *header, struct view *view, int width, int max_lines)
{
	struct process_row *processes = NULL, started;
	size_t count = model_processes(view->model, &processes);
	const struct process_row *first = count ? &processes[0] : NULL;
	int lines, most;

	if (!header->opened)
		header->opened_ns = view->clock_ns;
	header->opened = true;
	if (!first && started_process(header, view, &started))
		first = &started;

	model_status(view->model, &header->status);
	model_own_cost(view->model, &header->cost);
	model_steps_update(view->model, &header->steps);
	model_request_rates(view->model, &header->requests);
	update_state(header, view, width, first, count);
	update_finding(header, view);
	/* The devices keep at least one line; the finding has the last one. */
	most = max_lines - 1 - header->found;
	header->n_lines = header_devices(header, view, width, most > 1 ? most : 1, RECENT_NS);
	header->waiting = !header->n_lines;
	if (header->waiting)
		update_waiting(header, processes, count);
	update_banner(header, view, processes, count, first && first->exited);
	free(processes);
	lines = 1 + header->n_lines + header->found + (header->banner.count > 0);
	return lines < max_lines ? lines : max_lines > 0 ? max_lines : 0;
}

int header_finding_line(const struct header *header)
{
	return header->finding_y;
}

static void draw_spark(const struct header *h, struct area area)
{
	size_t i, j;

	for (i = 0; i < h->state.count; i++) {
		const struct strip_piece *piece = &h->state.pieces[i];

		if (piece->id != HEADER_SPARK_ID || piece->dropped)
			continue;
		for (j = 0; j < HEADER_SPARK; j++)
			if (h->spark[j])
				area_put(area, piece->x + (int)j, 0,
					 cells_height(h->spark[j], h->ascii),
					 h->slow[j] ? ROLE_ACCENT : ROLE_GOOD,
					 h->shades ? ROLE_HEADER : ROLE_DEFAULT, 0);
	}
}

void header_draw(struct header *header, struct view *view, struct area area)
{
	struct area line = area_sub(area, 1, 0, area.width - 2, 1);
	int y = 1, i, banner = header->banner.count > 0;

	header->ascii = view->ascii;
	header->shades = view->shades;
	if (header->waiting && view->live) {
		char text[STRIP_TEXT];

		strip_clear(&header->lines[0]);
		strip_add(&header->lines[0], 0, 0, ROLE_MUTED, 0, "%s",
			  live_waiting_for(view->live, text, sizeof(text)));
	}
	area_fill(area, 0, 0, area.width, 1, ' ', ROLE_HEADER, ROLE_HEADER, 0);
	strip_draw(&header->state, line, 0, ROLE_HEADER, 0, view->ascii);
	draw_spark(header, line);
	/* If there is too little room, the last device lines are left out first, then the
	 * finding. */
	for (i = 0; i < header->n_lines && y < area.height - (i ? header->found + banner : 0);
	     i++, y++)
		strip_draw(&header->lines[i], area_sub(area, 1, y, area.width - 2, 1), 0,
			   ROLE_DEFAULT, 0, view->ascii);
	header->finding_y = -1;
	if (header->found && y < area.height - banner) {
		header->finding_y = y++;
		strip_draw(&header->finding,
			   area_sub(area, 1, header->finding_y, area.width - 2, 1), 0, ROLE_DEFAULT,
			   0, view->ascii);
	}
	if (header->banner.count && y < area.height)
		strip_draw(&header->banner, area_sub(area, 1, y, area.width - 2, 1), 0,
			   ROLE_DEFAULT, 0, view->ascii);
}
