/* SPDX-License-Identifier: MIT */
/*
 * When an analysis speaks: every number that is a matter of judgement, by
 * name, so that a user can change it (`set NAME = VALUE`) and docs/analyses.md
 * can list it.
 *
 * X(ID, name, default, least, most, unit, help); unit: "%", "us", "ms",
 * "count", "bytes". Sources are named beside the values that come from one.
 */
#ifndef MODEL_THRESHOLDS_H
#define MODEL_THRESHOLDS_H

#include <stdbool.h>
#include <stdint.h>

struct model;

#define THRESHOLD_LIST(X) \
	X(WARM_UP, "warm-up-steps", 2, 0, 1000, "count", "first steps that are left out of averages") \
	X(MIN_STEPS, "finding-steps", 5, 1, 100000, "count", "steps after the warm-up before a finding is said") \
	X(COPY_SHARE, "copy-share", 5, 1, 100, "%", "of a step in which copies run and no kernel") \
	X(REPEAT_SHARE, "repeated-copy-share", 1, 0, 100, "%", "of a step in copies that need not be") \
	X(MEMORY_GROWTH, "memory-growth", 1024, 1, 1 << 30, "bytes", "more that are live after each step") \
	X(MEMORY_STEPS, "memory-growth-steps", 20, 8, 100000, "count", "steps after the warm-up in which memory grows") \
	X(MEMORY_SOON, "memory-soon", 86400000, 1, INT64_C(1) << 40, "ms", "until memory is full: a warning, else a note") \
	X(LAUNCH_GAP, "launch-gap", 50, 0, 1000000, "us", "pause of a device between two commands that were queued, at most") \
	X(INPUT_SOME, "input-share", 5, 0, 100, "%", "of a step waits for input: a finding (XProf: moderately input-bound)") \
	X(INPUT_MUCH, "input-share-high", 20, 0, 100, "%", "of a step waits for input: a warning (XProf: highly)") \
	X(LAUNCH_SOME, "launch-share", 15, 0, 100, "%", "of a step hands work over: a finding (XProf: highly; 3 moderately)") \
	X(SYNC_SOME, "sync-share", 15, 0, 100, "%", "of a step waits for devices that do nothing: a finding") \
	X(STALL_SHARE, "stall-share", 10, 0, 100, "%", "of a step that devices idle after a wait of one line, as far as that saves: a finding") \
	X(SMALL_KERNEL, "small-kernel", 0, 0, 1000, "us", "kernels that run shorter are small; 0: than it takes to launch them") \
	X(SMALL_RUN, "small-kernel-run", 3, 2, 100000, "count", "small kernels in a row in one op that could be one") \
	X(SMALL_RUN_OPS, "small-kernel-run-ops", 10, 2, 100000, "count", "small kernels in a row, whatever their ops") \
	X(SMALL_SHARE, "small-kernel-share", 2, 0, 100, "%", "of a step that fusing small kernels would save") \
	X(COSTLY_SHARE, "costly-op-share", 10, 0, 100, "%", "of the critical path in ops of which there is a cheaper form") \
	X(TENSOR_SHARE, "tensor-share", 10, 0, 100, "%", "of a step in products of matrices that use no tensor cores") \
	X(WIRE_SHARE, "wire-share", 2, 0, 100, "%", "of a step waits for a tensor from another process") \
	X(POOL_SHARE, "pool-share", 10, 0, 100, "%", "of a step in which ops wait for a thread and cores are free") \
	X(SMALL_OP, "small-op", 10, 0, 1000, "us", "of a framework's thread in one piece: no more is overhead") \
	X(OVERHEAD_SHARE, "overhead-share", 30, 1, 100, "%", "of a step goes around a framework's ops") \
	X(RECOMPILES, "recompiles", 3, 1, 100000, "count", "compilations of one thing after the warm-up") \
	X(SETTINGS_SHARE, "settings-share", 10, 0, 100, "%", "of a step that a setting costs") \
	X(EAGER_OPS, "eager-ops", 20, 1, 100000, "count", "ops that are run eagerly in a step before that is said") \
	X(SLOWER, "slowdown", 20, 1, 1000, "%", "that a kernel takes longer late in the run than early") \
	X(SLOWER_SHARE, "slowdown-share", 2, 0, 100, "%", "of a step that slower kernels cost")

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
/* false: out of bounds, nothing changed. */
bool model_threshold_set(struct model *model, enum threshold threshold, int64_t value);

#endif
