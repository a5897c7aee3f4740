/* SPDX-License-Identifier: MIT */
#include "tui/base/options.h"

const char *options_level_name(enum tft_level level)
{
	static const char *const names[] = {
		[TFT_LEVEL_OFF] = "off", [TFT_LEVEL_MIN] = "min",
		[TFT_LEVEL_DEFAULT] = "default", [TFT_LEVEL_FULL] = "full",
	};

	return names[level];
}
