#!/bin/bash
# SPDX-License-Identifier: MIT
# What is for a machine with a GPU (tests/gpu), as far as it goes without one: the pack is
# whole and enough, and the steps of tests/gpu/run work over the doubles.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$O/tests/burst"

# hidden COMMAND…: where nothing of what the pack has is on the system, for that command
hidden() {
	unshare -m bash -c '
		pack=$1 cover=$2; shift 2
		mount -t tmpfs tftop "$cover" || exit 99
		set -- /usr/bin /usr/lib/*-linux-gnu "--" "$@"
		for ((n = 0; $# > 0; n++)); do
			[ "$1" != -- ] || { shift; break; }
			mkdir "$cover/up$n" "$cover/work$n" &&
				mount -t overlay -o "lowerdir=$1,upperdir=$cover/up$n,workdir=$cover/work$n" \
					tftop "$1" || exit 99
			for file in "$pack"/usr/lib/*.so* "$pack"/usr/bin/*; do
				[ "${file##*/}" = libgcc_s.so.1 ] || rm -f "$1/${file##*/}"*
			done
			rm -rf "$1/lttng" "$1/babeltrace2"
			shift
		done
		exec "$@"' bash "$work/pack" "$work/cover" "$@" 2>>"$work/hidden"
}

from_pack() {
	local pack=$work/pack
	"$@" env PATH="$pack/usr/bin:$PATH" LD_LIBRARY_PATH="$pack/usr/lib" \
		BABELTRACE_PLUGIN_PATH="$pack/usr/lib/babeltrace2" \
		timeout -k 5 60 "$pack/tftop/tftop" --json="$work/report" -- \
		env LD_LIBRARY_PATH="$pack/program" "$O/tests/burst" 100 10000
}

packs() {
	local how=hidden
	tests/gpu/pack "$work/pack" >"$work/said" 2>&1 || fail "$(tail -n 1 "$work/said")" || return
	mkdir "$work/cover"
	hidden true || how=
	if [ -n "$how" ]; then
		! hidden "$tftop" --version >"$work/said" 2>&1 || fail "nothing was hidden" || return
	fi
	from_pack $how >"$work/said" 2>&1 ||
		fail "from the pack: $(tail -n 1 "$work/said") $(tail -n 1 "$work/hidden" 2>/dev/null)" || return
	grep -q '"name": "r15"' "$work/report" || fail "tftop saw nothing: $(head -n 3 "$work/said")" || return
	rm "$work/pack/usr/lib/libyajl.so"*
	! tests/gpu/pack --check "$work/pack" 2>"$work/said" || fail "a library less is not missed" || return
	grep -q libyajl "$work/said" || fail "it misses $(cat "$work/said")" || return
	why=${how:+with the system\'s own hidden}
}

case_run pack packs
suite_end
