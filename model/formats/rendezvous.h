/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's rendezvous keys: tensorflow/core/framework/rendezvous.cc,
 * "SOURCE;INCARNATION;DESTINATION;TENSOR;FRAME:ITERATION", such as
 * "/job:a/replica:0/task:0/device:CPU:0;1f;/job:b/…;edge_5_Tanh;0:0". For the probe,
 * inside a program, and for who reads TensorFlow's profiles. libc alone, no state.
 */
#ifndef MODEL_FORMATS_RENDEZVOUS_H
#define MODEL_FORMATS_RENDEZVOUS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define RENDEZVOUS_PART 512
#define RENDEZVOUS_NAME (2 * RENDEZVOUS_PART + 8)

/* "/job:a/replica:0/task:1/device:GPU:0" as "job:a/task:1/GPU:0": what is said of
 * every device, and the CPU, is left out. Returns the length of the task's part. */
static inline size_t rendezvous_device(char *buf, size_t size, const char *device, size_t length)
{
	static const char replica[] = "/replica:0", cpu[] = "/device:CPU:0", kind[] = "/device:";
	const char *end = device + length;
	size_t n = 0, task = 0;

	if (device < end && *device == '/')
		device++;
	while (device < end && n + 1 < size) {
		size_t left = (size_t)(end - device);

		if (left >= sizeof(replica) - 1 && !memcmp(device, replica, sizeof(replica) - 1) &&
		    (left == sizeof(replica) - 1 || device[sizeof(replica) - 1] == '/')) {
			device += sizeof(replica) - 1;
		} else if (left >= sizeof(kind) - 1 && !memcmp(device, kind, sizeof(kind) - 1)) {
			task = n;
			if (left == sizeof(cpu) - 1 && !memcmp(device, cpu, left))
				break;
			device += sizeof(kind) - 1;
			buf[n++] = '/';
		} else {
			buf[n++] = *device++;
		}
	}
	buf[n] = '\0';
	return task ? task : n;
}

/* Cuts the next part off, up to a semicolon. */
static inline bool rendezvous_part(const char **text, const char **begin, size_t *length)
{
	const char *end = strchr(*text, ';');

	if (!end)
		return false;
	*begin = *text;
	*length = (size_t)(end - *text);
	*text = end + 1;
	return true;
}

/* "edge_12_model/pool" is the 12th edge of its graph, from the op "model/pool": as
 * "model/pool (edge 12)". Several edges may begin at one op. */
static inline void rendezvous_label(char *buf, size_t size, const char *tensor, size_t length)
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

/* "SOURCE -> DESTINATION: tensor" into name, which has RENDEZVOUS_NAME bytes; *remote:
 * the two are of different tasks. false: this is no such key. */
static inline bool rendezvous_name(const char *text, char *name, bool *remote)
{
	const char *source, *number, *destination, *tensor;
	size_t source_length, number_length, destination_length, tensor_length, a, b;
	char from[RENDEZVOUS_PART / 2], to[RENDEZVOUS_PART / 2], what[RENDEZVOUS_PART];

	if (!rendezvous_part(&text, &source, &source_length) ||
	    !rendezvous_part(&text, &number, &number_length) ||
	    !rendezvous_part(&text, &destination, &destination_length) ||
	    !rendezvous_part(&text, &tensor, &tensor_length))
		return false;
	a = rendezvous_device(from, sizeof(from), source, source_length);
	b = rendezvous_device(to, sizeof(to), destination, destination_length);
	*remote = source_length && (a != b || memcmp(from, to, a));
	rendezvous_label(what, sizeof(what), tensor, tensor_length);
	snprintf(name, RENDEZVOUS_NAME, "%s -> %s: %s", *from ? from : to, to, what);
	return true;
}

#endif
