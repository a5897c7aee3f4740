#!/bin/bash
# SPDX-License-Identifier: MIT
# The runtime, the preloaded library, NVTX and ITT under a private LTTng, without
# tftop. run.sh [NAME]: only the cases whose name contains NAME. KEEP=1 keeps the
# traces.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}
case $O in /*) ;; *) O=$PWD/$O ;; esac
lib=$O/lib
build=$O/tests/probes
only=${1:-}
pass=0 failed=0 skip=0
ok() { pass=$((pass + 1)); echo "ok $1"; }
fail() { failed=$((failed + 1)); echo "not ok $1: $2"; }
skipped() { skip=$((skip + 1)); echo "skip $1: $2"; }
# expect NAME WHAT GOT WANTED
expect() {
	if [ "$3" = "$4" ]; then ok "$1, $2"; else fail "$1, $2" "'$3', not '$4'"; fi
}
expect_true() {
	local name=$1
	shift
	if "$@"; then ok "$name"; else fail "$name" "not so: $*"; fi
}
wanted() { case $1 in *$only*) return 0 ;; esac; return 1; }

. tests/probes/session.sh
. tests/probes/rt_cases.sh
. tests/probes/nvtx_cases.sh
. tests/probes/itt_cases.sh

cc=${CC:-cc}
warn='-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wwrite-strings -Wno-unused-function -Werror'
# compile OUTPUT SOURCE... [FLAG...]
compile() {
	local out=$1
	shift
	$cc -std=gnu11 -O1 -g -D_GNU_SOURCE $warn -I. -o "$build/$out" "$@" 2>"$build/$out.log" && return
	fail "compile $out" "$(head -n 1 "$build/$out.log")"
	return 1
}

mkdir -p "$build"
runtime_flags="-L$lib -ltftop-runtime -Wl,-rpath,$lib -lpthread"
compile rt_test tests/probes/rt_test.c tests/probes/rt_ops.c tests/probes/rt_process.c $runtime_flags || {
	echo "$pass passed, $failed failed, $skip skipped"
	exit 1
}
session_begin
for case in $rt_cases $nvtx_cases $itt_cases; do
	wanted "$case" && "case_$case"
done
echo "$pass passed, $failed failed, $skip skipped"
[ "$failed" -eq 0 ]
