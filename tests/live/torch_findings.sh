#!/bin/bash
# SPDX-License-Identifier: MIT
# The mistakes of examples/train_torch.py: each is the first finding, with its line and
# the number that a stopwatch or a counter in the program has; without one nothing is
# found. CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_pytorch torch_findings
example=(examples/train_torch.py --threads 1)

clean() {
	looks --steps 30 "$@" || return
	holds 'not f' || return 2
}

slow_loader() {
	looks --steps 12 --slow-loader || return
	first input-bound input || return
	holds 'first["severity"] == "warning"' \
		'abs(cost - mean("input_ns")) < 0.05 * mean("input_ns")'
}

# Most of the batches are there when a worker has made them; it cannot keep up.
slow_worker() {
	looks --steps 12 --slow-loader --workers 1 || return
	first input-bound input || return
	holds '"1 worker cannot keep up" in text' \
		'abs(cost - mean("input_ns")) < 0.1 * mean("input_ns")'
}

# A thousand times select, select, mul, sub_, select and copy_.
tiny_ops() {
	looks --steps 12 --tiny-ops || return
	first framework-overhead tiny-ops || return
	holds '6000 <= number("is spent around ops; ", " of them") < 6200' \
		'0.5 * mean("tiny_ops_ns") < cost < mean("tiny_ops_ns") + 0.25 * mean("series_ns")'
}

# Those of the warm-up are the start of the program.
recompile() {
	looks --steps 12 --compile aot_eager --recompile || return
	first recompiles model || return
	holds 'number("recompiled ", " "
		      "times") == noted["compiled"][-1] - noted["compiled"][1] > 0' \
		'cost * steps["count"] < sum(noted["series_ns"])'
}

# The stopwatch is around the whole call.
same_data() {
	looks --steps 30 --same-data || return
	first same-data same-data || return
	holds '0.6 * mean("same_data_ns") < cost < 1.05 * mean("same_data_ns")' \
		'"1.0 copy a step of 1 tensor" in text'
}

# To the byte, with who holds it.
leak() {
	looks --steps 40 --leak || return
	first memory-growth input || return
	holds 'number("memory grows: ", " bytes "
		      "more") == noted["leak_bytes"][0] == mean("leak_bytes")' \
		'"is held by" in text'
}

case_run clean thrice clean
case_run clean-transformer thrice clean --model transformer
case_run slow-loader thrice slow_loader
case_run slow-worker thrice slow_worker
case_run tiny-ops thrice tiny_ops
case_run recompile thrice recompile
case_run same-data thrice same_data
case_run leak thrice leak
suite_end
