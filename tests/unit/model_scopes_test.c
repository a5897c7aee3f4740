/* SPDX-License-Identifier: MIT */
/* Ops by scope: by the parts of their names, by the functions that called them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/optree.h"
#include "probes/schema/records.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define NET_FILE 100u

static uint64_t instances;

static void op(struct model *model, uint32_t name, uint32_t type, uint32_t frame, uint64_t parent,
	       int64_t dur_ns, enum framework framework)
{
	uint64_t instance = ++instances;
	struct event event = ev_op(name, instance, parent, (int64_t)instance * 1000, dur_ns, 0);

	event.u.op.op_type = type;
	event.u.op.frame = frame;
	event.u.op.framework = framework;
	apply_one(model, event);
}

static void frame(struct model *model, uint32_t id, uint32_t parent, uint32_t file,
		  uint32_t function, uint32_t line)
{
	struct event event = { .type = EVENT_FRAME, .pid = PID, .tid = PID };

	event.u.frame = (struct event_frame) { id, parent, file, function, line };
	apply_one(model, event);
}

/* Each row as "depth name type count total self", scopes with a slash behind. */
static void check_tree(struct model *model, const char *want)
{
	struct optree_row *rows;
	char text[2000];
	size_t used = 0, n;

	model_lock(model);
	n = model_scopes(model, &rows);
	for (size_t i = 0; i < n; i++) {
		CHECK(rows[i].parent == OPTREE_TOP || rows[i].parent < i);
		CHECK_INT(rows[i].depth, rows[i].parent == OPTREE_TOP ? 0 :
					 rows[rows[i].parent].depth + 1);
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%u %s%s %s %" PRIu64 " %" PRId64 " %" PRId64 "\n",
					 rows[i].depth, rows[i].name, rows[i].is_scope ? "/" : "",
					 rows[i].type ? rows[i].type : "-", rows[i].count,
					 rows[i].total_ns, rows[i].self_ns);
		CHECK(used < sizeof(text));
	}
	text[used] = '\0';
	CHECK_STR(text, want);
	free(rows);
	model_unlock(model);
}

TEST(model_scopes_of_names)
{
	struct model *model = model_with_device();

	instances = 0;
	apply_one(model, ev_name(40, NAME_OP, "net/block1/conv/Conv2D"));
	apply_one(model, ev_name(41, NAME_OP, "net/block1/conv/BiasAdd"));
	apply_one(model, ev_name(42, NAME_OP, "net/block2/MatMul"));
	apply_one(model, ev_name(43, NAME_OP, "Session.run(net/block2/MatMul)"));
	apply_one(model, ev_name(44, NAME_OP, "aten::a/b"));
	apply_one(model, ev_name(50, NAME_OP_TYPE, "Conv2D"));
	apply_one(model, ev_name(51, NAME_OP_TYPE, "session"));
	op(model, 40, 50, 0, 0, 100, FW_TENSORFLOW);
	op(model, 40, 50, 0, 0, 200, FW_TENSORFLOW);
	op(model, 41, 50, 0, 0, 50, FW_TENSORFLOW);
	op(model, 42, 50, 0, 0, 30, FW_TENSORFLOW);
	op(model, 43, 51, 0, 0, 20, FW_TENSORFLOW);
	op(model, 44, 50, 0, 0, 10, FW_PYTORCH);
	model_finish(model, false);
	check_tree(model,
		   "0 net/ scope 4 380 0\n"
		   "1 block1/conv/ scope 3 350 350\n"
		   "2 net/block1/conv/Conv2D Conv2D 2 300 300\n"
		   "2 net/block1/conv/BiasAdd Conv2D 1 50 50\n"
		   "1 block2/ scope 1 30 30\n"
		   "2 net/block2/MatMul Conv2D 1 30 30\n"
		   "0 Session.run session 1 20 20\n"
		   "0 a/b Conv2D 1 10 10\n");
	model_free(model);
}

/* main calls train and test, both call forward; below these norm, which calls itself. */
static struct model *with_functions(bool two_callers)
{
	struct model *model = model_with_device();
	static const char *const functions[] = {
		"main", "train", "test", "forward", "norm", "_call"
	};

	instances = 0;
	apply_one(model, ev_name(NET_FILE, NAME_SOURCE, "/home/me/net.py"));
	apply_one(model,
		  ev_name(NET_FILE + 1, NAME_SOURCE, "/usr/lib/python3/dist-packages/torch/m.py"));
	apply_one(model, ev_name(NET_FILE + 2, NAME_SOURCE, TFT_FRAME_CHANGED));
	apply_one(model, ev_name(NET_FILE + 3, NAME_SOURCE, TFT_FRAME_TASK));
	apply_one(model, ev_name(NET_FILE + 4, NAME_SOURCE, "task serve"));
	for (uint32_t i = 0; i < 6; i++)
		apply_one(model, ev_name(110 + i, NAME_SOURCE, functions[i]));
	apply_one(model, ev_name(40, NAME_OP, "aten::mm"));
	frame(model, 1, 0, NET_FILE, 110, 90);		/* main */
	frame(model, 2, 1, NET_FILE, 111, 50);		/* train */
	frame(model, 3, 1, NET_FILE, 112, 60);		/* test */
	frame(model, 4, 2, NET_FILE + 1, 115, 7);		/* the library, between */
	frame(model, 5, 4, NET_FILE, 113, 20);		/* forward, of train */
	frame(model, 6, 5, NET_FILE, 114, 10);		/* norm, of forward */
	frame(model, 7, 6, NET_FILE, 114, 12);		/* norm, of itself */
	frame(model, 8, 0, NET_FILE, 114, 12);		/* the same line, its callers not told */
	frame(model, 9, 0, NET_FILE, 111, 51);		/* train, another line */
	frame(model, 11, 1, NET_FILE + 2, NET_FILE + 2, 0);	/* calls that changed meanwhile */
	frame(model, 12, 11, NET_FILE, 113, 21);	/* forward, of one that is not known */
	frame(model, 13, 4, NET_FILE + 3, NET_FILE + 4, 0);	/* a task, which is no function */
	frame(model, 14, 13, NET_FILE, 113, 22);	/* forward, of train */
	if (two_callers)
		frame(model, 10, 3, NET_FILE, 113, 20);	/* forward, of test */
	op(model, 40, 0, 5, 0, 100, FW_PYTORCH);
	op(model, 40, 0, 7, 0, 30, FW_PYTORCH);
	op(model, 40, 0, 8, 0, 20, FW_PYTORCH);
	op(model, 40, 0, 9, 0, 5, FW_PYTORCH);
	op(model, 40, 0, 0, 0, 1, FW_PYTORCH);
	model_finish(model, false);
	return model;
}

TEST(model_scopes_of_functions)
{
	struct model *model = with_functions(false);

	check_tree(model,
		   "0 train/ net.py 4 155 5\n"
		   "1 forward/ net.py 3 150 100\n"
		   "2 mm - 1 100 100\n"
		   "2 norm/ net.py 2 50 50\n"
		   "3 mm - 2 50 50\n"
		   "1 mm - 1 5 5\n"
		   "0 mm - 1 1 1\n");
	model_free(model);
}

TEST(model_scopes_of_functions_with_two_callers)
{
	struct model *model = with_functions(true);

	check_tree(model,
		   "0 forward/ net.py 3 150 100\n"
		   "1 mm - 1 100 100\n"
		   "1 norm/ net.py 2 50 50\n"
		   "2 mm - 2 50 50\n"
		   "0 train/ net.py 1 5 5\n"
		   "1 mm - 1 5 5\n"
		   "0 mm - 1 1 1\n");
	model_free(model);
}

/* A line alone says in which modules it ran; one with its stack says the same. */
TEST(model_scopes_of_modules)
{
	static const char *const names[] = { "Net", "Linear", "Net.forward", "_call", "main" };
	struct model *model = model_with_device();

	instances = 0;
	apply_one(model, ev_name(NET_FILE, NAME_SOURCE, "/home/me/net.py"));
	apply_one(model,
		  ev_name(NET_FILE + 1, NAME_SOURCE, "/usr/lib/python3/dist-packages/torch/m.py"));
	apply_one(model, ev_name(NET_FILE + 2, NAME_SOURCE, "nn.Module"));
	for (uint32_t i = 0; i < 5; i++)
		apply_one(model, ev_name(110 + i, NAME_SOURCE, names[i]));
	apply_one(model, ev_name(40, NAME_OP, "aten::mm"));
	apply_one(model, ev_name(41, NAME_OP, "aten::relu"));
	frame(model, 1, 0, NET_FILE + 2, 110, 0);	/* Net */
	frame(model, 2, 1, NET_FILE + 2, 111, 0);	/* Linear, in Net */
	frame(model, 3, 2, NET_FILE, 112, 20);		/* a line of Net's that called it */
	frame(model, 4, 1, NET_FILE, 112, 21);		/* the next line */
	frame(model, 5, 0, NET_FILE, 114, 50);		/* main */
	frame(model, 6, 5, NET_FILE + 2, 110, 0);	/* Net, with all around it */
	frame(model, 7, 6, NET_FILE + 1, 113, 7);
	frame(model, 8, 7, NET_FILE + 2, 111, 0);
	frame(model, 9, 8, NET_FILE, 112, 20);
	op(model, 40, 0, 3, 0, 100, FW_PYTORCH);
	op(model, 40, 0, 9, 0, 200, FW_PYTORCH);
	op(model, 41, 0, 4, 0, 30, FW_PYTORCH);
	op(model, 40, 0, 5, 0, 5, FW_PYTORCH);
	model_finish(model, false);
	check_tree(model,
		   "0 Net/ nn.Module 3 330 30\n"
		   "1 Linear/ nn.Module 2 300 300\n"
		   "2 mm - 2 300 300\n"
		   "1 relu - 1 30 30\n"
		   "0 main/ net.py 1 5 5\n"
		   "1 mm - 1 5 5\n");
	model_free(model);
}
