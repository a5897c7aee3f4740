/* SPDX-License-Identifier: MIT */
/*
 * Functions that no file of the project may use: every file is compiled with `-include
 * model/banned.h`, and a use is a compile error that names the function.
 *
 * Instead: memcpy with a length, snprintf, strtok_r (or strcspn/strspn), getline, posix_spawn.
 * The headers that declare the banned names come first, so that only the project's own text is
 * affected; nothing else is defined here, which is why probe libraries can use this file too.
 */
#ifndef MODEL_BANNED_H
#define MODEL_BANNED_H

#if !defined(__ASSEMBLER__) && !defined(__cplusplus)

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef strtok
#undef system

#pragma GCC poison strcpy strcat strncpy strncat stpcpy
#pragma GCC poison sprintf vsprintf strtok gets system

#endif
#endif
