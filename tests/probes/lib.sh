# SPDX-License-Identifier: MIT
# What the probes' suites share besides tests/lib.sh: where things are, compiling, the double of
# the runtime. `cases NAME…` runs case_NAME of each. In such a case any number of things are
# expected; it goes on after one that is not so, and has failed at its end. An argument of the
# suite is CASE.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
[ -z "${1:-}" ] || export CASE=$1
lib=$O/lib
build=$O/tests/probes

in_case= wrongs=0 rights=0
ok() { rights=$((rights + 1)); }
# fail NAME WHY: one more that is not as expected
fail() {
	[ -n "$in_case" ] || suite_broken "$1" "$2"
	[ $((wrongs += 1)) -gt 1 ] || why="$1: $2"
	echo "# not so: $1: $2"
	return 1
}
# skipped NAME WHAT: a part of the case, or all of it, cannot be had without that
skipped() { parts+=("$1: $2"); }
# expect NAME WHAT GOT WANTED
expect() {
	if [ "$3" = "$4" ]; then ok "$1, $2"; else fail "$1, $2" "'$3', not '$4'"; fi
}
# expecting COMMAND…: a case is this; $shared_work is the folder of a suite whose cases share one
expecting() {
	local in_case=yes wrongs=0 rights=0 parts=() part work=${shared_work:-$work}
	"$@"
	[ $wrongs = 0 ] || return 1
	if [ $rights = 0 ]; then
		why=${parts[0]:-nothing was expected}
		[ ${#parts[@]} = 0 ] || return 77
		return 1
	fi
	skipped=$((skipped + ${#parts[@]}))
	[ ${#parts[@]} = 0 ] || printf 'skip %s\n' "${parts[@]}"
	why="$rights as expected"
}
cases() {
	local name
	for name; do case_run "$name" expecting "case_$name"; done
}

cc=${CC:-cc}
warn='-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wwrite-strings -Wno-unused-function -Werror'
# compile OUTPUT SOURCE... [FLAG...]: outside of a case, the suite is nothing without it
compile() {
	local out=$1
	shift
	mkdir -p "$(dirname "$build/$out")"
	$cc -std=gnu11 -O1 -g -D_GNU_SOURCE $warn -I. -o "$build/$out" "$@" \
		2>"$build/${out##*/}.log" && return
	fail "compile $out" "$(head -n 1 "$build/${out##*/}.log")"
}

# on_double PROBE SOURCE...: a suite of that probe on the double of the runtime, which writes
# text (tests/doubles/rt_text.c): sets run and bare settings, makes
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
			skip_suite "$probe on $CROSS" "'$cc' or '${run[0]}' is not there"
		fi
	elif [ ! -e "$lib/libtftop-$probe.so" ]; then
		skip_suite "$probe" "not on this machine, the probe was not built"
	fi
	unset RT_TEXT_OUT RT_TEXT_LEVEL RT_TEXT_MANUAL RT_TEXT_QUIET RT_TEXT_TOGGLE LD_PRELOAD "TFTOP_${probe^^}"
	compile double/libtftop-runtime.so -fPIC -shared -fvisibility=hidden tests/doubles/rt_text*.c \
		probes/runtime/{peek,blocks,room,blind,things,modules,lines}.c probes/imports/file.c -Wl,-soname,libtftop-runtime.so -lpthread
	if [ -n "$CROSS" ]; then
		flags=(-shared -fPIC -fvisibility=hidden -DTFTOP_VERSION='"0"' -include model/banned.h
			-Wl,-z,nodelete,-z,defs)
		compile libtftop-start.so "${flags[@]}" probes/start/*.c probes/imports/*.c probes/blas/names.c -ldl
		compile "double/libtftop-$probe.so" "${flags[@]}" "$@" -L"$build/double" -ltftop-runtime \
			-Wl,-rpath,'$ORIGIN' -lpthread -ldl
	else
		cp "$lib/libtftop-$probe.so" "$build/double/"
	fi
}
