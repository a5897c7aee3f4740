/* SPDX-License-Identifier: MIT */
#include "tui/draw/theme.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const colour_names[8] = {
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
};

static const struct { const char *name; unsigned attr; } attr_names[] = {
	{"bold", ATTR_BOLD}, {"underline", ATTR_UNDERLINE},
	{"reverse", ATTR_REVERSE}, {"dim", ATTR_DIM},
};

void theme_init(struct theme *theme)
{
	int i, j;

	memset(theme, 0, sizeof(*theme));
	for (i = 0; i < ROLE_COUNT; i++)
		for (j = 0; j < 2; j++)
			theme->roles[i].fg[j] = theme->roles[i].bg[j] = COLOUR_DEFAULT;
}

struct rgb { int r, g, b; };

/* The colours of xterm's palette of 256; the first 16 as in most terminals. */
static struct rgb colour_rgb(int colour)
{
	static const struct rgb basic[16] = {
		{0, 0, 0}, {205, 0, 0}, {0, 205, 0}, {205, 205, 0},
		{0, 0, 238}, {205, 0, 205}, {0, 205, 205}, {229, 229, 229},
		{127, 127, 127}, {255, 0, 0}, {0, 255, 0}, {255, 255, 0},
		{92, 92, 255}, {255, 0, 255}, {0, 255, 255}, {255, 255, 255},
	};
	static const int level[6] = {0, 95, 135, 175, 215, 255};

	if (colour < 16)
		return basic[colour];
	if (colour >= 232)
		return (struct rgb){8 + (colour - 232) * 10, 8 + (colour - 232) * 10,
				    8 + (colour - 232) * 10};
	colour -= 16;
	return (struct rgb){level[colour / 36], level[colour / 6 % 6], level[colour % 6]};
}

static short nearest_of_eight(int colour)
{
	struct rgb want = colour_rgb(colour);
	int i, best = 0, best_distance = INT32_MAX;

	if (colour < 8)
		return (short)colour;
	for (i = 0; i < 8; i++) {
		struct rgb have = colour_rgb(i);
		int r = have.r - want.r, g = have.g - want.g, b = have.b - want.b;
		int distance = r * r + g * g + b * b;

		if (distance < best_distance) {
			best_distance = distance;
			best = i;
		}
	}
	return (short)best;
}

/* Perceived brightness of a background, 0 … 255. */
static int brightness(int colour)
{
	struct rgb rgb = colour_rgb(colour);

	return (rgb.r * 299 + rgb.g * 587 + rgb.b * 114) / 1000;
}

static bool parse_colour(const char *text, size_t length, short *colour)
{
	char name[24], *end;
	long number;
	int i, bright = 0;

	if (!length || length >= sizeof(name))
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	if (strcmp(name, "default") == 0) {
		*colour = COLOUR_DEFAULT;
		return true;
	}
	if (strncmp(name, "bright-", 7) == 0)
		bright = 7;
	for (i = 0; i < 8; i++)
		if (strcmp(colour_names[i], name + bright) == 0) {
			*colour = (short)(i + (bright ? 8 : 0));
			return true;
		}
	number = strtol(name, &end, 10);
	if (*end || name[0] < '0' || name[0] > '9' || number > 255)
		return false;
	*colour = (short)number;
	return true;
}

/* Parses COLOUR or COLOUR|COLOUR. */
static bool parse_colours(const char *text, short colours[2])
{
	const char *bar = strchr(text, '|');

	if (!parse_colour(text, bar ? (size_t)(bar - text) : strlen(text), &colours[0]))
		return false;
	if (bar)
		return parse_colour(bar + 1, strlen(bar + 1), &colours[1]);
	colours[1] = colours[0] == COLOUR_DEFAULT ? COLOUR_DEFAULT : nearest_of_eight(colours[0]);
	return true;
}

static bool parse_attr(const char *text, unsigned char attr[2])
{
	size_t i, length;

	for (i = 0; i < sizeof(attr_names) / sizeof(*attr_names); i++) {
		length = strlen(attr_names[i].name);
		if (strncmp(text, attr_names[i].name, length))
			continue;
		if (text[length] && strcmp(text + length, "16"))
			continue;
		attr[1] |= (unsigned char)attr_names[i].attr;
		if (!text[length])
			attr[0] |= (unsigned char)attr_names[i].attr;
		return true;
	}
	return false;
}

static enum theme_depth depth_of(const struct theme *theme)
{
	int most = COLOUR_DEFAULT;

	for (int i = 0; i < ROLE_COUNT; i++) {
		most = theme->roles[i].fg[0] > most ? theme->roles[i].fg[0] : most;
		most = theme->roles[i].bg[0] > most ? theme->roles[i].bg[0] : most;
	}
	return most == COLOUR_DEFAULT ? DEPTH_MONO : most < 16 ? DEPTH_16 : DEPTH_256;
}

bool theme_set(struct theme *theme, int argc, const char *const *argv,
	       char *error, size_t error_size)
{
	short fg[2], bg[2] = {COLOUR_DEFAULT, COLOUR_DEFAULT};
	int role = role_by_name(argv[0]), i = 2, j;
	unsigned char attr[2] = {0, 0};

	if (role < 0) {
		snprintf(error, error_size, "unknown role '%s'", argv[0]);
		return false;
	}
	if (!parse_colours(argv[1], fg)) {
		snprintf(error, error_size, "unknown colour '%s'", argv[1]);
		return false;
	}
	if (argc > 2 && parse_colours(argv[2], bg))
		i = 3;
	for (; i < argc; i++)
		if (!parse_attr(argv[i], attr)) {
			snprintf(error, error_size, "unknown colour or attribute '%s'", argv[i]);
			return false;
		}
	for (j = 0; j < 2; j++) {
		theme->roles[role].fg[j] = fg[j];
		theme->roles[role].bg[j] = bg[j];
		theme->roles[role].attr[j] = attr[j];
	}
	theme->depth = depth_of(theme);
	return true;
}

struct theme_look theme_look(const struct theme *theme, const struct cell *cell,
			     enum theme_depth depth)
{
	unsigned fg = cell->fg < ROLE_COUNT ? cell->fg : 0;
	unsigned bg = cell->bg < ROLE_COUNT ? cell->bg : 0;
	/* also for a theme without colours, which has attributes only */
	int few = depth != DEPTH_256;
	struct theme_look look = {
		.fg = theme->roles[fg].fg[few],
		.bg = COLOUR_DEFAULT,
		.attr = (unsigned char)(theme->roles[fg].attr[few] | cell->attr),
	};

	if (bg) {
		look.bg = theme->roles[bg].bg[few];
		if (look.bg == COLOUR_DEFAULT && !(theme->roles[bg].attr[few] & ATTR_REVERSE))
			look.bg = theme->roles[bg].fg[few];
		look.attr |= theme->roles[bg].attr[few] & ATTR_REVERSE;
	}
	/* dim and reverse apply to a role on its own background, not to text over it */
	if (!bg && !(cell->attr & ATTR_REVERSE))
		look.attr &= (unsigned char)~ATTR_REVERSE;
	if (depth == DEPTH_MONO || theme->depth == DEPTH_MONO) {
		look.fg = look.bg = COLOUR_DEFAULT;
		if (bg)
			look.attr |= ATTR_REVERSE;
		return look;
	}
	if (fg == ROLE_DEFAULT && look.bg != COLOUR_DEFAULT)
		look.fg = brightness(look.bg) > 110 ? (few ? 0 : 16) : (few ? 7 : 231);
	if (look.fg == look.bg && look.fg != COLOUR_DEFAULT && fg != bg)
		look.fg = brightness(look.bg) > 110 ? 0 : 7;
	return look;
}
