/* SPDX-License-Identifier: MIT */
/*
 * code_lengths FILE OFFSET SIZE ADDRESS: reads instructions as probes/imports/instruction.c does,
 * and prints for each its address and, if it jumps to a fixed distance, its target; "?" for one
 * that is unknown, behind which it continues at the next byte. Numbers are hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>

#include "probes/imports/instruction.h"

int main(int argc, char **argv)
{
	unsigned long offset, size, address;
	unsigned char *code;
	FILE *file = argc == 5 ? fopen(argv[1], "rb") : NULL;

	if (!file)
		return 2;
	offset = strtoul(argv[2], NULL, 16);
	size = strtoul(argv[3], NULL, 16);
	address = strtoul(argv[4], NULL, 16);
	code = malloc(size);
	if (!code || fseek(file, (long)offset, SEEK_SET) || fread(code, 1, size, file) != size)
		return 2;
	for (unsigned long at = 0; at < size;) {
		struct instruction i = instruction_read(code + at, size - at);

		printf("%lx", address + at);
		at += i.length ? i.length : 1;
		if (!i.length)
			printf(" ?");
		else if (i.jumps)
			printf(" %lx", address + at + (unsigned long)(long)i.distance);
		putchar('\n');
	}
	free(code);
	fclose(file);
	return 0;
}
