#!/bin/bash
# SPDX-License-Identifier: MIT
# The mistakes of examples/train_jax.py: each is found, with its line and the number that a
# counter in the program has, and without one there is none of them. That it is the first finding
# and costs what a stopwatch in the program says are cases of their own, as others on the machine
# change that.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_jax jax_findings
example=(examples/train_jax.py)

# What is counted and not measured is there or is not.
clean() {
	looks --steps 60 || return
	holds '{"recompiles", "same-data", "memory-growth"}.isdisjoint(x["id"] for x in f)' || return
	costs 'not f' || return 2
}

# Those of the warm-up, two steps, are the start of the program.
recompile() {
	looks --steps 10 --layers 2 --recompile || return
	found recompiles recompile || return
	holds 'number("recompiled ", " times") == len(noted["series_ns"]) - 2' \
		'0 < cost < max(noted["series_ns"])' || return
	# the thread that asked waits for it, and that is not told as a wait for that thread
	holds 'steps["breakdown"]["compile_ns"] > 0' \
		'any(("%s:%d" % (h["file"], h["line"])).endswith(at("recompile")) for h in steps["breakdown"]["host"] if h["state"] == "compile")' \
		'not [x for x in f if x["id"] in ("host-wait", "compile-wait") and at("recompile") in x["title"]]' || return
	costs '0.5 * mean("series_ns") < cost < mean("series_ns")'
}

# The stopwatch is around the whole call and the wait for it. What runs besides takes the
# core from the thread that copies, or from the one that waits for it.
same_data() {
	looks --steps 30 --same-data || return
	found same-data same-data || return
	holds '"1.0 copy per step of 1 tensor" in text' '0 < cost < max(noted["series_ns"])' || return
	costs '0.5 * mean("same_data_ns") < cost < 1.6 * mean("same_data_ns")'
}

# What the kernels take of it, the stopwatch has besides, and what Python does before the
# first call of a line.
besides() {
	looks --steps 60 "--${1/_/-}" || return
	found framework-overhead "${1/_/-}" || return
	holds "'calls other than $2;' in text" '0 < cost < max(noted["series_ns"])' || return
	costs "0.4 * mean('${1}_ns') < cost < 1.1 * mean('${1}_ns')"
}

host_sync() {
	besides host_sync train_step || return
	holds '"the next call comes after a wait for a result" in text'
}

# By the call whose results are kept. A step ends with its run, on a thread of XLA, while
# Python's gives back what the one before had: up to four samples more or less, of some 110.
leak() {
	looks --steps 150 --leak || return
	found memory-growth step || return
	holds 'abs(number("memory grows: ", " bytes more") / mean("leak_bytes") - 1) < 0.1' \
		'"is held by train_step" in text'
}

case_run clean clean
case_run recompile recompile
case_run same-data same_data
case_run eager besides eager gradients
case_run host-sync host_sync
case_run leak leak
case_timed clean-first strictly clean
case_timed recompile-first strictly recompile
case_timed same-data-first strictly same_data
case_timed eager-first strictly besides eager gradients
case_timed host-sync-first strictly host_sync
case_timed leak-first strictly leak
suite_end
