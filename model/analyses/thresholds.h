/* SPDX-License-Identifier: MIT */
/*
 * The thresholds of the analyses: every number that is a matter of judgement, with a name, so
 * that a user can change it (`set NAME = VALUE`) and docs/analyses.md can list it.
 *
 * X(ID, name, default, least, most, unit, help); unit: "%", "us", "ms", "count", "bytes". A
 * value that comes from a publication has its source beside it.
 */
#ifndef MODEL_THRESHOLDS_H
#define MODEL_THRESHOLDS_H

#include <stdbool.h>
#include <stdint.h>

struct model;

#define THRESHOLD_LIST(X) \
	X(WARM_UP, "warm-up-steps", 2, 0, 1000, "count", \
	  "first steps of a run, which are left out of means and findings") \
	X(MIN_STEPS, "finding-steps", 5, 1, 100000, "count", \
	  "steps after the warm-up before findings are reported") \
	X(COPY_SHARE, "copy-share", 5, 1, 100, "%", \
	  "report copy-bound when copies run and no kernel does for this share of a step") \
	X(REPEAT_SHARE, "repeated-copy-share", 1, 0, 100, "%", \
	  "report repeated copies, round trips and same data from this share of a step") \
	X(MEMORY_GROWTH, "memory-growth", 1024, 1, 1 << 30, "bytes", \
	  "report memory-growth when each step leaves this much more allocated") \
	X(MEMORY_STEPS, "memory-growth-steps", 20, 8, 100000, "count", \
	  "steps after the warm-up over which memory must grow") \
	X(MEMORY_SOON, "memory-soon", 86400000, 1, INT64_C(1) << 40, "ms", \
	  "make memory-growth a warning, not a note, when memory is full within this time") \
	X(LAUNCH_GAP, "launch-gap", 50, 0, 1000000, "us", \
	  "a device's pause between queued commands counts as launch up to this length") \
	X(INPUT_SOME, "input-share", 5, 0, 100, "%", \
	  "report input-bound from this share of a step (XProf: moderately input-bound)") \
	X(INPUT_MUCH, "input-share-high", 20, 0, 100, "%", \
	  "make input-bound a warning from this share of a step (XProf: highly)") \
	X(LAUNCH_SOME, "launch-share", 15, 0, 100, "%", \
	  "report launch-bound from this share of a step (XProf: highly; moderately from 3)") \
	X(SYNC_SOME, "sync-share", 15, 0, 100, "%", \
	  "report sync-bound when the host waits and devices idle for this share of a step") \
	X(HOST_SHARE, "host-share", 5, 2, 100, "%", \
	  "report host-wait when devices wait for one place of the program for this share") \
	X(HOST_MUCH, "host-share-high", 20, 2, 100, "%", \
	  "make host-wait a warning from this share of a step") \
	X(FAULT_SHARE, "fault-share", 5, 1, 100, "%", \
	  "report page-faults when touching new memory takes about this share of a step") \
	X(FAULT_MUCH, "fault-share-high", 20, 1, 100, "%", \
	  "make page-faults a warning from this share of a step") \
	X(STALL_SHARE, "stall-share", 10, 0, 100, "%", \
	  "report sync-stall when the waits of one line cost this share of a step") \
	X(SMALL_KERNEL, "small-kernel", 0, 0, 1000, "us", \
	  "kernels shorter than this are small; 0: shorter than it takes to launch them") \
	X(SMALL_RUN, "small-kernel-run", 3, 2, 100000, "count", \
	  "small kernels in a row in one op that could be fused") \
	X(SMALL_RUN_OPS, "small-kernel-run-ops", 10, 2, 100000, "count", \
	  "small kernels in a row, whatever their ops, that could be fused") \
	X(SMALL_SHARE, "small-kernel-share", 2, 0, 100, "%", \
	  "report small-kernels when fusing them would save this share of a step") \
	X(COSTLY_SHARE, "costly-op-share", 10, 0, 100, "%", \
	  "report costly-op when ops with a cheaper form hold this share of the critical path") \
	X(TENSOR_SHARE, "tensor-share", 10, 0, 100, "%", \
	  "report no-tensor-cores from this share of a step in matrix products without them") \
	X(WIRE_SHARE, "wire-share", 2, 0, 100, "%", \
	  "report wire-bound when waiting for a tensor of another process takes this share") \
	X(POOL_SHARE, "pool-share", 10, 0, 100, "%", \
	  "report pool-bound when ops wait for threads and cores are free for this share") \
	X(SMALL_OP, "small-op", 10, 0, 1000, "us", \
	  "a framework's pieces of work up to this length count as overhead") \
	X(OVERHEAD_SHARE, "overhead-share", 30, 1, 100, "%", \
	  "report framework-overhead from this share of a step") \
	X(RECOMPILES, "recompiles", 3, 1, 100000, "count", \
	  "report recompiles from this many compilations of one thing after the warm-up") \
	X(COMPILE_SHARE, "compile-share", 20, 1, 100, "%", \
	  "report compile-time from this share of the run so far, if it is 10 s or more") \
	X(SETTINGS_SHARE, "settings-share", 10, 0, 100, "%", \
	  "report a setting that costs this share of a step") \
	X(EAGER_OPS, "eager-ops", 20, 1, 100000, "count", \
	  "report eager ops when a step runs at least this many") \
	X(SLOWER, "slowdown", 20, 1, 1000, "%", \
	  "report a kernel, or steps, that take this much longer late in the run than early") \
	X(SLOWER_SHARE, "slowdown-share", 2, 0, 100, "%", \
	  "report slower kernels when they cost this share of a step")

enum threshold {
#define THRESHOLD_ID(id, ...) THRESHOLD_##id,
	THRESHOLD_LIST(THRESHOLD_ID)
#undef THRESHOLD_ID
	THRESHOLD_COUNT
};

struct threshold_info {
	const char *name;
	int64_t initial, least, most;
	const char *unit, *help;
};

extern const struct threshold_info threshold_table[THRESHOLD_COUNT];

int64_t model_threshold(const struct model *model, enum threshold threshold);
/* Sets a threshold; false: the value is out of bounds and nothing changed. */
bool model_threshold_set(struct model *model, enum threshold threshold, int64_t value);

#endif
