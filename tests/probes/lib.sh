# SPDX-License-Identifier: MIT
# What the probes' suites share: where things are, counting, compiling, the double of
# the runtime. Sourced by a suite with its own arguments; $only is the part of a name to
# run.
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

# on_double PROBE SOURCE...: a suite of that probe on the double of the runtime, which writes
# text (tests/doubles/rt_text.c): sets tmp, run and bare settings, makes
# double/libtftop-runtime.so and the probe beside it. With CROSS=aarch64-linux-gnu all is
# compiled for that machine, the probe from the sources, and ${run[@]} runs it there. Where
# the probe was not built, or that compiler is missing, the suite ends.
run=() CROSS=${CROSS:-}
on_double() {
	local probe=$1 flags
	shift
	build=$build/$probe
	if [ -n "$CROSS" ]; then
		cc=$CROSS-gcc run=("qemu-${CROSS%%-*}-static" -L "/usr/$CROSS")
		build=$O/tests/$CROSS/$probe lib=$build
		if ! { command -v "$cc" && command -v "${run[0]}"; } >/dev/null; then
			skipped "$probe on $CROSS" "'$cc' or '${run[0]}' is not there"
			closing
		fi
	elif [ ! -e "$lib/libtftop-$probe.so" ]; then
		skipped "$probe" "not on this machine, the probe was not built"
		closing
	fi
	unset RT_TEXT_OUT RT_TEXT_LEVEL RT_TEXT_MANUAL RT_TEXT_QUIET RT_TEXT_TOGGLE LD_PRELOAD "TFTOP_${probe^^}"
	needed double/libtftop-runtime.so -fPIC -shared -fvisibility=hidden tests/doubles/rt_text*.c \
		probes/runtime/{peek,blocks,room,blind,things,modules}.c -Wl,-soname,libtftop-runtime.so -lpthread
	if [ -n "$CROSS" ]; then
		flags=(-shared -fPIC -fvisibility=hidden -DTFTOP_VERSION='"0"' -include model/banned.h
			-Wl,-z,nodelete,-z,defs)
		needed libtftop-start.so "${flags[@]}" probes/start/*.c probes/imports/*.c probes/blas/names.c -ldl
		needed "double/libtftop-$probe.so" "${flags[@]}" "$@" -L"$build/double" -ltftop-runtime \
			-Wl,-rpath,'$ORIGIN' -lpthread -ldl
	else
		cp "$lib/libtftop-$probe.so" "$build/double/"
	fi
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/tftop-$probe-XXXXXX") || exit 1
	trap 'rm -rf "$tmp"' EXIT
}
# needed OUTPUT SOURCE... [FLAG...]: the suite is nothing without it
needed() { compile "$@" || closing; }
