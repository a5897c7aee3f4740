/* SPDX-License-Identifier: MIT */
/* The command line: what is taken, what is refused and with which words. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/command.h"
#include "model/base/util.h"
#include "tests/unit/test.h"
#include "tui/options.h"
#include "tui/options_table.h"

static struct options options;
static char error[OPTIONS_ERROR_MAX];
static char *argv[32];

/* Words up to NULL, after "tftop". */
static enum options_result parse(const char *first, ...)
{
	static const char *const names[] = {
		"TFTOP_CONFIG", "TFTOP_PROBE", "TFTOP_LEVEL", "TFTOP_DEBUG", "NO_COLOR"
	};
	va_list words;
	int argc = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	argv[argc++] = (char *)"tftop";
	va_start(words, first);
	for (const char *word = first; word && argc < 31; word = va_arg(words, const char *))
		argv[argc++] = (char *)word;
	va_end(words);
	argv[argc] = NULL;
	return options_parse(&options, argc, argv, error);
}

#define PARSE(...) parse(__VA_ARGS__, NULL)
#define REFUSES(part, ...) do { \
	CHECK(PARSE(__VA_ARGS__) == OPTIONS_ERROR); \
	if (!strstr(error, part)) \
		CHECK_STR(error, part); \
	CHECK(!strchr(error, '\n')); \
} while (0)

TEST(options_program_after_two_dashes)
{
	CHECK(PARSE("--", "prog", "-b", "--json=x", "--") == OPTIONS_RUN);
	CHECK(options.program && !options_batch(&options) && !options.open_path);
	CHECK_STR(options.program[0], "prog");
	CHECK_STR(options.program[1], "-b");
	CHECK_STR(options.program[3], "--");
	CHECK(options.program[4] == NULL);
	CHECK(options.level == TFT_LEVEL_DEFAULT);
	CHECK(options.memory_limit_bytes == 512u << 20);
	CHECK(options.probes == NULL && options.columns == 0);
}

TEST(options_all_values)
{
	CHECK(PARSE("-bq", "--json=r.json", "-o", "dir", "--probe", "auto,-itt,+nvtx", "--level",
		    "full", "--memory-limit=2G", "--lossless", "--from-step", "3", "--steps=40",
		    "--for", "1.5s", "--ascii", "--color=16", "--no-config", "-v", "--", "p") ==
	      OPTIONS_RUN);
	CHECK(options.batch && options.quit && options.lossless && options.ascii);
	CHECK(options.verbose && options.no_config);
	CHECK_STR(options.json, "r.json");
	CHECK_STR(options.record_dir, "dir");
	CHECK_STR(options.probes, "auto,-itt,+nvtx");
	CHECK(options.level == TFT_LEVEL_FULL);
	CHECK(options.memory_limit_bytes == 2ull << 30);
	CHECK(options.from_step == 3 && options.steps == 40);
	CHECK(options.for_ns == 1500000000);
	CHECK(options.color == OPTIONS_COLOR_16);
	CHECK(PARSE("--headless", "--size", "80x24", "--script=f", "--", "p") == OPTIONS_RUN);
	CHECK(options.headless && options.columns == 80 && options.rows == 24);
	CHECK_STR(options.script, "f");
}

TEST(options_open_a_folder)
{
	CHECK(PARSE("/", "-b") == OPTIONS_RUN);
	CHECK_STR(options.open_path, "/");
	CHECK(!options.program && options.batch);
}

TEST(options_json_needs_the_equals_sign)
{
	REFUSES("--json=FILE", "--json", "out", "--", "p");
	REFUSES("--json=FILE", "--json=", "--", "p");
	CHECK(PARSE("--json=-", "--", "p") == OPTIONS_RUN);
	CHECK(options_batch(&options) && !options.batch);
}

TEST(options_refuse_wrong_values_and_say_the_right_ones)
{
	REFUSES("off, min, default or full", "--level", "high", "--", "p");
	REFUSES("not a probe", "--probe", "foo", "--", "p");
	REFUSES("not a probe", "--probe", "opencl,", "--", "p");
	REFUSES("this version has no probe", "--probe", "opencl,hsa", "--", "p");
	REFUSES("1, 2, 3", "--steps", "0", "--", "p");
	REFUSES("1, 2, 3", "--steps", "-4", "--", "p");
	REFUSES("1, 2, 3", "--from-step", "99999999999999999999", "--", "p");
	REFUSES("not a time", "--for", "5 parsecs", "--", "p");
	REFUSES("not a size", "--memory-limit", "much", "--", "p");
	REFUSES("16M or more", "--memory-limit", "1k", "--", "p");
	REFUSES("WxH", "--headless", "--size", "80", "--", "p");
	REFUSES("WxH", "--headless", "--size", "80x24x2", "--", "p");
	REFUSES("WxH", "--headless", "--size", "0x24", "--", "p");
	REFUSES("auto, never, 16 or 256", "--color", "many", "--", "p");
	REFUSES("'solarized' is not a theme: --theme takes dark", "--theme", "solarized", "--",
		"p");
	REFUSES("needs a name", "-o", "", "--", "p");
}

TEST(options_export)
{
	CHECK(PARSE("--export", "chrome,memory:a:b", "--export=csv:ops:t.csv", "/") == OPTIONS_RUN);
	CHECK_INT(options.n_exports, 2);
	CHECK_STR(options.exports[0].path, "a:b");
	CHECK(options.exports[0].kind.memory && options.exports[0].kind.dataflow);
	CHECK_STR(options.exports[1].path, "t.csv");
	CHECK_STR(options.exports[1].kind.table, "ops");
	CHECK(options_batch(&options));
	CHECK(PARSE("--export", "dot:g", "--", "p") == OPTIONS_RUN && !options_batch(&options));
	CHECK(PARSE("--export", "dot:g", "--script", "s", "/") == OPTIONS_RUN);
	CHECK(!options_batch(&options));
	REFUSES("FORMAT:FILE", "--export", "chrome", "--", "p");
	REFUSES("FORMAT:FILE", "--export", "chrome:", "--", "p");
	REFUSES("FORMAT:FILE", "--export", "csv:ops", "--", "p");
	REFUSES("cannot go to standard output", "--export", "csv:ops:-", "--", "p");
	REFUSES("one of ops", "--export", "csv:x:f", "--", "p");
	REFUSES("use chrome", "--export", "svg:f", "--", "p");
}

TEST(options_refuse_unknown_ones)
{
	REFUSES("did you mean '--batch'", "--bathc", "--", "p");
	REFUSES("did you mean '--level'", "--levle", "full", "--", "p");
	REFUSES("'tftop --help'", "--completely-different", "--", "p");
	REFUSES("unknown option '-x'", "-x", "--", "p");
	REFUSES("unknown option '-x'", "-bx", "--", "p");
	REFUSES("-o needs a value", "-b", "-o");
	REFUSES("--until needs a program", "--until=kernel", "/");
}

TEST(options_refuse_what_a_later_version_brings)
{
	static const char *const later[] = {
		"--live=net://h",
	};

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		REFUSES("not in this version", later[i]);
}

TEST(options_join_takes_a_pid_or_none)
{
	CHECK(PARSE("--join") == OPTIONS_RUN);
	CHECK(options.join && !options.n_pids);
	CHECK(PARSE("-b", "--join", "4711") == OPTIONS_RUN);
	CHECK(options.join && options.n_pids == 1 && options.pids[0] == 4711);
	REFUSES("'x' is not a PID: --join takes", "--join", "x");
	CHECK(PARSE("-b", "--join", "--", "p", "--join") == OPTIONS_RUN);
	CHECK(options.stay && !options.join && options.program);
	CHECK(PARSE("-b", "--", "p", "--join") == OPTIONS_RUN);
	CHECK(!options.stay && !options.join);
	REFUSES("--join takes one PID, none, or a program", "--join", "1", "2");
	REFUSES("--join takes one PID, none, or a program", "--join", "-p", "1");
	REFUSES("--join takes one PID, none, or a program", "--join", "1", "--", "p");
}

TEST(options_trigger_is_a_call_or_a_range)
{
	static char name[2 * TFT_TRIGGER_TEXT] = "range:";

	CHECK(PARSE("--trigger", "cuda-profiler", "--", "p") == OPTIONS_RUN);
	CHECK(options.trigger == TFT_TRIGGER_PROFILER);
	CHECK(PARSE("--trigger=range:a b", "-p", "1") == OPTIONS_RUN);
	CHECK(options.trigger == TFT_TRIGGER_RANGE);
	CHECK_STR(options.range.name, "a b");
	CHECK_STR(options.range.domain, "");
	CHECK(PARSE("--trigger", "range:me@home@dom", "--", "p") == OPTIONS_RUN);
	CHECK_STR(options.range.name, "me@home");
	CHECK_STR(options.range.domain, "dom");
	CHECK(PARSE("--trigger", "range:me@home@", "--", "p") == OPTIONS_RUN);
	CHECK_STR(options.range.name, "me@home");
	CHECK_STR(options.range.domain, "");
	REFUSES("'nvtx' is not a trigger: --trigger takes", "--trigger", "nvtx", "--", "p");
	REFUSES("'range:' is not a trigger", "--trigger", "range:", "--", "p");
	REFUSES("'range:@d' is not a trigger", "--trigger", "range:@d", "--", "p");
	memset(name + strlen(name), 'x', TFT_TRIGGER_TEXT);
	REFUSES("a name of at most 255 bytes", "--trigger", name, "--", "p");
	REFUSES("--trigger needs a program", "--trigger", "range:a", "--check");
	REFUSES("--trigger needs a program", "--trigger", "range:a", "--join");
	REFUSES("--trigger raises the level", "--trigger", "range:a", "--level", "off", "--", "p");
}

TEST(options_control_takes_a_pid_and_a_level)
{
	CHECK(PARSE("--control", "4711", "level=off") == OPTIONS_RUN);
	CHECK(options.control == 4711 && options.level == TFT_LEVEL_OFF);
	REFUSES("'x' is not a PID: --control takes", "--control", "x", "level=off");
	CHECK(PARSE("--control", "4711", "budget=0") == OPTIONS_RUN);
	CHECK(options.control_budget);
	REFUSES("'x' is not a budget: budget takes", "--control", "4711", "budget=x");
	REFUSES("'most' is not a level", "--control", "4711", "level=most");
	REFUSES("a PID and a level or a budget", "--control", "4711");
	REFUSES("a PID and a level or a budget", "--control", "4711", "off");
	REFUSES("a PID and a level or a budget", "--control", "4711", "level=off",
		"level=min");
	REFUSES("a PID and a level or a budget", "--control", "4711", "-b", "level=off");
	REFUSES("a PID and a level or a budget", "--control", "4711", "level=off", "--",
		"p");
}

TEST(options_check_looks_at_one_process_or_none)
{
	char *words[] = { (char *)"tftop", (char *)"--check", (char *)"-p", (char *)"4711", NULL };

	CHECK(options_parse(&options, 2, words, error) == OPTIONS_RUN);
	CHECK(options.check && !options.n_attach);
	CHECK(options_parse(&options, 4, words, error) == OPTIONS_RUN);
	CHECK(options.check && options.n_attach == 1 && !strcmp(options.attach[0], "4711"));
	words[1] = (char *)"-b";
	CHECK(options_parse(&options, 4, words, error) == OPTIONS_RUN);
	CHECK(!options.check && options.n_attach == 1 && !options.program && !options.open_path);
	REFUSES("starts and opens nothing else", "-p", "4711", "--", "p");
	REFUSES("starts and opens nothing else", "-p", "4711", "/");
	REFUSES("-p needs a value", "--check", "-p");
	REFUSES("'' is not a PID", "--check", "-p", "");
	REFUSES("'0' is not a PID", "--check", "-p", "0");
	REFUSES("'-3' is not a PID", "--check", "-p", "-3");
	REFUSES("'12 ' is not a PID", "--check", "-p", "12 ");
	REFUSES("'2147483648' is not a PID", "--check", "-p", "2147483648");
	CHECK(PARSE("--children", "-p", "1", "-p", "train.py") == OPTIONS_RUN);
	CHECK(options.children && options.n_attach == 2 && !strcmp(options.attach[1], "train.py"));
	REFUSES("--children needs -p", "--children", "--", "p");
	REFUSES("--check starts nothing", "--check", "/");
	REFUSES("--check starts nothing", "--check", "-b");
	REFUSES("--check starts nothing", "--check", "--", "p");
	REFUSES("--check starts nothing", "--check", "-o", "d");
	REFUSES("--check takes no value", "--check=1");
}

TEST(options_refuse_what_does_not_go_together)
{
	REFUSES("nothing to run or open", "-b");
	REFUSES("no program after", "-b", "--");
	REFUSES("before '--'", "/", "--", "p");
	REFUSES("tftop -- ls", "ls", "stray");
	REFUSES("no such file", "/no/such/place");
	REFUSES("-o", "-o", "d", "/");
	REFUSES("--headless", "-b", "--headless", "--", "p");
	REFUSES("--script", "--json=f", "--script", "s", "--", "p");
	REFUSES("--headless", "--size", "80x24", "--", "p");
	REFUSES("exclude", "--no-config", "--config", "f", "--", "p");
}

TEST(options_environment)
{
	char *words[] = { (char *)"tftop", (char *)"--", (char *)"p", NULL };

	setenv("TFTOP_CONFIG", "rc", 1);
	setenv("TFTOP_PROBE", "nvtx", 1);
	setenv("TFTOP_LEVEL", "min", 1);
	setenv("TFTOP_DEBUG", "log", 1);
	setenv("NO_COLOR", "1", 1);
	CHECK(options_parse(&options, 3, words, error) == OPTIONS_RUN);
	CHECK_STR(options.config, "rc");
	CHECK_STR(options.probes, "nvtx");
	CHECK(options.level == TFT_LEVEL_MIN);
	CHECK_STR(options.debug, "log");
	CHECK(options.color == OPTIONS_COLOR_NEVER);
	setenv("TFTOP_LEVEL", "loud", 1);
	CHECK(options_parse(&options, 3, words, error) == OPTIONS_ERROR);
	CHECK(strstr(error, "TFTOP_LEVEL"));
}

/* What shells and the prompt offer is taken. */
TEST(options_take_the_words_of_their_table)
{
	char words[512], *save, *word;
	size_t n = 0;

	for (size_t i = 0; i < option_n_rows; i++)
		for (word = strtok_r((char *)option_words(&option_rows[i], words), " ", &save);
		     word; word = strtok_r(NULL, " ", &save)) {
			bool file = word[strlen(word) - 1] == ':';
			char *option =
				xasprintf("--%s=%s%s", option_rows[i].word, word, file ? "x" : "");

			if (parse(option, "--", "p", NULL) != OPTIONS_RUN)
				test_fail(__FILE__, __LINE__, "%s: %s", option, error);
			free(option);
			n++;
		}
	CHECK(n > 40);
}

/* keymap/ knows nothing of the model, so `export` says by itself which formats there are. */
TEST(options_command_export_names_the_formats)
{
	CHECK(strstr(command_table[COMMAND_ID_EXPORT].details, "\t" FOREIGN_FORMATS "\n"));
}

TEST(options_help_fits_a_screen)
{
	int lines = 0;
	size_t width = 0, widest = 0;

	for (const char *c = options_help(); *c; c++) {
		width = *c == '\n' ? 0 : width + 1;
		lines += *c == '\n';
		widest = width > widest ? width : widest;
	}
	CHECK(strstr(options_help(), "-p PID  --children ") != NULL);
	CHECK(lines <= 24);
	CHECK(widest <= 80);
}
