/* SPDX-License-Identifier: MIT */
/*
 * A CUPTI over the simulated device (sim.h): one source, compiled once for each release that it
 * plays (RELEASE, as CUPTI_RELEASE() of probes/cuda/cupti.h counts), with that release's record
 * sizes and without the functions that came later.
 *
 * It is strict: what a client must not do ends the program with "libcupti double: …" and
 * SIGABRT. Settings, words of CUPTI_DOUBLE (blanks or commas between), read at the first call:
 *	disorder	records of a buffer come in another order
 *	half		a buffer counts as full when half of it is used
 *	hold=N		every N-th buffer stays until a forced flush
 *	tardy		a full buffer comes 5 ms late, a flush does not wait for it
 *	clings		a buffer that is flushed is replaced by an empty one at once, which stays
 *	drop=N		every N-th record is dropped, and counted
 *	zero=N		every N-th kernel, copy and fill has no times
 *	unknown=N	after every N-th record comes one of a kind that nobody knows
 *	future=B	kernels, copies and fills are B bytes longer, as a later release's
 *	uncorrelated	correlation ids are 0 unless API calls are recorded, any
 *	bycall		they are 0 unless the call that they are of is recorded
 *	torn		a graph's launch that goes on while whole graphs are switched on is
 *			recorded both ways, in parts
 *	overhead=N	every N-th flush is recorded as CUPTI's own cost
 *	busy=NAME	somebody of that name has subscribed
 *	fail=F:N:E	the N-th call of function F returns E; N 0: every call
 *	slow=F:US	function F takes so long
 */
#ifndef TESTS_DOUBLES_CUDA_CUPTI_DOUBLE_H
#define TESTS_DOUBLES_CUDA_CUPTI_DOUBLE_H

#include "probes/cuda/cupti.h"
#include "tests/doubles/cuda/cupti_records.h"
#include "tests/doubles/cuda/entry.h"

#ifndef RELEASE
#define RELEASE CUPTI_RELEASE(13, 0)
#endif

#define CU_KIND_UNKNOWN 9000	/* of the setting */
#define CU_UNKNOWN_BYTES 40

struct cu_settings {
	bool disorder, half, uncorrelated, by_call, torn, tardy, clings;
	unsigned int hold, drop, zero, unknown, future, overhead;
	char busy[64];
};
extern struct cu_settings cu;

/* Which kinds are enabled. */
extern atomic_bool cu_kind[CUPTI_KIND_LIMIT];
extern atomic_bool cu_driver_api[1024], cu_runtime_api[1024];
void cu_set(atomic_bool *at, size_t n, bool on);
extern bool cu_latency, cu_per_thread;
extern int64_t cu_time_offset;	/* from the client's clock to CLOCK_REALTIME */
extern bool cu_own_clock;
extern atomic_bool cu_subscribed;

_Noreturn void cu_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A function starts: returns the result with which it must fail, or 0. */
int cu_before(const char *function);
/* A callback of the client is running on this thread, from which nothing may be flushed. */
extern __thread const char *cu_inside;

/* How many flushes have begun, for a test that waits for one (found by dlsym). */
SIM_API unsigned long cupti_double_flushes(void);
/* Whether kernels are recorded, for a program that waits for another client of its process. */
SIM_API bool cupti_double_records(void);

/* Defines cuptiX(arguments) { body }, which can be told to fail. */
#define CUPTI(fn, ...) \
	int cu_##fn(E_ARGS(__VA_ARGS__)); \
	SIM_API int fn(E_ARGS(__VA_ARGS__)); \
	SIM_API int fn(E_ARGS(__VA_ARGS__)) \
	{ \
		int result_ = cu_before(#fn); \
		return result_ ? result_ : cu_##fn(E_NAMES(__VA_ARGS__)); \
	} \
	int cu_##fn(E_ARGS(__VA_ARGS__))

/* --- records: cupti_records.c --- */

extern const struct sim_tool cu_tool;
/* Size of a record of that kind in this release; 0: there is no such kind. */
uint32_t cu_bytes(uint32_t kind);
void cu_overhead_record(uint32_t kind, int64_t start_ns, int64_t end_ns, uint32_t correlation);

/* --- buffers: cupti_buffers.c --- */

/* Writes as many bytes as the release's record has; the buffer is complete from ready_ns on. */
void cu_append(const void *record, int64_t ready_ns);
int64_t cu_time(int64_t realtime_ns);
void cu_forget(void);	/* what a client has registered */

/* --- callbacks: cupti_api.c --- */

/* The functions of the second family (13.3) belong to a subscriber and exclude those of the
 * first. */
extern int cu_family;	/* 1 or 2; 0: no client has subscribed yet */
extern struct cupti_subscriber *const cu_subscriber;
void cu_callback(uint32_t domain, uint32_t id, const void *data);
bool cu_wanted(uint32_t domain, uint32_t id);

#endif
