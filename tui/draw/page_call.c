/* SPDX-License-Identifier: MIT */
#include "tui/draw/page_call.h"

#include <string.h>

#include "tui/base/turns.h"

bool page_rest(const struct page_call *call, unsigned permille)
{
	return !call->turns || turns_rest(call->turns, permille);
}

bool page_none(const struct page_call *call, struct page *page)
{
	(void)page;
	snprintf(call->error, call->error_size, "'%s' makes no page", call->argv[0]);
	return false;
}

bool page_options(const struct page_call *call, const char *flags, const char *values,
		  struct page_options *out)
{
	memset(out, 0, sizeof(*out));
	for (int i = 1; i < call->argc; i++) {
		const char *word = call->argv[i];
		unsigned char letter = (unsigned char)word[0] == '-' ? (unsigned char)word[1] : 0;
		bool option = letter && letter < 128 && !word[2];

		if (option && strchr(flags, letter)) {
			out->on[letter] = true;
		} else if (option && strchr(values, letter)) {
			if (i + 1 >= call->argc) {
				snprintf(call->error, call->error_size, "'%s' needs a value", word);
				return false;
			}
			out->on[letter] = true;
			out->value[letter] = call->argv[++i];
		} else if (letter) {
			snprintf(call->error, call->error_size, "there is no flag '%.20s' of %s",
				 word, call->argv[0]);
			return false;
		} else if (out->rest) {
			snprintf(call->error, call->error_size,
				 "'%s' takes one name, not also '%.80s'", call->argv[0], word);
			return false;
		} else {
			out->rest = word;
		}
	}
	return true;
}
