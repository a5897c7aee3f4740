/* SPDX-License-Identifier: MIT */
/*
 * One line on stderr: "tftop: TEXT". Paths, arguments and program names in it may hold any bytes:
 * a control character becomes '?', and bytes that are not UTF-8 become U+FFFD. Any thread.
 */
#ifndef TUI_COMPLAIN_H
#define TUI_COMPLAIN_H

void complain_on_stderr(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
