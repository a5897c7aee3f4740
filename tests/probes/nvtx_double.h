/* SPDX-License-Identifier: MIT */
/*
 * A substitute for NVTX's header-only library, for machines without its headers: its load protocol,
 * the layout of its globals, and the functions that tests call, under their own names.
 */
#ifndef TESTS_PROBES_NVTX_DOUBLE_H
#define TESTS_PROBES_NVTX_DOUBLE_H

#include <dlfcn.h>
#include <stdlib.h>
#include <wchar.h>

#include "probes/nvtx/abi.h"

#define NVTX_SLOTS 16
static nvtx_function core_slot[NVTX_SLOTS], core2_slot[NVTX_SLOTS], cuda_slot[NVTX_SLOTS];
static nvtx_function *core_table[NVTX_SLOTS + 1], *core2_table[NVTX_SLOTS + 1];
static nvtx_function *cuda_table[NVTX_SLOTS + 1];

static int double_table(int module, nvtx_function ***slots, unsigned int *count)
{
	if (module != NVTX_MODULE_CORE && module != NVTX_MODULE_CORE2 && module != NVTX_MODULE_CUDA)
		return 0;
	*slots = module == NVTX_MODULE_CORE ? core_table :
		 module == NVTX_MODULE_CUDA ? cuda_table : core2_table;
	*count = NVTX_SLOTS;
	return 1;
}

static void double_version(uint32_t version)
{
	(void)version;
}

/* Starts as nvtxGlobals_t does, because a probe that attaches finds a module by it. */
static struct {
	uint32_t state, zero;
	struct nvtx_callbacks callbacks;
	struct nvtx_version version;
} double_globals = {
	0, 0, { sizeof(struct nvtx_callbacks), double_table },
	{ sizeof(struct nvtx_version), 3, 0, double_version },
};

static const void *double_export(uint32_t id)
{
	return id == NVTX_TABLE_CALLBACKS ? (const void *)&double_globals.callbacks :
	       id == NVTX_TABLE_VERSION ? (const void *)&double_globals.version : NULL;
}

static inline void nvtxInitialize(const void *reserved)
{
	const char *path = getenv(NVTX_PATH_ENV);
	void *h = path && !double_globals.state ? dlopen(path, RTLD_LAZY) : NULL;
	int (*init)(nvtx_get_table) = h ? (int (*)(nvtx_get_table))
		dlsym(h, "InitializeInjectionNvtx2") : NULL;

	(void)reserved;
	if (double_globals.state)
		return;
	core2_slot[NVTX_CORE2_INITIALIZE] = NULL;
	if (init)
		init(double_export);
	__atomic_store_n(&double_globals.state, 2, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void double_fresh(void)
{
	for (int i = 1; i < NVTX_SLOTS; i++) {
		core_table[i] = &core_slot[i];
		core2_table[i] = &core2_slot[i];
		cuda_table[i] = &cuda_slot[i];
	}
	core2_slot[NVTX_CORE2_INITIALIZE] = (nvtx_function)nvtxInitialize;
}

#define CALL(table, index, type, none, ...) do { \
	__typeof__(type) *fn_ = \
		(__typeof__(type) *)__atomic_load_n(&table[index], __ATOMIC_ACQUIRE); \
	return fn_ ? fn_(__VA_ARGS__) : none; \
} while (0)
#define CALLV(table, index, type, ...) do { \
	__typeof__(type) *fn_ = \
		(__typeof__(type) *)__atomic_load_n(&table[index], __ATOMIC_ACQUIRE); \
	if (fn_) \
		fn_(__VA_ARGS__); \
} while (0)

typedef uint64_t nvtxRangeId_t;
typedef struct nvtx_attributes nvtxEventAttributes_t;
typedef void *nvtxDomainHandle_t, *nvtxStringHandle_t;

static inline int nvtxRangePushA(const char *s)
{
	CALL(core_slot, NVTX_CORE_PUSH_A, int (const char *), NVTX_NO_TRACKING, s);
}

static inline int nvtxRangePushW(const wchar_t *s)
{
	CALL(core_slot, NVTX_CORE_PUSH_W, int (const wchar_t *), NVTX_NO_TRACKING, s);
}

static inline int nvtxRangePushEx(const nvtxEventAttributes_t *a)
{
	CALL(core_slot, NVTX_CORE_PUSH_EX, int (const nvtxEventAttributes_t *),
	     NVTX_NO_TRACKING, a);
}

static inline int nvtxRangePop(void)
{
	CALL(core_slot, NVTX_CORE_POP, int (void), NVTX_NO_TRACKING);
}

static inline nvtxRangeId_t nvtxRangeStartA(const char *s)
{
	CALL(core_slot, NVTX_CORE_START_A, nvtxRangeId_t (const char *), 0, s);
}

static inline void nvtxRangeEnd(nvtxRangeId_t id)
{
	CALLV(core_slot, NVTX_CORE_END, void (nvtxRangeId_t), id);
}

static inline void nvtxMarkA(const char *s)
{
	CALLV(core_slot, NVTX_CORE_MARK_A, void (const char *), s);
}

static inline void nvtxNameOsThreadA(uint32_t tid, const char *s)
{
	CALLV(core_slot, NVTX_CORE_THREAD_A, void (uint32_t, const char *), tid, s);
}

static inline void nvtxNameCuStreamA(void *stream, const char *s)
{
	CALLV(cuda_slot, NVTX_CUDA_STREAM_A, void (void *, const char *), stream, s);
}

static inline void nvtxNameCuDeviceA(int device, const char *s)
{
	CALLV(cuda_slot, NVTX_CUDA_DEVICE_A, void (int, const char *), device, s);
}

static inline nvtxDomainHandle_t nvtxDomainCreateA(const char *s)
{
	CALL(core2_slot, NVTX_CORE2_DOMAIN_A, void *(const char *), NULL, s);
}

static inline void nvtxDomainDestroy(nvtxDomainHandle_t d)
{
	CALLV(core2_slot, NVTX_CORE2_DOMAIN_DESTROY, void (void *), d);
}

static inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t d, const char *s)
{
	CALL(core2_slot, NVTX_CORE2_STRING_A, void *(void *, const char *), NULL, d, s);
}

static inline nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t d, const wchar_t *s)
{
	CALL(core2_slot, NVTX_CORE2_STRING_W, void *(void *, const wchar_t *), NULL, d, s);
}

static inline void nvtxDomainNameCategoryA(nvtxDomainHandle_t d, uint32_t c, const char *s)
{
	CALLV(core2_slot, NVTX_CORE2_CATEGORY_A, void (void *, uint32_t, const char *), d, c, s);
}

static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
	CALL(core2_slot, NVTX_CORE2_PUSH_EX, int (void *, const nvtxEventAttributes_t *),
	     NVTX_NO_TRACKING, d, a);
}

static inline int nvtxDomainRangePop(nvtxDomainHandle_t d)
{
	CALL(core2_slot, NVTX_CORE2_POP, int (void *), NVTX_NO_TRACKING, d);
}

static inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t d,
						   const nvtxEventAttributes_t *a)
{
	CALL(core2_slot, NVTX_CORE2_START_EX,
	     nvtxRangeId_t (void *, const nvtxEventAttributes_t *), 0, d, a);
}

static inline void nvtxDomainRangeEnd(nvtxDomainHandle_t d, nvtxRangeId_t id)
{
	CALLV(core2_slot, NVTX_CORE2_END, void (void *, nvtxRangeId_t), d, id);
}

#endif
