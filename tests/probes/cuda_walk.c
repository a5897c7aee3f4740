/* SPDX-License-Identifier: MIT */
/*
 * cuda_walk LIBCUPTI DUMP: steps over the buffers that cuda_client dumped with that library's own
 * cuptiActivityGetNextRecord, and prints how many records of each kind it came by, and what it
 * ended each buffer with. No driver is needed before CUPTI 13.2.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	unsigned long kinds[64] = { 0 };
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*next)(uint8_t *, size_t, void **) = library ? (int (*)(uint8_t *, size_t, void **))
		dlsym(library, "cuptiActivityGetNextRecord") : NULL;
	FILE *f = next ? fopen(argv[2], "re") : NULL;
	size_t valid;

	if (!f)
		return fprintf(stderr, "cuda_walk: %s\n",
			       library ? "no file, no function" : dlerror()), 2;
	while (fread(&valid, sizeof(valid), 1, f) == 1) {
		uint8_t *buffer = aligned_alloc(64, (valid + 63) / 64 * 64);
		void *record = NULL;
		int result;

		if (fread(buffer, 1, valid, f) != valid)
			return 2;
		while (!(result = next(buffer, valid, &record))) {
			uint32_t kind = *(const uint32_t *)record;

			kinds[kind < 64 ? kind : 0]++;
		}
		if (result != 12)	/* the end of the buffer */
			printf("ended with %d ", result);
		free(buffer);
	}
	for (int i = 0; i < 64; i++)
		if (kinds[i])
			printf("%d:%lu ", i, kinds[i]);
	puts("");
	return 0;
}
