/* SPDX-License-Identifier: MIT */
/*
 * This library in a program that runs already: nothing that is loaded finds its
 * definitions by itself any more. So each loaded library's own tables (probes/imports)
 * are changed to lead to them where they lead to libc's or to a framework's; what is
 * loaded from then on finds the frameworks' by name, as in a program that was started
 * with it, and libc's by its tables, whenever libraries are looked at (libraries.h).
 *
 * Always true: a place that leads to anything else, another tool's wrapper say, is left.
 * At level off, and without tftop, a jump through a slot is all that remains.
 */
#ifndef PROBES_START_LATE_H
#define PROBES_START_LATE_H

#include <stdbool.h>

#include "probes/schema/attach.h"
#include "probes/start/libraries.h"

/*
 * tftop_probe_attach() (schema/attach.h) does its work once, when the environment is what it
 * would have been at the program's start. TFT_ATTACH_READY: all is in place, and probes of
 * frameworks that are loaded begin at the first call; TFT_ATTACH_UNUSED: it was so before.
 */

/* ---- of the files of this library ---- */

/* The program was not started with it. */
bool start_is_late(void);

/* Probes of frameworks that are loaded begin. replace: NULL, nobody can. False: none was chosen. */
bool start_frameworks_late(tft_replace_code *replace);

/* Those that have begun hear of another tftop. */
void start_frameworks_again(tft_replace_code *replace);

/* Where to lead this place; NULL: leave it. The loader's lock is held. */
void *start_framework_jump(const struct tft_import *import);
void *start_libc_jump(const struct tft_import *import);
void *start_close_jump(const struct tft_import *import);

/* Every library that is loaded, now and later. */
void start_libraries_late(void);
/* Those that were looked at once more: the dynamic linker may have bound a function on
 * another thread in just that moment. */
void start_libraries_again(void);

#endif
