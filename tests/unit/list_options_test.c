/* SPDX-License-Identifier: MIT */
/* Flags of the lists: intervals, regular expressions, everything that can be wrong. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tui/lists/list_options.h"

static const struct list_flag flags[] = {
	{ 'n', "name_filter", LIST_REGEX, "name", NULL },
	{ 'e', "execution_time", LIST_TIMES, "dur", NULL },
	{ 'b', "bytes", LIST_SIZES, "bytes", NULL },
	{ 'k', "kind", LIST_WORD, "kind", "kernel copy fill" },
	{ 'a', "pageable", LIST_SWITCH, "pageable", NULL },
	{ 0, "min_lineno", LIST_NUMBER, "from line", NULL },
	LIST_FLAGS_COMMON,
};

static bool parse(int argc, const char *const *argv, struct list_options *options, char error[300])
{
	struct page_call call = {
		.argc = argc, .argv = argv, .error = error, .error_size = 300,
	};

	error[0] = '\0';
	return list_options_parse(&call, flags, sizeof(flags) / sizeof(flags[0]), 1, options);
}

#define PARSE(...) ({ \
	const char *const argv_[] = { "lx", __VA_ARGS__ }; \
	parse((int)(sizeof(argv_) / sizeof(argv_[0])), argv_, &options, error); \
})

#define WRONG(text, ...) do { \
	CHECK(!PARSE(__VA_ARGS__)); \
	CHECK_STR(error, text); \
} while (0)

TEST(list_intervals)
{
	static const struct {
		const char *text;
		bool sizes, good;
		int64_t least, most;
	} cases[] = {
		{ ">100us", false, true, 100001, INT64_MAX },
		{ ">=100us", false, true, 100000, INT64_MAX },
		{ "<1ms", false, true, INT64_MIN, 999999 },
		{ "<= 1ms", false, true, INT64_MIN, 1000000 },
		{ "[1ms,5ms]", false, true, 1000000, 5000000 },
		{ "(1ms, 5ms)", false, true, 1000001, 4999999 },
		{ "[1ms,)", false, true, 1000000, INT64_MAX },
		{ "(,5ms)", false, true, INT64_MIN, 4999999 },
		{ ">64k", true, true, 65537, INT64_MAX },
		{ "[4k,1M)", true, true, 4096, 1048575 },
		{ "[5ms,1ms]", false, false, 0, 0 },
		{ "(1ns,2ns)", false, false, 0, 0 },
		{ "[,]", false, false, 0, 0 },
		{ "[1ms]", false, false, 0, 0 },
		{ "[1ms,5ms", false, false, 0, 0 },
		{ "1ms", false, false, 0, 0 },
		{ ">", false, false, 0, 0 },
		{ "", false, false, 0, 0 },
		{ ">1x", false, false, 0, 0 },
		{ "[", false, false, 0, 0 },
		{ "(,", false, false, 0, 0 },
		{ ">64q", true, false, 0, 0 },
	};
	struct list_range range;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool good = list_range_parse(cases[i].text, cases[i].sizes, &range);

		CHECK_INT(good, cases[i].good);
		if (good) {
			CHECK_INT(range.least, cases[i].least);
			CHECK_INT(range.most, cases[i].most);
		}
	}
}

TEST(list_flags)
{
	struct list_options options;
	char error[300];

	CHECK(PARSE("conv", "-n", "/gemm|Conv/", "--execution_time=>1ms", "-a", "--min_lineno", "7",
		    "--kind", "copy", "-l", "20"));
	CHECK_STR(options.name, "conv");
	CHECK(list_matches(&options, 'n', "a gemm", NULL));
	CHECK(list_matches(&options, 'n', NULL, "Conv2D"));
	CHECK(!list_matches(&options, 'n', "conv", "convolution"));
	CHECK(!list_matches(&options, 'n', NULL, NULL));
	CHECK(list_within(&options, 'e', 1000001) && !list_within(&options, 'e', 1000000));
	CHECK(list_within(&options, 'b', 1));
	CHECK(list_given(&options, 'a') && !list_given(&options, 'b') &&
	      !list_given(&options, 'r'));
	CHECK_INT(list_given_word(&options, "min_lineno")->number, 7);
	CHECK_STR(list_given(&options, 'k')->text, "copy");
	CHECK_INT(list_limit(&options), 20);
	list_options_release(&options);

	CHECK(PARSE("-n", "conv"));
	CHECK(list_matches(&options, 'n', "CONV", NULL));
	CHECK_INT(list_limit(&options), LIST_LIMIT);
	list_options_release(&options);
}

TEST(list_flags_wrong)
{
	struct list_options options;
	char error[300];

	WRONG("no option '-x' of lx: it has -n -e -b -k -a --min_lineno -s -r -l", "-x");
	WRONG("no option '--na' of lx: it has -n -e -b -k -a --min_lineno -s -r -l", "--na");
	WRONG("no option '-nconv' of lx: it has -n -e -b -k -a --min_lineno -s -r -l", "-nconv");
	WRONG("'-n' wants a value: a regular expression", "-n");
	WRONG("-e wants an interval of time such as >100us, <=5ms or [1ms,5ms), not '1ms'", "-e", "1ms");
	WRONG("-b wants an interval of bytes such as >64k, <=1M or [64k,1M), not '>1ms'", "-b", ">1ms");
	WRONG("-k wants one of kernel copy fill, not 'cop'", "-k", "cop");
	WRONG("-k wants one of kernel copy fill, not ''", "-k", "");
	WRONG("--min_lineno wants a number, not '-3'", "--min_lineno", "-3");
	WRONG("-l wants a number, not '2k'", "-l", "2k");
	WRONG("-s wants a word, not ''", "-s", "");
	WRONG("-a is given twice", "-a", "-a");
	WRONG("--pageable is given twice", "-a", "--pageable");
	WRONG("--pageable=no takes no value", "--pageable=no");
	WRONG("one name only, not also 'b'", "a", "b");
	CHECK(!PARSE("-n", "a("));
	CHECK(!strncmp(error, "-n: not a regular expression: 'a(': ", 36));
	/* What came before the wrong one is given back. */
	CHECK(!PARSE("-n", "a", "-x"));
}

/* What a link means, and only that, is said as a name. */
TEST(list_regex_of_one_name)
{
	static const char *const names[] = {"", "x", "a.b(c)[d]*+?{e}|^$\\f", "/a b/train.py"};
	static const char *const others[] = { "",      "x",	"^x",	 "x$",
					      "^a.b$", "^a|b$", "^\\d$", "^a\\$" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *quoted = list_regex_quote(names[i]), *text = list_regex_literal(quoted);

		CHECK_STR(text, names[i]);
		free(quoted);
		free(text);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		CHECK(!list_regex_literal(others[i]));
}
