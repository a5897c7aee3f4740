/* SPDX-License-Identifier: MIT */
/*
 * Ranges, threads and a process with names that are meant for a terminal, a JSON parser
 * or a spreadsheet rather than for people. Built by tests/live/security.sh.
 */
#include "examples/marks.h"
#undef MARKS_NAME_BYTES
#define MARKS_NAME_BYTES (2 << 20)	/* instead of 64 */
#undef MARKS_DEPTH
#define MARKS_DEPTH 2
#include "examples/marks.c"

#include <sys/prctl.h>

static const char *const names[] = {
	"\033[2Jcleared",
	"\033]0;title\007bell",
	"\xc2\x9b"
	"31mC1",
	"bad\xff\xc3(\xe2\x82 utf8",
	"\xe2\x80\xae"
	"reversed",
	"two\nlines\rback\ttab",
	"\"quoted\", \\and\\ {\"json\": 1}",
	"=cmd|' /C calc'!A0",
	"+1+cmd",
	"-2+cmd",
	"@SUM(1)",
	"</script><b>",
	"%s%n%1000000d",
	"a\x01\x02\x7f"
	"b",
};

int main(void)
{
	static char long_name[1 << 20];

	prctl(PR_SET_NAME, "\033[2J=h\xff");
	marks_init(MARKS_NVTX);
	marks_thread_name("=\033]0;thread\007");
	memset(long_name, 'L', sizeof(long_name) - 1);
	memcpy(long_name, "\033[2J", 4);
	for (int i = 0; i < 50; i++) {
		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
			marks_push("%s", names[n]);
			marks_pop();
		}
		marks_push("%s", long_name);
		marks_pop();
	}
	marks_release();
	return 0;
}
