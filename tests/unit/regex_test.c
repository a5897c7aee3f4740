/* SPDX-License-Identifier: MIT */
/* Regular expressions as they are typed: what is refused before it takes all memory. */
#include <string.h>

#include "model/base/regex.h"
#include "tests/unit/test.h"

static bool made(const char *text, char *error)
{
	regex_t regex;
	bool good;

	good = regex_make(&regex, text, REGEX_SMART, error, 200);
	if (good)
		regfree(&regex);
	return good;
}

TEST(regex_takes_what_is_typed)
{
	static const char *const good[] = {
		"",
		"conv",
		"a|b+|(c+d)*",
		"[[:space:](+{]+",
		"[^]+]x",
		"a{3}{4}",
		"(a{30}){30}",
		"{",
		"^gpu[0-9]+ (h2d|d2h)?$",
		"a{,3}b",
		"\\(\\+\\{",
		"x+y+z+a+b+c+d+e+f+g+h+i+j+k+l+m+",
	};
	char error[200];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(made(good[i], error) || !strcmp(good[i], "{"));
}

TEST(regex_refuses_what_grows)
{
	static const char *const bad[] = {
		"(a{1,255}){1,255}",
		"(a{1,255}){1,255}{1,255}",
		"a{1000}{1000}",
		"a{1000}{1}{1000}",
		"((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+",
		"(a{100,}){100,}",
		"[]+]{3000}",
		"(x[)]{50}){50}",
		"a{99999999999999999999}",
		"((a{40}|b){60})",
		"(((a{2000})))+",
	};
	char error[200], deep[2 * 3000 + 2];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!made(bad[i], error) && strstr(error, "written out"));
	memset(deep, '(', 3000);
	deep[3000] = 'a';
	memset(deep + 3001, ')', 3000);
	deep[6001] = '\0';
	CHECK(!made(deep, error) && strstr(error, "written out"));
	CHECK(!made("(a)\\1", error) && strstr(error, "back reference"));
	CHECK(!made("a(", error) && strstr(error, "not a regular expression: 'a('"));
}

TEST(regex_case_is_smart)
{
	static const struct { const char *text; enum regex_how how; bool lower; } cases[] = {
		{ "conv", REGEX_SMART, true }, { "Conv", REGEX_SMART, false },
		{ "CONV", REGEX_FOLD, true }, { "conv", REGEX_PLACES, true },
		{ "C", REGEX_PLACES, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		regex_t regex;
		char error[200];

		CHECK(regex_make(&regex, cases[i].text, cases[i].how, error, sizeof(error)));
		CHECK(regex_matches(&regex, "a conv") == cases[i].lower);
		CHECK(!regex_matches(&regex, NULL));
		regfree(&regex);
	}
}
