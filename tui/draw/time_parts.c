/* SPDX-License-Identifier: MIT */
#include "tui/draw/time_parts.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/labels.h"

/* "loader.py:25" */
static void part_place(struct time_part *part, const struct host_time_row *row, bool ascii)
{
	const char *file = path_last(row->file);
	const char *in = strstr(row->what, " in ");
	char short_file[32];

	if (!*file && row->doing == DOING_NATIVE && in)
		snprintf(part->place, sizeof(part->place), " %.*s",
			 in - row->what < 24 ? (int)(in - row->what) : 24, row->what);
	if (!*file)
		return;
	label_fit(short_file, sizeof(short_file), file, 16, ascii);
	snprintf(part->place, sizeof(part->place), " %s:%u", short_file, row->line);
}

/* The line of a class, if most of its time is known to be of one. */
static void class_place(struct time_part *part, int class, const struct time_parts_of *of,
			bool ascii)
{
	for (size_t i = 0; i < of->n_rows; i++)
		if (of->rows[i].class == class) {
			if (of->rows[i].ns > part->ns / 2)
				part_place(part, &of->rows[i], ascii);
			return;
		}
}

/* Sorts the part in behind those that are as large. */
static void part_add(struct time_part parts[TIME_PARTS], int n, const struct time_part *part)
{
	for (; n > 0 && parts[n - 1].ns < part->ns; n--)
		parts[n] = parts[n - 1];
	parts[n] = *part;
}

int time_parts(const struct time_parts_of *of, bool ascii, struct time_part parts[TIME_PARTS])
{
	int64_t known_ns = 0;
	int n = 0;

	for (size_t i = 0; i < of->n_rows && n < TIME_PARTS - of->classes; i++) {
		struct time_part part = {
			.name = doing_name(of->rows[i].doing), .ns = of->rows[i].ns,
		};

		if (of->rows[i].class != of->host)
			continue;
		part_place(&part, &of->rows[i], ascii);
		known_ns += part.ns;
		part_add(parts, n++, &part);
	}
	for (int c = 0; c < of->classes; c++) {
		struct time_part part = { .name = of->name(c), .ns = of->ns[c] };

		if (c == of->host)	/* of which only what is left is here, without a line */
			part.ns -= known_ns;
		else
			class_place(&part, c, of, ascii);
		part_add(parts, n++, &part);
	}
	return n;
}
