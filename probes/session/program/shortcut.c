/* SPDX-License-Identifier: MIT */
#include "probes/session/program/shortcut.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void shortcut_open(struct shortcut *shortcut, struct environ_choice *choice)
{
	char path[DIR_PATH_MAX + 8], error[256];

	shortcut->dir[0] = '\0';
	shortcut->lock = -1;
	if (!strpbrk(choice->lib_dir, ENVIRON_FORBIDDEN))
		return;
	shortcut->lock = dir_create(geteuid(), shortcut->dir, error, sizeof(error));
	if (shortcut->lock < 0) {
		shortcut->dir[0] = '\0';
		return;
	}
	snprintf(path, sizeof(path), "%s/lib", shortcut->dir);
	if (strpbrk(path, ENVIRON_FORBIDDEN) || symlink(choice->lib_dir, path) != 0)
		shortcut_close(shortcut);
	else
		snprintf(choice->lib_dir, sizeof(choice->lib_dir), "%s", path);
}

void shortcut_leave(struct shortcut *shortcut)
{
	if (shortcut->lock >= 0)
		close(shortcut->lock);
	shortcut->lock = -1;
	shortcut->dir[0] = '\0';
}

void shortcut_close(struct shortcut *shortcut)
{
	if (shortcut->dir[0])
		dir_remove(shortcut->dir);
	shortcut_leave(shortcut);
}
