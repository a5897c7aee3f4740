/* SPDX-License-Identifier: MIT */
#include "tui/pages/page_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"
#include "tui/draw/places.h"
#include "tui/draw/ruler.h"

#define LABEL "%-9s"
#define LINK_WORDS 8

/* ---- the book ---- */

void page_book_take(struct page_book *book, struct model *model)
{
	*book = (struct page_book) { .model = model };
	model_status(model, &book->status);
	book->base_ns = places_base_ns(&book->status);
	book->n_rows = model_rows(model, &book->rows);
	book->n_devices = model_devices(model, &book->devices);
	book->n_queues = model_queues(model, &book->queues);
}

void page_book_release(struct page_book *book)
{
	free(book->rows);
	free(book->devices);
	free(book->queues);
}

const struct device_row *page_device_of(const struct page_book *book, uint32_t device)
{
	for (size_t i = 0; i < book->n_devices; i++)
		if (book->devices[i].id == device)
			return &book->devices[i];
	return NULL;
}

static const struct queue_row *page_queue_of(const struct page_book *book, uint32_t queue)
{
	return queue < book->n_queues ? &book->queues[queue] : NULL;
}

const struct model_row *page_row(const struct page_book *book, uint32_t row)
{
	for (size_t i = 0; i < book->n_rows; i++)
		if (book->rows[i].id == row)
			return &book->rows[i];
	return NULL;
}

const struct model_row *page_row_of_device(const struct page_book *book, uint32_t device)
{
	for (size_t i = 0; i < book->n_rows; i++)
		if (book->rows[i].kind == ROW_DEVICE && book->rows[i].device == device)
			return &book->rows[i];
	return NULL;
}

/* ---- text ---- */

void page_label(struct page *page, const char *label)
{
	page_add(page, ROLE_MUTED, 0, LABEL, label);
}

void page_blank(struct page *page)
{
	if (page->n_lines)
		page_say(page, ROLE_DEFAULT, 0, "%s", "");
}

void page_heading(struct page *page, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	page_blank(page);
	page_say(page, ROLE_COLUMN, 0, "%s", text);
}

void page_spark(struct page *page, enum role role, const uint64_t *values, size_t n)
{
	static const char *const levels[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	struct strbuf text;
	uint64_t most = 0;

	strbuf_init(&text);
	for (size_t i = 0; i < n; i++)
		most = values[i] > most ? values[i] : most;
	for (size_t i = 0; i < n; i++)
		strbuf_adds(&text, values[i] ? levels[(unsigned __int128)values[i] * 7 / most] :
			    " ");
	page_add(page, role, 0, "%s", text.data);
	strbuf_release(&text);
}

void page_bar(struct page *page, enum role role, uint64_t part, uint64_t whole, int columns)
{
	static const char *const eighths[] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int length = whole ? (int)((unsigned __int128)part * 8 * (unsigned)columns / whole) : 0;
	struct strbuf text;

	strbuf_init(&text);
	length = part && !length ? 1 : length > 8 * columns ? 8 * columns : length;
	for (int i = 0; i < columns; i++, length -= length < 8 ? length : 8)
		strbuf_adds(&text, length >= 8 ? "█" : eighths[length]);
	page_add(page, role, 0, "%s", text.data);
	strbuf_release(&text);
}

void page_when(char *text, size_t size, const struct page_book *book, int64_t ns, int64_t length)
{
	ruler_time(text, size, ns - book->base_ns, length >= 1000000 ? 100000 : 1000);
}

/* ---- links ---- */

void page_to(struct page *page, const char *text, const char *command, ...)
{
	const char *argv[LINK_WORDS] = { command };
	va_list args;
	int argc = 1;

	va_start(args, command);
	while (argc < LINK_WORDS && (argv[argc] = va_arg(args, const char *)))
		argc++;
	va_end(args);
	page_link(page, text, argc, argv);
}

void page_to_op(struct page *page, const char *raw_name)
{
	page_to(page, raw_name, "ni", raw_name, NULL);
}

void page_to_kernel(struct page *page, const char *name, const char *raw_name)
{
	page_to(page, name, "pk", raw_name, NULL);
}

void page_to_name(struct page *page, const char *text, const char *raw_name)
{
	page_to(page, text, "name", raw_name, NULL);
}

void page_to_queue(struct page *page, const struct page_book *book, uint32_t queue)
{
	char label[80], number[16];

	places_queue_label(label, sizeof(label), book->queues, book->n_queues, queue);
	snprintf(number, sizeof(number), "%" PRIu32, queue);
	if (page_queue_of(book, queue))
		page_to(page, label, "queue", number, NULL);
	else
		page_add(page, ROLE_MUTED, 0, "–");
}

void page_to_device(struct page *page, const struct page_book *book, uint32_t device)
{
	char label[16], number[16];

	places_device_label(label, sizeof(label), book->devices, book->n_devices, device);
	snprintf(number, sizeof(number), "%" PRIu32, device);
	if (page_device_of(book, device))
		page_to(page, label, "device", number, NULL);
	else
		page_add(page, ROLE_MUTED, 0, "–");
}

void page_to_process(struct page *page, uint32_t pid)
{
	char text[32], number[16];

	snprintf(number, sizeof(number), "%" PRIu32, pid);
	snprintf(text, sizeof(text), "process %" PRIu32, pid);
	page_to(page, text, "process", number, NULL);
}

void page_to_thread(struct page *page, const char *text, uint32_t pid, uint32_t tid)
{
	char name[32], thread[16], process[16];

	snprintf(thread, sizeof(thread), "%" PRIu32, tid);
	snprintf(process, sizeof(process), "%" PRIu32, pid);
	snprintf(name, sizeof(name), "thread %" PRIu32, tid);
	page_to(page, text ? text : name, "thread", thread, process, NULL);
}

void page_to_step(struct page *page, int64_t number)
{
	char text[40], step[24];

	snprintf(step, sizeof(step), "%" PRId64, number);
	snprintf(text, sizeof(text), "step %" PRId64, number);
	page_to(page, text, "step", step, NULL);
}

static void event_text(char *text, size_t size, struct span_ref ref)
{
	snprintf(text, size, "%" PRIu32 ":%" PRIu32 ":%" PRIu64, ref.row, ref.lane, ref.id);
}

void page_to_event(struct page *page, const char *text, struct span_ref ref)
{
	char event[64];

	event_text(event, sizeof(event), ref);
	page_to(page, text, "event", event, NULL);
}

void page_show_event(struct page *page, const char *text, struct span_ref ref)
{
	char event[64];

	event_text(event, sizeof(event), ref);
	page_to(page, text, "select", event, NULL);
}

void page_show_row(struct page *page, const char *text, uint32_t row)
{
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, row);
	page_to(page, text, "select", number, NULL);
}

void page_show_time(struct page *page, const char *text, const struct page_book *book, int64_t t0,
		    int64_t t1)
{
	char from[32], to[32];

	snprintf(from, sizeof(from), "%" PRId64 "ns", t0 > book->base_ns ? t0 - book->base_ns : 0);
	snprintf(to, sizeof(to), "%" PRId64 "ns", t1 > book->base_ns ? t1 - book->base_ns : 0);
	page_to(page, text, "select", from, to, NULL);
}

void page_to_line(struct page *page, const char *file, uint32_t line, const char *function)
{
	char number[16], where[1200];

	if (!file) {
		page_add(page, ROLE_MUTED, 0, "?");
		return;
	}
	snprintf(number, sizeof(number), "%" PRIu32, line);
	snprintf(where, sizeof(where), "%s:%" PRIu32, file, line);
	page_to(page, where, "ps", file, "-b", number, NULL);
	if (function)
		page_add(page, ROLE_MUTED, 0, "  in %s", function);
}

/* "    sleep  12.3 ms  51 %  " */
static void page_begin_host(struct page *page, const char *name, int64_t ns, int64_t whole_ns)
{
	char time[FMT_MAX], share[FMT_MAX];

	page_add(page, ROLE_MUTED, 0, "    %-10s", name);
	page_cell(page, ROLE_DEFAULT, 10, fmt_time(time, ns));
	page_cell(page, ROLE_DEFAULT, 8, fmt_share(share, (uint64_t)ns, (uint64_t)whole_ns));
	page_add(page, ROLE_MUTED, 0, "  ");
}

void page_add_host(struct page *page, const struct host_time_row *rows, size_t n, int class,
		   int64_t class_ns, int64_t whole_ns, int most)
{
	int64_t unknown_ns = host_time_unknown(rows, n, class, class_ns);

	for (size_t i = 0; i < n && most > 0; i++) {
		const struct host_time_row *row = &rows[i];

		if (row->class != class || row->ns < whole_ns / 50 || row->ns <= 0)
			continue;
		most--;
		page_begin_host(page, doing_name(row->doing), row->ns, whole_ns);
		if (*row->file)
			page_to_line(page, row->file, row->line, row->function);
		else
			page_add(page, ROLE_MUTED, 0, "in no line of Python that is known");
		if (*row->what)
			page_add(page, ROLE_MUTED, 0, ", %s %s",
				 doing_what(row->doing, *row->file), row->what);
		page_end(page);
	}
	if (unknown_ns > 0 && unknown_ns >= whole_ns / 50) {
		page_begin_host(page, "unknown", unknown_ns, whole_ns);
		page_say(page, ROLE_MUTED, 0, "no look covers it");
	}
}

/* ---- what is named ---- */

static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*number = strtoull(text, &end, 10);
	return !*end && *number <= most;
}

bool page_number(const struct page_call *call, const char *what, const char *text, int64_t *number)
{
	uint64_t value;

	if (!read_number(text, INT64_MAX, &value)) {
		snprintf(call->error, call->error_size, "not the number of a %s: '%.60s'", what,
			 text);
		return false;
	}
	*number = (int64_t)value;
	return true;
}

bool page_parse_event(const char *text, struct span_ref *ref)
{
	char row[24], lane[24];
	uint64_t number;
	const char *colon = strchr(text, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;

	if (!second || colon - text >= (long)sizeof(row) || second - colon > (long)sizeof(lane))
		return false;
	snprintf(row, sizeof(row), "%.*s", (int)(colon - text), text);
	snprintf(lane, sizeof(lane), "%.*s", (int)(second - colon - 1), colon + 1);
	if (!read_number(row, UINT32_MAX, &number) || !number)
		return false;
	ref->row = (uint32_t)number;
	if (!read_number(lane, UINT32_MAX, &number))
		return false;
	ref->lane = (uint32_t)number;
	return read_number(second + 1, UINT64_MAX, &ref->id) && ref->id;
}

bool page_find_device(const struct page_call *call, const struct page_book *book, uint32_t *device)
{
	const char *text = call->argv[1];
	uint64_t number = UINT64_MAX;
	char label[16];

	read_number(text, UINT32_MAX, &number);
	for (size_t i = 0; i < book->n_devices; i++) {
		*device = book->devices[i].id;
		places_device_label(label, sizeof(label), book->devices, book->n_devices, *device);
		if (number == *device || !strcmp(label, text))
			return true;
	}
	snprintf(call->error, call->error_size, book->n_devices ?
		 "no device '%.60s': ri lists them" : "no device '%.60s': none has been seen",
		 text);
	return false;
}

bool page_find_queue(const struct page_call *call, const struct page_book *book, uint32_t *queue)
{
	const char *text = call->argv[1];
	uint64_t number = UINT64_MAX;
	char label[80];

	read_number(text, UINT32_MAX, &number);
	for (size_t i = 0; i < book->n_queues; i++) {
		*queue = book->queues[i].id;
		places_queue_label(label, sizeof(label), book->queues, book->n_queues, *queue);
		if (number == *queue || !strcmp(label, text))
			return true;
	}
	snprintf(call->error, call->error_size, book->n_queues ?
		 "no queue '%.60s': queues lists them" : "no queue '%.60s': none has been seen",
		 text);
	return false;
}
