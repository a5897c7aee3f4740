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
	looks --steps 10 --recompile || return
	first recompiles recompile || return
	holds 'number("recompiled ", " times") == len(noted["series_ns"]) - 2' \
		'0.5 * mean("series_ns") < cost < mean("series_ns")'
}

case_run clean thrice clean
case_run recompile thrice recompile
suite_end
