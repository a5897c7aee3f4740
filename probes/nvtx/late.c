/* SPDX-License-Identifier: MIT */
/*
 * Attaching to a running program. Each of its modules contains NVTX with hidden globals
 * (nvtxGlobals_t of nvtxDetail/nvtxImpl.h): a state and two tables with their sizes, each with a
 * pointer to a function of the same module. By this pattern they are found in the module's data,
 * stripped or not. A module that was initialised without a tool has empty slots and never looks for
 * a tool again. A module that has not begun is initialised here, which happens only once.
 *
 * Threads: the attaching one, later the runtime's.
 */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "probes/nvtx/probe.h"

#define BEGIN_TRIES 100			/* 1 ms each: another thread is initialising the module */
#define VERSION_MAX 16

enum { FRESH, STARTED, COMPLETE };	/* its states */

struct globals {
	uint32_t state, zero;
	struct nvtx_callbacks callbacks;
	struct nvtx_version version;
};

_Static_assert(sizeof(struct nvtx_callbacks) == 16 && sizeof(struct nvtx_version) == 24,
	       "as in every release of NVTX 3");

static atomic_bool attached;
static struct rt_modules_watch modules;

struct nvtx_look {
	bool take;			/* false: only counts */
	/* number of modules; of those with another tool; of those that are not initialised */
	unsigned found, taken, idle;
};

struct nvtx_module {
	const ElfW(Phdr) *phdr;
	int count;
	uintptr_t base;
};

static bool in_text(const struct nvtx_module *m, uintptr_t at)
{
	for (int i = 0; i < m->count; i++) {
		const ElfW(Phdr) *p = &m->phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X &&
		    at - (m->base + p->p_vaddr) < p->p_memsz)
			return true;
	}
	return false;
}

static bool are_globals(const struct nvtx_module *m, const struct globals *g)
{
	return g->callbacks.bytes == sizeof(g->callbacks) &&
	       g->version.bytes == sizeof(g->version) &&
	       __atomic_load_n(&g->state, __ATOMIC_ACQUIRE) <= COMPLETE && !g->zero &&
	       g->version.version >= 2 && g->version.version <= VERSION_MAX &&
	       !g->version.reserved && in_text(m, (uintptr_t)g->callbacks.table) &&
	       in_text(m, (uintptr_t)g->version.set_tool_version);
}

static bool nvtx_module_begun(const struct globals *g)
{
	struct timespec ms = { 0, 1000000 };
	char path[PATH_MAX];

	/* the user's own tool is loaded when the module initialises itself */
	if (__atomic_load_n(&g->state, __ATOMIC_ACQUIRE) == FRESH &&
	    !rt_env(NVTX_PATH_ENV, path, sizeof(path)))
		nvtx_begin(&g->callbacks);
	for (int i = 0; i < BEGIN_TRIES; i++) {
		if (__atomic_load_n(&g->state, __ATOMIC_ACQUIRE) != STARTED)
			break;
		nanosleep(&ms, NULL);
	}
	return __atomic_load_n(&g->state, __ATOMIC_ACQUIRE) == COMPLETE;
}

static void take(const struct globals *g, struct nvtx_look *look)
{
	look->found++;
	if (!look->take)
		return;
	if (!nvtx_module_begun(g))
		look->idle++;
	else if (nvtx_take(&g->callbacks, true) == NVTX_TAKEN)
		look->taken++;
}

/* Data with pointers in it is initialised from the file; other data cannot contain the globals. */
static void nvtx_look_at(void *handle, const char *name, void *arg)
{
	struct nvtx_module m;

	(void)name;
	m.phdr = rt_module_phdr(handle, &m.base, &m.count);
	for (int i = 0; m.phdr && i < m.count; i++) {
		const ElfW(Phdr) *p = &m.phdr[i];
		uintptr_t at = (m.base + p->p_vaddr + 7) & ~(uintptr_t)7;
		uintptr_t end = m.base + p->p_vaddr + p->p_filesz;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W) || !(p->p_flags & PF_R))
			continue;
		for (; at + sizeof(struct globals) <= end; at += 8)
			if (are_globals(&m, (const struct globals *)at))
				take((const struct globals *)at, arg);
	}
}

void nvtx_late_tick(int64_t now_ns)
{
	struct nvtx_look look = { .take = true };

	if (atomic_load(&attached) && rt_modules_came(&modules, now_ns))
		rt_modules(nvtx_look_at, &look);
}

static int nvtx_attach(void)
{
	struct nvtx_look look = { .take = false };
	char path[PATH_MAX];
	int saved = errno;

	rt_attach_why("%s", "");
	rt_modules_seen(&modules);
	rt_modules(nvtx_look_at, &look);
	if (!look.found) {
		rt_attach_why("no module with NVTX is in this process");
		return TFT_ATTACH_UNUSED;
	}
	if (!rt_probe_attach(&nvtx_probe))
		return TFT_ATTACH_FAILED;
	if (!atomic_exchange(&attached, true)) {
		nvtx_handles_unknown();
		rt_blind(&nvtx_probe,
			 "attached late: ranges that were open then, and names of domains "
			 "and strings from before, are unknown");
	}
	look = (struct nvtx_look){ .take = true };
	rt_modules(nvtx_look_at, &look);
	errno = saved;
	if (look.idle == look.found) {
		rt_attach_why("NVTX is not in use yet, and will start with '" NVTX_PATH_ENV "=%s'",
			      rt_env(NVTX_PATH_ENV, path, sizeof(path)) ? path : "");
		return TFT_ATTACH_UNUSED;
	}
	if (look.taken && look.taken + look.idle == look.found) {
		rt_attach_why("the program's own NVTX tool is in use");
		return TFT_ATTACH_FAILED;
	}
	if (look.taken)
		rt_blind(&nvtx_probe, "modules that the program's own NVTX tool has");
	return TFT_ATTACHED;
}

int tftop_probe_attach(void)
{
	return nvtx_attach();
}
