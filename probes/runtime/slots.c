/* SPDX-License-Identifier: MIT */
/* See slots.h. */
#include <errno.h>
#include <link.h>
#include <string.h>

#include "probes/runtime/hash.h"
#include "probes/runtime/internal.h"
#include "probes/runtime/slots.h"

#define SLOTS_MAX 4096

struct slots_module {
	uintptr_t base;
	uint64_t name;		/* a hash; 0: none */
};

static struct slots_record {
	struct rt_slot slot;
	struct slots_module module;
	_Atomic bool dropped;
} records[SLOTS_MAX];
static _Atomic int record_count;	/* entries below it change only in `dropped` */

/* Held while a swap walks through the modules: otherwise a fork would leave the child with the
 * loader's lock taken. */
static pthread_mutex_t swap_lock = PTHREAD_MUTEX_INITIALIZER;
static bool swap_held;
static pthread_mutex_t add_lock = PTHREAD_MUTEX_INITIALIZER;
static bool add_held;

static uint64_t hash_name(const char *s)
{
	return (s ? rt_hash_bytes(s, strlen(s), 0) : 0) | 1;
}

/* Whether the slot lies in a writable segment of this module. */
static bool holds(const struct dl_phdr_info *info, const void *at)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & PF_W) &&
		    (uintptr_t)at >= begin &&
		    (uintptr_t)at + sizeof(void *) <= begin + p->p_memsz)
			return true;
	}
	return false;
}

struct lookup {
	const void *at;
	struct slots_module found;
};

static int look_up(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct lookup *l = arg;

	(void)size;
	if (!holds(info, l->at))
		return 0;
	l->found.base = info->dlpi_addr;
	l->found.name = hash_name(info->dlpi_name);
	return 1;
}

void rt_slots_add(const struct rt_slot *slots, int count)
{
	bool on = !rt_ranges_off();
	struct lookup l = { 0 };
	int saved = errno, n;

	/* all slots of an array are in one module */
	if (count > 0) {
		l.at = slots[0].at;
		dl_iterate_phdr(look_up, &l);
	}
	for (int i = 0; i < count; i++)
		__atomic_store_n(slots[i].at, on ? slots[i].ours : slots[i].off,
				 __ATOMIC_RELEASE);
	if (!l.found.name || !rt_lock(&add_lock)) {
		errno = saved;
		return;
	}
	n = GET(record_count);
	for (int i = 0; i < count; i++) {
		int k = 0;

		while (k < n && records[k].slot.at != slots[i].at)
			k++;
		if (k < n && records[k].module.name == l.found.name) {
			SET(records[k].dropped, false);
			continue;	/* the module was loaded again at the same place */
		}
		if (n == SLOTS_MAX) {
			rt_dropped(1);
			break;
		}
		records[n].slot = slots[i];
		records[n].module = l.found;
		n++;
	}
	SET_REL(record_count, n);
	rt_unlock(&add_lock);
	errno = saved;
}

void rt_slots_drop(void *const *at)
{
	int n = GET_ACQ(record_count);

	for (int i = 0; i < n; i++)
		if (records[i].slot.at == at)
			SET(records[i].dropped, true);
}

static int rt_slots_swap(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool on = *(bool *)arg;
	uint64_t name = hash_name(info->dlpi_name);
	int n = GET_ACQ(record_count);

	(void)size;
	for (int i = 0; i < n; i++) {
		struct slots_record *r = &records[i];
		void *from = on ? r->slot.off : r->slot.ours;
		void *to = on ? r->slot.ours : r->slot.off;

		if (!GET(r->dropped) && r->module.base == info->dlpi_addr &&
		    r->module.name == name &&
		    holds(info, r->slot.at))
			__atomic_compare_exchange_n(r->slot.at, &from, to, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
	return 0;
}

void rt_slots_level(bool on)
{
	if (!GET(record_count) || !rt_lock(&swap_lock))
		return;
	dl_iterate_phdr(rt_slots_swap, &on);
	rt_unlock(&swap_lock);
}

void rt_slots_fork(enum rt_fork stage)
{
	rt_fork_lock(&swap_lock, &swap_held, stage);
	rt_fork_lock(&add_lock, &add_held, stage);
}
