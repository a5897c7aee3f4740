/* SPDX-License-Identifier: MIT */
/* Text for the prompt or the program: keys that are not bound, and what the user pastes. */
#include "tui/loop/loop.h"

void tui_unbound_key(struct tui *tui, enum key_table table, struct key key)
{
	char name[KEY_NAME_MAX], bytes[16];

	if (table == TABLE_PROMPT && key_is_text(key)) {
		prompt_insert(&tui->prompt, key.code);
	} else if (table == TABLE_OUTPUT) {
		session_input(live_session(tui->live), bytes, output_key_bytes(key, bytes));
	} else if (table != TABLE_DIALOG && table != TABLE_PROMPT) {
		const struct binding *help = keymap_find(&tui->keymap, TABLE_GENERIC, "help");
		char help_name[KEY_SEQUENCE_MAX * KEY_NAME_MAX] = ":help";

		if (help)
			keys_print(help->keys, help->count, help_name, sizeof(help_name));
		tui_say(tui, true, "'%s' is not bound here; %s shows the keys",
			keys_print(tui->pending, tui->pending_count, bytes, sizeof(bytes))[0] ?
			bytes : key_print(key, name), help_name);
	}
}

void tui_pasted_key(struct tui *tui, struct key key)
{
	enum key_table table = frame_key_table(tui);
	char bytes[16];

	tui->key_ns = tui_clock(tui);
	tui->dirty = true;
	if (table == TABLE_PROMPT)
		prompt_insert(&tui->prompt, key_is_text(key) ? key.code : ' ');
	else if (table == TABLE_OUTPUT)
		session_input(live_session(tui->live), bytes, output_key_bytes(key, bytes));
	else
		tui_say(tui, true, "pasted text is no keys: it goes into the prompt, once that is "
			"open");
}
