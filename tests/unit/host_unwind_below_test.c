/* SPDX-License-Identifier: MIT */
/* What a function takes of the stack, by its instructions; and where its code jumps. */
#include <stdio.h>
#include <string.h>

#include "probes/host/unwind_internal.h"
#include "tests/unit/test.h"

#define CODE_AT 0x400000u
#define CASE 1000000		/* so that a failed check tells which it was */
#define MAPPED 256u		/* what is behind it cannot be read */

static uint8_t code[MAPPED];

static bool read_code(const struct iovec *to, const struct iovec *from, size_t n)
{
	uint64_t at = (uint64_t)(uintptr_t)from->iov_base;

	if (n != 1 || at < CODE_AT || at + from->iov_len > CODE_AT + MAPPED)
		return false;
	memcpy(to->iov_base, code + (at - CODE_AT), from->iov_len);
	return true;
}

static struct unwind_row row_of_code(void)
{
	return (struct unwind_row) {
		.frame = { .how = HOW_IS, .value = 16 }, .frame_register = UNWIND_BP,
		.start = CODE_AT, .end = CODE_AT + MAPPED,
	};
}

/* Bytes from one character to the next: "55 4889e5"; | is where the function is. */
static size_t put_code(const char *text)
{
	size_t n = 0, ip = 0;

	memset(code, 0x90, sizeof(code));
	for (; *text; text++) {
		unsigned byte;

		if (*text == '|') {
			ip = n;
		} else if (*text != ' ') {
			CHECK_INT(sscanf(text, "%2x", &byte), 1);
			code[n++] = (uint8_t)byte;
			text++;
		}
	}
	return ip ? ip : n;
}

#define FRAME "f30f1efa 55 4889e5 "
#define CALL " e8 00000000 "

TEST(host_unwind_measure)
{
	static const struct { const char *code; int64_t below; } cases[] = {
		{ FRAME CALL, 16 },
		{ FRAME "4157 4156 53 4883ec28" CALL, 16 + 24 + 0x28 },
		{ FRAME "4881ec 00100000" CALL, 16 + 0x1000 },
		{ FRAME "4883c480" CALL, 16 + 128 },			/* add $-128 */
		{ FRAME "ff7008" CALL, 16 + 8 },			/* push 8(%rax) */
		{ "55 89f8 4889e5 4989fc 53" CALL, 16 + 8 },
		/* set up behind a way out, and with another one before */
		{ "85ff 7401 c3" FRAME "53" CALL, 16 + 8 },
		{ FRAME "53 85ff 7403 5b 5d c3" CALL, 16 + 8 },
		{ FRAME "53 85ff 7402 c9 c3" CALL, 16 + 8 },
		{ FRAME "53 85ff 7405 5b 5d" "e9 00000000" CALL, 16 + 8 },
		{ FRAME "53 85ff 7408 488d65f8 5b 5d c3" CALL, 16 + 8 },
		/* what is handed over, and what was */
		{ FRAME "53 7400 6a01 50" CALL, 16 + 8 + 16 },
		{ FRAME "53 7400 4883ec08 50" CALL "4883c410" CALL, 16 + 8 },
		{ FRAME "53 7400 50 50" CALL "59 5e" CALL, 16 + 8 },
		/* within the frame pointer's set-up, before it, at its end */
		{ "f30f1efa 55|4889e5", 0 }, { "90909090|", 0 },
		{ FRAME "53" CALL "5b|5dc3", 0 }, { FRAME CALL "c9|c3", 0 },
		/* known only while it runs */
		{ FRAME "4829c4" CALL, 0 }, { FRAME "4c29dc" CALL, 0 },
		{ FRAME "482be0" CALL, 0 }, { FRAME "4883e4e0" CALL, 0 },
		{ FRAME "4889c4" CALL, 0 }, { FRAME "488be0" CALL, 0 },
		{ FRAME "488d6007" CALL, 0 }, { FRAME "488d2404" CALL, 0 },
		{ FRAME "4894" CALL, 0 }, { FRAME "48ffc4" CALL, 0 },
		{ FRAME "5c" CALL, 0 }, { FRAME "c8100000" CALL, 0 },
		/* taken before the frame pointer, or given back and taken again */
		{ "53" FRAME CALL, 0 }, { FRAME "53 4883c408" CALL, 0 },
		{ FRAME "53 7400 5b 53" CALL, 0 },
		/* jumps between what is handed over and the call */
		{ FRAME "53 7400 50 7402 9090" CALL, 0 },
		/* that cannot be measured */
		{ FRAME "53 06" CALL, 0 }, { FRAME "53 d6" CALL, 0 },
		/* the stack pointer as a number and as another register's */
		{ FRAME "53 4883fc10 4885e4 4889e0 4839e0" CALL, 16 + 8 },
		{ FRAME "53 4983ec08 4d29c4 4989c4" CALL, 16 + 8 },	/* r12 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unwind_row row = row_of_code();
		uint64_t ip = CODE_AT + put_code(cases[i].code);

		CHECK_INT(unwind_measure(read_code, ip, &row), cases[i].below > 0);
		CHECK_INT(CASE * (int64_t)i + row.below, CASE * (int64_t)i + cases[i].below);
	}
}

/* A frame that is not counted from the frame pointer, one of another size, code that is not
 * mapped. */
TEST(host_unwind_measure_refused)
{
	struct unwind_row row = row_of_code();
	uint64_t ip = CODE_AT + put_code(FRAME "53" CALL);

	row.frame_register = UNWIND_SP;
	CHECK(!unwind_measure(read_code, ip, &row));
	row = row_of_code();
	row.frame.value = 24;
	CHECK(!unwind_measure(read_code, ip, &row));
	row = row_of_code();
	row.frame.how = HOW_IS_EXPRESSION;
	CHECK(!unwind_measure(read_code, ip, &row));
	row = row_of_code();
	CHECK(!unwind_measure(read_code, CODE_AT + MAPPED - 4, &row));
	CHECK(!unwind_measure(read_code, CODE_AT + (1 << 20), &row));
	CHECK(unwind_measure(read_code, ip, &row) && row.below == 24);
}

TEST(host_unwind_behind_call)
{
	static const struct { const char *code; bool call; } cases[] = {
		{ "9090909090" "e812345678", true }, { "909090909090 ffd0", true },
		{ "909090909090 41ffd3", true }, { "9090 ff1500000010", true },
		{ "9090909090 ff5018", true }, { "9090 ff94c810000000", true },
		{ "90909090 e912345678", false }, { "909090909090 ffe0", false },
		{ "9090909090909090", false }, { "90909090 4889e5 53", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ip = CODE_AT + put_code(cases[i].code);

		CHECK_INT(CASE * (int64_t)i + unwind_is_behind_call(read_code, ip),
			  CASE * (int64_t)i + cases[i].call);
	}
	CHECK(!unwind_is_behind_call(read_code, CODE_AT + 4));
}

/* Jumps to the middle of a part, not to its beginning, as to any function; no calls. */
TEST(host_unwind_jumps_into)
{
	struct unwind_row part = { .start = CODE_AT + 0x80, .end = CODE_AT + 0x90 };
	static const struct { const char *code; bool into; } cases[] = {
		{ "90 e97f000000", true }, { "90 0f847f000000", true }, { "90 747f", true },
		{ "e97b000000", false }, { "e98b000000", false }, { "e98a000000", true },
		{ "e87f000000", false }, { "eb10 9090", false }, { "06 e97f000000", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = put_code(cases[i].code);

		CHECK_INT(CASE * (int64_t)i +
			  unwind_jumps_into(read_code, CODE_AT, CODE_AT + n, &part),
			  CASE * (int64_t)i + cases[i].into);
	}
}
