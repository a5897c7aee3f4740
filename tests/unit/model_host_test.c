/* SPDX-License-Identifier: MIT */
/* What threads did by line and by call stack, and how that is written for flame graphs. */
#include <stdlib.h>
#include <string.h>

#include "model/core/model.h"
#include "model/export/foreign.h"
#include "model/host/doings.h"
#include "model/query/host.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/base/json_read.h"

#define MS INT64_C(1000000)
#define TURNS 20

/*
 * Turns of 100 ms: a kernel of 10 ms at their start; the thread waits for it for 10 ms in native
 * code of main() > train(), then main() > load() sleeps 50 ms, main() > train() runs Python for
 * 20 ms, and a line whose callers are unknown for 10. What it does in the last 10 ms is unknown.
 */
static struct model *host_model(void)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train;1.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "main"));
	apply_one(model, ev_name(32, NAME_SOURCE, "load \"x\""));
	apply_one(model, ev_name(33, NAME_SOURCE, "train"));
	apply_one(model, ev_name(34, NAME_SOURCE, "changed"));
	apply_one(model, ev_frame(1, 0, 30, 32, 25));	/* lines alone */
	apply_one(model, ev_frame(2, 0, 30, 33, 40));
	apply_one(model, ev_frame(3, 0, 30, 31, 7));	/* stacks */
	apply_one(model, ev_frame(4, 3, 30, 32, 25));
	apply_one(model, ev_frame(5, 0, 30, 31, 8));
	apply_one(model, ev_frame(6, 5, 30, 33, 40));
	apply_one(model, ev_frame(7, 0, 30, 31, 0));	/* moved on */
	apply_one(model, ev_frame(8, 7, 34, 34, 0));
	for (int i = 0; i < TURNS; i++) {
		int64_t at = i * 100 * MS;
		struct event kernel = ev_launched((uint32_t)i + 1, at, 10 * MS, 10000);

		apply_one(model, kernel);
		apply_one(model, ev_doing(PID, DOING_NATIVE, 2, 6, at, 10 * MS));
		apply_one(model, ev_doing(PID, DOING_SLEEP, 1, 4, at + 10 * MS, 50 * MS));
		apply_one(model, ev_doing(PID, DOING_PYTHON, 2, 6, at + 60 * MS, 20 * MS));
		apply_one(model, ev_doing(PID, DOING_PYTHON, 2, i % 2 ? 0 : 8, at + 80 * MS,
					  10 * MS));
	}
	model_finish(model, false);
	return model;
}

TEST(host_lines)
{
	struct model *model = host_model(), *copy = saved_again(model);

	for (int k = 0; k < 2; k++) {
		struct host_line_row *rows;
		size_t n = model_host_lines(k ? copy : model, &rows);

		CHECK_INT(n, 3);
		CHECK_INT(rows[0].doing, DOING_SLEEP);
		CHECK_STR(rows[0].file, "/home/me/train;1.py");
		CHECK_STR(rows[0].function, "load \"x\"");
		CHECK_INT(rows[0].line, 25);
		CHECK_INT(rows[0].pid, PID);
		CHECK_INT(rows[0].ns, TURNS * 50 * MS);
		CHECK_INT(rows[0].looks, TURNS * 3);
		CHECK(rows[0].waited_ns > (TURNS - 2) * 50 * MS);
		CHECK(rows[0].waited_ns <= (TURNS - 1) * 50 * MS);
		CHECK_INT(rows[1].doing, DOING_PYTHON);
		CHECK_INT(rows[1].ns, TURNS * 30 * MS);
		/* no device waited then, but for the end of a launch */
		CHECK_INT(rows[2].doing, DOING_NATIVE);
		CHECK(rows[2].waited_ns < MS);
		free(rows);
	}
	model_free(model);
	model_free(copy);
}

static const struct stack_node *node_of(const struct stack_node *nodes, size_t n,
					const char *function, enum stack_node_kind kind)
{
	for (size_t i = 0; i < n; i++)
		if (nodes[i].kind == kind && !strcmp(nodes[i].function, function))
			return &nodes[i];
	return NULL;
}

/* Parents stand before their children, siblings are in order, and times add up. */
static void check_tree(const struct stack_node *nodes, size_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int64_t below_ns = 0, last_ns = INT64_MAX;

		CHECK(nodes[i].end > i && nodes[i].end <= n);
		CHECK_INT(nodes[i].parent == STACK_NONE, nodes[i].depth == 0);
		if (nodes[i].parent != STACK_NONE) {
			CHECK(nodes[i].parent < i && nodes[nodes[i].parent].end >= nodes[i].end);
			CHECK_INT(nodes[i].depth, nodes[nodes[i].parent].depth + 1);
		}
		if (nodes[i].kind == STACK_STATE) {
			CHECK_INT(nodes[i].end, i + 1);
			continue;
		}
		for (uint32_t k = i + 1; k < nodes[i].end; k = nodes[k].end) {
			CHECK_INT(nodes[k].parent, i);
			CHECK(nodes[k].ns <= last_ns && nodes[k].ns > 0);
			last_ns = nodes[k].ns;
			below_ns += nodes[k].ns;
		}
		CHECK_INT(below_ns, nodes[i].ns);
	}
}

TEST(host_stacks)
{
	struct model *model = host_model(), *copy = saved_again(model);

	for (int k = 0; k < 2; k++) {
		struct model *m = k ? copy : model;
		struct stack_node *nodes;
		const struct stack_node *node;
		size_t n = model_stacks(m, &(struct stacks_of) { .pid = PID }, &nodes);

		check_tree(nodes, n);
		CHECK_INT(nodes[0].kind, STACK_THREAD);
		CHECK_INT(nodes[0].ns, TURNS * 90 * MS);
		CHECK_INT(nodes[0].tid, PID);
		node = node_of(nodes, n, "load \"x\"", STACK_FRAME);
		CHECK(node && node->depth == 2 && node->line == 25 && !node->library);
		CHECK_INT(node->ns, TURNS * 50 * MS);
		CHECK_INT(nodes[node->parent].line, 7);
		CHECK_INT(node[1].kind, STACK_STATE);
		CHECK_INT(node[1].doing, DOING_SLEEP);
		/* half of the unknown is below main() without a line, half of it alone */
		node = node_of(nodes, n, "changed", STACK_UNKNOWN);
		CHECK(node && node->ns == TURNS / 2 * 10 * MS);
		CHECK_INT(nodes[node->parent].line, 0);
		node = node_of(nodes, n, "", STACK_UNKNOWN);
		CHECK(node && node->ns == TURNS / 2 * 10 * MS && node->depth == 1);
		CHECK_STR(node[1].function, "train");
		free(nodes);
		/* what no device waited for is not there */
		n = model_stacks(m, &(struct stacks_of) { .tid = PID, .waited = true }, &nodes);
		check_tree(nodes, n);
		for (size_t i = 0; i < n; i++)
			CHECK(nodes[i].kind != STACK_STATE || nodes[i].doing != DOING_NATIVE ||
			      nodes[i].ns < MS);
		free(nodes);
		/* the second half of a sleep */
		n = model_stacks(m, &(struct stacks_of) {
			.from_ns = BASE + 235 * MS, .to_ns = BASE + 260 * MS }, &nodes);
		check_tree(nodes, n);
		CHECK_INT(n, 4);
		CHECK_INT(nodes[0].ns, 25 * MS);
		free(nodes);
		CHECK_INT(model_stacks(m, &(struct stacks_of) { .tid = 1 }, &nodes), 0);
		CHECK(!nodes);
	}
	model_free(model);
	model_free(copy);
}

/* A stack without end, frames that no record defines, and more sums than are kept. */
/* Functions of native code below a line of Python: the innermost one is what the thread is in, so
 * that the state does not say it once more; the C library's belong to an installed package. */
TEST(host_stacks_native)
{
	struct model *model = model_with_device();
	struct event doing = ev_doing(PID, DOING_NATIVE, 1, 3, 0, 10 * MS);
	struct stack_node *nodes;
	char *full;
	size_t n;

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "step"));
	apply_one(model, ev_name(32, NAME_SOURCE, "/home/me/build/libmine.so.1"));
	apply_one(model, ev_name(33, NAME_SOURCE, "_ZN2me6Engine3runEi"));
	apply_one(model, ev_name(34, NAME_SOURCE, "/usr/lib/x86_64-linux-gnu/libc.so.6"));
	apply_one(model, ev_name(35, NAME_OTHER, "_ZN2me6Engine3runEi in libmine.so.1"));
	apply_one(model, ev_name(36, NAME_OTHER, "libc.so.6"));
	apply_one(model, ev_frame(1, 0, 30, 31, 12));
	apply_one(model, ev_frame(3, 1, 32, 33, 0));
	apply_one(model, ev_frame(4, 3, 34, 0, 0));
	doing.u.doing.what = 35;
	apply_one(model, doing);
	doing = ev_doing(PID, DOING_NATIVE, 1, 4, 10 * MS, 5 * MS);
	doing.u.doing.what = 36;
	apply_one(model, doing);
	doing = ev_doing(PID, DOING_NATIVE, 1, 1, 15 * MS, 2 * MS);
	doing.u.doing.what = 36;
	apply_one(model, doing);
	n = model_stacks(model, &(struct stacks_of) { .pid = 0 }, &nodes);
	check_tree(nodes, n);
	CHECK_INT(n, 7);
	if (name_demangle("_ZN2me6Engine3runEi", &full)) {
		CHECK_STR(nodes[2].function, "Engine::run");
		free(full);
	}
	CHECK_STR(nodes[2].file, "/home/me/build/libmine.so.1");
	CHECK_INT(nodes[2].line, 0);
	CHECK(!nodes[2].library);
	CHECK(nodes[3].kind == STACK_STATE && !*nodes[3].what && nodes[3].ns == 10 * MS);
	CHECK(nodes[4].library && !*nodes[4].function);
	CHECK(nodes[5].kind == STACK_STATE && !*nodes[5].what && nodes[5].ns == 5 * MS);
	/* a library that no frame names */
	CHECK_STR(nodes[6].what, "libc.so.6");
	free(nodes);
	model_free(model);
}

TEST(host_stacks_bounded)
{
	struct model *model = model_with_device();
	struct stack_node *nodes;
	struct host_line_row *rows;
	int64_t sum_ns = 0;
	size_t n;

	apply_one(model, ev_name(30, NAME_SOURCE, "deep.py"));
	for (uint32_t id = 1; id <= 1000; id++)
		apply_one(model, ev_frame(id, id - 1, 30, 30, id));
	apply_one(model, ev_doing(PID, DOING_PYTHON, 1, 1000, 0, MS));
	apply_one(model, ev_doing(PID, DOING_PYTHON, 4000, 5000, MS, MS));
	for (uint32_t i = 0; i < DOING_SUMS_MAX + 100; i++)
		apply_one(model, ev_doing(PID, DOING_LOCK, 6000 + i, 6000 + i,
					  2 * MS + i * 1000, 1000));
	n = model_stacks(model, &(struct stacks_of) { .pid = 0 }, &nodes);
	check_tree(nodes, n);
	CHECK_INT(nodes[0].ns, 2 * MS + (int64_t)(DOING_SUMS_MAX + 100) * 1000);
	free(nodes);
	n = model_host_lines(model, &rows);
	for (size_t i = 0; i < n; i++)
		sum_ns += rows[i].ns;
	CHECK_INT(sum_ns, 2 * MS + (int64_t)(DOING_SUMS_MAX + 100) * 1000);
	CHECK(n <= DOING_SUMS_MAX + 2);
	free(rows);
	model_free(model);
}

static char *stacks_written(struct model *model, const char *kind, int64_t from_ns,
			    char error[256])
{
	struct foreign_options options = { .model = model, .from_ns = from_ns };
	struct foreign_result result;
	char *text = NULL;
	size_t size;
	bool good;

	*error = '\0';
	CHECK(foreign_parse(kind, &options.kind, error, 256));
	options.out = open_memstream(&text, &size);
	good = foreign_write(&options, &result, error, 256);
	fclose(options.out);
	if (good)
		return text;
	free(text);
	return NULL;
}

TEST(host_stacks_collapsed)
{
	struct model *model = host_model();
	char error[256], *text = stacks_written(model, "stacks", INT64_MIN, error);

	CHECK(strstr(text, ";main (train:1.py:7);load \"x\" (train:1.py:25);[sleep] 1000000000\n"));
	CHECK(strstr(text, ";main (train:1.py:8);train (train:1.py:40);[native] 200000000\n"));
	CHECK(strstr(text, ";main (train:1.py);[unknown];[Python] 100000000\n"));
	CHECK(strstr(text, "/4121;[unknown];train (train:1.py:40);[Python] 100000000\n"));
	free(text);
	text = stacks_written(model, "stacks,waited", INT64_MIN, error);
	CHECK(strstr(text, "[sleep] 9") && !strstr(text, "[native] 2"));
	free(text);
	text = stacks_written(model, "stacks", BASE + 1995 * MS, error);
	CHECK(!text && strstr(error, "no thread was looked at"));
	CHECK(!stacks_written(model, "stacks,waited", BASE, error));
	CHECK(strstr(error, "leave out 'last'"));
	model_free(model);
	model = model_with_device();
	CHECK(!stacks_written(model, "speedscope", INT64_MIN, error));
	CHECK(strstr(error, "no thread was looked at"));
	CHECK(!stacks_written(model, "stacks,waited", INT64_MIN, error));
	CHECK(strstr(error, "no device waited"));
	model_free(model);
}

static size_t length_of(const struct json_node *list)
{
	size_t n = 0;

	for (const struct json_node *one = list->child; one; one = one->next)
		n++;
	return n;
}

TEST(host_stacks_speedscope)
{
	struct model *model = host_model();
	char error[256], *text = stacks_written(model, "speedscope", INT64_MIN, error);
	struct json_node *json = json_read(text, strlen(text));
	const struct json_node *frames = json_get(json_get(json, "shared"), "frames"), *profile;
	const struct json_node *weight, *one;
	int64_t sum_ns = 0;

	CHECK(frames && frames->type == JSON_ARRAY);
	CHECK(strstr(text, "{\"name\":\"load \\\"x\\\"\","
		     "\"file\":\"/home/me/train;1.py\",\"line\":25}"));
	profile = json_get(json, "profiles")->child;
	CHECK(profile && !profile->next);
	CHECK_STR(json_get_text(profile, "unit", ""), "nanoseconds");
	weight = json_get(profile, "weights")->child;
	for (one = json_get(profile, "samples")->child; one; one = one->next) {
		for (const struct json_node *i = one->child; i; i = i->next)
			CHECK(i->number > 0 && (size_t)i->number < length_of(frames));
		CHECK(weight != NULL);
		sum_ns += weight->number;
		weight = weight->next;
	}
	CHECK(!weight);
	CHECK_INT(sum_ns, json_get_int(profile, "endValue", 0));
	CHECK_INT(sum_ns, TURNS * 90 * MS);
	json_free(json);
	free(text);
	model_free(model);
}
