#!/bin/bash
# SPDX-License-Identifier: MIT
# The OpenMP probe on a program with known parallel regions and the compiler's own
# runtime, on the double of ours. omp.sh [NAME]: only the cases whose name contains NAME.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}
case $O in /*) ;; *) O=$PWD/$O ;; esac
lib=$O/lib
build=$O/tests/probes/omp
only=${1:-}
pass=0 failed=0 skip=0
ok() { pass=$((pass + 1)); echo "ok $1"; }
fail() { failed=$((failed + 1)); echo "not ok $1: $2"; }
expect() {
	if [ "$3" = "$4" ]; then ok "$1, $2"; else fail "$1, $2" "'$3', not '$4'"; fi
}
closing() {
	echo "$pass passed, $failed failed, $skip skipped"
	[ "$failed" -eq 0 ]
	exit
}
if [ ! -e "$lib/libtftop-omp.so" ]; then
	skip=1
	echo "skip omp: not on this machine, the probe was not built"
	closing
fi
unset RT_TEXT_OUT RT_TEXT_LEVEL RT_TEXT_MANUAL RT_TEXT_QUIET RT_TEXT_TOGGLE LD_PRELOAD TFTOP_OMP
unset OMP_NUM_THREADS OMP_THREAD_LIMIT OMP_DYNAMIC
warn='-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wwrite-strings -Werror'
mkdir -p "$build/double"
# compile OUTPUT SOURCE... [FLAG...]
compile() {
	local out=$1
	shift
	gcc -std=gnu11 -O1 -g -D_GNU_SOURCE $warn -I. -o "$build/$out" "$@" \
		2>"$build/${out##*/}.log" && return
	fail "compile $out" "$(head -n 1 "$build/${out##*/}.log")"
	closing
}
compile double/libtftop-runtime.so -fPIC -shared -fvisibility=hidden tests/doubles/rt_text.c \
	probes/runtime/{peek,blocks,room}.c -Wl,-soname,libtftop-runtime.so -lpthread
cp "$lib/libtftop-omp.so" "$build/double/"
compile omp_now -fopenmp -Wl,-z,now tests/probes/omp_test.c
compile omp_lazy -fopenmp -Wl,-z,lazy tests/probes/omp_test.c
compile omp_stripped -s -fopenmp -Wl,-z,now tests/probes/omp_test.c
tmp=$(mktemp -d "${TMPDIR:-/tmp}/tftop-omp-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
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

for c in regions stripped off; do
	[[ $c == *"$only"* ]] && "case_$c"
done
closing
