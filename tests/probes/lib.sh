# SPDX-License-Identifier: MIT
# What the probes' suites share: where things are, counting, compiling. Sourced
# by a suite with its own arguments; $only is the part of a name to run.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
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
wanted() { case $1 in *$only*) return 0 ;; esac; return 1; }
closing() {
	echo "$pass passed, $failed failed, $skip skipped"
	[ "$failed" -eq 0 ]
	exit
}

cc=${CC:-cc}
warn='-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wwrite-strings -Wno-unused-function -Werror'
# compile OUTPUT SOURCE... [FLAG...]
compile() {
	local out=$1
	shift
	mkdir -p "$(dirname "$build/$out")"
	$cc -std=gnu11 -O1 -g -D_GNU_SOURCE $warn -I. -o "$build/$out" "$@" \
		2>"$build/${out##*/}.log" && return
	fail "compile $out" "$(head -n 1 "$build/${out##*/}.log")"
	return 1
}
