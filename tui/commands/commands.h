/* SPDX-License-Identifier: MIT */
/*
 * The commands, as the top of the program sees them. COMMAND_LIST (keymap/command.h) names
 * each, and the function that carries it out; the files of this folder define these functions.
 * Thread: the loop's.
 */
#ifndef TUI_COMMANDS_H
#define TUI_COMMANDS_H

struct tui;
struct tui_commands;	/* tui/loop/loop.h */

extern const struct tui_commands commands_for_loop;

/* Reads the marks that are stored with the opened recording. */
void commands_load_marks(struct tui *tui);

#endif
