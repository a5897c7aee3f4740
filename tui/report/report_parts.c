/* SPDX-License-Identifier: MIT */
/* What the sections of the report share. */
#include "tui/report/report.h"

#include <stdlib.h>

#include "model/base/util.h"
#include "tui/draw/grid.h"
#include "tui/draw/sheet.h"

#define SENTENCE_MAX 1024

uint64_t report_positive(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

const char *report_device_kind(const struct device_row *row)
{
	static const char *const kinds[] = { "cpu", "gpu", "other" };

	return kinds[row->gpu > 2 ? 2 : row->gpu];
}

static int by_ns(const void *a, const void *b)
{
	const struct report_share *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

void report_shares(const char *lead, struct report_share *shares, size_t n, int64_t whole_ns,
		   FILE *out)
{
	char share[FMT_MAX], text[80];
	int used = text_width(lead);

	fputs(lead, out);
	qsort(shares, n, sizeof(*shares), by_ns);
	for (size_t i = 0; i < n && shares[i].ns > whole_ns / 1000; i++) {
		snprintf(text, sizeof(text), "%s%s %s", i ? " · " : "", shares[i].name,
			 fmt_share(share, (uint64_t)shares[i].ns, (uint64_t)whole_ns));
		used += text_width(text);
		if (used > REPORT_WIDTH)
			break;
		fputs(text, out);
	}
	fputc('\n', out);
}

void report_lines(const char *mark, int indent, const char *text, const char *cost, FILE *out)
{
	int right = *cost ? text_width(cost) + 2 : 0;
	char clean[SENTENCE_MAX], line[SENTENCE_MAX];
	const char *at = text_clean(clean, sizeof(clean), text), *next;

	for (bool first = true; *at; first = false, at = next) {
		size_t bytes = text_break(at, REPORT_WIDTH - indent - right, &next);

		fprintf(out, "%s%*s%.*s", first ? mark : "",
			indent - (first ? text_width(mark) : 0), "", (int)bytes, at);
		if (first && *cost) {
			snprintf(line, sizeof(line), "%.*s", (int)bytes, at);
			fprintf(out, "%*s%s", REPORT_WIDTH - indent - text_width(line) -
				text_width(cost), "", cost);
		}
		fputc('\n', out);
		if (next == at)
			break;
	}
}

void report_sheet(struct sheet *sheet, FILE *out)
{
	if (!sheet->count)
		return;
	fputc('\n', out);
	sheet_print(sheet, REPORT_WIDTH, out);
}
