#!/bin/bash
# SPDX-License-Identifier: MIT
# The OpenMP probe on a program with known parallel regions and the compiler's own
# runtime, on the double of ours.
. "$(dirname "$0")/lib.sh"
cc=gcc	# with a runtime of its own
unset OMP_NUM_THREADS OMP_THREAD_LIMIT OMP_DYNAMIC
on_double omp
compile omp_now -fopenmp -Wl,-z,now tests/probes/omp_test.c
compile omp_lazy -fopenmp -Wl,-z,lazy tests/probes/omp_test.c
compile omp_stripped -s -fopenmp -Wl,-z,now tests/probes/omp_test.c
limit='timeout -k 5 20'

# run LEVEL HOW TIMES: as it is without us too; events into $tmp/events
run() {
	: >"$tmp/events"
	$limit "$build/omp_$2" "$3" >"$tmp/bare" 2>&1
	bare=$?
	$limit env RT_TEXT_OUT="$tmp/events" RT_TEXT_LEVEL="$1" LD_PRELOAD="$lib/libtftop-start.so" \
		TFTOP_OMP="$build/double/libtftop-omp.so" "$build/omp_$2" "$3" >"$tmp/probed" 2>&1
	expect "$2 $1" "exit status" "$bare $?" "6 6"
	expect "$2 $1" "results and errno as without us" "$(diff "$tmp/bare" "$tmp/probed" | head -n 4)" ""
}
told() {
	sed -nE 's/^cpu library=.* name=(.*)/\1/p' "$tmp/events" | sed -E 's/_omp_fn\.[0-9]+/_omp_fn/' |
		sort | uniq -c | awk '{ $1 = $1; printf "%s;", $0 }'
}

# Each region by its function, and its part on each other thread; what is in another is
# part of it.
case_regions() {
	local how
	for how in now lazy; do
		run 2 $how 100
		expect "$how" "regions and parts" "$(told)" \
			"100 loop._omp_fn;100 loop._omp_fn, part;100 nested._omp_fn;100 nested._omp_fn, part;100 plain._omp_fn;200 plain._omp_fn, part;100 sections._omp_fn;100 sections._omp_fn, part;"
	done
}

# Without symbols a region is called by its place in the file.
case_stripped() {
	run 2 stripped 10
	expect stripped "by its place" "$(told | sed -E 's/\+0x[0-9a-f]+/+X/g' | tr ';' '\n' | grep -v part |
		sort | awk '{ n += $1 } END { print n, $2 }')" "40 omp_stripped+X"
}

case_off() {
	run 0 now 10
	expect off "nothing is told" "$(told)" ""
}

cases regions stripped off
suite_end
