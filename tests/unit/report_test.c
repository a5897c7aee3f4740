/* SPDX-License-Identifier: MIT */
/* The report: JSON by its keys, text by its promises, both against a golden. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/synth/synth.h"
#include "tests/unit/test.h"
#include "tui/base/atomic_file.h"
#include "tui/draw/grid.h"
#include "tui/base/json_read.h"
#include "tui/report/sections.h"
#include "tui/draw/sheet.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

static char *command[] = { (char *)"./train", (char *)"--x\x1b[31m", NULL };
static struct report_run run = {
	.command = command, .pid = 4121, .host = "here", .start_unix_ns = 1700000000 * SECOND,
	.wall_ns = 4 * SECOND, .exit_status = 0,
};

/* ---- feeding ---- */

static struct model *model;

static void feed(struct event event)
{
	event.pid = event.pid ? event.pid : 4121;
	event.tid = event.tid ? event.tid : 4121;
	if (!event.time_ns)
		event.time_ns = 10 * SECOND;
	model_apply(model, &event, 1);
}

static void feed_name(uint32_t id, uint8_t kind, const char *text)
{
	feed((struct event){ .type = EVENT_NAME, .u.name = { id, kind, text } });
}

static void feed_begin(void)
{
	model = model_new(NULL);
	feed((struct event){ .type = EVENT_PROCESS,
			     .u.process = { .schema = EVENT_SCHEMA,
					    .parent = 1,
					    .mono_ns = SECOND,
					    .real_ns = SECOND,
					    .raw_ns = SECOND,
					    .rank = -1,
					    .world = -1,
					    .host = "here",
					    .command = "./train --x" } });
	feed((struct event){ .type = EVENT_PROBE, .u.probe = { "opencl", "1", "" } });
	feed((struct event){ .type = EVENT_DEVICE, .u.device = {
		.id = 1, .gpu = 1, .api = "opencl", .name = "dev \x1b[2J name", .vendor = "v",
		.platform = "p", .driver = "d", .address = "" } });
	feed((struct event){ .type = EVENT_QUEUE, .u.queue = {
		.id = 1, .device = 1, .context = 1, .flags = QUEUE_IN_ORDER, .name = "" } });
	feed((struct event){ .type = EVENT_CLOCK, .u.clock = {
		.device = 1, .quality = CLOCK_KNOWN, .ticks = SECOND, .host_ns = SECOND,
		.error_ns = 29 } });
	feed_name(1, NAME_KERNEL, "conv \xff \"quoted\"");
	feed_name(2, NAME_OP, "layer/one");
}

static void feed_command(uint32_t id, uint8_t kind, uint8_t direction, int64_t start_ns,
			 int64_t dur_ns, uint64_t bytes)
{
	feed((struct event){ .type = EVENT_COMMAND,
			     .u.command = { .tid = 4121,
					    .queue = 1,
					    .name = kind == COMMAND_KERNEL ? 1 : 0,
					    .correlation = id,
					    .op_name = kind == COMMAND_KERNEL ? 2 : 0,
					    .op = kind == COMMAND_KERNEL ? 7 : 0,
					    .call_ns = start_ns - 2000,
					    .call_dur_ns = 500,
					    .queued_ticks = (uint64_t)start_ns - 1500,
					    .submit_ticks = (uint64_t)start_ns - 1000,
					    .start_ticks = (uint64_t)start_ns,
					    .end_ticks = (uint64_t)(start_ns + dur_ns),
					    .bytes = bytes,
					    .kind = kind,
					    .direction = direction,
					    .how = HOW_EVENT } });
}

static void feed_run(void)
{
	feed_begin();
	for (uint32_t i = 0; i < 10; i++)
		feed_command(i + 1, COMMAND_KERNEL, DIR_NONE, 2 * SECOND + i * 20 * MS, 10 * MS, 0);
	feed_command(11, COMMAND_COPY, DIR_H2D, 3 * SECOND, 5 * MS, 1 << 20);
	feed((struct event){ .type = EVENT_OP,
			     .u.op = { .instance = 7,
				       .start_ns = 2 * SECOND - MS,
				       .dur_ns = SECOND,
				       .step = -1,
				       .tid = 4121,
				       .name = 2,
				       .framework = FW_NVTX,
				       .flags = OP_RANGE | OP_INNER } });
	model_set_exited(model, 0, 4121, 0, 0);
	model_message(model, 1, "a sentence of some length: it is long enough to be broken into "
		      "more than one line of the report, as sentences of the tracer can be");
	model_finish(model, false);
}

static char *print(void (*report)(struct model *, const struct report_run *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	report(model, &run, out);
	fclose(out);
	return text;
}

/* ---- JSON ---- */

static struct json_node *report_tree(void)
{
	char *text = print(report_json);
	struct json_node *tree = json_read(text, strlen(text));

	CHECK(tree);
	free(text);
	return tree;
}

TEST(report_json_says_what_was_fed)
{
	struct json_node *tree;
	const struct json_node *row, *trust;

	feed_run();
	tree = report_tree();
	trust = json_get(tree, "trust");
	CHECK_INT(json_get_int(tree, "schema", 0), 1);
	CHECK_INT(json_get_int(json_get(tree, "run"), "wall_ns", 0), 4 * SECOND);
	CHECK_INT(json_get_int(json_get(tree, "run"), "exit_status", -1), 0);
	CHECK_INT(json_get_int(trust, "settled", 0), 1);
	CHECK_INT(json_get_int(trust, "lost_events", -1), 0);
	CHECK_INT(json_get_int(json_get(trust, "attribution"), "event", -1), 11);
	row = json_get(tree, "kernels")->child;
	CHECK(row && !row->next);
	CHECK_INT(json_get_int(row, "count", 0), 10);
	CHECK_INT(json_get_int(row, "total_ns", 0), 100 * MS);
	CHECK_INT(json_get_int(row, "min_ns", 0), 10 * MS);
	CHECK_INT(json_get_int(row, "max_ns", 0), 10 * MS);
	CHECK_INT(json_get_int(json_get(row, "by_queue")->child, "count", 0), 10);
	CHECK_STR(json_get_text(json_get(row, "ops")->child, "name", ""), "layer/one");
	CHECK_STR(json_get_text(json_get(row, "ops")->child, "how", ""), "event");
	row = json_get(tree, "copies")->child;
	CHECK_STR(json_get_text(row, "direction", ""), "h2d");
	CHECK_INT(json_get_int(row, "bytes", 0), 1 << 20);
	CHECK_INT(json_get_int(row, "count", 0), 1);
	row = json_get(tree, "processes")->child;
	CHECK_INT(json_get_int(row, "exit_status", -1), 0);
	CHECK_STR(json_get(row, "probes")->child->text, "opencl");
	row = json_get(tree, "ops")->child;
	CHECK_INT(json_get_int(row, "kernels", 0), 10);
	CHECK_INT(json_get_int(row, "device_ns", 0), 100 * MS);
	json_free(tree);
	model_free(model);
}

TEST(report_json_keeps_the_names_of_frameworks)
{
	struct json_node *tree;
	const struct json_node *row;

	feed_begin();
	feed((struct event){ .type = EVENT_NAME, .u.name = { .id = 9, .kind = 1,
			     .text = "Optimizer.step#SGD.step" } });
	feed((struct event){ .type = EVENT_OP, .u.op = {
		.instance = 7, .start_ns = 2 * SECOND, .dur_ns = SECOND, .step = -1, .tid = 4121,
		.name = 9, .framework = FW_PYTORCH } });
	model_finish(model, false);
	tree = report_tree();
	row = json_get(tree, "ops")->child;
	CHECK_STR(json_get_text(row, "name", ""), "SGD.step");
	CHECK_STR(json_get_text(row, "raw_name", ""), "Optimizer.step#SGD.step");
	json_free(tree);
	model_free(model);
}

TEST(report_json_leaves_out_what_was_not_seen)
{
	static const char *const absent[] = {
		"steps", "input_stages", "flows", "counters"
	};
	struct json_node *tree;
	const struct json_node *row;

	feed_run();
	tree = report_tree();
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		CHECK(!json_get(tree, absent[i]));
	row = json_get(tree, "devices")->child;
	CHECK(!json_get(row, "address") && !json_get(row, "memory_bytes"));
	CHECK(!json_get(json_get(tree, "run"), "signal"));
	CHECK(!json_get(json_get(tree, "processes")->child, "rank"));
	json_free(tree);
	model_free(model);
}

TEST(report_of_nothing)
{
	struct json_node *tree;
	char *text;

	model = model_new(NULL);
	run.exit_status = -1;
	run.signal = 9;
	model_finish(model, true);
	tree = report_tree();
	CHECK_INT(json_get_int(json_get(tree, "trust"), "settled", 1), 0);
	CHECK_INT(json_get_int(json_get(tree, "run"), "signal", 0), 9);
	CHECK(!json_get(json_get(tree, "run"), "exit_status"));
	text = print(report_text);
	CHECK(strstr(text, "killed by signal 9"));
	CHECK(strstr(text, "partial"));
	CHECK(!strstr(text, "kernels"));
	free(text);
	json_free(tree);
	model_free(model);
}

/* ---- text ---- */

static void check_lines(const char *text)
{
	char line[2048];

	while (*text) {
		size_t length = strcspn(text, "\n");

		CHECK(length < sizeof(line));
		memcpy(line, text, length);
		line[length] = '\0';
		if (text_width(line) > REPORT_WIDTH)
			CHECK_STR(line, "a line of at most 100 columns");
		CHECK(!length || line[length - 1] != ' ');
		for (size_t i = 0; i < length; i++)
			CHECK((unsigned char)line[i] >= 0x20 && line[i] != 0x7f);
		text += length + (text[length] == '\n');
	}
}

TEST(report_text_is_clean_and_narrow)
{
	char *text;

	feed_run();
	text = print(report_text);
	check_lines(text);
	CHECK(strstr(text, "layer/one"));
	CHECK(strstr(text, "h2d"));
	CHECK(strstr(text, "0 lost"));
	CHECK(strstr(text, "event 100 %"));
	free(text);
	model_free(model);
}

TEST(report_text_says_losses_first)
{
	char *text;

	feed_begin();
	feed((struct event){ .type = EVENT_LOST,
			     .u.lost = { 2 * SECOND, 3 * SECOND, 1204, false } });
	model_finish(model, false);
	text = print(report_text);
	CHECK(strstr(text, "1 204 events"));
	CHECK(!strstr(text, "0 lost"));
	free(text);
	model_free(model);
}

/* Two launches with an op and one without its run, a run without its launch. */
TEST(report_says_what_ops_cover)
{
	char *text;

	feed_begin();
	for (uint32_t i = 1; i <= 4; i++) {
		struct event event = {
			.type = EVENT_LAUNCH, .pid = 1, .tid = 1, .time_ns = SECOND
		};

		event.u.launch = (struct event_launch){
			.queue = 1,
			.correlation = i,
			.op = i,
			.op_name = 1,
			.call_ns = SECOND + i * 1000,
			.kind = COMMAND_KERNEL,
		};
		if (i != 3)
			feed(event);
		event.type = EVENT_RUN;
		event.time_ns = 2 * SECOND;
		event.u.run = (struct event_run) {
			.correlation = i, .queue = 1, .kind = COMMAND_KERNEL, .flags = CMD_APPROX,
			.start_ticks = (uint64_t)SECOND + i * 100000,
			.end_ticks = (uint64_t)SECOND + i * 100000 + 50000,
		};
		if (i != 4)
			feed(event);
	}
	model_finish(model, false);
	text = print(report_text);
	CHECK(strstr(text, "ops cover 67 % of device time"));
	CHECK(strstr(text, "! no launch   for 33 % of device time"));
	CHECK(strstr(text, "! no run      for 1 launched command:"));
	free(text);
	text = print(report_json);
	CHECK(strstr(text, "\"coverage\": {\"launched\": 0.6666, \"ops\": 0.6666}"));
	CHECK(strstr(text, "\"unmet_launches\": 1"));
	free(text);
	model_free(model);
}

/* What a library's kernels take of ops is not what most of the time went into. */
TEST(report_ops_of_the_processor_go_by_their_own_time)
{
	char *text, *op, *with_kernel;

	feed_begin();
	feed((struct event){ .type = EVENT_DEVICE, .u.device = {
		.id = 2, .api = "cpu", .name = "Processor", .vendor = "", .platform = "",
		.driver = "", .address = "" } });
	feed((struct event){ .type = EVENT_QUEUE,
			     .u.queue = { .id = 2, .device = 2, .name = "" } });
	feed((struct event){ .type = EVENT_CLOCK, .u.clock = {
		.device = 2, .quality = CLOCK_KNOWN, .ticks = SECOND, .host_ns = SECOND } });
	feed_name(3, NAME_OP, "gelu");
	feed_name(4, NAME_OP, "mm");
	feed((struct event){ .type = EVENT_COMMAND, .u.command = {
		.tid = 4121, .queue = 2, .name = 1, .correlation = 1, .op_name = 3, .op = 7,
		.start_ticks = 2 * SECOND, .end_ticks = 2 * SECOND + 4 * MS,
		.kind = COMMAND_KERNEL, .how = HOW_EXACT } });
	for (uint32_t i = 0; i < 2; i++)
		feed((struct event){ .type = EVENT_OP, .u.op = {
			.instance = 7 + i, .start_ns = 2 * SECOND + i * 10 * MS,
			.dur_ns = i ? 45 * MS : 5 * MS, .step = -1, .tid = 4121, .name = 3 + i,
			.framework = FW_PYTORCH } });
	model_finish(model, false);
	text = print(report_text);
	op = strstr(text, "\n  mm ");
	with_kernel = strstr(text, "\n  gelu ");
	CHECK(op && with_kernel && op < with_kernel);
	CHECK(op && strstr(op, "90 %") && strstr(op, "90 %") < strchr(op + 1, '\n'));
	free(text);
	model_free(model);
}

TEST(report_sheet_gives_way_in_its_names)
{
	struct sheet sheet = { 0 };
	char *text = NULL, name[300];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	sheet_column(&sheet, "names", SHEET_LEFT, 8);
	sheet_column(&sheet, "n", SHEET_RIGHT, 0);
	sheet_cell(&sheet, "%s", name);
	sheet_cell(&sheet, "%d", 1234);
	sheet_cell(&sheet, "short");
	sheet_cell(&sheet, "%d", 5);
	sheet.more = 3;
	sheet_print(&sheet, 30, out);
	fclose(out);
	CHECK(strstr(text, "names                        n\n"));
	CHECK(strstr(text, "  short                      5\n"));
	CHECK(strstr(text, "… 3 more\n"));
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		CHECK(text_width(line) <= 30);
	}
	free(text);
}

/* ---- golden: TEST_GOLDEN=rewrite writes what is expected ---- */

static char *read_whole(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text;
	size_t size;

	if (!in)
		return NULL;
	text = malloc(1 << 20);
	CHECK(text);
	size = fread(text, 1, (1 << 20) - 1, in);
	text[size] = '\0';
	fclose(in);
	return text;
}

static void golden(const char *path, const char *text)
{
	const char *mode = getenv("TEST_GOLDEN");
	char *expected, error[256];

	if (mode && !strcmp(mode, "rewrite")) {
		struct atomic_file file;

		CHECK(!atomic_file_open(&file, path, error, sizeof(error)));
		fputs(text, file.out);
		CHECK(!atomic_file_commit(&file, error, sizeof(error)));
		return;
	}
	expected = read_whole(path);
	if (!expected)
		test_skip("tests/golden/report (run from the repository's root)");
	CHECK_STR(text, expected);
	free(expected);
}

static void feed_synth(void *arg, const struct event *events, size_t count)
{
	(void)arg;
	model_apply(model, events, count);
}

static struct model_synth *run_profile(uint64_t seed, const struct model_synth_profile *profile,
				       int64_t ns)
{
	struct model_synth *synth;

	model = model_new(NULL);
	synth = model_synth_new(seed, profile, 100 * SECOND);
	model_synth_advance(synth, 100 * SECOND + ns, feed_synth, NULL);
	model_synth_end(synth, feed_synth, NULL);
	model_finish(model, false);
	return synth;
}

static struct model_synth *run_synth(uint64_t seed, unsigned int fail_permille, int64_t ns)
{
	struct model_synth_profile profile = model_synth_default;

	profile.fail_permille = fail_permille;
	return run_profile(seed, &profile, ns);
}

static int64_t sum(const struct json_node *rows, const char *key)
{
	int64_t total = 0;

	for (const struct json_node *row = rows ? rows->child : NULL; row; row = row->next)
		total += json_get_int(row, key, 0);
	return total;
}

TEST(report_json_adds_up_to_the_truth)
{
	struct model_synth *synth = run_synth(test_random(), 20, 3 * SECOND);
	const struct model_synth_truth *truth = model_synth_truth(synth);
	struct json_node *tree = report_tree();

	CHECK_INT(sum(json_get(tree, "kernels"), "count"), truth->kernels);
	CHECK_INT(sum(json_get(tree, "kernels"), "failed"), truth->failed);
	CHECK_INT(sum(json_get(tree, "kernels"), "total_ns"), truth->kernel_ns);
	CHECK_INT(sum(json_get(tree, "kernel_classes"), "count"), truth->kernels);
	CHECK_INT(sum(json_get(tree, "kernel_classes"), "total_ns"), truth->kernel_ns);
	CHECK_INT(sum(json_get(tree, "copies"), "count"), truth->copies);
	CHECK_INT(sum(json_get(tree, "copies"), "bytes"), truth->bytes);
	CHECK_INT(json_get_int(json_get(tree, "steps"), "count", 0), truth->steps);
	json_free(tree);
	model_synth_free(synth);
	model_free(model);
}

/* How many rows the text says that a table has, "… 41 more" included. */
static int64_t text_rows(const char *text, const char *heading)
{
	const char *line = text;
	int64_t rows = 0, more = 0;

	while (line && (strncmp(line, heading, strlen(heading)) || line[strlen(heading)] != ' '))
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
	while (line && (line = strchr(line, '\n')) && line[1] == ' ') {
		line++;
		if (!strncmp(line, "  by class", strlen("  by class")))
			break;
		if (!strncmp(line, "  … ", strlen("  … ")))
			more = atoll(line + strlen("  … "));
		else
			rows++;
	}
	return rows + more;
}

static int64_t json_rows(const struct json_node *array)
{
	int64_t rows = 0;

	for (const struct json_node *row = array ? array->child : NULL; row; row = row->next)
		rows++;
	return rows;
}

TEST(report_text_and_json_have_the_same_rows)
{
	static const struct model_synth_profile profile = {
		.gpu = true, .processes = 1, .devices = 2, .queues = 2 * SYNTH_GPU_STREAMS,
	};
	struct model_synth *synth = run_profile(test_random(), &profile, 3 * SECOND);
	struct json_node *tree = report_tree();
	char *text = print(report_text);
	int compared = 0;

	for (size_t i = 0; i < report_n_sections; i++) {
		const struct report_section *section = &report_sections[i];
		const struct table_column *first;
		int64_t rows;

		/* What the text writes in words has no table. */
		if (!section->key || !section->place || !section->rows || section->text)
			continue;
		first = section->rows->columns->column;
		rows = json_rows(json_get(tree, section->key));
		CHECK_INT(text_rows(text, first->report_title ? first->report_title :
					  section->rows->columns->name), rows);
		compared += rows > 0;
	}
	CHECK(compared >= 6);
	free(text);
	json_free(tree);
	model_synth_free(synth);
	model_free(model);
}

/* Each place in the text is one section's, and so is each key, but for one array's parts. */
TEST(report_sections_have_their_own_places)
{
	for (size_t i = 0; i < report_n_sections; i++)
		for (size_t k = i + 1; k < report_n_sections; k++) {
			const struct report_section *a = &report_sections[i];
			const struct report_section *b = &report_sections[k];

			CHECK(!a->place || a->place != b->place);
			CHECK(!a->key || !b->key || k == i + 1 || strcmp(a->key, b->key));
		}
}

TEST(report_golden)
{
	struct model_synth *synth = run_synth(1, 0, 200 * MS);
	char *text;

	command[1] = (char *)"--epochs=3";
	text = print(report_text);
	check_lines(text);
	golden("tests/golden/report/synth.txt", text);
	free(text);
	text = print(report_json);
	golden("tests/golden/report/synth.json", text);
	free(text);
	model_synth_free(synth);
	model_free(model);
}
