/* SPDX-License-Identifier: MIT */
#include "tui/timeline/tint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

void tints_release(struct tints *tints)
{
	free(tints->line);
	memset(tints, 0, sizeof(*tints));
}

uint8_t tint_of_name(const char *name)
{
	uint32_t hash = 2166136261u;	/* FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (uint8_t)(1 + (hash ^ hash >> 15) % PALETTE);
}

void tints_begin(struct tints *tints, enum tint_by by, size_t columns)
{
	tints->by = by;
	if (tints->n_seen)
		memset(tints->seen, 0, sizeof(tints->seen));
	tints->n_seen = 0;
	tints->columns = columns;
	if (columns > tints->cap) {
		tints->cap = columns;
		tints->line = xreallocarray(tints->line, columns, 1);
	}
}

/* Returns its entry; NULL if there are too many to distinguish. */
static struct tint_seen *tint_seen(struct tints *tints, uint64_t key)
{
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % TINTS_SEEN;

	while (tints->seen[at].key && tints->seen[at].key != key)
		at = (at + 1) % TINTS_SEEN;
	if (tints->seen[at].key)
		return &tints->seen[at];
	if (tints->n_seen >= TINTS_SEEN / 4 * 3)
		return NULL;
	tints->n_seen++;
	tints->seen[at].key = key;
	return &tints->seen[at];
}

static uint8_t add(struct tints *tints, uint64_t key, const char *name, int64_t ns)
{
	struct tint_seen *place = tint_seen(tints, key);

	if (!place)
		return tint_of_name(name);
	if (!place->name) {
		place->name = name;
		place->tint = tint_of_name(name);
	}
	place->ns += ns;
	return place->tint;
}

static void add_kinds(struct tints *tints, const struct column *columns)
{
	int64_t ns[WORK_COUNT] = { 0 };

	for (size_t i = 0; i < tints->columns; i++)
		for (int k = 0; k < WORK_COUNT; k++)
			ns[k] += columns[i].work_ns[k];
	for (int k = 1; k < WORK_COUNT; k++)
		if (ns[k])
			add(tints, (uint64_t)k + 1, work_name((enum work)k), ns[k]);
}

static void add_names(struct tints *tints, struct model *model, const struct column *columns,
		      const struct column_name *names)
{
	for (size_t i = 0; i < tints->columns; i++) {
		uint32_t id = tints->by == TINT_OP ? names[i].op : names[i].name;

		tints->line[i] = id ? add(tints, (uint64_t)id + 1, model_name(model, id),
					  columns[i].busy_ns) : 0;
	}
}

/* Adjacent steps always have different tints. */
static void tint_add_steps(struct tints *tints, const struct column *columns, int64_t t0_ns,
			   int64_t w_ns, const struct step_row *steps, size_t n)
{
	size_t s = 0;

	for (size_t i = 0; i < tints->columns; i++) {
		int64_t middle = t0_ns + w_ns * (int64_t)i + w_ns / 2;
		struct tint_seen *place;

		tints->line[i] = 0;
		while (s < n && steps[s].start_ns + steps[s].dur_ns <= middle)
			s++;
		if (s == n || steps[s].start_ns > middle || !columns[i].count)
			continue;
		tints->line[i] = (uint8_t)(1 + (uint64_t)steps[s].number % PALETTE);
		place = tint_seen(tints, (uint64_t)steps[s].number + 1);
		if (place) {
			place->ns += columns[i].busy_ns;
			place->tint = tints->line[i];
		}
	}
}

const uint8_t *tints_line(struct tints *tints, struct model *model, struct column_cache *cache,
			  const struct timeline_line *line, const struct column *columns,
			  int64_t t0_ns, int64_t w_ns, const struct step_row *steps,
			  size_t n_steps)
{
	int64_t busy = 0;

	switch (tints->by) {
	case TINT_KIND:
		add_kinds(tints, columns);
		return NULL;
	case TINT_OP:
	case TINT_NAME:
		add_names(tints, model, columns,
			  column_cache_names(cache, model, line->row, line->lane));
		break;
	case TINT_QUEUE:
		for (size_t i = 0; i < tints->columns; i++)
			busy += columns[i].busy_ns;
		memset(tints->line, add(tints, line->row + UINT64_C(1), line->label, busy),
		       tints->columns);
		break;
	case TINT_STEP:
		tint_add_steps(tints, columns, t0_ns, w_ns, steps, n_steps);
		break;
	}
	return tints->line;
}

/* ---- the legend ---- */

static int by_key(const void *a, const void *b)
{
	const struct tint_seen *x = *(const struct tint_seen *const *)a;
	const struct tint_seen *y = *(const struct tint_seen *const *)b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static int by_time(const void *a, const void *b)
{
	const struct tint_seen *x = *(const struct tint_seen *const *)a;
	const struct tint_seen *y = *(const struct tint_seen *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return by_key(a, b);
}

static void tint_tell(const struct tints *tints, const struct tint_seen *of, struct strip *strip,
		      int rank, bool letters)
{
	bool kind = tints->by == TINT_KIND;
	enum role role = kind ? cells_role((enum work)(of->key - 1)) :
				(enum role)(ROLE_PALETTE_1 + of->tint - 1);

	if (letters)
		strip_add(strip, rank, 2, role, ATTR_BOLD, "%c",
			  kind ? (int)cells_letter((enum work)(of->key - 1), DIR_NONE) :
				 'a' + of->tint - 1);
	else
		strip_add(strip, rank, 2, role, 0, "█");
	if (of->name)
		strip_add(strip, rank, 1, ROLE_MUTED, 0, "%s", of->name)->least = 8;
	else
		strip_add(strip, rank, 1, ROLE_MUTED, 0, "step %llu",
			  (unsigned long long)(of->key - 1));
}

void tints_legend(const struct tints *tints, struct strip *strip, bool ascii, bool colour)
{
	const struct tint_seen *list[TINTS_SEEN];
	size_t n = 0;

	/* Bars of one colour show no classes, only names. */
	if (tints->by == TINT_KIND && !ascii && !colour)
		return;
	for (size_t i = 0; i < TINTS_SEEN; i++)
		if (tints->seen[i].key)
			list[n++] = &tints->seen[i];
	/* Classes and steps have a fixed order. */
	qsort(list, n, sizeof(*list), tints->by == TINT_KIND || tints->by == TINT_STEP ? by_key :
	      by_time);
	for (size_t i = 0; i < n && i < TINTS_TOLD; i++)
		tint_tell(tints, list[i], strip, STRIP_NEEDED + 6 + (int)i, ascii || !colour);
	if (n > TINTS_TOLD)
		strip_add(strip, STRIP_NEEDED + 6 + TINTS_TOLD, 2, ROLE_MUTED, 0, "+%zu",
			  n - TINTS_TOLD);
}
