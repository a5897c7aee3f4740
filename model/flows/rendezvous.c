/* SPDX-License-Identifier: MIT */
#include "model/flows/rendezvous.h"

#include <stdio.h>
#include <string.h>

#define PART_BYTES 512

/* Shortens "/job:a/replica:0/task:1/device:GPU:0" to "job:a/task:1/GPU:0": leaves out what every
 * device has, and the CPU. */
static void rendezvous_device(char *buf, size_t size, const char *device, size_t length)
{
	static const char replica[] = "/replica:0", cpu[] = "/device:CPU:0", kind[] = "/device:";
	const char *end = device + length;
	size_t n = 0;

	if (device < end && *device == '/')
		device++;
	while (device < end && n + 1 < size) {
		size_t left = (size_t)(end - device);

		if (left >= sizeof(replica) - 1 && !memcmp(device, replica, sizeof(replica) - 1) &&
		    (left == sizeof(replica) - 1 || device[sizeof(replica) - 1] == '/')) {
			device += sizeof(replica) - 1;
		} else if (left >= sizeof(kind) - 1 && !memcmp(device, kind, sizeof(kind) - 1)) {
			if (left == sizeof(cpu) - 1 && !memcmp(device, cpu, left))
				break;
			device += sizeof(kind) - 1;
			buf[n++] = '/';
		} else {
			buf[n++] = *device++;
		}
	}
	buf[n] = '\0';
}

/* Splits off the next part, up to a semicolon. */
static bool part(const char **text, const char **begin, size_t *length)
{
	const char *end = strchr(*text, ';');

	if (!end)
		return false;
	*begin = *text;
	*length = (size_t)(end - *text);
	*text = end + 1;
	return true;
}

/* "edge_12_model/pool" is the 12th edge of its graph and starts at the op "model/pool"; it is
 * shown as "model/pool (edge 12)". Several edges may start at one op. */
static void rendezvous_label(char *buf, size_t size, const char *tensor, size_t length)
{
	static const char edge[] = "edge_";
	size_t digits = 0, begin = sizeof(edge) - 1;

	if (length > begin && !memcmp(tensor, edge, begin))
		while (begin + digits < length && tensor[begin + digits] >= '0' &&
		       tensor[begin + digits] <= '9')
			digits++;
	if (length > size / 2)
		length = size / 2;
	if (digits && begin + digits + 1 < length && tensor[begin + digits] == '_')
		snprintf(buf, size, "%.*s (edge %.*s)", (int)(length - begin - digits - 1),
			 tensor + begin + digits + 1, (int)digits, tensor + begin);
	else
		snprintf(buf, size, "%.*s", (int)length, tensor);
}

bool rendezvous_name(const char *text, char name[RENDEZVOUS_NAME])
{
	const char *source, *number, *destination, *tensor;
	size_t source_length, number_length, destination_length, tensor_length;
	char from[PART_BYTES / 2], to[PART_BYTES / 2], what[PART_BYTES];

	if (!part(&text, &source, &source_length) ||
	    !part(&text, &number, &number_length) ||
	    !part(&text, &destination, &destination_length) ||
	    !part(&text, &tensor, &tensor_length))
		return false;
	rendezvous_device(from, sizeof(from), source, source_length);
	rendezvous_device(to, sizeof(to), destination, destination_length);
	rendezvous_label(what, sizeof(what), tensor, tensor_length);
	snprintf(name, RENDEZVOUS_NAME, "%s -> %s: %s", *from ? from : to, to, what);
	return true;
}
