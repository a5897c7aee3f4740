#!/bin/bash
# SPDX-License-Identifier: MIT
# The mistakes of examples/train_jax.py: each is the first finding, with its line and the
# number that a stopwatch or a counter in the program has; without one nothing is found.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_jax jax_findings
example=(examples/train_jax.py)

clean() {
	looks --steps 60 || return
	holds 'not f' || return 2
}

# Those of the warm-up, two steps, are the start of the program.
recompile() {
	looks --steps 10 --layers 2 --recompile || return
	first recompiles recompile || return
	holds 'number("recompiled ", " times") == len(noted["series_ns"]) - 2' \
		'0.5 * mean("series_ns") < cost < mean("series_ns")'
}

# The stopwatch is around the whole call and the wait for it. What runs besides takes the
# core from the thread that copies, or from the one that waits for it.
same_data() {
	looks --steps 30 --same-data || return
	first same-data same-data || return
	holds '0.5 * mean("same_data_ns") < cost < 1.6 * mean("same_data_ns")' \
		'"1.0 copy a step of 1 tensor" in text'
}

# What the kernels take of it, the stopwatch has besides, and what Python does before the
# first call of a line.
besides() {
	looks --steps 120 "--${1/_/-}" || return
	first framework-overhead "${1/_/-}" || return
	holds "0.4 * mean('${1}_ns') < cost < 1.1 * mean('${1}_ns')" "'calls besides $2;' in text"
}

host_sync() {
	besides host_sync train_step || return
	holds '"the next call comes after a wait for a result" in text'
}

# By the call whose results are kept. A step ends with its run, on a thread of XLA, while
# Python's gives back what the one before had: a sample more or less.
leak() {
	looks --steps 40 --leak || return
	first memory-growth step || return
	holds 'abs(number("memory grows: ", " bytes more") / mean("leak_bytes") - 1) < 0.1' \
		'"is held by train_step" in text'
}

case_run clean thrice clean
case_run recompile thrice recompile
case_run same-data thrice same_data
case_run eager thrice besides eager gradients
case_run host-sync thrice host_sync
case_run leak thrice leak
suite_end
