#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings: how fast one becomes a full model (G8.offline), and how soon the
# first screen is there when it has a cache (G11). BENCH_SPANS=N: of that size.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G8.offline-one G8.offline-two G11.open'
	exit 0
fi
spans=${BENCH_SPANS:-10000000}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/tftop-bench.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
tftop=$O/tftop

now_us() { echo "${EPOCHREALTIME//[.,]/}"; }
median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
spread() { sort -n "$1" | awk '{ a[NR] = $1 } END { m = a[int((NR + 1) / 2)]; printf "%.3f", m ? (a[NR] - a[1]) / m : 0 }'; }
record() { local IFS='|'; echo "$*"; }
wanted() {
	[ -n "${ONLY:-}" ] || return 0
	case " $ONLY " in *" $1 "* | *" ${1%%.*} "*) return 0 ;; esac
	return 1
}

# run COMMAND…: a failure is told, or nobody knows why a figure is missing.
run() {
	"$@" >/dev/null 2>"$dir/error" && return
	echo "bench: status $? of '$*': $(tail -n 1 "$dir/error")" >&2
	return 1
}

# Milliseconds until all is in the model, what follows (cache, report) left out.
model_ms() {
	rm -f "$dir/rec/cache" "$dir/log"
	run "$@" "$tftop" --debug "$dir/log" --json="$dir/json" "$dir/rec" || return
	awk '/everything is read/ { printf "%d\n", $1 * 1000 }' "$dir/log"
}

babeltrace_ms() {
	local begin
	begin=$(now_us)
	run "$@" babeltrace2 "$dir/rec/trace" -c sink.utils.dummy || return
	echo $((($(now_us) - begin) / 1000))
}

# offline ID WORDS BAR COMMAND…: one after the other, twice
offline() {
	local id=$1 words=$2 bar=$3 ours theirs i
	shift 3
	rm -f "$dir/ours" "$dir/theirs"
	for i in 1 2; do
		babeltrace_ms "$@" >>"$dir/theirs" || return
		model_ms "$@" >>"$dir/ours" || return
	done
	ours=$(median <"$dir/ours") theirs=$(median <"$dir/theirs")
	record "$id" "$spans spans to a full model, $words" \
		"$(awk -v n="$spans" -v ms="$ours" 'BEGIN { printf "%.2f", n / ms / 1000 }')" 'M events/s' high \
		'babeltrace2 dummy' "$(awk -v n="$spans" -v ms="$theirs" 'BEGIN { printf "%.2f", n / ms / 1000 }')" \
		"$(awk -v a="$theirs" -v b="$ours" 'BEGIN { printf "%.2f", a / b }')" ">= $bar" 2 "$(spread "$dir/ours")" \
		"$(awk -v a="$theirs" -v b="$ours" -v c="$bar" 'BEGIN { print (a >= b * c ? "true" : "false") }')"
}

# The whole of it: start, map, check, draw, compare, leave.
first_screen() {
	local i begin ours theirs
	printf '%s\n' 'assert-screen kernels' quit >"$dir/script"
	[ -s "$dir/rec/cache" ] || model_ms env >/dev/null
	[ -s "$dir/rec/cache" ] || return
	for i in 1 2 3 4 5; do
		begin=$(now_us)
		cat "$dir/rec/cache" >/dev/null
		echo $((($(now_us) - begin) / 1000)) >>"$dir/read"
		begin=$(now_us)
		"$tftop" --headless --size 160x48 --script "$dir/script" "$dir/rec" >/dev/null 2>&1 || return
		echo $((($(now_us) - begin) / 1000)) >>"$dir/open"
	done
	ours=$(median <"$dir/open") theirs=$(median <"$dir/read")
	record G11.open "reopening $spans spans, start to first screen" "$ours" ms low 'reading the cache' "$theirs" \
		"$(awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "%.2f", b ? a / b : 0 }')" '<= 200 ms' 5 \
		"$(spread "$dir/open")" "$([ "$ours" -le 200 ] && echo true || echo false)"
}

"$O/tftop-gen" --spans "$spans" --lanes 16 --seconds 60 --ctf "$dir/rec" >/dev/null || exit 1
# What is still to be written to the disk is not theirs.
sync -f "$dir/rec"
wanted G8.offline-one && offline G8.offline-one 'one core' 0.5 taskset -c 0
wanted G8.offline-two && offline G8.offline-two 'two cores' 0.75 taskset -c 0,1
wanted G11.open && first_screen
exit 0
