/* SPDX-License-Identifier: MIT */
/*
 * The part of NVTX 3's binary interface that is read, written by hand from its public description
 * (nvToolsExt.h and nvtxDetail/nvtxTypes.h, Apache-2.0 with LLVM exception);
 * tests/probes/nvtx_abi.c compares it with the vendor's headers where they are installed.
 *
 * NVTX is header-only: each module of a program has its own table of function pointers. At its
 * first use a module loads the library that NVTX_INJECTION64_PATH names and calls
 * InitializeInjectionNvtx2 with a function that returns its tables; the library stores its
 * functions there.
 */
#ifndef PROBES_NVTX_ABI_H
#define PROBES_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

#define NVTX_PATH_ENV "NVTX_INJECTION64_PATH"

enum { NVTX_TABLE_CALLBACKS = 1, NVTX_TABLE_VERSION = 3 };
enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CUDA = 2, NVTX_MODULE_CUDART = 4, NVTX_MODULE_CORE2 = 5 };

/* Indices into the table of NVTX_MODULE_CORE. */
enum {
	NVTX_CORE_MARK_EX = 1, NVTX_CORE_MARK_A, NVTX_CORE_MARK_W,
	NVTX_CORE_START_EX, NVTX_CORE_START_A, NVTX_CORE_START_W, NVTX_CORE_END,
	NVTX_CORE_PUSH_EX, NVTX_CORE_PUSH_A, NVTX_CORE_PUSH_W, NVTX_CORE_POP,
	NVTX_CORE_CATEGORY_A, NVTX_CORE_CATEGORY_W,
	NVTX_CORE_THREAD_A, NVTX_CORE_THREAD_W,
};

/* Indices into the tables of NVTX_MODULE_CUDA and NVTX_MODULE_CUDART. */
enum {
	NVTX_CUDA_DEVICE_A = 1, NVTX_CUDA_DEVICE_W,
	NVTX_CUDA_STREAM_A = 5, NVTX_CUDA_STREAM_W,
};
enum {
	NVTX_CUDART_DEVICE_A = 1, NVTX_CUDART_DEVICE_W,
	NVTX_CUDART_STREAM_A, NVTX_CUDART_STREAM_W,
};

/* Indices into the table of NVTX_MODULE_CORE2. */
enum {
	NVTX_CORE2_MARK_EX = 1, NVTX_CORE2_START_EX, NVTX_CORE2_END,
	NVTX_CORE2_PUSH_EX, NVTX_CORE2_POP,
	NVTX_CORE2_RESOURCE_CREATE, NVTX_CORE2_RESOURCE_DESTROY,
	NVTX_CORE2_CATEGORY_A, NVTX_CORE2_CATEGORY_W,
	NVTX_CORE2_STRING_A, NVTX_CORE2_STRING_W,
	NVTX_CORE2_DOMAIN_A, NVTX_CORE2_DOMAIN_W, NVTX_CORE2_DOMAIN_DESTROY,
	NVTX_CORE2_INITIALIZE,
};

enum { NVTX_MESSAGE_NONE, NVTX_MESSAGE_CHAR, NVTX_MESSAGE_WCHAR, NVTX_MESSAGE_HANDLE };
enum { NVTX_COLOUR_NONE, NVTX_COLOUR_ARGB };
enum {
	NVTX_PAYLOAD_NONE, NVTX_PAYLOAD_U64, NVTX_PAYLOAD_I64, NVTX_PAYLOAD_DOUBLE,
	NVTX_PAYLOAD_U32, NVTX_PAYLOAD_I32, NVTX_PAYLOAD_FLOAT,
};

/* The result of push and pop if no tool is attached. */
#define NVTX_NO_TRACKING (-2)

union nvtx_message {
	const char *text;
	const wchar_t *wide;
	const void *handle;
};

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type;
	int32_t reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		uint32_t u32;
		int32_t i32;
		float f32;
	} payload;
	int32_t message_type;
	union nvtx_message message;
};

typedef void (*nvtx_function)(void);

struct nvtx_callbacks {
	size_t bytes;
	/* Returns the module's slots: slots[i] is where function i is kept. */
	int (*table)(int module, nvtx_function ***slots, unsigned int *count);
};

struct nvtx_version {
	size_t bytes;
	uint32_t version, reserved;
	void (*set_tool_version)(uint32_t version);
};

typedef const void *(*nvtx_get_table)(uint32_t id);

#endif
