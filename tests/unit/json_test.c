/* SPDX-License-Identifier: MIT */
/* The JSON writer and reader. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tui/base/json.h"
#include "tui/base/json_read.h"

static char *text;
static size_t size;

static FILE *begin(struct json *json)
{
	FILE *out = open_memstream(&text, &size);

	json_init(json, out);
	return out;
}

static void end(struct json *json)
{
	json_finish(json);
	fclose(json->out);
}

TEST(json_writes_nested_values)
{
	struct json json;

	begin(&json);
	json_object(&json);
	json_key_string(&json, "name", "x");
	json_key_array(&json, "rows");
	json_object(&json);
	json_key_int(&json, "a", -1);
	json_key_uint(&json, "b", UINT64_MAX);
	json_end(&json);
	json_object(&json);
	json_end(&json);
	json_end(&json);
	json_key_array(&json, "none");
	json_end(&json);
	json_key_bool(&json, "yes", true);
	json_key(&json, "share");
	json_share(&json, 1, 8);
	json_end(&json);
	end(&json);
	CHECK_STR(text, "{\n  \"name\": \"x\",\n  \"rows\": [\n    {\"a\": -1, "
		  "\"b\": 18446744073709551615},\n    {}\n  ],\n  \"none\": [],\n"
		  "  \"yes\": true,\n  \"share\": 0.1250\n}\n");
	free(text);
}

static void written(const char *from, const char *to)
{
	struct json json;

	begin(&json);
	json_string(&json, from);
	end(&json);
	CHECK_STR(text, to);
	free(text);
}

TEST(json_escapes_strings)
{
	written("plain", "\"plain\"\n");
	written("a\"b\\c/d", "\"a\\\"b\\\\c/d\"\n");
	written("\n\t\r\x01\x1b\x7f", "\"\\n\\t\\r\\u0001\\u001b\\u007f\"\n");
	written("caf\xc3\xa9 \xf0\x9f\x98\x80", "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"\n");
	written("\xc2\x80\xc2\x9b[m\xc2\x9f\xc2\xa0", "\"\\u0080\\u009b[m\\u009f\xc2\xa0\"\n");
	/* Not UTF-8: stray, overlong, surrogate, too large, cut short. */
	written("\x80", "\"\xef\xbf\xbd\"\n");
	written("\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"\n");
	written("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n");
	written("\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n");
	written("x\xe2\x82", "\"x\xef\xbf\xbd\xef\xbf\xbd\"\n");
	written(NULL, "null\n");
}

static void shares(uint64_t part, uint64_t whole, const char *to)
{
	struct json json;

	begin(&json);
	json_share(&json, part, whole);
	end(&json);
	CHECK_STR(text, to);
	free(text);
}

TEST(json_shares_are_exact_decimals)
{
	shares(0, 0, "0.0000\n");
	shares(1, 3, "0.3333\n");
	shares(2, 1, "2.0000\n");
	shares(UINT64_MAX, UINT64_MAX, "1.0000\n");
	shares(1, UINT64_MAX, "0.0000\n");
}

/* What breaks the grammar ends the program: run it in a child. */
static bool aborts(void (*misuse)(struct json *json))
{
	int status = 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		struct json json;

		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		begin(&json);
		misuse(&json);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void two_roots(struct json *json)
{
	json_int(json, 1);
	json_int(json, 2);
}

static void value_without_key(struct json *json)
{
	json_object(json);
	json_int(json, 1);
}

static void key_in_array(struct json *json)
{
	json_array(json);
	json_key(json, "k");
}

static void key_without_value(struct json *json)
{
	json_object(json);
	json_key(json, "k");
	json_end(json);
}

static void one_end_too_many(struct json *json)
{
	json_array(json);
	json_end(json);
	json_end(json);
}

static void not_closed(struct json *json)
{
	json_array(json);
	json_finish(json);
}

static void good(struct json *json)
{
	json_array(json);
	json_end(json);
	json_finish(json);
}

TEST(json_cannot_be_misused)
{
	CHECK(!aborts(good));
	CHECK(aborts(two_roots));
	CHECK(aborts(value_without_key));
	CHECK(aborts(key_in_array));
	CHECK(aborts(key_without_value));
	CHECK(aborts(one_end_too_many));
	CHECK(aborts(not_closed));
}

TEST(json_reads_values)
{
	static const char in[] = " {\"i\": -12, \"t\": \"\\u00e9\\ud83d\\ude00\\n\", \"b\": true,"
				 "\"n\": null, \"f\": 1.5e3, \"a\": [1, [2], {}], \"i\": 3} ";
	struct json_node *tree = json_read(in, strlen(in));
	const struct json_node *array = json_get(tree, "a");

	CHECK(tree && tree->type == JSON_OBJECT);
	CHECK(json_get_int(tree, "i", 0) == -12);
	CHECK_STR(json_get_text(tree, "t", ""), "\xc3\xa9\xf0\x9f\x98\x80\n");
	CHECK(json_get_int(tree, "b", 0) == 1);
	CHECK(json_get(tree, "n")->type == JSON_NULL);
	CHECK(json_get(tree, "f")->type == JSON_OTHER);
	CHECK(json_get_int(tree, "f", -5) == -5);
	CHECK(json_get_int(tree, "none", 7) == 7);
	CHECK(array && array->child && array->child->number == 1);
	CHECK(array->child->next->type == JSON_ARRAY);
	json_free(tree);
}

TEST(json_refuses_what_is_none)
{
	static const char *const bad[] = {
		"",    " ",   "{",	    "[1,]",  "{\"a\"}",	   "{\"a\":}", "{a:1}",
		"01",  "1.",  "-",	    "\"x",   "\"\\x\"",	   "\"\n\"",   "[1] 2",
		"nul", "tru", "{\"a\":1,}", "[1 2]", "\"\\ud83\"", "+1",
	};
	char deep[200];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct json_node *tree = json_read(bad[i], strlen(bad[i]));

		if (tree)
			CHECK_STR(bad[i], "refused");
		json_free(tree);
	}
	memset(deep, '[', 100);
	memset(deep + 100, ']', 100);
	CHECK(!json_read(deep, 200));
}
