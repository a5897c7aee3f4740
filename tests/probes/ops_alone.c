/* SPDX-License-Identifier: MIT */
/*
 * Events as lines, "ev_ops KEY=VALUE...  words=[ [0]=N ...": each op of an ev_ops
 * as an ev_op of its own, each kernel as an ev_command, memory as ev_alloc and ev_free with
 * its time in at_ns, all else as it is. Written from the description in
 * probes/schema/records.h, apart from tftop's own decoder. Status 1: one is not
 * as described, which is told in a line "damaged ...".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/schema/records.h"

static int status;

static uint64_t value(const char *line, const char *key)
{
	char text[32];
	const char *at;

	snprintf(text, sizeof(text), " %s=", key);
	at = strstr(line, text);
	return at ? strtoull(at + strlen(text), NULL, 10) : 0;
}

static size_t words(const char *line, uint64_t *w)
{
	const char *at = strstr(line, "words=[");
	size_t n = 0;

	while (at && n < TFT_OPS_WORDS && (at = strstr(at, "]=")))
		w[n++] = strtoull(at += 2, NULL, 10);
	return n;
}

/* Returns `bits` bits of w, starting at bit `from`. */
static uint64_t part(uint64_t w, unsigned int from, unsigned int bits)
{
	return w >> from & ((UINT64_C(1) << bits) - 1);
}

static int64_t with_sign(uint64_t v, unsigned int bits)
{
	return v >> (bits - 1) ? (int64_t)v - (INT64_C(1) << bits) : (int64_t)v;
}

/* The values that an op takes over from the one before. */
struct before {
	uint64_t instance, domain, argb, frame;
	uint64_t ran_in, ran_on, device;	/* for kernels and memory */
	int64_t step;
};

static size_t one(const uint64_t *w, int64_t base_ns, struct before *b, struct tft_op *op)
{
	unsigned int has = (unsigned int)part(w[0], 0, 8);
	uint64_t handed = 0;
	size_t n = 3;

	op->flags = (uint8_t)part(w[0], 8, 8);
	if (has == TFT_OPS_WHOLE) {
		op->depth = (uint16_t)part(w[0], 16, 16);
		op->name = (uint32_t)part(w[0], 32, 32);
		op->instance = w[1];
		op->parent = w[2];
		op->start_ns = (int64_t)w[3];
		op->dur_ns = (int64_t)w[4];
		b->step = (int64_t)w[5];
		op->payload = w[6];
		b->domain = part(w[7], 0, 32);
		b->argb = part(w[7], 32, 32);
		op->type = (uint32_t)part(w[8], 0, 32);
		op->framework = (uint8_t)part(w[8], 32, 8);
		b->frame = part(w[9], 0, 32);
		handed = w[11];
		n = TFT_OPS_WHOLE_WORDS;
	} else {
		op->name = (uint32_t)part(w[0], 16, 24);
		op->type = (uint32_t)part(w[0], 40, 24);
		op->start_ns = base_ns + with_sign(part(w[1], 0, 32), 32);
		op->dur_ns = (int64_t)part(w[1], 32, 32);
		op->framework = (uint8_t)part(w[2], 0, 8);
		op->depth = (uint16_t)part(w[2], 8, 8);
		op->instance = b->instance + (uint64_t)with_sign(part(w[2], 44, 20), 20);
		op->parent = part(w[2], 16, 28) ? op->instance - part(w[2], 16, 28) : 0;
		if (has & TFT_OPS_STEP)
			b->step = (int64_t)w[n++];
		if (has & TFT_OPS_LOOK) {
			b->domain = part(w[n], 0, 32);
			b->argb = part(w[n++], 32, 32);
		}
		op->payload = has & TFT_OPS_PAYLOAD ? w[n++] : 0;
		if (has & TFT_OPS_PLACE)
			b->frame = part(w[n++], 0, 32);
		n += !!(has & TFT_OPS_FORWARD);
		handed = has & TFT_OPS_HANDED ? w[n++] : 0;
	}
	op->wait_ns = (int64_t)part(handed, 0, 40);
	op->waker = (uint32_t)part(handed, 40, 24);
	b->instance = op->instance;
	op->step = b->step;
	op->domain = (uint32_t)b->domain;
	op->argb = (uint32_t)b->argb;
	op->frame = (uint32_t)b->frame;
	return n;
}

static size_t kernel(const char *line, const uint64_t *w, struct before *b, uint64_t seq)
{
	unsigned int has = (unsigned int)part(w[0], 0, 8);
	uint64_t start = value(line, "base_ns") + (uint64_t)with_sign(part(w[1], 0, 32), 32);
	size_t n = 2;

	if (has & TFT_OPS_RAN_IN)
		b->ran_in = w[n++];
	if (has & TFT_OPS_RAN_ON)
		b->ran_on = w[n++];
	printf("ev_command vpid=%" PRIu64 " vtid=%" PRIu64 " seq=%" PRIu64 " tid=%" PRIu64
	       " queue=%" PRIu64 " name=%" PRIu64 " shape=%" PRIu64 " correlation=0 op=%" PRIu64
	       " op_name=%" PRIu64 " call_dur_ns=0 call_ns=0 queued_ticks=0 submit_ticks=0"
	       " start_ticks=%" PRIu64 " end_ticks=%" PRIu64
	       " bytes=0 status=0 kind=%d direction=0 how=%d flags=0 \n",
	       value(line, "vpid"), value(line, "vtid"),
		       seq, value(line, "tid"),
	       part(b->ran_on, 0, 32), part(w[0], 16, 24), part(w[0], 40, 24), b->ran_in,
	       part(b->ran_on, 32, 32), start, start + part(w[1], 32, 32), TFT_KIND_KERNEL,
	       b->ran_in ? TFT_HOW_EXACT : TFT_HOW_NONE);
	return n;
}

static size_t memory(const char *line, const uint64_t *w, struct before *b, uint64_t seq)
{
	unsigned int has = (unsigned int)part(w[0], 0, 8);
	uint64_t at = value(line, "base_ns") + (uint64_t)with_sign(part(w[1], 0, 32), 32);
	size_t n = 3;

	if (has == (TFT_OPS_MEMORY | TFT_OPS_FREE)) {
		printf("ev_free vpid=%" PRIu64 " vtid=%" PRIu64 " seq=%" PRIu64
		       " allocator=%" PRIu64
		       " address=%" PRIu64 " at_ns=%" PRIu64 " \n", value(line, "vpid"),
		       value(line, "vtid"),
		       seq, part(w[0], 16, 24), w[2], at);
		return n;
	}
	if (has & TFT_OPS_RAN_IN)
		b->ran_in = w[n++];
	if (has & TFT_OPS_DEVICE)
		b->device = w[n++];
	printf("ev_alloc vpid=%" PRIu64 " vtid=%" PRIu64 " seq=%" PRIu64 " allocator=%" PRIu64
	       " device=%" PRIu64 " op_name=%" PRIu64 " address=%" PRIu64 " bytes=%" PRIu64
	       " op=%" PRIu64 " at_ns=%" PRIu64 " \n", value(line, "vpid"), value(line, "vtid"),
		       seq,
	       part(w[0], 16, 24), b->device, part(w[0], 40, 24), w[2], part(w[1], 32, 32),
	       b->ran_in, at);
	return n;
}

static size_t op(const char *line, const uint64_t *w, struct before *b, uint64_t seq)
{
	struct tft_op op;
	size_t n = one(w, (int64_t)value(line, "base_ns"), b, &op);

	printf("ev_op vpid=%" PRIu64 " vtid=%" PRIu64 " seq=%" PRIu64 " tid=%" PRIu64
	       " instance=%" PRIu64 " parent=%" PRIu64 " name=%u type=%u domain=%u argb=%u"
	       " start_ns=%" PRId64 " dur_ns=%" PRId64 " step=%" PRId64 " payload=%" PRIu64
	       " depth=%u framework=%u flags=%u frame=%u wait_ns=%" PRId64
	       " waker=%u \n", value(line, "vpid"), value(line, "vtid"),
		       seq, value(line, "tid"),
	       op.instance, op.parent, op.name, op.type, op.domain, op.argb, op.start_ns,
	       op.dur_ns, op.step, op.payload, op.depth, op.framework, op.flags, op.frame,
	       op.wait_ns, op.waker);
	return n;
}

static void alone(const char *line)
{
	/* with extra room behind the last word, for damaged input */
	uint64_t w[TFT_OPS_WORDS + TFT_OPS_WHOLE_WORDS] = { 0 };
	size_t n = words(line, w), at = 0;
	uint64_t count = value(line, "count"), seq = value(line, "seq");
	struct before before = { .instance = value(line, "instance"), .step = -1 };

	if (n != value(line, "_words_length") || count < 1 || count > TFT_OPS_MAX)
		at = SIZE_MAX;
	for (uint64_t i = 0; i < count && at < n; i++) {
		uint64_t has = part(w[at], 0, 8);

		at += ((has & TFT_OPS_MEMORY) == TFT_OPS_MEMORY ? memory :
		       has & TFT_OPS_KERNEL ? kernel : op)(line, w + at, &before, seq + i);
		if (i + 1 < count && at >= n)
			at = SIZE_MAX;
	}
	if (at != n) {
		printf("damaged %s", line);
		status = 1;
	}
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		if (!strncmp(line, "ev_ops ", 7))
			alone(line);
		else
			fputs(line, stdout);
	}
	free(line);
	return status;
}
