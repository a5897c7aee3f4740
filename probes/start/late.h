/* SPDX-License-Identifier: MIT */
/*
 * The start library in a program that was already running. Libraries that are loaded do not find
 * its definitions by name any more. So the tables of each loaded library (probes/imports) are
 * changed: places that lead to functions of libc or of a framework then lead to our definitions.
 * Libraries that are loaded later find the frameworks' functions by name, as in a program that was
 * started with this library, and libc's by their tables, whenever libraries are looked at
 * (libraries.h).
 *
 * Always true: a place that leads to anything else, such as another tool's wrapper, is left alone.
 * At level off, and without tftop, only a jump through a slot remains.
 */
#ifndef PROBES_START_LATE_H
#define PROBES_START_LATE_H

#include <stdbool.h>

#include "probes/schema/attach.h"
#include "probes/start/libraries.h"

/*
 * tftop_probe_attach() (schema/attach.h) does its work once, when the environment is what it would
 * have been at the program's start. TFT_ATTACH_READY: everything is in place, and probes of
 * frameworks that are loaded start at the first call; TFT_ATTACH_UNUSED: it was in place before.
 */

/* ---- for the files of this library ---- */

/* Whether the program was started without this library. */
bool start_is_late(void);

/* Starts the probes of frameworks that are loaded. replace NULL: code cannot be replaced. false:
 * none was chosen. */
bool start_frameworks_late(tft_replace_code *replace);

/* Tells the probes that have started about another tftop. */
void start_frameworks_again(tft_replace_code *replace);

/* Where to lead this place; NULL: leave it as it is. The loader's lock is held. */
void *start_framework_jump(const struct tft_import *import);
void *start_libc_jump(const struct tft_import *import);
void *start_close_jump(const struct tft_import *import);

/* Examines every library that is loaded, now and later. */
void start_libraries_late(void);
/* Examines those libraries once more, because the dynamic linker may have bound a function on
 * another thread at just that moment. */
void start_libraries_again(void);

#endif
