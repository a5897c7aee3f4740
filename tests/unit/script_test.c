/* SPDX-License-Identifier: MIT */
/* Scripts, run by the whole program without a terminal on a made-up source. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/query/query.h"
#include "model/base/util.h"
#include "tests/unit/test.h"
#include "tui/options.h"
#include "tui/loop/script.h"
#include "tui/tui.h"

static char *read_text(const char *path)
{
	char *text = xcalloc(1, 65536);
	FILE *file = fopen(path, "r");

	CHECK(file);
	CHECK(fread(text, 1, 65535, file) < 65535);
	fclose(file);
	return text;
}

/* Runs the script; what it says on stderr goes into *said, which the caller
 * frees. Returns the exit status. */
static int run_script(const char *script, char **said)
{
	struct options options = {.synth = "1", .headless = true, .no_config = true,
				  .columns = 100, .rows = 30};
	struct model *model = model_new(NULL);
	int saved = dup(STDERR_FILENO), status;
	FILE *file;

	CHECK(chdir(test_folder()) == 0);
	file = fopen("script", "w");
	fputs(script, file);
	fclose(file);
	options.script = "script";
	fflush(stderr);
	CHECK(dup2(open("said", O_CREAT | O_TRUNC | O_WRONLY, 0600), STDERR_FILENO) >= 0);
	status = tui_run(&options, model, NULL);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	*said = read_text("said");
	unlink("screen");
	model_free(model);
	return status;
}

static bool ends(const char *script, int want, const char *sentence)
{
	char *said;
	int status = run_script(script, &said);
	bool good = status == want && (sentence[0] ? strstr(said, sentence) == said : !said[0]);

	if (!good)
		fprintf(stderr, "status %d, said: %.300s\n", status, said);
	free(said);
	return good;
}

TEST(script_that_is_right)
{
	CHECK(ends("", 0, ""));
	CHECK(ends("# nothing\n\n   \n", 0, ""));
	CHECK(ends("wait 1s\n:wait-kernels 10 5s\nassert-screen 'kernels'\nquit\nnonsense\n", 0,
		   ""));
	CHECK(ends("wait-step 3\nwait-settled\nwait-for 'queue 0' 1s\nq", 0, ""));
	CHECK(ends("wait-exit\nassert-screen train", 0, ""));
	CHECK(ends("key :set<Space>split=30<Enter>\nset split\nassert-screen 'split = 30'\n", 0,
		   ""));
	CHECK(ends("resize 80x24\nkey 2\nassert-screen '^ kernel +'\nkey q\nnonsense\n", 0, ""));
}

TEST(script_errors_have_their_line)
{
	CHECK(ends("wait 1s\n\nwaitt 1s\n", 125,
		   "script:3: unknown command 'waitt', did you mean 'wait'\n"));
	CHECK(ends("wait soon\n", 125, "script:1: not a time: 'soon'\n"));
	CHECK(ends("wait-kernels many\n", 125, "script:1: not a number: 'many'\n"));
	CHECK(ends("wait-kernels 1 later\n", 125, "script:1: not a time: 'later'\n"));
	CHECK(ends("key <Nope>\n", 125, "script:1: unknown key name '<Nope>'\n"));
	CHECK(ends("resize 0x5\n", 125, "script:1: not a size, WxH: '0x5'\n"));
	CHECK(ends("assert-screen '['\n", 125, "script:1: "));
	CHECK(ends("wait 'x\n", 125, "script:1: a quote is not closed\n"));
	CHECK(ends("save-screen /nonexistent/x\n", 125,
		   "script:1: cannot write '/nonexistent/x': "));
	CHECK(ends("goto\n", 125,
		   "script:1: missing arguments, usage: goto start|live|TIME|mark|step|gap "
		   "[WHICH]\n"));
	CHECK(ends("pane 10\n", 125, "script:1: no pane '10'\n"));
	CHECK(ends("fit selection\n", 125,
		   "script:1: no event is selected: , and . go from event to event\n"));
	CHECK(ends("level full\n", 125,
		   "script:1: tftop collects from no program: this is a recording\n"));
	CHECK(ends("set split = 3\n", 125, "script:1: out of range for 'split': '3' (20 to 80)\n"));
	CHECK(ends("source /nonexistent/rc\n", 125,
		   "script:1: cannot read the configuration '/nonexistent/rc'"));
	CHECK(ends("suspend\n", 125, "script:1: tftop has no terminal to give back\n"));
}

/* Panes and pages answer on the screen; in a script that ends it like any other error. */
TEST(script_commands_that_panes_refuse)
{
	CHECK(ends("wait 1s\npane ops\nwhere nope > 1\n", 125, "script:3: at 1: no field 'nope'"));
	CHECK(ends("wait 1s\nfind -w dur\n", 125, "script:2: at "));
	CHECK(ends("wait 1s\nfind conv(\n", 125, "script:2: not a regular expression: 'conv('"));
	CHECK(ends("wait 1s\nfind 'never there'\n", 125, "script:2: no event here is named like"));
	CHECK(ends("wait 1s\nrows sideways\n", 125, "script:2: rows does not take 'sideways'"));
	CHECK(ends("wait 1s\npane ops\nsort nope\n", 125, "script:3: no column 'nope'"));
	CHECK(ends("filter a = dur\n", 125, "script:1: at "));
	CHECK(ends("wait 1s\nlk -w 'dur >'\n", 125, "script:2: -w: at "));
	CHECK(ends("wait 1s\npk never\n", 125, "script:2: "));
	/* what a key says is on the screen, the same once more is wrong all the same */
	CHECK(ends("wait 1s\nkey :rows<Space>sideways<Enter>\nassert-screen sideways\nrows find "
		   "/never/\n",
		   125, "script:4: no row matches 'never'"));
}

TEST(script_waits_that_never_end_and_assertions)
{
	char *said;

	CHECK_INT(run_script("wait 1s\nwait-for 'never on it' 2s\n", &said), 124);
	CHECK(strstr(said, "script:2: timed out: 'wait-for 'never on it' 2s'\n") == said);
	CHECK(strstr(said, "1 ops"));		/* the screen is printed */
	free(said);
	CHECK_INT(run_script("wait 1s\nassert-screen '^never$'\n", &said), 1);
	CHECK(strstr(said, "script:2: the screen does not match: 'assert-screen ^never$'\n") ==
	      said);
	CHECK(strstr(said, "1 ops"));
	free(said);
	CHECK_INT(run_script("wait-kernels 100000000 3s\n", &said), 124);
	free(said);
	CHECK_INT(run_script("wait-step 100000000 3s\n", &said), 124);
	free(said);
}

static bool truncate_new(const char *path, off_t size)
{
	FILE *file = fopen(path, "w");

	return file && !fclose(file) && !truncate(path, size);
}

TEST(script_files_that_cannot_be_read)
{
	char error[256];

	CHECK(!script_open("/nonexistent/s", error, sizeof(error)) &&
	      strstr(error, "cannot read the script '/nonexistent/s'"));
	CHECK(!script_open("/tmp", error, sizeof(error)) &&
	      strstr(error, "'/tmp': it is a folder, not a file"));
	CHECK(!script_open("/dev/zero", error, sizeof(error)) &&
	      strstr(error, "'/dev/zero': it is a device, not a file"));
	CHECK(chdir(test_folder()) == 0 && !mkfifo("pipe", 0600));
	CHECK(!script_open("pipe", error, sizeof(error)) &&
	      strstr(error, "'pipe': it is a pipe, not a file"));
	unlink("pipe");
	CHECK(truncate_new("large", (1 << 20) + 1) && !script_open("large", error, sizeof(error)) &&
	      strstr(error, "too large for a script: 'large'"));
	CHECK(truncate_new("large", 1 << 20) && !script_open("large", error, sizeof(error)) &&
	      strstr(error, "'large' is not a text file"));
	unlink("large");
}

TEST(script_sizes)
{
	int w = 0, h = 0;

	CHECK(script_parse_size("1x1", &w, &h) && w == 1 && h == 1);
	CHECK(script_parse_size("1000X999", &w, &h) && w == 1000 && h == 999);
	CHECK(!script_parse_size("1001x5", &w, &h));
	CHECK(!script_parse_size("80x", &w, &h));
	CHECK(!script_parse_size("x24", &w, &h));
	CHECK(!script_parse_size("80x24x", &w, &h));
	CHECK(!script_parse_size("-5x10", &w, &h));
	CHECK(!script_parse_size("", &w, &h));
}
