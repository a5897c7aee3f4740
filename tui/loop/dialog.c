/* SPDX-License-Identifier: MIT */
/* The question that `quit` asks while PROGRAM runs. */
#include "tui/loop/loop.h"

#include <string.h>

static int dialog_key(struct tui *tui, struct area area, int x, const char *command,
		      const char *word)
{
	const struct binding *binding = keymap_find(&tui->keymap, TABLE_DIALOG, command);
	char keys[KEY_SEQUENCE_MAX * KEY_NAME_MAX] = "";
	int end;

	if (!binding)
		return x;
	keys_print(binding->keys, binding->count, keys, sizeof(keys));
	end = area_text(area, x, 0, ROLE_ACCENT, ATTR_BOLD, keys) + 1;
	end = area_text(area, end, 0, ROLE_PROMPT, 0, word);
	hits_add(&tui->hits, area, x, 0, end - x, command);
	return end + 3;
}

void dialog_draw(struct tui *tui, struct area area)
{
	int x;

	area_fill(area, 0, 0, area.width, 1, ' ', ROLE_PROMPT, ROLE_DEFAULT, 0);
	x = area_printf(area, 1, 0, ROLE_PROMPT, ATTR_BOLD, "%.24s runs:", tui_program_name(tui)) +
	    2;
	x = dialog_key(tui, area, x, "answer leave",
		       area.width >= 90 ? "leave it running (default)" : "leave it");
	x = dialog_key(tui, area, x, "answer stop",
		       tui->stop == STOP_NOT ? "stop it" :
		       tui->stop == STOP_INTERRUPTED ? "stop it (SIGTERM)" : "kill it");
	dialog_key(tui, area, x, "answer back", "back");
}

unsigned dialog_answer(struct tui *tui, const char *answer)
{
	tui->dialog = false;
	if (strcmp(answer, "leave") == 0)
		tui_leave(tui);
	else if (strcmp(answer, "stop") == 0)
		tui_stop_program(tui);
	return OUT_REDRAW;
}
