/* SPDX-License-Identifier: MIT */
/* Evaluates filters. filter_parse.c makes them. */
#include "model/filter/filter.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/regex.h"
#include "model/filter/filter_internal.h"

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->n; i++) {
		if (filter->nodes[i].is == NODE_SAME)
			free(filter->nodes[i].text);
		else if (filter->nodes[i].is == NODE_REGEX)
			regfree(&filter->nodes[i].regex);
	}
	free(filter->text);
	free(filter);
}

const char *filter_text(const struct filter *filter)
{
	return filter->text;
}

bool filter_asks(const struct filter *filter, enum filter_field field)
{
	return filter->asks >> field & 1;
}

static bool is_same(const char *text, const char *wanted)
{
	return text && strcmp(text, wanted) == 0;
}

static enum filter_answer filter_test(const struct filter_node *node, filter_get *get,
				      const void *arg)
{
	struct filter_value value = { 0 };
	bool is = false;

	switch (get(arg, node->field, &value)) {
	case FILTER_UNKNOWN:
		return FILTER_NO;
	case FILTER_LATER:
		return FILTER_MAYBE;
	case FILTER_KNOWN:
		break;
	}
	if (node->is == NODE_RANGE)
		is = value.number >= node->low && value.number <= node->high;
	else if (node->is == NODE_SAME)
		is = is_same(value.text, node->text) || is_same(value.other, node->text);
	else
		is = regex_matches(&node->regex, value.text) ||
		     regex_matches(&node->regex, value.other);
	return is != node->differs ? FILTER_YES : FILTER_NO;
}

/* Recursion is limited by FILTER_DEPTH_MAX and the connectives without parentheses. */
static enum filter_answer filter_ask_field(const struct filter *filter, uint16_t at,
					   filter_get *get, const void *arg)
{
	const struct filter_node *node = &filter->nodes[at];
	enum filter_answer left, right, decides;

	if (node->is != NODE_AND && node->is != NODE_OR && node->is != NODE_NOT)
		return filter_test(node, get, arg);
	left = filter_ask_field(filter, node->left, get, arg);
	if (node->is == NODE_NOT)
		return left == FILTER_MAYBE ? left : left == FILTER_NO ? FILTER_YES : FILTER_NO;
	decides = node->is == NODE_AND ? FILTER_NO : FILTER_YES;
	if (left == decides)
		return left;
	right = filter_ask_field(filter, node->right, get, arg);
	return right == decides || left != FILTER_MAYBE ? right : left;
}

enum filter_answer filter_ask(const struct filter *filter, filter_get *get, const void *arg)
{
	return filter ? filter_ask_field(filter, filter->root, get, arg) : FILTER_YES;
}

/* ---- the numbers that a filter can match ---- */

struct bounds {
	int64_t least, most;
};

/* A negation sets no bounds, because it also matches rows without the field. */
static struct bounds bounds_of(const struct filter *filter, uint16_t at, enum filter_field field)
{
	const struct filter_node *node = &filter->nodes[at];
	struct bounds any = { INT64_MIN, INT64_MAX }, left, right;
	bool both = node->is == NODE_AND;

	if (node->is == NODE_RANGE && node->field == field && !node->differs)
		return (struct bounds) { node->low, node->high };
	if (!both && node->is != NODE_OR)
		return any;
	left = bounds_of(filter, node->left, field);
	right = bounds_of(filter, node->right, field);
	if (!both && left.least > left.most)
		return right;
	if (!both && right.least > right.most)
		return left;
	if ((right.least > left.least) == both)
		left.least = right.least;
	if ((right.most < left.most) == both)
		left.most = right.most;
	return left;
}

void filter_bounds(const struct filter *filter, enum filter_field field, int64_t *least,
		   int64_t *most)
{
	struct bounds bounds = { INT64_MIN, INT64_MAX };

	if (filter)
		bounds = bounds_of(filter, filter->root, field);
	*least = bounds.least;
	*most = bounds.most;
}
