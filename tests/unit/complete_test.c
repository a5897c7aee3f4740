/* SPDX-License-Identifier: MIT */
/* What a typed line can go on with, and the lines that were typed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keymap/arguments.h"
#include "keymap/command.h"
#include "keymap/config.h"
#include "keymap/words.h"
#include "model/base/util.h"
#include "model/filter/filter.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/prompt/complete.h"
#include "tui/prompt/history.h"
#include "tui/timeline/marks.h"
#include "tui/prompt/prompt.h"

/* ---- arguments ---- */

static const char *next(const char *text, const char *line, bool repeats)
{
	static struct arguments arguments;
	static char result[ARGUMENT_TEXT + 4];
	char error[80];
	struct words words;
	bool value;

	arguments_parse(text, &arguments);
	CHECK(words_split(&words, line, error, sizeof(error)));
	text = arguments_next(&arguments, words.argc, words.argv, repeats, &value);
	snprintf(result, sizeof(result), "%s%s", text, value ? "!" : "");
	words_release(&words);
	return result;
}

TEST(arguments_say_what_may_come)
{
	static const char li[] = "OP [-r] [-d DEPTH] [-c]";

	CHECK_STR(next(li, "", false), "OP");
	CHECK_STR(next(li, "x", false), "");
	CHECK_STR(next(li, "-r", false), "OP");
	CHECK_STR(next(li, "-d", false), "DEPTH!");
	CHECK_STR(next(li, "-d 3", false), "OP");
	CHECK_STR(next(li, "x -d 3", false), "");
	CHECK_STR(next("[OPTION [= VALUE]]", "", false), "OPTION");
	CHECK_STR(next("[OPTION [= VALUE]]", "split", false), "=");
	CHECK_STR(next("[OPTION [= VALUE]]", "split =", false), "VALUE");
	CHECK_STR(next("ROLE FG [BG] [ATTR]", "title red blue bold", true), "ATTR");
	CHECK_STR(next("ROLE FG [BG] [ATTR]", "title red blue bold", false), "");
	CHECK_STR(next("[-a] FILE", "-a", false), "FILE");
	CHECK_STR(next("DIR [last TIME]", "d last", false), "TIME");
	CHECK_STR(next("ROW[:LANE:ID]|TIME TIME", "3", false), "TIME");
	CHECK_STR(next("", "", true), "");
}

/* Every command's arguments are understood whole: what was taken apart is what stands there. */
TEST(arguments_of_all_commands_are_read)
{
	for (int i = 0; i < COMMAND_ID_COUNT; i++) {
		struct arguments arguments;
		char bare[400] = "";
		struct strbuf got;
		size_t n = 0;
		int inside = 0;

		strbuf_init(&got);

		for (const char *p = command_table[i].usage; *p; p++)
			if (*p == '[' && p > command_table[i].usage && !strchr(" [", p[-1]))
				inside = 1, bare[n++] = *p;
			else if (*p == ']' && inside)
				inside = 0, bare[n++] = *p;
			else if (!strchr(" []", *p))
				bare[n++] = *p;
		arguments_parse(command_table[i].usage, &arguments);
		for (int k = 0; k < arguments.count; k++) {
			strbuf_adds(&got, arguments.list[k].text);
			strbuf_adds(&got, arguments.list[k].value);
		}
		CHECK_STR(got.data, bare);
		strbuf_release(&got);
	}
}

/* ---- completion ---- */

struct fixture {
	struct keymap keymap;
	struct settings settings;
	struct config config;
	struct complete_ask ask;
	struct completion got;
};

static bool no_color(void *arg, int argc, const char *const *argv, char *error, size_t size)
{
	(void)arg, (void)argc, (void)argv, (void)error, (void)size;
	return true;
}

static void no_report(void *arg, const char *message)
{
	(void)arg;
	test_fail(__FILE__, __LINE__, "%s", message);
}

static void begin(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	keymap_init(&f->keymap);
	settings_init(&f->settings);
	f->config = (struct config){
		.keymap = &f->keymap,
		.settings = &f->settings,
		.color = no_color,
		.report = no_report,
	};
	config_builtin(&f->config);
	f->ask = (struct complete_ask){
		.model = model_with_device(), .keymap = &f->keymap, .settings = &f->settings,
	};
}

static void finish(struct fixture *f)
{
	completion_release(&f->got);
	keymap_release(&f->keymap);
	model_free(f->ask.model);
}

/* "total common: first second ..." */
static const char *complete(struct fixture *f, const char *line)
{
	static char text[2000];
	size_t at;

	completion_release(&f->got);
	complete_line(&f->ask, line, strlen(line), &f->got);
	at = (size_t)snprintf(text, sizeof(text), "%zu %s:", f->got.total,
			      f->got.common ? f->got.common : "-");
	for (size_t i = 0; i < f->got.count && at < sizeof(text); i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %s", f->got.list[i].text);
	return text;
}

TEST(complete_commands_flags_and_options)
{
	struct fixture f;

	begin(&f);
	CHECK_STR(complete(&f, "zoom-o"), "1 zoom-out: zoom-out");
	CHECK_STR(complete(&f, ":zoom"), "2 zoom-: zoom-in zoom-out");
	CHECK(f.got.from == 1 && f.got.to == 5);
	CHECK_STR(complete(&f, "  ZOOM-O"), "0 -:");
	/* nothing begins so: what contains it */
	CHECK_STR(complete(&f, "oom-i"), "1 zoom-in: zoom-in");
	CHECK_STR(complete(&f, "node-info x -"), "3 -: -a -d -t");
	CHECK_STR(complete(&f, "li -d "), "0 -:");
	CHECK_STR(f.got.usage, "list-inputs OP [-r] [-d DEPTH] [-c] [-t]");
	CHECK_STR(complete(&f, "fit a"), "1 all: all");
	CHECK_STR(complete(&f, "fit se"), "1 selection: selection");
	CHECK_STR(complete(&f, "set quit"), "1 quit-while-running: quit-while-running");
	CHECK_STR(complete(&f, "set quit-while-running = l"), "1 leave: leave");
	CHECK_STR(complete(&f, "set split = "), "1 40: 40");
	CHECK_STR(complete(&f, "set nothing = "), "0 -:");
	CHECK_STR(complete(&f, "color work-m"), "1 work-matmul: work-matmul");
	CHECK_STR(complete(&f, "color title bright-b"), "2 bright-bl: bright-black bright-blue");
	CHECK_STR(complete(&f, "unbind timeline U"), "1 U: U");
	CHECK_STR(complete(&f, "bind timel"), "1 timeline: timeline");
	CHECK_STR(complete(&f, "bind timeline x zoom-o"), "1 zoom-out: zoom-out");
	CHECK_STR(complete(&f, "bind timeline x fit a"), "1 all: all");
	CHECK_STR(complete(&f, "help zoom-i"), "1 zoom-in: zoom-in");
	CHECK_STR(complete(&f, "nonsense x"), "0 -:");
	complete(&f, "");
	CHECK_INT(f.got.total, COMMAND_ID_COUNT);
	finish(&f);
}

static void check(struct fixture *f, int line, const char *typed, const char *want)
{
	const char *got = complete(f, typed);

	if (strcmp(got, want))
		test_fail(__FILE__, line, "'%s' gives '%s', not '%s'", typed, got, want);
}

/* In an expression: what its language lets follow, in quotes that are open too. */
TEST(complete_filters)
{
	struct fixture f;

	begin(&f);
	f.ask.filters = filter_names_new();
	CHECK(filter_names_set((struct filter_names *)f.ask.filters, "slow", "dur > 1ms",
			       (char[100]){""}, 100));
#define GIVES(typed, want) check(&f, __LINE__, typed, want)
	GIVES("where ki", "1 kind: kind");
	CHECK(f.got.raw && f.got.from == 6 && f.got.to == 8);
	GIVES("where dur > 1ms & kern", "2 kernel: kernels kernel");
	GIVES("where dur>1ms&kern", "2 kernel: kernels kernel");
	CHECK(f.got.from == 14);
	GIVES("where slo", "1 slow: slow");
	GIVES("where kind ", "2 : = !=");
	GIVES("where name ", "4 : = != ~ !~");
	GIVES("where dur ", "7 : = != < <= > >= in");
	GIVES("where dur i", "1 in: in");
	GIVES("where kernel ", "2 : & |");
	GIVES("where dur > 1ms ", "2 : & |");
	GIVES("where kind = gr", "1 graph: graph");
	GIVES("where (kind!=gr", "1 graph: graph");
	GIVES("where !failed | dir = h", "2 h2: h2d h2h");
	GIVES("where dur in [1ms,5ms) & outl", "1 outlier: outlier");
	GIVES("where name ~ /a & b/ | outl", "1 outlier: outlier");
	GIVES("where name ~ /a & outl", "0 -:");
	GIVES("where level = w", "1 warning: warning");
	GIVES("find -w kernel & ki", "1 kind: kind");
	GIVES("find -w 'kernel & ki", "1 kind: kind");
	CHECK(f.got.from == 18 && f.got.to == 20);
	GIVES("run -f ki", "1 kind: kind");
	GIVES("filter x = ki", "1 kind: kind");
	GIVES("filter sl", "1 slow: slow");
	GIVES("unfilter ", "1 slow: slow");
	GIVES("lk -w 'dur > 1ms & ki", "1 kind: kind");
	GIVES("lk -w kernel -s", "1 -s: -s");
	GIVES("bind timeline x where ki", "1 kind: kind");
	GIVES(":where ki", "1 kind: kind");
	/* a name with a blank in the quotes of the language, not in those around it */
	GIVES("where device = ", "1 gpu0: gpu0");
	apply_one(f.ask.model, ev_name(300, NAME_KERNEL, "short one"));
	apply_one(f.ask.model, ev_kernel(300, 1, 1, 0, 1000));
	model_finish(f.ask.model, false);
	GIVES("where name = sh", "1 \"short one\": \"short one\"");
	GIVES("where name = \"sh", "1 \"short one\": \"short one\"");
	CHECK(f.got.from == 13);
	GIVES("find -w \"name = sh", "1 'short one': 'short one'");
	filter_names_free((struct filter_names *)f.ask.filters);
	finish(&f);
}

/* Places of commands that a table of their own knows. */
TEST(complete_columns_marks_steps_and_rows)
{
	struct marks marks = {.n = 0};
	struct step_row *steps;
	struct step_stats stats;
	const struct time_mark *set;
	struct fixture f;
	char error[100];

	begin(&f);
	CHECK(marks_set(&marks, "warm", 1000, "", &set, error, sizeof(error)));
	f.ask.marks = &marks;
	GIVES("lk -s sha", "1 share: share");
	GIVES("le -s dura", "1 duration: duration");
	GIVES("le -k gr", "1 graph: graph");
	GIVES("lc -a pi", "1 pinned: pinned");
	GIVES("columns kernels +occ", "1 +occupancy: +occupancy");
	GIVES("goto mark ", "1 warm: warm");
	GIVES("goto gap ", "3 : next previous longest");
	GIVES("unmark w", "1 warm: warm");
	GIVES("range wa", "1 warm: warm");
	GIVES("range warm ", "4 : warm start end cursor");
	GIVES("range step slow", "1 slowest: slowest");
	GIVES("theme c", "1 contrast: contrast");
	GIVES("rows order ", "4 : activity name id start");
	GIVES("rows pin ", "0 -:");
	GIVES("lc -t h2", "2 h2: h2d h2h");
	GIVES("name p2", "1 p2p: p2p");
	apply_one(f.ask.model, ev_name(300, NAME_KERNEL, "k"));
	apply_one(f.ask.model, ev_kernel(300, 1, 1, 0, 1000));
	for (uint32_t i = 0; i < 12; i++) {
		apply_one(f.ask.model, (struct event){
					       .type = EVENT_STEP,
					       .pid = PID,
					       .tid = PID,
					       .time_ns = BASE + 1000 * i + 900,
					       .u.step = { .number = 100 + i,
							   .start_ns = BASE + 1000 * i,
							   .dur_ns = 900 },
				       });
	}
	model_finish(f.ask.model, false);
	CHECK(model_steps(f.ask.model, &stats, &steps) == 12);
	free(steps);
	GIVES("step 11", "2 11: 110 111");
	GIVES("goto step 10", "10 10: 100 101 102 103 104 105 106 107 108 109");
	GIVES("le -S 111", "1 111: 111");
	GIVES("rows hide /que", "0 -:");
	GIVES("rows hide que", "1 queue 0: queue 0");
	complete(&f, "gaps -r ");
	CHECK(f.got.total >= 2);
	marks_release(&marks);
	finish(&f);
}
#undef GIVES

/* The functions of call stacks, each once. */
TEST(complete_functions)
{
	struct event frame = { .type = EVENT_FRAME, .pid = PID, .tid = PID, .time_ns = BASE };
	struct event doing = { .type = EVENT_DOING, .pid = PID, .tid = PID, .time_ns = BASE };
	struct fixture f;

	begin(&f);
	apply_one(f.ask.model, ev_name(300, NAME_SOURCE, "train.py"));
	apply_one(f.ask.model, ev_name(301, NAME_SOURCE, "fetch"));
	apply_one(f.ask.model, ev_name(302, NAME_SOURCE, "fit"));
	for (uint32_t i = 1; i <= 3; i++) {
		frame.u.frame = (struct event_frame) {
			.id = i, .parent = i - 1, .file = 300, .function = i == 1 ? 302 : 301,
			.line = i,
		};
		apply_one(f.ask.model, frame);
	}
	doing.u.doing = (struct event_doing) {
		.tid = PID, .looks = 1, .start_ns = BASE, .dur_ns = 50, .ns = 50, .frame = 3,
		.stack = 3, .doing = DOING_SLEEP,
	};
	apply_one(f.ask.model, doing);
	check(&f, __LINE__, "stacks -n f", "2 f: fetch fit");
	finish(&f);
}

/* Each name once, by time, in quotes where it must be. */
TEST(complete_names_of_the_model)
{
	struct fixture f;
	char name[64], *word;

	begin(&f);
	apply_one(f.ask.model, ev_name(300, NAME_KERNEL, "short_kernel"));
	apply_one(f.ask.model, ev_name(301, NAME_KERNEL, "short one's"));
	apply_one(f.ask.model, ev_kernel(300, 1, 1, 0, 1000));
	apply_one(f.ask.model, ev_kernel(300, 2, 2, 0, 1000));
	apply_one(f.ask.model, ev_kernel(301, 1, 3, 2000, 1500));
	model_finish(f.ask.model, false);
	CHECK_STR(complete(&f, "pk sh"), "2 short: short_kernel short one's");
	CHECK_STR(f.got.list[0].about, "2.00 µs");
	CHECK_STR(complete(&f, "pk ONE"), "0 -:");
	CHECK_STR(complete(&f, "pk 'short o"), "1 short one's: short one's");
	CHECK(f.got.from == 3 && f.got.to == 11);
	word = complete_word(f.got.list[0].text, false);
	CHECK_STR(word, "'short one'\"'\"'s'");
	free(word);
	CHECK_STR(complete(&f, "device "), "1 gpu0: gpu0");
	CHECK_STR(complete(&f, "queue "), "2 queue : queue 0 queue 1");
	CHECK_STR(complete(&f, "process "), "1 4121: 4121");
	CHECK_STR(complete(&f, "finding "), "0 -:");
	/* many: all are counted, some are kept */
	for (uint32_t i = 0; i < COMPLETE_KEEP + 50; i++) {
		snprintf(name, sizeof(name), "many%05u", i);
		apply_one(f.ask.model, ev_name(1000 + i, NAME_OP, name));
		apply_one(f.ask.model, ev_op(1000 + i, i + 1, 0, 10 * i, 5, 0));
	}
	complete(&f, "ni many");
	CHECK_INT(f.got.total, COMPLETE_KEEP + 50);
	CHECK_INT(f.got.count, COMPLETE_KEEP);
	CHECK_STR(f.got.common, "many0");
	finish(&f);
}

TEST(complete_files)
{
	const char *folder = test_folder();
	char line[600], want[1400], *path;
	struct fixture f;

	begin(&f);
	path = xasprintf("%s/sub", folder);
	CHECK(!mkdir(path, 0700));
	free(path);
	path = xasprintf("%s/some file", folder);
	fclose(fopen(path, "w"));
	free(path);
	path = xasprintf("%s/.hidden", folder);
	fclose(fopen(path, "w"));
	free(path);
	snprintf(line, sizeof(line), "source %s/s", folder);
	snprintf(want, sizeof(want), "2 %s/s: %s/some file %s/sub/", folder, folder, folder);
	CHECK_STR(complete(&f, line), want);
	CHECK(f.got.list[1].open && !f.got.list[0].open);
	snprintf(line, sizeof(line), "save %s/", folder);
	snprintf(want, sizeof(want), "1 %s/sub/: %s/sub/", folder, folder);
	CHECK_STR(complete(&f, line), want);
	snprintf(line, sizeof(line), "ri > %s/.h", folder);
	snprintf(want, sizeof(want), "1 %s/.hidden: %s/.hidden", folder, folder);
	CHECK_STR(complete(&f, line), want);
	CHECK_STR(complete(&f, "source /nonexistent/x"), "0 -:");
	finish(&f);
}

/* No line, and no place in it, does harm; what is replaced lies in the line. */
TEST(complete_any_line)
{
	static const char letters[] = "set bind'\"\\ -:>op=|#/.~\xc3\xa9";
	struct fixture f;
	char line[40];

	begin(&f);
	for (int i = 0; i < 20000; i++) {
		size_t n = test_below(sizeof(line) - 1), k;

		for (k = 0; k < n; k++)
			line[k] = letters[test_below(sizeof(letters) - 1)];
		line[n] = '\0';
		completion_release(&f.got);
		complete_line(&f.ask, line, test_below(n + 1), &f.got);
		CHECK(f.got.from <= f.got.to && f.got.to <= n);
	}
	finish(&f);
}

/* ---- the prompt with it ---- */

static void type(struct prompt *prompt, const char *text)
{
	for (; *text; text++)
		prompt_insert(prompt, (unsigned char)*text);
}

TEST(prompt_completes_and_cycles)
{
	struct prompt p = {.open = false};
	struct fixture f;

	begin(&f);
	prompt_open(&p, "zo");
	prompt_complete(&p, &f.ask, false);
	CHECK_STR(p.text, "zoom-");
	CHECK(p.boxed && p.box.count == 2);
	prompt_complete(&p, &f.ask, false);
	CHECK_STR(p.text, "zoom-in");
	prompt_complete(&p, &f.ask, false);
	CHECK_STR(p.text, "zoom-out");
	prompt_complete(&p, &f.ask, false);
	CHECK_STR(p.text, "zoom-");
	prompt_complete(&p, &f.ask, true);
	CHECK_STR(p.text, "zoom-out");
	CHECK(prompt_unbox(&p) && !p.boxed);
	CHECK_STR(p.text, "zoom-");
	type(&p, "o");
	prompt_complete(&p, &f.ask, false);
	CHECK_STR(p.text, "zoom-out ");
	CHECK(!p.boxed && p.cursor == 9);
	/* in the middle of a line */
	prompt_open(&p, "color titl red");
	prompt_place(&p, 10);
	prompt_complete(&p, &f.ask, false);
	CHECK_STR(p.text, "color title red");
	CHECK_INT(p.cursor, 12);
	prompt_open(&p, "nothing x");
	prompt_complete(&p, &f.ask, false);
	CHECK_STR(p.text, "nothing x");
	CHECK(p.boxed && !p.box.total);
	prompt_close(&p);
	finish(&f);
}

/* ---- history ---- */

static void use_state(const char *name)
{
	char *path = xasprintf("%s/%s", test_folder(), name);

	setenv("XDG_STATE_HOME", path, 1);
	free(path);
}

TEST(history_recalls_what_begins_so)
{
	struct history h;
	struct prompt p = {.open = false};

	history_open(&h, false);
	history_add(&h, "set split = 30");
	history_add(&h, "fit all");
	history_add(&h, "set hints = no");
	history_add(&h, "set hints = no");
	history_add(&h, " secret");
	history_add(&h, "");
	CHECK_INT(h.count, 3);
	prompt_open(&p, "set");
	CHECK(prompt_recall(&p, &h, COMMAND_ID_HISTORY_PREV));
	CHECK_STR(p.text, "set hints = no");
	CHECK(prompt_recall(&p, &h, COMMAND_ID_HISTORY_PREV));
	CHECK_STR(p.text, "set split = 30");
	CHECK(!prompt_recall(&p, &h, COMMAND_ID_HISTORY_PREV));
	CHECK_STR(p.text, "set split = 30");
	CHECK(prompt_recall(&p, &h, COMMAND_ID_HISTORY_NEXT));
	CHECK_STR(p.text, "set hints = no");
	CHECK(!prompt_recall(&p, &h, COMMAND_ID_HISTORY_NEXT));
	CHECK_STR(p.text, "set");
	CHECK(!prompt_recall(&p, &h, COMMAND_ID_HISTORY_NEXT));
	prompt_open(&p, "all");
	CHECK(!prompt_recall(&p, &h, COMMAND_ID_HISTORY_PREV));
	CHECK(prompt_recall(&p, &h, COMMAND_ID_HISTORY_SEARCH));
	CHECK_STR(p.text, "fit all");
	prompt_close(&p);
	history_close(&h);
}

TEST(history_is_kept_bounded_and_shared)
{
	char line[64], *path;
	struct history a, b;
	struct stat st;

	use_state("state/deep");
	history_open(&a, true);
	history_open(&b, true);
	history_add(&a, "first of a");
	history_add(&b, "first of b");
	history_close(&a);
	history_open(&a, true);
	CHECK_INT(a.count, 2);
	CHECK_STR(a.lines[1], "first of b");
	path = xstrdup(a.path);
	CHECK(!stat(path, &st) && (st.st_mode & 0777) == 0600);
	for (int i = 0; i < 3000; i++) {
		snprintf(line, sizeof(line), "line %d", i);
		history_add(i & 1 ? &a : &b, line);
	}
	history_close(&a);
	history_close(&b);
	history_open(&a, true);
	CHECK_INT(a.count, HISTORY_MOST);
	CHECK_STR(a.lines[HISTORY_MOST - 1], "line 2999");
	CHECK_STR(a.lines[0], "line 2000");
	CHECK(!stat(path, &st) && st.st_size < 20000);
	history_close(&a);
	free(path);
}

/* What cannot be a history is left alone and is no trouble. */
TEST(history_that_cannot_be)
{
	static const char bytes[] = "good\n\0bad\n\n\xff\xfe\ngood too";
	struct history h;
	char *path;
	int fd;

	use_state("odd");
	history_open(&h, true);
	path = xstrdup(h.path);
	history_close(&h);
	fd = open(path, O_WRONLY | O_TRUNC);
	CHECK(write(fd, bytes, sizeof(bytes) - 1) == (ssize_t)sizeof(bytes) - 1);
	close(fd);
	history_open(&h, true);
	CHECK_INT(h.count, 3);
	CHECK_STR(h.lines[2], "good too");
	history_close(&h);
	CHECK(!unlink(path) && !mkfifo(path, 0600));
	history_open(&h, true);
	history_add(&h, "of this run");
	CHECK_INT(h.count, 1);
	history_close(&h);
	CHECK(!unlink(path) && !mkdir(path, 0700));
	history_open(&h, true);
	history_add(&h, "of this run");
	CHECK_INT(h.count, 1);
	history_close(&h);
	setenv("XDG_STATE_HOME", "/dev/null", 1);
	history_open(&h, true);
	history_add(&h, "of this run");
	CHECK_INT(h.count, 1);
	history_close(&h);
	free(path);
}
