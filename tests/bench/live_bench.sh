#!/bin/bash
# SPDX-License-Identifier: MIT
# Whole tftop on real programs: what a step pays (G5), event to screen (G7), live
# ingest (G8.live), bursts (G9), start (G17). Pairs run interleaved; medians.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G5.default G5.full G7.p50 G7.p99 G8.live G9.lost G17.start'
	exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
tftop=$O/tftop

now_ns() { date +%s%N; }
median() { sort -n | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }
# spread FILE: (largest - smallest) / median
spread() { sort -n "$1" | awk '{ a[NR] = $1 } END { m = a[int((NR + 1) / 2)]; printf "%.3f", m ? (a[NR] - a[1]) / m : 0 }'; }
key() { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" "$2" | head -n 1; }
record() { local IFS='|'; echo "$*"; }

# One figure per run of the example: the median of its own steps, in us.
step_us() { # FILE COMMAND...
	local out=$1
	shift
	"$@" "$O/train_opencl" --steps 60 --quiet --truth "$dir/truth" >/dev/null 2>&1 || return 1
	tr -d '\n' <"$dir/truth" | sed 's/.*"series_ns": \[\([^]]*\)\].*/\1/' | tr ',' '\n' |
		median | awk '{ printf "%d\n", $1 / 1000 }' >>"$out"
}

bench_step() {
	local i
	for i in 1 2 3 4 5; do
		step_us "$dir/bare" env
		step_us "$dir/default" "$tftop" --json="$dir/r" --
		step_us "$dir/full" "$tftop" --json="$dir/r" --level full --
	done
	local bare rate
	bare=$(median <"$dir/bare")
	rate=$(awk -v us="$bare" 'BEGIN { printf "%d", 24e6 / us }')
	for level in default full; do
		local bar=1.02
		[ $level = full ] && bar=1.05
		local v
		v=$(median <"$dir/$level")
		record G5.$level "training step at $level, $rate kernels/s" "$v" us low 'without tftop' "$bare" \
			"$(awk -v a="$v" -v b="$bare" 'BEGIN { printf "%.3f", a / b }')" "<= $bar" 5 "$(spread "$dir/$level")" \
			"$(awk -v a="$v" -v b="$bare" -v c=$bar 'BEGIN { print a <= b * c ? "true" : "false" }')"
	done
}

bench_start() {
	local i t
	for i in 1 2 3 4 5 6 7 8 9; do
		t=$(now_ns)
		true_program=$(command -v -p true)
		"$true_program"
		echo $((($(now_ns) - t) / 1000)) >>"$dir/true"
		t=$(now_ns)
		"$tftop" -b -- "$true_program" 2>/dev/null
		echo $((($(now_ns) - t) / 1000)) >>"$dir/start"
	done
	local a b
	a=$(median <"$dir/start") b=$(median <"$dir/true")
	record G17.start "'tftop -b -- true' above 'true'" $((a - b)) us low true "$b" "$((a / b))" '<= 300000 us above' \
		9 "$(spread "$dir/start")" "$([ $((a - b)) -le 300000 ] && echo true || echo false)"
}

bench_burst() {
	"$tftop" --json="$dir/burst" -- "$O/tests/burst" 1000000 1000000 2 >"$dir/out" 2>&1
	local lost got
	lost=$(($(key lost_events "$dir/burst") + $(key lost_packets "$dir/burst")))
	# ops and ranges, which stand side by side; other sections name them again
	got=$(tr -d '\n' <"$dir/burst" | sed 's/.*"ops": *\[//; s/"calls": *\[.*//; s/"critical_path".*//' | grep -oE '"name": *"r[0-9]+"[^}]*"count": *[0-9]+' |
		sed 's/.*: *//' | awk '{ s += $1 } END { print s + 0 }')
	record G9.lost '1 M events in 1 s: lost' "$lost" events low 'seen of 1000000' "$got" - 0 1 0 \
		"$([ "$lost" -eq 0 ] && [ "$got" -eq 1000000 ] && echo true || echo false)"
	# Kept up with: 5 s at 0.7 M/s, and the report is there soon after the end.
	local t
	t=$(now_ns)
	"$tftop" --json="$dir/flow" -- "$O/tests/burst" 3500000 700000 2 >"$dir/out" 2>&1
	t=$(($(now_ns) - t))
	lost=$(($(key lost_events "$dir/flow") + $(key lost_packets "$dir/flow")))
	local ran
	ran=$(sed -n 's/^ranges .* ns //p' "$dir/out")
	record G8.live "5 s at 0.7 M events/s: time above the program's" $(((t - ran) / 1000000)) ms low 'program' \
		$((ran / 1000000)) "$(awk -v a=$t -v b="$ran" 'BEGIN { printf "%.2f", a / b }')" '<= 1000 ms, 0 lost' 1 0 \
		"$([ $((t - ran)) -le 1000000000 ] && [ "$lost" -eq 0 ] && echo true || echo false)"
}

# The bar of a step, drawn and flushed (frames in --debug), after the step's end.
bench_latency() {
	script -qec "stty rows 48 cols 160; TERM=xterm-256color '$tftop' --debug '$dir/frames' -q -- \
		sh -c \"'$O/tests/burst' --steps 60 237 >'$dir/steps'\"" /dev/null >/dev/null 2>&1 </dev/null
	awk 'NR == FNR { end[$2] = $3; next }
		/frame/ { for (i = 1; i <= NF; i++) {
			if ($i ~ /^t=/) t = substr($i, 3) + 0
			if ($i ~ /^step=/) s = substr($i, 6) + 0 }
			for (n = last + 1; n <= s; n++) if (n in end) print (t - end[n]) / 1e6
			if (s > last) last = s }' "$dir/steps" "$dir/frames" >"$dir/latency"
	local n
	n=$(wc -l <"$dir/latency")
	[ "$n" -ge 50 ] || return 1
	for p in 50 99; do
		local v bar=100
		[ $p = 99 ] && bar=250
		v=$(sort -n "$dir/latency" | awk -v p=$p '{ a[NR] = $1 } END { i = int(NR * p / 100 + 0.5); print a[i < 1 ? 1 : i] }')
		record G7.p$p 'event to screen' "$v" ms low 'clock in the event' 0 - "<= $bar ms" "$n" \
			"$(spread "$dir/latency")" "$(awk -v a="$v" -v b=$bar 'BEGIN { print a <= b ? "true" : "false" }')"
	done
}

# ONLY: the figures that are wanted, by id or its first part; none: all.
wanted() {
	local id
	[ -n "${ONLY:-}" ] || return 0
	for id in $ONLY; do
		case " $* " in *" $id "* | *" $id."*) return 0 ;; esac
	done
	return 1
}
wanted G17.start && bench_start
wanted G8.live G9.lost && bench_burst
wanted G7.p50 G7.p99 && bench_latency
wanted G5.default G5.full && bench_step
exit 0
