/* SPDX-License-Identifier: MIT */
/* A page as text, for the unit tests of pages. */
#ifndef TESTS_UNIT_PAGE_TEXT_H
#define TESTS_UNIT_PAGE_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tui/draw/page_call.h"

#define PAGE_ERROR 400			/* size of call->error */

typedef bool page_maker(const struct page_call *call, struct page *page);

/* NULL: an error, in call->error. The caller frees. */
static inline char *page_text_of(page_maker *make, const struct page_call *call)
{
	struct page page;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	call->error[0] = '\0';
	page_init(&page);
	if (make(call, &page)) {
		out = open_memstream(&text, &size);
		page_write(&page, out);
		fclose(out);
	}
	page_release(&page);
	return text;
}

/* The page of the command's words; the case must have `model` and `error[PAGE_ERROR]`. */
#define PAGE_OF(make, seen, ...) ({ \
	const char *const argv_[] = { __VA_ARGS__ }; \
	struct page_call call_ = { \
		.model = model, .view = seen, .argc = (int)(sizeof(argv_) / sizeof(argv_[0])), \
		.argv = argv_, .error = error, .error_size = PAGE_ERROR, \
	}; \
	page_text_of(make, &call_); \
})
#define PAGE(make, ...) PAGE_OF(make, NULL, __VA_ARGS__)

#define WRONG(make, text, ...) do { \
	CHECK(!PAGE(make, __VA_ARGS__)); \
	CHECK_STR(error, text); \
} while (0)

static inline bool has(const char *text, const char *part)
{
	bool found = text && strstr(text, part);

	if (!found)
		fprintf(stderr, "'%s' is not in:\n%s\n", part, text ? text : "(none)");
	return found;
}

#define HAS(text, part) CHECK(has(text, part))

#endif
