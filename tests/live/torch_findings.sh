#!/bin/bash
# SPDX-License-Identifier: MIT
# The mistakes of examples/train_torch.py: each is found, with its line and the number that a
# counter in the program has, and without one there is none of them. That it is the first finding
# and costs what a stopwatch in the program says are cases of their own, as others on the machine
# change that.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_pytorch torch_findings
example=(examples/train_torch.py --threads 1)

# What is counted and not measured is there or is not.
clean() {
	looks --steps 30 "$@" || return
	holds '{"recompiles", "same-data", "memory-growth"}.isdisjoint(x["id"] for x in f)' || return
	costs 'not f' || return 2
}

# The line is told if half of the looks at the loader found it there: so many that they do.
slow_loader() {
	looks --steps 50 --slow-loader || return
	found input-bound input || return
	holds 'first["severity"] == "warning"' '0 < cost < max(noted["series_ns"])' \
		'"of it, train_torch.py:'"$(grep -n 'time\.sleep' "${example[0]}" | cut -d: -f1)"' in " in text' ||
		return
	costs 'abs(cost - mean("input_ns")) < 0.05 * mean("input_ns")'
}

# Most of the batches are there when a worker has made them; it cannot keep up, however slowly
# the program computes: each sample takes 20 ms.
slow_worker() {
	local example=(tests/programs/sleeps.py 10 "${example[@]}")
	looks --steps 12 --batch 8 --slow-loader --workers 1 || return
	found input-bound input || return
	holds '"1 worker cannot keep up" in text' '0 < cost < max(noted["series_ns"])' \
		'"of the workers'"'"' time, sleeps.py:" in text' || return
	costs 'abs(cost - mean("input_ns")) < 0.1 * mean("input_ns")'
}

# A thousand times select, select, mul, sub_, select and copy_.
tiny_ops() {
	looks --steps 12 --tiny-ops || return
	found framework-overhead tiny-ops || return
	holds '6000 <= number("is spent around ops; ", " of them") < 6200' \
		'0 < cost < max(noted["series_ns"])' || return
	costs '0.5 * mean("tiny_ops_ns") < cost < mean("tiny_ops_ns") + 0.25 * mean("series_ns")'
}

# Those of the warm-up are the start of the program.
recompile() {
	looks --steps 12 --compile aot_eager --recompile || return
	found recompiles model || return
	holds 'number("recompiled ", " times") == noted["compiled"][-1] - noted["compiled"][1] > 0' \
		'cost * steps["count"] < sum(noted["series_ns"])'
}

# The stopwatch is around the whole call.
same_data() {
	looks --steps 30 --same-data || return
	found same-data same-data || return
	holds '"1.0 copy per step of 1 tensor" in text' '0 < cost < max(noted["series_ns"])' || return
	costs '0.6 * mean("same_data_ns") < cost < 1.05 * mean("same_data_ns")'
}

# To the byte, with who holds it.
leak() {
	looks --steps 40 --leak || return
	found memory-growth input || return
	holds 'number("memory grows: ", " bytes more") == noted["leak_bytes"][0] == mean("leak_bytes")' \
		'"is held by" in text'
}

case_run clean clean
case_run clean-transformer clean --model transformer
case_run slow-loader slow_loader
case_run slow-worker slow_worker
case_run tiny-ops tiny_ops
case_run recompile recompile
case_run same-data same_data
case_run leak leak
case_timed clean-first strictly clean
case_timed clean-transformer-first strictly clean --model transformer
case_timed slow-loader-first strictly slow_loader
case_timed slow-worker-first strictly slow_worker
case_timed tiny-ops-first strictly tiny_ops
case_timed recompile-first strictly recompile
case_timed same-data-first strictly same_data
case_timed leak-first strictly leak
suite_end
