/* SPDX-License-Identifier: MIT */
/*
 * What pages about one thing share: labelled lines, links to everything that has a page of its own,
 * small bar charts. Functions marked [locked] need the model's lock. Thread: the loop's.
 */
#ifndef TUI_PAGE_PARTS_H
#define TUI_PAGE_PARTS_H

#include "model/query/query.h"
#include "model/query/time.h"
#include "tui/draw/page_call.h"
#include "tui/draw/sheet.h"

/* Tables in which names are looked up, taken once for a page. */
struct page_book {
	struct model *model;		/* borrowed */
	struct model_row *rows;		/* owned; the timeline's */
	size_t n_rows;
	struct device_row *devices;	/* owned */
	size_t n_devices;
	struct queue_row *queues;	/* owned */
	size_t n_queues;
	int64_t base_ns;		/* the start of the run, from which times are counted */
	struct model_status status;
};

void page_book_take(struct page_book *book, struct model *model);	/* [locked] */
void page_book_release(struct page_book *book);

const struct device_row *page_device_of(const struct page_book *book, uint32_t device);
/* The row of the timeline for this device; that with this id; NULL: there is none. */
const struct model_row *page_row_of_device(const struct page_book *book, uint32_t device);
const struct model_row *page_row(const struct page_book *book, uint32_t row);

/* ---- text ---- */

/* A label such as "op " at the start of a line. */
void page_label(struct page *page, const char *label);
/* Adds an empty line and a heading below it. */
void page_blank(struct page *page);
void page_heading(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Draws values as "▁▂▇"; the largest is as high as a line, " " is 0. */
void page_spark(struct page *page, enum role role, const uint64_t *values, size_t n);
/* Draws the share of whole in eighths of this many columns; what is not 0 gets at least one. */
void page_bar(struct page *page, enum role role, uint64_t part, uint64_t whole, int columns);

/* ---- links; `text` is what the user sees ---- */

/* A link whose command is the words up to a NULL. */
void page_to(struct page *page, const char *text, const char *command, ...)
	__attribute__((sentinel));
void page_to_op(struct page *page, const char *raw_name);
void page_to_kernel(struct page *page, const char *name, const char *raw_name);
void page_to_name(struct page *page, const char *text, const char *raw_name);
void page_to_queue(struct page *page, const struct page_book *book, uint32_t queue);
void page_to_device(struct page *page, const struct page_book *book, uint32_t device);
void page_to_process(struct page *page, uint32_t pid);
/* text NULL: "thread TID". */
void page_to_thread(struct page *page, const char *text, uint32_t pid, uint32_t tid);
void page_to_step(struct page *page, int64_t number);
void page_to_event(struct page *page, const char *text, struct span_ref ref);
/* Links that show something on the timeline: an event, a row, a time (of the model). */
void page_show_event(struct page *page, const char *text, struct span_ref ref);
void page_show_row(struct page *page, const char *text, uint32_t row);
void page_show_time(struct page *page, const char *text, const struct page_book *book, int64_t t0,
		    int64_t t1);
/* FILE:LINE and the function; "?" if there is no file. */
void page_to_line(struct page *page, const char *file, uint32_t line, const char *function);
/* A line for each of the host's rows of a class that has a fiftieth of whole_ns or more, `most` of
 * them: "    sleep  12.3 ms  51 %  loader.py:25 in load"; and one for what they leave unknown of
 * the class, class_ns. */
void page_add_host(struct page *page, const struct host_time_row *rows, size_t n, int class,
		   int64_t class_ns, int64_t whole_ns, int most);

/* "27.8232 s" since the start of the run, as precise as something of that duration needs. */
void page_when(char *text, size_t size, const struct page_book *book, int64_t ns, int64_t length);

/* ---- things named on the command line; false: a sentence in call->error ---- */

/* A device by "3" or "gpu0"; a queue by "3" or "stream 7". */
bool page_find_device(const struct page_call *call, const struct page_book *book, uint32_t *device);
bool page_find_queue(const struct page_call *call, const struct page_book *book, uint32_t *queue);
/* A number from 0 on. */
bool page_number(const struct page_call *call, const char *what, const char *text, int64_t *number);
/* "ROW:LANE:ID" */
bool page_parse_event(const char *text, struct span_ref *ref);

/* For the command ni: an op that is not a node of a graph, found by its name or a part of it;
 * false: there is none. And what else is known about a node's op. The caller has the model's
 * lock. */
bool page_op(struct page *page, struct model *model, const char *text);
void page_op_details(struct page *page, struct model *model, const char *name, const char *type);

#endif
