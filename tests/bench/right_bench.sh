#!/bin/bash
# SPDX-License-Identifier: MIT
# Is what is shown right (G18)? The clock's error bars over random runs of which
# the truth is known, and the attribution of a real program's device work, held
# against what the program wrote down.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G18.clock G18.attribution'
	exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
record() { local IFS='|'; echo "$*"; }
truth() { [ "$1" -eq 1 ] && echo true || echo false; }

# Of all runs, those whose truth lies outside the bar, the worse of two places;
# the bar is wider than twice the best possible in so many.
clock() {
	local runs outside end wide ok
	TEST_RUNS=10000 "$O/tests/unit" -n clock_bar >"$dir/clock" 2>&1
	read -r runs outside end wide <<<"$(sed -n 's/^# clock: \([0-9]*\) runs, outside the bar \([0-9]*\), at the end \([0-9]*\);.* wider than twice the best \([0-9]*\).*/\1 \2 \3 \4/p' "$dir/clock")"
	[ -n "${wide:-}" ] || return
	[ "$end" -gt "$outside" ] && outside=$end
	ok=$((outside * 1000 <= runs && wide == 0))
	record G18.clock "truth outside the clock's bar, $wide wider than 2x the best" "$outside" runs low \
		'random runs' "$runs" "$(awk -v a="$outside" -v b="$runs" 'BEGIN { printf "%.5f", a / b }')" \
		'<= 0.001' 1 0 "$(truth $ok)"
}

# Kernels and copies that the report gives to the op that launched them.
attribution() {
	local all known same=0
	[ -x "$O/train_opencl" ] && [ -x "$O/tests/compare" ] || return
	"$O/tftop" --json="$dir/report" -- "$O/train_opencl" --steps 60 --quiet --truth "$dir/truth" \
		>/dev/null 2>&1 || return
	"$O/tests/compare" "$dir/truth" "$dir/report" >"$dir/differences" 2>&1 && same=1
	[ $same = 1 ] || sed 's/^/bench: /' "$dir/differences" >&2
	read -r known all <<<"$(sed -n '/"attribution": {/,/}/p' "$dir/report" | tr ',{}' '\n\n\n' |
		awk -F'[":]+' '/"(exact|event|fifo|guess|none)"/ { all += $3; if ($2 ~ /exact|event/) known += $3 }
			END { print known + 0, all + 0 }')"
	record G18.attribution "device work with the right op, exact or by event" "$((known * same))" commands high \
		'launched' "$all" "$(awk -v a="$((known * same))" -v b="$all" 'BEGIN { printf "%.4f", b ? a / b : 0 }')" \
		'= 1' 1 0 "$(truth $((same && known == all && all > 0)))"
}

clock
attribution
