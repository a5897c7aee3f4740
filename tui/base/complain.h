/* SPDX-License-Identifier: MIT */
/*
 * What tftop says on stderr, one line: "tftop: TEXT". Paths, arguments and names of
 * programs in it may hold anything: control characters become '?', and what is no UTF-8
 * the sign for that. Any thread.
 */
#ifndef TUI_COMPLAIN_H
#define TUI_COMPLAIN_H

void complain_on_stderr(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
