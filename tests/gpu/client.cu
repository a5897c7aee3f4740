/* SPDX-License-Identifier: MIT */
/*
 * A program that is a profiler itself: it takes CUPTI's kernel records for its own work, as
 * torch.profiler does. Prints "subscribed" or the code that CUPTI refused it with, then how
 * many kernels it launched and how many records it got.
 *
 *	client LIBCUPTI [--truth FILE]
 *
 * The functions are declared here, since a machine may have a libcupti without its headers.
 */
#include <dlfcn.h>
#include <stdint.h>

#include "truth.h"

#define KERNELS 1000
#define KIND_KERNEL 10		/* of kernels that may run beside each other */
#define BUFFER (1 << 20)

typedef int (*subscribe_fn)(void **subscriber, void *callback, void *data);
typedef int (*unsubscribe_fn)(void *subscriber);
typedef void (*request_fn)(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void (*complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid);
typedef int (*register_fn)(request_fn request, complete_fn complete);
typedef int (*kind_fn)(int kind);
typedef int (*next_fn)(uint8_t *buffer, size_t valid, uint8_t **record);
typedef int (*flush_fn)(uint32_t forced);

static next_fn next_record;
static long records;

extern "C" __global__ void counted(int *data)
{
	data[threadIdx.x]++;
}

static void request(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*buffer = (uint8_t *)aligned_alloc(8, BUFFER);
	*size = *buffer ? BUFFER : 0;
	*most_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint8_t *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	while (valid && next_record(buffer, valid, &record) == 0) {
		int32_t kind;

		memcpy(&kind, record, sizeof(kind));
		records += kind == KIND_KERNEL;
	}
	free(buffer);
}

static void callback(void *data, int domain, uint32_t id, const void *what)
{
	(void)data;
	(void)domain;
	(void)id;
	(void)what;
}

template <typename F> static F find(void *library, const char *name)
{
	F f = (F)dlsym(library, name);

	if (!f) {
		fprintf(stderr, "client: no '%s'\n", name);
		exit(1);
	}
	return f;
}

int main(int argc, char **argv)
{
	void *library, *subscriber = NULL;
	struct truth truth = {};
	int status, *data;

	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library) {
		fprintf(stderr, "client: %s\n", argc > 1 ? dlerror() : "which libcupti?");
		return 1;
	}
	CHECK(cudaMalloc((void **)&data, 4096));
	next_record = find<next_fn>(library, "cuptiActivityGetNextRecord");
	status = find<subscribe_fn>(library, "cuptiSubscribe")(&subscriber, (void *)callback, NULL);
	if (status == 0)
		status = find<register_fn>(library, "cuptiActivityRegisterCallbacks")(request, complete);
	if (status == 0)
		status = find<kind_fn>(library, "cuptiActivityEnable")(KIND_KERNEL);
	if (status)
		printf("refused %d\n", status);
	else
		printf("subscribed\n");
	for (int i = 0; i < KERNELS; i++)
		counted<<<1, 32>>>(data);
	CHECK(cudaDeviceSynchronize());
	if (!status) {
		find<flush_fn>(library, "cuptiActivityFlushAll")(1);
		find<kind_fn>(library, "cuptiActivityDisable")(KIND_KERNEL);
		find<unsubscribe_fn>(library, "cuptiUnsubscribe")(subscriber);
	}
	printf("kernels %d records %ld\n", KERNELS, records);
	truth_kernel_ran(&truth, "counted", NULL, NULL, KERNELS);
	truth_write(&truth, argc > 3 && strcmp(argv[2], "--truth") == 0 ? argv[3] : NULL);
	return 0;
}
