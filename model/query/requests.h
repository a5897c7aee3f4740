/* SPDX-License-Identifier: MIT */
/*
 * Requests to a model that does not train, such as calls of generate(). The rules of query.h
 * apply. Sums are exact for the whole run.
 *
 * A request runs forward passes, one after the other. Tokens are an estimate: each pass is taken to
 * make one for each sequence that was asked for at once, also for those that had ended before the
 * others.
 */
#ifndef MODEL_QUERY_REQUESTS_H
#define MODEL_QUERY_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* All requests that one function of a process has answered. */
struct request_row {
	const char *name;		/* the function */
	uint16_t host;
	uint32_t pid;
	uint64_t requests, passes;
	uint64_t tokens;		/* 0: unknown */
	int64_t span_ns;		/* from the start of the first one to the end of the last */
	int64_t total_ns, p50_ns, p99_ns;
	/* time to the first token: from a request's start to the end of its first pass */
	int64_t first_p50_ns, first_p99_ns;
	/* mean time per token: from the end of a pass to the end of the next; -1: none */
	int64_t token_ns;
	/* per second of span_ns, in thousandths; -1: unknown */
	int64_t requests_milli, tokens_milli;
};

/* Those with most passes first. The caller owns *out. [locked] */
size_t model_requests(struct model *model, struct request_row **out);

struct request_rates {
	uint64_t requests;
	int64_t requests_milli, tokens_milli;	/* as above, of all functions and processes */
};
/* false: there are no requests. [locked] */
bool model_request_rates(struct model *model, struct request_rates *out);

#endif
