/* SPDX-License-Identifier: MIT */
/* A runtime whose tap contains the test's data; its names are exported as the real runtime's. */
#include <string.h>

#include "probes/runtime/tap.h"

#define API __attribute__((visibility("default")))

API struct rt_tap_work fake_work[RT_TAP_MAX];
API uint32_t fake_count, fake_opens, fake_closes, fake_settles;
API bool fake_refuses;
static bool is_open;

bool rt_tap_open(void)
{
	if (fake_refuses || is_open)
		return false;
	fake_opens++;
	return is_open = true;
}

void rt_tap_settle(int64_t wait_ns)
{
	fake_settles += wait_ns > 0 && wait_ns <= 1000000000;
}

uint32_t rt_tap_count(uint64_t *dropped)
{
	*dropped = 0;
	return fake_count;
}

bool rt_tap_take(uint32_t i, struct rt_tap_work *out, size_t size)
{
	if (i >= fake_count || !fake_work[i].name)
		return false;
	memcpy(out, &fake_work[i], size);
	return true;
}

void rt_tap_close(void)
{
	fake_closes += is_open;
	is_open = false;
}
