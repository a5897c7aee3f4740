/* SPDX-License-Identifier: MIT */
/* lc, pc, lt, pt: what moved, beside plain sums over what was made up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tests/unit/model_events.h"
#include "tests/unit/page_text.h"

/* Blanks side by side are one: columns are as wide as they need. */
static char *squeeze(char *text)
{
	char *to = text;

	for (const char *at = text; at && *at; at++)
		if (*at != ' ' || to == text || to[-1] != ' ')
			*to++ = *at;
	if (to)
		*to = '\0';
	return text;
}

#undef PAGE
#define PAGE(make, ...) squeeze(PAGE_OF(make, NULL, __VA_ARGS__))

#define COPIES 300
#define QUEUES 2
#define OPS 3			/* names 7 ... 9 */

struct sum {
	uint64_t count, bytes, pinned;
	int64_t total_ns;
};

/* By queue, direction (H2D, D2H), op. */
static struct sum sums[QUEUES][2][OPS];

static struct model *model_of_copies(void)
{
	struct model *model = model_with_device();
	int64_t at = 0;

	memset(sums, 0, sizeof(sums));
	for (uint32_t i = 1; i <= COPIES; i++) {
		int queue = test_below(QUEUES), back = test_below(2), op = test_below(OPS);
		uint64_t bytes = (uint64_t)(1 + test_below(1000)) << 12;
		int64_t dur = 1000 + test_below(1000000);
		struct event copy = ev_copy((uint32_t)queue + 1, back ? DIR_D2H : DIR_H2D, bytes,
					    at + 1000, dur);
		struct sum *sum = &sums[queue][back][op];

		apply_one(model, ev_op(7 + (uint32_t)op, i, 0, at, 900, 0));
		copy.u.command.correlation = i;
		copy.u.command.op = i;
		copy.u.command.op_name = 7 + (uint32_t)op;
		copy.u.command.flags = queue ? CMD_PINNED : 0;
		apply_one(model, copy);
		sum->count++;
		sum->bytes += bytes;
		sum->total_ns += dur;
		at += dur + 2000;
	}
	model_finish(model, false);
	return model;
}

static void add(struct sum *to, const struct sum *sum)
{
	to->count += sum->count;
	to->bytes += sum->bytes;
	to->total_ns += sum->total_ns;
}

/* "COUNT BYTES EACH TOTAL AVG " as the first columns have it. */
static void expect(const char *text, const struct sum *sum)
{
	char line[300], count[FMT_MAX], bytes[FMT_MAX], each[FMT_MAX], total[FMT_MAX], avg[FMT_MAX];

	snprintf(line, sizeof(line), " %s %s %s %s %s ", fmt_count(count, sum->count),
		 fmt_bytes(bytes, sum->bytes), fmt_bytes(each, sum->bytes / sum->count),
		 fmt_time(total, sum->total_ns),
		 fmt_time(avg, sum->total_ns / (int64_t)sum->count));
	squeeze(line);
	if (!has(text, line))
		test_fail(__FILE__, __LINE__, "no '%s' in\n%s", line, text);
}

TEST(list_of_copies)
{
	struct model *model = model_of_copies();
	char error[PAGE_ERROR], *text = PAGE(page_list_copies, "lc"), bytes[FMT_MAX], line[200];
	struct sum all = { .count = 0 };

	HAS(text, "4 kinds of copies by total share of all copies' time: ");
	for (int q = 0; q < QUEUES; q++)
		for (int back = 0; back < 2; back++) {
			struct sum sum = { .count = 0 };

			for (int op = 0; op < OPS; op++)
				add(&sum, &sums[q][back][op]);
			add(&all, &sum);
			expect(text, &sum);
		}
	snprintf(line, sizeof(line), "%d %s ", COPIES, fmt_bytes(bytes, all.bytes));
	HAS(text, line);
	HAS(text, "total of 4");
	free(text);
	text = PAGE(page_list_copies, "lc", "-a", "pageable", "-t", "h2d");
	HAS(text, "1 of 4 kinds of copies direction ~ h2d memory pageable");
	HAS(text, " pageable gpu0 queue 0 ");
	free(text);
	text = PAGE(page_list_copies, "lc", "-a", "mixed");
	HAS(text, "0 of 4 kinds of copies memory mixed");
	free(text);
	text = PAGE(page_list_copies, "lc", "-w", "d2h & pinned & device = gpu0");
	HAS(text, "1 of 4 kinds of copies where d2h & pinned & device = gpu0");
	free(text);
	text = PAGE(page_list_copies, "lc", "-b", ">1G");
	HAS(text, "0 of 4 kinds of copies each >1G");
	free(text);
	text = PAGE(page_list_copies, "lc", "-p", "kernel9", "-e", ">1ns", "-s", "peak");
	HAS(text, "4 kinds of copies op ~ kernel9 mean >1ns by peak");
	free(text);
	WRONG(page_list_copies, "-a wants one of pageable pinned mixed, not 'locked'", "lc", "-a",
	      "locked");
	WRONG(page_list_copies,
	      "-b wants an interval of bytes such as >64k, <=1M or [64k,1M), not '5ms'", "lc", "-b",
	      "5ms");
	model_free(model);
}

TEST(page_of_copies)
{
	struct model *model = model_of_copies();
	char error[PAGE_ERROR], *text = PAGE(page_copies, "pc", "d2h"), line[200], count[FMT_MAX];
	uint64_t pageable = 0;

	HAS(text, "6 of 12 kinds of copies of d2h by total");
	for (int q = 0; q < QUEUES; q++)
		for (int op = 0; op < OPS; op++) {
			expect(text, &sums[q][1][op]);
			pageable += q ? 0 : sums[q][1][op].count;
		}
	snprintf(line, sizeof(line), "memory: %s of ", fmt_count(count, pageable));
	HAS(text, line);
	HAS(text, "the longest copies: le");
	free(text);
	text = PAGE(page_copies, "pc", "kernel8");
	HAS(text, "4 of 12 kinds of copies of kernel8");
	free(text);
	text = PAGE(page_copies, "pc", "queue 1", "-p", "kernel7");
	HAS(text, "2 of 12 kinds of copies of queue 1 op ~ kernel7");
	free(text);
	text = PAGE(page_copies, "pc");
	HAS(text, "12 kinds of copies by total");
	free(text);
	WRONG(page_copies, "no copy in a direction, on a queue or of an op 'nobody'; lc lists them",
	      "pc", "nobody");
	model_free(model);
}

static void add_shaped(struct model *model, uint64_t instance, uint32_t shapes)
{
	struct event op = ev_op(7, instance, 0, (int64_t)instance * 10000, 900, 0);

	op.u.op.framework = FW_PYTORCH;
	op.u.op.shapes = shapes;
	apply_one(model, op);
}

/* Two edges of one key, three ops with shapes, a copy. */
static struct model *model_of_tensors(void)
{
	struct model *model = model_with_device();
	struct event edge = { .type = EVENT_EDGE, .pid = PID, .tid = PID, .time_ns = BASE + 90000 };
	struct event copy = ev_copy(1, DIR_H2D, 1 << 20, 50000, 1000);

	apply_one(model, ev_name(40, NAME_SHAPES, "[64, 3] f32, [3] i64"));
	apply_one(model, ev_name(41, NAME_SHAPES, "[s0, 3] f32"));
	apply_one(model, ev_name(42, NAME_KEY, "features"));
	add_shaped(model, 1, 40);
	add_shaped(model, 2, 40);
	add_shaped(model, 3, 41);
	apply_one(model, ev_op(8, 4, 0, 70000, 900, 0));
	for (uint64_t from = 1; from <= 2; from++) {
		edge.u.edge =
			(struct event_edge){ .from = from, .to = 4, .bytes = 4096, .key = 42 };
		apply_one(model, edge);
	}
	copy.u.command.op = 4;
	copy.u.command.op_name = 8;
	apply_one(model, copy);
	model_finish(model, false);
	return model;
}

TEST(list_of_tensors)
{
	struct model *model = model_of_tensors();
	char error[PAGE_ERROR], *text = PAGE(page_list_tensors, "lt");

	HAS(text, "4 tensors that moved by bytes\n");
	HAS(text, "1.00 MiB 1.00 MiB 1 – copy host gpu0 – kernel8 – kernel8\n");
	HAS(text, "8.00 KiB 4.00 KiB 2 ");
	HAS(text, "edge – – kernel7 kernel8 – features\n");
	/* 64 * 3 * 4 + 3 * 8 bytes, twice */
	HAS(text, "1.55 KiB 792 B 2 – input – – – kernel7 [64, 3] f32, [3] i64 kernel7\n");
	/* nobody knows how much s0 is */
	HAS(text, "– – 1 – input – – – kernel7 [s0, 3] f32 kernel7\n");
	free(text);
	text = PAGE(page_list_tensors, "lt", "-k", "edge", "-b", "[4k,4k]");
	HAS(text, "1 of 4 tensors that moved kind edge each in [4k,4k]");
	free(text);
	text = PAGE(page_list_tensors, "lt", "-t", "i64", "-p", "kernel7", "-n", "9");
	HAS(text, "0 of 4 tensors that moved name ~ 9 shape ~ i64 op ~ kernel7");
	HAS(text, "none of them matches");
	free(text);
	WRONG(page_list_tensors, "-k wants one of message edge copy input, not 'op'", "lt", "-k",
	      "op");

	text = PAGE(page_tensor, "pt", "feat");
	HAS(text, "No probe collects the values of tensors; this is what is known of "
		  "'feat':\n\nfeatures\n"
		  "kind edge\nproducer kernel7\nconsumer kernel8\n"
		  "moved 2 times 8 192 bytes each 4 096 bytes\n");
	free(text);
	WRONG(page_tensor, "no tensor that moved has 'x' in its name; lt lists them", "pt", "x");
	model_free(model);
}

TEST(lists_of_what_did_not_move)
{
	struct model *model = model_with_device();
	char error[PAGE_ERROR], *text = PAGE(page_list_copies, "lc");

	HAS(text, "no copy has finished yet");
	free(text);
	text = PAGE(page_copies, "pc");
	HAS(text, "no copy has finished yet");
	free(text);
	WRONG(page_copies, "no copy has finished yet", "pc", "x");
	text = PAGE(page_list_tensors, "lt");
	HAS(text, "no tensor was seen to move; ri says which probes are active\n"
	    "messages come from the tensorflow probe, shapes from the pytorch probe");
	free(text);
	WRONG(page_tensor, "no tensor was seen to move, none is called 'x'; lt says why", "pt",
	      "x");
	model_free(model);
}
