/* SPDX-License-Identifier: MIT */
#include "tui/draw/hits.h"

#include <stdio.h>
#include <string.h>

void hits_clear(struct hits *hits)
{
	hits->count = 0;
}

void hits_add(struct hits *hits, struct area area, int x, int y, int width, const char *command)
{
	struct hit *hit = &hits->list[hits->count];

	if (width > area.width - x)
		width = area.width - x;
	if (hits->count == HITS_MAX || width < 1 || y < 0 || y >= area.height ||
	    strlen(command) >= HIT_COMMAND)
		return;
	hit->x = area.x + x;
	hit->y = area.y + y;
	hit->width = width;
	snprintf(hit->command, sizeof(hit->command), "%s", command);
	hits->count++;
}

const char *hits_find(const struct hits *hits, int x, int y)
{
	int i;

	for (i = 0; i < hits->count; i++) {
		const struct hit *hit = &hits->list[i];

		if (y == hit->y && x >= hit->x && x < hit->x + hit->width)
			return hit->command;
	}
	return NULL;
}
