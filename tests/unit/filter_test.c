/* SPDX-License-Identifier: MIT */
/* The filter language against an oracle that keeps the tree it wrote the text from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/filter/filter.h"
#include "model/query/query.h"
#include "tests/unit/test.h"

/* ---- rows ---- */

struct row {
	const char *name, *raw_name, *op;	/* NULL: unknown */
	int64_t dur_ns, bytes, rate, share, count, status;	/* -1: unknown, but status */
	int kind, dir;				/* -1: unknown */
	int failed, pinned;			/* -1: unknown */
	uint64_t later;				/* fields that are not looked at yet */
};

static enum filter_known number(struct filter_value *value, int64_t n)
{
	return n < 0 ? FILTER_UNKNOWN : filter_number(value, n);
}

static enum filter_known get(const void *arg, enum filter_field field, struct filter_value *value)
{
	const struct row *row = arg;

	if (row->later >> field & 1)
		return FILTER_LATER;
	switch (field) {
	case FILTER_BY_NAME: return filter_words(value, row->name, row->raw_name);
	case FILTER_BY_OP: return filter_words(value, row->op, NULL);
	case FILTER_BY_DUR: return number(value, row->dur_ns);
	case FILTER_BY_BYTES: return number(value, row->bytes);
	case FILTER_BY_RATE: return number(value, row->rate);
	case FILTER_BY_SHARE: return number(value, row->share);
	case FILTER_BY_COUNT: return number(value, row->count);
	case FILTER_BY_STATUS: return filter_number(value, row->status);
	case FILTER_BY_KIND: return number(value, row->kind);
	case FILTER_BY_DIR: return number(value, row->dir);
	case FILTER_BY_FAILED: return number(value, row->failed);
	case FILTER_BY_PINNED: return number(value, row->pinned);
	default: return FILTER_UNKNOWN;
	}
}

static const struct row conv = {
	.name = "conv2d_fprop", .raw_name = "_Z5conv2d_fpropIfE", .op = "model/conv2d_1/Conv2D",
	.dur_ns = 1500000, .bytes = -1, .rate = -1, .share = 50000, .count = 318, .status = 0,
	.kind = FILTER_KERNEL, .dir = -1, .failed = 0, .pinned = -1,
};
static const struct row copy = {
	.name = "h2d", .dur_ns = 4100000, .bytes = 64 << 20, .rate = 12500000000, .share = -1,
	.count = -1, .status = -5, .kind = FILTER_COPY, .dir = DIR_H2D, .failed = 1, .pinned = 1,
};

static bool says(const struct filter_names *names, const char *text, const struct row *row)
{
	char error[FILTER_ERROR_MAX];
	struct filter *filter = filter_parse(text, names, error, sizeof(error));
	bool yes;

	if (!filter)
		test_fail(__FILE__, __LINE__, "'%s': %s", text, error);
	yes = filter_match(filter, get, row);
	CHECK_STR(filter_text(filter), text);
	filter_free(filter);
	return yes;
}

#define YES(text, row) CHECK(says(NULL, text, row))
#define NO(text, row) CHECK(!says(NULL, text, row))

TEST(filter_compares)
{
	YES("dur > 1ms", &conv);
	YES("dur>=1500us", &conv);
	YES("dur = 1.5ms", &conv);
	YES("dur == 1.5ms", &conv);
	NO("dur != 1500000ns", &conv);
	NO("dur < 1500us", &conv);
	YES("dur <= 1500µs", &conv);
	YES("dur in [1ms,1.5ms]", &conv);
	NO("dur in [1ms, 1500us)", &conv);
	NO("dur in (1500us,2ms)", &conv);
	YES("dur in (1499us , 2ms)", &conv);
	YES("dur > 0", &conv);
	YES("bytes = 64M", &copy);
	YES("bytes > 65535k", &copy);
	YES("rate > 12.4G/s & rate < 12501MB/s", &copy);
	YES("share >= 5% and share < 5.1%", &conv);
	YES("count = 318", &conv);
	YES("count < 1k", &conv);
	YES("status = -5", &copy);
	YES("status < 0", &copy);
	NO("status < 0", &conv);
}

TEST(filter_knows_words)
{
	YES("kernel", &conv);
	NO("copy", &conv);
	YES("kind = kernel", &conv);
	YES("kind != copy", &conv);
	YES("h2d", &copy);
	YES("dir = h2d", &copy);
	YES("dir != d2h", &copy);
	NO("d2h", &copy);
	YES("failed & pinned", &copy);
	YES("!failed", &conv);
	NO("op", &conv);
	YES("op ~ conv", &conv);
}

TEST(filter_matches_texts)
{
	YES("name = conv2d_fprop", &conv);
	YES("name = _Z5conv2d_fpropIfE", &conv);
	NO("name = conv2d", &conv);
	YES("name != conv2d", &conv);
	YES("name ~ /conv/", &conv);
	YES("name ~ /CONV/i", &conv);
	NO("name ~ /CONV/", &conv);
	YES("name ~ /fpropi/", &conv);		/* smart case, the full name */
	YES("name ~ ^conv", &conv);
	YES("op ~ /conv2d_1\\/Conv2D$/", &conv);
	YES("op = model/conv2d_1/Conv2D", &conv);
	YES("op = \"model/conv2d_1/Conv2D\"", &conv);
	YES("op ~ 'conv2d_1/Conv'", &conv);
	NO("name !~ /conv/", &conv);
	YES("name !~ /gemm/&dur>1ms", &conv);
	YES("name ~ /a|v/ | failed", &conv);
}

TEST(filter_what_is_unknown_is_no)
{
	NO("bytes > 0", &conv);
	NO("bytes != 5", &conv);
	YES("!(bytes = 5)", &conv);
	YES("not bytes > 5", &conv);
	NO("op ~ /x/", &copy);
	NO("op !~ /x/", &copy);
	YES("!(op ~ /x/)", &copy);
	NO("pinned", &conv);
	YES("!pinned", &conv);
}

TEST(filter_and_binds_more_than_or)
{
	YES("kernel | copy & failed", &conv);
	NO("(kernel | copy) & failed", &conv);
	YES("kernel || copy && failed", &conv);
	YES("kernel or copy and failed", &conv);
	YES("!copy & kernel", &conv);
	NO("!(copy | kernel)", &conv);
	YES("!!kernel", &conv);
	YES("((((kernel))))", &conv);
	YES("not not kernel", &conv);
}

static void wrong(const char *text, const char *why)
{
	char error[FILTER_ERROR_MAX] = "";
	struct filter *filter = filter_parse(text, NULL, error, sizeof(error));

	if (filter)
		test_fail(__FILE__, __LINE__, "'%s' was understood", text);
	CHECK_STR(error, why);
}

TEST(filter_errors_say_where_and_what)
{
	wrong("kernel & dur > 1 ms", "at 16: 'dur' is a time, not '1'; without a space: 1ms");
	wrong("dur > 5", "at 7: 'dur' is a time, not '5'; a unit is missing: 5s, 5ms, 5us");
	wrong("dur > long", "at 7: 'dur' is a time, not 'long'; write e.g. 1ms");
	wrong("dur >", "at 6: 'dur' is a time: write e.g. 1ms");
	wrong("share > 5", "at 9: 'share' is a share, not '5'; a unit is missing: 5%");
	wrong("rate > 10G", "at 8: 'rate' is a rate, not '10G'; write e.g. 10G/s");
	wrong("bytes > 1ms", "at 9: 'bytes' is a size, not '1ms'; write e.g. 64M");
	wrong("count > 1.5x", "at 9: 'count' is a number, not '1.5x'; write e.g. 12");
	wrong("dur ~ /1/", "at 5: 'dur' is a time: use = != < <= > >= in");
	wrong("name > x", "at 6: 'name' is text: use = != ~ !~");
	wrong("name = /conv/", "at 8: a regular expression needs ~: name ~ /conv/");
	wrong("kind > copy", "at 6: 'kind' is a kind: use = !=");
	wrong("kind = kernal", "at 8: 'kernal' is not a kind; there are: kernel, copy, fill, op, "
	      "range, wait, compile, graph, step, marker");
	wrong("dir = up", "at 7: 'up' is not a direction; there are: h2d, d2h, d2d, p2p, h2h, "
	      "fill, map, unmap, send, recv");
	wrong("failed = yes", "at 8: 'failed' is a flag: write failed or !failed");
	wrong("dru > 1ms", "at 1: no field 'dru', did you mean 'dur'");
	wrong("kernl", "at 1: no field, kind, flag or filter 'kernl', did you mean 'kernel'");
	wrong("qqqqqq", "at 1: no field, kind, flag or filter 'qqqqqq'; 'help filter' lists them");
	wrong("@slow", "at 1: no filter '@slow'; 'help filter' lists them");
	wrong("kernel &", "at 9: a test is missing: e.g. dur > 1ms");
	wrong("", "at 1: a test is missing: e.g. dur > 1ms");
	wrong("kernel & | copy", "at 10: a test is missing before '|': e.g. dur > 1ms");
	wrong("kernel dur > 1ms", "at 8: '&' or '|' is missing before 'dur'");
	wrong("(kernel", "at 1: '(' is not closed");
	wrong("kernel)", "at 7: ')' without '('");
	wrong("(kernel copy)", "at 9: '&', '|' or ')' is missing before 'copy'");
	wrong("dur", "at 1: 'dur' needs a comparison: dur > 1ms");
	wrong("name", "at 1: 'name' needs a comparison: name ~ /conv/");
	wrong("name ~ /conv", "at 8: the closing / of the regular expression is missing");
	wrong("name ~ /conv/x", "at 14: only i may follow a regular expression; write \\/ for a / "
	      "in it");
	wrong("name ~ /(/", "at 8: not a regular expression: '(': Unmatched ( or \\(");
	wrong("name = 'a", "at 8: the closing ' is missing");
	wrong("name =", "at 7: text is missing");
	wrong("dur in 1ms", "at 8: an interval is missing: dur in [1ms,1ms)");
	wrong("dur in [1ms 2ms]", "at 13: a comma is missing in the interval");
	wrong("dur in [1ms,2ms", "at 16: the interval is not closed: ] includes its end, ) does "
		       "not");
	wrong("dur in [2ms,1ms]", "at 8: that interval is empty");
	wrong("name in [1,2]", "at 6: 'name' is text: use = != ~ !~");
	wrong("name = \xc3\xa4 dur",
	      "at 10: '&' or '|' is missing before 'dur'"); /* columns, no bytes */
}

TEST(filter_limits_what_it_takes)
{
	char text[FILTER_TEXT_MAX + 40], error[FILTER_ERROR_MAX];
	struct strbuf deep;

	memset(text, ' ', sizeof(text));
	memcpy(text, "kernel", 6);
	text[FILTER_TEXT_MAX] = '\0';
	YES(text, &conv);
	text[FILTER_TEXT_MAX] = ' ';
	text[FILTER_TEXT_MAX + 1] = '\0';
	wrong(text, "at 1001: the filter is longer than 1000 bytes");
	strbuf_init(&deep);
	for (unsigned i = 0; i < FILTER_DEPTH_MAX + 1; i++)
		strbuf_adds(&deep, "(");
	CHECK(!filter_parse(deep.data, NULL, error, sizeof(error)));
	CHECK(strstr(error, "nested more than 40 deep"));
	strbuf_reset(&deep);
	for (unsigned i = 0; i < FILTER_NODES_MAX; i++)
		strbuf_adds(&deep, i ? "|op" : "op");
	CHECK(!filter_parse(deep.data, NULL, error, sizeof(error)));
	CHECK(strstr(error, "more than 128 tests"));
	strbuf_release(&deep);
}

/* ---- names ---- */

static bool set(struct filter_names *names, const char *name, const char *text, const char *why)
{
	char error[FILTER_ERROR_MAX] = "";
	bool done = filter_names_set(names, name, text, error, sizeof(error));

	CHECK_STR(error, why ? why : "");
	return done;
}

TEST(filter_names_are_used)
{
	struct filter_names *names = filter_names_new();
	char error[FILTER_ERROR_MAX];
	const char *text;

	CHECK(set(names, "slow", "dur > 1ms", NULL));
	CHECK(set(names, "convs", "slow & name ~ /conv/", NULL));
	CHECK(says(names, "convs", &conv));
	CHECK(says(names, "@convs & kernel", &conv));
	CHECK(!says(names, "@convs", &copy));
	CHECK(set(names, "slow", "dur > 1s", NULL));
	CHECK(!says(names, "convs", &conv));
	CHECK_INT(filter_names_count(names), 2);
	CHECK_STR(filter_names_at(names, 0, &text), "convs");
	CHECK_STR(text, "slow & name ~ /conv/");
	CHECK(!filter_names_at(names, 2, NULL));
	CHECK(!filter_names_remove(names, "slow", error, sizeof(error)));
	CHECK_STR(error, "filter 'convs' uses 'slow'");
	CHECK(!filter_names_remove(names, "conv", error, sizeof(error)));
	CHECK_STR(error, "no filter 'conv', did you mean 'convs'");
	CHECK(filter_names_remove(names, "convs", error, sizeof(error)));
	CHECK(filter_names_remove(names, "slow", error, sizeof(error)));
	CHECK_INT(filter_names_count(names), 0);
	filter_names_free(names);
}

TEST(filter_names_refuse_circles)
{
	struct filter_names *names = filter_names_new();

	CHECK(!set(names, "a", "a & kernel", "at 1: 'a' would contain itself"));
	CHECK_INT(filter_names_count(names), 0);
	CHECK(set(names, "a", "kernel", NULL));
	CHECK(set(names, "b", "@a | copy", NULL));
	CHECK(set(names, "c", "b & failed", NULL));
	CHECK(!set(names, "a", "op | c", "in 'b' at 2: 'a' would contain itself"));
	CHECK(!set(names, "a", "dru > 1", "at 1: no field 'dru', did you mean 'dur'"));
	CHECK_STR(filter_names_find(names, "a"), "kernel");
	CHECK(says(names, "a", &conv));
	CHECK(!set(names, "kernel", "op", "'kernel' is already a word of the filter language"));
	CHECK(!set(names, "in", "op", "'in' is already a word of the filter language"));
	CHECK(!set(names, "5x", "op", "'5x' cannot name a filter: use a letter, then letters, "
		   "digits, _ and -, at most 31"));
	filter_names_free(names);
}

TEST(filter_names_do_not_explode)
{
	struct filter_names *names = filter_names_new();
	char name[8], text[32], error[FILTER_ERROR_MAX];
	unsigned i;

	CHECK(set(names, "n0", "kernel", NULL));
	for (i = 1; i < 40; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		snprintf(text, sizeof(text), "n%u & n%u", i - 1, i - 1);
		if (!filter_names_set(names, name, text, error, sizeof(error)))
			break;
	}
	CHECK_INT(i, 8);	/* 2^8 tests are too many */
	CHECK(strstr(error, "more than 128 tests"));
	filter_names_free(names);
}

/* ---- against the oracle ---- */

struct tree {
	char is;			/* & | ! t: a test */
	int left, right;
	enum filter_field field;
	int op;				/* of ops below */
	int64_t value;
	const char *text;
};

static struct tree trees[64];
static int n_trees;
static const char *const ops[] = { "=", "!=", "<", "<=", ">", ">=", "~", "!~" };
static const char *const texts[] = { "conv", "gemm", "model/a", "relu" };
static const enum filter_field numbers[] = {
	FILTER_BY_DUR, FILTER_BY_BYTES, FILTER_BY_COUNT, FILTER_BY_STATUS,
};

static int below(int n)
{
	return (int)(test_random() % (uint64_t)n);
}

static int grow_tree(int depth)
{
	int at = n_trees++;
	struct tree t = { .is = depth && below(3) ? "&|!"[below(3)] : 't' };

	if (t.is == 't') {
		if (below(3)) {
			t.field = numbers[below(4)];
			t.op = below(6);
			t.value = below(6);
		} else {
			t.field = below(2) ? FILTER_BY_NAME : FILTER_BY_OP;
			t.op = below(2) ? below(2) : 6 + below(2);
			t.text = texts[below(4)];
		}
	} else {
		t.left = grow_tree(depth - 1);
		t.right = t.is == '!' ? 0 : grow_tree(depth - 1);
	}
	trees[at] = t;
	return at;
}

static void write_tree(struct strbuf *out, int at)
{
	static const char *const blanks[] = { " ", "  ", "\t" };
	const struct tree *t = &trees[at];

	if (t->is == 't') {
		strbuf_addf(out, "%s %s ", filter_fields[t->field].name, ops[t->op]);
		if (t->text)
			strbuf_addf(out, t->op < 6 && below(2) ? "'%s'" : "%s", t->text);
		else if (t->field == FILTER_BY_DUR)
			strbuf_addf(out, "%lldus", (long long)t->value);
		else if (t->field == FILTER_BY_BYTES)
			strbuf_addf(out, "%lldk", (long long)t->value);
		else
			strbuf_addf(out, "%lld", (long long)t->value);
		return;
	}
	if (t->is == '!') {
		strbuf_adds(out, below(2) ? "!(" : "not (");
		write_tree(out, t->left);
		strbuf_adds(out, ")");
		return;
	}
	strbuf_adds(out, "(");
	write_tree(out, t->left);
	strbuf_addf(out, "%s%s%s", blanks[below(3)], t->is == '&' ? below(2) ? "&" : "and" :
		    below(2) ? "||" : "or", blanks[below(3)]);
	write_tree(out, t->right);
	strbuf_adds(out, ")");
}

static bool number_is(const struct tree *t, int64_t is)
{
	int64_t wanted = t->field == FILTER_BY_DUR ? t->value * 1000 :
			 t->field == FILTER_BY_BYTES ? t->value * 1024 : t->value;

	switch (t->op) {
	case 0: return is == wanted;
	case 1: return is != wanted;
	case 2: return is < wanted;
	case 3: return is <= wanted;
	case 4: return is > wanted;
	default: return is >= wanted;
	}
}

static bool text_is(const struct tree *t, const char *a, const char *b)
{
	bool same = (a && !strcmp(a, t->text)) || (b && !strcmp(b, t->text));
	bool like = (a && strstr(a, t->text)) || (b && strstr(b, t->text));

	if (!a && !b)
		return false;
	return t->op == 0 ? same : t->op == 1 ? !same : t->op == 6 ? like : !like;
}

/* 0 no, 1 yes, 2: not known yet. */
static int judge(int at, const struct row *row)
{
	const struct tree *t = &trees[at];
	int left, right;

	if (t->is == 't') {
		if (row->later >> t->field & 1)
			return 2;
		switch (t->field) {
		case FILTER_BY_NAME: return text_is(t, row->name, row->raw_name);
		case FILTER_BY_OP: return text_is(t, row->op, NULL);
		case FILTER_BY_DUR: return row->dur_ns >= 0 && number_is(t, row->dur_ns);
		case FILTER_BY_BYTES: return row->bytes >= 0 && number_is(t, row->bytes);
		case FILTER_BY_COUNT: return row->count >= 0 && number_is(t, row->count);
		default: return number_is(t, row->status);
		}
	}
	left = judge(t->left, row);
	if (t->is == '!')
		return left == 2 ? 2 : !left;
	right = judge(t->right, row);
	if (t->is == '&')
		return !left || !right ? 0 : left == 2 || right == 2 ? 2 : 1;
	return left == 1 || right == 1 ? 1 : left == 2 || right == 2 ? 2 : 0;
}

static const char *any_text(void)
{
	static const char *const more[] = {
		"conv", "gemm", "model/a", "relu", "xconvx", "model/ab"
	};
	int i = below(7);

	return i < 6 ? more[i] : NULL;
}

TEST(filter_says_what_the_oracle_says)
{
	static const int words[] = { FILTER_NO, FILTER_YES, FILTER_MAYBE };

	for (int round = 0; round < 4000; round++) {
		char error[FILTER_ERROR_MAX];
		struct filter *filter;
		struct strbuf text;
		int64_t least, most;
		int root;

		n_trees = 0;
		root = grow_tree(4);
		strbuf_init(&text);
		write_tree(&text, root);
		filter = filter_parse(text.data, NULL, error, sizeof(error));
		if (!filter)
			test_fail(__FILE__, __LINE__, "'%s': %s", text.data, error);
		for (int i = 0; i < 10; i++) {
			struct row row = {
				.name = any_text(), .raw_name = any_text(), .op = any_text(),
				.dur_ns = below(8) * 1000 - 1000, .bytes = below(8) * 1024 - 1024,
				.count = below(8) - 1, .status = below(8) - 1,
				.later = below(2) ? test_random() : 0,
			};

			row.dur_ns = row.dur_ns < 0 ? -1 : row.dur_ns;
			row.bytes = row.bytes < 0 ? -1 : row.bytes;
			if ((int)filter_ask(filter, get, &row) != words[judge(root, &row)])
				test_fail(__FILE__, __LINE__, "'%s'", text.data);
			filter_bounds(filter, FILTER_BY_DUR, &least, &most);
			if (filter_match(filter, get, &row) && !row.later &&
			    (row.dur_ns < 0 ? least != INT64_MIN || most != INT64_MAX :
			     row.dur_ns < least || row.dur_ns > most))
				test_fail(__FILE__, __LINE__, "bounds of '%s'", text.data);
		}
		filter_free(filter);
		strbuf_release(&text);
	}
}

static void bounds(const char *text, int64_t least, int64_t most)
{
	char error[FILTER_ERROR_MAX];
	struct filter *filter = filter_parse(text, NULL, error, sizeof(error));
	int64_t from, to;

	CHECK(filter != NULL);
	filter_bounds(filter, FILTER_BY_DUR, &from, &to);
	CHECK_INT(from, least);
	CHECK_INT(to, most);
	filter_free(filter);
}

TEST(filter_tells_its_bounds)
{
	bounds("dur > 1ms", 1000001, INT64_MAX);
	bounds("kernel & dur <= 1ms & dur > 10us & name ~ /x/", 10001, 1000000);
	bounds("dur > 1ms | kernel", INT64_MIN, INT64_MAX);
	bounds("dur in [1us,2us] | dur in [5us,6us]", 1000, 6000);
	bounds("!(dur > 1ms)", INT64_MIN, INT64_MAX);
	bounds("dur != 1ms", INT64_MIN, INT64_MAX);
	bounds("bytes > 1M", INT64_MIN, INT64_MAX);
}
