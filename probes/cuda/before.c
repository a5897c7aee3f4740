/* SPDX-License-Identifier: MIT */
/*
 * Devices that CUPTI told nothing about, because recording of devices began after the driver had
 * started: after an attach, and where the level was off at first. The driver is asked instead. Only
 * functions are called that need no context and make none. Source: NVIDIA's cuda.h; the numbers of
 * attributes are the same in all releases.
 */
#include <dlfcn.h>
#include <string.h>

#include "probes/cuda/find.h"
#include "probes/cuda/probe.h"

/* CU_DEVICE_ATTRIBUTE_… */
enum attribute {
	SHARED_PER_BLOCK = 8, REGISTERS_PER_BLOCK = 12, CLOCK_RATE = 13, MULTIPROCESSORS = 16,
	MEMORY_CLOCK_RATE = 36, MEMORY_BUS_BITS = 37, THREADS_PER_UNIT = 39,
	CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76, SHARED_PER_UNIT = 81,
	REGISTERS_PER_UNIT = 82, BLOCKS_PER_UNIT = 106,
};

static struct {
	int (*get)(int *device, int ordinal);
	int (*name)(char *name, int bytes, int device);
	int (*uuid)(uint8_t uuid[16], int device);
	/* of a part of a GPU (MIG), where the device is one */
	int (*part_uuid)(uint8_t uuid[16], int device);
	int (*memory)(size_t *bytes, int device);
	int (*attribute)(int *value, int attribute, int device);
} driver;

static bool before_resolve(void)
{
	struct { void *to; const char *name; } all[] = {
		{ &driver.get, "cuDeviceGet" }, { &driver.name, "cuDeviceGetName" },
		{ &driver.uuid, "cuDeviceGetUuid" },
		{ &driver.part_uuid, "cuDeviceGetUuid_v2" },
		{ &driver.memory, "cuDeviceTotalMem_v2" },
		{ &driver.attribute, "cuDeviceGetAttribute" },
	};
	struct mapped m;
	void *h;

	find_mapped(&m);
	h = *m.cuda ? rt_dlopen(m.cuda, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		void *f = h ? dlsym(h, all[i].name) : NULL;

		if (!f)
			return false;
		memcpy(all[i].to, &f, sizeof(f));
	}
	return true;
}

static uint32_t attribute_of(int device, enum attribute attribute)
{
	int value = 0;

	return driver.attribute(&value, (int)attribute, device) || value < 0 ? 0 : (uint32_t)value;
}

bool before_device(uint32_t number, struct cuda_record *r, char *name, size_t size)
{
	size_t memory = 0;
	int device;

	if (!before_resolve() || driver.get(&device, (int)number) ||
	    driver.name(name, (int)size, device))
		return false;
	memset(r, 0, sizeof(*r));
	r->what = CUDA_DEVICE;
	r->device = number;
	r->of_device.name = name;
	if (driver.uuid(r->of_device.uuid, device) ||
	    driver.part_uuid(r->of_device.mig_uuid, device))
		return false;
	r->of_device.mig = memcmp(r->of_device.uuid, r->of_device.mig_uuid,
				  sizeof(r->of_device.uuid)) != 0;
	if (!driver.memory(&memory, device))
		r->of_device.memory = memory;
	r->of_device.units = attribute_of(device, MULTIPROCESSORS);
	r->of_device.clock = attribute_of(device, CLOCK_RATE);
	r->of_device.capability = attribute_of(device, CAPABILITY_MAJOR) * 10 +
		attribute_of(device, CAPABILITY_MINOR);
	r->of_device.threads_per_unit = attribute_of(device, THREADS_PER_UNIT);
	r->of_device.blocks_per_unit = attribute_of(device, BLOCKS_PER_UNIT);
	r->of_device.registers_per_unit = attribute_of(device, REGISTERS_PER_UNIT);
	r->of_device.registers_per_block = attribute_of(device, REGISTERS_PER_BLOCK);
	r->of_device.shared_per_unit = attribute_of(device, SHARED_PER_UNIT);
	r->of_device.shared_per_block = attribute_of(device, SHARED_PER_BLOCK);
	/* kHz * bits, at two transfers a cycle */
	r->of_device.bandwidth = (uint64_t)attribute_of(device, MEMORY_CLOCK_RATE) *
		attribute_of(device, MEMORY_BUS_BITS) * 1000 / 8 * 2;
	return true;
}
