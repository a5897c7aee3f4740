/* SPDX-License-Identifier: MIT */
/* Which layout is taken for what a CPython says of itself. */
#include <string.h>

#include "model/base/util.h"
#include "tests/unit/python_said.h"
#include "tests/unit/test.h"

static const unsigned long builds[] = { PYTHON_3_13, PYTHON_3_14, PYTHON_3_14T, PYTHON_3_15 };
#define BUILDS (sizeof(builds) / sizeof(builds[0]))

static const char *text_of_version;

static const char *say_version(void)
{
	return text_of_version;
}

/* By the variable, which wins, or by what Python says of itself before 3.11. */
TEST(python_layout_version)
{
	static const struct {
		const char *text;
		unsigned long version;	/* 0: unknown */
	} cases[] = {
		{ "3.8.18 (default, May  9 2026, 07:33:04) \n[GCC 12.2.0]", 0x0308 },
		{ "3.9.18 (main, May  9 2026, 07:33:49) [GCC 12.2.0]", 0x0309 },
		{ "3.10.13 (main, May  9 2026, 07:34:36) [GCC 12.2.0]", 0x030a },
		{ "3.7.17 (default)", 0 }, { "2.7.18", 0 }, { "3.10", 0 }, { "3.", 0 }, { "", 0 },
		{ "3.266.1", 0 }, { "259.10.1", 0 }, { "Python 3.10.1", 0 },
	};
	const unsigned long variable = 0x030c01f0;

	CHECK(!python_layout(0x030700f0) && !python_layout(0x036300f0));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct py_layout layout = { .version = 0 };
		struct py_said said = { .text = say_version };

		text_of_version = cases[i].text;
		CHECK(py_layout_here(&layout, &said) == (cases[i].version != 0));
		CHECK_INT(layout.version, cases[i].version);
		said.version = &variable;
		CHECK(py_layout_here(&layout, &said));
		CHECK_INT(layout.version, 0x030c);
	}
}

/* Written down from the structures of these versions, beside the words that they say. */
TEST(python_layout_said)
{
	const struct py_layout *old = python_layout(PYTHON_3_13), *new = python_layout(PYTHON_3_14);
	const struct py_layout *newest;

	CHECK(old && new);
	CHECK(old->current == 72 && old->id == 160 && old->code == 0 && old->previous == 8);
	CHECK(old->instr == 56 && old->owner == 70 && old->locals == 72 && old->bytecode == 200);
	CHECK(old->first_line == 68 && old->n_locals == 72 && old->filename == 112);
	CHECK(old->name == 128 && old->ascii == 40 && old->wide == 56 && old->items == 24);
	CHECK(!old->tags && old->collecting == 7600);
	CHECK(new->current == 72 && new->id == 160 && new->code == 0 && new->previous == 8);
	CHECK(new->instr == 56 && new->owner == 74 && new->locals == 80 && new->bytecode == 208);
	CHECK(new->first_line == 68 && new->n_locals == 72 && new->filename == 112);
	CHECK(new->name == 128 && new->ascii == 40 && new->wide == 56 && new->items == 32);
	CHECK(new->tags == 1 && new->collecting == 7600);
	newest = python_layout(PYTHON_3_15);
	CHECK(newest && newest->current == 72 && newest->id == 184 && newest->code == 0);
	CHECK(newest->previous == 8 && newest->instr == 56 && newest->owner == 74);
	CHECK(newest->locals == 80 && newest->bytecode == 208 && newest->first_line == 68);
	CHECK(newest->filename == 112 && newest->name == 128 && newest->items == 32);
	CHECK(newest->tags == 1 && newest->collecting == 7512 && newest->copies == -1);
	CHECK(old->head == 16 && new->head == 16 && new->ob_type == 8 && new->str_kind == 2);
	CHECK(old->copies == -1 && new->copies == -1);
}

TEST(python_layout_said_without_gil)
{
	const struct py_layout *layout = python_layout(PYTHON_3_14T);

	CHECK(layout && layout != python_layout(PYTHON_3_14));
	CHECK(layout->head == 32 && layout->ob_type == 24 && layout->items == 48);
	CHECK(layout->ascii == 56 && layout->wide == 72 && layout->str_kind == 8);
	CHECK(layout->current == 72 && layout->code == 0 && layout->previous == 8);
	CHECK(layout->instr == 56 && layout->owner == 78 && layout->locals == 80);
	CHECK(layout->bytecode == 232 && layout->first_line == 84 && layout->n_locals == 88);
	CHECK(layout->filename == 128 && layout->name == 144);
	CHECK(layout->copies == 224 && layout->copy == 72);
	CHECK(!python_layout(PYTHON_3_13T));	/* never tried */
}

/* A reference is the address without its lowest bit, or a number. */
TEST(python_layout_references)
{
	const struct py_layout *layout = python_layout(PYTHON_3_14);
	uint64_t words[3] = { 0x7f0000001001, 0x7f0000001000, 0x2b };

	CHECK_INT(py_reference(layout, (char *)words, 0), 0x7f0000001000);
	CHECK_INT(py_reference(layout, (char *)words, 8), 0x7f0000001000);
	CHECK_INT(py_reference(layout, (char *)words, 16), 0);
	words[0] = 1;			/* none */
	CHECK_INT(py_reference(layout, (char *)words, 0), 0);
	CHECK_INT(py_code(layout, (char *)words), 0);
	/* before there were such bits */
	words[0] = 0x7f0000001000;
	CHECK_INT(py_reference(python_layout(PYTHON_3_13), (char *)words, 0), 0x7f0000001000);
}

/* What is wrong with what a build says. */
enum wrong { NOTHING, SIZE, NONE, SHORT, OTHER, BETA, MARK, GIL, WRONGS };

static bool taken_with(enum wrong wrong, unsigned long build)
{
	char runtime[PY_RUNTIME_BYTES];
	struct py_layout layout;
	unsigned long version = build;
	struct py_said said = python_said(&version, runtime);

	switch (wrong) {
	case SIZE:
		said.runtime_size += 8;
		break;
	case NONE:
		said.runtime = NULL;
		break;
	case SHORT:
		said.runtime_bytes = 512;
		break;
	case OTHER:		/* than its variable says */
		version += 0x100;
		break;
	case BETA:		/* the order of its words may change still */
		version -= 0x40;
		memcpy(runtime + 8, &version, 8);
		break;
	case MARK:
		runtime[0] = 'X';
		break;
	case GIL:		/* its objects say the opposite */
		runtime[16] ^= 1;
		break;
	case NOTHING:
	case WRONGS:
		break;
	}
	return py_layout_here(&layout, &said);
}

TEST(python_layout_refused)
{
	for (size_t i = 0; i < BUILDS; i++)
		for (enum wrong wrong = NOTHING; wrong < WRONGS; wrong++)
			CHECK_INT(taken_with(wrong, builds[i]), wrong == NOTHING);
}

/* A version that says the words of another one, and words of any value: what is taken leads nowhere
 * outside of what is copied of a frame and of a code object. */
TEST(python_layout_anything)
{
	unsigned taken = 0, refused = 0;

	for (int i = 0; i < 400000; i++) {
		char runtime[PY_RUNTIME_BYTES];
		struct py_layout layout;
		unsigned long version = builds[(unsigned)i % BUILDS];
		unsigned long says = test_below(8) ? version : builds[test_below(BUILDS)];
		struct py_said said = python_said(&says, runtime);
		unsigned changes = (unsigned)test_below(4);

		version &= ~PYTHON_WITHOUT_GIL;
		memcpy(runtime + 8, &version, 8);
		said.version = &version;
		said.runtime_size = 0;
		for (unsigned k = 0; k < changes; k++) {
			uint64_t word = test_below(2) ? test_below(512) : test_random();

			memcpy(runtime + 16 + 8 * test_below(94), &word, 8);
		}
		if (!py_layout_here(&layout, &said)) {
			refused++;
			continue;
		}
		taken++;
		CHECK(says == version);
		CHECK(layout.frame_bytes <= PY_FRAME_BYTES && layout.code_bytes <= PY_CODE_BYTES);
		CHECK(layout.code >= 0 && layout.code + 8 <= layout.frame_bytes);
		CHECK(layout.instr >= 0 && layout.instr + 8 <= layout.frame_bytes);
		CHECK(layout.previous >= 0 && layout.previous + 8 <= layout.frame_bytes);
		CHECK(layout.owner >= 0 && layout.owner < layout.frame_bytes);
		CHECK(layout.filename >= 0 && layout.name + 16 <= layout.code_bytes);
		CHECK(layout.first_line >= 0 && layout.n_locals + 4 <= layout.code_bytes);
		CHECK(layout.copies + 8 <= layout.code_bytes);
		CHECK(layout.copy + 4 <= layout.frame_bytes);
		CHECK(layout.copies == -1 || (layout.copies > 0 && layout.copy > 0));
		CHECK(layout.current >= 0 && layout.id >= 0 && layout.collecting >= 0);
	}
	CHECK(taken > 50000 && refused > 50000);
}
