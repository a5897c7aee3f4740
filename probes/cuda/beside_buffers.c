/* SPDX-License-Identifier: MIT */
/* Whose a buffer of CUPTI's is, and who gets it back. See beside.h. */
#include <string.h>

#include "probes/cuda/beside.h"
#include "probes/cuda/probe.h"

static cupti_request_fn *_Atomic requested;
static cupti_complete_fn *_Atomic completed;
static _Atomic int64_t out;	/* of the client's buffers: those that CUPTI holds */

void beside_buffers_of(cupti_request_fn *request, cupti_complete_fn *complete)
{
	atomic_store(&requested, request);
	atomic_store(&completed, complete);
}

void beside_buffers_forget(void)
{
	atomic_store(&out, 0);
}

bool beside_buffers_out(void)
{
	return atomic_load(&out) > 0;
}

void beside_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	cupti_request_fn *theirs = atomic_load(&requested);

	if (collect_has() || !theirs) {
		buffers_request(buffer, size, max_records);
		return;
	}
	theirs(buffer, size, max_records);
	if (*buffer)
		atomic_fetch_add(&out, 1);
}

/* Puts records into buffers of the client's, as many as fit in each. */
struct handing {
	cupti_request_fn *request;
	cupti_complete_fn *complete;
	uint8_t *buffer;
	size_t size, used, most, count;
};

static void handing_end(struct handing *h)
{
	if (h->buffer)
		h->complete(NULL, 0, h->buffer, h->size, h->used);
	h->buffer = NULL;
}

static void handing_record(struct handing *h, const void *record, size_t bytes)
{
	if (h->buffer && (h->size - h->used < bytes || (h->most && h->count == h->most)))
		handing_end(h);
	if (!h->buffer) {
		h->used = h->count = h->size = h->most = 0;
		h->request(&h->buffer, &h->size, &h->most);
	}
	if (!h->buffer || h->size < bytes)
		return;		/* the client has declined, as it may */
	memcpy(h->buffer + h->used, record, bytes);
	h->used += bytes;
	h->count++;
}

/* Hands on the records of calls of ours in such a state, or else all others. What is left moves to
 * the beginning of the buffer; returns its length. */
static size_t handing_walk(struct handing *h, uint8_t *buffer, size_t valid, uint32_t state,
			   bool of_ours)
{
	void *record, *ahead = NULL;
	size_t left = 0;
	int r = cupti->next_record(buffer, valid, &ahead);

	while (!r) {
		struct cuda_record decoded;
		size_t bytes;
		bool ours;

		record = ahead;
		r = cupti->next_record(buffer, valid, &ahead);
		bytes = (size_t)((r ? buffer + valid : (uint8_t *)ahead) - (uint8_t *)record);
		ours = cuda_decode(record, bytes, cupti->release, &decoded) &&
		       calls_state(decoded.correlation) & state;
		if (ours == of_ours) {
			handing_record(h, record, bytes);
			continue;
		}
		memmove(buffer + left, record, bytes);
		left += bytes;
	}
	handing_end(h);
	return left;
}

/* A buffer of ours with records of the client's. Those of work from before are left out: they have
 * been counted as lost. */
static void handing_over(uint8_t *buffer, size_t valid)
{
	struct handing h = { .request = atomic_load(&requested),
			     .complete = atomic_load(&completed) };

	if (h.request && h.complete && valid)
		handing_walk(&h, buffer, valid, CALL_LEFT, false);
}

/* A buffer that CUPTI had from the client when tftop took CUPTI again, with records of tftop's. */
static size_t handing_back(uint8_t *buffer, size_t valid)
{
	struct handing h = { .request = buffers_request, .complete = buffers_complete };

	return valid && table_there() ? handing_walk(&h, buffer, valid, CALL_AWAITED, true) :
					valid;
}

void beside_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	cupti_complete_fn *theirs = atomic_load(&completed);

	if (buffer && !buffers_are_ours(buffer)) {
		atomic_fetch_sub(&out, 1);
		if (collect_has())
			valid = handing_back(buffer, valid);
		if (theirs)
			theirs(context, stream, buffer, size, valid);
		return;
	}
	if (buffer && !collect_has()) {
		handing_over(buffer, valid);
		valid = 0;
	}
	buffers_complete(context, stream, buffer, size, valid);
}
