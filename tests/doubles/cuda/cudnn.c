/* SPDX-License-Identifier: MIT */
/*
 * As much of libcudnn.so.9 as XLA wants before it compiles anything for a GPU: its version and a
 * handle. Nothing is computed with it.
 */
#include <stddef.h>
#include <stdlib.h>

#define API __attribute__((visibility("default")))
#define VERSION 91900u
#define RUNTIME 13000u

API size_t cudnnGetVersion(void);
API size_t cudnnGetVersion(void)
{
	return VERSION;
}

API size_t cudnnGetCudartVersion(void);
API size_t cudnnGetCudartVersion(void)
{
	return RUNTIME;
}

API int cudnnGetProperty(int part, int *value);
API int cudnnGetProperty(int part, int *value)
{
	static const int parts[] = { VERSION / 10000, VERSION / 100 % 100, VERSION % 100 };

	if (part < 0 || part > 2)
		return 2000;	/* CUDNN_STATUS_BAD_PARAM */
	*value = parts[part];
	return 0;
}

API int cudnnCreate(void **handle);
API int cudnnCreate(void **handle)
{
	*handle = malloc(1);
	return 0;
}

API int cudnnDestroy(void *handle);
API int cudnnDestroy(void *handle)
{
	free(handle);
	return 0;
}

API int cudnnSetStream(void *handle, void *stream);
API int cudnnSetStream(void *handle, void *stream)
{
	(void)handle;
	(void)stream;
	return 0;
}
