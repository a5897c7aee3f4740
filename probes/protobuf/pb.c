/* SPDX-License-Identifier: MIT */
#include "probes/protobuf/pb.h"

#include <string.h>

bool pb_varint(struct pb *w, uint64_t *value)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 70 && w->at < w->end; shift += 7) {
		uint8_t byte = *w->at++;

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*value = v;
			return true;
		}
	}
	w->at = w->end;
	return false;
}

static bool fixed(struct pb *w, size_t size, uint64_t *value)
{
	uint64_t v = 0;

	if (pb_left(w) < size)
		return false;
	for (size_t i = 0; i < size; i++)
		v |= (uint64_t)w->at[i] << (8 * i);
	w->at += size;
	*value = v;
	return true;
}

bool pb_next(struct pb *w, struct pb_field *f)
{
	uint64_t tag, length;

	if (!pb_varint(w, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		goto end;
	*f = (struct pb_field){ .number = (uint32_t)(tag >> 3), .type = (enum pb_type)(tag & 7) };
	switch (tag & 7) {
	case PB_VARINT:
		if (pb_varint(w, &f->value))
			return true;
		break;
	case PB_FIXED64:
		if (fixed(w, 8, &f->value))
			return true;
		break;
	case PB_FIXED32:
		if (fixed(w, 4, &f->value))
			return true;
		break;
	case PB_BYTES:
		if (!pb_varint(w, &length) || length > pb_left(w))
			break;
		f->bytes = pb_of(w->at, (size_t)length);
		w->at += length;
		return true;
	default:
		break;
	}
end:
	w->at = w->end;
	return false;
}

const char *pb_text(char *buf, size_t size, struct pb text)
{
	size_t length = pb_left(&text) < size ? pb_left(&text) : size - 1;
	size_t n;

	if (length)
		memcpy(buf, text.at, length);
	buf[length] = '\0';
	n = strlen(buf);
	/* not within a character */
	while (n == size - 1 && n && ((unsigned char)buf[n - 1] & 0x80)) {
		bool head = ((unsigned char)buf[n - 1] & 0xc0) == 0xc0;

		buf[--n] = '\0';
		if (head)
			break;
	}
	return buf;
}
