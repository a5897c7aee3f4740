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

# The steps that are short, over the doubles; real programs of nvcc's where it is there.
rehearses() {
	tests/gpu/run --rehearse "$O/tests/cuda" --out "$work/out" --only truth \
		>"$work/said" 2>&1 || fail "$(grep WRONG "$work/said" | head -n 2)" || return
	grep -q '^REHEARSAL' "$work/out/report.txt" || fail "it does not say what it is" || return
	if command -v nvcc >"$work/nvcc"; then
		grep -q 'figures equal' "$work/said" || fail "nothing was compared" || return
	else
		grep -q 'not measured  (there is no nvcc)' "$work/said" ||
			fail "it does not say that there is no nvcc" || return
		why="no nvcc, so no programs"
	fi
}

# Buffers of two releases, written by the probe, decoded again by the unit test.
records() {
	local cupti
	for cupti in 11.8/libcupti.so.11.8 13.0/libcupti.so.13; do
		TFTOP_CUPTI=$O/tests/cuda/$cupti TFTOP_CUDA_RECORD=$work/${cupti%%/*}.buf timeout -k 5 60 \
			"$tftop" --json="$work/report" -- "$O/tests/cuda/cuda_play" tests/data/cuda/train.play \
			>"$work/said" 2>&1 || fail "$(tail -n 1 "$work/said")" || return
	done
	TFTOP_TEST_BUFFERS=$work "$O/tests/unit" cuda_replay >"$work/said" 2>&1 ||
		fail "$(head -n 1 "$work/said")" || return
	# the first record as one of another kind: not as the library stepped
	printf '\1' | dd of="$work/13.0.buf" bs=1 seek=24 conv=notrunc 2>"$work/said"
	! TFTOP_TEST_BUFFERS=$work "$O/tests/unit" cuda_replay >"$work/said" 2>&1 ||
		fail "a damaged recording is as good"
}

case_beside rehearsal rehearses
case_beside pack packs
case_beside recorded records
suite_end
