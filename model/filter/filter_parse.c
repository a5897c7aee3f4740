/* SPDX-License-Identifier: MIT */
/* Turns text into a filter, by recursive descent; an error names its column. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/regex.h"
#include "model/base/util.h"
#include "model/filter/filter_read.h"

/* ---- nodes ---- */

static struct filter_node *add_node(struct filter_parser *p, enum node_is is, uint16_t *index)
{
	struct filter *filter = p->filter;

	if (filter->n == FILTER_NODES_MAX) {
		filter_fail(p, p->at, "more than %u tests in one filter", FILTER_NODES_MAX / 2);
		return NULL;
	}
	*index = (uint16_t)filter->n;
	filter->nodes[filter->n] = (struct filter_node) { .is = is };
	return &filter->nodes[filter->n++];
}

static bool add_pair(struct filter_parser *p, enum node_is is, uint16_t right, uint16_t *index)
{
	uint16_t left = *index;
	struct filter_node *node = add_node(p, is, index);

	if (!node)
		return false;
	node->left = left;
	node->right = right;
	return true;
}

static struct filter_node *add_test(struct filter_parser *p, enum node_is is,
				    enum filter_field field, uint16_t *index)
{
	struct filter_node *node = add_node(p, is, index);

	if (!node)
		return NULL;
	node->field = field;
	p->filter->asks |= UINT64_C(1) << field;
	return node;
}

static bool add_range(struct filter_parser *p, enum filter_field field, int64_t low, int64_t high,
		      bool differs, uint16_t *index)
{
	struct filter_node *node = add_test(p, NODE_RANGE, field, index);

	if (!node)
		return false;
	node->low = low;
	node->high = high;
	node->differs = differs;
	return true;
}

/* ---- tests ---- */

static bool parse_regex(struct filter_parser *p, enum filter_field field, bool differs,
			uint16_t *index)
{
	const char *start = p->at;
	bool fold = false, good;
	char why[160], *text = filter_read_regex(p, &fold);
	regex_t regex;
	struct filter_node *node;

	if (!text)
		return false;
	good = regex_make(&regex, text, fold ? REGEX_FOLD : REGEX_SMART, why, sizeof(why));
	free(text);
	if (!good)
		return filter_fail(p, start + strspn(start, " \t"), "%s", why);
	node = add_test(p, NODE_REGEX, field, index);
	if (!node) {
		regfree(&regex);
		return false;
	}
	node->regex = regex;
	node->differs = differs;
	return true;
}

static bool parse_same(struct filter_parser *p, enum filter_field field, bool differs,
		       uint16_t *index)
{
	const char *start;
	struct filter_node *node;
	size_t length;
	char *text;

	filter_skip_blanks(p);
	start = p->at;
	text = filter_read_text(p, "text");
	if (!text)
		return false;
	length = strlen(text);
	if (*start == '/' && length > 1 && text[length - 1] == '/') {
		free(text);
		return filter_fail(p, start, "a regular expression needs ~: %s %s %.*s",
				   filter_fields[field].name, differs ? "!~" : "~",
				   filter_shown_at(start), start);
	}
	node = add_test(p, NODE_SAME, field, index);
	if (!node) {
		free(text);
		return false;
	}
	node->text = text;
	node->differs = differs;
	return true;
}

/* Parses tests such as kind = copy, dir != h2d. */
static bool parse_word(struct filter_parser *p, enum filter_field field, bool differs,
		       uint16_t *index)
{
	bool kind = filter_fields[field].type == FILTER_KIND;
	const char *start;
	int value;
	size_t n;

	filter_skip_blanks(p);
	start = p->at;
	n = filter_word_length(start);
	value = kind ? filter_kind_by(start, n) : filter_direction_by(start, n);
	if (value < 0) {
		const char *all = strchr(filter_fields[field].help, ':');

		return filter_fail(p, start, "'%.*s' is not %s; there are: %s",
				   n ? filter_shown(start, n) : 0, start,
				   filter_type_name(filter_fields[field].type),
				   all ? all + 2 : filter_fields[field].help);
	}
	p->at += n;
	return add_range(p, field, value, value, differs, index);
}

static bool parse_interval(struct filter_parser *p, enum filter_field field, uint16_t *index)
{
	const char *start, *name = filter_fields[field].name;
	int64_t low, high;
	bool open_low, open_high;

	filter_skip_blanks(p);
	start = p->at;
	open_low = *start == '(';
	if (*start != '[' && *start != '(')
		return filter_fail(p, start, "an interval is missing: %s in [%s,%s)", name,
				   filter_type_example(filter_fields[field].type),
				   filter_type_example(filter_fields[field].type));
	p->at++;
	if (!filter_read_number(p, field, &low))
		return false;
	if (!filter_accept(p, ","))
		return filter_fail(p, p->at, "a comma is missing in the interval");
	if (!filter_read_number(p, field, &high))
		return false;
	open_high = filter_accept(p, ")");
	if (!open_high && !filter_accept(p, "]"))
		return filter_fail(p, p->at, "the interval is not closed: ] includes its end, ) "
				   "does not");
	if (low > high || (low == high && (open_low || open_high)))
		return filter_fail(p, start, "that interval is empty");
	return add_range(p, field, low + open_low, high - open_high, false, index);
}

static bool filter_parse_number(struct filter_parser *p, enum filter_field field, enum operator op,
				uint16_t *index)
{
	int64_t low = INT64_MIN, high = INT64_MAX, value;

	if (op == OP_IN)
		return parse_interval(p, field, index);
	if (!filter_read_number(p, field, &value))
		return false;
	switch (op) {
	case OP_LESS: high = value - 1; break;	/* above INT64_MIN by far */
	case OP_MOST: high = value; break;
	case OP_LEAST: low = value; break;
	case OP_MORE:
		low = value;
		if (__builtin_add_overflow(value, 1, &low))
			high = INT64_MIN;
		break;
	default: low = high = value; break;
	}
	return add_range(p, field, low, high, op == OP_OTHER, index);
}

static bool parse_comparison(struct filter_parser *p, enum filter_field field, enum operator op,
			     const char *op_at, uint16_t *index)
{
	const struct filter_field_info *info = &filter_fields[field];
	bool same = op == OP_SAME || op == OP_OTHER, like = op == OP_LIKE || op == OP_UNLIKE;

	switch (info->type) {
	case FILTER_FLAG:
		return filter_fail(p, op_at, "'%s' is a flag: write %s or "
				   "!%s", info->name, info->name,
				   info->name);
	case FILTER_TEXT:
		if (like)
			return parse_regex(p, field, op == OP_UNLIKE, index);
		if (same)
			return parse_same(p, field, op == OP_OTHER, index);
		return filter_fail(p, op_at, "'%s' is text: use = != ~ !~", info->name);
	case FILTER_KIND:
	case FILTER_DIRECTION:
		if (same)
			return parse_word(p, field, op == OP_OTHER, index);
		return filter_fail(p, op_at, "'%s' is %s: use = !=", info->name,
				   filter_type_name(info->type));
	default:
		if (!like)
			return filter_parse_number(p, field, op, index);
		return filter_fail(p, op_at, "'%s' is %s: use = != < <= > >= "
				   "in", info->name,
				   filter_type_name(info->type));
	}
}

/* ---- words without an operator ---- */

static bool parse_or(struct filter_parser *p, uint16_t *index);

static bool parse_name(struct filter_parser *p, const char *start, size_t n, uint16_t *index)
{
	char name[FILTER_NAME_MAX];
	struct filter_frame frame = { name, p->frame };
	struct filter_parser inner = *p;

	snprintf(name, sizeof(name), "%.*s", n < sizeof(name) ? (int)n : 0, start);
	for (const struct filter_frame *up = p->frame; up; up = up->up)
		if (strcmp(up->name, name) == 0)
			return filter_fail(p, start, "'%s' would contain itself", name);
	if (p->depth >= FILTER_DEPTH_MAX)
		return filter_fail(p, start, "nested more than %u deep", FILTER_DEPTH_MAX);
	inner.text = inner.at = filter_names_find(p->names, name);
	inner.frame = &frame;
	inner.inside = true;
	inner.depth++;
	if (!parse_or(&inner, index))
		return false;
	filter_skip_blanks(&inner);
	return !*inner.at || filter_fail(&inner, inner.at, "unexpected "
					 "'%.*s'", filter_shown_at(inner.at),
					 inner.at);
}

static bool is_known_name(const struct filter_parser *p, const char *word, size_t n)
{
	char name[FILTER_NAME_MAX];

	if (!p->names || n >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)n, word);
	return filter_names_find(p->names, name) != NULL;
}

static bool unknown(const struct filter_parser *p, const char *start, size_t n, bool only_field)
{
	const char *near = filter_near(start, n, only_field, p->names);
	const char *what = only_field ? "no field" : *start == '@' ? "no filter"
					: "no field, kind, flag or filter";

	if (near)
		return filter_fail(p, start, "%s '%.*s', did you mean "
				   "'%s'", what, filter_shown(start, n), start,
				   near);
	return filter_fail(p, start, "%s '%.*s'; 'help filter' lists them", what,
			   filter_shown(start, n), start);
}

static bool parse_alone(struct filter_parser *p, const char *start, size_t n, uint16_t *index)
{
	int field = filter_field_by(start, n), kind = filter_kind_by(start, n);
	int direction = filter_direction_by(start, n);
	size_t at = *start == '@';

	if (kind >= 0)
		return add_range(p, FILTER_BY_KIND, kind, kind, false, index);
	if (field >= 0 && filter_fields[field].type == FILTER_FLAG)
		return add_range(p, (enum filter_field)field, 1, 1, false, index);
	if (direction >= 0)
		return add_range(p, FILTER_BY_DIR, direction, direction, false, index);
	if (is_known_name(p, start + at, n - at))
		return parse_name(p, start + at, n - at, index);
	if (field < 0)
		return unknown(p, start, n, false);
	return filter_fail(p, start, "'%s' needs a comparison: %s %s %s", filter_fields[field].name,
			   filter_fields[field].name,
			   filter_fields[field].type == FILTER_TEXT ? "~" :
			   filter_fields[field].type == FILTER_DIRECTION ||
			   filter_fields[field].type == FILTER_KIND ? "=" : ">",
			   filter_type_example(filter_fields[field].type));
}

static bool parse_test(struct filter_parser *p, uint16_t *index)
{
	const char *start, *op_at;
	enum operator op;
	int field;
	size_t n;

	filter_skip_blanks(p);
	start = p->at;
	n = filter_word_length(start);
	if (!n && !*start)
		return filter_fail(p, start, "a test is missing: e.g. dur > 1ms");
	if (!n || filter_reserved(start, n))
		return filter_fail(p, start, "a test is missing before '%.*s': e.g. dur > 1ms",
				   filter_shown_at(start), start);
	p->at += n;
	filter_skip_blanks(p);
	op_at = p->at;
	op = filter_accept_operator(p);
	if (op == OP_NONE) {
		p->at = start + n;
		return parse_alone(p, start, n, index);
	}
	field = filter_field_by(start, n);
	if (field < 0)
		return unknown(p, start, n, true);
	return parse_comparison(p, (enum filter_field)field, op, op_at, index);
}

/* ---- connectives ---- */

static bool parse_not(struct filter_parser *p, uint16_t *index)
{
	const char *start;
	bool negates, done;

	filter_skip_blanks(p);
	start = p->at;
	negates = filter_accept(p, "!") || filter_accept_word(p, "not");
	if (!negates && *start != '(')
		return parse_test(p, index);
	if (++p->depth > FILTER_DEPTH_MAX)
		return filter_fail(p, start, "nested more than %u deep", FILTER_DEPTH_MAX);
	if (negates) {
		done = parse_not(p, index) && add_pair(p, NODE_NOT, 0, index);
	} else {
		p->at++;
		done = parse_or(p, index);
		if (done && !filter_accept(p, ")"))
			done = *p->at ? filter_fail(p, p->at, "'&', '|' or ')' is missing before "
						    "'%.*s'",
						    filter_shown_at(p->at), p->at) :
					filter_fail(p, start, "'(' is not closed");
	}
	p->depth--;
	return done;
}

static bool parse_and(struct filter_parser *p, uint16_t *index)
{
	uint16_t right;

	if (!parse_not(p, index))
		return false;
	while (filter_accept(p, "&&") || filter_accept(p, "&") || filter_accept_word(p, "and"))
		if (!parse_not(p, &right) || !add_pair(p, NODE_AND, right, index))
			return false;
	return true;
}

static bool parse_or(struct filter_parser *p, uint16_t *index)
{
	uint16_t right;

	if (!parse_and(p, index))
		return false;
	while (filter_accept(p, "||") || filter_accept(p, "|") || filter_accept_word(p, "or"))
		if (!parse_and(p, &right) || !add_pair(p, NODE_OR, right, index))
			return false;
	return true;
}

static bool parse_all(struct filter_parser *p)
{
	if (strlen(p->text) > FILTER_TEXT_MAX)
		return filter_fail(p, p->text + FILTER_TEXT_MAX, "the filter is longer than %u "
				   "bytes", FILTER_TEXT_MAX);
	if (!parse_or(p, &p->filter->root))
		return false;
	filter_skip_blanks(p);
	if (*p->at == ')')
		return filter_fail(p, p->at, "')' without '('");
	return !*p->at || filter_fail(p, p->at, "'&' or '|' is missing before '%.*s'",
				      filter_shown_at(p->at), p->at);
}

struct filter *filter_parse_as(const char *name, const char *text, const struct filter_names *names,
			       char *error, size_t error_size)
{
	struct filter_frame frame = { name, NULL };
	struct filter_parser p = {
		.filter = xcalloc(1, sizeof(*p.filter)), .names = names, .text = text, .at = text,
		.frame = name ? &frame : NULL, .error = error, .error_size = error_size,
	};

	p.filter->text = xstrdup(text);
	if (parse_all(&p))
		return p.filter;
	filter_free(p.filter);
	return NULL;
}

struct filter *filter_parse(const char *text, const struct filter_names *names, char *error,
			    size_t error_size)
{
	return filter_parse_as(NULL, text, names, error, error_size);
}
