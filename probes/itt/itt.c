/* SPDX-License-Identifier: MIT */
/* How the ITT probe is connected to the static part in each module, and disconnected. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probes/itt/abi.h"
#include "probes/itt/calls.h"
#include "probes/itt/open.h"
#include "probes/runtime/runtime.h"
#include "probes/runtime/slots.h"

#define ITT_API __attribute__((visibility("default")))
#define CHAIN_ENV "TFTOP_CHAIN_" ITT_PATH_ENV
#define SLOTS_MAX 128
#define LIST_MAX 4096	/* a longer list does not come from ITT */

/* Ranges that end while the level is off end unseen. */
static void on_level(enum tft_level old_level, enum tft_level new_level)
{
	(void)old_level;
	if (new_level == TFT_LEVEL_OFF)
		open_forget();
}

static struct rt_probe probe = {
	.name = "itt",
	.version = TFTOP_VERSION,
	.blind = "tasks with a clock of their own, counters and metadata, which are only counted",
	.level = on_level,
	.fork_child = itt_calls_fork_child,
};

static const unsigned char magic[8] = { 0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30 };

static const struct itt_hook *hook_of(const char *name)
{
	for (size_t i = 0; i < itt_hook_count; i++)
		if (!strcmp(itt_hooks[i].name, name))
			return &itt_hooks[i];
	return NULL;
}

/* Sets what a program sees if there is no tool. */
static void take_nothing(struct itt_global *global)
{
	struct itt_api *api = global->api_list;

	for (int n = 0; api && api->name && n < LIST_MAX; api++, n++)
		if (api->function)
			*api->function = api->null_function;
}

static void itt_hook_module(struct itt_global *global)
{
	struct rt_slot slots[SLOTS_MAX];
	struct itt_api *api = global->api_list;
	int count = 0;

	for (int n = 0; api && api->name && n < LIST_MAX; api++, n++) {
		const struct itt_hook *h = hook_of(api->name);

		if (!api->function)
			continue;
		if (!h || count == SLOTS_MAX) {
			*api->function = api->null_function;
			continue;
		}
		slots[count++] = (struct rt_slot){
			.at = api->function,
			.ours = (void *)h->ours,
			.off = h->keep ? (void *)h->ours : api->null_function,
		};
	}
	rt_slots_add(slots, count);
}

/* The user's own collector gets the module, as without tftop. */
static bool itt_load_users_tool(struct itt_global *global, int groups)
{
	const char *path = getenv(CHAIN_ENV);
	static atomic_bool told;
	void (*init)(struct itt_global *, int);
	struct itt_api *api = global->api_list;
	void *h;

	if (!path || !*path || !(h = dlopen(path, RTLD_LAZY)))
		return false;
	init = (void (*)(struct itt_global *, int))dlsym(h, "__itt_api_init");
	global->library = h;
	if (init) {
		init(global, groups);
	} else {
		/* an old one: its functions are found by name */
		for (int n = 0; api && api->name && n < LIST_MAX; api++, n++) {
			void *fn = dlsym(h, api->name);

			if (api->function)
				*api->function = fn ? fn : api->null_function;
		}
	}
	if (!atomic_exchange(&told, true) && rt_probe_register(&probe))
		rt_emit_message(1, "the program's own ITT collector is in use; "
				   "its tasks are not seen here");
	return true;
}

ITT_API void __itt_api_init(struct itt_global *global, int groups);
ITT_API void __itt_api_init(struct itt_global *global, int groups)
{
	int saved = errno;

	if (global && !memcmp(global->magic, magic, sizeof(magic)) &&
	    global->version_build >= ITT_BUILD_MIN && !itt_load_users_tool(global, groups)) {
		if (rt_probe_register(&probe))
			itt_hook_module(global);
		else
			take_nothing(global);
	}
	errno = saved;
}

/* Afterwards the static part puts its own null functions everywhere. If the user's collector is in
 * use, `library` is that collector, and this function is not called. */
ITT_API void __itt_api_fini(struct itt_global *global);
ITT_API void __itt_api_fini(struct itt_global *global)
{
	struct itt_api *api = global ? global->api_list : NULL;

	for (int n = 0; api && api->name && n < LIST_MAX; api++, n++)
		if (api->function)
			rt_slots_drop(api->function);
}
