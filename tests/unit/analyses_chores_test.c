/* SPDX-License-Identifier: MIT */
/* Printing, saving and logging in the loop, told by the call stacks of the thread that does it. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/host/doings.h"
#include "model/query/findings.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)
#define STEPS 40			/* of 100 ms */
#define LIB "/usr/lib/python3.11/site-packages"

enum { USER = 1, OTHER, LOG, PRINT, LOOKALIKE, SAVE, LOAD, TQDM, FRAMES };

/* What each of the frames is, in the order above. */
static const struct {
	uint32_t parent, line;
	const char *file, *function;
} lines[FRAMES] = {
	[USER] = { 0, 12, "/src/train.py", "step" },
	[OTHER] = { 0, 14, "/src/train.py", "step" },
	[LOG] = { USER, 1500, "/usr/lib/python3.11/logging/__init__.py", "Logger.info" },
	[PRINT] = { LOG, 300, LIB "/torch/_tensor_str.py", "_str" },
	[LOOKALIKE] = { USER, 5, "/src/torch/_tensor_str.py", "_str" },
	[SAVE] = { OTHER, 800, LIB "/torch/serialization.py", "save" },
	[LOAD] = { OTHER, 900, LIB "/torch/serialization.py", "load" },
	[TQDM] = { OTHER, 1100, LIB "/tqdm/std.py", "tqdm.__iter__" },
};

static void define_frames(struct model *model)
{
	for (uint32_t i = 1; i < FRAMES; i++) {
		apply_one(model, ev_name(30 + i * 2, NAME_SOURCE, lines[i].file));
		apply_one(model, ev_name(31 + i * 2, NAME_SOURCE, lines[i].function));
		apply_one(model, ev_frame(i, lines[i].parent, 30 + i * 2, 31 + i * 2,
					  lines[i].line));
	}
}

/* A thread has no processor for 20 ms of an op of each step. */
struct lack {
	uint32_t tid;			/* 0: none */
	enum doing_kind kind;
	bool device;			/* a device has work beside it */
	bool worker;			/* it goes through the steps, not the main thread */
	struct use use;			/* of its processors */
};

/* Each step has 30 ms in one stack and 10 ms in another, 0: in none; and 40 ms of an op. late: the
 * frames are defined at the end. */
static struct model *chores_model(uint32_t stack, uint32_t other, bool late, struct lack lack)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(21, NAME_RANGE, "step"));
	if (!late)
		define_frames(model);
	apply_one(model, ev_name(22, NAME_OP, "aten::mm"));
	apply_use(model, &lack.use, 1000 * MS, STEPS / 10);
	for (int i = 0; i < STEPS; i++) {
		int64_t at_ns = i * 100 * MS;
		struct event op = ev_op(22, (uint64_t)i + 1000, 0, at_ns + 55 * MS, 40 * MS, 0);

		op.u.op.framework = FW_PYTORCH;
		if (lack.worker)
			op.tid = op.u.op.tid = lack.tid;
		apply_one(model, op);

		if (stack)
			apply_one(model, ev_doing(PID, DOING_PYTHON, USER, stack, at_ns, 30 * MS));
		if (other)
			apply_one(model, ev_doing(PID, DOING_NATIVE, OTHER, other, at_ns + 40 * MS,
						  10 * MS));
		if (lack.tid)
			apply_one(model, ev_doing(lack.tid, lack.kind, USER, USER,
						  at_ns + 60 * MS, 20 * MS));
		if (lack.device)
			apply_one(model, ev_launched((uint32_t)i + 1, at_ns + 5 * MS, 90 * MS, MS));
		op = ev_op(21, (uint64_t)i + 1, 0, at_ns, 100 * MS, OP_RANGE);
		if (lack.worker)
			op.tid = op.u.op.tid = lack.tid;
		apply_one(model, op);
	}
	/* the program ends, without ops: that says nothing of its loop */
	apply_one(model, ev_name(23, NAME_RANGE, "end"));
	apply_one(model, ev_op(23, 999, 0, STEPS * 100 * MS + MS, 50 * MS, OP_RANGE));
	if (late)
		define_frames(model);
	model_finish(model, false);
	return model;
}

/* Whether these findings are told, "a b", and no others. *first: the first of them. */
static void check_model(struct model *model, const char *ids, struct finding *first)
{
	struct findings_status status;
	struct finding *list;
	char told[200] = "";
	size_t n, at = 0;

	model_lock(model);
	n = model_findings(model, &status, &list);
	model_unlock(model);
	for (size_t i = 0; i < n; i++) {
		if (first && !at)
			*first = list[i];
		at += (size_t)snprintf(told + at, sizeof(told) - at, "%s%s", at ? " " : "",
				       list[i].id);
	}
	CHECK_STR(told, ids);
	free(list);
	model_free(model);
}

static void check_told(uint32_t stack, uint32_t other, bool late, const char *ids,
		       struct finding *first)
{
	check_model(chores_model(stack, other, late, (struct lack) { .tid = 0 }), ids, first);
}

static void check_lack(struct lack lack, const char *ids, struct finding *first)
{
	check_model(chores_model(0, 0, false, lack), ids, first);
}

TEST(chores_lack_of_a_processor)
{
	struct finding found = { .id = "" };

	check_lack((struct lack) { .tid = PID, .kind = DOING_CPU }, "no-processor", &found);
	CHECK_INT(found.cost_ns / MS, 20);
	CHECK_STR(found.title,
		  "no-processor: 20 % of each step waits for a processor at train.py:12");
	CHECK(strstr(found.advice, "other threads and programs have the processors"));
	CHECK_STR(found.lines[1], "");
	check_lack((struct lack) { .tid = PID, .kind = DOING_CPU, .use = { 2, 1850, 0 } },
		   "no-processor", &found);
	CHECK_STR(found.lines[1], "the program itself used 1.9 of 2 processors");
	CHECK(strstr(found.advice, "the program's own threads have them all"));
	check_lack((struct lack) { .tid = PID, .kind = DOING_CPU, .use = { 2, 1700, 0 } },
		   "no-processor", &found);
	CHECK(strstr(found.advice, "other threads and programs have the processors"));
	/* its child processes have the rest */
	check_lack((struct lack) { .tid = PID, .kind = DOING_CPU, .use = { 2, 700, 1250 } },
		   "no-processor", &found);
	CHECK_STR(found.lines[1], "the program itself used 0.7 of 2 processors, its child "
		  "processes 1.3");
	CHECK(strstr(found.advice, "the program's own threads and child processes have them all"));
	/* how many there are is unknown */
	check_lack((struct lack) { .tid = PID, .kind = DOING_CPU, .use = { 0, 1850, 0 } },
		   "no-processor", &found);
	CHECK(strstr(found.advice, "other threads and programs have the processors"));
	CHECK_STR(found.lines[1], "");
	check_lack((struct lack) { .tid = PID, .kind = DOING_THROTTLED }, "no-processor", &found);
	CHECK_STR(found.title, "no-processor: 20 % of each step is throttled at train.py:12");
	CHECK(strstr(found.advice, "raise the limit"));
	check_lack((struct lack) { .tid = PID + 1, .kind = DOING_CPU, .worker = true },
		   "no-processor", &found);
	CHECK_INT(found.cost_ns / MS, 20);
	/* a thread for which nobody may wait; a device that works all the time */
	check_lack((struct lack) { .tid = PID + 1, .kind = DOING_CPU }, "", NULL);
	check_lack((struct lack) { .tid = PID, .kind = DOING_CPU, .device = true }, "", NULL);
}

TEST(chores_are_told)
{
	struct finding found = { .id = "" };

	/* a logger that prints a tensor prints it, and its line needs no other finding */
	for (int late = 0; late < 2; late++) {
		check_told(PRINT, 0, late, "tensor-print", &found);
		CHECK_INT(found.cost_ns / MS, 30);
		CHECK_INT(found.severity, SEVERITY_WARNING);
		CHECK_STR(found.title,
			  "tensor-print: 30 % of each step turns tensors into text at train.py:12");
		CHECK_INT(found.evidence.kind, EVIDENCE_HOST);
		CHECK(found.evidence.row);
	}
	check_told(LOG, SAVE, false, "logging checkpoint", &found);
	check_told(0, SAVE, false, "checkpoint", &found);
	CHECK_INT(found.cost_ns / MS, 10);
	CHECK_INT(found.severity, SEVERITY_NOTE);
	CHECK(strstr(found.title, "10 % of each step saves tensors at train.py:14"));
}

TEST(chores_are_not_what_looks_like_them)
{
	/* the program's own file, a load, the loop around which a bar of progress is */
	check_told(LOOKALIKE, 0, false, "host-wait", NULL);
	check_told(0, LOAD, false, "host-wait", NULL);
	check_told(0, TQDM, false, "host-wait", NULL);
	check_told(0, 0, false, "", NULL);
}
