/* SPDX-License-Identifier: MIT */
/*
 * Enables in CUPTI what the level asks for.
 *
 *	off	nothing; callbacks of cudaProfilerStart() and -Stop() where they raise the level
 *	min	kernels, copies, fills; devices, contexts, streams; callbacks of resources
 *	default	also memory, pools, overheads, compilation; callbacks of the calls of
 *		cupti_calls.h, one by one
 *	full	also callbacks of all other calls
 *
 * If the library refuses a kind of record, that kind is left out, with a message that names it.
 * Only a refusal of kernels ends the probe.
 */
#include <stdio.h>
#include <string.h>

#include "probes/cuda/beside.h"
#include "probes/cuda/probe.h"

#define KINDS CUPTI_KIND_LIMIT
/* first release with callbacks about CUPTI's own state */
#define STATES_SINCE CUPTI_RELEASE(12, 2)

static bool enabled[KINDS], refused[KINDS];
static bool resources_on;
static bool enable_shared;	/* the subscription is a client's that rests */

static const struct {
	uint32_t kind;
	enum tft_level from;
	const char *what;
} kinds[] = {
	{ CUPTI_KIND_DEVICE, TFT_LEVEL_MIN, "devices" },
	{ CUPTI_KIND_CONTEXT, TFT_LEVEL_MIN, "contexts" },
	{ CUPTI_KIND_STREAM, TFT_LEVEL_MIN, "streams' priorities" },
	{ CUPTI_KIND_CONCURRENT_KERNEL, TFT_LEVEL_MIN, "kernels" },
	{ CUPTI_KIND_COPY, TFT_LEVEL_MIN, "copies" },
	{ CUPTI_KIND_COPY_PEER, TFT_LEVEL_MIN, "copies between devices" },
	{ CUPTI_KIND_FILL, TFT_LEVEL_MIN, "fills" },
	{ CUPTI_KIND_MEMORY, TFT_LEVEL_DEFAULT, "memory" },
	{ CUPTI_KIND_POOL, TFT_LEVEL_DEFAULT, "memory pools" },
	{ CUPTI_KIND_OVERHEAD, TFT_LEVEL_DEFAULT, "loading of code, CUPTI's own cost" },
	{ CUPTI_KIND_JIT, TFT_LEVEL_DEFAULT, "compiling by the driver" },
};

bool enable_has(uint32_t kind)
{
	return kind < KINDS && enabled[kind];
}

/* ---- kinds ---- */

static int kind_on(uint32_t kind, const char *what)
{
	int r;

	if (enabled[kind] || refused[kind])
		return CUPTI_OK;
	if (!cupti_has_kind(cupti, kind)) {
		refused[kind] = true;
		cuda_tell(0, "libcupti %s does not record %s", cupti->version_text, what);
		return CUPTI_OK;
	}
	r = cupti->enable(kind);
	if (r == CUPTI_OK) {
		enabled[kind] = true;
		return r;
	}
	refused[kind] = true;
	cuda_tell(1, "CUPTI refuses to record %s: %s (%d)", what, cupti_text(r), r);
	return r;
}

static void kind_off(uint32_t kind)
{
	if (enabled[kind])
		enabled[kind] = cuda_asked(cupti->disable(kind), SAID_DISABLE, 1,
					   "CUPTI does not stop recording what was enabled");
}

/* Returns CUPTI's result for kernels. */
static int kinds_apply(enum tft_level level)
{
	int kernels = CUPTI_OK, r;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (level == TFT_LEVEL_OFF || level < kinds[i].from) {
			kind_off(kinds[i].kind);
			continue;
		}
		r = kind_on(kinds[i].kind, kinds[i].what);
		if (kinds[i].kind == CUPTI_KIND_CONCURRENT_KERNEL)
			kernels = r;
	}
	if (level < TFT_LEVEL_DEFAULT)
		kind_off(CUPTI_KIND_DRIVER);
	if (level == TFT_LEVEL_OFF)
		kind_off(CUPTI_KIND_GRAPH);
	else if (atomic_load(&graphs_whole))
		kind_on(CUPTI_KIND_GRAPH, "whole graphs");
	return kernels;
}

bool enable_whole_graphs(void)
{
	/* with several clients, the first one's choice stays */
	if (cupti->several || cupti->release < CUPTI_RELEASE(11, 7))
		return false;
	kind_on(CUPTI_KIND_GRAPH, "whole graphs");
	return enabled[CUPTI_KIND_GRAPH];
}

/*
 * The vendor's manual says that records have correlations only while calls are recorded; XLA's
 * profiler shows that callbacks for the calls suffice. To be sure, one rarely made call is recorded
 * if the release supports that (12.5), and all calls once a record has arrived without.
 */
static void one_recorded(bool on)
{
	if (cupti->driver_records && !enabled[CUPTI_KIND_DRIVER])
		cupti->driver_records(CUPTI_DRIVER_cuLinkComplete, on);
}

void enable_correlations(void)
{
	kind_on(CUPTI_KIND_DRIVER, "correlations");
}

/* ---- callbacks ---- */

/* How many callbacks were requested and refused, and why. */
static struct {
	unsigned asked, refused, unknown;
	int answer;
} calls;
static enum tft_level calls_level = TFT_LEVEL_OFF;
static bool chosen, all[CUPTI_DOMAIN_RUNTIME + 1];

static void one_call(uint32_t on, uint32_t domain, uint32_t number)
{
	int r = cupti->enable_callback(on, domain, number);

	calls.asked++;
	/* this release does not have the call */
	calls.unknown += r == CUPTI_INVALID_PARAMETER;
	calls.refused += r != CUPTI_OK;
	if (r != CUPTI_OK && (r != CUPTI_INVALID_PARAMETER || calls.answer == CUPTI_OK))
		calls.answer = r;
}

static void chosen_calls(uint32_t on)
{
	memset(&calls, 0, sizeof(calls));
#define CALL(domain, name, number, cls, at) one_call(on, CUPTI_DOMAIN_##domain, number);
	CUPTI_DRIVER_CALLS(CALL)
	CUPTI_RUNTIME_CALLS(CALL)
#undef CALL
	chosen = on;
	if (on && calls.refused == calls.asked)
		cuda_asked(calls.answer, SAID_CALLS, 1,
			   "CUPTI refuses to call back: launches, waits and "
			   "the program's calls are not seen, and nothing of the device has an op");
	else if (on && calls.refused > calls.unknown)
		cuda_asked(calls.answer, SAID_CALLS, 1,
			   "CUPTI refuses to call back for some calls: these "
			   "are not seen, and what they launch has no op");
}

static bool profiler_on;

/* Enables the callbacks of cudaProfilerStart() and cudaProfilerStop(), if no other setting does. */
static void profiler_calls(void)
{
	bool on = rt_trigger() == TFT_TRIGGER_PROFILER && calls_level == TFT_LEVEL_OFF;

	if (on == profiler_on)
		return;
	profiler_on = on;
	memset(&calls, 0, sizeof(calls));
#define CALL(domain, name, number, cls, at) \
	if (CUPTI_CLASS_##cls == CUPTI_CLASS_PROFILER_START || \
	    CUPTI_CLASS_##cls == CUPTI_CLASS_PROFILER_STOP) \
		one_call(on, CUPTI_DOMAIN_##domain, number);
	CUPTI_DRIVER_CALLS(CALL)
	CUPTI_RUNTIME_CALLS(CALL)
#undef CALL
	if (on && calls.refused)
		cuda_asked(calls.answer, SAID_CALLS, 1, "CUPTI refuses to call back for "
			   "cudaProfilerStart(): nothing of the device will be seen");
}

static void all_calls(uint32_t on, uint32_t domain)
{
	int r = on || all[domain] ? cupti->enable_domain(on, domain) : CUPTI_OK;

	all[domain] = on && r == CUPTI_OK;
	if (on)
		cuda_asked(r, SAID_CALLS, 1,
			   "CUPTI refuses to call back for all calls: those of level "
			   "default are seen");
}

/* Changing from all calls to the chosen ones disables all first. */
static void calls_change(enum tft_level level)
{
	profiler_on = false;	/* they are among the chosen ones */
	all_calls(0, CUPTI_DOMAIN_DRIVER);
	all_calls(0, CUPTI_DOMAIN_RUNTIME);
	if (chosen)
		chosen_calls(0);
	calls_epoch();
	if (calls_level == TFT_LEVEL_OFF)
		table_forget();
	if ((level == TFT_LEVEL_OFF) != (calls_level == TFT_LEVEL_OFF))
		one_recorded(level != TFT_LEVEL_OFF);
	if (level == TFT_LEVEL_FULL) {
		all_calls(1, CUPTI_DOMAIN_DRIVER);
		all_calls(1, CUPTI_DOMAIN_RUNTIME);
	}
	if (level == TFT_LEVEL_DEFAULT || (level == TFT_LEVEL_FULL &&
					   !(all[CUPTI_DOMAIN_DRIVER] &&
					     all[CUPTI_DOMAIN_RUNTIME])))
		chosen_calls(1);
	calls_level = level;
}

static void calls_apply(enum tft_level level)
{
	if (level < TFT_LEVEL_DEFAULT)
		level = TFT_LEVEL_OFF;
	if (level != calls_level)
		calls_change(level);
	profiler_calls();
}

static void resources_apply(bool on)
{
	static const uint32_t ids[] = {
		CUPTI_RESOURCE_STREAM_CREATED, CUPTI_RESOURCE_STREAM_DESTROY,
		CUPTI_RESOURCE_NODE_CREATED, CUPTI_RESOURCE_NODE_CLONED,
		CUPTI_RESOURCE_EXEC_DESTROY,
	};

	if (on == resources_on)
		return;
	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		cuda_asked(cupti->enable_callback(on, CUPTI_DOMAIN_RESOURCE, ids[i]),
			   SAID_RESOURCES, 1,
			   "CUPTI refuses to call back when streams and graphs come and go: "
			   "names of streams and ops of graphs' nodes may be missing");
	if (cupti->release >= STATES_SINCE)
		cuda_asked(cupti->enable_domain(on, CUPTI_DOMAIN_STATE), SAID_STATE, 0,
			   "CUPTI does not report when it stops");
	resources_on = on;
}

void enable_level(enum tft_level level)
{
	/* callbacks are enabled before kinds, and disabled after them */
	if (level != TFT_LEVEL_OFF)
		resources_apply(true);
	if (level >= TFT_LEVEL_DEFAULT)
		calls_apply(level);
	kinds_apply(level);
	calls_apply(level);
	if (level == TFT_LEVEL_OFF)
		resources_apply(false);
}

/* ---- the start and the end ---- */

static int enable_subscribe(char *why, size_t size)
{
	char other[CUPTI_SUBSCRIBER_OLD] = "";
	int r = cupti_subscribe(calls_callback, NULL, atomic_load(&graphs_whole), other,
				sizeof(other));

	if (r == CUPTI_OK)
		return r;
	if (r == CUPTI_BUSY)
		snprintf(why, size, "another profiler (%s) uses CUPTI, which serves one client per "
			 "process: nothing of the device is seen, ops and NVTX ranges are; "
			 "'--probe -cuda' leaves CUPTI to that profiler",
			 *other ? other : "it does not give its name");
	else if (r == CUPTI_NOT_INITIALIZED)
		snprintf(why, size,
			 "libcupti %s (%s) does not fit this driver (CUDA %d.%d): nothing "
			 "of the device is seen; TFTOP_CUPTI names another one",
			 cupti->version_text, cupti->path, cupti->driver / 1000,
			 cupti->driver % 1000 / 10);
	else
		snprintf(why, size,
			 "CUPTI refuses the subscription: %s (%d); nothing of the device is "
			 "seen", cupti_text(r), r);
	return r;
}

static void kernels_refused(int r, char *why, size_t size)
{
	if (r == CUPTI_NO_PRIVILEGES || r == CUPTI_VIRTUALIZED_NO_PRIVILEGES)
		snprintf(why, size, "the driver lets only administrators trace kernels (its option "
			 "NVreg_RestrictProfilingToAdminUsers): nothing of the device is seen");
	else
		snprintf(why, size,
			 "CUPTI refuses to record kernels: %s (%d); nothing of the device is "
			 "seen", cupti_text(r), r);
}

/* Takes the subscription of a client that rests, or else one of our own. */
static int enable_own(char *why, size_t size)
{
	struct cupti_subscriber *client;

	*why = '\0';
	if (!beside_share(&client))
		return CUPTI_BUSY;
	if (!client)
		return enable_subscribe(why, size);
	cupti_share(client);
	enable_shared = true;
	return CUPTI_OK;
}

void enable_end(void)
{
	enable_level(TFT_LEVEL_OFF);
	beside_clock(false);
	if (enable_shared) {
		beside_unshare();
		cupti_unshare();
	} else {
		cupti_unsubscribe();
	}
	enable_shared = false;
}

int enable_start(enum tft_level level, char *why, size_t size)
{
	int r = enable_own(why, size);

	if (r)
		return r;
	beside_clock(true);
	r = cupti->register_buffers(beside_request, beside_complete);
	if (r) {
		snprintf(why, size,
			 "CUPTI accepts no buffers: %s (%d); nothing of the device is seen",
			 cupti_text(r), r);
		enable_end();
		return r;
	}
	resources_apply(level != TFT_LEVEL_OFF);
	calls_apply(level);
	if (cupti->several)
		refused[CUPTI_KIND_GRAPH] = !atomic_load(&graphs_whole);
	r = kinds_apply(level);
	if (r) {
		kernels_refused(r, why, size);
		/* no thread would empty the buffers, and another client may succeed */
		enable_end();
	}
	return r;
}
