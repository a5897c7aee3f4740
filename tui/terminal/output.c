/* SPDX-License-Identifier: MIT */
#include "tui/terminal/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/grid.h"

/* Code points of a line: 4 bytes each fit into OUTPUT_LINE_MAX. */
#define POINTS_MAX (OUTPUT_LINE_MAX / 4 - 1)
#define TAB 8
/* A control string (title, hyperlink) longer than this is not one. */
#define STRING_MAX 4096
#define PARAMS_MAX 8			/* of a private CSI; more are not looked at */

enum output_state {
	GROUND, ESCAPE, ESCAPE_MORE,	/* ESC, ESC with intermediates */
	CSI, CSI_PRIVATE, CSI_BAD,	/* private: "?" before the parameters */
	STRING, STRING_ESCAPE,		/* OSC, DCS, APC, PM, SOS; ESC in one */
};

struct program_output {
	/* a ring of finished lines */
	char **lines;			/* owned, and each line; cap is a power of 2 */
	size_t cap, begin, count, bytes;
	uint64_t dropped;		/* lines that went out of the ring */
	uint64_t generation;
	/* the line being written */
	uint32_t points[POINTS_MAX];
	int length, column;
	char current[OUTPUT_LINE_MAX];	/* as text, made when asked for */
	bool current_stale;
	/* the parser */
	enum output_state state;
	int string_bytes;
	unsigned param;			/* the first of a CSI; of a private one, the last */
	bool param_done, begun;
	unsigned params[PARAMS_MAX];	/* of a private one */
	int n_params;
	/* modes that PROGRAM set */
	bool presses, drags, moves, sgr;
	uint64_t cleared;		/* number of the line then, of all ever */
	char partial[4];		/* a code point's first bytes */
	int partial_size;
};

struct program_output *output_new(void)
{
	return xcalloc(1, sizeof(struct program_output));
}

static char **slot(const struct program_output *output, size_t i)
{
	return &output->lines[(output->begin + i) & (output->cap - 1)];
}

void output_free(struct program_output *output)
{
	size_t i;

	if (!output)
		return;
	for (i = 0; i < output->count; i++)
		free(*slot(output, i));
	free(output->lines);
	free(output);
}

/* ---- lines ---- */

static void drop_oldest(struct program_output *output)
{
	char **oldest = slot(output, 0);

	output->bytes -= strlen(*oldest) + 1;
	free(*oldest);
	*oldest = NULL;
	output->begin = (output->begin + 1) & (output->cap - 1);
	output->count--;
	output->dropped++;
}

static void output_make_room(struct program_output *output)
{
	size_t cap = output->cap ? 2 * output->cap : 256, i;
	char **lines;

	if (output->count < output->cap)
		return;
	lines = xcalloc(cap, sizeof(*lines));
	for (i = 0; i < output->count; i++)
		lines[i] = *slot(output, i);
	free(output->lines);
	output->lines = lines;
	output->cap = cap;
	output->begin = 0;
}

static size_t encode_current(const struct program_output *output, char *text)
{
	size_t size = 0;
	int i;

	for (i = 0; i < output->length; i++)
		size += (size_t)text_encode(output->points[i], text + size);
	text[size] = '\0';
	return size;
}

static void output_end_line(struct program_output *output)
{
	char text[OUTPUT_LINE_MAX];
	size_t size = encode_current(output, text) + 1;

	while (output->count >= OUTPUT_LINES_MAX ||
	       (output->count && output->bytes + size > OUTPUT_BYTES_MAX))
		drop_oldest(output);
	output_make_room(output);
	*slot(output, output->count) = xstrndup(text, size);
	output->count++;
	output->bytes += size;
	output->length = output->column = 0;
}

static void put_point(struct program_output *output, uint32_t ch)
{
	if (output->column >= POINTS_MAX)
		output_end_line(output);
	while (output->length < output->column)
		output->points[output->length++] = ' ';
	output->points[output->column++] = ch;
	if (output->length < output->column)
		output->length = output->column;
}

/* ---- the parser ---- */

static void output_control(struct program_output *output, unsigned char c)
{
	switch (c) {
	case '\n':
		output_end_line(output);
		break;
	case '\r':
		output->column = 0;
		break;
	case '\b':
		output->column -= output->column > 0;
		break;
	case '\t':
		output->column = (output->column / TAB + 1) * TAB;
		if (output->column > POINTS_MAX)
			output->column = POINTS_MAX;
		break;
	case 0x1b:
		output->state = ESCAPE;
		break;
	default:
		break;
	}
}

static void erase_line(struct program_output *output, unsigned what)
{
	int i;

	if (what == 0 && output->column < output->length)
		output->length = output->column;
	for (i = 0; what == 1 && i <= output->column && i < output->length; i++)
		output->points[i] = ' ';
	if (what == 2)
		output->length = 0;
}

static void delete_points(struct program_output *output, int count)
{
	int rest = output->length - output->column - count;

	if (output->column >= output->length)
		return;
	if (rest > 0)
		memmove(output->points + output->column,
			output->points + output->column + count,
			(size_t)rest * sizeof(*output->points));
	output->length = output->column + (rest > 0 ? rest : 0);
}

static uint64_t line_number(const struct program_output *output)
{
	return output->dropped + output->count;
}

/* CSI ? … h and l: of all modes only what the mouse does is of use here. */
static void output_set_modes(struct program_output *output, bool on)
{
	for (int i = 0; i < output->n_params; i++)
		switch (output->params[i]) {
		case 1000:
			output->presses = on;
			break;
		case 1002:
			output->drags = on;
			break;
		case 1003:
			output->moves = on;
			break;
		case 1006:
			output->sgr = on;
			break;
		default:
			break;
		}
}

static void reset_terminal(struct program_output *output)
{
	output->presses = output->drags = output->moves = output->sgr = false;
	output->cleared = line_number(output);
}

static void end_csi(struct program_output *output, unsigned char final)
{
	int n = output->param ? (int)output->param : 1;

	switch (final) {
	case 'J':
		if (output->param == 2)
			output->cleared = line_number(output);
		break;
	case 'K':
		erase_line(output, output->param);
		break;
	case 'P':
		delete_points(output, n);
		break;
	case 'C':
		output->column += n;
		break;
	case 'D':
		output->column -= n;
		break;
	case 'G':
		output->column = n - 1;
		break;
	default:
		break;
	}
	if (output->column < 0)
		output->column = 0;
	if (output->column > POINTS_MAX)
		output->column = POINTS_MAX;
}

static void end_param(struct program_output *output)
{
	if (output->n_params < PARAMS_MAX)
		output->params[output->n_params++] = output->param;
	output->param = 0;
}

static void feed_csi(struct program_output *output, unsigned char c)
{
	bool first = !output->begun, private = output->state == CSI_PRIVATE;

	output->begun = true;
	if (c >= '0' && c <= '9' && !output->param_done) {
		if (output->param < 10000)
			output->param = output->param * 10 + (c - '0');
	} else if (c == ';' || c == ':') {
		if (private)
			end_param(output);
		else
			output->param_done = true;
	} else if (c >= 0x40 && c <= 0x7e) {
		if (private)
			end_param(output);
		if (private && (c == 'h' || c == 'l'))
			output_set_modes(output, c == 'h');
		if (output->state == CSI)
			end_csi(output, c);
		output->state = GROUND;
	} else if (c >= 0x20 && c <= 0x3f) {
		if (c == '?' && first)
			output->state = CSI_PRIVATE;
		else if (c < '0' || c > '9')
			output->state = CSI_BAD;	/* nothing of ours */
	} else if (c == 0x18 || c == 0x1a) {
		output->state = GROUND;
	} else if (c < 0x20) {
		output_control(output, c);
	} else {
		output->state = GROUND;
	}
}

static void feed_string(struct program_output *output, unsigned char c)
{
	if (output->state == STRING_ESCAPE) {
		output->state = c == '\\' ? GROUND : STRING;
	} else if (c == 0x1b) {
		output->state = STRING_ESCAPE;
	} else if (c == 0x07 || c == 0x18 || c == 0x1a) {
		output->state = GROUND;
	} else if (c == '\n' || ++output->string_bytes > STRING_MAX) {
		output->state = GROUND;
		output_control(output, c);
	}
}

static void feed_escape(struct program_output *output, unsigned char c)
{
	if (c == '[' && output->state == ESCAPE) {
		output->state = CSI;
		output->param = 0;
		output->n_params = 0;
		output->param_done = output->begun = false;
	} else if (strchr("]PX^_", c) && c && output->state == ESCAPE) {
		output->state = STRING;
		output->string_bytes = 0;
	} else if (c >= 0x20 && c <= 0x2f) {
		output->state = ESCAPE_MORE;
	} else {
		bool plain = output->state == ESCAPE;

		output->state = GROUND;
		if (c < 0x20 && c != 0x18 && c != 0x1a)
			output_control(output, c);
		else if (c == 'E' && plain)
			output_end_line(output);
		else if (c == 'c' && plain)
			reset_terminal(output);
	}
}

/* Bytes outside of sequences, a code point at a time. */
static void feed_ground(struct program_output *output, unsigned char c)
{
	uint32_t ch;
	int used;

	if (output->partial_size == 0 && c < 0x20) {
		output_control(output, c);
		return;
	}
	output->partial[output->partial_size++] = (char)c;
	used = text_decode(output->partial, (size_t)output->partial_size, &ch);
	if (used < 0)
		return;				/* more of it comes */
	if (ch == 0xfffd && used < output->partial_size) {
		/* it broke off: what broke it begins anew */
		output->partial_size = 0;
		put_point(output, 0xfffd);
		feed_ground(output, c);
		return;
	}
	output->partial_size = 0;
	if (ch >= 0x20 && !(ch >= 0x7f && ch < 0xa0))
		put_point(output, ch);
}

void output_feed(struct program_output *output, const void *data, size_t size)
{
	const unsigned char *p = data;
	size_t i;

	for (i = 0; i < size; i++)
		switch (output->state) {
		case GROUND:
			feed_ground(output, p[i]);
			break;
		case ESCAPE:
		case ESCAPE_MORE:
			feed_escape(output, p[i]);
			break;
		case CSI:
		case CSI_PRIVATE:
		case CSI_BAD:
			feed_csi(output, p[i]);
			break;
		case STRING:
		case STRING_ESCAPE:
			feed_string(output, p[i]);
			break;
		}
	if (size) {
		output->current_stale = true;
		output->generation++;
	}
}

/* ---- reading ---- */

size_t output_count(const struct program_output *output)
{
	return output->count + (output->length > 0);
}

static const char *current_line(const struct program_output *output)
{
	/* the text is a cache: not part of what const protects */
	struct program_output *cache = (struct program_output *)(uintptr_t)output;

	if (cache->current_stale) {
		encode_current(output, cache->current);
		cache->current_stale = false;
	}
	return output->current;
}

const char *output_line(const struct program_output *output, size_t i)
{
	if (i < output->count)
		return *slot(output, i);
	return i == output->count && output->length ? current_line(output) : "";
}

uint64_t output_first(const struct program_output *output)
{
	return output->dropped;
}

const char *output_last(const struct program_output *output)
{
	size_t i = output_count(output), tried;

	for (tried = 0; i > 0 && tried < 64; tried++) {
		const char *line = output_line(output, --i);

		if (line[strspn(line, " ")])
			return line;
	}
	return "";
}

uint64_t output_generation(const struct program_output *output)
{
	return output->generation;
}

/* ---- the mouse and keys for PROGRAM ---- */

bool output_wants_mouse(const struct program_output *output)
{
	return output->presses || output->drags || output->moves;
}

size_t output_mouse_bytes(const struct program_output *output, const struct mouse *mouse,
			  size_t rows, char bytes[OUTPUT_MOUSE_MAX])
{
	uint64_t bottom = line_number(output), top = output->cleared;
	struct mouse its = *mouse;

	if (!output_wants_mouse(output) || !rows || mouse->x < 0 || mouse->y < 0)
		return 0;
	if (mouse->what == MOUSE_DRAG && !output->drags && !output->moves)
		return 0;
	/* Its cursor is in the last line, at the latest. */
	if (bottom - top >= rows)
		top = bottom - rows + 1;
	if (output->dropped + (uint64_t)mouse->y < top)
		return 0;
	its.y = (int)(output->dropped + (uint64_t)mouse->y - top);
	if ((size_t)its.y >= rows)
		return 0;
	return output->sgr ? mouse_to_sgr(&its, bytes, OUTPUT_MOUSE_MAX)
			   : mouse_to_bytes(&its, bytes);
}

static const char *named_bytes(uint32_t code)
{
	static const char *const names[] = {
		"\033[A", "\033[B", "\033[D", "\033[C", "\033[H", "\033[F",
		"\033[5~", "\033[6~", "\033[2~", "\033[3~", "\177", "\t", "\r", "\033",
	};
	static const char *const functions[] = {
		"\033OP", "\033OQ", "\033OR", "\033OS", "\033[15~", "\033[17~",
		"\033[18~", "\033[19~", "\033[20~", "\033[21~", "\033[23~", "\033[24~",
	};

	if (code - KEYSYM_FIRST < sizeof(names) / sizeof(*names))
		return names[code - KEYSYM_FIRST];
	if (code - KEYSYM_F1 < sizeof(functions) / sizeof(*functions))
		return functions[code - KEYSYM_F1];
	return "";
}

size_t output_key_bytes(struct key key, char bytes[16])
{
	size_t size = 0, more;

	if (key.mods & MOD_ALT)
		bytes[size++] = '\033';
	if (key.code >= KEYSYM_FIRST) {
		const char *name = named_bytes(key.code);

		if (key.code == KEYSYM_TAB && (key.mods & MOD_SHIFT))
			name = "\033[Z";
		more = strlen(name);
		memcpy(bytes + size, name, more);
		return size + more;
	}
	if (key.mods & MOD_CTRL) {
		bytes[size++] = key.code == ' ' ? '\0' : (char)(key.code & 0x1f);
		return size;
	}
	return size + (size_t)text_encode(key.code, bytes + size);
}
