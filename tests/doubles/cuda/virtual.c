/* SPDX-License-Identifier: MIT */
/*
 * libcuda.so.1: virtual memory management: addresses are reserved, physical memory is created, and
 * one is mapped to the other. Reserved addresses are pages that can be written at once; mapping
 * only checks its arguments. See sim.h.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/doubles/cuda/entry.h"

struct sim_physical {
	uint32_t magic;
	size_t bytes;
	struct sim_device *device;
};
#define SIM_MAGIC_PHYSICAL 0x70687973u
#define GRANULARITY (2u << 20)
#define MAPPINGS 64

static struct {
	uint64_t address, bytes;
	int device;
} mappings[MAPPINGS];
static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER;

/* The first fields of the driver's CUmemAllocationProp. */
struct properties {
	int type, handle_types;
	struct { int type, id; } location;
};

static struct sim_physical *physical_of(uint64_t handle)
{
	struct sim_physical *p = (struct sim_physical *)(uintptr_t)handle;

	return p && p->magic == SIM_MAGIC_PHYSICAL ? p : NULL;
}

ENTRY(556, cuMemGetAllocationGranularity, (size_t *, granularity),
      (const struct properties *, properties), (int, option))
{
	*granularity = GRANULARITY;
	return SIM_OK;
}

ENTRY(547, cuMemAddressReserve, (uint64_t *, address), (size_t, bytes), (size_t, alignment),
      (uint64_t, wish), (uint64_t, flags))
{
	char *p;

	if (!bytes || bytes % GRANULARITY)
		return SIM_INVALID_VALUE;
	if (alignment < GRANULARITY)
		alignment = GRANULARITY;
	p = mmap(NULL, bytes + alignment, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return SIM_OUT_OF_MEMORY;
	*address = ((uintptr_t)p + alignment - 1) / alignment * alignment;
	return SIM_OK;
}

/* The pages stay reserved, so that no other piece gets an address that a test still knows. */
ENTRY(548, cuMemAddressFree, (uint64_t, address), (size_t, bytes))
{
	return madvise((void *)(uintptr_t)address, bytes, MADV_DONTNEED) ? SIM_INVALID_VALUE :
									   SIM_OK;
}

ENTRY(549, cuMemCreate, (uint64_t *, handle), (size_t, bytes),
      (const struct properties *, properties), (uint64_t, flags))
{
	int ordinal = properties->location.id;
	struct sim_physical *p;

	if (ordinal < 0 || ordinal >= sim_settings.devices)
		return SIM_INVALID_DEVICE;
	if (sim_devices[ordinal].used + bytes > sim_devices[ordinal].memory)
		return SIM_OUT_OF_MEMORY;
	p = calloc(1, sizeof(*p));
	*p = (struct sim_physical){ SIM_MAGIC_PHYSICAL, bytes, &sim_devices[ordinal] };
	p->device->used += bytes;
	*handle = (uintptr_t)p;
	return SIM_OK;
}

ENTRY(550, cuMemRelease, (uint64_t, handle))
{
	struct sim_physical *p = physical_of(handle);

	if (!p)
		return SIM_INVALID_VALUE;
	p->device->used -= p->bytes;
	p->magic = 0;
	free(p);
	return SIM_OK;
}

/* At most MAPPINGS at once. */
static int map(uint64_t address, uint64_t bytes, int device)
{
	int i = 0;

	pthread_mutex_lock(&mappings_lock);
	while (i < MAPPINGS && mappings[i].bytes)
		i++;
	if (i < MAPPINGS) {
		mappings[i].address = address;
		mappings[i].bytes = bytes;
		mappings[i].device = device;
	}
	pthread_mutex_unlock(&mappings_lock);
	return i < MAPPINGS ? SIM_OK : SIM_OUT_OF_MEMORY;
}

bool sim_mapped(uint64_t address, int *device)
{
	bool found = false;

	pthread_mutex_lock(&mappings_lock);
	for (int i = 0; i < MAPPINGS && !found; i++)
		if (address - mappings[i].address < mappings[i].bytes) {
			*device = mappings[i].device;
			found = true;
		}
	pthread_mutex_unlock(&mappings_lock);
	return found;
}

ENTRY(551, cuMemMap, (uint64_t, address), (size_t, bytes), (size_t, offset), (uint64_t, handle),
      (uint64_t, flags))
{
	struct sim_physical *p = physical_of(handle);

	return address && bytes && p ? map(address, bytes, p->device->ordinal) : SIM_INVALID_VALUE;
}

ENTRY(552, cuMemUnmap, (uint64_t, address), (size_t, bytes))
{
	int result = SIM_INVALID_VALUE;

	pthread_mutex_lock(&mappings_lock);
	for (int i = 0; i < MAPPINGS; i++)
		if (mappings[i].address == address && mappings[i].bytes == bytes) {
			mappings[i].bytes = 0;
			result = SIM_OK;
		}
	pthread_mutex_unlock(&mappings_lock);
	return result;
}

ENTRY(553, cuMemSetAccess, (uint64_t, address), (size_t, bytes), (const void *, descriptors),
      (size_t, n))
{
	return address ? SIM_OK : SIM_INVALID_VALUE;
}
