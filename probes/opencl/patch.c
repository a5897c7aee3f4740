/* SPDX-License-Identifier: MIT */
/*
 * Dispatch tables of vendors.
 *
 * Every OpenCL object starts with a pointer to its vendor's table, and every copy of the loader in
 * the process calls through it. So the probe replaces entries in that table, once per vendor: calls
 * that come through a second, bundled loader are seen like all others, and this also works in a
 * process that has been running for an hour.
 *
 * No document says how much of a table may be changed, so that is limited twice: by what the
 * platform's version promises (cl_khr_icd fixes the order), and by the end of the mapping that
 * holds the table. Entries that are NULL stay NULL. Before every later write the mapping is looked
 * up again, because a vendor's library may have been unloaded.
 *
 * The lock here is held only while memory is accessed, never during a call of OpenCL.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/opencl/probe.h"

#define SLOT(fn) (offsetof(struct _cl_icd_dispatch, fn) / sizeof(void *))
#define SLOTS (sizeof(struct _cl_icd_dispatch) / sizeof(void *))

struct vendor vendor_list[VENDOR_MAX];
atomic_uint vendor_count;
atomic_bool probe_dead;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

/* Looking up a mapping opens and reads a file. The program's thread must not be cancelled there,
 * where it would not be without the probe, and not while it holds the lock. */
static int lock_tables(void)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&table_lock);
	return cancel;
}

static void unlock_tables(int cancel)
{
	pthread_mutex_unlock(&table_lock);
	pthread_setcancelstate(cancel, NULL);
}

static const struct dispatch_row {
	uint16_t slot;
	uint8_t set;
	void *hook;
} rows[] = {
#define HOOK(fn, from) { SLOT(fn), from, (void *)hook_##fn },
	TABLE_ALL
#undef HOOK
};

static const char *const names[HOOK_COUNT] = {
#define HOOK(fn, from) #fn,
	TABLE_ALL
	EXT_ALL(HOOK)
#undef HOOK
};

static atomic_uint name_ids[HOOK_COUNT];

uint32_t hook_name(enum hook hook)
{
	uint32_t id = atomic_load_explicit(&name_ids[hook], memory_order_relaxed);

	if (unlikely(!id)) {
		id = rt_name(TFT_NAME_CALL, names[hook]);
		atomic_store_explicit(&name_ids[hook], id, memory_order_relaxed);
	}
	return id;
}

/* ---- the mapping that holds an address ---- */

struct address_span {
	uintptr_t start, end;
	int prot;
};

/* One line of /proc/self/maps: "start-end rwxp ...". */
static bool parse_span(const char *line, struct address_span *span)
{
	char *end;

	span->start = strtoul(line, &end, 16);
	if (*end != '-')
		return false;
	span->end = strtoul(end + 1, &end, 16);
	if (*end != ' ')
		return false;
	span->prot = (end[1] == 'r' ? PROT_READ : 0) | (end[2] == 'w' ? PROT_WRITE : 0) |
		     (end[3] == 'x' ? PROT_EXEC : 0);
	return true;
}

/* Finds the mapping that contains `at`, without stdio, because the program's memory may be short
 * and its descriptors are its own. false: there is none. */
static bool find_span(uintptr_t at, struct address_span *span)
{
	char buf[8192];
	size_t have = 0;
	bool found = false;
	ssize_t got;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while (!found && (got = read(fd, buf + have, sizeof(buf) - 1 - have)) > 0) {
		char *line = buf, *newline;

		have += (size_t)got;
		buf[have] = '\0';
		while (!found && (newline = strchr(line, '\n'))) {
			found = parse_span(line, span) && at >= span->start && at < span->end;
			line = newline + 1;
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
		if (have == sizeof(buf) - 1)
			break;
	}
	close(fd);
	return found;
}

/* How many entries of a table at `live` lie in readable memory. */
static size_t readable_entries(void **live, size_t want)
{
	uintptr_t at = (uintptr_t)live, end = at + want * sizeof(void *);
	struct address_span span;

	while (at < end && find_span(at, &span) && (span.prot & PROT_READ))
		at = span.end;
	if (at > end)
		at = end;
	return (at - (uintptr_t)live) / sizeof(void *);
}

/* ---- writing ---- */

/*
 * Stores `value` in *slot if it holds `expected`: an entry that another tool has changed since
 * belongs to that tool. The page is writable only for that moment, and then has its previous
 * rights. false: that was not possible.
 */
static bool patch_store(void **slot, void *expected, void *value, const struct address_span *span)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)slot & ~(page - 1));
	bool locked = !(span->prot & PROT_WRITE);

	if (locked && mprotect(start, page, span->prot | PROT_WRITE))
		return false;
	__atomic_compare_exchange_n(slot, &expected, value, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
	if (locked)
		mprotect(start, page, span->prot);
	return true;
}

static bool wanted(const struct vendor *vendor, const struct dispatch_row *row,
		   enum tft_level level)
{
	/* The arguments do not say which platform is called. */
	if (row->slot == SLOT(clCreateContextFromType) && vendor != &vendor_list[0])
		return false;
	if (row->set == SET_MASK)
		return level != TFT_LEVEL_OFF || atomic_load(&masks_needed);
	return level >= row->set;
}

/* table_lock must be held. false: an entry does not have the expected value. */
static bool vendor_apply(struct vendor *vendor, enum tft_level level)
{
	bool all = true;
	void *const *saved = (void *const *)(const void *)&vendor->saved;
	struct address_span span = { 0, 0, 0 };

	for (size_t i = 0; i < ARRAY_LEN(rows) && !vendor->lost; i++) {
		const struct dispatch_row *row = &rows[i];
		void **slot = vendor->live + row->slot;
		bool want = wanted(vendor, row, level);

		if (row->slot >= vendor->entries || !saved[row->slot])
			continue;
		if ((uintptr_t)slot < span.start || (uintptr_t)(slot + 1) > span.end)
			if (!find_span((uintptr_t)slot, &span) || !(span.prot & PROT_READ)) {
				vendor->lost = true;
				break;
			}
		if (*slot == (want ? row->hook : saved[row->slot]))
			continue;
		if (!patch_store(slot, want ? saved[row->slot] : row->hook,
				 want ? row->hook : saved[row->slot], &span))
			vendor->lost = true;
		all &= __atomic_load_n(slot, __ATOMIC_RELAXED) ==
		       (want ? row->hook : saved[row->slot]);
	}
	if (vendor->lost)
		rt_emit_message(1, "opencl: the dispatch table of a platform cannot be written: "
				"its calls are not seen");
	return all && !vendor->lost;
}

void vendors_apply(enum tft_level level)
{
	int cancel = lock_tables();

	for (unsigned i = 0; i < atomic_load(&vendor_count); i++)
		if (!vendor_list[i].lost)
			vendor_apply(&vendor_list[i], level);
	unlock_tables(cancel);
}

bool vendors_watched(void)
{
	int cancel = lock_tables();
	bool any = false;

	for (unsigned i = 0; i < atomic_load(&vendor_count); i++)
		any |= !vendor_list[i].lost;
	unlock_tables(cancel);
	return any;
}

void vendors_forget(void)
{
	int cancel = lock_tables();
	bool all = true;

	atomic_store(&masks_needed, false);
	for (unsigned i = 0; i < atomic_load(&vendor_count); i++)
		all &= !vendor_list[i].lost && vendor_apply(&vendor_list[i], TFT_LEVEL_OFF);
	/* Another tool may still have one of our wrappers and call it, and it must find the
	 * original. */
	if (all)
		atomic_store(&vendor_count, 0);
	unlock_tables(cancel);
}

/* ---- finding ---- */

/* Entries that a platform of a version must have; cl_khr_icd fixes the order. */
static size_t promised_entries(int version)
{
	if (version >= 300)
		return SLOTS;
	if (version >= 220)
		return SLOT(clCreateBufferWithProperties);
	if (version >= 210)
		return SLOT(clSetProgramReleaseCallback);
	if (version >= 200)
		return SLOT(clGetKernelSubGroupInfoKHR);
	if (version >= 120)
		return SLOT(clGetDeviceIDsFromD3D11KHR);
	if (version >= 110)
		return SLOT(clCreateSubDevicesEXT);
	return SLOT(clGetDeviceIDsFromD3D10KHR);
}

/* "OpenCL 3.0 PoCL 3.1" -> 300; 100 for what cannot be read. */
static int platform_version(cl_platform_id platform)
{
	const struct _cl_icd_dispatch *real = real_of(platform);
	char text[128] = "";
	int major = 1, minor = 0;

	if (real->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(text) - 1, text, NULL))
		return 100;
	if (!strncmp(text, "OpenCL ", 7)) {
		char *end;

		major = (int)strtol(text + 7, &end, 10);
		minor = *end == '.' ? (int)strtol(end + 1, NULL, 10) : 0;
	}
	return major * 100 + minor * 10;
}

static bool known(void **live)
{
	unsigned n = atomic_load(&vendor_count);

	for (unsigned i = 0; i < n; i++)
		if (vendor_list[i].live == live)
			return true;
	return false;
}

static void table_add(void **live, int version)
{
	const char *problem = NULL;
	int saved = errno, cancel;
	size_t entries;

	cancel = lock_tables();
	entries = readable_entries(live, promised_entries(version));
	unsigned n = atomic_load(&vendor_count);

	if (known(live)) {
		;
	} else if (n == VENDOR_MAX) {
		problem = "opencl: more dispatch tables than the probe can watch";
	} else if (entries < SLOT(clGetDeviceIDsFromD3D10KHR)) {
		problem = "opencl: a platform has no readable dispatch table: its calls are not "
			  "seen";
	} else {
		struct vendor *vendor = &vendor_list[n];

		memcpy(&vendor->saved, live, entries * sizeof(void *));
		vendor->live = live;
		vendor->entries = entries;
		vendor->version = version;
		atomic_store(&vendor_count, n + 1);
		vendor_apply(vendor, rt_level());
	}
	unlock_tables(cancel);
	if (problem)
		rt_emit_message(1, problem);
	errno = saved;
}

void vendor_add(cl_platform_id platform)
{
	void **live = platform ? *(void ***)(void *)platform : NULL;

	if (live && !known(live))
		table_add(live, platform_version(platform));
}

int version_of(const void *object)
{
	void **live = *(void **const *)object;
	unsigned n = atomic_load(&vendor_count);

	for (unsigned i = 0; i < n; i++)
		if (vendor_list[i].live == live)
			return vendor_list[i].version;
	return 100;
}

void vendor_adopt(const void *object, const void *parent)
{
	void **live = object ? *(void **const *)object : NULL;

	if (live && !known(live))
		table_add(live, parent ? version_of(parent) : vendor_list[0].version);
}

void vendors_fork_child(void)
{
	pthread_mutex_init(&table_lock, NULL);
}
