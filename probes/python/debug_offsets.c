/* SPDX-License-Identifier: MIT */
/*
 * The layout of a CPython from 3.13 on, by what it says of itself: its variable _PyRuntime begins
 * with struct _Py_DebugOffsets (Include/internal/pycore_debug_offsets.h; 3.13: pycore_runtime.h),
 * which is made for debuggers and profilers. It has a mark, the version, and for each structure its
 * size and the offsets of members, as words of 8 bytes.
 *
 * Each version adds words in between, and nothing in there says which there are: so a version is
 * read only where its order is known here. What the words do not tell is in this file too, from
 * pycore_interpframe_structs.h, pycore_stackref.h and unicodeobject.h. All the rest is the build's
 * own word, and is taken only if it agrees with itself; otherwise nothing is.
 */
#include "probes/python/known.h"

#define MARK "xdebugpy"
#define RELEASE 0xc		/* the level in Py_Version from which on a version's order stays */
#define STATE_BYTES 65536	/* more than a thread's state has */
#define INTERPRETER_BYTES (64 << 20)

/* The words that are used. */
enum word {
	FREE_THREADED, RUNTIME_SIZE, GC, STATE_NEXT, STATE_FRAME, STATE_ID,
	FRAME_PREVIOUS, FRAME_CODE, FRAME_INSTR, FRAME_LOCALS, FRAME_OWNER, FRAME_COPY,
	CODE_FILE, CODE_NAME, CODE_LINES, CODE_FIRST_LINE, CODE_BYTECODE, CODE_COPIES,
	OBJECT_SIZE, OBJECT_TYPE, TYPE_NAME, TUPLE_ITEMS, TUPLE_SIZE, INT_DIGITS, BYTES_SIZE,
	BYTES_DATA, STR_STATE, STR_LENGTH, STR_ASCII, GC_COLLECTING, WORDS
};

struct py_words {
	uint32_t version;
	uint8_t at[WORDS];		/* the number of each in the structure; 0: it has none */
	/* as in struct py_layout, the latter of a build without a GIL; 0: such are not read */
	uintptr_t tags;
	unsigned str_kind;
};

static const struct py_words known_words[] = {
	{ 0x030d, { 2, 3, 10, 21, 23, 25, 29, 30, 31, 32, 33, 0, 35, 37, 38, 39, 43, 0, 44, 45,
		    47, 51, 52, 63, 65, 66, 68, 69, 70, 72 }, 0, 0 },
	{ 0x030e, { 2, 3, 11, 24, 26, 28, 32, 33, 34, 35, 36, 38, 40, 42, 43, 44, 48, 49, 50, 51,
		    53, 57, 58, 73, 75, 76, 78, 79, 80, 82 }, 1, 8 },
	{ 0x030f, { 2, 3, 11, 24, 26, 31, 40, 41, 42, 43, 44, 46, 48, 50, 51, 52, 56, 57, 58, 59,
		    61, 69, 70, 85, 87, 88, 90, 91, 92, 95 }, 1, 0 },
};

static const struct py_words *py_words_of(const struct py_said *said)
{
	unsigned long version = said->version ? *said->version : 0;

	for (size_t i = 0; i < sizeof(known_words) / sizeof(known_words[0]); i++)
		if (known_words[i].version == version >> 16 && (version >> 4 & 15) >= RELEASE)
			return &known_words[i];
	return NULL;
}

/* The words that are used, as they are there. */
static bool py_take_words(uint64_t word[WORDS], const struct py_words *order,
			  const struct py_said *said)
{
	if (!said->runtime || said->runtime_bytes < PY_RUNTIME_BYTES ||
	    memcmp(said->runtime, MARK, sizeof(MARK) - 1) ||
	    py_word(said->runtime, 8) != *said->version)
		return false;
	for (int i = 0; i < WORDS; i++)
		word[i] = order->at[i] ? py_word(said->runtime, order->at[i] * 8) : 0;
	return !said->runtime_size || word[RUNTIME_SIZE] == said->runtime_size;
}

/* Whether what every object begins with, and what follows that, is as struct py_layout has it. It
 * is longer where there is no GIL, for counts of references by several threads. */
static bool py_are_objects(const uint64_t word[WORDS])
{
	uint64_t head = word[OBJECT_SIZE];

	return head == (word[FREE_THREADED] ? 32 : 16) && word[OBJECT_TYPE] == head - 8 &&
	       word[TYPE_NAME] == head + 8 && word[INT_DIGITS] == head + 8 &&
	       word[BYTES_SIZE] == head && word[BYTES_DATA] == head + 16 &&
	       word[STR_LENGTH] == head && word[STR_STATE] == head + 16 &&
	       word[STR_ASCII] == head + 24 && word[TUPLE_SIZE] == head &&
	       (word[TUPLE_ITEMS] == head + 8 || word[TUPLE_ITEMS] == head + 16);
}

/* Whether these are offsets of different pointers in so many bytes, a multiple of 8. */
static bool py_are_pointers(const uint64_t *word, int n, uint64_t bytes)
{
	for (int i = 0; i < n; i++) {
		if (word[i] % 8 || word[i] >= bytes)
			return false;
		for (int k = 0; k < i; k++)
			if (word[k] == word[i])
				return false;
	}
	return true;
}

static bool py_are_frames(const uint64_t word[WORDS])
{
	const uint64_t pointers[] = {
		word[FRAME_PREVIOUS], word[FRAME_CODE], word[FRAME_INSTR],
	};
	uint64_t bytes = word[FRAME_LOCALS];

	return bytes <= PY_FRAME_BYTES && bytes % 8 == 0 && py_are_pointers(pointers, 3, bytes) &&
	       word[FRAME_OWNER] > word[FRAME_INSTR] + 7 && word[FRAME_OWNER] < bytes;
}

static bool py_is_code(const uint64_t word[WORDS])
{
	const uint64_t pointers[] = { word[CODE_FILE], word[CODE_NAME], word[CODE_LINES] };
	uint64_t bytes = word[CODE_BYTECODE];

	return bytes <= PY_CODE_BYTES && bytes % 8 == 0 && py_are_pointers(pointers, 3, bytes) &&
	       word[CODE_LINES] == word[CODE_NAME] + 8 && word[CODE_FIRST_LINE] % 4 == 0 &&
	       word[CODE_FIRST_LINE] < bytes && word[CODE_FIRST_LINE] + 8 <= word[CODE_FILE];
}

/* Whether the copies of bytecode are where they can be; there may be none at all. */
static bool py_are_copies(const uint64_t word[WORDS])
{
	uint64_t frame = word[FRAME_COPY], code = word[CODE_COPIES];

	if (!frame && !code)
		return true;
	return word[FREE_THREADED] && frame % 4 == 0 && frame > word[FRAME_INSTR] + 7 &&
	       frame < word[FRAME_OWNER] && code % 8 == 0 && code > word[CODE_LINES] &&
	       code < word[CODE_BYTECODE];
}

static bool py_are_states(const uint64_t word[WORDS])
{
	const uint64_t pointers[] = { word[STATE_NEXT], word[STATE_FRAME], word[STATE_ID] };

	return py_are_pointers(pointers, 3, STATE_BYTES) && word[STATE_NEXT] == 8 &&
	       word[GC] < INTERPRETER_BYTES && word[GC_COLLECTING] < INTERPRETER_BYTES;
}

bool py_layout_said(struct py_layout *layout, const struct py_said *said)
{
	const struct py_words *order = py_words_of(said);
	uint64_t word[WORDS];

	if (!order || !py_take_words(word, order, said) ||
	    word[FREE_THREADED] > (order->str_kind != 0) || !py_are_objects(word) ||
	    !py_are_frames(word) || !py_is_code(word) || !py_are_copies(word) ||
	    !py_are_states(word))
		return false;
	*layout = (struct py_layout) {
		.version = order->version, .ob_type = (int)word[OBJECT_TYPE],
		.head = (int)word[OBJECT_SIZE], .items = (int)word[TUPLE_ITEMS],
		.str_kind = word[FREE_THREADED] ? order->str_kind : 2,
		.ascii = (int)word[STR_ASCII], .wide = (int)word[STR_ASCII] + 16,
		.cframe = -1, .current = (int)word[STATE_FRAME], .id = (int)word[STATE_ID],
		.type = -1, .code = (int)word[FRAME_CODE], .instr = (int)word[FRAME_INSTR],
		.previous = (int)word[FRAME_PREVIOUS], .owner = (int)word[FRAME_OWNER],
		.locals = (int)word[FRAME_LOCALS], .tags = order->tags,
		.frame_bytes = (int)word[FRAME_LOCALS], .c_owner = 3,
		.bytecode = (int)word[CODE_BYTECODE], .filename = (int)word[CODE_FILE],
		.name = (int)word[CODE_NAME], .first_line = (int)word[CODE_FIRST_LINE],
		/* their number follows the first line */
		.n_locals = (int)word[CODE_FIRST_LINE] + 4,
		.code_bytes = (int)word[CODE_BYTECODE], .attribute = "co_qualname",
		.lines = PY_LINES_LOCATIONS, .cells = -1,
		.copies = word[CODE_COPIES] ? (int)word[CODE_COPIES] : -1,
		.copy = (int)word[FRAME_COPY],
		.collecting = (int)(word[GC] + word[GC_COLLECTING]),
	};
	return true;
}
