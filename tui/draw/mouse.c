/* SPDX-License-Identifier: MIT */
#include "tui/draw/mouse.h"

#include <stdio.h>
#include <string.h>

/* The button code of xterm: the two low bits are the button, the others are flags. */
#define CODE_BUTTON 3
#define CODE_SHIFT 4
#define CODE_ALT 8
#define CODE_CTRL 16
#define CODE_MOTION 32
#define CODE_WHEEL 64
#define CODE_MOST 127			/* codes above this are buttons that tftop does not use */
#define NO_BUTTON 3
#define PLACE_MOST 9999
#define BYTES_PLACE_MOST 222		/* the largest coordinate that one byte can encode */

bool mouse_is_wheel(const struct mouse *mouse)
{
	return mouse->what >= MOUSE_WHEEL_UP;
}

bool mouse_inside(const struct mouse *mouse, int width, int height)
{
	return mouse->x >= 0 && mouse->y >= 0 && mouse->x < width && mouse->y < height;
}

static bool mouse_from_code(unsigned code, bool released, struct mouse *mouse)
{
	unsigned button = code & CODE_BUTTON;

	if (code > CODE_MOST)
		return false;
	mouse->mods = (code & CODE_SHIFT ? MOD_SHIFT : 0) | (code & CODE_ALT ? MOD_ALT : 0) |
		      (code & CODE_CTRL ? MOD_CTRL : 0);
	mouse->button = 0;
	if (code & CODE_WHEEL) {
		mouse->what = MOUSE_WHEEL_UP + button;
		return !released;
	}
	mouse->button = button == NO_BUTTON ? 0 : (int)button + 1;
	mouse->what = code & CODE_MOTION ? MOUSE_DRAG :
		      released || button == NO_BUTTON ? MOUSE_RELEASE : MOUSE_PRESS;
	return true;
}

bool mouse_from_sgr(const char *text, char last, struct mouse *mouse)
{
	unsigned code, x, y;
	int length = 0;

	if (last != 'M' && last != 'm')
		return false;
	if (sscanf(text, "%4u;%4u;%4u%n", &code, &x, &y, &length) != 3 || text[length])
		return false;
	if (x < 1 || y < 1 || x > PLACE_MOST || y > PLACE_MOST)
		return false;
	mouse->x = (int)x - 1;
	mouse->y = (int)y - 1;
	return mouse_from_code(code, last == 'm', mouse);
}

bool mouse_from_bytes(const unsigned char bytes[3], struct mouse *mouse)
{
	if (bytes[0] < 32 || bytes[1] < 33 || bytes[2] < 33)
		return false;
	mouse->x = bytes[1] - 33;
	mouse->y = bytes[2] - 33;
	return mouse_from_code(bytes[0] - 32u, false, mouse);
}

static unsigned to_code(const struct mouse *mouse)
{
	unsigned code = mouse_is_wheel(mouse) ?
			CODE_WHEEL + (unsigned)(mouse->what - MOUSE_WHEEL_UP) :
			mouse->button ? (unsigned)mouse->button - 1 : NO_BUTTON;

	code |= (mouse->mods & MOD_SHIFT ? CODE_SHIFT : 0) |
		(mouse->mods & MOD_ALT ? CODE_ALT : 0) | (mouse->mods & MOD_CTRL ? CODE_CTRL : 0);
	return mouse->what == MOUSE_DRAG ? code | CODE_MOTION : code;
}

size_t mouse_to_sgr(const struct mouse *mouse, char *text, size_t size)
{
	snprintf(text, size, "\033[<%u;%d;%d%c", to_code(mouse), mouse->x + 1, mouse->y + 1,
		 mouse->what == MOUSE_RELEASE ? 'm' : 'M');
	return strlen(text);
}

size_t mouse_to_bytes(const struct mouse *mouse, char bytes[6])
{
	unsigned code = to_code(mouse);

	if (mouse->x > BYTES_PLACE_MOST || mouse->y > BYTES_PLACE_MOST)
		return 0;
	if (mouse->what == MOUSE_RELEASE)
		code |= NO_BUTTON;
	bytes[0] = '\033';
	bytes[1] = '[';
	bytes[2] = 'M';
	bytes[3] = (char)(code + 32);
	bytes[4] = (char)(mouse->x + 33);
	bytes[5] = (char)(mouse->y + 33);
	return 6;
}
